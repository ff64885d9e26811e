package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

func TestConnect(t *testing.T) {
	w := newWorld(t, Limits{})
	w.raw(goodAddr+":22", func(c net.Conn) {
		io.WriteString(c, "SSH-2.0-test\r\n")
		b, _ := io.ReadAll(c)
		io.WriteString(c, strings.ToUpper(string(b)))
	})
	url := w.admit("inv-1", "good.example:22").URL(w.addr)
	for _, c := range []struct {
		name, proxy, host string
		want              string
		class             agenttool.ErrorClass
		message           string
	}{
		{"through", url, "good.example", "SSH-2.0-test\r\nHELLO", "", ""},
		{"denied", url, "evil.example", "", agenttool.PolicyBlocked, "permitted by the grant host:evil.example:22"},
		{"no token", "http://" + w.addr.String(), "good.example", "", agenttool.PolicyBlocked, "user name and password"},
		{"no proxy", "", "good.example", "", agenttool.SetupRequired, "https_proxy"},
		{"proxy of another kind", "socks5h://th:secret@127.0.0.1:1", "good.example", "", agenttool.SetupRequired, "https_proxy"},
		{"no answer", "http://th:secret@127.0.0.1:1", "good.example", "", agenttool.DependencyUnavailable, "cannot be reached"},
		{"splitting", url, "good.example:22 HTTP/1.1\r\nX: ", "", agenttool.InvalidArguments, "no host"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			err := Connect(t.Context(), ConnectOptions{c.proxy, c.host, 22, strings.NewReader("hello"), &out})
			if out.String() != c.want {
				t.Errorf("out %q, want %q", out.String(), c.want)
			}
			if c.class == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %s with %q", err, c.class, c.message)
			}
		})
	}
}

func TestConnectEndsWithContext(t *testing.T) {
	w := newWorld(t, Limits{})
	began := make(chan struct{})
	w.raw(goodAddr+":22", func(c net.Conn) { close(began); io.Copy(io.Discard, c) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	stdin, hold := io.Pipe()
	defer hold.Close()
	err := Connect(ctx, ConnectOptions{w.admit("inv-1", "good.example:22").URL(w.addr), "good.example", 22, stdin, io.Discard})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	const url = "http://th:x@127.0.0.1:3128"
	for _, c := range []struct{ name, grants, noProxy string }{
		{"usual", "github.com", "localhost,127.0.0.1,::1"},
		{"the machine's loopback", "127.0.0.1:5432", "localhost,::1"},
		{"the machine's loopback in IPv6", "[::1]:5432 127.0.0.1:1", "localhost"},
		{"any", "*", "localhost,127.0.0.1,::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := Environ(url, parseGrants(t, strings.Fields(c.grants)...))
			for _, want := range []string{
				"http_proxy=" + url, "HTTP_PROXY=" + url, "https_proxy=" + url, "HTTPS_PROXY=" + url,
				"all_proxy=" + url, "ALL_PROXY=" + url, "no_proxy=" + c.noProxy, "NO_PROXY=" + c.noProxy, "NODE_USE_ENV_PROXY=1",
			} {
				if !slices.Contains(env, want) {
					t.Errorf("%s is missing in %q", want, env)
				}
			}
		})
	}
}

// Two shells and ssh read the value, one after the other.
func TestGitSSHCommand(t *testing.T) {
	for _, exe := range []string{"/usr/bin/toolhost", "/opt/my tools/tool'host", "/opt/100%h/$(id)/`x`"} {
		t.Run(exe, func(t *testing.T) {
			out, err := exec.Command("sh", "-c", "set -- "+GitSSHCommand(exe)+`; printf '%s\n' "$#" "$2" "$3"`).Output()
			if err != nil {
				t.Skipf("no sh: %v", err)
			}
			lines := strings.Split(string(out), "\n")
			command, ok := strings.CutPrefix(lines[2], "ProxyCommand=")
			if lines[0] != "3" || lines[1] != "-o" || !ok {
				t.Fatalf("words %q", lines)
			}
			command = strings.NewReplacer("%%", "%", "%h", "good.example", "%p", "22").Replace(command) // as ssh does
			out, err = exec.Command("sh", "-c", "printf '%s\\n' "+command).Output()
			if want := exe + "\n__connect\ngood.example\n22\n"; err != nil || string(out) != want {
				t.Errorf("%q, %v, want %q", out, err, want)
			}
		})
	}
}
