package native

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/persist"
	"toolhost/wire/stdio"
)

// hello identifies the client and selects its events. A later hello replaces an earlier one.
func (f *Family) hello(p struct {
	Client    json.RawMessage `json:"client"`
	Events    host.Level      `json:"events"`
	Approvals bool            `json:"approvals"`
	Code      string          `json:"code"`
	Model     host.ModelClaim `json:"model"`
}) (any, error) {
	p.Events = cmp.Or(p.Events, host.EventsNone)
	if err := oneOf("events", p.Events, []host.Level{host.EventsNone, host.EventsResults, host.EventsProgress, host.EventsAll}); err != nil {
		return nil, err
	}
	if p.Model.Name != "" || p.Model.Unsupported != nil {
		if err := f.o.Host.Claim(p.Model); err != nil {
			return nil, err
		}
	}
	if f.client = clientName(p.Client); f.client != "" && f.o.Met != nil {
		f.o.Met(f.client)
	}
	view := f.o.Host.Surface().Listed()
	said := map[string]any{
		"session_id": f.o.Session, "schema_version": agenttool.SchemaVersion,
		"server": map[string]string{"name": "toolhost", "version": f.o.Version},
		"mode":   f.o.Host.Mode(), "sandbox": f.o.Sandbox, "workspace": f.o.Host.Workspace(),
		"surface": view.Surface, "declarations": view.Declarations,
	}
	if f.o.Approvals != nil {
		if note := f.o.Approvals(); note != nil {
			said["approvals"] = note
		}
	}
	if person := f.o.Person; person != nil {
		f.vetted = PeerVerdict{Why: "this session takes no answers here"}
		if person.Vet != nil && p.Approvals {
			f.vetted = person.Vet(p.Code)
			said["approvals"] = f.vetted
		}
		if person.Warnings != nil {
			said["warnings"] = person.Warnings()
		}
		p.Events, p.Approvals = host.EventsNone, p.Approvals && f.vetted.May
	}
	f.o.Host.Resubscribe(f.events, p.Events, p.Approvals)
	f.answersPrompts(p.Approvals)
	return said, nil
}

// clientName is the name that a client gave itself, and its version; "" if it gave none.
func clientName(claim json.RawMessage) string {
	const longest = 128
	var c struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if json.Unmarshal(claim, &c) != nil || c.Name == "" {
		return ""
	}
	return visible.Text(cut.Head(strings.TrimSuffix(c.Name+"/"+c.Version, "/"), longest))
}

// prompts lists the questions that wait for an answer.
func (f *Family) prompts(struct{}) (any, error) {
	return map[string]any{"prompts": f.o.Host.Prompts()}, nil
}

// grants lists the rules that were granted for this session, and takes one of them back.
func (f *Family) grants(p struct {
	Revoke string `json:"revoke"`
}) (any, error) {
	if p.Revoke != "" && f.o.Person != nil && !f.vetted.May {
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "no word is taken from here: %s", f.vetted.Why)
	}
	revoked := 0
	if p.Revoke != "" {
		revoked = f.o.Host.Revoke(p.Revoke)
	}
	granted := []string{}
	for _, r := range f.o.Host.Policy().Rules() {
		if r.Origin.Source == agenttool.SourceSession {
			granted = append(granted, r.Text)
		}
	}
	return map[string]any{"grants": granted, "revoked": revoked}, nil
}

// reload puts changed settings in force, on the word of the person.
func (f *Family) reload(params json.RawMessage) (any, error) {
	person := f.o.Person
	switch {
	case person == nil || person.Reload == nil:
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "a client cannot reload settings, because only the user may: run toolhost settings reload in a terminal")
	case !f.vetted.May:
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "no word is taken from here: %s", f.vetted.Why)
	}
	return struct{}{}, errors.Join(decode(params, &struct{}{}), person.Reload())
}

// pair opens a pairing of a browser, on the word of the person.
func (f *Family) pair(params json.RawMessage) (any, error) {
	var p struct {
		End bool `json:"end"`
	}
	person := f.o.Person
	switch {
	case person == nil || person.Pair == nil:
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "a client cannot pair a browser, because only the user may: run toolhost approve --pair in a terminal")
	case !f.vetted.May:
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "no word is taken from here: %s", f.vetted.Why)
	}
	if err := decode(params, &p); err != nil {
		return nil, err
	}
	pairing, err := person.Pair(p.End)
	if err != nil {
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "%v", err)
	}
	return pairing, nil
}

