package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
	"toolhost/tools/job"
	"toolhost/tools/workspace"
)

// bench is a workspace with a shell tool.
type bench struct {
	dir   string
	scope agenttool.Scope
	w     *workspace.Workspace
	tool  agenttool.Tool
	all   []agenttool.Tool
	jobs  *job.Jobs
}

func newBench(t testing.TB, o Options) *bench { return newBenchOf(t, o, job.Options{}) }

// newBenchOf is a bench whose jobs run as the person does.
func newBenchOf(t testing.TB, o Options, jobs job.Options) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return benchIn(t, dir, o, jobs)
}

func newBenchIn(t testing.TB, dir string, o Options) *bench {
	t.Helper()
	return benchIn(t, dir, o, job.Options{})
}

func benchIn(t testing.TB, dir string, o Options, jobs job.Options) *bench {
	t.Helper()
	w, err := workspace.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	if o.Environ == nil {
		o.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}
	}
	scope := agenttool.Scope{Dir: dir, Roots: []string{dir}, Home: dir}
	if jobs.Session, err = sandbox.Open(sandbox.Options{Level: sandbox.None}); err != nil {
		t.Fatal(err)
	}
	jobs.Owner = "ses_test"
	o.Jobs = job.New(jobs)
	t.Cleanup(func() {
		o.Jobs.Close()
		if err := jobs.Session.Close(); err != nil {
			t.Error(err)
		}
	})
	all := New(w, o)
	return &bench{dir: dir, scope: scope, w: w, tool: all[0], all: all, jobs: o.Jobs}
}

// use runs one of the tools for jobs.
func (b *bench) use(t testing.TB, tool int, in map[string]any) (reading, agenttool.Output, error) {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.all[tool].Bind(b.scope, raw)
	if err != nil {
		return reading{}, agenttool.Output{}, err
	}
	if r, ok := c.(agenttool.Refiner); ok {
		r.Refine(context.Background())
	}
	out, err := c.Run(t.Context(), &fakeReporter{})
	r, ok := out.Structured.(*reading)
	if !ok {
		r = &reading{}
	}
	return *r, out, err
}

// The tools for jobs, in the order of New.
const (
	outputTool = iota + 1
	inputTool
	killTool
)

// bind binds and locates an input, as the host does.
func (b *bench) bind(t testing.TB, in map[string]any) agenttool.Call {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.tool.Bind(b.scope, raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.w.Locate(c.Facts().Dir); err != nil {
		t.Fatal(err)
	}
	return c
}

// result is what one run gave.
type result struct {
	agenttool.Output
	structuredOutput
	err error
}

func (b *bench) run(t testing.TB, in map[string]any) result {
	t.Helper()
	return b.runWith(t.Context(), t, &fakeReporter{}, in)
}

func (b *bench) runWith(ctx context.Context, t testing.TB, r agenttool.Reporter, in map[string]any) result {
	t.Helper()
	out, err := b.bind(t, in).Run(ctx, r)
	s, _ := out.Structured.(structuredOutput)
	return result{Output: out, structuredOutput: s, err: err}
}

func cmd(line string) map[string]any { return map[string]any{"command": line} }

// exit is the exit code, or -1 for null.
func (r result) exit() int {
	if r.ExitCode == nil {
		return -1
	}
	return *r.ExitCode
}

// says is all the text of the result.
func (r result) says() string {
	var parts []string
	for _, c := range r.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

// want fails the test unless err is of the class and code.
func want(t testing.TB, err error, class agenttool.ErrorClass, code string) *agenttool.Error {
	t.Helper()
	var e *agenttool.Error
	if !errors.As(err, &e) || e.Class != class || e.Code != code {
		t.Fatalf("error = %v, want %s %s", err, class, code)
	}
	return e
}

// fakeReporter keeps what it is told. sink, if set, takes the place of its payloads.
type fakeReporter struct {
	mu       sync.Mutex
	steps    []agenttool.Progress
	payloads map[string]*bytes.Buffer
	sink     func(name string) (agenttool.Payload, error)
	onStep   func(agenttool.Progress)
}

func (r *fakeReporter) Progress(p agenttool.Progress) {
	r.mu.Lock()
	r.steps = append(r.steps, p)
	r.mu.Unlock()
	if r.onStep != nil {
		r.onStep(p)
	}
}

func (r *fakeReporter) Invocation() agenttool.InvocationID { return "inv_test" }

func (r *fakeReporter) Payload(name, _ string) (agenttool.Payload, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sink != nil {
		return r.sink(name)
	}
	if r.payloads == nil {
		r.payloads = map[string]*bytes.Buffer{}
	}
	if r.payloads[name] != nil {
		return nil, errors.New("payload opened twice: " + name)
	}
	r.payloads[name] = &bytes.Buffer{}
	return fakePayload{Buffer: r.payloads[name], name: name}, nil
}

type fakePayload struct {
	*bytes.Buffer
	name string
}

func (p fakePayload) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(p.Bytes()).ReadAt(b, off)
}

func (p fakePayload) Close() (agenttool.Ref, error) {
	return agenttool.Ref{ID: p.name, URI: "toolhost://results/" + p.name, SizeBytes: int64(p.Len())}, nil
}

// readPID waits for a file in the workspace that a command writes its process number to.
func (b *bench) readPID(t testing.TB, name string) int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone fails the test if a process is still there. What init has yet to reap is gone.
func gone(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		if !living(pid) {
			return
		}
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // started by this test
			t.Fatalf("process %d outlived its command", pid)
		}
		time.Sleep(time.Millisecond) // nothing tells when somebody else's child has died
	}
}

func living(pid int) bool {
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
	}
	_, err := os.Stat("/proc/self")
	return err != nil && syscall.Kill(pid, 0) == nil
}

// discarding is a reporter whose payloads keep nothing.
type discarding struct{ fakeReporter }

func (*discarding) Payload(name, _ string) (agenttool.Payload, error) {
	return discardedPayload{fakePayload{&bytes.Buffer{}, name}}, nil
}

type discardedPayload struct{ fakePayload }

func (discardedPayload) Write(p []byte) (int, error) { return len(p), nil }
