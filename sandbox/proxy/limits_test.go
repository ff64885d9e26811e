package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener and a dialer in memory, for tests in which time is not real.
type pipes struct{ *handoff }

func (p pipes) Accept() (net.Conn, error) {
	c, err := p.handoff.Accept()
	if err != nil {
		return nil, err
	}
	return c.(*conn).Conn, nil
}

func (p pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.give(&conn{groupConn: &groupConn{Conn: far}})
	return near
}

// inBubble runs f with a proxy whose every destination is server.
func inBubble(t *testing.T, l Limits, server func(net.Conn), f func(w *world, p pipes)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, names: map[string][]string{"good.example.": {goodAddr}}, addr: newHandoff().Addr()}
		o := w.options()
		o.Limits = l
		o.Egress.Dialer = pipeDialer(server)
		w.proxy = New(o)
		p := pipes{newHandoff()}
		served := make(chan error)
		go func() { served <- w.proxy.Serve(p) }()
		f(w, p)
		w.proxy.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

type pipeDialer func(net.Conn)

func (d pipeDialer) DialContext(_ context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		d(far)
	}()
	return near, nil
}

func TestSlowHead(t *testing.T) {
	for _, c := range []struct {
		name, drip, want string
		reason           string
	}{
		{"silent", "", "", ""},
		{"http", "GET http://good.example/ HTTP/1.1", "HTTP/1.1 408 ", string(TooSlow)},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Limits{}, echo, func(w *world, p pipes) {
				start, conn := time.Now(), p.dial()
				go func() {
					for _, b := range []byte(c.drip) {
						conn.Write([]byte{b})
						time.Sleep(time.Second)
					}
				}()
				answer, _ := io.ReadAll(conn)
				if took := time.Since(start); took < 10*time.Second || took > 11*time.Second {
					t.Errorf("ended after %s, want 10 s", took)
				}
				if !strings.HasPrefix(string(answer), c.want) {
					t.Errorf("answer %q", answer)
				}
				if e := w.seen(); (len(e) == 1) != (c.reason != "") || len(e) == 1 && string(e[0].Reason) != c.reason {
					t.Errorf("events %+v", e)
				}
				conn.Close()
				time.Sleep(time.Minute)
			})
		})
	}
}

// A greeting that never ends is not waited for.
func TestSlowGreeting(t *testing.T) {
	inBubble(t, Limits{}, func(c net.Conn) { io.Copy(io.Discard, c) }, func(w *world, p pipes) {
		conn := p.dial()
		go fmt.Fprintf(conn, "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example\r\n%s\r\n\x16\x03\x01\x02\x00",
			credentialsOf(w.admit("inv-1", "good.example").URL(w.addr)))
		start := time.Now()
		answer, _ := io.ReadAll(conn)
		if took := time.Since(start); took < 10*time.Second || took > 11*time.Second || !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
			t.Errorf("ended after %s with %q", took, answer)
		}
		if e := w.seen(); len(e) != 2 || e[1].Reason != BadGreeting {
			t.Errorf("events %+v", e)
		}
	})
}

func TestIdle(t *testing.T) {
	inBubble(t, Limits{}, echo, func(w *world, p pipes) {
		conn := p.dial()
		in := bufio.NewReader(conn)
		go fmt.Fprintf(conn, "CONNECT good.example:80 HTTP/1.1\r\nHost: good.example\r\n%s\r\n",
			credentialsOf(w.admit("inv-1", "good.example").URL(w.addr)))
		if res, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"}); err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		for range 5 {
			time.Sleep(9 * time.Minute)
			conn.Write([]byte("x"))
			if b, err := in.ReadByte(); b != 'x' || err != nil {
				t.Fatalf("an hour of little: %v", err)
			}
		}
		start := time.Now()
		if _, err := in.ReadByte(); err == nil || time.Since(start) != 10*time.Minute {
			t.Errorf("idle for %s: %v", time.Since(start), err)
		}
	})
}

