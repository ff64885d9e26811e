package ignore

import (
	"fmt"
	"reflect"
	"testing"
)

// env is a user's environment.
var env = Environment{Home: "/h", ConfigHome: "/c"}

var repositoryCases = []struct {
	name  string
	env   Environment
	files map[string]string
	want  Repository
}{
	{"nothing", env, nil, Repository{}},
	{"a directory", env, map[string]string{".git/info/exclude": "e", ".git/config": "[core]ignorecase"},
		Repository{Fold: true, Exclude: []byte("e")}},
	{"a submodule", env, map[string]string{".git": "gitdir: ../.git/modules/s\n", "../.git/modules/s/info/exclude": "e",
		"../.git/modules/s/config": "[core]ignorecase"}, Repository{Fold: true, Exclude: []byte("e"), Index: "../.git/modules/s/index"}},
	{"a worktree", env, map[string]string{".git": "gitdir: /r/.git/worktrees/w", "/r/.git/worktrees/w/commondir": "../..\n",
		"/r/.git/worktrees/w/../../info/exclude": "e", "/r/.git/worktrees/w/info/exclude": "not this"},
		Repository{Exclude: []byte("e"), Index: "/r/.git/worktrees/w/index"}},
	{"SHA-256", env, map[string]string{".git/config": "[extensions]objectformat=sha256"}, Repository{SHA256: true}},
	{"SHA-256, in a file that is not the repository's own", env, map[string]string{".git/config": "[include]path=x",
		".git/x": "[extensions]objectformat=sha256", "/h/.gitconfig": "[extensions]objectformat=sha256"}, Repository{}},
	{"a worktree's own configuration", env, map[string]string{".git": "gitdir: /w", "/w/commondir": "/r",
		"/r/config": "[extensions]worktreeConfig=1\n[core]ignorecase=1", "/w/config.worktree": "[core]ignorecase=0"},
		Repository{Index: "/w/index"}},
	{"it does not count unless it is asked for", env, map[string]string{".git/config.worktree": "[core]ignorecase",
		"/h/.gitconfig": "[extensions]worktreeConfig"}, Repository{}},
	{"a file that names no directory", env, map[string]string{".git": "hello", "/config": "[core]ignorecase"}, Repository{}},
	{"the user's ignore file", env, map[string]string{"/c/git/ignore": "g"}, Repository{Global: []byte("g")}},
	{"the user's ignore file, no ConfigHome", Environment{Home: "/h"}, map[string]string{"/h/.config/git/ignore": "g"},
		Repository{Global: []byte("g")}},
	{"no user", Environment{}, map[string]string{"/git/ignore": "g", ".gitconfig": "[core]ignorecase",
		".git/config": "[core]excludesfile=~/x", "/x": "g"}, Repository{}},
	{"system, configuration directory, home, repository", env, map[string]string{
		"/etc/gitconfig": "[core]ignorecase=1\nexcludesfile=/1", "/c/git/config": "[core]excludesfile=/2",
		"/h/.gitconfig": "[core]excludesfile=/3", ".git/config": "[core]excludesfile=/4", "/1": "1", "/2": "2", "/3": "3",
		"/4": "4"}, Repository{Fold: true, Global: []byte("4")}},
	{"home over configuration directory", env, map[string]string{"/c/git/config": "[core]excludesfile=/2",
		"/h/.gitconfig": "[core]excludesfile=/3", "/2": "2", "/3": "3"}, Repository{Global: []byte("3")}},
	{"seen from the top", env, map[string]string{".git/config": "[core]excludesfile=x", "x": "g"},
		Repository{Global: []byte("g")}},
	{"at home", env, map[string]string{".git/config": "[core]excludesfile=~/x", "/h/x": "g"}, Repository{Global: []byte("g")}},
	{"at another's home", env, map[string]string{".git/config": "[core]excludesfile=~u/x", "/h/u/x": "g", "/hu/x": "g"},
		Repository{}},
	{"empty", env, map[string]string{".git/config": "[core]excludesfile=", "/c/git/ignore": "g"}, Repository{}},
	{"another section's", env, map[string]string{".git/config": "[core \"x\"]ignorecase\n[a]ignorecase"}, Repository{}},
	{"included", env, map[string]string{".git/config": "[include]path=more/x\n[core]ignorecase=0",
		".git/more/x": "[core]ignorecase\nexcludesfile=y\n[include]path=z", ".git/more/z": "[core]excludesfile=w", "w": "g"},
		Repository{Global: []byte("g")}},
	{"included on a condition", env, map[string]string{".git/config": "[includeIf \"gitdir:/\"]path=x",
		".git/x": "[core]ignorecase"}, Repository{}},
	{"included, nested", env, map[string]string{".git/config": "[include]path=a", ".git/a": "[include]path=b",
		".git/b": "[core]ignorecase\n[extensions]worktreeConfig", ".git/config.worktree": "[core]ignorecase=0"},
		Repository{Fold: true}},
	{"not a boolean", env, map[string]string{".git/config": "[core]ignorecase\nignorecase=maybe"}, Repository{Fold: true}},
}

