package output

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// unread is a stream whose writers wait until somebody reads.
type unread struct {
	read chan struct{} // closed when somebody does
	text strings.Builder
}

func (u *unread) Write(b []byte) (int, error) {
	<-u.read
	return u.text.Write(b)
}

// TestUnreadMessagesKeepNobodyWaiting: writers go on while nobody reads, what has no room is counted at its place, and the rest comes in order.
func TestUnreadMessagesKeepNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &unread{read: make(chan struct{})}
		m := newMessages(u)
		const lines, size = 1000, 100
		start := time.Now()
		for i := range lines {
			fmt.Fprintf(m, "%0*d\n", size-1, i)
		}
		if took := time.Since(start); took > turnPatience {
			t.Errorf("%d messages took their writer %s", lines, took)
		}
		m.flush(time.Second)
		if took := time.Since(start); took > turnPatience+time.Second {
			t.Errorf("the end waited %s", took)
		}
		close(u.read)
		synctest.Wait()
		fmt.Fprintln(m, "later")
		m.flush(time.Second)

		got := strings.Split(strings.TrimSuffix(u.text.String(), "\n"), "\n")
		kept := maxUnread / size
		for i, line := range got[:kept] {
			if line != fmt.Sprintf("%0*d", size-1, i) {
				t.Fatalf("line %d is %q", i, line)
			}
		}
		want := []string{fmt.Sprintf("toolhost: %d messages left out here, since nobody read stderr", lines-kept), "later"}
		if rest := got[kept:]; len(rest) != 2 || rest[0] != want[0] || rest[1] != want[1] {
			t.Errorf("behind the kept lines: %q, want %q", rest, want)
		}
	})
}

// TestReadMessagesStandFirst: a message that can be written is written before its writer goes on.
func TestReadMessagesStandFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var both strings.Builder
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(&both, r)
		}()
		m := newMessages(w)
		fmt.Fprintln(m, "first")
		m.mu.Lock()
		waits := len(m.waiting)
		m.mu.Unlock()
		if waits != 0 {
			t.Error("the message waits although it was read")
		}
		w.Close()
		<-read
		if both.String() != "first\n" {
			t.Errorf("read %q", both.String())
		}
	})
}

// TestLateMessagesAreWritten: at the end of a process that a busy machine keeps from writing, the messages are written as long as their reader
// takes them.
func TestLateMessagesAreWritten(t *testing.T) {
	for _, takes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			u := &unread{read: make(chan struct{})}
			m := newMessages(u)
			m.takes = func() bool { return takes }
			fmt.Fprintln(m, "first")
			time.AfterFunc(3*time.Second, func() { close(u.read) })
			start := time.Now()
			m.flush(time.Second)
			if took := time.Since(start).Round(time.Second); takes != (u.text.String() == "first\n") || took > 3*time.Second || !takes && took != time.Second {
				t.Errorf("takes %v: written is %q after %s", takes, u.text.String(), took)
			}
			<-u.read
		})
	}
}
