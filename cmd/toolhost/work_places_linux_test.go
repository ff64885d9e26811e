package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// everyday is done wherever a workspace lies.
var everyday = []step{
	{in: `echo one > f && mkdir -p d && cp f d/ && cat d/f`, want: "^one$"},
	{in: `@read {"path":"f"}`, want: "one"},
	{in: `@write {"path":"g","content":"two\n"}`, want: "created"},
	{in: `cat g; pwd; echo three > /tmp/f`, want: "^two$"},
	{in: `cat /tmp/f`, want: "^three$"},
	{in: `git init -q -b main r && cd r && echo one > f && git add f &&
				git -c user.name=p -c user.email=p@example.com commit -qm one && git log --format=%s`, want: "^one$"},
	{in: `cd r && git status --short --branch`, want: "^## main"},
	{in: `@grep {"pattern":"two"}`, want: "g:1:two"},
	{in: `f=$(printf %s ../outside); (echo x > "$f") || true`},
}

// TestWorkPlaces: a workspace may lie anywhere.
func TestWorkPlaces(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if lack := lacking("git", os.Getenv("PATH")); lack != "" {
		t.Skip(lack + " is not installed")
	}
	dir := func(t *testing.T, parts ...string) string {
		path := filepath.Join(parts...)
		must(t, os.MkdirAll(path, 0o755))
		return path
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, d *workSession) (flags []string)
	}{
		{"spaces, quotes and other letters", func(t *testing.T, d *workSession) []string {
			d.ws = dir(t, d.base, "a b", `c"d'e$(f)`, "Ünïcode 日本", `back\slash`, "colon:comma,", "ws")
			return nil
		}},
		{"a newline", func(t *testing.T, d *workSession) []string { d.ws = dir(t, d.base, "a\nb", "ws"); return nil }},
		{"a long path", func(t *testing.T, d *workSession) []string {
			d.ws = dir(t, d.base, strings.Repeat("a", 200), strings.Repeat("b", 255), strings.Repeat("c", 255), "ws")
			return nil
		}},
		{"below /tmp", func(t *testing.T, d *workSession) []string { d.ws = dir(t, t.TempDir(), "ws"); return nil }},
		{"below /tmp, home and all", func(t *testing.T, d *workSession) []string {
			d.base = t.TempDir()
			d.ws, d.home = dir(t, d.base, "ws"), dir(t, d.base, "home")
			return nil
		}},
		{"the home directory, below /tmp", func(t *testing.T, d *workSession) []string {
			d.base = t.TempDir()
			d.home = dir(t, d.base, "home")
			d.ws = d.home
			return nil
		}},
		{"below /var/tmp", func(t *testing.T, d *workSession) []string {
			made, err := os.MkdirTemp("/var/tmp", "toolhost-work-")
			must(t, err)
			t.Cleanup(func() { os.RemoveAll(made) })
			d.ws = dir(t, made, "ws")
			return nil
		}},
		{"below the home directory", func(t *testing.T, d *workSession) []string { d.ws = dir(t, d.home, "src", "ws"); return nil }},
		{"closed to others", func(t *testing.T, d *workSession) []string {
			must(t, os.Chmod(d.base, 0o700))
			must(t, os.Chmod(d.ws, 0o700))
			return nil
		}},
		{"the home directory", func(t *testing.T, d *workSession) []string { d.ws = d.home; return nil }},
		{"a link", func(t *testing.T, d *workSession) []string {
			must(t, os.Symlink(dir(t, d.base, "real", "ws"), filepath.Join(d.base, "link")))
			d.ws = filepath.Join(d.base, "link")
			return nil
		}},
		{"a link on the way", func(t *testing.T, d *workSession) []string {
			dir(t, d.base, "real", "ws")
			must(t, os.Symlink("real", filepath.Join(d.base, "link")))
			d.ws = filepath.Join(d.base, "link", "ws")
			return nil
		}},
		{"a further root", func(t *testing.T, d *workSession) []string {
			return []string{"--add-dir", dir(t, d.base, "more"), "--add-dir", dir(t, d.ws, "inner")}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base, err := os.MkdirTemp(p.dir, "place-")
			must(t, err)
			must(t, os.Chmod(base, 0o755))
			d := &workSession{t: t, base: base, ws: dir(t, base, "ws"), home: dir(t, base, "home")}
			flags := c.make(t, d)
			d.serve(p, flags...)
			d.level()
			for _, s := range everyday {
				d.do(s)
			}
			d.close()
			real, err := filepath.EvalSymlinks(d.ws)
			must(t, err)
			if _, err := os.Lstat(filepath.Join(real, "..", "outside")); err == nil {
				t.Error("a command wrote beside the workspace")
			}
		})
	}
}

