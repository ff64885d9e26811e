package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"toolhost/agenttool/remove"
	"toolhost/testdata/support/wiretest"
)

// work is something that people do every day, and that the sandbox must let them do. Each step is a call of one session.
type work struct {
	name  string
	needs string // the programs that it takes: without one of them it is skipped
	files string // what is in the workspace beforehand, as txtar
	home  string // what is in the home directory, as txtar; "" for an empty one
	steps []step

	alone bool // each step also runs by itself, in toolhost sandbox
	users bool // also run as an ordinary user

	ordinary bool // not as root, whom a program of it refuses
}

// step is one call and what is expected of it.
type step struct {
	in   string // the command, or "@TOOL INPUT"
	want string // a regular expression that the answer's text matches, line by line

	fails   bool   // the call does not succeed
	writes  string // paths, relative to the workspace, that the person is shown among what it writes
	long    bool   // only in the long form
	finding string // what keeps this and what follows from working: it is skipped
}

// workSession is a workspace, a home and a session in both.
type workSession struct {
	t              testing.TB
	ws, home, base string
	host           *wiretest.Process // nil: it has ended
}

// workPatience is how long a step may take: a build takes its time on a machine that has much to do.
const workPatience = 15 * time.Minute

// place is where desks are made: outside /tmp, which commands see otherwise, and readable for ordinary users.
type place struct {
	dir, toolhost string
	uid           int // whom toolhost runs as; -1 for ourselves
}

// newPlace makes the place of a test.
func newPlace(t testing.TB) place {
	if underRace {
		t.Skip("this drives a program that is built without the race detector: the ordinary run shows it")
	}
	t.Helper()
	var dir string
	home, _ := os.UserHomeDir()
	for _, parent := range []string{"/srv", home, "/var/tmp"} {
		made, err := os.MkdirTemp(parent, "toolhost-work-")
		if err == nil {
			dir = made
			break
		}
	}
	if dir == "" {
		t.Fatal("there is no place for a workspace")
	}
	t.Cleanup(func() { remove.All(dir) })
	must(t, os.Chmod(dir, 0o755))
	p := place{dir: dir, toolhost: filepath.Join(dir, "bin", "toolhost"), uid: -1}
	must(t, os.Mkdir(filepath.Dir(p.toolhost), 0o755))
	linkSelf(t, p.toolhost)
	d := p.desk(t, filepath.Join(dir, "probe"), "")
	if level := d.level(); level != "full" {
		t.Skipf("this machine holds level %q: real work is shown where everything is held", level)
	}
	d.close()
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unpack writes the files of an archive.
func unpack(t testing.TB, dir, archive string) {
	t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, f.Name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, f.Data, 0o644))
	}
}

// desk makes a desk at base: base/ws, base/home, base/state.
func (p place) desk(t testing.TB, base, files string, flags ...string) *workSession {
	t.Helper()
	d := &workSession{t: t, base: base, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home")}
	for _, dir := range []string{d.ws, d.home} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	unpack(t, d.ws, files)
	p.give(t, base)
	d.serve(p, flags...)
	return d
}

// give makes what is below dir the user's.
func (p place) give(t testing.TB, dir string) {
	t.Helper()
	if p.uid < 0 {
		return
	}
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, p.uid, p.uid)
	}))
}

// ordinaryPath is where an ordinary user has programs.
const ordinaryPath = "/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

// environ is what a person's login has, and nothing that this test run adds.
func (p place) environ(d *workSession) []string {
	env := []string{"HOME=" + d.home, "XDG_STATE_HOME=" + filepath.Join(d.base, "state"), "LANG=C.UTF-8", "GOTOOLCHAIN=local", "CGO_ENABLED=0"}
	names := []string{"RUSTUP_HOME", "PYENV_ROOT", "GOMODCACHE", "GOROOT"}
	if p.uid >= 0 {
		return append(env, "PATH="+ordinaryPath)
	}
	for _, name := range append(names, "PATH") {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	home, _ := os.UserHomeDir()
	for _, entry := range [][2]string{{"RUSTUP_HOME", ".rustup"}, {"GOMODCACHE", "go/pkg/mod"}} {
		if dir := filepath.Join(home, entry[1]); os.Getenv(entry[0]) == "" && isDirectory(dir) {
			env = append(env, entry[0]+"="+dir)
		}
	}
	if !long() { // the long form compiles the standard library
		env = append(env, "GOCACHE="+buildCache())
	}
	return env
}

// buildCache is go's build cache of the test run.
func buildCache() string {
	if dir := os.Getenv("GOCACHE"); dir != "" {
		return dir
	}
	dir, _ := os.UserCacheDir()
	return filepath.Join(dir, "go-build")
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// command is toolhost with arguments, as the place's user.
func (p place) command(d *workSession, args ...string) *exec.Cmd {
	cmd := exec.Command(p.toolhost, args...)
	cmd.Env, cmd.Dir = p.environ(d), d.base
	if p.uid >= 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}}
	}
	return cmd
}

