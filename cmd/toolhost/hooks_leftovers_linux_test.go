package main

import (
	"fmt"
	"testing"

	"toolhost/sandbox"
)

// TestHooksLeftovers: what a hook leaves in the background ends with the session, or, when the host was killed, when the next
// session starts its first command. A session that lives keeps its own.
func TestHooksLeftovers(t *testing.T) {
	t.Parallel()
	r := jobDesk(t)
	for _, killed := range []bool{true, false} {
		t.Run(fmt.Sprintf("killed %v", killed), func(t *testing.T) {
			t.Parallel()
			a, mark := r.jobArena(t, self, sandbox.None), newMark(t)
			leaves := asJSON("(setsid sleep " + mark + " </dev/null >/dev/null 2>&1 &)")
			a.write("home/.config/toolhost/settings.json",
				`{"hooks": {"pre_tool_use": [{"matcher": {"tool": "Read"}, "command": ["/bin/sh", "-c", `+leaves+`]}]}}`)
			h := a.jobHost()
			h.call("read", fields{"path": "file"})
			h.until("the hook's process sleeps", func() bool { return sleeping(mark) })
			other := a.jobHost()
			other.ran("true")
			if !sleeping(mark) {
				t.Error("another session has ended it")
			}
			other.close()
			if !sleeping(mark) {
				t.Error("the end of another session has ended it")
			}
			if !killed {
				h.close()
			} else {
				h.murder()
				a.jobHost().ran("true")
			}
			gone(t, "a hook's process", mark)
		})
	}
}