// TestWorkRoots: a further root can be written like the first, and push goes to a repository there.
func TestWorkRoots(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if lack := lacking("git", os.Getenv("PATH")); lack != "" {
		t.Skip(lack + " is not installed")
	}
	more := filepath.Join(p.dir, "roots", "more")
	must(t, os.MkdirAll(more, 0o755))
	unpack(t, filepath.Join(p.dir, "roots", "home"), person)
	d := p.desk(t, filepath.Join(p.dir, "roots"), "", "--add-dir", more)
	d.level()
	for _, s := range []step{
		{in: `git init -q . && echo one > f && git add f && git commit -qm one`},
		{in: `git init -q --bare ../more/bare.git && cp f ../more/f && cat ../more/f`, want: "^one$"},
		{in: `git remote add origin ../more/bare.git`, writes: ".git/config"},
		{in: `git push -q -u origin main`, writes: ".git/config"},
		{in: `git -C ../more/bare.git log --format=%s main; git status -sb`, want: `^one\n## main\.\.\.origin/main`},
		{in: `@write {"path":"../more/g","content":"two\n"}`}, {in: `cd ../more && cat g && mv g h && ln h i && mv h ../ws/`, want: "^two$"},
		{in: `cd ../more && git clone -q ../ws copy && cd copy && git remote get-url origin`, want: "ws$"},
	} {
		d.do(s)
	}
}

