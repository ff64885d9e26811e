package tree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// editor changes a tree at random. What an edit runs into is no failure: names are few, so that they meet. It reaches
// nothing outside the tree.
type editor struct {
	*rand.Rand
	*os.Root
}

func (e *editor) pick(of ...string) string { return of[e.IntN(len(of))] }

// folder returns a path at which there may be a directory.
func (e *editor) folder() string {
	path := "."
	for range e.IntN(4) {
		path = filepath.Join(path, e.pick("a", "b", "a.b", "ab", ".h", "\xff"))
	}
	return path
}

func (e *editor) name() string {
	return filepath.Join(e.folder(), e.pick("a", "b", "x", "X", "a.o", ".h", "a.b", "ab", "longer-than-eight", "longer-than-nine"))
}

func (e *editor) rules() string {
	var text string
	for range e.IntN(3) {
		text += e.pick("*.o", "a", "/b/", "!a", "a/*", "x", "**/ab", "b/x") + "\n"
	}
	return text
}

// write writes a file in place, if it is there.
func (e *editor) write(name, text string) {
	f, err := e.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	f.WriteString(text)
}

func (e *editor) edit() {
	name, folder := e.name(), e.folder()
	switch e.IntN(14) {
	case 0, 1, 2:
		e.MkdirAll(folder, 0o755)
	case 3, 4:
		e.write(name, "")
	case 5:
		e.RemoveAll(name)
	case 6:
		e.Rename(name, e.name())
	case 7:
		e.Rename(folder, e.folder())
	case 8:
		e.replace(name)
	case 9, 10:
		e.write(filepath.Join(folder, e.pick(".gitignore", ".ignore")), e.rules())
	case 11:
		e.Remove(filepath.Join(folder, e.pick(".gitignore", ".ignore")))
	case 12:
		e.repository(folder)
	case 13:
		e.Chmod(folder, os.FileMode(0o700|e.IntN(0o100)))
	}
}

// replace makes something else of a name.
func (e *editor) replace(name string) {
	e.RemoveAll(name)
	switch e.IntN(4) {
	case 0:
		e.Symlink(e.pick(".", "a", "../b", filepath.Base(name)), name)
	case 1:
		syscall.Mkfifo(filepath.Join(e.Root.Name(), ".new"), 0o644)
		e.Rename(".new", name)
	case 2:
		e.Mkdir(name, 0o755)
	case 3:
		e.write(name, "")
	}
}

// repository begins, changes or ends a repository in folder.
func (e *editor) repository(folder string) {
	git := filepath.Join(folder, ".git")
	switch e.IntN(5) {
	case 0:
		e.RemoveAll(git)
	case 1:
		e.RemoveAll(git)
		e.write(git, "gitdir: "+e.pick("../", "./")+e.pick("a", "b")+"/.git\n")
	case 2:
		e.write(filepath.Join(git, "config"), fmt.Sprintf("[core]\n\tignoreCase = %v\n", e.IntN(2) == 0))
	default:
		e.MkdirAll(filepath.Join(git, "info"), 0o755)
		e.write(filepath.Join(git, "info/exclude"), e.rules())
	}
}

// countdown is a context that ends when it was asked so many times.
type countdown struct {
	context.Context
	left chan struct{}
}

func newCountdown(ctx context.Context, n int) countdown {
	c := countdown{ctx, make(chan struct{}, n)}
	for range n {
		c.left <- struct{}{}
	}
	return c
}

func (c countdown) Err() error {
	select {
	case <-c.left:
		return nil
	default:
		return context.Canceled
	}
}

// Whatever changes, in whatever order, and however often a refresh is cut short: a list is what a new tree finds.
func TestRandomEdits(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := plant(t, nil)
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			e := &editor{rand.New(rand.NewPCG(seed, 8)), root}
			o := Options{Hidden: seed%2 == 1, NoIgnore: seed%5 == 4}
			tree := open(t, dir, o)
			var held []*List // older lists, and what they were
			var were []string
			for round := range rounds {
				if e.IntN(8) == 0 { // only what is old enough is trusted: have some of that
					settled(t, tree)
				}
				for range e.IntN(8) {
					e.edit()
				}
				if e.IntN(4) == 0 {
					if _, err := tree.Refresh(newCountdown(t.Context(), e.IntN(30))); err != nil {
						t.Fatal(err)
					}
				}
				l, again := refreshed(t, tree), open(t, dir, o)
				got, want := summary(l), summary(refreshed(t, again))
				again.Close()
				if got != want {
					t.Fatalf("round %d: got\n%s\nwant\n%s", round, got, want)
				}
				inOrder(t, l)
				if round%20 == 0 {
					held, were = append(held, l), append(were, got)
				}
			}
			for i, l := range held {
				if summary(l) != were[i] {
					t.Errorf("list %d changed", i)
				}
			}
			spent(t, tree)
		})
	}
}

// inOrder checks the order of a list and that its parts know one another.
func inOrder(t *testing.T, l *List) {
	t.Helper()
	if !slices.IsSorted(paths(l)) || !slices.IsSortedFunc(l.Dirs, func(a, b *Dir) int {
		return slices.Compare([]byte(a.Path), []byte(b.Path))
	}) {
		t.Fatal("not in path order:\n" + summary(l))
	}
	for _, f := range l.Files {
		if f.Dir.Gone() || f.Dir.File(f.Name) != f || !slices.Contains(l.Dirs, f.Dir) {
			t.Fatalf("%q is not in its directory", f.Path())
		}
	}
}

// spent checks that the room for names is what the directories that are there leave of it.
func spent(t *testing.T, tree *Tree) {
	t.Helper()
	left := int64(maxCost)
	for _, d := range tree.last.Dirs {
		left -= d.cost
	}
	if got := tree.room.Load(); got != left {
		t.Errorf("room for %d, want %d", got, left)
	}
}