// answersPrompts says whether this client answers prompts from now on.
func (f *Family) answersPrompts(yes bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case yes && f.detach == nil:
		f.detach = f.o.Host.Attend()
	case !yes && f.detach != nil:
		f.detach()
		f.detach = nil
	}
}

// callParams are the params of agenttool/invoke, and the elements of a batch's calls.
type callParams struct {
	ID        string              `json:"id"`
	Tool      string              `json:"tool"`
	Input     json.RawMessage     `json:"input"`
	Batch     string              `json:"batch"`
	After     []string            `json:"after"`
	TimeoutMS int64               `json:"timeout_ms"`
	Surface   agenttool.SurfaceID `json:"surface_id"`
	Actor     string              `json:"actor"`
	Trace     json.RawMessage     `json:"trace"`
	Mapping   json.RawMessage     `json:"mapping"`
}

// maxTimeout is the longest deadline, in milliseconds, that a duration can hold.
const maxTimeout = int64(1<<63-1) / int64(time.Millisecond)

// request checks a call. Its actor is the client, if the call names none.
func (f *Family) request(p callParams) (host.Request, error) {
	switch {
	case p.ID == "":
		return host.Request{}, stdio.Errorf(stdio.CodeInvalidParams, `invalid params: "id" is missing: give each call an id that is unique among running calls`)
	case p.Tool == "":
		return host.Request{}, stdio.Errorf(stdio.CodeInvalidParams, `invalid params: "tool" is missing: name the tool to call`)
	case p.TimeoutMS < 0 || p.TimeoutMS > maxTimeout:
		return host.Request{}, stdio.Errorf(stdio.CodeInvalidParams, "invalid params: timeout_ms is out of range: give 0 for no deadline, or at most %d", maxTimeout)
	case len(p.Trace) > 0 && p.Trace[0] != '{':
		return host.Request{}, stdio.Errorf(stdio.CodeInvalidParams, "invalid params: trace must be an object: send one, or leave it out")
	case len(p.Mapping) > 0 && p.Mapping[0] != '{':
		return host.Request{}, stdio.Errorf(stdio.CodeInvalidParams, "invalid params: mapping must be an object: send one, or leave it out")
	}
	if p.Input == nil {
		p.Input = json.RawMessage("{}")
	}
	return host.Request{
		ID: p.ID, Tool: p.Tool, Input: p.Input, Batch: p.Batch, After: p.After,
		Timeout: time.Duration(p.TimeoutMS) * time.Millisecond, Surface: p.Surface, Actor: cmp.Or(p.Actor, f.client), Trace: p.Trace, Mapping: p.Mapping,
	}, nil
}

func (f *Family) invoke(id json.RawMessage, p callParams) error {
	r, err := f.request(p)
	if err != nil {
		return err
	}
	if person := f.o.Person; person != nil {
		if !slices.Contains(person.Tools, p.Tool) {
			return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: tool %q is not served here; %s are", p.Tool, strings.Join(person.Tools, ", "))
		}
		r.Person = true
	}
	return f.o.Host.Invoke(r, func(c host.Completion) {
		f.o.Writer.Room() // unread results delay further calls
		f.reply(id, c)
	})
}

func (f *Family) batch(id json.RawMessage, p struct {
	ID     string            `json:"id"`
	Calls  []json.RawMessage `json:"calls"`
	Policy json.RawMessage   `json:"policy"`
}) error {
	b := host.BatchRequest{ID: p.ID}
	if p.Policy != nil {
		b.Policy = &agenttool.SchedulerPolicy{}
		if err := decode(p.Policy, b.Policy); err != nil {
			return err
		}
	}
	for i, raw := range p.Calls {
		var c callParams
		err := decode(raw, &c)
		if err == nil && c.Batch != "" {
			err = stdio.Errorf(stdio.CodeInvalidParams, "a call of a batch cannot name another batch: leave \"batch\" out")
		}
		var r host.Request
		if err == nil {
			r, err = f.request(c)
		}
		if err != nil {
			return stdio.Errorf(stdio.CodeInvalidParams, "call %d: %v", i+1, err)
		}
		b.Calls = append(b.Calls, r)
	}
	return f.o.Host.Batch(b, func(completions []host.Completion) {
		f.o.Writer.Room()
		parts := [][]byte{[]byte(`{"results":[`)}
		for i, c := range completions {
			encoded, err := c.MarshalJSON()
			if err != nil {
				encoded = []byte("null")
			}
			if i > 0 {
				parts = append(parts, []byte(","))
			}
			parts = append(parts, encoded)
		}
		f.replyIn(id, append(parts, []byte("]}"))...)
	})
}

