package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"toolhost/sandbox/egress"
)

// TestTraffic: the bytes of a ticket's tunnels and requests are counted by host, also while they last, and after the ticket is closed.
func TestTraffic(t *testing.T) {
	w := newWorld(t, Limits{})
	var head int
	w.raw(goodAddr+":80", func(c net.Conn) { // it counts what it gets, and answers with 1000 bytes
		b := make([]byte, 8<<10)
		for !strings.Contains(string(b[:head]), "\r\n\r\nbody") {
			n, err := c.Read(b[head:])
			if err != nil {
				return
			}
			head += n
		}
		const answer = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
		io.WriteString(c, answer+strings.Repeat("x", 900))
	})
	w.raw(otherAddr+":443", func(c net.Conn) { io.Copy(c, c) })
	ticket := w.admit("inv-1", "good.example", "other.example")
	res, err := w.client(ticket, nil).Post("http://good.example/", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	c, in := w.tunnel(ticket, "other.example:443")
	io.WriteString(c, strings.Repeat("y", 300))
	if _, err := io.ReadFull(in, make([]byte, 300)); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := fetch(t, w.client(ticket, nil), "http://refused.example/"); status != http.StatusForbidden {
		t.Errorf("status %d", status)
	}
	want := []Host{
		{"good.example", 80, true, int64(head), int64(len("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n") + 900)},
		{"other.example", 443, true, 300, 300}, {"refused.example", 80, false, 0, 0},
	}
	if got, more := ticket.Traffic().Hosts(); fmt.Sprint(got) != fmt.Sprint(want) || more != nil {
		t.Errorf("got %v %v, want %v", got, more, want)
	}
	ticket.Close()
	if got, _ := ticket.Traffic().Hosts(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("afterwards %v, want %v", got, want)
	}
}

// TestTrafficBound: refused names give way to a host that is reached, and attempts without a place are counted.
func TestTrafficBound(t *testing.T) {
	traffic := &Traffic{}
	at := func(i int, o egress.Outcome) *use {
		return traffic.note(fmt.Sprint("h", i), egress.Verdict{Outcome: o, Port: 443})
	}
	for i := range 10_000 {
		at(i, egress.Denied)
	}
	for i := range maxHosts + 5 {
		at(20_000+i, egress.Allowed).sent.Add(7)
	}
	hosts, more := traffic.Hosts()
	if len(hosts) != maxHosts || more == nil || more.Attempts != 10_000+5 || more.Sent != 5*7 {
		t.Errorf("%d hosts, and %+v", len(hosts), more)
	}
	for _, h := range hosts {
		if !h.Allowed || h.Sent != 7 {
			t.Errorf("%+v", h)
		}
	}
}
