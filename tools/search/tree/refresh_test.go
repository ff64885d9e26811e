package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/tools/racy"
)

// settled refreshes until no directory is too young to be trusted.
func settled(t *testing.T, tree *Tree) *List {
	t.Helper()
	for {
		l := refreshed(t, tree)
		if len(tree.again) == 0 {
			return l
		}
	}
}

func TestNothingChanged(t *testing.T) {
	dir := plant(t, map[string]string{"a": "", "d/b": "", "d/.gitignore": "x\n", ".git/config": ""})
	tree := open(t, dir, Options{})
	first := refreshed(t, tree)
	if l := settled(t, tree); l != first {
		t.Error("another list after the directories were listed again")
	}
	before := *tree.root.listing.Load()
	l, err := tree.RefreshOnly(t.Context(), first.Dirs)
	if err != nil || l != first || !before.same(tree.root.listing.Load()) {
		t.Error("another list", err)
	}
	write(t, filepath.Join(dir, "a"), "content is nothing to a list", false)
	write(t, filepath.Join(dir, "d/.gitignore"), "x\n", false) // the same rules
	write(t, filepath.Join(dir, ".git/config"), "[user]\n", false)
	if refreshed(t, tree) != first {
		t.Error("another list after writing in place")
	}
}

func TestWhatStaysTheSame(t *testing.T) {
	dir := plant(t, map[string]string{"a": "", "b": "", "d/x": "", "d/e/y": "", "gone/f/z": "", "swap/x": ""})
	tree := open(t, dir, Options{})
	old := settled(t, tree)
	was := summary(old)
	find := func(l *List, path string) *File {
		i := slices.Index(paths(l), path)
		if i < 0 {
			t.Fatalf("no %s", path)
		}
		return l.Files[i]
	}
	steps := []error{
		os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "b2")),
		os.RemoveAll(filepath.Join(dir, "gone")),
		os.WriteFile(filepath.Join(dir, "d/e/new"), nil, 0o644),
		os.WriteFile(filepath.Join(dir, "new"), nil, 0o644),
		os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "d/x")), // replaces a file as editors do
		os.Rename(filepath.Join(dir, "swap"), filepath.Join(dir, "kept")),
		os.Mkdir(filepath.Join(dir, "swap"), 0o755),
		os.WriteFile(filepath.Join(dir, "swap/x"), nil, 0o644),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	now := refreshed(t, tree)
	if got := strings.Join(paths(now), " "); got != "a b2 d/e/new d/e/y d/x kept/x swap/x" {
		t.Errorf("got %q", got)
	}
	for path, same := range map[string]bool{"a": true, "d/e/y": true, "d/x": false, "swap/x": false} {
		if (find(now, path) == find(old, path)) != same {
			t.Errorf("%s: the same file: %v, want %v", path, !same, same)
		}
	}
	for _, d := range old.Dirs {
		want := strings.HasPrefix(d.Path, "gone/") || d.Path == "swap/"
		if d.Gone() != want {
			t.Errorf("%q gone: %v", d.Path, d.Gone())
		}
		if !want && !slices.Contains(now.Dirs, d) {
			t.Errorf("%q is another directory", d.Path)
		}
	}
	if got := summary(old); got != was {
		t.Errorf("the old list changed:\n%s\nwas\n%s", got, was)
	}
}

// A name may stand for something else with the same inode number: numbers are given out again.
func TestOtherKindIsAnotherFile(t *testing.T) {
	d, n := &Dir{}, &names{}
	n.add([]byte("a"), 1, Regular)
	old := newMerge(d, "a", n.entries).listing
	d.listing.Store(old)
	if l := newMerge(d, "a", n.entries).listing; !l.same(old) {
		t.Error("the same entry is another file")
	}
	n.entries[0].kind = Link
	if l := newMerge(d, "a", n.entries).listing; l.same(old) || l.files[0].Kind != Link {
		t.Error("the old file was taken for a link")
	}
}

func TestIgnoredDirectoryIsGone(t *testing.T) {
	dir := plant(t, map[string]string{"out/d/x": "", "a": ""})
	tree := open(t, dir, Options{})
	out := settled(t, tree).Dirs[1]
	write(t, filepath.Join(dir, ".ignore"), "out\n", false)
	if l := refreshed(t, tree); len(l.Files) != 1 || l.Ignored != 1 || !out.Gone() {
		t.Errorf("gone: %v, %s", out.Gone(), summary(l))
	}
	write(t, filepath.Join(dir, ".ignore"), "", false)
	if l := refreshed(t, tree); len(l.Files) != 2 || l.Dirs[1] == out {
		t.Error(summary(l))
	}
}

