package mcp

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

const rootsLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}`

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestOpen: what a client sends while it is asked for its roots reaches the server that goes on, once and in order.
func TestOpen(t *testing.T) {
	const initialized, listed = `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		name   string
		sent   []string
		kept   []string
		roots  []string
		failed string
	}{
		{"no messages", nil, nil, nil, ""},
		{"no roots declared", []string{initializeLine, initialized}, []string{initializeLine, initialized}, nil, ""},
		{"no MCP", []string{`{"jsonrpc":"2.0","id":1,"method":"agenttool/hello"}`}, []string{`{"jsonrpc":"2.0","id":1,"method":"agenttool/hello"}`}, nil, ""},
		{"no JSON", []string{"x"}, []string{"x"}, nil, ""},
		{"roots", []string{rootsLine, initialized, listed, `{"jsonrpc":"2.0","id":"toolhost-roots","result":{"roots":[{"uri":"file:///a%20b/"},{"uri":"file://localhost/c"}]}}`, "{}"},
			[]string{rootsLine, initialized, listed, "{}"}, []string{"/a b", "/c"}, ""},
		{"an error", []string{rootsLine, initialized, `{"jsonrpc":"2.0","id":"toolhost-roots","error":{"code":1,"message":"no"}}`}, []string{rootsLine, initialized}, nil, "names no roots"},
		{"another scheme", []string{rootsLine, initialized, `{"jsonrpc":"2.0","id":"toolhost-roots","result":{"roots":[{"uri":"ssh:///a"}]}}`}, []string{rootsLine, initialized}, nil, "file:///PATH"},
		{"no answer", []string{rootsLine, initialized, listed}, []string{rootsLine, initialized, listed}, nil, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			var in string
			for _, line := range c.sent {
				in += line + "\n"
			}
			o := Open(t.Context(), io.NopCloser(strings.NewReader(in)), nopCloser{&out}, "1", "read this")
			if !slices.Equal(o.Roots, c.roots) || (o.Failed == nil) != (c.failed == "") || o.Failed != nil && !strings.Contains(o.Failed.Error(), c.failed) {
				t.Errorf("roots %q, %v", o.Roots, o.Failed)
			}
			var kept []string
			for lines := bufio.NewScanner(o.In); lines.Scan(); {
				kept = append(kept, lines.Text())
			}
			if !slices.Equal(kept, c.kept) {
				t.Errorf("the next server reads %q", kept)
			}
			answered := strings.Contains(out.String(), `"instructions":"read this"`)
			_, _ = io.WriteString(o.Out, `{"jsonrpc":"2.0","method":"x"}`+"\n"+`{"jsonrpc":"2.0","id":0,"result":{}}`+"\n")
			_, _ = io.WriteString(o.Out, `{"jsonrpc":"2.0","id":0,"result":{"second":true}}`+"\n")
			if again := strings.Contains(out.String(), `"id":0,"result":{}`); again == answered || !strings.Contains(out.String(), "second") {
				t.Errorf("answered before: %v; the client reads\n%s", answered, out.String())
			}
		})
	}
}

// TestOpenWaits: a client that never names its roots is served after five seconds.
func TestOpenWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, toServer := io.Pipe()
		go func() { _, _ = io.WriteString(toServer, rootsLine+"\n") }()
		o := Open(t.Context(), in, nopCloser{io.Discard}, "1", "")
		if o.Failed == nil || !strings.Contains(o.Failed.Error(), "within 5s") {
			t.Error(o.Failed)
		}
		_ = toServer.Close()
		_, _ = io.Copy(io.Discard, o.In)
	})
}
