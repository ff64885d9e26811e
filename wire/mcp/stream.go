package mcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
)

// Line is one message of a stream, as the line reader understood it.
type Line struct {
	ID     json.RawMessage // a string or an integer; nil for a notification
	Method string          // empty for a response
	Params json.RawMessage
	Raw    []byte // the whole line; the stream may keep it
}

// StreamOptions says where the messages of a stream go. The functions must not block for long.
type StreamOptions struct {
	// Write writes one message, without its line end. It may drop a droppable message if the client does not read.
	Write func(message []byte, droppable bool)

	// Room waits while the client has too much unread, so that results do not grow without bound; nil: nothing waits.
	Room func()

	// Busy reports that so much is unread that no more work should be taken on; nil: never.
	Busy func() bool
}

// Stream serves one client over lines. Its messages may come in any order and of both eras: each era has its own session
// of the SDK, since a session remembers one handshake.
//
// Every request that is received is answered once, unless its client cancels it before. Drain ends a stream.
type Stream struct {
	o        StreamOptions
	server   *sdk.Server
	requests requests
	begun    atomic.Int64 // calls that the host has and that are not answered

	admission *admission // keeps calls in their order; nil: the server does not say when the host has a call

	mu             sync.Mutex  // held while a message is received
	legacy, modern *connection // nil: no request of that era came yet
}

func newStream(server *sdk.Server, o StreamOptions) *Stream {
	if o.Room == nil {
		o.Room = func() {}
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	return &Stream{o: o, server: server, requests: newRequests()}
}

// Owns reports whether messages of that method are the stream's: all that are not of the native family, responses
// included.
func (st *Stream) Owns(method string) bool { return !strings.HasPrefix(method, "agenttool/") }

// Receive takes one message. It does not block on work.
func (st *Stream) Receive(l Line) {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case l.Method == "":
		st.answered(l)
	case l.ID != nil:
		st.serve(l)
	case l.Method == methodCancelled:
		st.cancel(l)
	default:
		st.notified(l)
	}
}

// serve hands a request to the session of its era.
func (st *Stream) serve(l Line) {
	id, err := readID(l.ID)
	if err != nil {
		st.refuse(nil, err)
		return
	}
	c, refusal := st.route(l)
	r := &request{spelled: l.ID, method: l.Method, size: len(l.Raw), conn: c}
	err = st.requests.add(id, r)
	if errors.Is(err, errInFlight) {
		// Answered without the id: with it, the client would take this for the answer to the first.
		st.refuse(nil, err)
		return
	}
	if err != nil {
		st.refuse(l.ID, err)
		return
	}
	if refusal == nil && l.Method == methodCall {
		st.admission.next(r)
	}
	if refusal == nil && !c.push(&jsonrpc.Request{ID: id, Method: l.Method, Params: l.Params, Extra: withID(l.ID)}) {
		refusal = errEnding
	}
	if refusal != nil {
		st.fail(id, refusal)
	}
}

// route returns the connection that serves a request, or why none does.
func (st *Stream) route(l Line) (*connection, error) {
	switch {
	case st.requests.over():
		return nil, errEnding
	case strings.HasPrefix(l.Method, notifications):
		return nil, errorf(jsonrpc.CodeInvalidRequest, "invalid request: %q is a notification and has no id", l.Method)
	case st.o.Busy():
		return nil, errorf(codeBusy, "busy: too many results wait to be read; read them, then send this again")
	}
	version, given := protocolVersion(l.Params)
	switch {
	case l.Method == methodDiscover, isModern(version):
		return st.session(&st.modern)
	case given && st.legacy == nil:
		return nil, unsupported(version)
	}
	return st.session(&st.legacy)
}

// session returns the connection of an era; the first time it makes its session.
func (st *Stream) session(era **connection) (*connection, error) {
	if *era != nil {
		return *era, nil
	}
	c := newConnection(st, era == &st.legacy)
	var err error
	if c.session, err = st.server.Connect(withStream(context.Background(), st), c, nil); err != nil {
		return nil, errorf(jsonrpc.CodeInternalError, "internal error: %v", err)
	}
	*era = c
	return c, nil
}

