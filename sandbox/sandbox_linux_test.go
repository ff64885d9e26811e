package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// hang is how long is waited for what comes at once where little else runs: that it comes is the point, not when.
const hang = 5 * time.Minute

// bench is a session over a workspace of its own.
type bench struct {
	*Session
	ws, home, out, state string // out is shown, and neither

	user       *answers       // asked about paths while a command runs; nil: none is there
	background bool           // of the commands
	name       string         // likewise
	signaled   func(Signaled) // likewise
}

func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{ws: filepath.Join(dir, "ws"), home: filepath.Join(dir, "home"), out: filepath.Join(dir, "out"), state: filepath.Join(dir, "state")}
	for _, d := range []string{b.ws, b.home, b.out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Roots: []string{b.ws}, Home: b.home, Dir: filepath.Join(dir, "state", "scratch", "s1"), Cache: filepath.Join(dir, "cache"),
		Hidden: []string{filepath.Join(dir, "state")}, Show: []string{b.out}}
	if change != nil {
		change(&o)
	}
	if b.Session, err = Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

type result struct {
	out        string
	exit       int
	err        error
	violations []Violation
}

// write writes a file of the workspace.
func (b *bench) write(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join(b.ws, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// await waits until a command has made a file of the workspace.
func (b *bench) await(t testing.TB, name string) {
	t.Helper()
	for limit := time.Now().Add(hang); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(b.ws, name)); err == nil {
			return
		}
	}
	t.Fatalf("%s was never made", name)
}

// start starts a line of bash whose output nobody reads.
func (b *bench) start(t testing.TB, profile Profile, line string) *Process {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := b.begin(t, profile, line, [3]*os.File{null, null, null})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *bench) begin(t testing.TB, profile Profile, line string, streams [3]*os.File) (*Process, error) {
	t.Helper()
	dir, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c := Command{Path: "/bin/bash", Args: []string{"bash", "--norc", "-c", line}, Dir: b.ws, At: dir,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}, Streams: streams, Profile: profile, Background: b.background,
		Name: b.name, Signaled: b.signaled}
	if b.user != nil {
		c.Ask, c.MayAsk = b.user.ask, b.user.mayAsk
	}
	return b.Start(context.Background(), &c)
}

// run runs a line of bash and waits until nothing is left of it.
func (b *bench) run(t testing.TB, access Access, line string) result {
	t.Helper()
	return b.runProfile(t, Profile{Access: access}, line)
}

func (b *bench) runProfile(t testing.TB, profile Profile, line string) result {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	p, err := b.begin(t, profile, line, [3]*os.File{null, w, w})
	w.Close()
	if err != nil {
		r.Close()
		return result{err: err}
	}
	out, _ := io.ReadAll(r)
	r.Close()
	select {
	case <-p.Gone():
	case <-time.After(hang):
		t.Fatal("it is not gone")
	}
	return result{out: strings.TrimSuffix(string(out), "\n"), exit: p.Ended().Status.ExitStatus(), violations: p.Violations()}
}

// What read_only holds: nothing is written but the private directory, nobody is reached, no privilege is left.
func TestReadOnly(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "f", "content")
	for _, tt := range []struct{ name, line, want string }{
		{"reads", `cat f`, "content"},
		{"the workspace", `touch x 2>&1 | grep -o 'Read-only'; rm -f f 2>&1 | grep -o Read-only; chmod 777 f 2>&1 | grep -o Read-only`, "Read-only\nRead-only\nRead-only"},
		{"/tmp", `touch /tmp/x 2>&1 | grep -o 'Read-only'`, "Read-only"},
		{"its own directory", `echo a > "$TMPDIR/x" && cat "$TMPDIR/x" && mktemp >/dev/null && echo made`, "a\nmade"},
		{"a here-document", "cat <<E\nhere\nE", "here"},
		{"privileges", `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | tr -d '\t' | tr '\n' ' '`,
			"CapInh:0000000000000000 CapPrm:0000000000000000 CapEff:0000000000000000 CapBnd:0000000000000000 CapAmb:0000000000000000 NoNewPrivs:1 Seccomp:2 "},
		{"processes", `all=(/proc/[0-9]*); echo ${#all[@]}`, "2"},                                            // the helper, bash
		{"network", `(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -c denied; grep -c . /proc/net/dev`, "2\n3"}, // two lines of heading, lo
		{"toolhost's own", `ls "` + b.state + `" 2>&1 | grep -c -e denied -e 'No such'`, "1"},
		{"its helper", `kill -TERM 1 2>&1 | grep -o 'not permitted'; echo on`, "not permitted\non"},
		{"the device files", `chmod 600 /dev/null 2>&1 | grep -o Read-only; echo x > /dev/null && echo ok`, "Read-only\nok"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := b.run(t, ReadOnly, tt.line); r.err != nil || r.out != tt.want {
				t.Errorf("%q, exit %d, %v; want %q", r.out, r.exit, r.err, tt.want)
			}
		})
	}
}

