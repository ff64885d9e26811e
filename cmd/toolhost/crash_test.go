package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/persist"
)

// serving is a toolhost process that a test talks to.
type serving struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	state string

	stdout io.Closer
}

// startServing starts the test binary as toolhost serve; prefix is a command that starts it, such as unshare.
func startServing(t testing.TB, workspace, state string, prefix []string, flags ...string) *serving {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "toolhost") // testscript runs the command that the binary is called as
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	argv := append(append(prefix, link, "serve", "--workspace", workspace), flags...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill() // it has ended unless the test failed
		_ = cmd.Wait()
	})
	s := &serving{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out), state: state, stdout: out}
	s.out.Buffer(nil, 32<<20)
	return s
}

// outcome is what tests look at in an answer.
type outcome struct {
	ID     any `json:"id"`
	Result struct {
		Invocation struct {
			InvocationID string `json:"invocation_id"`
		} `json:"invocation"`
		Result struct {
			Status  string `json:"status"`
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			Error struct {
				Class   string `json:"error_class"`
				Code    string `json:"error_code"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"result"`
	} `json:"result"`
}

func (s *serving) send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// next returns the next answer, or false at the end.
func (s *serving) next() (outcome, bool) {
	var o outcome
	if !s.out.Scan() {
		return o, false
	}
	if err := json.Unmarshal(s.out.Bytes(), &o); err != nil {
		s.t.Errorf("not a message: %s", s.out.Bytes())
	}
	return o, true
}

// call sends one call and returns its answer.
func (s *serving) call(id int, tool, input string) outcome {
	s.t.Helper()
	s.send(invocation(id, tool, input))
	o, ok := s.next()
	if !ok {
		s.t.Fatalf("call %d: the output ended", id)
	}
	return o
}

// log returns the log of the one session below state.
func (s *serving) log() string {
	s.t.Helper()
	logs, err := filepath.Glob(filepath.Join(s.state, "toolhost", "sessions", "*", "log.jsonl"))
	if err != nil || len(logs) != 1 {
		s.t.Fatalf("logs %v, %v", logs, err)
	}
	return logs[0]
}

// TestKilledHost: a host that is killed in the middle of 1,000 calls leaves a log that is whole up to its last line,
// and holds everything that was told.
func TestKilledHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		t.Run(fmt.Sprintf("round %d", round), func(t *testing.T) {
			s := startServing(t, dir, t.TempDir(), nil, "--allow", "Write(out*)")
			go func() {
				for n := range 1000 {
					line := invocation(n, "read", `{"path":"f"}`)
					if n%3 == 0 {
						line = invocation(n, "write", fmt.Sprintf(`{"path":"out%d-%d","content":"x"}`, round, n))
					}
					if _, err := io.WriteString(s.in, line+"\n"); err != nil {
						return // it was killed
					}
				}
			}()
			told := map[string]bool{}
			for len(told) < 100+round*150 {
				o, ok := s.next()
				if !ok {
					t.Fatal("the output ended before the kill")
				}
				told[o.Result.Invocation.InvocationID] = true
			}
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for o, ok := s.nextWhole(); ok; o, ok = s.nextWhole() { // what was on its way was told, too
				told[o.Result.Invocation.InvocationID] = true
			}
			_ = s.cmd.Wait()
			checkKilledLog(t, s.log(), told)
		})
	}
}

// nextWhole is next without a torn last line.
func (s *serving) nextWhole() (outcome, bool) {
	var o outcome
	ok := s.out.Scan() && json.Unmarshal(s.out.Bytes(), &o) == nil
	return o, ok
}

func checkKilledLog(t *testing.T, path string, told map[string]bool) {
	t.Helper()
	report, err := persist.VerifyFile(path)
	if err != nil || !report.OK() || report.Closed || report.Last == 0 {
		t.Fatalf("report %+v, %v", report, err)
	}
	if !strings.Contains(report.String(), fmt.Sprintf("open at seq %d", report.Last)) {
		t.Errorf("the report says %q", report)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records := int64(0)
	for entry, err := range persist.Read(f) {
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Type string `json:"event_type"`
			Inv  string `json:"invocation_id"`
		}
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			t.Fatal(err)
		}
		if records++; e.Type == "tool.result.created" {
			delete(told, e.Inv)
		}
	}
	if len(told) > 0 || records != report.Last {
		t.Errorf("%d results were told and are not in the log of %d records", len(told), records)
	}
}