// RefreshOnly looks at nothing but what it is given, and at that with all that follows from it.
func TestRefreshOnly(t *testing.T) {
	dir := plant(t, map[string]string{"a/x": "", "a/b/x.o": "", "c/x": "", "c/y": ""})
	tree := open(t, dir, Options{})
	l := settled(t, tree)
	a, b, c := l.Dirs[1], l.Dirs[2], l.Dirs[3]
	write(t, filepath.Join(dir, "a/new/y.o"), "", false)
	write(t, filepath.Join(dir, "a/.gitignore"), "*.o\n", false)
	write(t, filepath.Join(dir, "c/z"), "", false)
	for _, step := range []struct {
		dirs []*Dir
		want string
	}{
		{nil, "a/b/x.o a/x c/x c/y"},
		{[]*Dir{b}, "a/b/x.o a/x c/x c/y"},
		{[]*Dir{a}, "a/x c/x c/y"},
		{[]*Dir{c, a, c}, "a/x c/x c/y c/z"},
	} {
		l, err := tree.RefreshOnly(t.Context(), step.dirs)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(paths(l), " "); got != step.want {
			t.Errorf("%d directories: got %q, want %q", len(step.dirs), got, step.want)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	refreshed(t, tree)
	if l, err := tree.RefreshOnly(t.Context(), []*Dir{a, b}); err != nil || len(l.Files) != 3 {
		t.Error("with directories that are gone:", err)
	}
}

// Git's own files lie in directories that no list has.
func TestRefreshOnlyLooksAtRepositories(t *testing.T) {
	dir := plant(t, map[string]string{"d/r/.git/info/exclude": "x\n", "d/r/x": "", "d/r/y": "", "d/r/Y": ""})
	tree := open(t, dir, Options{})
	settled(t, tree)
	for _, step := range []struct{ path, text, want string }{
		{"info/exclude", "y\n", "d/r/Y d/r/x"},
		{"config", "[core]\nignoreCase = true\n", "d/r/x"},
		{"config", "[core]\nignoreCase = false\n", "d/r/Y d/r/x"},
	} {
		write(t, filepath.Join(dir, "d/r/.git", step.path), step.text, false)
		l, err := tree.RefreshOnly(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(paths(l), " "); got != step.want {
			t.Errorf("%s %q: got %q, want %q", step.path, step.text, got, step.want)
		}
	}
	settled(t, tree)
	if err := os.Remove(filepath.Join(dir, "d/r/.git/info/exclude")); err != nil {
		t.Fatal(err)
	}
	if l, err := tree.RefreshOnly(t.Context(), nil); err != nil || len(l.Files) != 3 {
		t.Error("without info/exclude:", paths(l), err)
	}
}

// A change in the moment of listing, which the directory's times do not show, is found by the next refresh.
func TestChangeWithinTheClock(t *testing.T) {
	dir := plant(t, map[string]string{"d/a": "", "d/.ignore": "x\n"})
	for _, name := range []string{"d", "d/.ignore"} { // young whenever it is looked at
		if err := os.Chtimes(filepath.Join(dir, name), time.Time{}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, dir, Options{})
	sub := refreshed(t, tree).Dirs[1]
	write(t, filepath.Join(dir, "d/b"), "", false)
	tree.mu.Lock()
	sub.status = statusIn(t, filepath.Join(dir, "d")) // as if nothing had ticked
	tree.mu.Unlock()
	if got := paths(refreshed(t, tree)); !slices.Equal(got, []string{"d/a", "d/b"}) {
		t.Errorf("got %q", got)
	}
	write(t, filepath.Join(dir, "d/.ignore"), "a\n", false)
	tree.mu.Lock()
	sub.sources.files[0].status = statusIn(t, filepath.Join(dir, "d/.ignore"))
	tree.mu.Unlock()
	if got := paths(refreshed(t, tree)); !slices.Equal(got, []string{"d/b"}) {
		t.Errorf("got %q", got)
	}
}

func statusIn(t *testing.T, path string) status {
	t.Helper()
	st, err := statusAt(-1, path)
	if err != nil {
		t.Fatal(err)
	}
	return statusOf(&st)
}

func TestFresh(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, test := range []struct {
		name  string
		mtime time.Duration // before now
		ctime time.Duration
		want  bool
	}{
		{"long ago", time.Hour, time.Hour, false},
		{"just enough", racy.Window, racy.Window, false},
		{"too young", time.Hour, racy.Window - 1, true},
		{"set back by somebody", racy.Window - 1, time.Hour, true},
		{"in the future", -time.Hour, time.Hour, true},
		{"in the same second, by a coarse clock", time.Hour, time.Second, true},
	} {
		s := status{mtime: now.Add(-test.mtime).UnixNano(), ctime: now.Add(-test.ctime).UnixNano()}
		if got := s.fresh(now); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// A refresh that had no time says so, and the next one makes up for it.
func TestNoTime(t *testing.T) {
	dir := plant(t, map[string]string{"a": "", "d/b": "", "d/e/c.o": ""})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tree := open(t, dir, Options{})
	without := func(want int) {
		t.Helper()
		if l, err := tree.Refresh(ended); err != nil || !l.Partial || len(l.Files) != want {
			t.Fatal(summary(l), err)
		}
	}
	with := func(want string) {
		t.Helper()
		if l := refreshed(t, tree); strings.Join(paths(l), " ") != want || l.Partial {
			t.Fatal(summary(l))
		}
	}
	without(0)
	with("a d/b d/e/c.o")
	write(t, filepath.Join(dir, "d/new"), "", false)
	without(3)
	without(3)
	with("a d/b d/e/c.o d/new")
	write(t, filepath.Join(dir, ".ignore"), "*.o\n", false)
	without(4)
	with("a d/b d/new")
}

// However far a refresh comes that new rules sent everywhere: what it did not reach is classified by the next.
func TestNoTimeForNewRules(t *testing.T) {
	dir := plant(t, map[string]string{".ignore": "b\n", "a": "", "b": "", "d/a": "", "d/b": "", "d/e/a": "", "d/e/b": "", "f/a": "", "f/b": ""})
	tree := open(t, dir, Options{})
	settled(t, tree)
	for n := range 40 {
		gone, kept := "b", "a"
		if n%2 == 0 {
			gone, kept = "a", "b"
		}
		write(t, filepath.Join(dir, ".ignore"), gone+"\n", false)
		if _, err := tree.Refresh(newCountdown(t.Context(), n)); err != nil {
			t.Fatal(err)
		}
		want := []string{kept, "d/" + kept, "d/e/" + kept, "f/" + kept}
		if l := refreshed(t, tree); !slices.Equal(paths(l), want) || l.Partial {
			t.Fatalf("after %d steps: %s", n, summary(l))
		}
	}
}

// Rules that cost much for every name do not keep a refresh from seeing that its time is over, nor the next from
// finding what is there.
func TestNoTimeForRules(t *testing.T) {
	const count = 20 * perRules
	files := map[string]string{".gitignore": strings.Repeat("*a?a?a?a?[b]\n", 40) + "*~\n", "x~": ""}
	for i := range count {
		files[fmt.Sprint("aaaaaaaaaaaa", i)] = ""
	}
	tree := open(t, plant(t, files), Options{})
	looks := newCountdown(t.Context(), 10*count)
	if l, err := tree.Refresh(looks); err != nil || len(l.Files) != count {
		t.Fatal(err, "or not", count)
	}
	if n := 10*count - len(looks.left); n < count/perRules {
		t.Errorf("%d looks at the context for %d names", n, count)
	}
	for n := range 8 {
		tree := open(t, tree.place.Path, Options{})
		if l, err := tree.Refresh(newCountdown(t.Context(), n)); err != nil || !l.Partial || len(l.Files) != 0 {
			t.Errorf("after %d looks: %v", n, err)
		}
		if l := refreshed(t, tree); l.Partial || len(l.Files) != count || l.Ignored != 1 {
			t.Errorf("after %d looks, at last: %s", n, summary(l))
		}
	}
}

func TestClosed(t *testing.T) {
	tree := open(t, plant(t, map[string]string{"a": ""}), Options{})
	l := refreshed(t, tree)
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Refresh(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Error("refresh:", err)
	}
	if _, err := tree.Open(l.Dirs[0]); !errors.Is(err, os.ErrClosed) {
		t.Error("open:", err)
	}
}

func TestRootRemoved(t *testing.T) {
	dir := filepath.Join(plant(t, map[string]string{"r/a": ""}), "r")
	tree := open(t, dir, Options{})
	refreshed(t, tree)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if l, err := tree.Refresh(t.Context()); err == nil {
			t.Error(summary(l))
		}
	}
}
