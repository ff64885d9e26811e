package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/tools/search/ignore"
)

func TestAbove(t *testing.T) {
	all := map[string]string{
		".gitignore": "1\n", ".ignore": "one\n", "w/.gitignore": "2\n", "w/.ignore": "two\n", "w/r/.gitignore": "/s/t/3\n", "w/r/.ignore": "three\n",
		"w/r/s/t/1": "", "w/r/s/t/2": "", "w/r/s/t/3": "", "w/r/s/t/4": "", "w/r/s/t/one": "", "w/r/s/t/two": "", "w/r/s/t/three": "",
	}
	for _, test := range []struct{ name, repository, top, root, want string }{
		{"no repository, no directory above", "", "w/r/s/t", "w/r/s/t", "1 2 3 4 one three two"},
		{"no repository, from the top directory", "", "w", "w/r/s/t", "1 4 one"},
		{"a top directory that is elsewhere", "", "w/r/s/other", "w/r/s/t", "1 2 3 4 one three two"},
		{"a repository above the top directory", ".", "w/r", "w/r/s/t", "4"},
		{"a repository below the top directory", "w/r", "w", "w/r/s/t", "1 2 4 one"},
		{"the top directory is the repository", "w", "w", "w/r/s/t", "1 4 one"},
		{"the root is a repository", "w/r/s/t", "w", "w/r/s/t", "1 2 3 4 one"},
		{"from the middle", "w", "w/r", "w/r/s", "t/1 t/4 t/one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := plant(t, all)
			if test.repository != "" {
				write(t, filepath.Join(dir, test.repository, ".git/info/exclude"), "0\n", false)
			}
			tree := openBelow(t, filepath.Join(dir, test.root), filepath.Join(dir, test.top), Options{})
			if got := strings.Join(paths(refreshed(t, tree)), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The user's own configuration may be behind a link, as many keep it; what is in the tree may not.
func TestLinkedConfiguration(t *testing.T) {
	dir := plant(t, map[string]string{
		"dotfiles/git": "[core]\nexcludesFile = " + "~/dotfiles/excludes\n", "dotfiles/excludes": "a\n",
		"r/.git/info/": "", "r/a": "", "r/b": "", "r/c": "", "r/linked": "b\n",
	})
	for name, target := range map[string]string{".gitconfig": "dotfiles/git", "r/.git/info/exclude": "../../linked", "r/.gitignore": "linked"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	tree := open(t, filepath.Join(dir, "r"), Options{Git: ignore.Environment{Home: dir}})
	if got := strings.Join(paths(refreshed(t, tree)), " "); got != "b c linked" {
		t.Errorf("got %q", got)
	}
	write(t, filepath.Join(dir, "dotfiles/excludes"), "c\n", false)
	if got := strings.Join(paths(refreshed(t, tree)), " "); got != "a b linked" {
		t.Errorf("after a change: got %q", got)
	}
}

// An ignore file above the root that is too young to be trusted is read again.
func TestYoungAbove(t *testing.T) {
	dir := plant(t, map[string]string{".ignore": "a\n", "d/a": "", "d/b": ""})
	ignore := filepath.Join(dir, ".ignore")
	if err := os.Chtimes(ignore, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	tree := openBelow(t, filepath.Join(dir, "d"), dir, Options{})
	refreshed(t, tree)
	write(t, ignore, "b\n", false)
	files := tree.above.layers[0].files
	for i := range files {
		if files[i].path == ignore {
			files[i].status = statusIn(t, ignore) // as if nothing had ticked
		}
	}
	if got := strings.Join(paths(refreshed(t, tree)), " "); got != "a" {
		t.Errorf("got %q", got)
	}
}

// What changes above the root shows in the next list, by each kind of refresh.
func TestAboveChanges(t *testing.T) {
	dir := plant(t, map[string]string{"w/d/a": "", "w/d/b": "", "w/d/c": "", "home/x": ""})
	tree := openBelow(t, filepath.Join(dir, "w/d"), filepath.Join(dir, "w"), Options{
		Git: ignore.Environment{Home: filepath.Join(dir, "home"), ConfigHome: filepath.Join(dir, "home/.config")},
	})
	for _, step := range []struct{ path, text, want string }{
		{"home/x", "", "a b c"},
		{"w/.gitignore", "a\n", "b c"},
		{"w/.gitignore", "b\n", "a c"},
		{".gitignore", "c\n", "a c"},
		{".git/config", "", "a"}, // the topmost .gitignore counts now
		{"home/.config/git/ignore", "a\n", ""},
		{"home/.config/git/ignore", "z\n", "a"},
		{"w/.git/HEAD", "", "a c"}, // a nearer repository
		{"w/d/.git/info/exclude", "c\n", "a b"},
		{"w/d/.git/info/exclude", "b\n", "a c"},
	} {
		write(t, filepath.Join(dir, step.path), step.text, false)
		for _, refresh := range []func() (*List, error){
			func() (*List, error) { return tree.RefreshOnly(t.Context(), tree.dirs()[:0:0]) },
			func() (*List, error) { return tree.Refresh(t.Context()) },
		} {
			if step.path == "w/d/.git/info/exclude" { // it came or may have come with a new name in the root
				refresh = func() (*List, error) { return tree.Refresh(t.Context()) }
			}
			l, err := refresh()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(paths(l), " "); got != step.want {
				t.Fatalf("after writing %s: got %q, want %q", step.path, got, step.want)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "w/d/.git")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(paths(refreshed(t, tree)), " "); got != "a c" {
		t.Errorf("without a repository: %q", got)
	}
}
