package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/validate"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

func TestMain(m *testing.M) {
	testscript.Main(waiting{m}, map[string]func(){"toolhost": tapped, poorName: servePoor})
}

// waiting runs more tests at once than there are processors: most of them wait for processes.
type waiting struct{ *testing.M }

func (w waiting) Run() int {
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil { // the command line still overrides it
		panic(err)
	}
	if signal.Ignored(syscall.SIGHUP) { // by nohup: programs that the tests start shall not inherit it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	return runApart(func() int {
		defer removeShared()
		return w.M.Run()
	})
}

// sharedDirs are directories with what tests have in common.
var sharedDirs struct {
	sync.Mutex
	made []string
}

// sharedDir makes a directory that lives as long as the test run.
func sharedDir() (string, error) {
	dir, err := os.MkdirTemp("", "toolhost-tests-")
	sharedDirs.Lock()
	defer sharedDirs.Unlock()
	sharedDirs.made = append(sharedDirs.made, dir)
	return dir, err
}

func removeShared() {
	for _, dir := range sharedDirs.made {
		_ = os.RemoveAll(dir)
	}
}

// tapped is toolhost with a tap on its stdout: what serve writes goes to a file of the script as well.
func tapped() {
	if len(os.Args) == 2 && os.Args[1] == manyCommands {
		os.Exit(runManyCommands(os.Stdin, os.Stdout))
	}
	if len(os.Args) == 3 && os.Args[1] == findLevel {
		os.Exit(runFindLevel(os.Args[2]))
	}
	dir := os.Getenv("TOOLHOST_TEST_TAP")
	if dir == "" || len(os.Args) < 2 || os.Args[1] != "serve" {
		os.Exit(run())
	}
	tap, err := os.CreateTemp(dir, "stdout-*.jsonl")
	if err != nil {
		panic(err)
	}
	stdout := os.Stdout
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout = w
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(io.MultiWriter(tap, stdout), r)
	}()
	code := run()
	w.Close()
	<-copied
	os.Exit(code)
}

// TestScripts runs the end-to-end scripts. Every record that leaves the process or enters a log in any of them is
// checked against its published schema, and there are some of each kind. Each log that no script damaged explains all of its calls.
func TestScripts(t *testing.T) {
	conform.Held(t, "AT-020", "AT-021", "AT-022", "AT-023", "AT-024", "AT-025", "AT-026", "AT-027", "AT-028", "AT-029", "AT-031", "AT-032", "AT-033", "AT-034",
		"AT-404")
	var taps scriptRecords
	t.Cleanup(func() { taps.checkKinds(t) })
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		RequireExplicitExec: false,
		Setup: func(env *testscript.Env) error {
			tap := filepath.Join(env.WorkDir, ".tap")
			env.Setenv("TOOLHOST_TEST_TAP", tap)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			keepLevel(t, filepath.Join(env.WorkDir, ".state"))
			home := env.WorkDir + "-home" // not in the workspace
			env.Setenv("HOME", home)
			docs, err := filepath.Abs("../../docs")
			if err != nil {
				return err
			}
			env.Setenv("DOCS", docs)
			env.Defer(func() { _ = os.RemoveAll(home) })
			if err := os.Rename(filepath.Join(env.WorkDir, ".home"), home); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			env.Defer(func() { taps.check(t, filepath.Base(env.WorkDir), tap, filepath.Join(env.WorkDir, ".state")) })
			return errors.Join(os.MkdirAll(tap, 0o700), os.MkdirAll(home, 0o700))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"talk": talk, "lines": countLines, "bytes": writeBytes, "damage": damage,
		},
	})
}

// scriptRecords counts what the scripts have shown.
type scriptRecords struct {
	mu      sync.Mutex
	scripts int
	kinds   map[recordtest.Kind]int
	calls   int // that were rebuilt from their logs
}

