package protect

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"
)

func cacheOf(t testing.TB, root string) *Cache {
	t.Helper()
	c := NewCache(Options{Roots: []string{root}, GitConfigs: []string{}, ReadDeny: usualDeny(),
		MaxTime: time.Minute}, time.Hour)
	t.Cleanup(c.Close)
	return c
}

func TestCache(t *testing.T) {
	root := tempDir(t)
	write(t, root, ".git/config", ".git/hooks/", "deep/er/", "deep/.vscode/x", "deep/.env")
	for _, c := range []struct {
		name   string
		change func(c *Cache)
		fresh  bool // another walk is made
	}{
		{"nothing", func(*Cache) {}, false},
		{"work in the repository", func(*Cache) { write(t, root, ".git/index", "deep/file") }, false},
		{"a protected file replaced", func(*Cache) {
			write(t, root, "deep/new")
			must(t, os.Rename(root+"/deep/new", root+"/.git/config"))
		}, true},
		{"a missing one made", func(*Cache) { write(t, root, ".git/commondir") }, true},
		{"a name at the top", func(*Cache) { write(t, root, ".envrc") }, true},
		{"a secret replaced", func(*Cache) {
			write(t, root, "deep/new")
			must(t, os.Rename(root+"/deep/new", root+"/deep/.env"))
		}, true},
		{"a directory made a link", func(*Cache) {
			must(t, os.Rename(root+"/deep/.vscode", root+"/deep/er/x"))
			must(t, os.Symlink("er/x", root+"/deep/.vscode"))
		}, true},
		{"invalidated", func(c *Cache) { write(t, root, "deep/er/.git/config"); c.Invalidate() }, true},
		{"old", func(c *Cache) { c.age = 1 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := cacheOf(t, root)
			before, err := cache.Map(t.Context())
			must(t, err)
			c.change(cache)
			after, err := cache.Map(t.Context())
			must(t, err)
			if (after != before) != c.fresh {
				t.Errorf("another map: %v, want %v", after != before, c.fresh)
			}
		})
	}
}

// TestCacheConcurrent: whoever asks after a change gets a Map that knows it.
func TestCacheConcurrent(t *testing.T) {
	root := tempDir(t)
	write(t, root, "w/")
	cache := cacheOf(t, root)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				dir := root + "/w/" + string(rune('a'+i)) + string(rune('a'+j))
				if err := os.MkdirAll(dir+"/.vscode", 0o755); err != nil {
					t.Error(err)
				}
				cache.Invalidate()
				m, err := cache.Map(t.Context())
				if err != nil {
					t.Error(err)
				} else if _, ok := m.Judge(dir + "/.vscode/x"); !ok {
					t.Errorf("a map after %s does not know it", dir)
				}
			}
		})
	}
	wg.Wait()
}

func TestCacheErrors(t *testing.T) {
	root := tempDir(t)
	cache := cacheOf(t, root)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cache.Map(canceled); err != nil && canceled.Err() == nil {
		t.Errorf("a caller that is gone: %v", err)
	}
	must(t, os.Remove(root))
	cache.Invalidate()
	if m, err := cache.Map(t.Context()); err == nil {
		t.Errorf("a root that is gone: %v", m)
	}
	must(t, os.Mkdir(root, 0o755))
	if _, err := cache.Map(t.Context()); err != nil {
		t.Errorf("a root that is back: %v", err)
	}
	cache.Close()
	cache.Invalidate()
	if _, err := cache.Map(t.Context()); err == nil {
		cache.age = 1
		if _, err := cache.Map(t.Context()); err == nil {
			t.Error("a closed cache walks")
		}
	}
}
