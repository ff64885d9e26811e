package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGitCachesAreCut: wherever tool chains and caches of the home have clones, commands see their configuration without the logins in it.
func TestGitCachesAreCut(t *testing.T) {
	const token = "ghp_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"
	dirs := []string{"go/pkg/mod/cache/vcs/0a1b", ".cargo/git/db/x-1", ".cargo/git/checkouts/x-1/abc/.git", ".cache/pre-commit/repo1/.git", ".linuxbrew/Homebrew/.git", ".pyenv/plugins/y/.git"}
	b := homeBench(t, func(o *Options) {
		for _, dir := range dirs {
			git := filepath.Join(o.Home, dir)
			if err := os.MkdirAll(filepath.Join(git, "refs"), 0o755); err != nil {
				t.Fatal(err)
			}
			plantIn(t, git, "HEAD", "objects/x", "modules/m/HEAD")
			for _, name := range []string{"config", "modules/m/config"} {
				if err := os.WriteFile(filepath.Join(git, name), []byte("[remote \"origin\"]\n\turl = https://me:"+token+"@h.example/x\n\tfetch = +refs/*:refs/*\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	for _, access := range []Access{ReadOnly, Workspace} {
		for _, dir := range dirs {
			for _, name := range []string{"config", "modules/m/config"} {
				r := b.run(t, access, "cat ~/"+dir+"/"+name)
				if r.err != nil || !strings.Contains(r.out, "url = https://h.example/x") || !strings.Contains(r.out, "fetch =") || strings.Contains(r.out, "ghp_") {
					t.Errorf("%s %s/%s: %q %v", access, dir, name, r.out, r.err)
				}
			}
		}
		if r := b.run(t, access, "grep -rs ghp_ ~ /proc/self/root/$HOME; true"); r.err != nil || r.out != "" {
			t.Errorf("%s: %q %v", access, r.out, r.err)
		}
	}
}

// TestMaskIsAlike: a masked file of the workspace cannot be read, and keeps the size and the time by which git knows it.
func TestMaskIsAlike(t *testing.T) {
	b := homeBench(t, nil)
	b.write(t, ".env", "PASSWORD="+canary+"\n")
	at := time.Unix(1_700_000_000, 0)
	path := filepath.Join(b.ws, ".env")
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%d 1700000000\nminimal", len("PASSWORD="+canary+"\n"))
	r := b.run(t, Workspace, "cat .env; chmod 700 .env; echo x > .env; grep -rs CANARY .env /dev/.masks; stat -c '%s %Y' .env; git config core.checkStat; true")
	if r.err != nil || !strings.HasSuffix(strings.TrimSpace(r.out), want) || strings.Contains(r.out, canary) {
		t.Errorf("%q %v, want %q", r.out, r.err, want)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), canary) {
		t.Errorf("the file is %q %v", text, err)
	}
}

// TestGitIsJudged: every git that a command starts is judged by what the kernel takes, wherever it stands and whoever starts it.
func TestGitIsJudged(t *testing.T) {
	judged(t)
	for _, level := range judgingLevels {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			b.write(t, "sub/x", "")
			b.write(t, "show.sh", "git --version show\n")
			p := Profile{Access: Workspace, Git: func(s GitStart) (string, bool) {
				refused := strings.Contains(strings.Join(s.Argv, " "), "show")
				refused = refused || filepath.Base(s.Dir) == "sub" || strings.Contains(strings.Join(s.Environ, " "), "GIT_DIR=x")
				return "it shows", refused
			}}
			for line, runs := range map[string]bool{
				"git --version": true, "git --version show": false, "bash -c 'git --version show'": false, "env git --version show": false, "echo show | xargs git --version": false,
				"sh show.sh": false, "cd sub; git --version": false, "bash -c 'cd sub && exec git --version'": false, "GIT_DIR=x git --version": false, "GIT_DIR=y git --version": true,
				"python3 -c 'import subprocess; subprocess.run([\"git\", \"--version\", \"show\"])' 2>/dev/null": false, "$(git --exec-path)/git --version show": false,
				"bash -c 'exec -a harmless git --version show'": false, "ln -s $(command -v git) other; ./other --version show": false, "echo show; git --version": true,
			} {
				r := b.runProfile(t, p, line)
				if strings.Contains(r.out, "git version") != runs {
					t.Errorf("%s: %q %v", line, r.out, r.err)
				}
			}
		})
	}
}