// notified hands a notification to the handshake's session. The stateless era has none but the cancellation.
func (st *Stream) notified(l Line) {
	if c := st.legacy; c != nil {
		c.push(&jsonrpc.Request{Method: l.Method, Params: l.Params})
	}
}

// cancel takes a request back: its response is not written any more.
func (st *Stream) cancel(l Line) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(l.Params, &params) != nil {
		return
	}
	id, err := readID(params.RequestID)
	if err != nil {
		return
	}
	if r := st.requests.cancel(id); r != nil {
		r.conn.push(cancellation(r.spelled))
	}
}

// answered hands the client's answer to the session that asked.
func (st *Stream) answered(l Line) {
	id, err := readID(l.ID)
	if err != nil || !st.requests.answered(id) {
		return
	}
	m, err := jsonrpc.DecodeMessage(l.Raw)
	response, ok := m.(*jsonrpc.Response)
	if err != nil || !ok {
		response = &jsonrpc.Response{Error: errorf(jsonrpc.CodeInvalidRequest, "the client's answer cannot be read: %v", err)}
	}
	response.ID = id
	st.legacy.push(response)
}

// Drain ends the input. It returns when every accepted request is answered, or soon after ctx ends. Open questions to the
// client count as refused, and its subscriptions end.
func (st *Stream) Drain(ctx context.Context) {
	idle := st.hangUp()
	select {
	case <-idle:
	case <-ctx.Done():
		st.abort(idle)
	}
	connections := st.connections()
	for _, c := range connections {
		c.end()
	}
	limit := time.After(grace)
	for _, c := range connections {
		select {
		case <-c.closed:
		case <-limit:
			return
		}
	}
}

// grace is how long calls that were canceled at the end may take to notice.
const grace = time.Second

func (st *Stream) connections() []*connection {
	st.mu.Lock()
	defer st.mu.Unlock()
	var all []*connection
	for _, c := range []*connection{st.legacy, st.modern} {
		if c != nil {
			all = append(all, c)
		}
	}
	return all
}

// hangUp ends all waiting for the client. It returns a channel that is closed when all requests are answered.
func (st *Stream) hangUp() <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	idle := st.requests.end()
	for _, id := range st.requests.open() {
		if st.requests.answered(id) {
			st.legacy.push(&jsonrpc.Response{ID: id, Error: errEnding})
		}
	}
	for _, r := range st.requests.all() {
		if r.method == methodListen {
			r.conn.push(cancellation(r.spelled))
		}
	}
	return idle
}

// abort cancels what has not ended, and answers what does not notice.
func (st *Stream) abort(idle <-chan struct{}) {
	for _, r := range st.requests.all() {
		r.conn.push(cancellation(r.spelled))
	}
	select {
	case <-idle:
		return
	case <-time.After(grace):
	}
	for id := range st.requests.all() {
		st.fail(id, errEnding)
	}
}

// fail answers an accepted request with an error.
func (st *Stream) fail(id jsonrpc.ID, err error) {
	if r := st.requests.get(id); r != nil {
		st.finish(id, encodeError(r.spelled, wireError(err)))
	}
}

// finish writes the response of a request, unless it has one or was canceled.
func (st *Stream) finish(id jsonrpc.ID, response []byte) {
	st.admission.refused(st.requests.get(id))
	st.requests.answer(id, func() { st.o.Write(response, false) })
}

// refuse answers a request that was not accepted. A nil id is written as null.
func (st *Stream) refuse(id json.RawMessage, err error) {
	st.o.Write(encodeError(id, wireError(err)), false)
}

// unsupported is the error of a request of a revision that has no stateless requests.
func unsupported(version string) error {
	e := errorf(sdk.CodeUnsupportedProtocolVersion, "unsupported protocol version %s in _meta; revisions before %s begin with initialize", quoted(version), firstStateless)
	e.Data, _ = agenttool.Encode(sdk.UnsupportedProtocolVersionData{Supported: sdk.SupportedProtocolVersions(), Requested: cut.Short(version, maxErrorText)})
	return e
}

