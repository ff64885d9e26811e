package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"toolhost/cmd/toolhost/testdata/sessiontest"
)

// realSession is toolhost serve over pipes, for a person who answers in a real terminal.
type realSession struct {
	*wireClient
	ws string
	id string
}

// realPlace makes the directories of sessions.
func realPlace(t *testing.T) sessiontest.Place {
	t.Helper()
	place := sessiontest.NewPlace(t)
	for _, dir := range []string{"ws", "config/toolhost", "run"} {
		if err := os.MkdirAll(filepath.Join(string(place), dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	keepLevel(t, filepath.Join(string(place), "state"))
	return place
}

// startReal begins a session whose prompts expire after a while. tty is its terminal; nil: that of the test, if any.
func startReal(t *testing.T, place sessiontest.Place, expire string, tty *os.File, flags ...string) *realSession {
	t.Helper()
	ws := filepath.Join(string(place), "ws")
	settings := `{"approvals": {"wait": "always", "timeout": "` + expire + `"}}`
	if err := os.WriteFile(filepath.Join(string(place), "config", "toolhost", "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(toolhostProgram(t), append([]string{"serve", "--workspace", ws}, flags...)...)
	cmd.Env = append(os.Environ(), place.Environ()...)
	if tty != nil {
		cmd.ExtraFiles = []*os.File{tty}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	}
	s := &realSession{wireClient: newSpeaker(t, "the client"), ws: ws}
	p := s.process(cmd)
	t.Cleanup(func() { _ = p.End(soon) })
	var g greeting
	s.request("agenttool/hello", fields{"client": fields{"name": "real"}, "events": "none", "approvals": false}, &g)
	s.id = g.Session // others may run on the machine
	return s
}

// write calls write, and returns what its result will be: a status and what it says.
func (s *realSession) write(name string) func() (status, says string) {
	s.t.Helper()
	answered := s.Send("agenttool/invoke", fields{"id": name, "tool": "write", "input": fields{"path": name, "content": "x\n"}})
	return func() (string, string) {
		s.t.Helper()
		select {
		case m := <-answered.Answers:
			var reply struct {
				Result struct {
					Result struct {
						Status  string
						Content []struct{ Text string }
					}
				}
			}
			if err := json.Unmarshal(m.Line, &reply); err != nil {
				s.t.Fatal(err)
			}
			var says strings.Builder
			for _, block := range reply.Result.Result.Content {
				says.WriteString(block.Text)
			}
			return reply.Result.Result.Status, says.String()
		case <-time.After(patience):
			s.t.Fatalf("%s is not answered", name)
		}
		return "", ""
	}
}

// TestTmuxRealSession answers the prompts of a real session in a real terminal: once, for the session, with a reason, with another input,
// and one that nobody answers in time.
func TestTmuxRealSession(t *testing.T) {
	t.Parallel()
	server, place := openTmux(t), realPlace(t)
	s := startReal(t, place, "10m", nil)
	ended := func(result func() (string, string), status, says string) {
		t.Helper()
		if got, text := result(); got != status || !strings.Contains(text, says) {
			t.Errorf("%s: %s, want %s: %s", got, text, status, says)
		}
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(s.ws, name))
		return err == nil
	}

	first := s.write("one")
	w := openWindow(t, server, place, s.id, 80, 24)
	w.until("why:     it writes one")
	w.press("y")
	ended(first, "succeeded", "")

	second := s.write("two")
	w.until("why:     it writes two")
	w.press("s")
	w.until("Write(two)")
	w.press("Enter")
	ended(second, "succeeded", "")

	third := s.write("three")
	w.until("why:     it writes three")
	w.press("N")
	w.until("Why not?")
	w.press("n", "o", "Enter")
	ended(third, "rejected", "a person looked at the call and said no: no")

	fourth := s.write("four")
	w.until("why:     it writes four")
	w.press("e")
	w.until("Change the input")
	w.press("Escape")
	w.until("why:     it writes four")
	w.press("n")
	ended(fourth, "rejected", "")

	w.press("q", "q")
	w.exits()

	s = startReal(t, place, "3s", nil) // in which nobody has much time
	s.request("agenttool/invoke", fields{"id": "job", "tool": "shell", "input": fields{"command": "sleep 600", "run_in_background": true}}, nil)
	w = openWindow(t, server, place, s.id, 80, 24)
	w.until("1 session") // it is known by its first job
	ended(s.write("five"), "rejected", "nobody answered the prompt within 3s")
	w.showed("nobody answered")
	if !exists("one") || !exists("two") || exists("three") || exists("four") || exists("five") {
		t.Error("what was written is not what was allowed")
	}
	w.press("q", "q")
	w.exits()
}

// TestApproveOnTTY answers prompts at the terminal that toolhost was started from, while stdin and stdout belong to the client.
func TestApproveOnTTY(t *testing.T) {
	t.Parallel()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	s := startReal(t, realPlace(t), "10m", slave, "--approve-on-tty")
	slave.Close()
	result := s.write("one")
	shown := bufio.NewReader(master)
	for text := ""; !strings.Contains(text, "1 once"); {
		line, err := shown.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %s", err, text)
		}
		text += line
	}
	if _, err := master.WriteString("1 once\n"); err != nil {
		t.Fatal(err)
	}
	if status, says := result(); status != "succeeded" {
		t.Errorf("%s: %s", status, says)
	}
	go io.Copy(io.Discard, shown) // until the terminal is closed
}
