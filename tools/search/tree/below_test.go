package tree

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestBelow(t *testing.T) {
	tree := open(t, plant(t, map[string]string{
		"a.go": "", "a/x": "", "a/.h": "", "a/b/y": "", "a/b/.h": "", "a/.ignore": "o\n", "a/b/o": "", "a-/x": "", "a0": "", "e/": "", "z/x": "",
	}), Options{})
	l := refreshed(t, tree)
	for _, test := range []struct {
		dir, want             string
		dirs, ignored, hidden int
	}{
		{"", "a-/x a.go a/b/y a/x a0 z/x", 6, 1, 3},
		{"a/", "a/b/y a/x", 2, 1, 3},
		{"a/b/", "a/b/y", 1, 1, 1},
		{"a-/", "a-/x", 1, 0, 0},
		{"e/", "", 1, 0, 0},
		{"z/", "z/x", 1, 0, 0},
	} {
		part, ok := l.Below(test.dir)
		if !ok {
			t.Fatalf("%q is not there", test.dir)
		}
		if got := strings.Join(paths(part), " "); got != test.want || len(part.Dirs) != test.dirs ||
			part.Ignored != test.ignored || part.Hidden != test.hidden {
			t.Errorf("%q: got %s", test.dir, summary(part))
		}
	}
	for _, dir := range []string{"a", "b/", "a/x/", "zz/"} {
		if _, ok := l.Below(dir); ok {
			t.Errorf("%q is there", dir)
		}
	}
}

// A part is taken while a refresh runs.
func TestBelowDuringRefresh(t *testing.T) {
	dir := plant(t, map[string]string{"a/b/x": ""})
	tree := open(t, dir, Options{})
	l := refreshed(t, tree)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			l.Below("a/")
		}
	}()
	for i := range 20 {
		write(t, filepath.Join(dir, "a/b", strings.Repeat("n", i+1)), "", false)
		refreshed(t, tree)
	}
	<-done
}
