package mcp

import (
	"errors"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"toolhost/agenttool/json"
)

// requests are the requests of one stream that wait for a response, from the client and to it. The keys are ids by value,
// so that all spellings of an id are one.
type requests struct {
	mu     sync.Mutex
	served map[jsonrpc.ID]*request
	asked  map[jsonrpc.ID]bool
	size   int           // of the served ones, in bytes
	ending bool          // no more are taken on
	idle   chan struct{} // closed when it is ending and all are answered
}

// request is one of the client.
type request struct {
	spelled  json.RawMessage // its id, as it came
	method   string
	size     int         // of the line, in bytes
	conn     *connection // that serves it; nil: it is being refused
	canceled bool        // its response is not written
}

// Bounds of the requests in flight on one stream. A request above maxRequestBytes is accepted if it is the only one.
const (
	maxRequests     = 4096
	maxRequestBytes = 64 << 20
)

var (
	errInFlight error = errorf(jsonrpc.CodeInvalidRequest, "invalid request: the id belongs to a request that is not answered yet")
	errTooMany  error = errorf(codeBusy, "busy: too many requests are not answered yet; send this again when some are")
	errEnding   error = errorf(jsonrpc.CodeInternalError, "the input has ended; this was canceled")
)

func newRequests() requests {
	return requests{served: map[jsonrpc.ID]*request{}, asked: map[jsonrpc.ID]bool{}, idle: make(chan struct{})}
}

// add takes a request on, or returns errInFlight, errTooMany or errEnding.
func (q *requests) add(id jsonrpc.ID, r *request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.served[id] != nil:
		return errInFlight
	case q.ending:
		return errEnding
	case len(q.served) >= maxRequests, len(q.served) > 0 && q.size+r.size > maxRequestBytes:
		return errTooMany
	}
	q.served[id] = r
	q.size += r.size
	return nil
}

// get returns a request that has no response yet, nil if there is none.
func (q *requests) get(id jsonrpc.ID) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.served[id]
}

// cancel notes that a request gets no response. It returns the request if it is being served, else nil. A handshake
// cannot be canceled.
func (q *requests) cancel(id jsonrpc.ID) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.served[id]
	if r == nil || r.conn == nil || r.canceled || r.method == methodInitialize {
		return nil
	}
	r.canceled = true
	return r
}

// answer ends a request. It calls write if the request had no response and was not canceled; neither can happen while
// it writes.
func (q *requests) answer(id jsonrpc.ID, write func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.served[id]
	if r == nil {
		return
	}
	delete(q.served, id)
	q.size -= r.size
	if !r.canceled {
		write()
	}
	if q.ending && len(q.served) == 0 {
		close(q.idle)
	}
}

// unanswered counts the requests of a method that have no response and still want one.
func (q *requests) unanswered(method string) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.served {
		if r.method == method && r.conn != nil && !r.canceled {
			n++
		}
	}
	return n
}

// all returns the requests that are being served.
func (q *requests) all() map[jsonrpc.ID]*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := maps.Clone(q.served)
	maps.DeleteFunc(all, func(_ jsonrpc.ID, r *request) bool { return r.conn == nil })
	return all
}

// ask notes a request to the client. It reports false if the client can answer no more.
func (q *requests) ask(id jsonrpc.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ending {
		q.asked[id] = true
	}
	return !q.ending
}

// answered notes a response of the client. It reports whether that request was open.
func (q *requests) answered(id jsonrpc.ID) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.asked[id]
	delete(q.asked, id)
	return was
}

// open returns the requests that the client has not answered.
func (q *requests) open() []jsonrpc.ID {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Collect(maps.Keys(q.asked))
}

// end stops new requests. It returns a channel that is closed when the last request is answered.
func (q *requests) end() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ending && len(q.served) == 0 {
		close(q.idle)
	}
	q.ending = true
	return q.idle
}

// over reports whether no more will come.
func (q *requests) over() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ending
}

// readID returns an id by value. Fractions, null and numbers that a float64 does not hold are no ids.
func readID(spelled json.RawMessage) (jsonrpc.ID, error) {
	var v any
	if err := json.Unmarshal(spelled, &v); err != nil {
		return jsonrpc.ID{}, errBadID
	}
	switch id := v.(type) {
	case string:
		return jsonrpc.MakeID(id)
	case json.Number:
		if n, err := id.Float64(); err == nil && n == math.Trunc(n) && math.Abs(n) <= 1<<53 {
			return jsonrpc.MakeID(n)
		}
	}
	return jsonrpc.ID{}, errBadID
}

var errBadID error = errorf(jsonrpc.CodeInvalidRequest, `invalid request: "id" must be a string or an integer within 2^53`)

// cancellation is the notification that makes a session stop a request.
func cancellation(id json.RawMessage) *jsonrpc.Request {
	return &jsonrpc.Request{Method: methodCancelled, Params: slices.Concat([]byte(`{"requestId":`), id, []byte("}"))}
}

// canceledID returns which request a cancellation is for.
func canceledID(m *jsonrpc.Request) (jsonrpc.ID, error) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return jsonrpc.ID{}, errors.Join(errBadID, err)
	}
	return readID(params.RequestID)
}
