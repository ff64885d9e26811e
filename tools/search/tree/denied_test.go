package tree

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/ignore"
)

// candidates are names that may be lines of files that hold secrets.
var candidates = map[string]string{"w/r/a": "", "w/r/hunter": "", "w/r/z": ""}

// plantAll is plant for several sets of files.
func plantAll(t *testing.T, sets ...map[string]string) string {
	t.Helper()
	all := map[string]string{}
	for _, files := range sets {
		for name, text := range files {
			all[name] = text
		}
	}
	return plant(t, all)
}

// always is what each case of elsewhereCases has besides.
var always = map[string]string{
	"w/r/s/a": "", "w/r/s/hunter": "", "w/r/s/z": "", "home/": "", "secret": "hunter\n",
	"out/git/HEAD": "", "out/git/objects/": "", "out/git/info/exclude": "hunter\n",
	"out/git/worktrees/w/HEAD": "", "out/git/worktrees/w/commondir": "../..\n",
	"out/fake/HEAD": "", "out/fake/objects/": "", "out/none/info/exclude": "hunter\n",
}

const (
	all  = "a hunter z"
	some = "a z"
)

var elsewhereCases = []struct {
	name  string
	files map[string]string // DIR stands for the directory of all
	links map[string]string
	want  string
}{
	{"excludesFile outside", map[string]string{"w/r/.git/config": "[core]\nexcludesFile=DIR/secret\n"}, nil, all},
	{"excludesFile at home", map[string]string{"home/secret": "hunter\n", "w/r/.git/config": "[core]\nexcludesFile=~/secret\n"}, nil, all},
	{"excludesFile by dots", map[string]string{"w/r/.git/config": "[core]\nexcludesFile=../../secret\n"}, nil, all},
	{"excludesFile within Top", map[string]string{"w/rules": "hunter\n", "w/r/.git/config": "[core]\nexcludesFile=DIR/w/rules\n"}, nil, some},
	{"excludesFile within the repository", map[string]string{"w/r/.rules": "hunter\n", "w/r/.git/config": "[core]\nexcludesFile=.rules\n"}, nil, some},
	{"excludesFile behind a link", map[string]string{"w/r/.git/config": "[core]\nexcludesFile=.link\n"},
		map[string]string{"w/r/.link": "../../secret"}, all},
	{"excludesFile below a link", map[string]string{"out/secret": "hunter\n", "w/r/.git/config": "[core]\nexcludesFile=DIR/w/link/secret\n"},
		map[string]string{"w/link": "../out"}, all},
	{"include outside", map[string]string{"w/x": "hunter\n", "out/c": "[core]\nexcludesFile=DIR/w/x\n", "w/r/.git/config": "[include]\npath=DIR/out/c\n"}, nil, all},
	{"include within", map[string]string{"w/x": "hunter\n", "w/r/.git/c": "[core]\nexcludesFile=DIR/w/x\n", "w/r/.git/config": "[include]\npath=c\n"}, nil, some},
	{"the user's, anywhere", map[string]string{"out/x": "hunter\n", "out/c": "[core]\nexcludesFile=DIR/out/x\n",
		"home/.gitconfig": "[include]\npath=DIR/out/c\n", "w/r/.git/": ""}, nil, some},
	{"the user's, behind links", map[string]string{"out/x": "hunter\n", "home/.gitconfig": "[core]\nexcludesFile=~/link\n", "w/r/.git/": ""},
		map[string]string{"home/link": "../out/x"}, some},
	{"the user's, relative, behind a link", map[string]string{"secret": "hunter\n", "home/.gitconfig": "[core]\nexcludesFile=.link\n", "w/r/.git/": ""},
		map[string]string{"w/r/.link": "../../secret"}, all},
	{"gitdir that is none", map[string]string{"w/r/.git": "gitdir: DIR/out/none\n"}, nil, all},
	{"gitdir that is one", map[string]string{"w/r/.git": "gitdir: DIR/out/git\n"}, nil, some},
	{"gitdir by dots", map[string]string{"w/r/.git": "gitdir: ../../out/git\n"}, nil, some},
	{"gitdir within Top", map[string]string{"w/git/info/exclude": "hunter\n", "w/r/.git": "gitdir: ../git\n"}, nil, some},
	{"gitdir whose exclude is a link", map[string]string{"out/fake/info/": "", "w/r/.git": "gitdir: DIR/out/fake\n"},
		map[string]string{"out/fake/info/exclude": "../../../secret"}, all},
	{"gitdir whose configuration names", map[string]string{"out/fake/config": "[core]\nexcludesFile=DIR/secret\n",
		"w/r/.git": "gitdir: DIR/out/fake\n"}, nil, all},
	{"a worktree", map[string]string{"w/r/.git": "gitdir: DIR/out/git/worktrees/w\n"}, nil, some},
	{"commondir that is none", map[string]string{"w/r/.git/commondir": "DIR/out/none\n"}, nil, all},
	{"a link to a .gitignore", map[string]string{"w/r/.git/": ""}, map[string]string{"w/r/.gitignore": "../../secret"}, all},
}