// What workspace gives and holds.
func TestWorkspace(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Protected = protect.NewCache(protect.Options{Roots: o.Roots, Home: o.Home, ReadDeny: protect.DefaultReadDeny(), MaxTime: hang}, 0)
	})
	b.write(t, ".env", "secret")
	b.write(t, ".git/HEAD", "ref: refs/heads/main")
	b.write(t, ".git/config", "[core]")
	b.write(t, ".git/hooks/x.sample", "")
	for _, d := range []string{".git/objects", ".git/refs"} {
		if err := os.MkdirAll(filepath.Join(b.ws, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, line, want string
		violation        string
	}{
		{"writes", `echo a > f; cat f; mkdir -p d/e; mv f d/e; ls d/e`, "a\nf", ""},
		{"writes /tmp", `echo a > /tmp/f; cat /tmp/f`, "a", ""},
		{"finds it again", `cat /tmp/f`, "a", ""},
		{"a server", `exec 3<>/dev/tcp/127.0.0.1/1`, "", ""},
		{"outside", `touch /usr/x 2>&1 | grep -o Read-only; touch "$HOME/x" 2>&1 | grep -o Read-only`, "Read-only\nRead-only", ""},
		{"secrets", `cat .env 2>&1 | grep -o denied; cat < .env 2>&1; mv .env x 2>&1 | grep -o busy`, "denied\nbash: line 1: .env: Permission denied\nbusy", ""},
		{"a hook", `echo x > .git/hooks/pre-commit`, "bash: line 1: .git/hooks/pre-commit: Operation not permitted", ".git/hooks/pre-commit"},
		{"a lock over the configuration", `echo x > .git/config.lock && mv .git/config.lock .git/config 2>/dev/null || echo held`, "held", ".git/config"},
		{"the repository's name", `mv .git .g 2>/dev/null || echo held`, "held", ".git"},
		{"a name that does not exist", `echo x > .envrc`, "bash: line 1: .envrc: Operation not permitted", ".envrc"},
		{"by a link", `ln -s .git/hooks h && { echo x > h/post-commit; } 2>/dev/null || echo held`, "held", ".git/hooks/post-commit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.run(t, Workspace, tt.line)
			if r.err != nil || !strings.HasPrefix(r.out, tt.want) {
				t.Errorf("%q, exit %d, %v; want %q", r.out, r.exit, r.err, tt.want)
			}
			told := slices.ContainsFunc(r.violations, func(v Violation) bool {
				return v.Path == filepath.Join(b.ws, tt.violation) && v.Wall == ProtectedName && v.Grant == "write:"+v.Path
			})
			if told != (tt.violation != "") {
				t.Errorf("violations %v", r.violations)
			}
		})
	}
}