// TestWorkMounts: a workspace that is a mount, or has mounts in it, is a workspace like others.
func TestWorkMounts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	for _, c := range []struct {
		name, mounts, line string
	}{
		{"a bind mount", `mount --bind "$1/from" "$1/ws"`, `cat f && echo two > g && mv g h`},
		{"a file system in memory", `mount -t tmpfs none "$1/ws" &&
				echo one > "$1/ws/f"`, `cat f && echo two > g && mv g h`},
		{"a mount inside", `mkdir "$1/ws/in" &&
				mount --bind "$1/from" "$1/ws/in"`, `cat in/f && echo two > in/g && mv in/g h`},
		{"a mounted file inside", `touch "$1/ws/f" &&
				mount --bind "$1/from/f" "$1/ws/f"`, `cat f && echo two >> f && cat f`},
		{"a read-only mount inside", `mkdir "$1/ws/in" && mount --bind "$1/from" "$1/ws/in" &&
				mount -o remount,bind,ro "$1/ws/in"`,
			`cat in/f && ! touch in/g && touch h`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base, err := os.MkdirTemp(p.dir, "mounts-")
			must(t, err)
			unpack(t, base, "-- from/f --\none\n")
			d := &workSession{t: t, base: base, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home")}
			must(t, os.MkdirAll(d.ws, 0o755))
			must(t, os.MkdirAll(d.home, 0o755))
			script := c.mounts + ` && exec "$2" sandbox --workspace "$1/ws" -- bash -c "$3"`
			cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", base, p.toolhost, c.line)
			cmd.Env = p.environ(d)
			out, err := cmd.CombinedOutput()
			if err != nil || !bytes.Contains(out, []byte("one\n")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestWorkSomebodysWorkspace: root without privileges is nobody special in another's directory, and is told so.
func TestWorkSomebodysWorkspace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if os.Getuid() != 0 {
		t.Skip("only root is somebody else here")
	}
	base := filepath.Join(p.dir, "other")
	d := &workSession{t: t, base: base, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home")}
	must(t, os.MkdirAll(d.ws, 0o755))
	must(t, os.MkdirAll(d.home, 0o755))
	uid := ordinary(t)
	must(t, os.Lchown(d.ws, uid, uid))
	d.serve(p)
	d.level()
	d.do(step{in: `echo one > f`, fails: true, want: "Permission denied"})
	must(t, os.Chmod(d.ws, 0o777))
	d.do(step{in: `echo one > f && cat f`, want: "^one$"})
}

// TestWorkWorktreeAlone: the workspace is a worktree, and the repository that it belongs to is not in it. Commands write what git keeps
// there, and nothing that git runs or obeys; with a root more a user can allow that.
func TestWorkWorktreeAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if lack := lacking("git", os.Getenv("PATH")); lack != "" {
		t.Skip(lack + " is not installed")
	}
	base := filepath.Join(p.dir, "worktree")
	unpack(t, filepath.Join(base, "home"), person)
	script := `git init -q main && cd main && echo one > f && git add f && git commit -qm one &&
				git worktree add -q ../ws`
	cmd := exec.Command("sh", "-c", script)
	cmd.Env, cmd.Dir = p.environ(&workSession{home: filepath.Join(base, "home")}), base
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		name  string
		flags []string
		steps []step
	}{
		{"without the repository", nil, []step{
			{in: `git status --short --branch; git log --format=%s; git diff; git show --stat`, want: "^## ws$"},
			{in: `echo two >> f && git diff`, want: `^\+two$`},
			{in: `git commit -qam two && git log --format=%s`, want: "^two\none$"},
			{in: `git branch other && git stash list && git gc -q && git status --short`, want: ""},
			{in: `f=$(printf %s ../main/.git/hooks/pre-commit); echo "#!/bin/sh" > "$f"`, fails: true, want: "kept the command from writing"},
		}},
		{"with it as a root", []string{"--add-dir", filepath.Join(base, "main")}, []step{
			{in: `echo three >> f && git commit -qam three && git log --format=%s`, want: "^three\ntwo\none$"},
			{in: `git stash list; git branch side && git gc -q && git status --short`, want: ""},
			{in: `f=$(printf %s ../main/.git/hooks/pre-commit); echo "#!/bin/sh" > "$f"`, fails: true, want: "kept the command from writing"},
			{in: `git config user.name x`},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := p.desk(t, base, "", c.flags...)
			d.level()
			for _, s := range c.steps {
				d.do(s)
			}
			d.close()
		})
	}
}

// TestWorkNestedSubmodules: the repositories of submodules in submodules lie in that of the outermost.
func TestWorkNestedSubmodules(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if lack := lacking("git", os.Getenv("PATH")); lack != "" {
		t.Skip(lack + " is not installed")
	}
	base := filepath.Join(p.dir, "nested")
	unpack(t, filepath.Join(base, "home"), person)
	script := `for r in a b ws; do git init -q $r; (cd $r; echo one > f; git add f; git commit -qm one); done
		git config --global protocol.file.allow always
		(cd b; git submodule --quiet add ../a a; git commit -qm a); (cd ws; git submodule --quiet add ../b b; git commit -qm b)
		cd ws; git submodule --quiet update --init --recursive; cat b/a/f`
	cmd := exec.Command("sh", "-ec", script)
	cmd.Env, cmd.Dir = p.environ(&workSession{home: filepath.Join(base, "home")}), base
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d := p.desk(t, base, "")
	d.level()
	for _, s := range []step{
		{in: `git submodule status --recursive`, want: "b/a"},
		{in: `cd b/a && git checkout -q main && echo two >> f && git commit -qam two && cd .. && git add a &&
				git commit -qm two && cd .. && git commit -qam two && git log --format=%s`, want: "^two$"},
		{in: `git status --short; git diff --submodule=log HEAD~1`, want: "Submodule b"},
		{in: `f=$(printf %s .git/modules/b/modules/a/hooks/post-checkout); echo x > "$f"`, fails: true, want: "kept the command from writing"},
		{in: `f=$(printf %s .git/modules/b/config); echo x >> "$f"`, fails: true, want: "kept the command from writing"},
		{in: `cd b/a && git remote add x /nowhere`},
	} {
		d.do(s)
	}
}

// TestWorkLoopback: a server of one session is reached by its own commands alone, and they reach no server of the machine.
func TestWorkLoopback(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if lack := lacking("python3 curl", os.Getenv("PATH")); lack != "" {
		t.Skip(lack + " is not installed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // of the machine: nobody may come
	must(t, err)
	defer listener.Close()
	came := make(chan net.Addr, 1)
	go func() {
		if c, err := listener.Accept(); err == nil {
			came <- c.RemoteAddr()
			c.Close()
		}
	}()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	const number = 8743
	served := strconv.Itoa(number)
	first, second := p.desk(t, filepath.Join(p.dir, "first"), ""), p.desk(t, filepath.Join(p.dir, "second"), "")
	for _, d := range []*workSession{first, second} {
		d.level()
		d.do(step{in: `curl -sS -m 5 --noproxy '*' http://127.0.0.1:` + port + `/`, fails: true, want: "(?i)connect"})
		d.do(step{in: `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ` + port + `), 5)'`, fails: true, want: "refused"})
	}
	first.do(step{in: `echo one > f; python3 -u -m http.server --bind 127.0.0.1 ` + served + ` > log 2>&1 &
		for i in $(seq 1200); do grep -q Serving log && break; sleep 0.05; done`})
	get := `python3 -c 'import urllib.request as u; print(u.build_opener(u.ProxyHandler({})).open("http://127.0.0.1:` + served + `/f").read())'`
	first.do(step{in: get, want: "one"})
	second.do(step{in: get, fails: true, want: "refused"})
	if c, err := net.Dial("tcp", "127.0.0.1:"+served); err == nil {
		c.Close()
		t.Error("the machine reaches the server of a session")
	}
	const listens = `:2227 ` // 8743, as /proc/net/tcp has it
	if a := first.do(step{in: `cat /proc/net/tcp; true > seen`}); !strings.Contains(a.text(), listens) {
		t.Errorf("a command of the session does not see the server:\n%s", a.text())
	}
	a := first.do(step{in: `cat /proc/net/tcp`})
	if a.Invocation.Facts.ReadOnly != "yes" || !strings.Contains(a.text(), listens) { // TestObservers: it uses nothing of what it sees
		t.Errorf("a reader of the host's state (%s) does not see the server:\n%s", a.Invocation.Facts.ReadOnly, a.text())
	}
	for _, profile := range []string{"read_only", "workspace"} {
		out, err := p.command(first, "sandbox", "--profile", profile, "--workspace", first.ws, "--", "curl", "-sS", "-m", "5", "--noproxy", "*",
			"http://127.0.0.1:"+served+"/").CombinedOutput()
		if err == nil {
			t.Errorf("%s reaches the server of a session: %s", profile, out)
		}
	}
	select {
	case from := <-came:
		t.Errorf("%s reached a server of the machine", from)
	default:
	}
}
