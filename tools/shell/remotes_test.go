package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestRemotesNameHosts: the hosts of git push, fetch and pull are those of the addresses in the repository's configuration. What
// rewrites addresses, or cannot be read, leaves them unknown.
func TestRemotesNameHosts(t *testing.T) {
	const config = `[core]
	bare = false
[remote "origin"]
	url = https://user@git.example.com:8443/a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "fork"]
	url = git@fork.example.com:a/b.git
	pushurl = ssh://git@push.example.com/a/b.git
[remote "near"]
	url = ../near.git
[branch "topic"]
	remote = fork
`
	for _, tt := range []struct{ name, config, home, head, command, want string }{
		{"the usual one", config, "", "main", "git push", "git.example.com:8443"},
		{"that of the branch", config, "", "topic", "git fetch", "fork.example.com"},
		{"that to push to", config, "", "topic", "git push", "push.example.com"},
		{"by its name", config, "", "main", "git fetch fork", "fork.example.com"},
		{"two commands", config, "", "main", "git fetch origin && git push fork main", "git.example.com:8443 push.example.com"},
		{"a path", config, "", "main", "git fetch near", ""},
		{"an address in the command", config, "", "main", "git push https://other.example.com/x main", "other.example.com"},
		{"a name that is not there", config, "", "main", "git push nowhere", "unknown"},
		{"all of them", config, "", "main", "git fetch --all", "unknown"},
		{"an address that is rewritten", config + "[url \"https://evil.example.com/\"]\n\tinsteadOf = https://\n", "", "main", "git push", "unknown"},
		{"rewritten for the person", config, "[url \"https://evil.example.com/\"]\n\tinsteadOf = https://\n", "main", "git push", "unknown"},
		{"a file that is included", config + "[include]\n\tpath = more\n", "", "main", "git push", "unknown"},
		{"a transport", "[remote \"origin\"]\n\turl = ext::sh -c x\n", "", "main", "git push", "unknown"},
		{"beside another program", config, "", "main", "git push; npm install", "unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			for name, content := range map[string]string{
				".git/config": tt.config, ".git/HEAD": "ref: refs/heads/" + tt.head + "\n", ".gitconfig": tt.home,
			} {
				file := filepath.Join(b.dir, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := b.bind(t, cmd(tt.command))
			c.(agenttool.Refiner).Refine(t.Context())
			got := strings.Join(c.Facts().Hosts, " ")
			if c.Facts().HostsComplete != agenttool.Yes {
				got = "unknown"
			}
			if got != tt.want {
				t.Errorf("%s: hosts %q, want %q: %+v", tt.command, got, tt.want, c.Facts().Hosts)
			}
		})
	}
}

// TestPushesOfSettings: a push is one to an upstream if no setting of the repository forces, deletes, or runs a program.
func TestPushesOfSettings(t *testing.T) {
	b := newBench(t, Options{})
	up := filepath.Join(t.TempDir(), "up.git")
	write(t, filepath.Join(b.dir, "x"), "x")
	git(t, b.dir, "init", "-q", "--bare", up)
	git(t, b.dir, "init", "-q", "-b", "main")
	git(t, b.dir, "add", ".")
	git(t, b.dir, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "one")
	git(t, b.dir, "remote", "add", "origin", up)
	git(t, b.dir, "push", "-qu", "origin", "main")
	if err := os.RemoveAll(filepath.Join(b.dir, ".git/hooks")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(b.dir, ".git/config")
	plain, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]bool{
		"": true, "[user]\n\tname = n\n": true, "[branch \"a.b\"]\n\tremote = origin\n": true, "[submodule \"s\"]\n\tactive = true\n": true,
		"[remote \"origin\"]\n\tmirror = true\n": false, "[remote \"origin\"]\n\tpush = +HEAD:refs/heads/main\n": false,
		"[remote \"origin\"]\n\tpush = :refs/heads/main\n": false, "[remote \"origin\"]\n\tReceivePack = sh x\n": false,
		"[filter \"f\"]\n\tclean = sh x\n": false, "[core]\n\tfsmonitor = x\n": false, "[commit]\n\tgpgsign = true\n": false,
		"[extensions]\n\tworktreeConfig = true\n": false, "[push]\n\trecurseSubmodules = on-demand\n": false,
	} {
		write(t, file, string(plain)+setting)
		c := b.bind(t, cmd("git push origin"))
		c.(agenttool.Refiner).Refine(t.Context())
		if w := c.Facts().Writes; len(w) != 1 || w[0].Upstream != want {
			t.Errorf("%q: %+v, want an upstream: %v", setting, w, want)
		}
	}
}

// TestLocksOfGit: in a directory below the top, and in a linked work tree, the lock is where git makes it.
func TestLocksOfGit(t *testing.T) {
	b := newBench(t, Options{})
	for name, content := range map[string]string{
		".git/config": "", "sub/x": "", "tree/.git": "gitdir: " + b.dir + "/.git/worktrees/t\n", ".git/worktrees/t/commondir": "../..\n",
	} {
		file := filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"git add x":                   "/.git/index.lock",
		"cd sub && git add x":         "/.git/index.lock",
		"cd tree && git add x":        "/.git/worktrees/t/index.lock",
		"cd tree && git tag v1":       "/.git/refs",
		"cd tree && git config a.b c": "/.git/config.lock",
	} {
		c := b.bind(t, cmd(command))
		c.(agenttool.Refiner).Refine(t.Context())
		if locks := c.Facts().Locks; len(locks) != 1 || locks[0].Path != b.dir+want || !locks[0].Write {
			t.Errorf("%s: %+v, want %s", command, locks, want)
		}
	}
}