// admission keeps the calls of a stream in the order of their lines until the host has them. The SDK handles each request in
// a goroutine of its own, so the next call is handed to it only when the host has the one before. The zero value is ready,
// and nil keeps no order.
type admission struct {
	mu      sync.Mutex
	last    *request
	settled chan struct{} // closed when the host has the last call, or when that was refused; nil: no call came yet
}

// next waits until the host has the last call, at most settleTime, and begins another one.
func (a *admission) next(r *request) {
	if a == nil {
		return
	}
	a.mu.Lock()
	settled := a.settled
	a.mu.Unlock()
	if settled != nil {
		await(settled, settleTime)
	}
	a.mu.Lock()
	a.last, a.settled = r, make(chan struct{})
	a.mu.Unlock()
}

// await waits until a channel is closed, or for the limit.
func await(c <-chan struct{}, limit time.Duration) {
	select {
	case <-c:
		return
	default:
	}
	select {
	case <-c:
	case <-time.After(limit):
	}
}

// begun says that the host has the last call.
func (a *admission) begun() { a.settle(nil) }

// refused says that a call is answered: if it is the last one, and the SDK refused it, the host never has it.
func (a *admission) refused(r *request) {
	if r != nil {
		a.settle(r)
	}
}

// settle lets the next call begin if r is the last one; nil is whichever that is.
func (a *admission) settle(r *request) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.settled == nil || r != nil && r != a.last {
		return
	}
	a.last = nil // a later answer to the same request settles nothing
	select {
	case <-a.settled:
	default:
		close(a.settled)
	}
}

// How long it may take until one more of the calls that were received begins, and how often that is looked at.
const (
	settleTime  = 2 * time.Second
	settlePause = time.Millisecond
)

// streamKey is the key under which the context of a stream's requests has the stream; over HTTP there is none.
type streamKey struct{}

func withStream(ctx context.Context, st *Stream) context.Context {
	return context.WithValue(ctx, streamKey{}, st)
}

// waitRoom waits until the client of a request has read enough for another result; over HTTP none waits here.
func waitRoom(ctx context.Context) {
	if st, ok := ctx.Value(streamKey{}).(*Stream); ok {
		st.o.Room()
	}
}

// start is a call on its way from the line to the host.
type start struct {
	stream *Stream
	once   sync.Once
	begun  bool
}

type startKey struct{}

// starting returns the context of a call of the stream, and a function that ends the call. It does not count calls over HTTP.
func starting(ctx context.Context) (context.Context, func()) {
	st, ok := ctx.Value(streamKey{}).(*Stream)
	if !ok {
		return ctx, func() {}
	}
	s := &start{stream: st}
	return context.WithValue(ctx, startKey{}, s), func() {
		if s.begun {
			st.begun.Add(-1)
		}
	}
}

// hasBegun says that the host has the call now, or has refused it.
func hasBegun(ctx context.Context) {
	if s, ok := ctx.Value(startKey{}).(*start); ok {
		s.once.Do(func() { s.begun = true; s.stream.begun.Add(1) })
		s.stream.admission.begun()
	}
}

// Settle waits until every call that was received has begun in the host, or is answered: a host that drains takes no more.
// It returns soon after ctx ends, or when calls do not begin.
func (st *Stream) Settle(ctx context.Context) {
	limit := time.NewTimer(settleTime)
	defer limit.Stop()
	again := time.NewTicker(settlePause)
	defer again.Stop()
	for left := st.unbegun(); left > 0; {
		select {
		case <-again.C:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
		now := st.unbegun()
		if now < left {
			limit.Reset(settleTime) // on a busy machine it takes its time
		}
		left = now
	}
}

// unbegun is how many calls were received that have neither begun nor been answered.
func (st *Stream) unbegun() int64 {
	return int64(st.requests.unanswered(methodCall)) - st.begun.Load()
}
