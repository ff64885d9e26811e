package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"toolhost/sandbox"
	"toolhost/sandbox/enter"
)

// TestHooksLeftovers: what a hook leaves in the background ends with its session, however that ends, and with no other. Where its
// supervisor was killed as well, the next session ends it when it starts its first command.
func TestHooksLeftovers(t *testing.T) {
	t.Parallel()
	r := jobTools(t)
	const daemon = " setsid sleep MARK </dev/null >/dev/null 2>&1 &)"
	for _, c := range []struct {
		name, leaves string
		end          func(t *testing.T, h *jobHost, a *escapeAttempt, mark string)
	}{
		{"end of input", "(" + daemon, func(_ *testing.T, h *jobHost, _ *escapeAttempt, _ string) { h.close() }},
		{"killed host", "(" + daemon, func(_ *testing.T, h *jobHost, _ *escapeAttempt, _ string) { h.murder() }},
		{"killed host, no environment", "(env -i PATH=/usr/bin:/bin" + daemon, func(_ *testing.T, h *jobHost, _ *escapeAttempt, _ string) { h.murder() }},
		{"killed supervisor and host", "(" + daemon, func(t *testing.T, h *jobHost, a *escapeAttempt, mark string) {
			killSupervisor(t, mark)
			h.murder()
			a.jobHost().ran("true")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, mark := r.jobArena(t, self, sandbox.None), newMark(t)
			leaves := asJSON(strings.ReplaceAll(c.leaves, "MARK", mark))
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
			c.end(t, h, a, mark)
			gone(t, "a hook's process", mark)
		})
	}
}

// killSupervisor kills the parent of a hook's process that sleeps in the background, if that is a helper of ours: an orphan's
// parent is not.
func killSupervisor(t *testing.T, mark string) {
	t.Helper()
	parent, _, ok := parentOf(findProcess("sleep\x00" + mark + "\x00"))
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", parent))
	if !ok || err != nil || strings.TrimRight(string(line), "\x00") != enter.HelperName {
		t.Fatalf("the parent of a hook's process is %d %q, want a supervisor", parent, line)
	}
	if err := syscall.Kill(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