func (f *Family) cancel(p struct {
	ID           string          `json:"id"`
	InvocationID string          `json:"invocation_id"`
	Reason       string          `json:"reason"`
	Kind         host.CancelKind `json:"kind"`
}) (any, error) {
	p.Kind = cmp.Or(p.Kind, host.Interrupt)
	if err := oneOf("kind", p.Kind, host.CancelKinds); err != nil {
		return nil, err
	}
	if (p.ID == "") == (p.InvocationID == "") {
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "invalid params: give either the id or the invocation_id of the call to cancel")
	}
	return f.o.Host.CancelAs(p.Kind, p.ID+p.InvocationID, p.Reason), nil
}

// decide answers from another goroutine if a rule is to be written to a file.
func (f *Family) decide(id json.RawMessage, p struct {
	DecisionID    agenttool.DecisionID `json:"decision_id"`
	Behavior      agenttool.Behavior   `json:"behavior"`
	Scope         prompt.Scope         `json:"scope"`
	UpdatedInput  json.RawMessage      `json:"updated_input"`
	Grants        []string             `json:"grants"`
	AcceptUpdates []int                `json:"accept_updates"`
	Rules         []string             `json:"rules"`
	Opens         []string             `json:"opens"`
	Feedback      string               `json:"feedback"`
}) error {
	if string(p.UpdatedInput) == "null" {
		p.UpdatedInput = nil
	}
	a := prompt.Answer{
		DecisionID: p.DecisionID, Behavior: p.Behavior, Scope: p.Scope, UpdatedInput: p.UpdatedInput,
		Grants: p.Grants, AcceptUpdates: p.AcceptUpdates, Rules: p.Rules, Opens: p.Opens, Feedback: p.Feedback, Channel: prompt.Channel{By: agenttool.Answerer{Client: f.client}},
	}
	if f.o.Person != nil {
		if !f.vetted.May {
			return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: no answer is taken from here: %s", f.vetted.Why)
		}
		a.Channel = prompt.Channel{Name: "toolhost approve", Scopes: f.vetted.Scopes, By: f.vetted.By}
	}
	answer := func() {
		d, err := f.o.Host.Decide(a)
		if err != nil {
			f.fail(id, err)
			return
		}
		f.reply(id, map[string]any{"decision": d})
	}
	if p.Scope == prompt.ScopeProject || p.Scope == prompt.ScopeUser {
		f.slow.Go(answer)
	} else {
		answer() // it counts before the next message does
	}
	return nil
}

// try reports the coverage of further rules.
func (f *Family) try(p struct {
	DecisionID agenttool.DecisionID `json:"decision_id"`
	Rules      []string             `json:"rules"`
}) (any, error) {
	return f.o.Host.Try(p.DecisionID, p.Rules)
}

func (f *Family) surface(p struct {
	Scope string   `json:"scope"`
	Tools []string `json:"tools"`
	Role  string   `json:"role"`
}) (any, error) {
	return f.o.Host.Narrow(host.Narrowing{Scope: p.Scope, Tools: p.Tools, Role: p.Role})
}

func (f *Family) search(p struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}) (any, error) {
	if p.Query == "" {
		return nil, stdio.Errorf(stdio.CodeInvalidParams, `invalid params: "query" is missing: give words, or select:name,name`)
	}
	return f.o.Host.Search(p.Query, p.Limit), nil
}

