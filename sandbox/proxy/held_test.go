package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"toolhost/sandbox/egress"
)

// TestHeld: 1,000 connections are held at once, of ten commands, while a user is asked about each. Each gets the answer to its own
// question; a yes to one host opens no other one, no other port and no other command.
func TestHeld(t *testing.T) {
	const commands, each = 10, 100
	w := newWorld(t, Limits{Connections: 4 * commands * each})
	var waiting atomic.Int64
	all := make(chan struct{})
	w.held = func(ctx context.Context, ticket string, v egress.Verdict) bool {
		if waiting.Add(1) == commands*each {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
			return false
		}
		return strings.HasPrefix(v.Host, "yes") && v.SuggestedGrant == "host:"+v.Host
	}
	tickets := make([]*Ticket, commands)
	for i := range tickets {
		tickets[i] = w.admit(fmt.Sprint(i), "good.example")
	}
	connect := func(ticket *Ticket, host string, port int) string {
		answer := w.ask(ticket, fmt.Sprintf("CONNECT %s:%d HTTP/1.1\r\nHost: %[1]s:%[2]d\r\nAUTH\r\n\r\n", host, port))
		res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
		if err != nil {
			return err.Error()
		}
		return res.Status
	}
	var done sync.WaitGroup
	for i := range commands * each {
		word, want := "no", "403 Forbidden"
		if i%2 == 0 {
			word, want = "yes", "502 Bad Gateway" // it may, and has no address
		}
		done.Go(func() {
			if got := connect(tickets[i%commands], fmt.Sprintf("%s%d.example", word, i), 443); got != want {
				t.Errorf("connection %d: %s, and not %s", i, got, want)
			}
		})
	}
	done.Wait()
	w.held = nil
	for _, c := range []struct {
		ticket int
		host   string
		port   int
		want   string
	}{
		{0, "yes0.example", 443, "502 Bad Gateway"}, // a grant stays
		{0, "yes0.example", 22, "403 Forbidden"},
		{0, "x.yes0.example", 443, "403 Forbidden"},
		{1, "yes0.example", 443, "403 Forbidden"},
		{1, "no1.example", 443, "403 Forbidden"},
	} {
		if got := connect(tickets[c.ticket], c.host, c.port); got != c.want {
			t.Errorf("command %d, %s:%d: %s, and not %s", c.ticket, c.host, c.port, got, c.want)
		}
	}
}

// TestHeldEnds: a connection is held no longer than its command lives, and the question ends with it.
func TestHeldEnds(t *testing.T) {
	w := newWorld(t, Limits{})
	asked, over := make(chan struct{}), make(chan struct{})
	w.held = func(ctx context.Context, _ string, _ egress.Verdict) bool {
		close(asked)
		<-ctx.Done()
		close(over)
		return true // too late
	}
	ticket := w.admit("1")
	answer := make(chan string)
	go func() {
		answer <- w.ask(ticket, "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nAUTH\r\n\r\n")
	}()
	<-asked
	ticket.Close()
	<-over
	if got := <-answer; strings.HasPrefix(got, "HTTP/1.1 200") {
		t.Errorf("it was let through: %s", got)
	}
	if len(w.dials()) > 0 {
		t.Errorf("dialled %q", w.dials())
	}
}

// No question is asked about metadata, loopback, malformed hosts or a wrong token.
func TestNotAsked(t *testing.T) {
	w := newWorld(t, Limits{})
	w.held = func(_ context.Context, _ string, v egress.Verdict) bool {
		t.Errorf("asked about %+v", v)
		return true
	}
	ticket := w.admit("1", "cloud.example")
	for _, host := range []string{"169.254.169.254:80", "localhost:80", "0x7f.1:80", "cloud.example:80", "100.100.100.200:80"} {
		w.ask(ticket, "CONNECT "+host+" HTTP/1.1\r\nHost: "+host+"\r\nAUTH\r\n\r\n")
	}
	w.ask(ticket, "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n")
}
