package main

import (
	"context"
	"strings"
	"sync"

	"toolhost/wire/mcp"
	"toolhost/wire/stdio"
)

// mcpLines is MCP on the stream that it shares with the native family: every message that is not that family's, and the
// responses. Nothing of it is made before the first of them comes, since most clients speak one of the two.
type mcpLines struct {
	open func() *mcp.Stream

	mu     sync.Mutex
	stream *mcp.Stream
	server *mcp.Server
}

func newMCPLines(s *session, w *stdio.Writer) *mcpLines {
	f := &mcpLines{}
	f.open = func() *mcp.Stream {
		f.server = newMCPServer(s)
		return f.server.Stream(mcp.StreamOptions{
			Write: func(message []byte, droppable bool) { w.Send(droppable, message) }, Room: w.Room, Busy: w.Busy,
		})
	}
	return f
}

func newMCPServer(s *session) *mcp.Server {
	return mcp.New(mcp.Options{Host: s.host, Session: s.store.ID(), Version: version(), Instructions: instructions, HostChecked: true, CheckMessage: checkMessage})
}

// checkMessage refuses over HTTP what is refused on a stream of lines.
func checkMessage(body []byte) error {
	if _, err := stdio.Decode(body); err != nil {
		return err
	}
	return nil
}

// instructions are for the model of an MCP client.
const instructions = `toolhost runs these tools on a person's machine. Calls that only read the workspace run unasked; others may ask the person, or be
refused with the rule that would allow them. Commands run in a sandbox: what it blocked is named in the result. A command that goes on after its
call is a job: read it with shell_output, end it with shell_kill. Large output is kept: read it by page at its resource link.`

// Owns implements stdio.Family.
func (f *mcpLines) Owns(method string) bool { return !strings.HasPrefix(method, "agenttool/") }

// Receive implements stdio.Family.
func (f *mcpLines) Receive(m stdio.Message) {
	f.mu.Lock()
	if f.stream == nil {
		f.stream = f.open()
	}
	f.mu.Unlock()
	f.stream.Receive(mcp.Line{ID: m.ID, Method: m.Method, Params: m.Params, Raw: m.Raw})
}

// settle waits until what was received has begun.
func (f *mcpLines) settle(ctx context.Context) {
	if stream, _ := f.made(); stream != nil {
		stream.Settle(ctx)
	}
}

// Drain implements stdio.Family.
func (f *mcpLines) Drain(ctx context.Context) {
	if stream, server := f.made(); stream != nil {
		stream.Drain(ctx)
		server.Close()
	}
}

func (f *mcpLines) made() (*mcp.Stream, *mcp.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stream, f.server
}
