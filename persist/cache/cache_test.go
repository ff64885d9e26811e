package cache

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// made makes a cache of 1,000 bytes of a workspace that exists, used at a time.
func made(t testing.TB, dir, name string, used time.Time) (cache, workspace string) {
	t.Helper()
	cache, workspace = filepath.Join(dir, name), filepath.Join(t.TempDir(), name)
	mod := filepath.Join(cache, "go-mod", "module")
	if err := errors.Join(os.MkdirAll(mod, 0o700), os.WriteFile(filepath.Join(mod, "f"), make([]byte, 1000), 0o400), os.Chmod(mod, 0o500), os.Mkdir(workspace, 0o700)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(mod, 0o700) })
	release, err := Hold(cache, workspace, used)
	if err != nil {
		t.Fatal(err)
	}
	release()
	return cache, workspace
}

// pruned returns the names of the caches that Prune removes.
func pruned(t testing.TB, dir string, o Limits, now time.Time) (names []string) {
	t.Helper()
	removed, err := Prune(dir, o, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range removed {
		names = append(names, filepath.Base(e.Dir))
	}
	slices.Sort(names)
	return names
}

func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

func TestPrune(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Limits
		want []string
	}{
		{"defaults", Limits{}, []string{"gone", "old"}},
		{"no limits but for what is gone", Limits{MaxAge: -1, MaxBytes: -1}, []string{"gone"}},
		{"too large", Limits{MaxBytes: 2500}, []string{"b", "gone", "old"}},
		{"much too large", Limits{MaxBytes: 1}, []string{"a", "b", "gone", "old"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			made(t, dir, "a", noon.Add(-day))
			made(t, dir, "b", noon.Add(-2*day))
			made(t, dir, "old", noon.Add(-31*day))
			live, workspace := made(t, dir, "live", noon.Add(-100*day))
			release, err := Hold(live, workspace, noon.Add(-100*day))
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			for name, used := range map[string]time.Time{"gone": noon.Add(-2 * time.Hour), "justgone": noon} {
				_, workspace := made(t, dir, name, used)
				if err := os.Remove(workspace); err != nil {
					t.Fatal(err)
				}
			}
			if tt.o.MaxBytes > 0 {
				tt.o.MaxBytes += 1000 // justgone, which is used last
			}
			want := tt.want
			if tt.name == "much too large" {
				want = []string{"a", "b", "gone", "justgone", "old"}
				tt.o.MaxBytes = 1
			}
			dry := tt.o
			dry.Dry = true
			before := names(t, dir)
			if got := pruned(t, dir, dry, noon); !slices.Equal(got, want) || names(t, dir) != before {
				t.Errorf("would remove %v, want %v; there is %s", got, want, names(t, dir))
			}
			if got := pruned(t, dir, tt.o, noon); !slices.Equal(got, want) {
				t.Errorf("removed %v, want %v", got, want)
			}
			left := names(t, dir)
			for _, name := range want {
				if strings.Contains(" "+left+" ", " "+name+" ") || strings.Contains(left, name+".json") && name != "gone" {
					t.Errorf("%s: there is %s", name, left)
				}
			}
			if !strings.Contains(left, "live live.json") {
				t.Errorf("the cache in use is gone: %s", left)
			}
		})
	}
}

// What Prune cannot know it keeps: a cache without a note for as long as others, and one of a newer version for ever.
func TestPruneOfWhatIsNotKnown(t *testing.T) {
	dir := t.TempDir()
	older := filepath.Join(dir, "older")
	if err := os.MkdirAll(filepath.Join(older, "go-build"), 0o700); err != nil {
		t.Fatal(err)
	}
	newer, _ := made(t, dir, "newer", noon)
	if err := os.WriteFile(newer+noteEnd, []byte(`{"version":2,"used":"2001-01-01T00:00:00Z","since":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ahead, _ := made(t, dir, "ahead", noon.Add(1000*day))
	if err := os.MkdirAll(filepath.Join(dir, leftover+"cut"), 0o500); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(older, "go-build"), older} {
		if err := os.Chtimes(path, noon, noon); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		now  time.Time
		want []string
	}{{noon.Add(29 * day), nil}, {noon.Add(31 * day), []string{"older"}}, {noon.Add(60 * day), []string{"ahead"}}} {
		if got := pruned(t, dir, Limits{}, step.now); !slices.Equal(got, step.want) {
			t.Errorf("%v: removed %v, want %v", step.now, got, step.want)
		}
	}
	release, err := Hold(newer, "/w", noon)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if b, err := os.ReadFile(newer + noteEnd); err != nil || !strings.Contains(string(b), `"since":1`) {
		t.Errorf("the note of a newer version is now %s, %v", b, err)
	}
	if got := names(t, dir); got != "newer newer.json" {
		t.Errorf("there is %s, and %s", got, ahead)
	}
}