func TestReadRepository(t *testing.T) {
	for _, tc := range repositoryCases {
		t.Run(tc.name, func(t *testing.T) {
			read := func(path string) []byte {
				if text, ok := tc.files[path]; ok {
					return []byte(text)
				}
				return nil
			}
			if tc.files[".git"] == "" {
				tc.want.Index = ".git/index"
			}
			if got := ReadRepository(anyFile(read), tc.env); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

// Files that include one another without end are read a bounded number of times, and not nested without end.
func TestReadRepositoryIsBounded(t *testing.T) {
	for _, config := range []string{
		"[include]path=config\npath=config\n",
		"[include]path=a\npath=b\npath=c\npath=d\npath=e\n",
		"gitdir: .git",
	} {
		reads := 0
		ReadRepository(anyFile(func(path string) []byte {
			reads++
			return []byte(config)
		}), Environment{Home: "/h"})
		if reads > 70 {
			t.Errorf("%q: %d reads", config, reads)
		}
	}
}

// As in git, ten files may include one another.
func TestNestedIncludes(t *testing.T) {
	for depth, want := range map[int]bool{10: true, 11: false} {
		read := func(path string) []byte {
			var n int
			if _, err := fmt.Sscanf(path, "/h/.gitconfig%d", &n); n == depth {
				return []byte("[core]ignorecase")
			} else if err != nil && path != "/h/.gitconfig" {
				return nil
			}
			return fmt.Appendf(nil, "[include]path=.gitconfig%d", n+1)
		}
		if got := ReadRepository(anyFile(read), env); got.Fold != want {
			t.Errorf("%d includes: %v", depth, got.Fold)
		}
	}
}

// picky is a Reader that notes who asks for what, and admits no directory but its own.
type picky struct {
	files map[string]string
	asked []string
}

func (p *picky) User(path string) []byte { return p.get("user " + path) }
func (p *picky) Own(path string) []byte  { return p.get("own " + path) }
func (p *picky) Admit(dir string) bool   { return dir == ".git" || dir == "/good" }

func (p *picky) get(path string) []byte {
	text, ok := p.files[path]
	if ok {
		p.asked = append(p.asked, path)
	}
	return []byte(text)
}

// What a repository's files name is read on its behalf, what the user's name on the user's.
func TestWhoNames(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  Repository
	}{
		{"the user's", map[string]string{"user /h/.gitconfig": "[include]path=/i", "user /i": "[core]excludesfile=/x",
			"user /x": "g", "own /x": "no"}, Repository{Global: []byte("g")}},
		{"the user's, under a repository", map[string]string{"user /h/.gitconfig": "[core]excludesfile=/x", "own .git/config": "[core]ignorecase",
			"user /x": "g", "own /x": "no"}, Repository{Fold: true, Global: []byte("g")}},
		{"the user's ignore file", map[string]string{"user /c/git/ignore": "g", "own /c/git/ignore": "no"}, Repository{Global: []byte("g")}},
		{"the repository's", map[string]string{"own .git/config": "[include]path=/i", "own /i": "[core]excludesfile=/x",
			"user /i": "[core]ignorecase", "user /x": "no", "own /x": "g"}, Repository{Global: []byte("g")}},
		{"an admitted directory", map[string]string{"own .git": "gitdir: /good", "own /good/info/exclude": "e"}, Repository{Exclude: []byte("e")}},
		{"another directory", map[string]string{"own .git": "gitdir: /bad", "own /bad/info/exclude": "e", "own /bad/config": "[core]ignorecase"},
			Repository{}},
		{"another directory that is shared", map[string]string{"own .git": "gitdir: /good", "own /good/commondir": "/bad",
			"own /bad/info/exclude": "e", "own /good/config.worktree": "[core]ignorecase"}, Repository{}},
	} {
		p := &picky{files: test.files}
		got := ReadRepository(p, env)
		if got.Fold != test.want.Fold || string(got.Global) != string(test.want.Global) || string(got.Exclude) != string(test.want.Exclude) {
			t.Errorf("%s: got %v %q %q, having read %q", test.name, got.Fold, got.Global, got.Exclude, p.asked)
		}
	}
}