// A decision's grants open what they name, and nothing beside it.
func TestUnseal(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, ".git/HEAD", "ref: refs/heads/main")
	b.write(t, ".git/config", "[core]")
	for _, d := range []string{".git/objects", ".git/refs", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(b.ws, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const line = `echo $RANDOM$RANDOM > .git/config.lock; mv .git/config.lock .git/config && echo written; echo x > .git/hooks/h && echo hooked`
	for _, tt := range []struct {
		name   string
		unseal string
		want   string
	}{
		{"nothing", "", ""},
		{"the configuration", ".git/config", "written"},
		{"the directory that holds all", ".", ""},
		{"a hook", ".git/hooks/h", "hooked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Profile{Access: Workspace}
			if tt.unseal != "" {
				p.Unseal = []string{filepath.Join(b.ws, tt.unseal)}
			}
			if r := b.runProfile(t, p, "{ "+line+"; } 2>/dev/null"); r.err != nil || r.out != tt.want {
				t.Errorf("%q, %v; want %q", r.out, r.err, tt.want)
			}
		})
	}
}

// What is granted besides the roots can be written, be it a file or a directory; a path in a root that does not exist yet, as
// violations suggest it, only unseals.
func TestGrantedWrites(t *testing.T) {
	b := newBench(t, nil)
	outside := filepath.Join(filepath.Dir(b.ws), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "other"} {
		if err := os.WriteFile(filepath.Join(outside, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(filepath.Dir(b.ws), "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, grant, line, want string
	}{
		{"a directory", outside, `echo a > "` + outside + `/new" && echo written`, "written"},
		{"by a link", link, `echo a > "` + outside + `/new" && echo written`, "written"},
		{"a protected name that is missing", filepath.Join(b.ws, ".envrc"), `echo a > .envrc && echo written`, "written"},
		{"no other", filepath.Join(b.ws, ".envrc"), `echo a > .mcp.json && echo written`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Profile{Access: Workspace, Write: []string{tt.grant}, Unseal: []string{tt.grant}}
			if r := b.runProfile(t, p, "{ "+tt.line+"; } 2>/dev/null"); r.err != nil || r.out != tt.want {
				t.Errorf("%q, %v; want %q", r.out, r.err, tt.want)
			}
		})
	}
}

// What is replaced from outside while a command runs is covered again within it, and told.
func TestReplacedFromOutside(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Protected = protect.NewCache(protect.Options{Roots: o.Roots, ReadDeny: protect.DefaultReadDeny(), MaxTime: hang}, 0)
	})
	b.write(t, ".env", "secret")
	p := b.start(t, Profile{Access: Workspace}, `touch up; until [ -e go ]; do sleep 0.01; done; cat .env && touch read; touch done`)
	b.await(t, "up")
	b.write(t, "next", "secret")
	if err := os.Rename(filepath.Join(b.ws, "next"), filepath.Join(b.ws, ".env")); err != nil {
		t.Fatal(err)
	}
	told := func() bool {
		return slices.ContainsFunc(p.Violations(), func(v Violation) bool {
			return v.Path == filepath.Join(b.ws, ".env") && strings.HasSuffix(v.Detail, "is covered again")
		})
	}
	for limit := time.Now().Add(hang); !told() && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	if !told() {
		t.Errorf("violations %v", p.Violations())
	}
	b.write(t, "go", "")
	<-p.Gone()
	if _, err := os.Stat(filepath.Join(b.ws, "read")); err == nil {
		t.Error("the secret was read")
	}
}

// TestMadeOutsideStays: a protected name that somebody outside makes while a command runs is reported, and stays: the command cannot have made it.
func TestMadeOutsideStays(t *testing.T) {
	b := newBench(t, nil)
	p := b.start(t, Profile{Access: Workspace}, "touch up; while [ ! -e stop ]; do sleep 0.05; done")
	b.await(t, "up")
	b.write(t, ".envrc", "export A=1\n")
	b.write(t, "stop", "")
	over(t, "its end", p.Gone())
	text, err := os.ReadFile(filepath.Join(b.ws, ".envrc"))
	if err != nil || string(text) != "export A=1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if found := p.Violations(); !slices.ContainsFunc(found, func(v Violation) bool { return filepath.Base(v.Path) == ".envrc" }) {
		t.Errorf("it is not reported: %v", found)
	}
}

