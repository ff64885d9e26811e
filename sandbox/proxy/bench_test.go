package proxy

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"
)

// BenchmarkRequest compares one request on a new connection, direct and by each way through the proxy.
func BenchmarkRequest(b *testing.B) {
	w := newWorld(b, Limits{})
	s := w.site(goodAddr+":80", hello)
	ticket := w.admit("inv-1", "good.example")
	through := w.client(ticket, nil)
	through.Transport.(*http.Transport).DisableKeepAlives = true
	direct := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	b.Run("direct", func(b *testing.B) { medians(b, func() { fetch(b, direct, s.URL) }) })
	b.Run("http", func(b *testing.B) { medians(b, func() { fetch(b, through, "http://good.example/") }) })
	b.Run("connect", func(b *testing.B) {
		medians(b, func() {
			c, in := w.tunnel(ticket, "good.example:80")
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: good.example\r\nConnection: close\r\n\r\n")
			io.Copy(io.Discard, in)
			c.Close()
		})
	})
	b.Run("denied", func(b *testing.B) {
		medians(b, func() { fetch(b, through, "http://evil.example/") })
	})
}

func medians(b *testing.B, f func()) {
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		f()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-median")
}

// BenchmarkTunnel is the throughput of an open tunnel.
func BenchmarkTunnel(b *testing.B) {
	w := newWorld(b, Limits{})
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	w.raw(goodAddr+":80", func(c net.Conn) {
		for {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	})
	c, in := w.tunnel(w.admit("inv-1", "good.example"), "good.example:80")
	c.SetDeadline(time.Time{})
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		if _, err := io.CopyN(io.Discard, in, int64(len(chunk))); err != nil {
			b.Fatal(err)
		}
	}
}
