package proxy

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox/egress"
)

// Connect connects stdin and stdout to host and port through the HTTP proxy at proxyURL: the ProxyCommand of ssh.
//
// It returns when the far side has said its last, or ctx ends. The end of stdin is passed on. A read of stdin that is
// in progress may outlive it, for the program is to exit.
//
// Errors: setup_required when proxyURL is no http URL, policy_blocked with the proxy's explanation when it refuses,
// dependency_unavailable when it or the host cannot be reached.
func Connect(ctx context.Context, o ConnectOptions) error {
	conn, err := dialProxy(ctx, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	in, err := requestTunnel(conn, o)
	if err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	go func() {
		if _, err := io.Copy(conn, o.Stdin); err == nil {
			conn.(*net.TCPConn).CloseWrite()
		}
	}()
	if _, err = io.Copy(o.Stdout, in); err != nil {
		return cmp.Or(ctx.Err(), err)
	}
	return nil
}

// ConnectOptions say what [Connect] connects.
type ConnectOptions struct {
	Proxy  string // the proxy's URL, with its credentials
	Host   string
	Port   int
	Stdin  io.Reader
	Stdout io.Writer
}

// patience is how long the proxy may take to answer, its own time for resolving and dialling included, and that of a user who is asked.
const patience = 5 * time.Minute

func dialProxy(ctx context.Context, o ConnectOptions) (net.Conn, error) {
	u, err := url.Parse(o.Proxy)
	if err != nil || u.Scheme != "http" || u.Port() == "" {
		// The URL is not quoted: it holds a password.
		return nil, agenttool.Failure(agenttool.SetupRequired, "no_proxy_url",
			"https_proxy holds no proxy URL of toolhost: this program is meant for commands inside its sandbox")
	}
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, agenttool.Failure(agenttool.DependencyUnavailable, "proxy_unreachable",
			fmt.Sprintf("toolhost's proxy cannot be reached: %v", err)).Because(err)
	}
	return conn, nil
}

// requestTunnel asks for the tunnel and returns its output.
func requestTunnel(conn net.Conn, o ConnectOptions) (io.Reader, error) {
	target := egress.JoinAuthority(o.Host, o.Port)
	if strings.ContainsFunc(target, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "bad_host", fmt.Sprintf("%q is no host", o.Host))
	}
	conn.SetDeadline(time.Now().Add(patience))
	defer conn.SetDeadline(time.Time{})
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", target, target, credentialsOf(o.Proxy))
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, agenttool.Failure(agenttool.DependencyUnavailable, "proxy_unreachable",
			fmt.Sprintf("toolhost's proxy did not answer: %v", err)).Because(err)
	}
	if res.StatusCode == http.StatusOK {
		return in, nil
	}
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if res.Header.Get(DeniedHeader) != "" {
		return nil, agenttool.Failure(agenttool.PolicyBlocked, "egress_denied", strings.TrimSpace(string(text)))
	}
	return nil, agenttool.Failure(agenttool.DependencyUnavailable, "host_unreachable", strings.TrimSpace(string(text)))
}

func credentialsOf(proxyURL string) string {
	u, err := url.Parse(proxyURL)
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	plain := u.User.Username() + ":" + password
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(plain)) + "\r\n"
}
