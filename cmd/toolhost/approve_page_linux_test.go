package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pairCode runs toolhost approve --pair and returns the code that it prints, and all of its words.
func (d *webDoor) pairCode(flags ...string) (code, said string) {
	d.t.Helper()
	out, err := d.command(append([]string{"approve", "--pair", "--piped"}, flags...)...).CombinedOutput()
	found := regexp.MustCompile(`(?m)^code  (\S+)`).FindStringSubmatch(string(out))
	if err != nil || len(found) != 2 {
		d.t.Fatalf("approve --pair: %v: %s", err, out)
	}
	return found[1], string(out)
}

// browser is a paired browser.
type browser struct {
	*webDoor
	headers []string
}

// browser pairs one with a code.
func (d *webDoor) browser(code string) *browser {
	d.t.Helper()
	b := &browser{d, []string{"Authorization: ", "Origin: " + d.URL}}
	var paired struct{ Token string }
	b.post("/pair", map[string]string{"code": code}, &paired)
	b.headers = append(b.headers, "X-Toolhost-Page: "+paired.Token)
	return b
}

// post makes a request of the page, which must be served.
func (b *browser) post(path string, body, into any) {
	b.t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	status, said := b.asks("POST", "/approve"+path, string(encoded), b.headers...)
	if err := json.Unmarshal([]byte(said), into); err != nil || status != nethttp.StatusOK {
		b.t.Fatalf("%s: %d %s %v", path, status, said, err)
	}
}

// pagePrompt is a prompt as the page has it.
type pagePrompt struct {
	ID, Version string
	Lines       []struct {
		T string
		A bool
	}
}

