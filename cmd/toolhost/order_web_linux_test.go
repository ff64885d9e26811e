package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"strings"
	"testing"
)

// TestOrderOfConflictingRequests sends pairs of requests about one file down one connection, and waits for no answer: the second of
// each pair must see what the first one did.
func TestOrderOfConflictingRequests(t *testing.T) {
	t.Parallel()
	pairs := orderPairs(t)
	d := openWeb(t, "--mode", "accept_edits")
	at, err := url.Parse(d.MCP)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	headers := d.oldSession()
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(conn)
		for i := range 2 * pairs {
			tool, input := "write", fmt.Sprintf(`{"path":"f%d","content":"pair %d"}`, i/2, i/2)
			if i%2 == 1 {
				tool, input = "read", fmt.Sprintf(`{"path":"f%d"}`, i/2)
			}
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, i+1, tool, input)
			r, err := nethttp.NewRequest("POST", d.MCP, strings.NewReader(body))
			if err != nil {
				sent <- err
				return
			}
			for _, h := range append(headers, "Authorization: Bearer "+d.Token, "Content-Type: application/json", "Accept: application/json, text/event-stream") {
				name, value, _ := strings.Cut(h, ": ")
				r.Header.Set(name, value)
			}
			if err := r.Write(w); err != nil {
				sent <- err
				return
			}
		}
		sent <- w.Flush()
	}()
	answers, wrong := bufio.NewReader(conn), 0
	for i := range 2 * pairs {
		res, err := nethttp.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != nethttp.StatusOK {
			t.Fatalf("answer %d: %d %s: %v", i, res.StatusCode, body, err)
		}
		if i%2 == 1 && !strings.Contains(string(body), fmt.Sprintf("pair %d", i/2)) {
			wrong++
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if wrong > 0 {
		t.Errorf("%d of %d second requests did not see what the first one of their pair did", wrong, pairs)
	}
}