// serve starts the session. The person at its other end allows everything that is asked.
func (d *workSession) serve(p place, flags ...string) {
	d.t.Helper()
	if p.uid < 0 {
		keepLevel(d.t, filepath.Join(d.base, "state"))
	}
	cmd := p.command(d, append([]string{"serve", "--workspace", d.ws}, flags...)...)
	cmd.Stderr = os.Stderr
	started := make(chan struct{}) // d has its host then
	host, err := wiretest.Start(cmd, wiretest.Options{Malformed: malformed(d.t, "the client"), Heard: func(m wiretest.Message) {
		<-started
		d.allow(m)
	}})
	must(d.t, err)
	d.host = host
	close(started)
	d.t.Cleanup(d.close)
}

// allow answers prompts with yes, but for those of a command that meets a wall while it runs.
func (d *workSession) allow(m wiretest.Message) {
	var params struct {
		Event struct {
			Type string `json:"event_type"`
			Data struct {
				Decision struct {
					ID     string `json:"decision_id"`
					Reason struct{ Detail string }
				}
			}
		}
	}
	if json.Unmarshal(m.Params, &params) != nil || params.Event.Type != "tool.permission.requested" {
		return
	}
	decision, behavior := params.Event.Data.Decision, "allow"
	if strings.HasPrefix(decision.Reason.Detail, "it runs and waits") {
		behavior = "deny"
	}
	go d.host.Send("agenttool/decide", map[string]string{"decision_id": decision.ID, "behavior": behavior})
}

// close ends the session.
func (d *workSession) close() {
	if d.host != nil {
		_ = d.host.End(workPatience)
		d.host = nil
	}
}

// level says hello and returns the sandbox's level.
func (d *workSession) level() string {
	d.t.Helper()
	var hello struct {
		Sandbox struct{ Level string }
	}
	d.request("agenttool/hello", map[string]any{
		"client": map[string]string{"name": "work", "version": "1"}, "events": "results", "approvals": true,
	}, &hello)
	return hello.Sandbox.Level
}

// request sends a request and returns the result.
func (d *workSession) request(method string, params, result any) {
	d.t.Helper()
	must(d.t, d.host.Request(method, params, result, workPatience))
}

// answer is what a call came to.
type answer struct {
	Invocation struct {
		Facts struct {
			ReadOnly string `json:"read_only"`
			Writes   []struct{ Resolved string }
		}
	}
	Result struct {
		Status  string
		Content []struct{ Text, Diff string }
		Error   struct{ Message string }
	}
}

// text is everything that a model reads.
func (a *answer) text() string {
	var b strings.Builder
	for _, c := range a.Result.Content {
		b.WriteString(c.Text + c.Diff + "\n")
	}
	return b.String()
}

// call makes one call.
func (d *workSession) call(in string) *answer {
	d.t.Helper()
	// Each begins where the first did. A build takes its time on a machine that has much to do.
	tool, input := "shell", any(map[string]any{"command": in, "cwd": d.ws, "timeout_ms": 600_000})
	if rest, ok := strings.CutPrefix(in, "@"); ok {
		name, object, _ := strings.Cut(rest, " ")
		tool, input = name, json.RawMessage(strings.ReplaceAll(object, `"WS/`, `"`+d.ws+"/"))
	}
	a := &answer{}
	d.request("agenttool/invoke", map[string]any{"id": fmt.Sprint("c", d.host.ID()), "tool": tool, "input": input}, a)
	return a
}

// do makes a call and checks it.
func (d *workSession) do(s step) *answer {
	d.t.Helper()
	if s.finding != "" {
		d.t.Skipf("it does not work yet: %s: %s", s.finding, s.in)
	}
	a := d.call(s.in)
	if succeeded := a.Result.Status == "succeeded"; succeeded == s.fails {
		d.t.Fatalf("%s\nstatus %s\n%s", s.in, a.Result.Status, a.text())
	}
	expect(d.t, s, a.text())
	for path := range strings.FieldsSeq(s.writes) {
		path = filepath.Join(d.ws, path)
		if !slices.ContainsFunc(a.Invocation.Facts.Writes, func(w struct{ Resolved string }) bool { return w.Resolved == path }) {
			d.t.Errorf("%s\nthe person is not told that it writes %s: %v", s.in, path, a.Invocation.Facts.Writes)
		}
	}
	return a
}