// waits waits for a prompt with a text in it.
func (b *browser) waits(text string) (found pagePrompt) {
	b.t.Helper()
	eventually(b.t, "the page shows "+text, func() bool {
		var list struct{ Prompts []pagePrompt }
		b.post("/prompts", struct{}{}, &list)
		for _, p := range list.Prompts {
			if strings.Contains(fmt.Sprint(p.Lines), text) {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

// answers answers a prompt, after all of its lines were read.
func (b *browser) answers(p pagePrompt, behavior, scope string) {
	b.t.Helper()
	seen := make([]int, len(p.Lines))
	for i := range seen {
		seen[i] = i
	}
	encoded, _ := json.Marshal(map[string]any{"id": p.ID, "version": p.Version, "behavior": behavior, "scope": scope, "seen": seen})
	eventually(b.t, "the answer counts", func() bool { // not before the browser has had it for a moment
		status, said := b.asks("POST", "/approve/answer", string(encoded), b.headers...)
		if status != nethttp.StatusOK && !strings.Contains(said, "too quick") {
			b.t.Fatalf("the answer: %d %s", status, said)
		}
		return status == nethttp.StatusOK
	})
}

// TestPage: a browser that is paired with the code of a terminal answers prompts, and the record says so.
func TestPage(t *testing.T) {
	t.Parallel()
	d := openWeb(t)
	code, said := d.pairCode()
	if !strings.Contains(said, d.URL+"/approve") || strings.Contains(said, "TLS") {
		t.Errorf("approve --pair says %s", said)
	}
	if status, page := d.asks("GET", "/approve", "", "Authorization: "); status != nethttp.StatusOK || !strings.Contains(page, "<title>toolhost approve") {
		t.Errorf("the page: %d %.200s", status, page)
	}
	b := d.browser(code)
	b.post("/prompts", struct{}{}, &struct{}{}) // from now on it attends
	session := d.client(modernRevision, nil)
	write := func(name string) <-chan *sdk.CallToolResult {
		ended := make(chan *sdk.CallToolResult, 1)
		go func() {
			r, err := calls(t, session, "write", map[string]string{"path": name, "content": "allowed\n"})
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		return ended
	}
	for _, c := range []struct{ name, behavior, scope, holds string }{
		{"once.txt", "allow", "once", "allowed\n"}, {"denied.txt", "deny", "", ""}, {"session.txt", "allow", "session", "allowed\n"},
	} {
		ended := write(c.name)
		b.answers(b.waits(c.name), c.behavior, c.scope)
		if r := <-ended; r == nil || r.IsError != (c.holds == "") || d.wrote(c.name) != c.holds {
			t.Errorf("%s: it wrote %q", c.name, d.wrote(c.name))
		}
	}
	if r := <-write("session.txt"); r == nil || r.IsError {
		t.Error("what was allowed for the session asks again")
	}
	if out, err := d.command("approve", "--unpair").CombinedOutput(); err != nil || !strings.Contains(string(out), "browsers unpaired: 1\n") {
		t.Errorf("approve --unpair: %v: %s", err, out)
	}
	if status, said := d.asks("POST", "/approve/prompts", "{}", b.headers...); status != nethttp.StatusUnauthorized {
		t.Errorf("after that: %d %s", status, said)
	}
	d.endsBySignal()
	d.logsAre("closed")
	if out, err := d.command("log", "show", "--json").CombinedOutput(); err != nil || !strings.Contains(string(out), "a paired browser (Go-http-client") {
		t.Errorf("log show: %v: %.2000s", err, out)
	}
}

// TestPageKeepsStrangersOut: neither the agent with its token, nor its commands, nor another page gets to a prompt.
func TestPageKeepsStrangersOut(t *testing.T) {
	t.Parallel()
	d := openWeb(t, "--allow", "Shell")
	code, _ := d.pairCode()
	own := "Origin: " + d.URL
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		want                     int
	}{
		{"the agent lists prompts", "POST", "/approve/prompts", "{}", []string{own}, 401},
		{"the agent answers", "POST", "/approve/answer", "{}", []string{own}, 401},
		{"the agent with its token as that of a browser", "POST", "/approve/prompts", "{}", []string{own, "X-Toolhost-Page: " + d.Token}, 401},
		{"the agent guesses", "POST", "/approve/pair", `{"code":"2222-2222"}`, []string{own}, 403},
		{"another page", "POST", "/approve/pair", `{"code":"` + code + `"}`, []string{"Origin: http://127.0.0.1:1"}, 403},
		{"another site", "POST", "/approve/pair", `{"code":"` + code + `"}`, []string{"Origin: https://evil.example"}, 403},
		{"a rebound name", "POST", "/approve/pair", `{"code":"` + code + `"}`, []string{"Host: evil.example", "Origin: http://evil.example"}, 403},
		{"no origin", "POST", "/approve/pair", `{"code":"` + code + `"}`, nil, 403},
		{"a link", "GET", "/approve/pair?code=" + code, "", nil, 405},
		{"a neighbour", "GET", "/approved", "", []string{"Authorization: "}, 401},
		{"below", "GET", "/approve/x", "", []string{"Authorization: "}, 401},
	} {
		if status, said := d.asks(c.method, c.path, c.body, c.headers...); status != c.want {
			t.Errorf("%s: %d, want %d: %s", c.name, status, c.want, said)
		}
	}
	at, err := url.Parse(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	session := d.client(modernRevision, nil)
	for _, command := range []string{
		toolhostProgram(t) + " approve --pair --piped; " + toolhostProgram(t) + " approve --unpair",
		`exec 3<>/dev/tcp/127.0.0.1/` + at.Port() + `; printf 'POST /approve/prompts HTTP/1.1\r\nHost: ` + at.Host + `\r\n` + own +
			`\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}' >&3; cat <&3`,
		"cat /proc/*/environ; ls -laR /tmp /run ~ | grep -i toolhost; env",
	} {
		r, err := calls(t, session, "shell", map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if said := text(r); strings.Contains(said, code) || strings.Contains(said, "\ncode  ") || strings.Contains(said, `"prompts":`) || strings.Contains(said, "browsers unpaired") {
			t.Errorf("%s says %s", command, said)
		}
	}
	d.browser(code) // it counts still
}

// TestPageIsOfThePerson: over the pipe of the agent no browser is paired, and a session that is not served over HTTP has no page.
func TestPageIsOfThePerson(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(false)
	if why := h.refused("agenttool/pair", fields{}); !strings.Contains(why, "only the user may") {
		t.Errorf("the agent is told %s", why)
	}
	h.write("nobody.txt").failed("approval_unavailable")
	if why := a.viewer().refused("agenttool/pair", fields{}); !strings.Contains(why, "has no page") {
		t.Errorf("the person is told %s", why)
	}
	stranger := a.visitor(false)
	if why := stranger.refused("agenttool/pair", fields{}); !strings.Contains(why, "no word is taken") {
		t.Errorf("a stranger is told %s", why)
	}
}

// TestPageOverTLS: with a certificate of its own, its fingerprint is that which is printed, and it is for the address.
func TestPageOverTLS(t *testing.T) {
	t.Parallel()
	d := openWeb(t, "--tls-self-signed")
	var print string
	transport := d.web.Transport.(*nethttp.Transport)
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(c tls.ConnectionState) error {
		leaf := c.PeerCertificates[0]
		print = strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(leaf.Raw)), " ", ":")
		roots := x509.NewCertPool()
		roots.AddCert(leaf)
		_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.0.0.1"})
		return err
	}}
	code, said := d.pairCode()
	b := d.browser(code)
	b.post("/prompts", struct{}{}, &struct{}{})
	if print == "" || !strings.Contains(said, print) || !strings.HasPrefix(d.URL, "https://") {
		t.Errorf("the certificate has %s, and approve --pair says %s", print, said)
	}
	plain, err := nethttp.NewRequestWithContext(context.Background(), "GET", strings.Replace(d.URL, "https", "http", 1)+"/approve", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := newWeb(t).Do(plain); err == nil {
		r.Body.Close()
		if r.StatusCode == nethttp.StatusOK {
			t.Error("it is served without TLS, too")
		}
	}
}
