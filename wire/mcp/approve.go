package mcp

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/host/prompt"
)

// stateless reports whether a request says in its _meta that it is of such a revision.
func stateless(meta sdk.Meta) bool {
	version, _ := meta[sdk.MetaKeyProtocolVersion].(string)
	return isModern(version)
}

// answers reports whether the client of a request can show forms. A stateless client says so in the request, others
// in the handshake of their session.
func answers(req *sdk.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	if caps == nil || caps.Elicitation == nil || caps.Elicitation.Form == nil && caps.Elicitation.URL != nil {
		return false
	}
	return stateless(req.Params.Meta) || !isModern(req.ProtocolVersion())
}

// hold remembers a question that the client was given.
func (f *flight) hold(q question) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = &q
}

// pending returns the question that waits for the client's answer, nil if there is none.
func (f *flight) pending() *question {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case q := <-f.asks:
		f.open = &q
	default:
	}
	if f.open != nil && f.open.done() {
		f.open = nil
	}
	return f.open
}

// settle forgets a question that is being answered.
func (f *flight) settle(q *question) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == q {
		f.open = nil
	}
}

// again repeats the open question for the request that now waits for the flight.
func (f *flight) again() {
	q := f.pending()
	f.mu.Lock()
	defer f.mu.Unlock()
	if q == nil || q != f.open || len(f.asks) > 0 {
		return
	}
	f.asks <- *q
}

// ask has the client asked. In the stateless way the result asks, and the call waits in the host for a later request;
// else there is no result, and the call goes on when ask returns.
func (s *Server) ask(ctx context.Context, req *sdk.CallToolRequest, f *flight, q question) (sdk.Result, error) {
	switch {
	case q.done():
		return nil, nil
	case !answers(req): // another request of the call said so
		s.decide(ctx, f, q, newForm(q.Prompt).unseen("the client cannot be asked any more"))
		return nil, nil
	case stateless(req.Params.Meta):
		return s.inputRequired(f, q)
	}
	return nil, s.elicit(ctx, req.Session, f, q)
}

// inputRequired is a result that asks. Its ResultType says so.
type inputRequired struct {
	sdk.ResultBase
	ResultType    string              `json:"resultType"`
	InputRequests sdk.InputRequestMap `json:"inputRequests"`
	RequestState  string              `json:"requestState"`
}

// approvalKey names the one question of a result that asks.
const approvalKey = "approval"

// inputRequired returns the question with the state that the answer must bring back. There is no result if the call has
// ended meanwhile.
func (s *Server) inputRequired(f *flight, q question) (sdk.Result, error) {
	if !s.flights.hand(f) {
		return nil, nil
	}
	f.hold(q)
	return &inputRequired{
		ResultType:    "input_required",
		InputRequests: sdk.InputRequestMap{approvalKey: newForm(q.Prompt).params()},
		RequestState:  s.key.seal(stateOf(f, q.Prompt)),
	}, nil
}

// elicit sends the question as a request to the client and answers the prompt with the response. It returns when the
// prompt needs no answer any more; if the client still shows the form, elicit cancels the request.
func (s *Server) elicit(ctx context.Context, session *sdk.ServerSession, f *flight, q question) error {
	asking, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { // ends with asking
		select {
		case <-q.over:
			stop()
		case <-asking.Done():
		}
	})
	shown := newForm(q.Prompt)
	res, err := session.Elicit(asking, shown.params())
	stop()
	watch.Wait()
	if ctx.Err() != nil || q.done() {
		return nil
	}
	a := shown.answer(res)
	if err != nil { // the SDK says so of an answer that is not as the form has it, too
		a = shown.unseen("the client did not answer as it was asked: " + err.Error())
	}
	s.decide(ctx, f, q, a)
	return nil
}

// How often an answer is tried if the host cannot take it at once, and the time in between. The host is then storing
// another answer to the same prompt.
const (
	decideTries = 5
	decideAgain = 100 * time.Millisecond
)

// decide answers a prompt. If the host cannot grant the scope, the answer counts once. If the host takes no answer at all,
// decide ends the call, because the client would not get the question again.
func (s *Server) decide(ctx context.Context, f *flight, q question, a prompt.Answer) {
	a.Channel.By.Client = f.client
	var err error
	for range decideTries {
		if _, err = s.o.Host.Decide(a); err == nil {
			return
		}
		if a.Scope != prompt.ScopeOnce && a.Behavior == agenttool.Allow {
			a.Scope = prompt.ScopeOnce
			continue
		}
		select {
		case <-q.over:
			return
		case <-ctx.Done():
			return
		case <-time.After(decideAgain):
		}
	}
	s.o.Host.Cancel(f.id, "the answer of the client could not be taken: "+err.Error())
}

// maxReason is the number of bytes of a client's error that the model gets.
const maxReason = 4 << 10

// answer makes an answer to the prompt from a client's response. Only a response that fits the form allows anything; nil
// denies.
func (f form) answer(res *sdk.ElicitResult) prompt.Answer {
	if res == nil {
		return f.unseen("the client gave no answer")
	}
	switch res.Action {
	case "accept":
	case "decline":
		return f.unseen("the client declined, which it may do by its own settings")
	case "cancel":
		return f.unseen("the question was dismissed without an answer")
	default:
		return f.unseen("the client's answer could not be understood")
	}
	scope, fits := f.chosen(res.Content)
	if !fits {
		return f.unseen("the client's answer could not be understood")
	}
	return prompt.Answer{DecisionID: f.decision, Behavior: agenttool.Allow, Scope: scope, Opens: f.opens, Channel: channel(), Alone: true}
}

