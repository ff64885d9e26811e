package mcp

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Unplaced are the options of a server without a workspace.
type Unplaced struct {
	Version string
	Tools   []agenttool.Description
	Reason  string // why there is none, and the remedy
}

// Serve serves a client over lines until in ends. The client gets its handshake and the tools. Every call fails with the reason:
// a server that ends at once would show its user nothing of it.
func (u Unplaced) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) {
	s := sdk.NewServer(&sdk.Implementation{Name: "toolhost", Title: "toolhost", Version: u.Version}, &sdk.ServerOptions{
		Instructions: u.Reason, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	s.AddReceivingMiddleware(recovering)
	for _, d := range u.Tools {
		tool := Declare(d)
		tool.OutputSchema = nil
		s.AddTool(tool, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: u.Reason}}}, nil
		})
	}
	var mu sync.Mutex
	write := func(message []byte, _ bool) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(append(message, '\n')) // fails without a client: then its input ends, too
	}
	st := newStream(s, StreamOptions{Write: write})
	defer context.AfterFunc(ctx, func() { _ = in.Close() })()
	lines := make(chan []byte)
	go scan(in, lines)
	for raw := range lines {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			st.refuse(nil, errorf(jsonrpc.CodeParseError, "the line is no message of JSON-RPC: %v", err))
			continue
		}
		st.Receive(Line{ID: m.ID, Method: m.Method, Params: m.Params, Raw: raw})
	}
	st.Drain(ctx)
}
