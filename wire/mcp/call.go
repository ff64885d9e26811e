package mcp

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/host"
)

// call serves tools/call: it begins a call, or resumes one with the client's answer to a question.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (sdk.Result, error) {
	if req.Params.RequestState != "" {
		f, err := s.resume(ctx, req)
		if err != nil {
			return nil, err
		}
		return s.await(ctx, req, f)
	}
	r := newRequest(s.nextID(), req)
	r.Caller.Capacity = s.client(req).capacity()
	f, err := s.launch(ctx, r, answers(req))
	switch {
	case errors.Is(err, host.ErrBusy):
		return nil, &jsonrpc.Error{Code: codeBusy, Message: err.Error()}
	case err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return s.await(ctx, req, f)
}

// codeCanceled is the error of a canceled request, where it is answered at all: older clients over HTTP wait for one.
const codeCanceled = -32800

// cutShort is how long the result of a canceled call is waited for: it says what was done until then.
const cutShort = 800 * time.Millisecond

// errWithdrawn says that the client took its request back, or went away.
var errWithdrawn = errors.New("the client canceled the request, or has gone")

// await returns the response to a request: the result of the call, or a question. If the request
// is withdrawn, it cancels the call, unless another client waits for the call or can still ask for it.
func (s *Server) await(ctx context.Context, req *sdk.CallToolRequest, f *flight) (sdk.Result, error) {
	f.awaited(req.Session)
	defer f.told.to(ctx, req)()
	s.flights.join(f)
	res, err := s.next(ctx, req, f)
	wanted, forsaken := s.flights.leave(f)
	if forsaken != nil {
		s.o.Host.Cancel(forsaken.id, "its client did not come back")
	}
	switch {
	case !errors.Is(err, errWithdrawn):
		return res, err
	case wanted:
		return nil, &jsonrpc.Error{Code: codeCanceled, Message: "the request was canceled: " + context.Cause(ctx).Error() + "; its call goes on"}
	}
	s.o.Host.Cancel(f.id, errWithdrawn.Error())
	if f.endsWithin(cutShort) { // at the end of input and over older HTTP the result is still awaited
		return s.catalog.result(req, f, s.client(req))
	}
	return nil, &jsonrpc.Error{Code: codeCanceled, Message: "the call was canceled: " + context.Cause(ctx).Error()}
}

// next waits for the response to the client, or for errWithdrawn.
func (s *Server) next(ctx context.Context, req *sdk.CallToolRequest, f *flight) (sdk.Result, error) {
	for {
		select {
		case <-f.ended:
			return s.catalog.result(req, f, s.client(req))
		case q := <-f.asks:
			if res, err := s.ask(ctx, req, f, q); res != nil || err != nil {
				return res, err
			}
		case <-ctx.Done():
			return nil, errWithdrawn
		}
	}
}

// client returns the client of a request.
func (s *Server) client(req *sdk.CallToolRequest) client {
	return s.o.Results.clientOf(req.ClientInfo(), req.ClientCapabilities())
}

// launch begins a call for a request. Unread output of the stream in ctx delays the end of the call. answers says whether the client
// can answer questions.
func (s *Server) launch(ctx context.Context, r host.Request, answers bool) (*flight, error) {
	f := &flight{invocation: invocation{id: r.ID, tool: r.Tool, client: r.Actor, input: r.Input}, asks: make(chan question, 1), landing: landing{ended: make(chan struct{})}}
	if s.o.Met != nil && r.Actor != "" {
		s.o.Met(r.Actor)
	}
	if answers {
		r.Caller.Asked = f.asked
	}
	r.Caller.Progress = f.told.tell
	err := s.o.Host.Invoke(r, func(c host.Completion) {
		waitRoom(ctx) // unread results delay further calls
		f.completion, f.at = c, time.Now()
		s.stored.add(c)
		close(f.ended)
		s.flights.remove(f)
	})
	hasBegun(ctx)
	if err != nil {
		return nil, err
	}
	if !s.flights.add(f) {
		s.o.Host.Cancel(f.id, closing)
	}
	return f, nil
}

// newRequest translates tools/call. It never fails because of the client's metadata: it ignores invalid values.
func newRequest(id string, req *sdk.CallToolRequest) host.Request {
	meta := req.Params.Meta
	return host.Request{
		ID: id, Tool: req.Params.Name, Input: arguments(req.Params.Arguments),
		Actor: actor(req.ClientInfo()), Trace: trace(meta), Mapping: nativeIDs(req),
		Caller: host.Caller{CallID: callID(meta), Refs: refs(meta)},
	}
}

// Bounds of a client's metadata, in bytes of each value.
const (
	maxName  = 128
	maxRef   = 256
	maxTrace = 8 << 10
)

// actor names the client for the record.
func actor(i *sdk.Implementation) string {
	if i == nil || i.Name == "" {
		return ""
	}
	name := clean(i.Name, maxName)
	if i.Version != "" {
		name += "/" + clean(i.Version, maxName)
	}
	return name
}

// clean returns a text of the client as one line, with at most n bytes of it.
func clean(s string, n int) string {
	if len(s) <= n {
		return visible.Text(s)
	}
	return visible.Text(cut.Head(s, n)) + cut.Mark
}

