package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withVictim is a bench whose PATH has a program, victim, which makes the files that it is given. It is a copy of touch.
func withVictim(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	b := newBench(t, change)
	touch, err := exec.LookPath("touch")
	if err != nil {
		t.Skip(err)
	}
	content, err := os.ReadFile(touch)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.out, "victim"), content, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/usr/local/bin:/usr/bin:/bin:"+b.out) // no home, which commands may not see
	return b
}

// noVictim denies the program whole.
func noVictim(access Access) Profile {
	return Profile{Access: access, Denied: deniedProgram("victim")}
}

func deniedProgram(name string) Denied {
	return Denied{Programs: []DeniedProgram{{Name: name, Rule: "Shell(" + name + " *)"}}, Denies: func(argv []string) (string, bool) {
		return "Shell(" + name + " *)", filepath.Base(argv[0]) == name
	}}
}

// waysToRun run "victim ran" by a program that starts others.
var waysToRun = []struct{ needs, line string }{
	{"tar", "tar -I 'victim ran; gzip' -cf a.tar x"},
	{"tar", "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='victim ran' x"},
	{"sqlite3", "sqlite3 '' '.shell victim ran'"},
	{"gdb", "gdb -nx -batch -ex 'shell victim ran'"},
	{"make", "make --eval='all:;victim ran'"},
	{"perl", `perl -e 'exec "victim", "ran"'`},
	{"python3", `python3 -c 'import os; os.execvp("victim", ["victim", "ran"])'`},
	{"python3", `python3 -c 'import os; os.execvp("victim", ["harmless", "ran"])'`},
	{"python3", `python3 -c 'import subprocess; subprocess.run(["victim", "ran"])'`},
	{"python3", `python3 -c 'import os; os.posix_spawnp("victim", ["victim", "ran"], os.environ)'`},
	{"python3", `python3 -c 'import os; f = os.open("$OUT/victim", os.O_PATH); os.execve(f, ["x", "ran"], os.environ)'`},
	{"node", `node -e 'require("child_process").spawnSync("victim", ["ran"])'`},
	{"git", "git -c alias.v='!victim ran #' v"},
	{"find", `find x -exec victim ran \;`},
	{"xargs", "echo ran | xargs victim"},
	{"awk", `awk 'BEGIN { system("victim ran") }'`},
	{"sed", "sed '1e victim ran' x"},
	{"ed", "printf '!victim ran\nq\n' | ed -s"},
	{"ssh", "ssh -F none -o ProxyCommand='victim ran' nowhere.invalid"},
	{"gcc", "touch x.c; gcc -wrapper victim,ran -c x.c"},
	{"tclsh", "echo exec victim ran | tclsh"},
	{"script", "script -qec 'victim ran' /dev/null"},
	{"env", "env -S 'victim ran'"},
	{"timeout", "timeout 5 victim ran"},
	{"strace", "strace -o /dev/null victim ran"},
	{"flock", "flock x victim ran"},
	{"dash", "dash -c 'exec victim ran'"},
	{"bash", "$OUT/victim ran"},
	{"bash", "cd $OUT; ./victim $WS/ran"},
	{"bash", "exec -a harmless victim ran"},
	{"bash", "a=vic; b=tim; $a$b ran"},
	{"bash", "ln -s $OUT/victim link; ./link ran"},
	{"bash", "cp $OUT/victim copy && ./copy ran"},
	{"bash", "cat $OUT/victim >copy; chmod +x copy; ./copy ran"},
	{"ln", "ln $OUT/victim hard && ./hard ran"},
	{"mv", "mv $OUT/victim moved && ./moved ran"},
	{"bash", "printf '#!'$OUT'/victim\n' >script; chmod +x script; ./script; test -e ran"},
	{"ld.so", "ld.so $OUT/victim ran"},
	{"bash", "/lib64/ld-linux-x86-64.so.2 $OUT/victim ran"},
	{"bash", "cp /lib64/ld-linux-x86-64.so.2 ld && ./ld $OUT/victim ran"},
	{"bash", "/proc/self/root$OUT/victim ran"},
	{"bash", "mkdir -p d; ln -s $OUT d/link; PATH=$PWD/d/link victim ran"},
	{"bash", "(victim ran) & wait"},
	{"setsid", "setsid -w victim ran"},
	{"chroot", "chroot / $OUT/victim $PWD/ran"},
	{"unshare", "unshare -Ur $OUT/victim ran"},
	{"umount", "umount $OUT/victim; victim ran"},
}

// TestDeniedProgramDoesNotRun: a program that a rule denies whole is not there, whoever starts it and by whatever name.
func TestDeniedProgramDoesNotRun(t *testing.T) {
	b := withVictim(t, nil)
	b.write(t, "x", "one\n")
	if !b.Holds("victim", os.Environ()) {
		t.Fatal("the rule is not held")
	}
	ran, tried := filepath.Join(b.ws, "ran"), 0
	for _, way := range waysToRun {
		if _, err := exec.LookPath(way.needs); err != nil {
			continue
		}
		line := strings.NewReplacer("$OUT", b.out, "$WS", b.ws).Replace(way.line)
		for _, left := range []string{"ran", "copy", "hard", "link", "script", "d/link", "ld"} {
			_ = os.Remove(filepath.Join(b.ws, left))
		}
		if b.run(t, Workspace, line); isFile(ran) {
			tried++
		}
		for _, left := range []string{"ran", "copy", "hard", "link", "script", "d/link", "ld"} {
			_ = os.Remove(filepath.Join(b.ws, left))
		}
		if r := b.runProfile(t, noVictim(Workspace), line); r.err != nil || isFile(ran) {
			t.Errorf("%s: it ran: %v\n%s", line, r.err, r.out)
		}
	}
	if tried < 20 {
		t.Errorf("%d of %d ways run the program without the rule", tried, len(waysToRun))
	}
	t.Logf("%d of %d ways run the program without the rule, none with it", tried, len(waysToRun))
	r := b.runProfile(t, noVictim(ReadOnly), "victim --version; cat "+b.out+"/victim")
	if strings.Contains(r.out, "coreutils") || strings.Contains(r.out, "ELF") {
		t.Errorf("a command that reads runs it: %s", r.out)
	}
	if r := b.run(t, ReadOnly, "victim --version"); !strings.Contains(r.out, "coreutils") {
		t.Errorf("without the rule: %s", r.out)
	}
}

