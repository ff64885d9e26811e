package mcp

import (
	"context"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
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
	_ = s.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out}) // its error is the end of the client
}
