package sandbox

import (
	"slices"
	"testing"

	"toolhost/protect"
)

// A command's text names .git/config where it runs; git means the repository that holds the place.
func TestInRepositories(t *testing.T) {
	repositories := []protect.GitDir{
		{Path: "/w/.git", Top: "/w"}, {Path: "/w/.git/worktrees/t", Top: "/w/t"}, {Path: "/w/.git/modules/m", Top: "/w/m"}, {Path: "/w/bare.git"},
	}
	for _, tt := range []struct {
		name, path string
		more       []string
	}{
		{"the top", "/w/.git/config", []string{"/w/.git/config"}},
		{"a directory below", "/w/a/b/.git/config", []string{"/w/.git/config"}},
		{"a linked work tree", "/w/t/x/.git/config", []string{"/w/.git/worktrees/t/config", "/w/.git/config"}},
		{"a submodule", "/w/m/.git/config", []string{"/w/.git/modules/m/config"}},
		{"no repository", "/v/.git/config", nil},
		{"another name", "/w/a/config", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := append([]string{tt.path}, tt.more...)
			if got := inRepositories(repositories, []string{tt.path}); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
