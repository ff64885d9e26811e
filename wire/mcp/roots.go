package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Opening is the beginning of a client's stream, read for the roots that the client declares. Roots are a capability of revisions
// before 2026-07-28.
type Opening struct {
	// Roots are the directories that the client declares; empty without any.
	Roots []string
	// Failed says why a client that declares roots gave none that are directories.
	Failed error
	// In and Out are the stream for the server that goes on: it reads all messages from the first, and sends no answer
	// again that the client already has.
	In  io.ReadCloser
	Out io.WriteCloser
}

const (
	rootsWait = 5 * time.Second // for the roots of a client that declares some
	rootsID   = `"toolhost-roots"`
	maxLine   = 16 << 20 // of one message, in bytes
)

// peek are the members of a message that tell what it is.
type peek struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Capabilities struct {
			Roots json.RawMessage `json:"roots"`
		} `json:"capabilities"`
	} `json:"params"`
	Result struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	} `json:"result"`
}

// Open reads the first message of a client. If that declares roots, Open answers the handshake as a server with these instructions,
// and asks for the roots. It waits 5 seconds for them, and ends with the input.
func Open(ctx context.Context, in io.ReadCloser, out io.WriteCloser, version, instructions string) Opening {
	o := Opening{Out: out}
	lines := make(chan []byte)
	go scan(in, lines)
	first, ok := <-lines
	var kept [][]byte
	if ok {
		kept = append(kept, first)
	}
	var hello peek
	if ok && json.Unmarshal(first, &hello) == nil && hello.Method == methodInitialize && hello.Params.Capabilities.Roots != nil {
		answer, err := handshake(ctx, first, version, instructions)
		if err == nil {
			o.Out = &unanswered{WriteCloser: out, id: hello.ID}
			kept, o.Roots, err = o.ask(append(answer, '\n'), kept, lines, out)
		}
		o.Failed = err
	}
	o.In = rest(kept, lines)
	return o
}

// ask sends the answer of the handshake and returns the client's roots, and its messages without the response that has them.
func (o *Opening) ask(answer []byte, kept [][]byte, lines <-chan []byte, out io.Writer) ([][]byte, []string, error) {
	if _, err := out.Write(answer); err != nil {
		return kept, nil, err
	}
	late := time.After(rootsWait)
	for size := 0; size < maxLine; {
		var line []byte
		select {
		case line = <-lines:
		case <-late:
			return kept, nil, fmt.Errorf("the client did not name its roots within %s", rootsWait)
		}
		if line == nil {
			return kept, nil, io.ErrUnexpectedEOF
		}
		var m peek
		_ = json.Unmarshal(line, &m) // the server that goes on says what is wrong with it
		if m.Method == "" && string(m.ID) == rootsID {
			roots, err := m.directories()
			return kept, roots, err
		}
		kept, size = append(kept, line), size+len(line)
		if m.Method == "notifications/initialized" {
			if _, err := io.WriteString(out, `{"jsonrpc":"2.0","id":`+rootsID+`,"method":"roots/list"}`+"\n"); err != nil {
				return kept, nil, err
			}
		}
	}
	return kept, nil, errors.New("the client sent too much before its roots")
}

// handshake is the answer to a request to initialize.
func handshake(ctx context.Context, request []byte, version, instructions string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, rootsWait)
	defer cancel()
	s := sdk.NewServer(&sdk.Implementation{Name: "toolhost", Title: "toolhost", Version: version}, sdkOptions(instructions))
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	defer toServer.Close()
	session, err := s.Connect(ctx, &sdk.IOTransport{Reader: in, Writer: out}, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	if _, err := toServer.Write(append(bytes.Clone(request), '\n')); err != nil {
		return nil, err
	}
	answer := bufio.NewScanner(fromServer)
	answer.Buffer(nil, maxLine)
	if !answer.Scan() {
		return nil, errors.Join(errors.New("the handshake has no answer"), answer.Err())
	}
	return bytes.Clone(answer.Bytes()), nil
}

// directories are the roots that are absolute names of this machine's file system.
func (m *peek) directories() (dirs []string, err error) {
	if len(m.Result.Roots) == 0 {
		return nil, errors.New("the client names no roots")
	}
	for _, root := range m.Result.Roots {
		at, err := url.Parse(root.URI)
		if err != nil || at.Scheme != "file" || (at.Host != "" && at.Host != "localhost") || !filepath.IsAbs(at.Path) {
			return nil, fmt.Errorf("the root %q is not a directory of this machine: it needs to be file:///PATH", root.URI)
		}
		dirs = append(dirs, filepath.Clean(at.Path))
	}
	return dirs, nil
}

// scan sends the lines of in that are not empty, and closes lines with the end of in or at a line that is too long.
func scan(in io.Reader, lines chan<- []byte) {
	defer close(lines)
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		if line := bytes.TrimSpace(s.Bytes()); len(line) > 0 {
			lines <- bytes.Clone(line)
		}
	}
}

// rest reads the messages kept, and those that follow.
func rest(kept [][]byte, lines <-chan []byte) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		for _, line := range kept {
			_, _ = in.Write(append(line, '\n'))
		}
		for line := range lines {
			_, _ = in.Write(append(line, '\n')) // fails without a reader: then the lines go nowhere
		}
		_ = in.Close()
	}()
	return out
}

// unanswered leaves out the response to a request that was answered before.
type unanswered struct {
	io.WriteCloser
	id json.RawMessage // of the request; nil once its second response has come
}

// Write implements io.Writer. Each call has whole messages.
func (u *unanswered) Write(p []byte) (int, error) {
	if u.id == nil {
		return u.WriteCloser.Write(p)
	}
	var sent []byte
	for line := range bytes.Lines(p) {
		var m peek
		if u.id != nil && json.Unmarshal(line, &m) == nil && m.Method == "" && bytes.Equal(m.ID, u.id) {
			u.id = nil
			continue
		}
		sent = append(sent, line...)
	}
	if _, err := u.WriteCloser.Write(sent); err != nil {
		return 0, err
	}
	return len(p), nil
}

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
