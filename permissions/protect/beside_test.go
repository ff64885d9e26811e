package protect

import "testing"

// TestBeside: a place outside the roots that a call writes is judged as one inside, with the repositories around it and in it, and with what they
// point to in the roots; without it nothing is said of it.
func TestBeside(t *testing.T) {
	root, out := tempDir(t), tempDir(t)
	write(t, root, "src/a", "shared/pre-commit")
	write(t, out, "repo/scripts/pre-commit", "repo/src/x", "repo/vendor/lib/a", "plain/x")
	git(t, out, "init", "-q", "repo")
	git(t, out, "init", "-q", "repo/vendor/lib")
	git(t, out+"/repo", "config", "core.hooksPath", "scripts")
	git(t, out+"/repo/vendor/lib", "config", "core.hooksPath", root+"/shared")
	c := NewCache(Options{Roots: []string{root}, GitConfigs: []string{}}, 0)
	defer c.Close()
	including := func(places ...string) *Map {
		t.Helper()
		m, err := c.Including(t.Context(), places)
		must(t, err)
		return m
	}
	if _, held := including().Judge(out + "/repo/scripts/pre-commit"); held {
		t.Error("a place that no call writes is judged")
	}
	for path, want := range map[string]bool{
		out + "/repo/scripts/pre-commit": true, out + "/repo/scripts/later": true, out + "/repo/src/x": false, out + "/plain/x": false, out + "/plain/new/x": false,
		out + "/repo/.git/hooks/x": true,
	} {
		if _, held := including(path).Asks(path, ""); held != want {
			t.Errorf("%s: asks %v", path, held)
		}
	}
	if _, held := including().Judge(root + "/shared/pre-commit"); held {
		t.Error("a repository below no place that was written points into the root")
	}
	m := including(out + "/repo")
	if _, held := m.Judge(out + "/repo/vendor/lib/.git/config"); !held {
		t.Error("a repository in a place is not found")
	}
	if names := m.Opens(out + "/repo/vendor"); len(names) == 0 {
		t.Error("a directory with a repository opens nothing")
	}
	if _, held := m.Judge(root + "/shared/pre-commit"); !held {
		t.Error("what the repository of a place points to in the root is not held")
	}
	if _, held := m.Judge(root + "/src/a"); held {
		t.Error("a plain file is held")
	}
	snap, err := Take(m)
	must(t, err)
	write(t, out, "repo/scripts/pre-commit = evil")
	if changes, err := snap.Changes(); err != nil || len(changes) == 0 {
		t.Errorf("the watch sees no change: %v", err)
	}
	g := m.Granted([]string{out + "/repo/scripts/pre-commit"}, nil)
	if _, held := g.Judge(out + "/repo/scripts/pre-commit"); held {
		t.Error("a grant opens nothing")
	}
	if _, held := g.Judge(out + "/repo/scripts/other"); !held {
		t.Error("a grant for one name opens another")
	}
}