// unseen denies if it is unknown whether a person decided.
func (f form) unseen(why string) prompt.Answer {
	return prompt.Answer{DecisionID: f.decision, Behavior: agenttool.Deny, Channel: channel(), Alone: true, Unseen: cut.Head(why, maxReason)}
}

// channel is how answers come that MCP clients give.
func channel() prompt.Channel { return prompt.Channel{Name: "MCP client"} }

// resume resumes the call whose state the request brings. An answer counts if it is for the question of that state and the
// question is still open: a state that is used again approves nothing. A late answer gets the result of the ended call,
// so that the client does not call twice.
func (s *Server) resume(ctx context.Context, req *sdk.CallToolRequest) (*flight, error) {
	st, err := s.key.unseal(req.Params.RequestState)
	if err != nil {
		return nil, invalidParams(err.Error())
	}
	again := digest(req.Params.Name, arguments(req.Params.Arguments))
	if !bytes.Equal(again[:], st.Digest) {
		return nil, invalidParams("requestState belongs to a call with another name or other arguments; send those again that it was given for")
	}
	f := s.flights.get(st.Flight)
	switch {
	case f == nil:
		return nil, invalidParams("the call that requestState belongs to is over, and its result is not kept any more; call again without it")
	case !stateless(req.Params.Meta):
		return nil, invalidParams("requestState is of a request of revision " + firstStateless + " or later; so must be the one that brings it back")
	}
	s.answered(ctx, f, st, req.Params.InputResponses)
	f.again()
	return f, nil
}

// answered takes the answer to the question that the state was given with, if there is one and the question is open.
func (s *Server) answered(ctx context.Context, f *flight, st state, responses sdk.InputResponseMap) {
	response, ok := responses[approvalKey]
	q := f.pending()
	if !ok || q == nil || q.Decision.DecisionID != st.Decision || time.Now().UnixMilli() > st.Expires {
		return
	}
	s.respond(ctx, f, q, response)
}

// respond answers a question with the response of a client. A response that is no answer to a form denies.
func (s *Server) respond(ctx context.Context, f *flight, q *question, response sdk.InputResponse) {
	res, _ := response.(*sdk.ElicitResult)
	f.settle(q)
	s.decide(ctx, f, *q, newForm(q.Prompt).answer(res))
}

// form is a prompt as an MCP client shows it: a text, and at most one field below it, which can be left out (MCP-09). To accept allows
// the call once, unless the field says more.
type form struct {
	decision agenttool.DecisionID
	message  string
	scopes   []prompt.Scope // beyond once for which it can be allowed: the rules that this adds are in the message
	opens    []string       // directories that the message says stay open
	whole    bool           // the call can be allowed at all: its command or input, and its grants, are in the message
}

// The field of the form, and its choices.
const (
	fieldAnswer = "answer"

	choiceOnce    = "allow_once"
	choiceSession = "allow_session"
	choiceProject = "allow_project"
)

// choices are the choices by their scopes, in the order of the form.
var choices = []struct {
	scope       prompt.Scope
	value, name string
}{
	{prompt.ScopeOnce, choiceOnce, "Allow once"},
	{prompt.ScopeSession, choiceSession, "Allow for this session"},
	{prompt.ScopeProject, choiceProject, "Allow in this project"},
}

// newForm returns the form of a prompt. It is the same whenever it is made of the same prompt.
func newForm(p prompt.Prompt) form {
	q := p.Form()
	f := form{decision: p.Decision.DecisionID, message: q.Text, opens: q.Opens, whole: q.Once}
	if q.Session && q.Once {
		f.scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s prompt.Scope) bool { return s == prompt.ScopeOnce })
	}
	return f
}

// params is the form for the client. Its schema uses enum with enumNames, as clients of 2025-06-18 expect.
func (f form) params() *sdk.ElicitParams {
	properties := map[string]any{}
	var values, names []string
	for _, c := range choices {
		if f.offers(c.scope) {
			values, names = append(values, c.value), append(names, c.name)
		}
	}
	if len(values) > 1 {
		properties[fieldAnswer] = map[string]any{"type": "string", "title": "Answer", "enum": values, "enumNames": names, "default": choiceOnce}
	}
	return &sdk.ElicitParams{Mode: "form", Message: f.message, RequestedSchema: map[string]any{"type": "object", "properties": properties}}
}

// offers reports whether the call can be allowed for a scope.
func (f form) offers(s prompt.Scope) bool {
	return f.whole && (s == prompt.ScopeOnce || slices.Contains(f.scopes, s))
}

// chosen returns the scope of an accepted form. It fails for content that does not fit the form.
func (f form) chosen(content map[string]any) (prompt.Scope, bool) {
	answer, given := content[fieldAnswer]
	switch {
	case len(content) == 0, len(content) == 1 && given && answer == nil:
		return prompt.ScopeOnce, f.whole
	case len(content) > 1:
		return "", false
	}
	for _, c := range choices {
		if answer == any(c.value) {
			return c.scope, f.offers(c.scope)
		}
	}
	return "", false
}
