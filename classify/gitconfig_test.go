package classify

import (
	"slices"
	"testing"
)

// TestGitConfigIsNamed: what a command line writes of a repository's configuration is named, so that whoever allowed it
// may let it be written, and nothing else.
func TestGitConfigIsNamed(t *testing.T) {
	const local = "/w/.git/config"
	tests := []struct {
		text string
		want []string // among the paths that are written; none if the configuration is not
	}{
		{"git remote add origin url", []string{local}},
		{"git remote rm origin", []string{local}},
		{"git remote rename a b", []string{local}},
		{"git remote set-url origin url", []string{local}},
		{"git remote set-branches origin main", []string{local}},
		{"git config user.name x", []string{local}},
		{"git config --local user.name x", []string{local}},
		{"git config set user.name x", []string{local}},
		{"git config --unset user.name", []string{local}},
		{"git config unset user.name", []string{local}},
		{"git config --remove-section user", []string{local}},
		{"git config edit", []string{local}},
		{"git config --worktree a.b c", []string{"/w/.git/config.worktree", local}},
		{"git checkout -b x origin/x", []string{local}},
		{"git checkout --track origin/x", []string{local}},
		{"git checkout -t origin/x", []string{local}},
		{"git switch -c x origin/x", []string{local}},
		{"git switch --track origin/x", []string{local}},
		{"git branch x origin/x", []string{local}},
		{"git branch -m a b", []string{local}},
		{"git branch -M b", []string{local}},
		{"git branch -c a b", []string{local}},
		{"git branch -d x", []string{local}},
		{"git branch -D x", []string{local}},
		{"git branch -u origin/x", []string{local}},
		{"git branch --set-upstream-to=origin/x", []string{local}},
		{"git branch --unset-upstream", []string{local}},
		{"git branch --edit-description", []string{local}},
		{"git push -u origin x", []string{local}},
		{"git push --set-upstream origin x", []string{local}},
		{"git fetch --set-upstream origin x", []string{local}},
		{"git submodule add url dir", []string{"/w/.gitmodules", "/w/.git/modules", local}},
		{"git submodule init", []string{local}},
		{"git submodule sync", []string{"/w/.git/modules", local}},
		{"git submodule deinit x", []string{local}},
		{"git submodule update --init", []string{"/w/.git/modules", local}},
		{"git worktree add -b x ../p origin/x", []string{"/w/../p", "/w/.git/worktrees", local}},
		{"git sparse-checkout set x", []string{"/w/.git/config.worktree", "/w/.git/info/sparse-checkout", local}},
		{"git maintenance start", []string{"/home/u/.gitconfig", local}},
		{"git lfs install --local", []string{"/w/.git/hooks/pre-push", local}},
		{"git -C sub remote add origin url", []string{"/w/sub/.git/config"}},
		{"git -C sub -C ../x config a.b c", []string{"/w/sub/../x/.git/config"}},
		{"git -C /x/ config a.b c", []string{"/x/.git/config"}},
		{"git --git-dir=d.git config a.b c", []string{"/w/d.git/config"}},
		{"git -C sub --git-dir d config a.b c", []string{"/w/sub/d/config"}},
		{"cd sub && git config a.b c", []string{"/w/sub/.git/config"}},
	}
	for _, tt := range tests {
		f := Command(tt.text, testContext)
		for _, want := range tt.want {
			if !namesPath(tt.text, want) {
				t.Errorf("%q: %s is not among %s", tt.text, want, absolute(f.Writes))
			}
		}
		if !slices.Contains(f.Inferred, WritesGitConfig) {
			t.Errorf("%q: it is not said that a configuration is written", tt.text)
		}
	}
}

func namesPath(text, path string) bool {
	for _, w := range Command(text, testContext).Writes {
		if w.Absolute == path {
			return true
		}
	}
	return false
}

func TestOtherGitFilesAreNamed(t *testing.T) {
	tests := []struct {
		text, want string // all that is written
	}{
		{"git config --global user.name x", "/home/u/.gitconfig,/home/u/.config/git/config"},
		{"git config --system user.name x", "/etc/gitconfig"},
		{"git config --file f user.name x", "/w/f"},
		{"git -C sub config --file f user.name x", "/w/sub/f"},
		{"git init", "/w/.,/w/.git"},
		{"git init x", "/w/x,/w/x/.git"},
		{"git init --bare x", "/w/x"},
		{"git clone https://h/a/repo.git", "/w/repo,/w/repo/.git"},
		{"git clone h:repo/", "/w/repo,/w/repo/.git"},
		{"git clone /a/repo/.git", "/w/repo,/w/repo/.git"},
		{"git clone --bare https://h/a/repo", "/w/repo.git"},
		{"git clone https://h/a/repo.git x", "/w/x,/w/x/.git"},
		{"git -C sub clone https://h/a/repo.git", "/w/sub/repo,/w/sub/repo/.git"},
		{"git worktree add ../p", "/w/../p,/w/.git/worktrees"},
		{"git worktree prune", "/w/.git/worktrees"},
		{"git lfs install", "/home/u/.gitconfig,/home/u/.config/git/config,/w/.git/hooks/pre-push,/w/.git/hooks/post-checkout," +
			"/w/.git/hooks/post-commit,/w/.git/hooks/post-merge"},
		{"git lfs install --skip-repo", "/home/u/.gitconfig,/home/u/.config/git/config"},
		{"git maintenance run", ""},
		{"git checkout main", ""},
		{"git checkout -b x", ""},
		{"git checkout -b x HEAD~1", ""},
		{"git checkout --no-track -b x origin/x", ""},
		{"git switch -c x", ""},
		{"git branch x", ""},
		{"git push origin x", ""},
		{"git fetch", ""},
		{"git remote set-head origin -a", ""},
		{"git commit -m x", ""},
		{"git bisect start", ""},
		{"git -C \"$x\" config a.b c", ""},
	}
	for _, tt := range tests {
		f := Command(tt.text, testContext)
		if got := absolute(f.Writes); got != tt.want {
			t.Errorf("%q: writes %q, want %q", tt.text, got, tt.want)
		}
	}
	for _, text := range []string{
		"git config a.b", "git branch -vv", "git remote -v", "git config list", "git sparse-checkout list",
	} {
		if f := Command(text, testContext); len(f.Writes) > 0 || slices.Contains(f.Inferred, WritesGitConfig) {
			t.Errorf("%q: writes %q", text, absolute(f.Writes))
		}
	}
}