// expect compares what a step said.
func expect(t testing.TB, s step, text string) {
	t.Helper()
	if !regexp.MustCompile("(?m)" + s.want).MatchString(text) {
		t.Fatalf("%s\nwant %s, got\n%s", s.in, s.want, text)
	}
}

// lacking returns the first of the programs that is not installed. python3:NAME is a module of python.
func lacking(programs, path string) string {
	for wanted := range strings.FieldsSeq(programs) {
		program, module, _ := strings.Cut(wanted, ":")
		found := ""
		for _, dir := range filepath.SplitList(path) {
			file := filepath.Join(dir, program)
			if info, err := os.Stat(file); found == "" && err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				found = file
			}
		}
		if found == "" || module != "" && exec.Command(found, "-c", "import "+module).Run() != nil {
			return wanted
		}
	}
	return ""
}

// run does the work.
func (p place) run(t *testing.T, w work) {
	t.Helper()
	t.Parallel()
	base := filepath.Join(p.dir, strings.NewReplacer("/", "-", " ", "_").Replace(t.Name()))
	must(t, os.Mkdir(base, 0o755))
	unpack(t, filepath.Join(base, "home"), w.home)
	for _, v := range p.environ(&workSession{}) {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			if program := lacking(w.needs, path); program != "" {
				t.Skip(program + " is not installed")
			}
		}
	}
	d := p.desk(t, base, w.files)
	d.level()
	for _, s := range w.steps {
		if long() || !s.long {
			d.do(s)
		}
	}
	d.close()
}

// runAlone does each step in a sandbox of its own, in a workspace of their own.
func (p place) runAlone(t *testing.T, w work) {
	t.Helper()
	d := &workSession{t: t, base: filepath.Join(p.dir, strings.NewReplacer("/", "-", " ", "_").Replace(t.Name()))}
	d.ws, d.home = filepath.Join(d.base, "ws"), filepath.Join(d.base, "home")
	must(t, os.MkdirAll(d.ws, 0o755))
	must(t, os.MkdirAll(d.home, 0o755))
	unpack(t, d.ws, w.files)
	unpack(t, d.home, w.home)
	p.give(t, d.base)
	for _, s := range w.steps {
		if s.finding != "" {
			t.Skipf("it does not work yet: %s: %s", s.finding, s.in)
		}
		out, err := p.command(d, "sandbox", "--workspace", d.ws, "--", "bash", "-c", s.in).CombinedOutput()
		if (err != nil) != s.fails {
			t.Fatalf("%s\n%v\n%s", s.in, err, out)
		}
		expect(t, s, string(out))
	}
}

// TestWork: what people do every day is done in the sandbox as well.
func TestWork(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	t.Run("all", func(t *testing.T) { // ends when all have ended, before the place goes
		for i, w := range slices.Concat(gitWork(), approvedWork(), sessionWork(), toolchainWork(), systemWork()) {
			users := w.users && os.Getuid() == 0
			if (long() || !users) && !(w.ordinary && os.Getuid() == 0) { // the session of an ordinary user shows as much
				t.Run(w.name, func(t *testing.T) { p.run(t, w) })
			}
			if w.alone && (long() || i%6 == 0) { // the ordinary form does some by themselves: the sandbox is that of a session
				t.Run(w.name+", by itself", func(t *testing.T) {
					if program := lacking(w.needs, os.Getenv("PATH")); program != "" {
						t.Skip(program + " is not installed")
					}
					t.Parallel()
					p.runAlone(t, w)
				})
			}
			if users {
				t.Run(w.name+", as an ordinary user", func(t *testing.T) {
					p := p
					p.uid = ordinary(t)
					p.run(t, w)
				})
			}
		}
	})
}

// ordinary returns the number of a user who is not root.
func ordinary(t testing.TB) int {
	t.Helper()
	u, err := user.Lookup("daemon")
	if err != nil {
		t.Skip("there is no user daemon")
	}
	uid, err := strconv.Atoi(u.Uid)
	must(t, err)
	return uid
}
