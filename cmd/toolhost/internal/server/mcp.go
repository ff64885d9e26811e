package server

import (
	"context"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/wire/mcp"
	"toolhost/wire/stdio"
)

// MCPOptions say whose tools MCP offers.
type MCPOptions struct {
	Host    *host.Host
	Session agenttool.SessionID
	Version string
	Results mcp.Results         // how all clients take results; zero: as each is known to
	Met     func(client string) // told of the names of clients
}

// MCPLines is MCP on the stream that it shares with the native family: every message that is not that family's, and the
// responses. It is made when its first message comes, since most clients speak only one of the two.
type MCPLines struct {
	open func() *mcp.Stream

	mu     sync.Mutex
	stream *mcp.Stream
	server *mcp.Server
}

// NewMCPLines makes the family of MCP that writes to w.
func NewMCPLines(o MCPOptions, w *stdio.Writer) *MCPLines {
	f := &MCPLines{}
	f.open = func() *mcp.Stream {
		f.server = newMCPServer(o)
		return f.server.Stream(mcp.StreamOptions{
			Write: func(message []byte, droppable bool) { w.Send(droppable, message) }, Room: w.Room, Busy: w.Busy,
		})
	}
	return f
}

func newMCPServer(o MCPOptions) *mcp.Server {
	return mcp.New(mcp.Options{
		Host: o.Host, Session: o.Session, Version: o.Version, Instructions: Instructions, Results: o.Results, Met: o.Met,
		HostChecked: true, CheckMessage: checkMessage,
	})
}

// checkMessage refuses the same messages over HTTP as on a stream of lines.
func checkMessage(body []byte) error {
	if _, err := stdio.Decode(body); err != nil {
		return err
	}
	return nil
}

// Instructions are for the model of an MCP client. Some clients show it the first line alone.
const Instructions = `Read, search and edit the files of this workspace and run shell commands in it: read, grep, glob, edit, write, shell.
Calls that only read the workspace run unasked; others may ask the person, or be refused with the rule that would allow them. Commands run in a
sandbox: what it blocked is named in the result. A command that goes on after its call is a job: read it with shell_output, end it with shell_kill.
Large output is kept: a result that is cut says where all of it can be read.`

// Owns implements stdio.Family.
func (f *MCPLines) Owns(method string) bool { return !strings.HasPrefix(method, "agenttool/") }

// Receive implements stdio.Family.
func (f *MCPLines) Receive(m stdio.Message) {
	f.mu.Lock()
	if f.stream == nil {
		f.stream = f.open()
	}
	f.mu.Unlock()
	f.stream.Receive(mcp.Line{ID: m.ID, Method: m.Method, Params: m.Params, Raw: m.Raw})
}

// settle waits until the received calls have begun.
func (f *MCPLines) settle(ctx context.Context) {
	if stream, _ := f.made(); stream != nil {
		stream.Settle(ctx)
	}
}

// Drain implements stdio.Family.
func (f *MCPLines) Drain(ctx context.Context) {
	if stream, server := f.made(); stream != nil {
		stream.Drain(ctx)
		server.Close()
	}
}

func (f *MCPLines) made() (*mcp.Stream, *mcp.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stream, f.server
}
