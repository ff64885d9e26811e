package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFeed: the feed is live while it is open, bounded, and asks nothing when it is closed.
func TestFeed(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.wait(5 * time.Second)
		if r.looks > 0 {
			t.Error("it asks although it is closed")
		}
		r.keys("f")
		r.misses("make slow")
		r.activity = `{"calls":[{"invocation_id":"i","tool_id":"toolhost.shell","subject":"make slow","status":"running","elapsed_ms":61000}]}`
		r.wait(2 * time.Second)
		r.sees("make slow, 1 min")
		r.ask("p1", "make deploy", "")
		r.wait(3 * time.Second)
		r.sees("#1 shell make deploy, for 3 s")
		r.activity = ""
		r.wait(2 * time.Second)
		r.misses("make slow")
		r.keys("y", "s", "enter")
		r.answered()
		if r.m.dialog != nil {
			t.Error("enter did not close it")
		}
		looks := r.looks
		r.wait(5 * time.Second)
		if r.looks > looks {
			t.Error("it asks although it was closed")
		}
	})
}

// TestFeedIsBounded: however much goes on, it is a few lines, the newest denials among them.
func TestFeedIsBounded(t *testing.T) {
	in(t, 40, 15, func(r *run) {
		var calls, denied []string
		for i := range 3000 {
			calls = append(calls, fmt.Sprintf(`{"invocation_id":"i%d","tool_id":"toolhost.read","subject":%q,"status":"running","elapsed_ms":1}`, i, strings.Repeat("x", 5000)))
			denied = append(denied, fmt.Sprintf(`{"at":"2000-01-01T00:00:00Z","tool":"write","subject":"file-%d","why":"no"}`, i))
		}
		r.activity = `{"calls":[` + strings.Join(calls, ",") + `],"denied":[` + strings.Join(denied, ",") + `]}`
		r.session("ses_1", "")
		r.keys("f")
		lines := r.m.dialog.(*feed).lines
		if len(lines) > 100 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if len(line.Text) > 400 {
				t.Errorf("a line of %d bytes", len(line.Text))
			}
		}
		r.keys("end")
		r.sees("file-2999")
	})
}
