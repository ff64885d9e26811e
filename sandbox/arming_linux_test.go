package sandbox

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/arm.py
var armProgram string

// usersGit is what a user's git says in a directory.
func usersGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// armed returns the forms whose program a user's git runs.
func armed(t testing.TB, said, marks string) (forms, all []string) {
	t.Helper()
	for line := range strings.Lines(said) {
		dir := strings.TrimSuffix(line, "\n")
		if !filepath.IsAbs(dir) {
			continue
		}
		all = append(all, dir)
		if strings.HasSuffix(dir, "-config") {
			usersGit(t, dir, "status")
		} else {
			usersGit(t, dir, "commit", "--allow-empty", "-qm", "x")
		}
		if _, err := os.Lstat(filepath.Join(marks, filepath.Base(dir))); err == nil {
			forms = append(forms, filepath.Base(dir))
		}
	}
	return forms, all
}

// TestNothingArms: whatever a command keeps of a file from before its directory became a repository, and whatever it does later, the user's git
// runs no program of it. In a plain run each of the forms runs one.
func TestNothingArms(t *testing.T) {
	needs(t, "git")
	needs(t, "python3")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		for _, name := range []string{"/plain", "/marks"} {
			if err := os.Mkdir(dir+name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command("python3", "-c", armProgram, dir+"/plain", dir+"/marks").Output()
		if err != nil {
			t.Fatal(err)
		}
		if forms, all := armed(t, string(out), dir+"/marks"); len(forms) != len(all) || len(forms) < 50 {
			t.Errorf("a plain run arms %d of %d", len(forms), len(all))
		}
	}
	for _, level := range []Level{Full, LandlockNotify} {
		t.Run(string(level), func(t *testing.T) {
			marks := t.TempDir()
			b := newBench(t, func(o *Options) { o.Level = level })
			b.write(t, "arm.py", armProgram)
			r := b.run(t, Workspace, "mkdir all; PATH=/usr/bin:$PATH; python3 arm.py $PWD/all "+marks)
			if r.err != nil || r.exit != 0 {
				t.Fatalf("exit %d, %v\n%s", r.exit, r.err, r.out)
			}
			forms, all := armed(t, r.out, marks)
			if len(forms) > 0 || len(all) < 250 {
				t.Errorf("%d of %d forms arm: %s", len(forms), len(all), strings.Join(forms, " "))
			}
			t.Logf("%s", r.out)
		})
	}
}

// TestNothingArmsMeanwhile: while a command makes repositories, again and again, the user's git runs none of its programs.
func TestNothingArmsMeanwhile(t *testing.T) {
	needs(t, "git")
	for _, level := range []Level{Full, LandlockNotify} {
		t.Run(string(level), func(t *testing.T) {
			marks := t.TempDir()
			b := newBench(t, func(o *Options) { o.Level = level })
			evil := fmt.Sprintf(`[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch %s/mark #"\n`, marks)
			p := b.start(t, Profile{Access: Workspace}, fmt.Sprintf(`
				while [ ! -e stop ]; do
					rm -rf r x; git init -q r; printf '%[1]s' > r/.git/config
					mkdir x; (mkdir x/objects x/refs; printf '%[1]s' > x/config; echo ref: refs/heads/main > x/HEAD); rm -rf r/.git; mv x r/.git
					git -C r config core.fsmonitor "touch %[2]s/mark #"; printf '%[1]s' >> r/.git/config
					printf '%[1]s' > c; mv c r/.git/config; touch made
				done`, evil, marks))
			b.await(t, "made")
			for range 200 {
				usersGit(t, filepath.Join(b.ws, "r"), "status")
			}
			b.write(t, "stop", "")
			<-p.Gone()
			if made, _ := os.ReadDir(marks); len(made) > 0 {
				t.Errorf("the user's git status ran %s", made)
			}
		})
	}
}

// makers make repositories, and commit in them, as people and their tools do it.
var makers = []struct{ name, needs, line string }{
	{"init", "git", `git init -q a; cd a; echo x > f; git add f; git commit -qm one; git config user.signingkey k; git branch other; git tag -a v1 -m v1; git gc -q`},
	{"init again", "git", `git init -q a; cd a; git init -q; git commit -q --allow-empty -m one; git remote add origin ../elsewhere; git branch -m trunk; git init -q --bare ../b; git push -q ../b trunk`},
	{"clone", "git", `git init -q a; git -C a commit -q --allow-empty -m one; git clone -q a b; git clone -q --bare a c; git clone -q --mirror a d; cd b; git commit -q --allow-empty -m two; git push -q origin HEAD:x; git pull -q`},
	{"clone elsewhere", "git", `git init -q a; git -C a commit -q --allow-empty -m one; git clone -q --separate-git-dir=kept a b; cd b; git commit -q --allow-empty -m two`},
	{"worktree add", "git", `git init -q a; cd a; git commit -q --allow-empty -m one; git worktree add -q ../w; cd ../w; git commit -q --allow-empty -m two; git config extensions.worktreeConfig true; git config --worktree core.sparseCheckout false; git worktree move . ../w2; cd ../w2; git status`},
	{"submodule add", "git", `git init -q s; git -C s commit -q --allow-empty -m one; git init -q a; cd a; git -c protocol.file.allow=always submodule --quiet add ../s sub; git commit -qm two; cd sub; git commit -q --allow-empty -m three; cd ..; git submodule status; git submodule absorbgitdirs; git submodule deinit -f sub; git -c protocol.file.allow=always submodule --quiet update --init`},
	{"hooks", "git", `git init -q a; cd a; echo '#!/bin/sh' > .git/hooks/pre-commit; echo exit 1 >> .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git config alias.st 'status -s'; git commit --no-verify -q --allow-empty -m one`},
	{"cargo new", "cargo", `cargo new -q --vcs git a; cd a; git add .; git commit -qm one`},
	{"npm init", "npm", `mkdir a; cd a; npm init -y >/dev/null 2>&1; git init -q; git add .; git commit -qm one`},
	{"tar", "git", `git init -q a; cd a; echo x > f; git add f; git commit -qm one; cd ..; tar cf a.tar a; mkdir x; tar xf a.tar -C x; rm a.tar; cd x/a; git commit -q --allow-empty -m two; cd ../..; mkdir y; tar cf - -C a/.git config hooks HEAD refs objects info | tar xf - -C y; git -C y log --oneline`},
	{"copies", "git", `git init -q a; cd a; echo x > f; git add f; git commit -qm one; cd ..; cp -a a b; cp -r a c; cp -al a d; for i in b c d; do (cd $i; git commit -q --allow-empty -m two); done; for i in b c; do (cd $i; echo "[user]" >> .git/config; sed -i s/user/color/ .git/config); done; mv b e; mv c/.git f; mv f c/.git; git -C c status -s`},
	{"in place", "python3", `git init -q a; python3 - <<'E'
import os, shutil
shutil.copytree("a", "b")
with open("b/.git/config", "r+") as f:
    text = f.read()
    f.seek(0)
    f.truncate()
    f.write(text + "[user]\n\tname = x\n")
os.mkdir("c"); os.mkdir("c/objects"); os.mkdir("c/refs")
for name, text in ("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"), ("hooks", None):
    if text:
        with open("c/" + name, "w") as f: f.write(text)
        os.chmod("c/" + name, 0o640)
E
git -C b config user.name; git -C c rev-parse --is-bare-repository; git -C b commit -q --allow-empty -m one`},
	{"no repository", "git", `mkdir -p src/hooks config objects; echo x > src/hooks/use.ts; echo y > config/config; echo z > config/HEAD; echo z >> config/config; ln src/hooks/use.ts src/hooks/other.ts; ln -s use.ts src/hooks/l.ts; mv config/HEAD objects/refs; sed -i s/y/x/ config/config; cat config/config`},
}

// treeOf lists the names below a directory, with kinds and modes, and the text of what git configures and runs.
func treeOf(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		name := strings.TrimPrefix(path, dir)
		if err != nil || strings.HasSuffix(name, ".pack") || strings.HasSuffix(name, ".idx") || strings.HasSuffix(name, ".rev") {
			return err
		}
		fmt.Fprintf(&b, "%s %v", name, info.Mode())
		base := filepath.Base(path)
		if info.Mode().IsRegular() && base != "index" && !strings.HasSuffix(base, ".sample") && !strings.Contains(name, "/logs/") && !strings.Contains(name, "/objects/") {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", strings.ReplaceAll(string(content), dir, "DIR"))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// difference lists the lines that one of two texts has.
func difference(got, want string) (all []string) {
	lines, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, line := range lines {
		if !slices.Contains(wanted, line) {
			all = append(all, "left "+line)
		}
	}
	for _, line := range wanted {
		if !slices.Contains(lines, line) {
			all = append(all, "want "+line)
		}
	}
	return all
}

// TestRepositoriesAsPlain: who makes repositories finds them, and has them afterwards, as without a sandbox, but for what was put aside.
func TestRepositoriesAsPlain(t *testing.T) {
	needs(t, "git")
	const setting = `export PATH=/usr/bin:$PATH GIT_AUTHOR_DATE=2020-01-01T00:00:00Z GIT_COMMITTER_DATE=2020-01-01T00:00:00Z GIT_CONFIG_NOSYSTEM=1 HOME=$PWD/../home \
		GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=gc.auto GIT_CONFIG_VALUE_0=0; umask 022; set -e; `
	rust := os.Getenv("RUSTUP_HOME")
	if home, err := os.UserHomeDir(); rust == "" && err == nil {
		rust = home + "/.rustup"
	}
	cargo, _ := exec.LookPath("cargo")
	cargo = filepath.Dir(cargo)
	for _, level := range []Level{Full, LandlockNotify} {
		for _, m := range makers {
			t.Run(string(level)+" "+m.name, func(t *testing.T) {
				needs(t, m.needs)
				b := newBench(t, func(o *Options) { o.Level, o.Show = level, append(o.Show, rust, cargo) })
				plain := filepath.Join(filepath.Dir(b.ws), "plain")
				if err := os.Mkdir(plain, 0o755); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("/bin/bash", "-c", setting+m.line)
				cmd.Dir, cmd.Env = plain, append(os.Environ(), "RUSTUP_HOME="+rust)
				want, err := cmd.CombinedOutput()
				if err != nil && m.needs != "git" {
					t.Skipf("%v\n%s", err, want)
				}
				if err != nil {
					t.Fatalf("plain: %v\n%s", err, want)
				}
				r := b.run(t, Workspace, "export RUSTUP_HOME="+rust+"; "+setting+m.line)
				if r.exit != 0 || strings.TrimSpace(strings.ReplaceAll(r.out, b.ws, plain)) != strings.TrimSpace(string(want)) {
					t.Errorf("exit %d, says\n%s\nwant\n%s", r.exit, r.out, want)
				}
				got, wanted := treeOf(t, b.ws), treeOf(t, plain)
				if m.name == "hooks" {
					for part, aside := range map[string]string{
						`"#!/bin/sh\nexit 1\n"`: `"#!/bin/sh\n# put aside by toolhost: #!/bin/sh\n# put aside by toolhost: exit 1\n"`,
						`\tst = status -s\n`:    `# put aside by toolhost: \tst = status -s\n`,
					} {
						wanted = strings.Replace(wanted, part, aside, 1)
					}
				}
				for _, line := range difference(got, wanted) {
					t.Error(line)
				}
			})
		}
	}
}

// TestNothingArmsOutside: directories outside of the workspace that a call may write are as the workspace: a git directory that a command makes there, or
// to which a pointer leads, is judged, wherever it lies. Names that are taken and directories that cannot be written change nothing.
func TestNothingArmsOutside(t *testing.T) {
	needs(t, "git")
	const conf = `printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch %[1]s/%[2]s #"\n'`
	for _, level := range []Level{Full, LandlockNotify} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			t.Cleanup(func() { openAll(b.ws) })
			open := filepath.Join(b.home, "opened")
			if err := os.Mkdir(open, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct{ name, line, dir string }{
				{"in an opened directory", `git init -q OPEN/a; CONF > OPEN/a/.git/config`, "OPEN/a"},
				{"behind a .git file", `git init -q OPEN/b; mkdir b; CONF >> OPEN/b/.git/config; echo gitdir: OPEN/b/.git > b/.git`, "WS/b"},
				{"behind a common directory", `mkdir -p c/.git OPEN/c/objects OPEN/c/refs; CONF > OPEN/c/config; echo OPEN/c > c/.git/commondir; echo ref: refs/heads/main > c/.git/HEAD`, "WS/c"},
				{"behind a .git file that leads into the scratch", `git init -q $TMPDIR/d; CONF >> $TMPDIR/d/.git/config; mkdir d; echo gitdir: SCRATCH/d/.git > d/.git`, "WS/d"},
				{"a lock that stays", `git init -q e; : > e/.git/config.lock; CONF > e/.git/config`, "WS/e"},
				{"names that are taken", `git init -q f; mkdir f/.git/hooks.quarantined-{0..120}; CONF > f/.git/config; printf '#!/bin/sh\ntouch MARK' > f/.git/hooks/pre-commit; chmod +x f/.git/hooks/pre-commit`, "WS/f"},
				{"a directory that cannot be written", `git init -q g; CONF > g/.git/config; chmod 555 g/.git`, "WS/g"},
				{"hooks that cannot be written", `mkdir -p h/x/hooks h/x/objects; printf '#!/bin/sh\ntouch MARK' > h/x/hooks/pre-commit; chmod 755 h/x/hooks/pre-commit; chmod 555 h/x/hooks; echo ref: refs/heads/main > h/x/HEAD; mkdir h/x/refs; mv h/x h/.git`, "WS/h"},
				{"configuration of a work tree", `git init -q i; cd i; git commit -q --allow-empty -m x; git config extensions.worktreeConfig true; git worktree add -q ../i2; CONF > .git/worktrees/i2/config.worktree`, "WS/i2"},
				{"of a submodule", `git init -q j; mkdir -p j/sub j/.git/modules; git init -q --separate-git-dir j/.git/modules/sub j/sub; CONF >> j/.git/modules/sub/config`, "WS/j/sub"},
			} {
				t.Run(tt.name, func(t *testing.T) {
					run := func(ws, open, scratch string, run func(line string) string) (ran bool, said string) {
						marks := t.TempDir()
						places := strings.NewReplacer("CONF", fmt.Sprintf(conf, marks, "mark"), "MARK", marks+"/mark", "OPEN", open, "WS", ws, "SCRATCH", scratch)
						said = run("export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; " + places.Replace(tt.line))
						dir := places.Replace(tt.dir)
						said += usersGit(t, dir, "status") + usersGit(t, dir, "commit", "--allow-empty", "-qm", "x")
						made, _ := os.ReadDir(marks)
						return len(made) > 0, said
					}
					plain := t.TempDir()
					t.Cleanup(func() { openAll(plain) })
					if ran, said := run(plain, plain+"/opened", plain, func(line string) string {
						cmd := exec.Command("/bin/bash", "-c", "mkdir opened; export TMPDIR=$PWD; "+line)
						cmd.Dir = plain
						out, _ := cmd.CombinedOutput()
						return string(out)
					}); !ran {
						t.Fatalf("nothing runs without a sandbox:\n%s", said)
					}
					ran, said := run(b.ws, open, b.Scratch(), func(line string) string {
						return b.runProfile(t, Profile{Access: Workspace, Write: []string{open}}, line).out
					})
					if ran {
						t.Errorf("the user's git ran it:\n%s", said)
					}
					t.Log(said)
				})
			}
		})
	}
}
