// Package native serves the agenttool/* family of messages: calls, batches, records, events, decisions, replay.
//
// None of its methods needs a hello first. It sends no requests of its own: a prompt is the event
// tool.permission.requested, its answer is agenttool/decide. Events are written only after the client asked for them.
package native

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/wire/stdio"
)

// Options says what the family serves.
type Options struct {
	Host      *host.Host
	Writer    *stdio.Writer
	Session   agenttool.SessionID
	Version   string                // of this build
	Sandbox   map[string]any        // the sandbox in the result of hello; it has a level
	Met       func(client string)   // told of the name of a client that says hello; nil: nobody
	Stop      func()                // called when the client asked for the end and has its answer
	Approvals func() map[string]any // the ways to answer prompts in the result of hello; nil: none
	Person    *Person               // not nil: the other end is no client, but the person who has the session
}

// Person configures the service for the person of a session, who uses another terminal than the client: the status, some calls,
// and prompts if the person may answer them.
type Person struct {
	Tools    []string                      // that they may call
	Vet      func(code string) PeerVerdict // whether the peer may answer prompts; code is the session's, if the peer knows it
	Warnings func() []string               // for the person
	Reload   func() error                  // puts settings in force that are held back

	// Loosens vets the code for a looser mode. Without a code it has the session show one, and says so in its error. Nil: no mode can be chosen.
	Loosens func(code string, m agenttool.Mode) error

	Forward func(job string, port, as int) (Forward, error) // makes a port of a job reachable; nil: it cannot be done

	// Pair opens a pairing of a browser with the page of this session, or ends all if end is set. Nil: there is no page.
	Pair func(end bool) (Pairing, error)
}

// Pairing says how a browser is paired.
type Pairing struct {
	URL         string `json:"url"`
	Code        string `json:"code,omitempty"` // it counts once
	ExpiresIn   int    `json:"expires_in_s,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"` // SHA-256 of the certificate; empty: there is no TLS
	Ended       int    `json:"ended,omitempty"`       // pairings that were ended
}

// PeerVerdict says whether a peer may answer prompts.
type PeerVerdict struct {
	May       bool           `json:"may_answer"`
	Why       string         `json:"why,omitempty"`        // not
	NeedsCode bool           `json:"needs_code,omitempty"` // the code that the session shows would change that
	Scopes    []prompt.Scope `json:"scopes,omitempty"`     // that answers may have

	By agenttool.Answerer `json:"-"` // the peer
}

// Family is the native family on one stream. It implements stdio.Family.
type Family struct {
	o      Options
	events *host.Subscription

	mu       sync.Mutex
	inFlight map[string]bool // ids of requests without a response
	slow     sync.WaitGroup  // requests that are answered beside the host's calls
	detach   func()          // takes back that the client answers prompts; nil if it does not
	vetted   PeerVerdict     // of the person at the other end
	client   string          // as it names itself
	forwards []Forward       // that end with the connection
	left     bool            // nothing more is forwarded
}

// New returns the family.
func New(o Options) *Family {
	f := &Family{o: o, inFlight: map[string]bool{}}
	f.events = &host.Subscription{Level: host.EventsNone, Tell: f.tell}
	o.Host.Subscribe(f.events)
	return f
}

// Leave says that the other end has gone: it hears nothing more, and answers no prompts.
func (f *Family) Leave() {
	f.answersPrompts(false)
	f.endForwards()
	f.o.Host.Unsubscribe(f.events)
}

// personal are the methods that the person of a session is served.
var personal = []string{"agenttool/hello", "agenttool/status", "agenttool/invoke", "agenttool/prompts", "agenttool/decide", "agenttool/grants", "agenttool/reload",
	"agenttool/mode", "agenttool/try", "agenttool/pair",
	"agenttool/forward", "agenttool/forwarded"}

// Owns implements stdio.Family.
func (f *Family) Owns(method string) bool { return strings.HasPrefix(method, "agenttool/") }

// method is one row of the table of methods. A quick one answers by itself, in the reader's goroutine, so that its
// effect comes before the next message; the others answer later, through reply.
type method struct {
	quick  func(f *Family, params json.RawMessage) (any, error)
	slow   func(f *Family, id, params json.RawMessage) error
	urgent bool // served even if the client does not read: it ends something
}

// quick is a quick method whose parameters are a P.
func quick[P any](serve func(f *Family, params P) (any, error)) method {
	return method{quick: func(f *Family, params json.RawMessage) (any, error) {
		var p P
		if err := decode(params, &p); err != nil {
			return nil, err
		}
		return serve(f, p)
	}}
}

// slow is a method whose parameters are a P, and which answers later.
func slow[P any](serve func(f *Family, id json.RawMessage, params P) error) method {
	return method{slow: func(f *Family, id, params json.RawMessage) error {
		var p P
		if err := decode(params, &p); err != nil {
			return err
		}
		return serve(f, id, p)
	}}
}

func urgent(m method) method {
	m.urgent = true
	return m
}

