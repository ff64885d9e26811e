package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool/cut"
)

// TestStoppedOverADeadline: a host that is stopped (SIGSTOP, a closed lid) while deadlines pass answers each call once when it goes
// on, as timed out, leaves nothing running, and serves further calls; its log is whole.
func TestStoppedOverADeadline(t *testing.T) {
	t.Parallel()
	c := openLines(t, "--allow", "Shell")
	command, mark := nap(t)
	another, anotherMark := nap(t)
	const deadline = 700 * time.Millisecond
	sent := time.Now()
	c.send(`{"jsonrpc":"2.0","id":"slow","method":"agenttool/invoke","params":{"id":"slow","tool":"shell","timeout_ms":%d,"input":{"command":%q}}}`,
		deadline.Milliseconds(), command)
	c.send(`{"jsonrpc":"2.0","id":"behind","method":"agenttool/invoke","params":{"id":"behind","tool":"shell","timeout_ms":%d,"input":{"command":%q}}}`,
		deadline.Milliseconds(), another)
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.send(`{"jsonrpc":"2.0","id":"meanwhile","method":"agenttool/invoke","params":{"id":"meanwhile","tool":"read","input":{"path":"small"}}}`)
	<-time.After(time.Until(sent.Add(2 * deadline)))
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{`"slow"`, `"behind"`} {
		if m := c.nativeAnswer(id); !strings.Contains(m.text, `"error_code":"deadline_exceeded"`) {
			t.Errorf("%s: %s", id, cut.Characters(m.text, 600))
		}
	}
	if m := c.nativeAnswer(`"meanwhile"`); !strings.Contains(m.text, "needle") {
		t.Errorf("a call that came while it was stopped: %s", cut.Characters(m.text, 600))
	}
	wakes(t, mark)
	wakes(t, anotherMark)
	c.send(`{"jsonrpc":"2.0","id":"after","method":"agenttool/invoke","params":{"id":"after","tool":"shell","input":{"command":"ls"}}}`)
	if m := c.nativeAnswer(`"after"`); !strings.Contains(m.text, "small") {
		t.Errorf("afterwards: %s", cut.Characters(m.text, 600))
	}
	for _, id := range []string{`"slow"`, `"behind"`, `"meanwhile"`, `"after"`} {
		if n := c.count(func(m spokenLine) bool { return string(m.ID) == id }); n != 1 {
			t.Errorf("%s has %d answers", id, n)
		}
	}
	_ = c.in.Close()
	<-c.Ended()
	c.logsAre("closed")
}
