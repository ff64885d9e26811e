package protect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckoutOf: a repository is found if it knows the work tree. Files are written as "name = text", directories end in a slash,
// and HERE stands for the directory of all.
func TestCheckoutOf(t *testing.T) {
	const plain = "HEAD = x\n|objects/|refs/|config = [core]\n\tbare = false\n"
	in := func(dir, files string) []string {
		var all []string
		for _, file := range strings.Split(files, "|") {
			all = append(all, dir+"/"+file)
		}
		return all
	}
	tree := func(parts ...[]string) (all []string) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	linked := tree(in("main/.git", plain), in("main/.git/worktrees/w", "commondir = ../..\n|gitdir = HERE/w/.git\n|HEAD = x\n"), []string{"w/.git = gitdir: HERE/main/.git/worktrees/w\n"})
	for name, c := range map[string]struct {
		files []string
		dir   string
		want  string // top, git directory and common one; empty: none
	}{
		"the top":                  {in("a/.git", plain), "a", "a a/.git a/.git"},
		"below it":                 {tree(in("a/.git", plain), []string{"a/b/c/"}), "a/b/c", "a a/.git a/.git"},
		"none":                     {[]string{"a/"}, "a", ""},
		"no repository":            {[]string{"a/.git/HEAD = x\n"}, "a", ""},
		"a work tree":              {linked, "w", "w main/.git/worktrees/w main/.git"},
		"the wrong work tree":      {tree(linked, []string{"evil/.git = gitdir: HERE/main/.git/worktrees/w\n"}), "evil", ""},
		"another repository":       {tree(linked, []string{"evil/.git = gitdir: HERE/main/.git\n"}), "evil", ""},
		"a bare repository":        {tree(in("b", strings.Replace(plain, "false", "true", 1)), []string{"evil/.git = gitdir: ../b\n"}), "evil", ""},
		"a directory of secrets":   {[]string{"keys/id = x\n", "evil/.git = gitdir: ../keys\n"}, "evil", ""},
		"one of its own":           {tree([]string{"keys/id = x\n", "evil/.git = gitdir: fake\n"}, in("evil/fake", "commondir = ../../keys\n|gitdir = ../.git\n|HEAD = x\n")), "evil", ""},
		"a separate one":           {tree(in("g", plain), []string{"a/.git = gitdir: ../g\n"}), "a", "a g g"},
		"a submodule":              {tree(in("s/.git/modules/m", strings.Replace(plain, "[core]", "[core]\n\tworktree = ../../../m", 1)), []string{"s/m/.git = gitdir: ../.git/modules/m\n"}), "s/m", "s/m s/.git/modules/m s/.git/modules/m"},
		"another's submodule":      {tree(in("s/.git/modules/m", strings.Replace(plain, "[core]", "[core]\n\tworktree = ../../../m", 1)), []string{"s/m/", "evil/.git = gitdir: ../s/.git/modules/m\n"}), "evil", ""},
		"a link":                   {tree(in("a/.git", plain), []string{"evil/.git -> ../a/.git"}), "evil", ""},
		"a link to a separate one": {tree(in("g", plain), []string{"a/.git -> ../g", "a/b/"}), "a/b", "a g g"},
		"a newline in the names": {
			tree(in("m\nn/.git", plain), in("m\nn/.git/worktrees/w", "commondir = ../..\n|gitdir = HERE/w\nx/.git\n|HEAD = x\n"), []string{"w\nx/.git = gitdir: HERE/m\nn/.git/worktrees/w\n"}),
			"w\nx", "w\nx m\nn/.git/worktrees/w m\nn/.git",
		},
		"a link to a link":        {tree(in("g", plain), []string{"h -> g", "a/.git -> ../h"}), "a", "a g g"},
		"a link to a bare one":    {tree(in("b", strings.Replace(plain, "false", "true", 1)), []string{"evil/.git -> ../b"}), "evil", ""},
		"a link to a submodule":   {tree(in("s/.git/modules/m", strings.Replace(plain, "[core]", "[core]\n\tworktree = ../../../m", 1)), []string{"s/m/", "evil/.git -> ../s/.git/modules/m"}), "evil", ""},
		"a link to a work tree's": {tree(linked, []string{"evil/.git -> ../main/.git/worktrees/w"}), "evil", ""},
		"a link to secrets":       {[]string{"keys/id = x\n", "evil/.git -> ../keys"}, "evil", ""},
		"a link to nothing":       {[]string{"evil/.git -> ../none"}, "evil", ""},
		"the home":                {tree(in("home/.git", plain), []string{"home/dir/"}), "home/dir", ""},
	} {
		t.Run(name, func(t *testing.T) {
			here := real(t.TempDir())
			for _, file := range c.files {
				plant(t, here, file)
			}
			got, ok := CheckoutOf(filepath.Join(here, c.dir), filepath.Join(here, "home"))
			all := ""
			if ok {
				all = strings.ReplaceAll(strings.Join([]string{got.Top, got.GitDir, got.Common}, " "), here+"/", "")
			}
			if all != c.want {
				t.Errorf("found %q, and not %q", all, c.want)
			}
		})
	}
}

// TestCheckoutOfAnotherUser: a file .git of another user, as anybody may put into /tmp, makes no work tree of the directory.
func TestCheckoutOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	here := real(t.TempDir())
	for _, file := range []string{"g/HEAD = x\n", "g/objects/", "g/refs/", "g/config = [core]\n\tbare = false\n", "a/.git = gitdir: ../g\n"} {
		plant(t, here, file)
	}
	if _, ok := CheckoutOf(filepath.Join(here, "a"), ""); !ok {
		t.Fatal("the user's own is not found")
	}
	if err := os.Chown(filepath.Join(here, "a/.git"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if c, ok := CheckoutOf(filepath.Join(here, "a"), ""); ok {
		t.Errorf("found %+v", c)
	}
}

// plant makes what a line of TestCheckoutOf describes.
func plant(t *testing.T, here, file string) {
	t.Helper()
	name, text, isFile := strings.Cut(file, " = ")
	link, target, isLink := strings.Cut(file, " -> ")
	if isLink {
		name = link
	}
	path := filepath.Join(here, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	switch {
	case err != nil:
	case isFile:
		err = os.WriteFile(path, []byte(strings.ReplaceAll(text, "HERE", here)), 0o644)
	case isLink:
		err = os.Symlink(target, path)
	default:
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}
