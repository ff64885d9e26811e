package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the session builds once is what each command sees, and no other way leads to it.
func TestPlacesAreBuiltOnce(t *testing.T) {
	var home string
	b := newBench(t, func(o *Options) {
		home = o.Home
		plantIn(t, home, "go/bin/tool", "notes", ".gitconfig")
		if err := os.Symlink(filepath.Join(home, "go/bin"), filepath.Join(home, "bin")); err != nil {
			t.Fatal(err)
		}
		o.Roots = append(o.Roots, filepath.Join(home, "src"))
		plantIn(t, home, "src/main.go")
	})
	look := func(p Profile, want string) {
		t.Helper()
		r := b.runProfile(t, p, `cd "$HOME" && find . -mindepth 1 ! -name .gitconfig | sort | tr '\n' ' '; find /dev/.places -mindepth 2
			: > new; mkdir dir; : > src/made && rm src/made && echo written`)
		if r.err != nil || strings.SplitN(r.out, "\n", 2)[0] != want+"bash: line 2: new: Read-only file system" {
			t.Errorf("%v: %q, %v", p, r.out, r.err)
		}
		if written := strings.HasSuffix(r.out, "\nwritten"); written != (p.Access == Workspace) {
			t.Errorf("%v: %q", p, r.out)
		}
	}
	const all = "./bin ./go ./go/bin ./go/bin/tool ./src ./src/main.go "
	look(Profile{Access: Workspace}, all)
	look(Profile{Access: Workspace, Reveal: []string{filepath.Join(home, "notes")}}, "./bin ./go ./go/bin ./go/bin/tool ./notes ./src ./src/main.go ")
	look(Profile{Access: Workspace}, all)
	if err := os.RemoveAll(filepath.Join(home, "go")); err != nil { // commands go on when what is shown is replaced
		t.Fatal(err)
	}
	plantIn(t, home, "go/bin/tool", "go/bin/other")
	look(Profile{Access: Workspace}, "./bin ./go ./go/bin ./src ./src/main.go ")
	h, err := b.hold()
	if err != nil {
		t.Fatal(err)
	}
	h.close()
	look(Profile{Access: Workspace}, "./bin ./src ./src/main.go ")
}

// A /dev that all commands of a session get is written by none; what each has there is its own.
func TestSharedDevices(t *testing.T) {
	b := newBench(t, nil)
	for range 2 {
		r := b.run(t, ReadOnly, `ls -A /dev/pts /dev/shm; echo a > /dev/shm/f && cat /dev/shm/f; echo b > /dev/null; head -c 3 /dev/zero | wc -c
			for f in /dev/new /dev/.terminal /dev/.nothing; do : 2>/dev/null > $f && echo wrote $f; done
			chmod 777 /dev/.empty /dev/null 2>/dev/null && echo changed
			ls /dev/.empty 2>/dev/null && echo listed; readlink /dev/stdin`)
		if want := "/dev/pts:\nptmx\n\n/dev/shm:\na\n3\n/proc/self/fd/0"; r.out != want {
			t.Errorf("%q, %v; want %q", r.out, r.err, want)
		}
	}
}

// A workspace in memory is where it is outside, though each command has a /dev/shm of its own.
func TestWorkspaceInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "toolhost-test-")
	if err != nil {
		t.Skip("there is no /dev/shm to write to")
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := newBench(t, func(o *Options) { o.Roots = append(o.Roots, dir) })
	if r := b.run(t, Workspace, `echo a > `+dir+`/f && cat `+dir+`/f && ls -A /dev/shm`); r.out != "a\n"+filepath.Base(dir) {
		t.Errorf("%q, %v", r.out, r.err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "f")); string(text) != "a\n" {
		t.Errorf("%q, %v", text, err)
	}
}
