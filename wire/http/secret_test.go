package http

import (
	"io"
	nethttp "net/http"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestSecretPaths: what lies below a mount whose paths are secrets needs no token, passes all other checks, and may send little.
func TestSecretPaths(t *testing.T) {
	echo := nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { _, _ = io.Copy(w, r.Body) })
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = map[string]nethttp.Handler{"/answer": echo, "/other": echo}
		o.Knows = func(path string) bool { return len(path) > len("/answer/") && strings.HasPrefix(path, "/answer/") }
	})
	addr := w.s.Addr().String()
	for _, c := range []struct {
		name, path, host, more string
		body                   int
		want                   int
	}{
		{"below", "/answer/x", addr, "", 5, 200},
		{"the mount itself", "/answer", addr, "", 5, 401},
		{"the mount with a slash", "/answer/", addr, "", 5, 401},
		{"a neighbour", "/answers/x", addr, "", 5, 401},
		{"up again", "/answer/../other", addr, "", 5, 401},
		{"another mount", "/other/x", addr, "", 5, 401},
		{"a foreign host", "/answer/x", "evil.example", "", 5, 403},
		{"a web page", "/answer/x", addr, "Origin: https://evil.example\r\n", 5, 403},
		{"as much as may be", "/answer/x", addr, "", maxAnswer, 200},
		{"too much", "/answer/x", addr, "", maxAnswer + 1, 413},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := "POST " + c.path + " HTTP/1.1\r\nHost: " + c.host + "\r\n" + c.more + "Connection: close\r\nContent-Length: "
			r, body := w.raw(head + strconv.Itoa(c.body) + "\r\n\r\n" + strings.Repeat("a", c.body))
			if r.StatusCode != c.want || c.want == 200 && len(body) != c.body {
				t.Errorf("status %d, want %d: %.200s", r.StatusCode, c.want, body)
			}
		})
	}
}

// TestUnknownSecret: a path that holds no secret now is refused before its body is read, and one that does counts as its client:
// those who guess hold nothing of those who know.
func TestUnknownSecret(t *testing.T) {
	echo := nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { _, _ = io.Copy(w, r.Body) })
	w := newWorld(t, func(o *Options, _ *limits) {
		o.Mounts = map[string]nethttp.Handler{"/answer": echo}
		o.Knows = func(path string) bool { return path == "/answer/known" }
	})
	head := "HTTP/1.1\r\nHost: " + w.s.Addr().String() + "\r\nConnection: close\r\nContent-Length: 5\r\n\r\n"
	if r, _ := w.raw("POST /answer/guessed " + head + "h"); r.StatusCode != 401 {
		t.Errorf("a guess: %d", r.StatusCode)
	}
	if r, body := w.raw("POST /answer/known " + head + "hello"); r.StatusCode != 200 || body != "hello" {
		t.Errorf("a secret: %d %s", r.StatusCode, body)
	}
}

// TestKeyFile: a key may be kept as systems keep it, for a group too, but not for everybody.
func TestKeyFile(t *testing.T) {
	cert, key, _ := makeCertificate(t)
	for mode, want := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o604: false} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := certificate(cert, key); (err == nil) != want {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
}