// TestFullDisk: when the log cannot be written, reads work, writes are refused with what to free, nothing that was
// told is missing from the log, and when there is room again all works again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	mount := []string{"unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=3m tmpfs "$XDG_STATE_HOME" && exec "$0" "$@"`}
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt").CombinedOutput(); err != nil {
		t.Skipf("no private mount namespace to fill a disk in: %v: %s", err, out)
	}
	dir, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("content\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServing(t, dir, state, mount, "--allow", "Write(**)", "--allow", "Shell")
	inside := filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", state) // the disk, as the host sees it
	if o := s.call(1, "write", `{"path":"before","content":"x"}`); o.Result.Result.Status != "succeeded" {
		t.Fatalf("before the disk is full: %+v", o)
	}
	fill, err := os.Create(filepath.Join(inside, "fill"))
	if err != nil {
		t.Skipf("cannot see the disk of the host: %v", err)
	}
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	fill.Close()

	n, refused := 2, outcome{}
	for ; n < 5000 && refused.Result.Result.Status != "failed"; n++ { // until the room that was set aside is used up
		refused = s.call(n, "write", fmt.Sprintf(`{"path":"w%d","content":"x"}`, n))
	}
	e := refused.Result.Result.Error
	if e.Class != "dependency_unavailable" || !strings.Contains(e.Message, "free") || !strings.Contains(e.Message, state) {
		t.Errorf("a write on a full disk: %+v", e)
	}
	if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("w%d", n-1))); err == nil {
		t.Error("the refused write was done")
	}
	for range 20 {
		n++
		if o := s.call(n, "read", `{"path":"f"}`); o.Result.Result.Status != "succeeded" || !strings.Contains(o.Result.Result.Content[0].Text, "content") {
			t.Fatalf("a read on a full disk: %+v", o)
		}
	}
	if err := os.Remove(filepath.Join(inside, "fill")); err != nil {
		t.Fatal(err)
	}
	if o := s.call(n+1, "write", `{"path":"after","content":"x"}`); o.Result.Result.Status != "succeeded" {
		t.Errorf("after room was made: %+v", o)
	}
	s.state = inside
	report, err := persist.VerifyFile(s.log())
	if err != nil || !report.OK() {
		t.Errorf("log: %v, %v", report, err)
	}
}

// TestTwoHosts: two hosts on one workspace, 1,000 edits each to one file: no lost update, no torn file.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	edits := 1000
	if testing.Short() {
		edits = 100
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("a=0;\nmiddle\nb=0;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		s := startServing(t, dir, t.TempDir(), nil, "--allow", "Edit(f)")
		wg.Go(func() {
			for n := range edits {
				o := s.call(n, "edit", fmt.Sprintf(`{"path":"f","old_string":"%s=%d;","new_string":"%s=%d;"}`, name, n, name, n+1))
				if o.Result.Result.Status != "succeeded" {
					t.Errorf("%s, edit %d: %+v", name, n, o.Result.Result)
					return
				}
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	if want := fmt.Sprintf("a=%d;\nmiddle\nb=%d;\n", edits, edits); err != nil || string(got) != want {
		t.Errorf("the file is %q, %v; want %q", got, err, want)
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".toolhost*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestBrokenStdout: a client that goes away ends the calls at once.
func TestBrokenStdout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startServing(t, dir, t.TempDir(), nil, "--allow", "Shell", "--drain", "10m")
	s.send(invocation(1, "shell", `{"command":"sleep 1000"}`))
	s.send(`{"jsonrpc":"2.0","id":2,"method":"agenttool/status"}`)
	s.next()
	s.stdout.Close()
	start := time.Now()
	for range 100 { // until one of the answers meets the closed pipe
		if _, err := io.WriteString(s.in, `{"jsonrpc":"2.0","id":3,"method":"agenttool/status"}`+"\n"); err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := s.cmd.Wait(); err == nil || s.cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("exit: %v, want code %d", err, exitFailed)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %s to end", took)
	}
}
