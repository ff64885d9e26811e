package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/cmd/toolhost/testdata/sessiontest"
)

// toolhostProgram is this build under the name by which it is toolhost.
func toolhostProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "toolhost")
	if os.Link(self, path) != nil {
		if err := exec.Command("cp", self, path).Run(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// pipedApprove is a running toolhost approve --plain.
type pipedApprove struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	said struct {
		sync.Mutex
		bytes.Buffer
	}
	done chan struct{} // closed when it has said all
}

// startPlain runs toolhost approve with pipes, for the session whose id ends so.
func startPlain(t *testing.T, session string, args ...string) *pipedApprove {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	p := &pipedApprove{t: t, done: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, toolhostProgram(t), append([]string{"approve", "--session", session}, args...)...)
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			p.said.Lock()
			p.said.Write(append(lines.Bytes(), '\n'))
			p.said.Unlock()
		}
	}()
	t.Cleanup(func() {
		cancel()
		p.exits()
	})
	return p
}

func (p *pipedApprove) text() string {
	p.said.Lock()
	defer p.said.Unlock()
	return p.said.String()
}

// until waits until it has said something.
func (p *pipedApprove) until(want string) {
	p.t.Helper()
	for begun := time.Now(); !strings.Contains(p.text(), want); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			p.t.Fatalf("it did not say %q, but\n%s", want, p.text())
		}
	}
}

func (p *pipedApprove) types(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Error(err)
	}
}

// exits waits for its end and returns its exit code.
func (p *pipedApprove) exits() int {
	<-p.done
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func TestApprovePlain(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "plain")
	f.Ask("p1", "make", nil)
	p := startPlain(t, "plain")
	p.until("answers: 1 once, 1 session, 1 project, 1 user, 1 deny REASON, 1 edit JSON")
	p.types("1 session")
	p.until("prompt 1 has ended: you allowed it, and its rules for the session")
	f.Ask("p2", "rm x", nil)
	p.until("prompt 2: shell asks")
	p.types("2 deny it is production")
	p.until("prompt 2 has ended: you denied it: it is production")
	f.Ask("p3", "rm y", nil)
	p.until("prompt 3: shell asks")
	p.types(`3 edit {"command":"rm -i y"}`)
	p.until("prompt 3 has ended: you allowed it once, as you changed it")
	if !strings.Contains(p.text(), "-rm y\n+rm -i y\n") {
		t.Errorf("the change was not shown:\n%s", p.text())
	}
	f.Ask("p4", "rm z", nil)
	p.until("prompt 4: shell asks")
	f.End("p4", "deny", "it expired")
	p.until("prompt 4 has ended: denied: it expired")
	p.types("quit")
	if code := p.exits(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	want := []string{
		`{"accept_updates":[0],"behavior":"allow","decision_id":"p1","scope":"session"}`,
		`{"behavior":"deny","decision_id":"p2","feedback":"it is production"}`,
		`{"behavior":"allow","decision_id":"p3","scope":"once","updated_input":{"command":"rm -i y"}}`,
	}
	if got := strings.Join(f.Answers(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("answers\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if strings.Contains(p.text(), "\x1b") {
		t.Errorf("it moves the cursor: %q", p.text())
	}
}

// TestApproveInput checks what is typed before anything is there, and what the end of the input means.
func TestApproveInput(t *testing.T) {
	for _, c := range []struct {
		name, command, input string
		args                 []string
		code                 int
		says                 string
		answers              int
	}{
		{"an answer at once", "make", "1 once\n", nil, exitOK, "you allowed it once", 1},
		{"once", "make", "1 deny no\n1 once\n", []string{"--once"}, exitOK, "you denied it: no", 1},
		{"once, without an answer", "make", "list\n", []string{"--once"}, exitFailed, "nothing was answered", 0},
		{"once, nothing waits", "", "1 once\n", []string{"--once"}, exitFailed, "there is no prompt 1", 0},
		{"nothing waits", "", "", []string{"--no-wait"}, exitNotAllowed, "nothing is pending", 0},
		{"something waits", "make", "1 once\n", []string{"--no-wait", "--once"}, exitOK, "you allowed it once", 1},
		{"the end of the input", "make", "", nil, exitOK, "prompt 1: shell asks", 0},
		{"a last line without its end", "make", "1 once", nil, exitOK, "you allowed it once", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sessiontest.Start(t, sessiontest.Runtime(t), "input")
			if c.command != "" {
				f.Ask("p1", c.command, nil)
			}
			p := startPlain(t, "input", c.args...)
			if _, err := io.WriteString(p.in, c.input); err != nil {
				t.Error(err)
			}
			p.in.Close()
			if code := p.exits(); code != c.code || !strings.Contains(p.text(), c.says) {
				t.Errorf("exit code %d, want %d; it said\n%s", code, c.code, p.text())
			}
			if got := f.Answers(); len(got) != c.answers {
				t.Errorf("answers %s", got)
			}
		})
	}
}

func TestApproveJSON(t *testing.T) {
	f := sessiontest.Start(t, sessiontest.Runtime(t), "json")
	f.Change(func() { f.Approvals["code"] = "AB-CD" })
	f.Ask("p1", "make \u202e", nil)
	p := startPlain(t, "json", "--json")
	p.until(`"event":"prompt"`)
	p.types("1 code xx")
	p.until("the code was not taken: wrong code")
	p.types("1 code AB-CD")
	p.until(`"may_answer":true`)
	p.types("1 once")
	p.until(`"event":"ended"`)
	p.in.Close()
	if code := p.exits(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	for line := range strings.Lines(p.text()) {
		if !json.Valid([]byte(line)) || strings.ContainsFunc(line, func(r rune) bool { return r >= 0x7f }) {
			t.Errorf("not JSON in ASCII: %s", line)
		}
	}
}