func (f *Family) load(p struct {
	Names []string `json:"names"`
}) (any, error) {
	if len(p.Names) == 0 {
		return nil, stdio.Errorf(stdio.CodeInvalidParams, `invalid params: "names" is missing: list the tools to load`)
	}
	loaded, missing := f.o.Host.Load(p.Names)
	return map[string]any{"declarations": loaded, "missing_names": missing}, nil
}

// readResult answers from another goroutine: a page is read from disk.
func (f *Family) readResult(id json.RawMessage, p struct {
	Ref    string `json:"ref"`
	Offset int64  `json:"offset"`
	Limit  int64  `json:"limit"`
}) error {
	if p.Ref == "" {
		return stdio.Errorf(stdio.CodeInvalidParams, `invalid params: "ref" is missing: give the uri or id of a persisted_ref`)
	}
	f.slow.Go(func() {
		page, err := f.o.Host.ReadResult(p.Ref, p.Offset, p.Limit)
		if err != nil {
			f.fail(id, err)
			return
		}
		f.reply(id, page)
	})
	return nil
}

// replayPage is the most events that one reply holds.
const replayPage = 1000

func (f *Family) replay(id json.RawMessage, p struct {
	SinceSeq int64 `json:"since_seq"`
}) error {
	if p.SinceSeq < 0 {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: since_seq is negative: give the seq of the last event that you have, or 0 for all")
	}
	f.slow.Go(func() {
		err := f.o.Host.Replay(p.SinceSeq, replayPage, f.events, func(entries []persist.Entry, more bool) {
			f.reply(id, replayed(p.SinceSeq, entries, more))
		})
		if err != nil {
			f.fail(id, err)
		}
	})
	return nil
}

// replayed writes {"events":[{"seq":…,"event":…},…],"last_seq":…,"more":…}.
func replayed(since int64, entries []persist.Entry, more bool) json.RawMessage {
	list, last := []byte(`{"events":[`), since
	for i, e := range entries {
		if i > 0 {
			list = append(list, ',')
		}
		list = appendEntry(list, e.Seq, e.Event)
		last = e.Seq
	}
	list = append(list, `],"last_seq":`...)
	list = strconv.AppendInt(list, last, 10)
	list = append(list, `,"more":`...)
	list = strconv.AppendBool(list, more)
	return append(list, '}')
}

func (f *Family) mode(p struct {
	Mode string `json:"mode"`
	Code string `json:"code"` // of a person
}) (any, error) {
	if f.o.Person != nil && !f.vetted.May {
		return nil, stdio.Errorf(stdio.CodeInvalidParams, "no word is taken from here: %s", f.vetted.Why)
	}
	if p.Mode != "" {
		m, err := agenttool.ParseMode(p.Mode)
		if err != nil {
			return nil, stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %v", err)
		}
		if err := f.setMode(m, p.Code); err != nil {
			return nil, err
		}
	}
	return map[string]any{"mode": f.o.Host.Mode()}, nil
}

// setMode sets a mode. A person who may answer prompts can make it stricter at once, and looser with the code that the session shows.
func (f *Family) setMode(m agenttool.Mode, code string) error {
	person := f.o.Person
	switch {
	case person == nil:
		return f.o.Host.SetMode(m, host.ByClient)
	case person.Loosens == nil:
		return stdio.Errorf(stdio.CodeInvalidParams, "no word is taken from here")
	case m == agenttool.ModeBypass:
		return stdio.Errorf(stdio.CodeInvalidParams, "mode bypass is chosen at the start only: start toolhost with --mode bypass")
	case !m.Within(f.o.Host.Mode()):
		if err := person.Loosens(code, m); err != nil {
			return stdio.Errorf(stdio.CodeInvalidParams, "%v", err)
		}
	}
	return f.o.Host.SetMode(m, host.ByUser)
}

func (f *Family) status(id json.RawMessage, _ struct{}) error {
	f.slow.Go(func() { f.reply(id, f.o.Host.Status()) }) // it looks at the processes of jobs
	return nil
}

// shutdown ends the host, answers, and then asks for the end of the stream.
func (f *Family) shutdown(id json.RawMessage, _ struct{}) error {
	f.o.Writer.End()
	f.slow.Go(func() {
		if err := f.o.Host.Close(); err != nil {
			f.fail(id, err)
		} else {
			f.reply(id, struct{}{})
		}
		f.o.Stop()
	})
	return nil
}
