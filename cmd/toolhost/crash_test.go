package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/history/integrity"
	"toolhost/cmd/toolhost/internal/session"
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
	edits := count(100, 1000)
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

// deadSession kills a host in the middle of a call, and returns its workspace, the state directory and the log.
func deadSession(t *testing.T) (dir, state, log string) {
	t.Helper()
	dir, state = t.TempDir(), t.TempDir()
	s := startServing(t, dir, state, nil, "--sandbox", "none", "--allow", "Shell")
	s.send(invocation(1, "shell", `{"command":"touch made; sleep 61"}`))
	eventually(t, "the call runs", func() bool {
		logs, _ := filepath.Glob(filepath.Join(state, "toolhost", "sessions", "*", "log.jsonl"))
		for _, log = range logs {
			if holds(log, `"event_type":"tool.invocation.started"`) {
				return true
			}
		}
		return false
	})
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	return dir, state, log
}

// holds reports whether a file has a text.
func holds(path, text string) bool {
	b, _ := os.ReadFile(path)
	return strings.Contains(string(b), text)
}

// endsDead starts another host with a state directory until it has ended a dead session.
func endsDead(t *testing.T, dir, state, log string) {
	t.Helper()
	next := startServing(t, dir, state, nil)
	eventually(t, "the call has an end", func() bool { return holds(log, `"written_afterwards":true,"phase":"emit_terminal","result"`) })
	_ = next.in.Close()
	_ = next.cmd.Wait()
}

// TestNextHostEndsTheCalls kills a host in the middle of a call. The next one ends that call, once, and the log stays whole.
func TestNextHostEndsTheCalls(t *testing.T) {
	t.Parallel()
	dir, state, dead := deadSession(t)
	for range 2 {
		endsDead(t, dir, state, dead)
	}
	b, err := os.ReadFile(dead)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{`"tool.result.created"`: 1, `"status":"synthetic_error"`: 1, `"abort_reason":"runtime shutdown"`: 2, `"recoverability":"inspect_first"`: 1, `"tool.x.session.closed"`: 1} {
		if n := strings.Count(string(b), text); n != want {
			t.Errorf("%s stands %d times, want %d", text, n, want)
		}
	}
	if r, err := persist.VerifyFile(dead); err != nil || !r.OK() || !r.Closed {
		t.Errorf("%v, %v", r, err)
	}
}

// TestSignedBeforeItsEnd signs the log of a dead session. The signature still holds when the next host has written the ends, and no longer when
// a signed record is another one.
func TestSignedBeforeItsEnd(t *testing.T) {
	t.Parallel()
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	dir, state, dead := deadSession(t)
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, _, err := integrity.Sign(dead, key); err != nil {
		t.Fatal(err)
	}
	endsDead(t, dir, state, dead)
	verify := func() (integrity.Report, string) {
		var said strings.Builder
		v, err := integrity.Verify(dead, key+".pub")
		if err := errors.Join(err, v.Print(&said)); err != nil {
			t.Fatal(err)
		}
		return v, said.String()
	}
	v, said := verify()
	if want := fmt.Sprintf("signature ok: it covers %d of %d records", v.Signed, v.Records); !v.OK() || !v.Closed || v.Signed == 0 || v.Signed >= v.Records || !strings.Contains(said, want) {
		t.Errorf("%+v\n%s", v, said)
	}
	b, err := os.ReadFile(dead)
	if err == nil {
		err = os.WriteFile(dead, bytes.Replace(b, []byte("touch made"), []byte("touch MADE"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if v, said := verify(); v.OK() && v.SignatureProblem == "" {
		t.Errorf("a record was changed: %s", said)
	}
}

// TestSessionOpened: the first record says under which mode, sandbox, roots, flags, settings, rules and hooks the session began, for which
// user and client.
func TestSessionOpened(t *testing.T) {
	t.Parallel()
	dir, base := t.TempDir(), t.TempDir()
	settings := `{
  "permissions": {"allow": ["Write(src/**)"]},
  "hooks": {"pre_tool_use": [{"command": ["/bin/true"]}]}
}`
	file := filepath.Join(base, "settings.json")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServing(t, dir, base, nil, "--settings", file, "--deny", "Shell(git push *)", "--mode", "plan", "--sandbox", "none")
	s.send(`{"jsonrpc":"2.0","id":0,"method":"agenttool/hello","params":{"client":{"name":"agent","version":"1"}}}`)
	s.next()
	s.call(1, "glob", `{"pattern":"*"}`)
	text, err := os.ReadFile(s.log())
	if err != nil {
		t.Fatal(err)
	}
	if want := `"actor_ref":"agent/1"`; !strings.Contains(string(text), want) {
		t.Errorf("the record of a call does not have %s", want)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	sum := sha256.Sum256([]byte(settings))
	user := string(agenttool.AppendString(nil, session.UserName()))
	for _, want := range []string{
		`"event_type":"tool.x.session.opened"`, `"mode":"plan"`, `"sandbox":{"detail":`, `"level":"none"`, `"roots":["` + dir + `"]`, `"user":` + user, `"client":"agent/1"`,
		`"--mode=plan"`, `"--settings=` + file + `"`, `{"source":"flag_settings","file":"` + file + `","digest":"sha256:` + hex.EncodeToString(sum[:]) + `","trusted":true}`,
		`{"behavior":"deny","rule":"Shell(git push *)","source":"cli_arg"}`, `{"behavior":"allow","rule":"Write(src/**)","source":"flag_settings","where":"` + file + `:2"}`,
		`{"event":"pre_tool_use","command":["/bin/true"],"source":"flag_settings","where":"` + file + `:3"}`, `"version":`, `"pid":`, `"workspace":"` + dir + `"`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is not in\n%s", want, line)
		}
	}
}

// TestRecordedFlags: the log names every flag of the commands that write one.
func TestRecordedFlags(t *testing.T) {
	for _, cmd := range []*cobra.Command{newServe(), newCall()} {
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)`).FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			if !slices.Contains(recordedFlags, m[1]) {
				t.Errorf("--%s of %s is not recorded", m[1], cmd.Name())
			}
		}
	}
}
