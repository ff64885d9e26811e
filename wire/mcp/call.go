package mcp

import (
	"context"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