func TestConnectionLimit(t *testing.T) {
	w := newWorld(t, Limits{Connections: 3})
	w.raw(goodAddr+":7", echo)
	ticket := w.admit("inv-1", "good.example:7")
	var open []net.Conn
	for range 3 {
		conn, _ := w.tunnel(ticket, "good.example:7")
		open = append(open, conn)
	}
	request := "CONNECT good.example:7 HTTP/1.1\r\nHost: good.example:7\r\nAUTH\r\n\r\n"
	for range 3 {
		if answer := w.ask(ticket, request); !strings.HasPrefix(answer, "HTTP/1.1 503 ") || !strings.Contains(answer, "3 connections") {
			t.Errorf("answer %q", answer)
		}
	}
	if e := w.awaitEvent(TooMany); e.Ticket != "inv-1" || e.Host != "good.example" {
		t.Errorf("event %+v", e)
	}
	var silent []net.Conn
	for range 3 * turnedAway {
		silent = append(silent, w.dial())
	}
	if n := w.proxy.open.Load(); n > 3+turnedAway+1 {
		t.Errorf("%d connections are held", n)
	}
	for _, c := range append(silent, open...) {
		c.Close()
	}
	for deadline := time.Now().Add(hang); w.proxy.open.Load() > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	w.tunnel(ticket, "good.example:7")
}

// After Close nothing is left: no goroutine, no socket, whatever was going on.
func TestCloseLeavesNothing(t *testing.T) {
	w := newWorld(t, Limits{})
	release := make(chan struct{})
	w.raw(goodAddr+":7", echo)
	w.site(goodAddr+":80", func(rw http.ResponseWriter, r *http.Request) {
		http.NewResponseController(rw).Flush()
		<-release
	})
	fetch(t, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, w.site("warm", hello).URL)
	if answer := w.ask(w.admit("first"), "CONNECT good.example:7 HTTP/1.1\r\nHost: good.example:7\r\nAUTH\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 403 ") {
		t.Fatal(answer)
	} // and Serve has started all that it starts
	settle(t, "connections", func() int { return int(w.proxy.open.Load()) }, 0)
	goroutines, sockets := runtime.NumGoroutine(), openSockets(t)
	ticket := w.admit("inv-1", "good.example", "good.example:7")
	var conns []net.Conn
	for i := range 60 {
		conns = append(conns, stuck(w, ticket, i%4))
	}
	closed := make(chan error)
	go func() { closed <- w.proxy.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(hang):
		t.Fatal("Close does not return")
	}
	if n := w.proxy.open.Load(); n != 0 {
		t.Errorf("%d connections are counted", n)
	}
	for _, c := range conns {
		c.Close()
	}
	close(release)
	settle(t, "goroutines", runtime.NumGoroutine, goroutines-2) // Serve's and the one it starts are gone too
	settle(t, "sockets", func() int { return openSockets(t) }, max(0, sockets-1))
	if late := w.admit("late"); w.proxy.ticketOf(user, late.token) != nil {
		t.Error("a closed proxy admits")
	}
	if err := w.proxy.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// stuck returns a connection that has come to one of four places and goes no further.
func stuck(w *world, ticket *Ticket, place int) net.Conn {
	c := w.dial()
	auth := credentialsOf(ticket.URL(w.addr))
	said := []string{
		"",
		"GET http://good",
		"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n" + auth + "\r\n",
		"CONNECT good.example:7 HTTP/1.1\r\nHost: good.example\r\n" + auth + "\r\n\x16\x03",
	}
	io.WriteString(c, said[place])
	if place >= 2 { // an answer shows that it is there
		c.Read(make([]byte, 1))
	}
	return c
}

func settle(t *testing.T, what string, count func() int, want int) {
	t.Helper()
	for deadline := time.Now().Add(hang); count() > want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d %s are left over\n%s", count()-want, what, buf[:runtime.Stack(buf, true)])
		}
	}
}

// openSockets counts on Linux only. Not all descriptors are counted, for the echo server of the test keeps pipes.
func openSockets(t *testing.T) int {
	t.Helper()
	const dir = "/proc/self/fd/"
	entries, _ := os.ReadDir(dir)
	n := 0
	for _, e := range entries {
		if to, _ := os.Readlink(dir + e.Name()); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

func TestServeEnds(t *testing.T) {
	p := New(Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- p.Serve(l) }()
	l.Close()
	if err := <-ended; err == nil {
		t.Error("Serve hides that its listener failed")
	}
	p.Close()
	l, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Serve(l); err != nil {
		t.Errorf("Serve of a closed proxy: %v", err)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("the listener of a closed proxy is open")
	}
}