// callIDKeys are the observed keys of a call's id in _meta (MCP-23).
var callIDKeys = []string{
	"callId",               // Codex
	"claudecode/toolUseId", // Claude Code
}

// refKeys are the keys of clients' threads in _meta, or in an object there (MCP-23).
var refKeys = []string{"threadId", "sessionId", "turnId", "thread_id", "session_id", "turn_id"}

// turnKeys are objects in _meta that hold some of refKeys.
var turnKeys = []string{"x-codex-turn-metadata", "turnMetadata"}

// traceKeys are the members of _meta that the specification reserves for distributed tracing (MCP-20).
var traceKeys = []string{"traceparent", "tracestate", "baggage"}

func callID(meta sdk.Meta) string {
	for _, key := range callIDKeys {
		if id, ok := meta[key].(string); ok && id != "" {
			return clean(id, maxRef)
		}
	}
	return ""
}

func refs(meta sdk.Meta) []string {
	found := refsIn(meta)
	for _, key := range turnKeys {
		if turn, ok := meta[key].(map[string]any); ok {
			found = append(found, refsIn(turn)...)
		}
	}
	return found
}

func refsIn(m map[string]any) []string {
	var found []string
	for _, key := range refKeys {
		if id, ok := m[key].(string); ok && id != "" {
			found = append(found, key+":"+clean(id, maxRef))
		}
	}
	return found
}

// trace returns where the call belongs in a distributed trace, nil if the client does not say or says too much.
func trace(meta sdk.Meta) []byte {
	found := map[string]string{}
	for _, key := range traceKeys {
		if text, ok := meta[key].(string); ok && text != "" && len(text) <= maxTrace {
			found[key] = text
		}
	}
	if len(found) == 0 {
		return nil
	}
	b, err := agenttool.Encode(found)
	if err != nil {
		return nil
	}
	return b
}

// mapping has the native ids of a call. Its refs point into the records of the call.
//
// Agent Tool v0.2.0, "External mappings" (AT-340).
type mapping struct {
	mappedSession
	Method            string          `json:"method"`
	ToolName          string          `json:"tool_name"`
	RequestID         json.RawMessage `json:"jsonrpc_request_id,omitempty"` // a string or a number, as it came
	StructuredContent string          `json:"structuredContent"`
	IsError           string          `json:"isError"`
	Meta              sdk.Meta        `json:"_meta,omitempty"`
}

// mappedSession is the part of a mapping that the calls of a session share.
type mappedSession struct {
	Source          string `json:"source"`
	ServerID        string `json:"server_id"`
	SessionID       string `json:"mcp_session_id,omitempty"` // empty: the transport has none
	ProtocolVersion string `json:"mcp_protocol_version,omitempty"`
}

// maxMeta bounds the metadata of a mapping, in bytes. Longer metadata is left out.
const maxMeta = 2 << 10

// metaElsewhere are the members of _meta that other fields of the record have, or that describe the client and not the call.
var metaElsewhere = append([]string{sdk.MetaKeyProtocolVersion, sdk.MetaKeyClientInfo, sdk.MetaKeyClientCapabilities}, traceKeys...)

// nativeIDs returns the mapping of a request, nil if it cannot be encoded or is too long.
func nativeIDs(req *sdk.CallToolRequest) []byte {
	m := mapping{
		mappedSession: mappedSession{Source: "mcp", ServerID: "toolhost", ProtocolVersion: clean(req.ProtocolVersion(), maxName)}, Method: methodCall,
		ToolName: clean(req.Params.Name, maxName), RequestID: requestID(req),
		StructuredContent: "result#/structured_content", IsError: "result#/is_error", Meta: maps.Clone(req.Params.Meta),
	}
	if req.Session != nil {
		m.SessionID = clean(req.Session.ID(), maxRef)
	}
	for _, key := range metaElsewhere {
		delete(m.Meta, key)
	}
	if b, err := agenttool.Encode(m.Meta); err != nil || len(b) > maxMeta {
		m.Meta = nil
	}
	b, err := agenttool.Encode(m)
	if err != nil || len(b) > host.MaxMapping {
		return nil
	}
	return b
}

// headerRequestID carries the JSON-RPC id of a request to its handler, which the SDK does not tell it. It is never on the wire: the one
// of a client is replaced.
const headerRequestID = "Toolhost-Jsonrpc-Request-Id"

// withID returns the value that the SDK hands to the handler of a request beside its parameters.
func withID(id json.RawMessage) *sdk.RequestExtra {
	return &sdk.RequestExtra{Header: http.Header{headerRequestID: {string(id)}}}
}

// requestID is the JSON-RPC id of a request, as it was spelled; nil: it is not known.
func requestID(req *sdk.CallToolRequest) json.RawMessage {
	if req.Extra == nil {
		return nil
	}
	spelled := req.Extra.Header.Get(headerRequestID)
	var text string
	if json.Unmarshal([]byte(spelled), &text) == nil {
		spelled = string(agenttool.AppendString(nil, clean(text, maxRef)))
	}
	if !json.Valid([]byte(spelled)) || len(spelled) > 8*maxRef {
		return nil
	}
	return json.RawMessage(spelled)
}