var methods = map[string]method{
	"agenttool/hello":       quick((*Family).hello),
	"agenttool/invoke":      slow((*Family).invoke),
	"agenttool/batch":       slow((*Family).batch),
	"agenttool/cancel":      urgent(quick((*Family).cancel)),
	"agenttool/decide":      urgent(slow((*Family).decide)),
	"agenttool/prompts":     quick((*Family).prompts),
	"agenttool/grants":      quick((*Family).grants),
	"agenttool/try":         quick((*Family).try),
	"agenttool/reload":      {quick: (*Family).reload},
	"agenttool/pair":        {quick: (*Family).pair},
	"agenttool/forward":     slow((*Family).forward),
	"agenttool/forwarded":   slow((*Family).forwarded),
	"agenttool/surface":     quick((*Family).surface),
	"agenttool/search":      quick((*Family).search),
	"agenttool/load":        quick((*Family).load),
	"agenttool/read_result": slow((*Family).readResult),
	"agenttool/replay":      slow((*Family).replay),
	"agenttool/mode":        quick((*Family).mode),
	"agenttool/status":      slow((*Family).status),
	"agenttool/shutdown":    urgent(slow((*Family).shutdown)),
}

// Receive implements stdio.Family. A panic ends the request, and not the stream.
func (f *Family) Receive(m stdio.Message) {
	defer func() {
		if p := recover(); p != nil {
			f.fail(m.ID, stdio.Errorf(stdio.CodeInternal, "internal error: %v; this is a bug in toolhost", p))
		}
	}()
	row, known := methods[m.Method]
	known = known && (f.o.Person == nil || slices.Contains(personal, m.Method))
	switch {
	case m.ID != nil && !f.admit(m.ID):
		// Answered without the id: with it, the client would take this for the answer to the first.
		f.o.Writer.Reply(nil, nil, stdio.Errorf(stdio.CodeInvalidRequest, "invalid request: id %s belongs to a request that is not answered yet", m.ID))
	case known && !row.urgent && f.o.Writer.Busy():
		f.fail(m.ID, stdio.Errorf(stdio.CodeBusy, "busy: too many results wait to be read; read them, then send this again"))
	case !known:
		f.fail(m.ID, stdio.Errorf(stdio.CodeMethodNotFound, "method %q is not known; the native methods are %s", m.Method, strings.Join(slices.Sorted(maps.Keys(methods)), ", ")))
	case row.quick != nil:
		result, err := row.quick(f, m.Params)
		if err != nil {
			f.fail(m.ID, err)
			return
		}
		f.reply(m.ID, result)
	default:
		if err := row.slow(f, m.ID, m.Params); err != nil {
			f.fail(m.ID, err)
		}
	}
}

// Drain implements stdio.Family: this client answers prompts no longer, and all accepted calls get their results.
func (f *Family) Drain(ctx context.Context) {
	f.answersPrompts(false)
	f.endForwards()
	f.o.Host.Drain(ctx)
	f.slow.Wait()
}

func (f *Family) admit(id json.RawMessage) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inFlight[meaning(id)] {
		return false
	}
	f.inFlight[meaning(id)] = true
	return true
}

// meaning returns one text for all spellings of an id.
func meaning(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) == nil {
		return "string " + text
	}
	var n int64
	if json.Unmarshal(id, &n) == nil {
		return strconv.FormatInt(n, 10)
	}
	return string(id)
}

func (f *Family) answered(id json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.inFlight, meaning(id))
}

// reply answers a request; a notification gets no answer.
func (f *Family) reply(id json.RawMessage, result any) {
	if id == nil {
		return
	}
	var encoded []byte
	var err error
	if m, ok := result.(json.Marshaler); ok { // directly: the bytes of a model's input are kept
		encoded, err = m.MarshalJSON()
	} else {
		encoded, err = agenttool.Encode(result)
	}
	f.answered(id)
	if err != nil {
		f.o.Writer.Reply(id, nil, stdio.Errorf(stdio.CodeInternal, "internal error: %v", err))
		return
	}
	f.o.Writer.Reply(id, encoded, nil)
}

// replyIn answers a request with an encoded result in parts, which together may be too large to be copied once more.
func (f *Family) replyIn(id json.RawMessage, parts ...[]byte) {
	if id == nil {
		return
	}
	f.answered(id)
	f.o.Writer.ReplyIn(id, parts...)
}

// fail answers a request with an error.
func (f *Family) fail(id json.RawMessage, err error) {
	if id == nil {
		return
	}
	f.answered(id)
	f.o.Writer.Reply(id, nil, wireError(err))
}

func wireError(err error) *stdio.Error {
	var wire *stdio.Error
	var failure *agenttool.Error
	switch {
	case errors.As(err, &wire):
		return wire
	case errors.Is(err, host.ErrBusy):
		return stdio.Errorf(stdio.CodeBusy, "%v", err)
	case host.IsRefused(err):
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %s", strings.TrimPrefix(err.Error(), host.ErrRequest.Error()+": "))
	case errors.As(err, &failure):
		e := stdio.Errorf(stdio.CodeInvalidParams, "%s", failure.Message)
		e.Data = map[string]any{"error": failure}
		return e
	}
	return stdio.Errorf(stdio.CodeInternal, "internal error: %v", err)
}

// tell writes an event. It is called in order and does not block. A slow client loses progress, but not the end of a job: there
// is one for each call at most, and calls are refused while too much is unread.
func (f *Family) tell(e host.Notice) {
	head := strconv.AppendInt([]byte(`{"jsonrpc":"2.0","method":"agenttool/event","params":{"seq":`), e.Seq, 10)
	f.o.Writer.Send(e.Type == agenttool.EventProgress && !e.Final, head, []byte(`,"event":`), e.Event, []byte("}}"))
}