// What cannot be is refused before anything runs.
func TestRefusals(t *testing.T) {
	b := newBench(t, nil)
	for _, tt := range []struct {
		name string
		p    Profile
		want string
	}{
		{"the zero profile", Profile{}, "allows nothing"},
		{"an unknown one", Profile{Access: "root"}, "allows nothing"},
		{"read_only with more", Profile{Access: ReadOnly, Hosts: []string{"example.com"}}, "use workspace"},
		{"a relative directory", Profile{Access: Workspace, Write: []string{"x"}}, "not absolute"},
		{"a missing directory", Profile{Access: Workspace, Write: []string{"/no-such-name-of-toolhost"}}, "does not exist"},
		{"everything", Profile{Access: Workspace, Write: []string{"/"}}, "every sandbox has its own"},
		{"a host that is none", Profile{Access: Workspace, Hosts: []string{"a b"}}, "no host to grant"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.runProfile(t, tt.p, "touch ran")
			if r.err == nil || !strings.Contains(r.err.Error(), tt.want) {
				t.Errorf("%v; want %q", r.err, tt.want)
			}
			if _, err := os.Lstat(filepath.Join(b.ws, "ran")); err == nil {
				t.Error("it ran")
			}
		})
	}
	if _, err := Open(Options{Dir: filepath.Join(b.state, "scratch", "x"), Cache: filepath.Join(b.state, "c")}); err == nil {
		t.Error("a session without a workspace was opened")
	}
}

