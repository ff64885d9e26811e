package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"toolhost/sandbox/egress"
)

// clientHello returns the first bytes that a TLS client sends.
func clientHello(t testing.TB, config *tls.Config) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		tls.Client(near, config).HandshakeContext(context.Background())
		near.Close()
	}()
	buf := make([]byte, 16<<10)
	far.SetDeadline(time.Now().Add(5 * time.Second))
	n, err := far.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return buf[:n]
}

// inRecords cuts one TLS record into records of size bytes.
func inRecords(record []byte, size int) []byte {
	var out []byte
	for body := record[5:]; len(body) > 0; {
		n := min(size, len(body))
		out = append(out, record[0], record[1], record[2], byte(n>>8), byte(n))
		out = append(out, body[:n]...)
		body = body[n:]
	}
	return out
}

func TestReadGreeting(t *testing.T) {
	named := clientHello(t, &tls.Config{ServerName: "good.example"})
	for _, c := range []struct {
		name    string
		bytes   []byte
		want    string
		wantErr bool
	}{
		{"name", named, "good.example", false},
		{"no name", clientHello(t, &tls.Config{InsecureSkipVerify: true}), "", false},
		{"old version", clientHello(t, &tls.Config{ServerName: "good.example", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}), "good.example", false},
		{"early data behind it", append(bytes.Clone(named), "more"...), "good.example", false},
		{"in records of one byte", inRecords(named, 1), "good.example", false},
		{"in records of 50 bytes", inRecords(named, 50), "good.example", false},
		{"cut short", named[:100], "", true},
		{"no greeting", []byte("\x16\x03\x01\x00\x04\x02\x00\x00\x00"), "", true},
		{"garbage", append([]byte("\x16\x03\x01\x01\x00"), bytes.Repeat([]byte{0xff}, 256)...), "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := bytes.NewReader(c.bytes)
			name, read, err := readGreeting(in)
			if (err != nil) != c.wantErr || name != c.want {
				t.Fatalf("%q, %v; want %q, an error: %v", name, err, c.want, c.wantErr)
			}
			if err != nil {
				return
			}
			if all, _ := io.ReadAll(io.MultiReader(read, in)); !bytes.Equal(all, c.bytes) {
				t.Errorf("%d of %d bytes are passed on", len(all), len(c.bytes))
			}
		})
	}
}

// Domain fronting: the tunnel is for one name, TLS inside it for another.
func TestServerName(t *testing.T) {
	for _, c := range []struct {
		name, tunnel, serverName string
		reason                   egress.Reason // of the refusal
	}{
		{"same", "good.example:443", "good.example", ""},
		{"other letters", "good.example:443", "GOOD.example", ""},
		{"none", "good.example:443", "", ""},
		{"other", "good.example:443", "evil.example", NameMismatch},
		{"other that is granted", "good.example:443", "other.example", NameMismatch},
		{"below", "good.example:443", "a.good.example", NameMismatch},
		{"other port", "good.example:8443", "evil.example", NameMismatch},
		{"address", goodAddr + ":443", "evil.example", NameMismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, Limits{})
			got := make(chan int, 1)
			serve := func(conn net.Conn) {
				b, _ := io.ReadAll(io.LimitReader(conn, 200))
				got <- len(b)
			}
			w.raw(goodAddr+":443", serve)
			w.raw(goodAddr+":8443", serve)
			ticket := w.admit("inv-1", "good.example", "other.example", "good.example:8443", goodAddr)
			conn, in := w.tunnel(ticket, c.tunnel)
			conn.Write(clientHello(t, &tls.Config{ServerName: c.serverName, InsecureSkipVerify: true}))
			if c.reason == "" {
				if n := <-got; n == 0 {
					t.Error("the server got nothing")
				}
				return
			}
			if alert, _ := io.ReadAll(in); !bytes.Equal(alert, unrecognizedName) {
				t.Errorf("the client got %q", alert)
			}
			conn.Close()
			if n := <-got; n != 0 {
				t.Errorf("the server got %d bytes", n)
			}
			e := w.awaitEvent(c.reason)
			if e.Outcome != egress.Denied || e.Ticket != "inv-1" || !strings.Contains(e.Message, strings.ToLower(c.serverName)) {
				t.Errorf("event %+v", e)
			}
		})
	}
}

// The alert is one that TLS clients understand.
func TestServerNameAlert(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":443", func(c net.Conn) { io.Copy(io.Discard, c) })
	conn, _ := w.tunnel(w.admit("inv-1", "good.example"), "good.example:443")
	err := tls.Client(conn, &tls.Config{ServerName: "evil.example"}).Handshake()
	var alert tls.AlertError
	if opError := new(net.OpError); !errors.As(err, &alert) && !(errors.As(err, &opError) && strings.Contains(err.Error(), "unrecognized name")) {
		t.Errorf("%v", err)
	}
}
