package protect

import (
	"fmt"
	"os"
	"path"
	"slices"
	"testing"
	"time"
)

// covers reports whether the entries hold the path.
func covers(entries []Entry, file string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Path == file })
}

// mapOf returns the map of a cache after its directories changed.
func mapOf(t *testing.T, c *Cache) *Map {
	t.Helper()
	c.Invalidate()
	m, err := c.Map(t.Context())
	must(t, err)
	return m
}

// TestDecoysTakeNoMask: what was covered stays covered, however many names of its sort commands make.
func TestDecoysTakeNoMask(t *testing.T) {
	root := fastDir(t)
	write(t, root, "svc/api/.env = A=1", "svc/api/deep/er/.vscode/settings.json", ".env.5")
	c := NewCache(Options{Roots: []string{root}, GitConfigs: []string{}, ReadDeny: usualDeny(), MaxTime: time.Minute}, 0)
	defer c.Close()
	if m := mapOf(t, c); !covers(m.Secrets, root+"/svc/api/.env") || len(m.Uncovered()) > 0 {
		t.Fatalf("%v %v", m.Secrets, m.Partial)
	}
	for round := range 3 { // the second takes the names of the first away
		for i := range 900 {
			write(t, root, fmt.Sprintf(".env.%d%03d", round, i), fmt.Sprintf("d%d%03d/.vscode/x", round, i))
			if round > 0 {
				must(t, os.Remove(fmt.Sprintf("%s/.env.%d%03d", root, round-1, i)))
			}
		}
		m := mapOf(t, c)
		if !covers(m.Secrets, root+"/svc/api/.env") || !covers(m.Secrets, root+"/.env.5") || !covers(m.Sealed, root+"/svc/api/deep/er/.vscode") {
			t.Fatalf("round %d: no longer covered", round)
		}
		if len(m.Uncovered()) == 0 {
			t.Errorf("round %d: nothing says that the cover is not complete", round)
		}
	}
}

// TestHomeSecretsTakeNoMask: a workspace that holds the home directory covers all that the list names there, whatever else there is.
func TestHomeSecretsTakeNoMask(t *testing.T) {
	root := fastDir(t)
	home := root + "/home/me"
	names := []string{".ssh/id", ".aws/credentials", ".netrc", ".codex/auth.json", ".bash_history"}
	write(t, home, names...)
	for i := range 450 {
		write(t, root, fmt.Sprintf(".env.%03d", i))
	}
	m := scanned(t, Options{Roots: []string{root}, Home: home, GitConfigs: []string{}, ReadDeny: usualDeny(), MaxTime: time.Minute})
	for _, name := range names {
		file := path.Join(home, name)
		if !covers(m.Secrets, file) && !covers(m.Secrets, path.Dir(file)) {
			t.Errorf("%s is not masked", file)
		}
	}
	if len(m.Uncovered()) == 0 {
		t.Error("450 environment files fit into the masks")
	}
}

// TestCrowdHidesNoRepository: a repository that was sealed stays so, however many files there are to look at.
func TestCrowdHidesNoRepository(t *testing.T) {
	root := fastDir(t)
	write(t, root, "z/y/nested/.git/HEAD", "z/y/nested/.git/config = [core]", "z/y/nested/.git/hooks/", "z/y/nested/.env")
	c := NewCache(Options{Roots: []string{root}, GitConfigs: []string{}, ReadDeny: usualDeny(), MaxEntries: 300, MaxTime: time.Minute}, 0)
	defer c.Close()
	hooks, secret := root+"/z/y/nested/.git/hooks", root+"/z/y/nested/.env"
	if m := mapOf(t, c); !covers(m.Sealed, hooks) || !covers(m.Secrets, secret) {
		t.Fatal("not covered at first")
	}
	for i := range 20 {
		for j := range 40 {
			write(t, root, fmt.Sprintf("a%02d/%02d", i, j))
		}
	}
	m := mapOf(t, c)
	if !covers(m.Sealed, hooks) || !covers(m.Secrets, secret) {
		t.Error("no longer covered")
	}
	if len(m.Uncovered()) == 0 {
		t.Error("nothing says that the cover is not complete")
	}
	must(t, os.RemoveAll(root+"/z/y/nested"))
	if m := mapOf(t, c); covers(m.Sealed, hooks) || covers(m.Secrets, secret) {
		t.Error("what is gone is still covered")
	}
}

// TestListedOnce: a large directory that did not change is not listed again, and one that did is.
func TestListedOnce(t *testing.T) {
	root := fastDir(t)
	for i := range 500 {
		write(t, root, fmt.Sprintf("data/%03d", i))
	}
	time.Sleep(settled + 100*time.Millisecond) // what changed just now is listed again in any case
	c := NewCache(Options{Roots: []string{root}, GitConfigs: []string{}, ReadDeny: usualDeny(), MaxTime: time.Minute}, 0)
	defer c.Close()
	mapOf(t, c)
	if m := mapOf(t, c); m.listed > 100 {
		t.Errorf("listed %d entries of directories that did not change", m.listed)
	}
	write(t, root, "data/.env", "data/sub/.env")
	if m := mapOf(t, c); !covers(m.Secrets, root+"/data/.env") || !covers(m.Secrets, root+"/data/sub/.env") {
		t.Errorf("%v", m.Secrets)
	}
}