// What a command leaves in the background is there in the next call, and gone with the session.
func TestBackground(t *testing.T) {
	b := newBench(t, nil)
	p := b.start(t, Profile{Access: Workspace}, `while :; do echo beat >> beats; sleep 0.02; done & echo started`)
	<-p.Exited()
	b.await(t, "beats")
	select {
	case <-p.Gone():
		t.Fatal("the background process ended with its command")
	default:
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	<-p.Gone()
	if _, err := os.Stat(b.dirs.own.path); err == nil {
		t.Error("the scratch is still there")
	}
}

// Kill ends everything, whatever ignores signals.
func TestKill(t *testing.T) {
	b := newBench(t, nil)
	p := b.start(t, Profile{Access: Workspace}, `trap '' TERM INT HUP; (trap '' TERM; setsid sleep 1000 & touch up; sleep 1000)`)
	b.await(t, "up")
	p.Signal(syscall.SIGTERM)
	p.Kill()
	<-p.Gone()
	if e := p.Ended(); e == nil || !e.Status.Signaled() {
		t.Errorf("ended %+v", e)
	}
}

// A hundred at once do not see into each other, and leave nothing behind.
func TestManyAtOnce(t *testing.T) {
	b := newBench(t, nil)
	b.run(t, Workspace, "true")
	b.run(t, ReadOnly, "true") // what the session keeps for each profile
	before := descriptors(t)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			access := Workspace
			if i%2 == 0 {
				access = ReadOnly
			}
			r := b.run(t, access, fmt.Sprintf(`sleep 0.1 & n=0; for p in /proc/[0-9]*; do [ -e $p/root/. ] && ((n++)); done; echo $n; wait; exit %d`, i))
			if r.err != nil || r.exit != i || r.out != "1" && r.out != "2" { // bash; sleep, unless it is not there yet
				t.Errorf("%d: %q, exit %d, %v", i, r.out, r.exit, r.err)
			}
		})
	}
	all.Wait()
	for limit := time.Now().Add(hang); descriptors(t) > before && time.Now().Before(limit); {
		time.Sleep(10 * time.Millisecond) // the last listeners close
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// The scratch of a host that was killed is removed by the next session; that of a living one is not.
func TestAbandonedScratch(t *testing.T) {
	b := newBench(t, nil)
	if err := b.Make(); err != nil {
		t.Fatal(err)
	}
	abandoned := filepath.Join(filepath.Dir(b.dirs.own.path), "dead")
	if err := os.MkdirAll(filepath.Join(abandoned, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	next, err := Open(Options{Roots: []string{b.ws}, Dir: filepath.Join(filepath.Dir(b.dirs.own.path), "s2"), Cache: b.dirs.cache.path})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if err := next.Make(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(hang); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(abandoned); os.IsNotExist(err) {
			break
		}
	}
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("an abandoned scratch is kept")
	}
	if _, err := os.Stat(b.dirs.own.path); err != nil {
		t.Errorf("the scratch of a living session: %v", err)
	}
	same, err := Open(Options{Roots: []string{b.ws}, Dir: b.o.Dir, Cache: b.dirs.cache.path})
	if err != nil {
		t.Fatal(err)
	}
	defer same.Close()
	if err := same.Make(); err == nil || !strings.Contains(err.Error(), "another process has locked it") {
		t.Errorf("two sessions have one directory: %v", err)
	}
}

// TestAbandonedStage: what a killed host noted in its stage is removed by the next session, with a sandbox or without, and nothing else.
func TestAbandonedStage(t *testing.T) {
	for _, level := range []Level{"", None} {
		t.Run(string(level), func(t *testing.T) {
			ws, all := t.TempDir(), filepath.Join(t.TempDir(), "state", "scratch")
			stage := filepath.Join(all, "dead", stageName)
			must(t, os.MkdirAll(stage, 0o700))
			note := func(name, target string) {
				must(t, os.Symlink(target, filepath.Join(stage, name)))
			}
			for _, name := range []string{".toolhost-A.tmp", "kept", "linked", ".toolhost-B.tmp"} {
				must(t, os.WriteFile(filepath.Join(ws, name), nil, 0o600))
			}
			must(t, os.Mkdir(filepath.Join(ws, "dir"), 0o700))
			must(t, os.Symlink("linked", filepath.Join(ws, "link")))
			note(".toolhost-A.tmp", filepath.Join(ws, ".toolhost-A.tmp"))
			note(".toolhost-C.tmp", filepath.Join(ws, "kept")) // another name
			note("dir", filepath.Join(ws, "dir"))
			note("link", filepath.Join(ws, "link"))
			note("gone", filepath.Join(ws, "gone"))
			note(".toolhost-B.tmp", "../../../.toolhost-B.tmp")
			next, err := Open(Options{Level: level, Roots: []string{ws}, Dir: filepath.Join(all, "next"), Cache: filepath.Join(all, "../cache")})
			must(t, err)
			must(t, next.Make())
			if info, err := os.Stat(next.Stage()); err != nil || !info.IsDir() {
				t.Errorf("its own stage: %v", err)
			}
			must(t, next.Close()) // waits until the session before is gone
			if _, err := os.Stat(filepath.Join(all, "dead")); !os.IsNotExist(err) {
				t.Errorf("the directory of the dead session: %v", err)
			}
			var left []string
			entries, err := os.ReadDir(ws)
			must(t, err)
			for _, e := range entries {
				left = append(left, e.Name())
			}
			if want := []string{".toolhost-B.tmp", "dir", "kept", "link", "linked"}; !slices.Equal(left, want) {
				t.Errorf("there are %q, want %q", left, want)
			}
			if made, _ := os.ReadDir(all); len(made) != 0 {
				t.Errorf("it left %v", made)
			}
		})
	}
}

// The machine that runs these tests holds all of it.
func TestProbe(t *testing.T) {
	f := Probe(t.TempDir())
	if f.Level == None {
		t.Skip("this machine holds no sandbox: ", f.Missing)
	}
	if f.Level != Full {
		t.Errorf("level %s: %v", f.Level, f.Missing)
	}
}

// Below full, Landlock and the filter hold.
func TestWithoutNamespaces(t *testing.T) {
	for _, level := range []Level{LandlockNotify, Landlock} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			outside := filepath.Join(filepath.Dir(b.ws), "outside")
			if err := os.WriteFile(outside, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				name   string
				access Access
				line   string
				want   string
			}{
				{"writes the workspace", Workspace, `echo a > f && cat f && chmod 700 f && echo changed`, "a\nchanged"},
				{"writes TMPDIR", Workspace, `echo a > "$TMPDIR/f" && cat "$TMPDIR/f"; mktemp >/dev/null && echo made`, "a\nmade"},
				{"outside", Workspace, `echo a > ../outside`, "bash: line 1: ../outside: "},
				{"no network", Workspace, `exec 3<>/dev/tcp/127.0.0.1/1`, "bash: socket: Permission denied"},
				{"reads only", ReadOnly, `echo a > g`, "bash: line 1: g: Permission denied"},
				{"its own TMPDIR", ReadOnly, `echo a > "$TMPDIR/f" && cat "$TMPDIR/f"`, "a"},
				{"no modes", ReadOnly, `chmod 700 f 2>&1 | grep -o 'not permitted'`, "not permitted"},
				{"the helper", Workspace, `kill -9 $PPID 2>&1 | grep -o 'not permitted'; kill -STOP $PPID 2>&1 | grep -o 'not permitted'`, "not permitted\nnot permitted"},
				{"standard streams", Workspace, `echo a >/dev/stderr; echo b > /dev/null; echo c >/dev/fd/1`, "a\nc"},
			} {
				t.Run(tt.name, func(t *testing.T) {
					if r := b.run(t, tt.access, tt.line); r.err != nil || !strings.HasPrefix(r.out, tt.want) {
						t.Errorf("%q, exit %d, %v; want %q", r.out, r.exit, r.err, tt.want)
					}
				})
			}
			if info, err := os.Stat(outside); err != nil || info.Size() != 0 {
				t.Errorf("outside: %v, %v", info, err)
			}
			p := b.start(t, Profile{Access: Workspace}, `trap '' TERM; setsid sleep 1000 & touch up; sleep 1000`)
			b.await(t, "up")
			p.Kill()
			select {
			case <-p.Gone():
			case <-time.After(hang):
				t.Error("a killed command is still there")
			}
		})
	}
}