func isFile(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestDeniedProgramIsNamed: the result of a command that did not find a denied program names the rule.
func TestDeniedProgramIsNamed(t *testing.T) {
	b := withVictim(t, nil)
	for _, line := range []string{"victim x", "sh -c 'victim x'", "env victim x", "timeout 5 victim x", "make --eval='all:;victim x'", "find . -maxdepth 0 -exec victim x ';'"} {
		p := b.start(t, noVictim(Workspace), line+" 2>err")
		<-p.Gone()
		said, err := os.ReadFile(filepath.Join(b.ws, "err"))
		if err != nil {
			t.Fatal(err)
		}
		hints, _ := p.Explain(Failure{Stderr: string(said), Dir: b.ws})
		if !slices.ContainsFunc(hints, func(v Violation) bool {
			return v.Wall == DeniedCommand && v.Rule == "Shell(victim *)" && v.Path == "victim"
		}) {
			t.Errorf("%s: %q: %v", line, said, hints)
		}
	}
}

// TestProgramsAreFound: every name of the file of a program counts, and a multi-call program that has it.
func TestProgramsAreFound(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, content string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(how func(string, string) error, from, to string) {
		if err := how(from, filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	put("bin/plain", "1")
	put("other/plain", "2")
	put("bin/two", "3")
	link(os.Link, at("bin/two"), "other/second")
	put("bin/far", "4")
	link(os.Link, at("bin/far"), "elsewhere")
	put("lib/linked", "5")
	link(os.Symlink, "../lib/linked", "bin/linked")
	put("lib/real-3.11", "6")
	link(os.Symlink, "../lib/real-3.11", "bin/versioned")
	put("box/busybox", "x\x00applet\x00x")
	put("system/busybox", "x\x00served\x00sh\x00")
	link(os.Symlink, "busybox", "system/sh")
	link(os.Symlink, "busybox", "system/served")
	put("hard/coreutils", "7")
	link(os.Link, at("hard/coreutils"), "hard/tool")
	put("box/applet", "8")
	put("ws/bin/own", "9")
	tests := []struct {
		name, program, dirs string
		want                string
		whole               bool
	}{
		{"in two directories", "plain", "bin other", "bin/plain other/plain", true},
		{"in the one that is searched", "plain", "bin", "bin/plain", true},
		{"a hard link", "two", "bin other", "bin/two other/second", true},
		{"a hard link by its other name", "second", "bin other", "bin/two other/second", true},
		{"a hard link elsewhere", "far", "bin other", "bin/far", false},
		{"a link to the same name", "linked", "bin", "lib/linked", true},
		{"a link to another name", "versioned", "bin", "", false},
		{"a multi-call program that nothing needs", "applet", "box", "box/applet box/busybox", true},
		{"one that has no such name", "plain", "bin box", "bin/plain", true},
		{"one that the system needs", "served", "system", "", false},
		{"one with hard links", "tool", "hard", "", false},
		{"in the workspace", "own", "ws/bin", "", false},
		{"nowhere", "none", "bin other", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var dirs, got []string
			for _, d := range strings.Fields(test.dirs) {
				dirs = append(dirs, at(d))
			}
			found := (&Programs{}).find(test.program, dirs, func(path string) bool { return strings.HasPrefix(path, at("ws")) })
			for _, path := range found.hidden {
				got = append(got, strings.TrimPrefix(path, dir+"/"))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != test.want || found.whole != test.whole {
				t.Errorf("got %q, %v; want %q, %v", got, found.whole, test.want, test.whole)
			}
		})
	}
}

// TestDeniedProgramStaysHidden: a package manager that replaces the file while a command runs does not give it back.
func TestDeniedProgramStaysHidden(t *testing.T) {
	b := withVictim(t, nil)
	p := b.start(t, noVictim(Workspace), "touch begun; until test -e replaced; do sleep 0.02; done; for i in $(seq 200); do victim ran$i; sleep 0.005; done; true")
	b.await(t, "begun")
	content, err := os.ReadFile(filepath.Join(b.out, "victim"))
	if err == nil {
		err = os.WriteFile(filepath.Join(b.out, "victim.new"), content, 0o755)
	}
	if err == nil {
		err = os.Rename(filepath.Join(b.out, "victim.new"), filepath.Join(b.out, "victim"))
	}
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "replaced", "")
	<-p.Gone()
	if isFile(filepath.Join(b.ws, "ran200")) {
		t.Error("the replaced program runs")
	}
	if !slices.ContainsFunc(p.Violations(), func(v Violation) bool { return v.Wall == Changed && v.Path == filepath.Join(b.out, "victim") }) {
		t.Errorf("nothing says that it was replaced: %v", p.Violations())
	}
}
