package tree

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// open returns the tree at dir, where ignore files count from dir itself.
func open(t testing.TB, dir string, o Options) *Tree {
	t.Helper()
	return openBelow(t, dir, dir, o)
}

// openBelow returns the tree at dir, where ignore files count from top.
func openBelow(t testing.TB, dir, top string, o Options) *Tree {
	t.Helper()
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tree := New(Place{Root: root, Path: dir, Top: top}, o)
	t.Cleanup(func() { tree.Close() })
	return tree
}

// refreshed returns the list after a refresh.
func refreshed(t testing.TB, tree *Tree) *List {
	t.Helper()
	l, err := tree.Refresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// plant makes files in a new directory. A name that ends in a slash is a directory.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text, name[len(name)-1] == '/')
	}
	return dir
}

func write(t testing.TB, path, text string, dir bool) {
	t.Helper()
	parent := filepath.Dir(path)
	if dir {
		parent = path
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// paths returns the paths of a list's files.
func paths(l *List) []string {
	out := make([]string, len(l.Files))
	for i, f := range l.Files {
		out[i] = f.Path()
	}
	return out
}