// What a repository's own files name elsewhere tells nothing about what is there. Each case is searched at the
// repository, at the directory above, which is Top, and at one below.
func TestRulesFromElsewhere(t *testing.T) {
	for _, test := range elsewhereCases {
		t.Run(test.name, func(t *testing.T) {
			dir := plantAll(t, candidates, always)
			for name, text := range test.files {
				write(t, filepath.Join(dir, name), strings.ReplaceAll(text, "DIR", dir), name[len(name)-1] == '/')
			}
			for name, target := range test.links {
				if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			for root, prefix := range map[string]string{"w": "r/s/", "w/r": "s/", "w/r/s": ""} {
				tree := openBelow(t, filepath.Join(dir, root), filepath.Join(dir, "w"), Options{Git: ignore.Environment{Home: filepath.Join(dir, "home")}})
				var got []string
				for _, f := range refreshed(t, tree).Files {
					if f.Dir.Path == prefix {
						got = append(got, f.Name)
					}
				}
				if got := strings.Join(got, " "); got != test.want {
					t.Errorf("at %s: got %q, want %q", root, got, test.want)
				}
			}
		})
	}
}

// A denied file has no rules, whatever name leads to it; each file is asked about by its own path.
func TestDenied(t *testing.T) {
	for _, name := range []string{"w/.gitignore", "w/.ignore", "w/r/.gitignore", "w/r/.ignore", "w/r/.git/info/exclude", "home/.config/git/ignore"} {
		for _, hard := range []bool{false, true} {
			dir := plantAll(t, candidates, map[string]string{"w/.git/": "", "home/.config/git/": "", "w/r/.git/info/": "", "w/.env": "hunter\n"})
			if strings.HasPrefix(name, "w/.") {
				if err := os.RemoveAll(filepath.Join(dir, "w/r/.git")); err != nil {
					t.Fatal(err)
				}
			}
			path, secret := filepath.Join(dir, name), filepath.Join(dir, "w/.env")
			if !hard {
				write(t, path, "hunter\n", false)
			} else if err := os.Link(secret, path); err != nil {
				t.Fatal(err)
			}
			var lock sync.Mutex
			deny := false
			asked := map[string]bool{}
			denied := func(p string, dev, ino uint64) bool {
				lock.Lock()
				defer lock.Unlock()
				asked[p] = true
				var st unix.Stat_t
				same := unix.Stat(secret, &st) == nil && uint64(st.Dev) == dev && st.Ino == ino
				return deny && (same || !hard && p == path)
			}
			for _, deny = range []bool{false, true} {
				for _, root := range []string{"w", "w/r"} {
					tree := openBelow(t, filepath.Join(dir, root), filepath.Join(dir, "w"), Options{
						Git: ignore.Environment{Home: filepath.Join(dir, "home")}, Denied: denied,
					})
					got := strings.Contains(strings.Join(paths(refreshed(t, tree)), " "), "hunter")
					if got != deny || !asked[path] {
						t.Errorf("%s, a hard link: %v, denied: %v, at %s: listed: %v, asked about %v", name, hard, deny, root, got, asked)
					}
				}
			}
		}
	}
}
