package proxy

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"toolhost/sandbox/egress"
)

// socksTo returns what a client sends to reach a host by name, after the greeting.
func socksTo(kind byte, address string, port uint16) string {
	b := []byte{5, 1, 0, kind}
	if kind == socksName {
		b = append(b, byte(len(address)))
	}
	b = append(b, address...)
	return string(binary.BigEndian.AppendUint16(b, port))
}

func socksLogin(password string) string {
	return "\x05\x02\x00\x02\x01\x02th" + string([]byte{byte(len(password))}) + password
}

func TestSOCKS(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":443", echo)
	w.raw("127.0.0.1:7", echo)
	ticket := w.admit("inv-1", "good.example", "a.wild.example", "inside.example", "127.0.0.1:7", "[::1]:7")
	ok := func(code string) string { return "\x05\x02\x01\x00\x05" + code + "\x00\x01\x00\x00\x00\x00\x00\x00" }
	login := socksLogin(ticket.token)
	for _, c := range []struct {
		name, send, want string
		reason           egress.Reason
		host             string
	}{
		{"name", login + socksTo(socksName, "good.example", 443), ok("\x00"), egress.Granted, "good.example"},
		{"other letters", login + socksTo(socksName, "GOOD.example.", 443), ok("\x00"), egress.Granted, "good.example"},
		{"named address", login + socksTo(socksIPv4, "\x7f\x00\x00\x01", 7), ok("\x00"), egress.Granted, "127.0.0.1"},
		{"address as a name", login + socksTo(socksName, "127.0.0.1", 7), ok("\x00"), egress.Granted, "127.0.0.1"},
		{"mapped address", login + socksTo(socksIPv6, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01", 7), ok("\x00"), egress.Granted, "127.0.0.1"},
		{"unreachable", login + socksTo(socksIPv6, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01", 7), ok("\x04"), egress.Unreachable, "::1"},

		{"not granted", login + socksTo(socksName, "evil.example", 443), ok("\x02"), egress.NoGrant, "evil.example"},
		{"other port", login + socksTo(socksName, "good.example", 22), ok("\x02"), egress.PortNotGranted, "good.example"},
		{"address", login + socksTo(socksIPv4, "\x5d\xb8\xd8\x22", 443), ok("\x02"), egress.NoGrant, goodAddr},
		{"private address", login + socksTo(socksName, "inside.example", 443), ok("\x02"), egress.AddressRefused, "inside.example"},
		{"NUL", login + socksTo(socksName, "good.example\x00.evil.example", 443), ok("\x02"), egress.BadHost, `"good.example\x00.evil.example"`},
		{"NUL at the end", login + socksTo(socksName, "good.example\x00", 443), ok("\x02"), egress.BadHost, `"good.example\x00"`},
		{"userinfo", login + socksTo(socksName, "x@good.example", 443), ok("\x02"), egress.BadHost, `"x@good.example"`},
		{"port in the name", login + socksTo(socksName, "good.example:443", 443), ok("\x02"), egress.BadHost, `"good.example:443"`},
		{"brackets", login + socksTo(socksName, "[::1]", 7), ok("\x02"), egress.BadHost, `"[::1]"`},
		{"hex", login + socksTo(socksName, "0x7f.1", 7), ok("\x02"), egress.BadHost, `"0x7f.1"`},
		{"empty name", login + socksTo(socksName, "", 443), ok("\x02"), egress.BadHost, `""`},
		{"port 0", login + socksTo(socksName, "good.example", 0), ok("\x02"), egress.BadHost, `"good.example"`},
		{"bind", login + "\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x07", ok("\x07"), BadRequest, ""},
		{"udp", login + "\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x07", ok("\x07"), BadRequest, ""},
		{"address type", login + "\x05\x01\x00\x02\x7f\x00\x00\x01\x00\x07", ok("\x08"), BadRequest, ""},
		{"reserved byte", login + "\x05\x01\x01\x01\x7f\x00\x00\x01\x00\x07", ok("\x02"), BadRequest, ""},
		{"no password", "\x05\x01\x00" + socksTo(socksName, "good.example", 443), "\x05\xff", BadRequest, ""},
		{"no methods", "\x05\x00", "\x05\xff", BadRequest, ""},
		{"wrong password", socksLogin("wrong") + socksTo(socksName, "good.example", 443), "\x05\x02\x01\x01", NoToken, ""},
		{"empty password", socksLogin("") + socksTo(socksName, "good.example", 443), "\x05\x02\x01\x01", NoToken, ""},
		{"cut short", login[:10], "\x05\x02", BadRequest, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.seen()
			conn := w.dial()
			io.WriteString(conn, c.send)
			conn.(*net.TCPConn).CloseWrite()
			got, _ := io.ReadAll(conn)
			if string(got) != c.want {
				t.Errorf("answer %q, want %q", got, c.want)
			}
			if e := w.awaitEvent(c.reason); e.Host != c.host || e.Protocol != SOCKS5 {
				t.Errorf("event %+v", e)
			}
		})
	}
}

func TestSOCKSCarries(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":443", echo)
	ticket := w.admit("inv-1", "good.example")
	conn := w.dial()
	payload := bytes.Repeat([]byte("0123456789"), 50_000)
	go func() {
		io.WriteString(conn, socksLogin(ticket.token)+socksTo(socksName, "good.example", 443))
		conn.Write(payload)
		conn.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(conn)
	if err != nil || !bytes.HasSuffix(got, payload) || len(got) != len(payload)+14 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