// A session whose directory cannot be made has them in the next place that takes them, and says what is wrong with all if none does.
// Nothing is made before.
func TestFallbacks(t *testing.T) {
	b := newBench(t, nil)
	file := filepath.Join(b.out, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(b.out, "second", "scratch", "s")
	s, err := Open(Options{Roots: []string{b.ws}, Dir: filepath.Join(file, "scratch", "s"), Cache: filepath.Join(file, "cache"), Fallbacks: []string{second}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(second)); !os.IsNotExist(err) {
		t.Errorf("made by Open: %v", err)
	}
	if err := s.Make(); err != nil || s.Scratch() != filepath.Join(second, "tmp") {
		t.Errorf("the scratch is %q, %v", s.Scratch(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(second)); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	none, err := Open(Options{Roots: []string{b.ws}, Dir: filepath.Join(file, "scratch", "s"), Cache: filepath.Join(file, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if err := none.Make(); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("without a place: %v", err)
	}
}

// TestNoScratchThroughLinks: a link that somebody else put where the session's directories belong makes nothing behind it.
func TestNoScratchThroughLinks(t *testing.T) {
	b := newBench(t, nil)
	target, link := filepath.Join(b.out, "target"), filepath.Join(b.out, "link")
	if err := errors.Join(os.Mkdir(target, 0o700), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Roots: []string{b.ws}, Dir: filepath.Join(link, "scratch", "s"), Cache: filepath.Join(b.out, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Make(); err == nil {
		t.Error("it was made")
	}
	if made, err := os.ReadDir(target); err != nil || len(made) > 0 {
		t.Errorf("behind the link there is %v, %v", made, err)
	}
}

// A probe that failed for want of something is made again before the first command, which runs if it finds enough then.
func TestReadyIsAskedAgain(t *testing.T) {
	short := true
	b := newBench(t, func(o *Options) {
		o.Ready = func() error {
			if short {
				return agenttool.Failure(agenttool.SetupRequired, "sandbox_required", "too many open files")
			}
			return nil
		}
	})
	if err := b.Make(); err == nil {
		t.Error("made although the probe fails")
	}
	short = false
	if err := b.Make(); err != nil {
		t.Error(err)
	}
}
