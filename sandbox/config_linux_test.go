package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// configBench is a bench whose home has configuration with secrets.
func configBench(t *testing.T, level Level) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	return homeBench(t, func(o *Options) {
		o.Level = level
		for name, text := range map[string]string{
			".gitconfig": "[user]\n\tname = A\n[credential]\n\thelper = " + canary + "\n[include]\n\tpath = .git-more\n[include]\n\tpath = " + o.Roots[0] + "/inc\n[core]\n\thooksPath = ~/hooks\n",
			".git-more":  "[user]\n\temail = a@b\n[http]\n\textraHeader = " + canary + "\n",
			".npmrc":     "registry=http://u:" + canary + "@npm.example.com/\n//npm.example.com/:_authToken=" + canary + "\n",
			".netrc":     canary + "\n",
			"hooks/x":    "hook\n",
		} {
			path := filepath.Join(o.Home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(o.Roots[0], "inc"), []byte("[user]\n\tname = Evil\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// TestConfigIsAView: commands see the settings of a file without the secrets in it, and the file itself where it was granted.
func TestConfigIsAView(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			b := configBench(t, level)
			for _, access := range []Access{ReadOnly, Workspace} {
				r := b.run(t, access, `git config user.name; git config user.email; git config core.hooksPath; cat ~/.npmrc ~/.netrc "${npm_config_userconfig:-/dev/null}" 2>/dev/null; cat ~/hooks/x
					grep -rs CANARY ~ "${npm_config_userconfig:-/dev/null}" "${GIT_CONFIG_GLOBAL:-/dev/null}"; git config --list | grep CANARY; echo x >> ~/.gitconfig; true`)
				if want := "A\na@b\n~/hooks\nregistry=http://npm.example.com/\nhook\n"; !strings.HasPrefix(r.out, want) || strings.Contains(r.out, "CANARY") || r.err != nil {
					t.Errorf("%s: %q, %v; want %q", access, r.out, r.err, want)
				}
			}
			r := b.runProfile(t, Profile{Access: Workspace, Reveal: []string{filepath.Join(b.home, ".npmrc")}}, `grep -c CANARY ~/.npmrc; git config user.name`)
			if r.out != "2\nA" {
				t.Errorf("what was granted: %q, %v", r.out, r.err)
			}
			before, err := os.ReadFile(filepath.Join(b.home, ".npmrc"))
			if err != nil {
				t.Fatal(err)
			}
			npmrc := []string{filepath.Join(b.home, ".npmrc")} // it is protected, too: a decision that lends it has asked
			r = b.runProfile(t, Profile{Access: Workspace, Write: npmrc, Unseal: npmrc, Reveal: npmrc}, `echo new=1 >> ~/.npmrc; tail -1 ~/.npmrc`)
			if after, _ := os.ReadFile(filepath.Join(b.home, ".npmrc")); r.out != "new=1" || string(after) != string(before)+"new=1\n" {
				t.Errorf("what was lent for writing: %q, %v: %q", r.out, r.err, after)
			}
		})
	}
}

// TestConfigChanges: commands see a change of a file from the next one on, and secrets at no time.
func TestConfigChanges(t *testing.T) {
	b := configBench(t, Full)
	name := func(want string) {
		t.Helper()
		if r := b.run(t, Workspace, `git config user.name; cat ~/.gitconfig | grep -c CANARY; cat ~/.config/git/config 2>/dev/null`); r.out != want {
			t.Errorf("%q, %v, want %q", r.out, r.err, want)
		}
	}
	write := func(file, text string) {
		t.Helper()
		path := filepath.Join(b.home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	name("A\n0")
	write(".gitconfig", "[user]\n\tname = B\n\tpassword = "+canary+"\n")
	name("B\n0")
	write(".config/git/config", "[core]\n\tabbrev = 9\n")
	name("B\n0\n[core]\n\tabbrev = 9")
	write(".gitconfig", "[user\n")
	name("0\n[core]\n\tabbrev = 9")
	if err := os.Remove(filepath.Join(b.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	name("0\n[core]\n\tabbrev = 9")
	write(".gitconfig", "[user]\n\tname = C\n")
	name("C\n0\n[core]\n\tabbrev = 9")
}
