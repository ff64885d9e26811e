package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
)

// BenchmarkCall is a call that does nothing, from a client that writes and reads bare lines: through the host with all
// its records, and through the SDK alone.
func BenchmarkCall(b *testing.B) {
	b.Run("toolhost", func(b *testing.B) {
		store := persist.New(persist.Options{Dir: b.TempDir()})
		o := host.Options{Store: store, Policy: permissions.Policy{Workspace: "/ws"}, Session: store.ID(),
			Locate: func(*agenttool.Path) error { return nil }}
		adding(&fake{name: "noop"})(&o)
		h, err := host.New(o)
		if err != nil {
			b.Fatal(err)
		}
		s := New(Options{Host: h, Session: store.ID()})
		benchmarkCall(b, s.sdk)
		s.Close()
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	})
	b.Run("sdk", func(b *testing.B) {
		server := sdk.NewServer(&sdk.Implementation{Name: "bare"}, nil)
		server.AddTool(&sdk.Tool{Name: "noop", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
		})
		benchmarkCall(b, server)
	})
}

func benchmarkCall(b *testing.B, server *sdk.Server) {
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	session, err := server.Connect(context.Background(), &sdk.IOTransport{Reader: in, Writer: out}, nil)
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(answers)
	ask := func(line string) string {
		if _, err := io.WriteString(requests, line+"\n"); err != nil {
			b.Fatal(err)
		}
		answer, err := lines.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		return answer
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`)
	if _, err := io.WriteString(requests, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		answer := ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"noop","arguments":{}}}`, n))
		if n == 1 && !strings.Contains(answer, `"text":"done"`) {
			b.Fatal(answer)
		}
	}
	_ = requests.Close()
	_ = session.Wait()
}
