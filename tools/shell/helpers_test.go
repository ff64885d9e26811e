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
	"toolhost/tools/workspace"
)

// bench is a workspace with a shell tool.
type bench struct {
	dir   string
	scope agenttool.Scope
	w     *workspace.Workspace
	tool  agenttool.Tool
}

func newBench(t testing.TB, o Options) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	if o.Environ == nil {
		o.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LANG=C.UTF-8"}
	}
	scope := agenttool.Scope{Dir: dir, Roots: []string{dir}, Home: dir}
	return &bench{dir: dir, scope: scope, w: w, tool: New(w, o)}
}

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
	structured
	err error
}

func (b *bench) run(t testing.TB, in map[string]any) result {
	t.Helper()
	return b.runWith(t.Context(), t, &fakeReporter{}, in)
}

func (b *bench) runWith(ctx context.Context, t testing.TB, r agenttool.Reporter, in map[string]any) result {
	t.Helper()
	out, err := b.bind(t, in).Run(ctx, r)
	s, _ := out.Structured.(structured)
	return result{Output: out, structured: s, err: err}
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
	for deadline := time.Now().Add(2 * time.Second); ; {
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
