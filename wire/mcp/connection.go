package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// connection is the connection of a session of the SDK: one era of a stream. It is its own transport.
//
// Messages come from the stream already decoded, so that the SDK decodes none. The SDK sees the end of input only after all
// accepted requests have their responses: it drops the responses of requests that are unfinished at the end.
type connection struct {
	stream  *Stream
	legacy  bool // the era of the handshake: the server may ask its client
	session *sdk.ServerSession
	in      chan jsonrpc.Message

	endOnce, closeOnce sync.Once
	ended              chan struct{} // nothing more is read
	closed             chan struct{} // the SDK has ended
}

func newConnection(st *Stream, legacy bool) *connection {
	return &connection{
		stream: st, legacy: legacy, in: make(chan jsonrpc.Message),
		ended: make(chan struct{}), closed: make(chan struct{}),
	}
}

// Connect implements sdk.Transport.
func (c *connection) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID implements sdk.Connection: a stream has one client, so its sessions need no names.
func (c *connection) SessionID() string { return "" }

// push hands a message to the SDK, which takes it without doing its work. It reports false if the session has ended.
func (c *connection) push(m jsonrpc.Message) bool {
	select {
	case c.in <- m:
		return true
	case <-c.ended:
		return false
	}
}

// Read implements sdk.Connection.
func (c *connection) Read(context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.in:
		return m, nil
	case <-c.ended:
		return nil, io.EOF
	}
}

// Write implements sdk.Connection. An error that is not rejected would end the session.
func (c *connection) Write(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		c.reply(m)
		return nil
	case *jsonrpc.Request:
		return c.tell(ctx, m)
	}
	return rejected("a message of an unknown kind")
}

// reply writes the response of a request. A client that does not read makes it wait.
func (c *connection) reply(m *jsonrpc.Response) {
	r := c.stream.requests.get(m.ID)
	if r == nil {
		return
	}
	var response []byte
	if m.Error != nil {
		response = encodeError(r.spelled, wireError(c.explain(r, m.Error)))
	} else {
		response = encodeResult(r.spelled, m.Result)
	}
	c.stream.o.Room()
	c.stream.finish(m.ID, response)
}

// served are the methods that need a handshake first. All others are unknown methods.
var served = []string{
	"tools/list", methodCall, "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "subscriptions/listen",
}

// explain adds a code to errors that the SDK returns without one: for requests in the wrong order and malformed ones.
func (c *connection) explain(r *request, err error) error {
	begun := c.session.InitializeParams() != nil
	switch {
	case code(err) != 0:
		return err
	case r.method == methodInitialize && begun:
		return errorf(jsonrpc.CodeInvalidRequest, "invalid request: initialize came before; a session has one")
	case r.method == methodInitialize:
		return errorf(jsonrpc.CodeInvalidParams, "invalid params: %v", err)
	case !begun && !slices.Contains(served, r.method):
		return errorf(jsonrpc.CodeMethodNotFound, "method %s is not served here; the native methods begin with agenttool/", quoted(r.method))
	case !begun && !c.legacy:
		return errorf(jsonrpc.CodeInvalidParams, "invalid params: _meta cannot be read; params may nest 1000 levels at most")
	case !begun:
		return errorf(jsonrpc.CodeInvalidRequest, "invalid request: %s came before initialize; send initialize first, or %s in _meta", quoted(r.method), metaProtocolVersion)
	}
	return err
}

// tell writes a notification, or asks the client.
func (c *connection) tell(ctx context.Context, m *jsonrpc.Request) error {
	q := &c.stream.requests
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case m.IsCall() && !c.legacy:
		return rejected("a stateless client is not asked; it gets the question as its result")
	case m.IsCall() && !q.ask(m.ID):
		return rejected("the input has ended: nobody is left to answer")
	case m.Method == methodCancelled:
		if id, err := canceledID(m); err == nil {
			q.answered(id)
		}
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		q.answered(m.ID)
		return rejected(err.Error())
	}
	c.stream.o.Write(data, m.Method == methodProgress)
	return nil
}

// end is the end of input.
func (c *connection) end() { c.endOnce.Do(func() { close(c.ended) }) }

// Close implements sdk.Connection: the SDK has ended. Requests that it has not answered get an error.
func (c *connection) Close() error {
	c.end()
	c.closeOnce.Do(func() {
		for id, r := range c.stream.requests.all() {
			if r.conn == c {
				c.stream.fail(id, errEnding)
			}
		}
		close(c.closed)
	})
	return nil
}

// maxErrorText bounds the text of an error, in bytes: the SDK quotes what it cannot read.
const maxErrorText = 2 << 10

// rejected is an error that the SDK takes for one of a single message: the connection stays usable.
func rejected(why string) error { return errorf(codeRejected, "%s", why) }

const codeRejected = -32005

// code returns the JSON-RPC code of an error, 0 if it has none.
func code(err error) int64 {
	if coded, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return coded.Code
	}
	return 0
}

// wireError is the error for a client: an error without a code is internal.
func wireError(err error) *jsonrpc.Error {
	e := &jsonrpc.Error{Code: code(err), Message: cut.Short(err.Error(), maxErrorText)}
	if coded, ok := errors.AsType[*jsonrpc.Error](err); ok {
		e.Data = coded.Data
	}
	switch {
	case errors.Is(err, context.Canceled):
		e.Code, e.Message = jsonrpc.CodeInternalError, "the request was canceled"
	case e.Code == 0:
		e.Code = jsonrpc.CodeInternalError
	}
	return e
}

func quoted(text string) string { return fmt.Sprintf("%q", cut.Short(text, maxErrorText)) }

// encodeResult returns a response. The id is repeated as it was spelled.
func encodeResult(id, result json.RawMessage) []byte {
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`), result, []byte("}"))
}

// encodeError returns an error response. A nil id is null.
func encodeError(id json.RawMessage, e *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	value, err := agenttool.Encode(e)
	if err != nil {
		value = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	return slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"error":`), value, []byte("}"))
}

// recovering keeps a panic of a handler from ending the process: it is the answer to its request.
func recovering(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				result, err = nil, errorf(jsonrpc.CodeInternalError, "internal error: %s; this is a bug in toolhost", cut.Short(fmt.Sprint(p), maxErrorText))
			}
		}()
		return next(ctx, method, req)
	}
}