// checkKinds checks that the scripts, if all of them ran, had records of each kind: else nothing is known of those. No tool of toolhost is
// deferred.
func (r *scriptRecords) checkKinds(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/script/*.txtar")
	if r.scripts != len(files) || t.Failed() {
		return
	}
	for _, kind := range recordtest.Kinds {
		if kind != recordtest.KindDeferredTool && r.kinds[kind] == 0 {
			t.Errorf("no script has a record of kind %s", kind)
		}
	}
	if r.calls < 150 {
		t.Errorf("%d calls were rebuilt from logs", r.calls)
	}
}

// count notes the kinds of the records in a line.
func (r *scriptRecords) count(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kinds == nil {
		r.kinds = map[recordtest.Kind]int{}
	}
	for _, kind := range recordtest.Seen(line) {
		r.kinds[kind]++
	}
}

// rebuild checks that a log explains each call, unless a script damaged it.
func (r *scriptRecords) rebuild(t *testing.T, name, log string) {
	report, _, err := persist.VerifySession(filepath.Dir(log))
	if err != nil || !report.OK() || report.HasNewer() || !report.Closed {
		return
	}
	account, err := logAccountOf(log)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, lack := range account.lacks() {
		t.Errorf("%s: the log does not have %s", name, lack)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls += len(account.all)
}

// check validates what a script's hosts wrote and logged.
func (r *scriptRecords) check(t *testing.T, name, tap, state string) {
	r.mu.Lock()
	r.scripts++
	r.mu.Unlock()
	logs, _ := filepath.Glob(filepath.Join(state, "toolhost", "sessions", "*", "log.jsonl"))
	outs, _ := filepath.Glob(filepath.Join(tap, "*.jsonl"))
	for _, log := range logs {
		r.rebuild(t, name, log)
	}
	for _, path := range append(outs, logs...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if !json.Valid(line) {
				continue // the end, and lines that a script damaged or a kill tore
			}
			r.count(line)
			for _, err := range recordtest.Message(line) {
				t.Errorf("%s: %s line %d: %v\n%s", name, filepath.Base(path), i+1, err, cut.Characters(string(line), 2000))
			}
			if err := checkStructured(line); err != nil {
				t.Errorf("%s: %s line %d: %v", name, filepath.Base(path), i+1, err)
			}
		}
	}
}

// checkStructured validates the structured content of a call's response against its tool's output schema.
func checkStructured(line []byte) error {
	var m struct {
		Result struct {
			Invocation agenttool.Invocation `json:"invocation"`
			Result     agenttool.Result     `json:"result"`
		} `json:"result"`
	}
	if json.Unmarshal(line, &m) != nil || m.Result.Result.StructuredContent == nil {
		return nil
	}
	schemas, err := outputSchemas()
	if err != nil {
		return err
	}
	tool := m.Result.Invocation.ToolID
	if schema := schemas[tool]; schema != nil {
		if err := schema.Check(m.Result.Result.StructuredContent); err != nil {
			return fmt.Errorf("structured content of %s: %w\n%s", tool, err, m.Result.Result.StructuredContent)
		}
	}
	return nil
}

// outputSchemas are those of all tools, by tool. They are compiled once a test run: every line of every host is checked.
var outputSchemas = sync.OnceValues(func() (map[agenttool.ToolID]*validate.Schema, error) {
	schemas := map[agenttool.ToolID]*validate.Schema{}
	for _, d := range builtin.Described() {
		schema, err := validate.Compile(d.Interface.OutputSchema)
		if err != nil {
			return nil, fmt.Errorf("output schema of %s: %w", d.Declaration.Name, err)
		}
		schemas[d.Declaration.ToolID] = schema
	}
	return schemas, nil
})

// talk runs a conversation with toolhost serve: talk FILE [serve's flags…]. In FILE
//
//	> LINE       sends a line
//	< REGEXP     the next line that comes must match
//	<~ REGEXP    a line that comes must match; those before it are passed over
//	$ COMMAND    runs a command of the script's machine in the workspace
//	.            closes stdin and waits for the end
//
// An empty line or one that begins with # is a remark. ${1} and so on in what is sent is the last match's group.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: talk FILE [flags of toolhost serve]")
	}
	cmd := exec.Command("toolhost", append([]string{"serve"}, args[1:]...)...)
	path, err := lookPath(ts, "toolhost")
	ts.Check(err)
	cmd.Path, cmd.Err = path, nil
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnv(ts)
	cmd.Stderr = ts.Stderr()
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	c := &conversation{ts: ts, in: in, lines: make(chan string, 4096), dir: cmd.Dir}
	go c.read(out)
	for i, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		c.step(fmt.Sprintf("%s:%d", args[0], i+1), line)
	}
	in.Close()
	for range c.lines {
	}
	if err := cmd.Wait(); (err != nil) != neg {
		ts.Fatalf("toolhost serve: %v", err)
	}
}

// conversation is one talk.
type conversation struct {
	ts     *testscript.TestScript
	in     io.WriteCloser
	lines  chan string
	dir    string
	groups []string
}

func (c *conversation) read(out io.Reader) {
	defer close(c.lines)
	s := bufio.NewScanner(out)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		c.lines <- s.Text()
	}
}

func (c *conversation) step(at, line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "", "#":
	case ">":
		for i, g := range c.groups {
			rest = strings.ReplaceAll(rest, fmt.Sprintf("${%d}", i), g)
		}
		if _, err := io.WriteString(c.in, rest+"\n"); err != nil {
			c.ts.Fatalf("%s: %v", at, err)
		}
	case "<", "<~":
		c.expect(at, regexp.MustCompile(rest), verb == "<~")
	case "$":
		cmd := exec.Command("bash", "-c", rest)
		cmd.Dir, cmd.Env = c.dir, scriptEnv(c.ts)
		if out, err := cmd.CombinedOutput(); err != nil {
			c.ts.Fatalf("%s: %v\n%s", at, err, out)
		}
	case ".":
		c.in.Close()
	default:
		c.ts.Fatalf("%s: no verb %q", at, verb)
	}
}

func (c *conversation) expect(at string, want *regexp.Regexp, skip bool) {
	limit := time.After(time.Minute)
	var seen []string
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.ts.Fatalf("%s: the output ended; want %s after\n%s", at, want, strings.Join(seen, "\n"))
			}
			if groups := want.FindStringSubmatch(line); groups != nil {
				c.groups = groups
				return
			}
			if seen = append(seen, cut.Characters(line, 1500)); !skip {
				c.ts.Fatalf("%s: got\n%s\nwant %s", at, line, want)
			}
		case <-limit:
			c.ts.Fatalf("%s: nothing that matches %s came; seen\n%s", at, want, strings.Join(seen, "\n"))
		}
	}
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path := filepath.Join(dir, name); isExecutable(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not in PATH", name)
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&0o111 != 0
}

func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "XDG_STATE_HOME", "TOOLHOST_TEST_TAP", "WORK", "TMPDIR", "GOCOVERDIR", "TESTSCRIPT_COMMAND"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// countLines checks how many lines stdout of the last command has: lines N.
func countLines(ts *testscript.TestScript, neg bool, args []string) {
	got := strings.Count(ts.ReadFile("stdout"), "\n")
	if (fmt.Sprint(got) == args[0]) == neg {
		ts.Fatalf("%d lines, want %s", got, args[0])
	}
}

// writeBytes writes a file from escapes that a script cannot hold: bytes FILE 'a\x00b'. A count repeats it.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	data := unescape(args[1])
	if len(args) > 2 {
		var n int
		_, err := fmt.Sscan(args[2], &n)
		ts.Check(err)
		data = bytes.Repeat(data, n)
	}
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	ts.Check(err)
	_, err = f.Write(data)
	ts.Check(errors.Join(err, f.Close()))
}

func unescape(s string) []byte {
	hex := regexp.MustCompile(`\\x([0-9a-fA-F]{2})|\\n|\\r`)
	return hex.ReplaceAllFunc([]byte(s), func(m []byte) []byte {
		switch string(m) {
		case `\n`:
			return []byte("\n")
		case `\r`:
			return []byte("\r")
		}
		var b byte
		_, _ = fmt.Sscanf(string(m[2:]), "%02x", &b)
		return []byte{b}
	})
}

// damage changes the log of the newest session: damage change|remove|swap LINE.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	logs, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "toolhost", "sessions", "*", "log.jsonl"))
	ts.Check(err)
	if len(logs) != 1 {
		ts.Fatalf("damage wants one session, there are %d", len(logs))
	}
	lines := strings.SplitAfter(ts.ReadFile(logs[0]), "\n")
	var n int
	_, err = fmt.Sscan(args[1], &n)
	ts.Check(err)
	switch i := n - 1; args[0] {
	case "change":
		lines[i] = strings.Replace(lines[i], `"event_id":"evt_0`, `"event_id":"evt_1`, 1)
	case "remove":
		lines = append(lines[:i:i], lines[i+1:]...)
	case "swap":
		lines[i], lines[i+1] = lines[i+1], lines[i]
	case "cut":
		lines = lines[:n]
		lines[n-1] = lines[n-1][:len(lines[n-1])/2]
	default:
		ts.Fatalf("damage %s?", args[0])
	}
	ts.Check(os.WriteFile(logs[0], []byte(strings.Join(lines, "")), 0o600))
}
