package prompt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// call is a call of the tool write that asks. It records events in a list.
type call struct {
	id      agenttool.InvocationID
	request permissions.Request

	mu        sync.Mutex
	ended     bool
	unlogged  error // why events cannot be recorded; nil: they can
	unfit     error // why an edited input or grants cannot be used; nil: they can
	events    []agenttool.EventType
	decisions []agenttool.Decision
}

func (c *call) Invocation() agenttool.InvocationID { return c.id }

func (c *call) Ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *call) Record(t agenttool.EventType, pairs ...any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unlogged != nil {
		return c.unlogged
	}
	c.events = append(c.events, t)
	for i := 0; i+1 < len(pairs); i += 2 {
		if d, ok := pairs[i+1].(agenttool.Decision); ok {
			c.decisions = append(c.decisions, d)
		}
	}
	return nil
}

func (c *call) Judge(p permissions.Policy) agenttool.Decision       { return p.Decide(c.request) }
func (c *call) Coverage(p permissions.Policy) []permissions.Covered { return p.Coverage(c.request) }
func (c *call) CheckAnswer(input []byte, grants []string) error     { return c.unfit }

// rules are the rules of a session in mode default.
type rules struct {
	mu     sync.Mutex
	policy permissions.Policy
}

func (r *rules) Policy() permissions.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policy
}

func (r *rules) Parse(text string, origin agenttool.Origin) (permissions.Rule, error) {
	return parser.Parse(text, agenttool.Allow, origin)
}

var parser = permissions.Parser{Names: map[string]string{"read": "read", "write": "write"}}

func (r *rules) Add(more []permissions.Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policy = r.policy.With(more...)
}

func (r *rules) SetMode(m permissions.Mode) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policy.Mode = m
	return nil
}

// desk is a broker with its rules.
type desk struct {
	*testing.T
	*prompt.Broker
	rules *rules
	calls int
}

func newDesk(t *testing.T, a prompt.Approvals) *desk {
	d := &desk{T: t, rules: &rules{policy: permissions.Policy{Mode: permissions.Default, Workspace: "/ws"}}}
	d.Broker = prompt.New(prompt.Options{Rules: d.rules, Approvals: a, IDs: &agenttool.IDs{}, Now: time.Now})
	return d
}

// question is that of a new call which writes a file of the workspace.
func (d *desk) question(name string) (prompt.Question, *call) {
	d.calls++
	path := agenttool.Path{Spelling: name, Absolute: "/ws/" + name, Resolved: "/ws/" + name, Root: "/ws"}
	facts := &agenttool.Facts{Writes: []agenttool.Path{path}}
	facts.Verdicts = agenttool.Verdicts{ReadOnly: agenttool.No, Destructive: agenttool.No, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes}
	c := &call{id: agenttool.InvocationID(fmt.Sprint("inv_", d.calls)), request: permissions.Request{Tool: "write", Facts: facts}}
	decision := d.Complete(d.rules.Policy().Decide(c.request), c.id)
	if decision.Behavior != agenttool.Ask {
		d.Fatalf("the policy does not ask: %+v", decision)
	}
	input, _ := json.Marshal(map[string]string{"path": name})
	return prompt.Question{Call: c, Input: input, Shown: prompt.Prompt{Decision: decision, Tool: "write", Input: input, Facts: facts, Dir: "/ws"}}, c
}

// answered is what became of a prompt.
type answered struct {
	prompt.Outcome
	err error
}

// ask opens a prompt and waits until it is told of.
func (d *desk) ask(ctx context.Context, q prompt.Question) (agenttool.DecisionID, <-chan answered) {
	d.Helper()
	told := make(chan struct{})
	q.Call = teller{q.Call, sync.OnceFunc(func() { close(told) })}
	p, err := d.Open(q)
	if err != nil {
		d.Fatal(err)
	}
	got := make(chan answered, 1)
	go func() {
		answer, err := p.Answer(ctx)
		p.Over()
		got <- answered{answer, err}
	}()
	<-told
	return q.Shown.Decision.DecisionID, got
}

// teller is a call that says when its prompt is told of.
type teller struct {
	prompt.Call
	told func()
}

func (c teller) Record(t agenttool.EventType, pairs ...any) error {
	defer c.told()
	return c.Call.Record(t, pairs...)
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return agenttool.AsError(err, agenttool.ExecutionFailed).Code
}

// TestDecide: the answer reaches the call, and its record says what was answered, by whom and for how long.
func TestDecide(t *testing.T) {
	jo := agenttool.Answerer{User: "jo", Client: "toolhost approve"}
	for _, c := range []struct {
		name   string
		answer prompt.Answer
		source string
		rules  int // of the session, afterwards
		by     agenttool.Answerer
	}{
		{"once", prompt.Answer{Behavior: agenttool.Allow}, agenttool.SourceCommand, 0, agenttool.Answerer{Client: "the client"}},
		{"denied", prompt.Answer{Behavior: agenttool.Deny, Feedback: "not that one"}, agenttool.SourceCommand, 0, agenttool.Answerer{Client: "the client"}},
		{"session", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession}, agenttool.SourceSession, 1, agenttool.Answerer{Client: "the client"}},
		{"an accepted rule is for the session", prompt.Answer{Behavior: agenttool.Allow, AcceptUpdates: []int{0}}, agenttool.SourceSession, 1, agenttool.Answerer{Client: "the client"}},
		{"edited", prompt.Answer{Behavior: agenttool.Allow, UpdatedInput: []byte(`{"path":"b"}`)}, agenttool.SourceCommand, 0, agenttool.Answerer{Client: "the client"}},
		{"named channel", prompt.Answer{Behavior: agenttool.Allow, Channel: prompt.Channel{Name: "MCP client"}}, agenttool.SourceCommand, 0, agenttool.Answerer{Client: "MCP client"}},
		{"person", prompt.Answer{Behavior: agenttool.Allow, Channel: prompt.Channel{Name: "toolhost approve", By: jo}}, agenttool.SourceCommand, 0, jo},
		{"rule of one's own", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Write(a*)"}, Channel: prompt.Channel{Name: "toolhost approve", By: jo}}, agenttool.SourceSession, 1, jo},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, prompt.Approvals{})
			defer d.Attend()()
			q, call := d.question("a")
			id, got := d.ask(t.Context(), q)
			c.answer.DecisionID = id
			decided, err := d.Decide(c.answer)
			if err != nil {
				t.Fatal(err)
			}
			edited := c.answer.UpdatedInput != nil
			if decided.Behavior != c.answer.Behavior || decided.RequestRef != id || decided.Source != c.source || decided.UserModified != edited || len(decided.RuleRefs) != c.rules {
				t.Errorf("decision %+v", decided)
			}
			if by := decided.AnsweredBy; by.User != c.by.User || by.Client != c.by.Client || decided.AcceptFeedback != c.answer.Feedback {
				t.Errorf("answered by %+v, feedback %q", decided.AnsweredBy, decided.AcceptFeedback)
			}
			answer := <-got
			if answer.err != nil || answer.ByRule || answer.Behavior != c.answer.Behavior || answer.Decision.DecisionID != decided.DecisionID {
				t.Errorf("the call gets %+v", answer)
			}
			if n := len(d.rules.Policy().Rules()); n != c.rules {
				t.Errorf("%d rules are in force", n)
			}
			if want := []agenttool.EventType{agenttool.EventPermissionRequested, agenttool.EventPermissionDecided}; !slices.Equal(call.events, want) {
				t.Errorf("events %v", call.events)
			}
			if _, err := d.Decide(c.answer); !errors.Is(err, prompt.ErrRefused) {
				t.Errorf("a second answer: %v", err)
			}
		})
	}
}

// TestAnswersThatCannotCount are refused and leave the prompt open.
func TestAnswersThatCannotCount(t *testing.T) {
	d := newDesk(t, prompt.Approvals{Widest: prompt.ScopeUser})
	defer d.Attend()()
	deny, err := parser.Parse("Write(/etc/**)", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceUser})
	if err != nil {
		t.Fatal(err)
	}
	d.rules.Add([]permissions.Rule{deny})
	q, call := d.question("a")
	id, got := d.ask(t.Context(), q)
	call.unfit = fmt.Errorf("%w: it does not fit", prompt.ErrRefused)
	approve := prompt.Channel{Name: "toolhost approve", Scopes: prompt.Scopes}
	many := slices.Repeat([]string{"Write(a)"}, 21)
	for _, c := range []struct {
		want   string
		answer prompt.Answer
	}{
		{"neither allow nor deny", prompt.Answer{}},
		{"neither allow nor deny", prompt.Answer{Behavior: agenttool.Ask}},
		{"none of once, session", prompt.Answer{Behavior: agenttool.Allow, Scope: "always"}},
		{"over this channel", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeUser, Channel: prompt.Channel{Scopes: []prompt.Scope{prompt.ScopeOnce}}}},
		{"nothing can be remembered", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeUser}},
		{"there are 2 suggested", prompt.Answer{Behavior: agenttool.Allow, AcceptUpdates: []int{7}}},
		{"there are 2 suggested", prompt.Answer{Behavior: agenttool.Allow, AcceptUpdates: []int{-1}}},
		{"is for this session", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeUser, AcceptUpdates: []int{1}}},
		{"deny goes with no scope", prompt.Answer{Behavior: agenttool.Deny, Scope: prompt.ScopeSession}},
		{"deny goes with no scope", prompt.Answer{Behavior: agenttool.Deny, Grants: []string{"write:/x"}}},
		{"deny goes with no scope", prompt.Answer{Behavior: agenttool.Deny, AcceptUpdates: []int{0}}},
		{"deny goes with no scope", prompt.Answer{Behavior: agenttool.Deny, UpdatedInput: []byte(`{}`)}},
		{"allowed once", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, UpdatedInput: []byte(`{}`)}},
		{"does not fit", prompt.Answer{Behavior: agenttool.Allow, UpdatedInput: []byte(`{}`)}},
		{"does not fit", prompt.Answer{Behavior: agenttool.Allow, Grants: []string{"write:/x"}}},
		{"denied by", prompt.Answer{Behavior: agenttool.Allow, Grants: []string{"write:/etc/passwd"}}},
		{"did not show", prompt.Answer{Behavior: agenttool.Allow, Opens: []string{"/srv/a"}}},
		{"rules of your own", prompt.Answer{Behavior: agenttool.Allow, Rules: []string{"Write(a)"}, Channel: approve}},
		{"not from a client", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Write(a)"}}},
		{"allowed once", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Write(a)"}, UpdatedInput: []byte(`{}`), Channel: approve}},
		{"there is no tool", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Writ(a)"}, Channel: approve}},
		{"covers nothing", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Write(b)"}, Channel: approve}},
		{"more than 20", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: many, Channel: approve}},
		{"at most 4096", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Write(" + strings.Repeat("a", 4096) + ")"}, Channel: approve}},
	} {
		c.answer.DecisionID = id
		if _, err := d.Decide(c.answer); !errors.Is(err, prompt.ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.answer, err, c.want)
		}
	}
	if _, err := d.Decide(prompt.Answer{DecisionID: "perm_x", Behavior: agenttool.Allow}); !errors.Is(err, prompt.ErrRefused) {
		t.Errorf("no such prompt: %v", err)
	}
	if _, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow}); err != nil {
		t.Error(err)
	}
	if answer := <-got; answer.err != nil {
		t.Error(answer.err)
	}
}

// TestUnloggedAnswer: an answer that cannot be recorded does not count, keeps nothing, and leaves the prompt open.
func TestUnloggedAnswer(t *testing.T) {
	d := newDesk(t, prompt.Approvals{})
	defer d.Attend()()
	q, call := d.question("a")
	id, got := d.ask(t.Context(), q)
	full := errors.New("no space left on device")
	set := func(err error) {
		call.mu.Lock()
		defer call.mu.Unlock()
		call.unlogged = err
	}
	set(full)
	if _, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow, Scope: prompt.ScopeSession}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if n := len(d.rules.Policy().Rules()); n != 0 {
		t.Errorf("%d rules are in force", n)
	}
	set(nil)
	if _, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Deny}); err != nil {
		t.Error(err)
	}
	if answer := <-got; answer.Behavior != agenttool.Deny {
		t.Errorf("%+v", answer)
	}
}

// TestRemembered: rules for longer than the session go to the settings first. If those cannot be written, the prompt stays open.
func TestRemembered(t *testing.T) {
	var kept []string
	fails := true
	d := newDesk(t, prompt.Approvals{Widest: prompt.ScopeProject, Remember: func(scope prompt.Scope, rules []string) error {
		if fails {
			return errors.New("the file is read-only")
		}
		kept = append(kept, string(scope)+": "+strings.Join(rules, " "))
		return nil
	}})
	defer d.Attend()()
	q, _ := d.question("a")
	id, got := d.ask(t.Context(), q)
	answer := prompt.Answer{DecisionID: id, Behavior: agenttool.Allow, Scope: prompt.ScopeProject}
	if _, err := d.Decide(answer); !errors.Is(err, prompt.ErrRefused) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("%v", err)
	}
	if n := len(d.rules.Policy().Rules()); n != 0 {
		t.Errorf("%d rules are in force", n)
	}
	fails = false
	decided, err := d.Decide(answer)
	if err != nil || decided.Source != agenttool.SourceLocal || len(kept) != 1 || kept[0] != "project: Write(a)" {
		t.Errorf("%+v, %v; kept %q", decided, err, kept)
	}
	<-got
}

// TestAnsweredTogether: prompts that ask the same get one answer, but for one that a user answers alone, and for those that stand alone.
func TestAnsweredTogether(t *testing.T) {
	d := newDesk(t, prompt.Approvals{})
	defer d.Attend()()
	var ids []agenttool.DecisionID
	var all []<-chan answered
	for i := range 4 {
		q, _ := d.question("a")
		if i == 3 {
			q.Alone = "it is typed"
		}
		id, got := d.ask(t.Context(), q)
		ids, all = append(ids, id), append(all, got)
	}
	if listed, total := len(d.List()), len(d.All()); listed != 2 || total != 4 {
		t.Errorf("%d prompts are listed of %d", listed, total)
	}
	if _, err := d.Decide(prompt.Answer{DecisionID: ids[1], Behavior: agenttool.Deny, Alone: true}); err != nil {
		t.Fatal(err)
	}
	if answer := <-all[1]; answer.Behavior != agenttool.Deny {
		t.Errorf("the one that was answered alone: %+v", answer)
	}
	if _, err := d.Decide(prompt.Answer{DecisionID: ids[2], Behavior: agenttool.Allow}); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		if answer := <-all[i]; answer.Behavior != agenttool.Allow || answer.DecisionID != ids[i] || answer.Decision.RequestRef != ids[i] {
			t.Errorf("prompt %d: %+v", i, answer)
		}
	}
	if left := d.All(); len(left) != 1 || left[0].Decision.DecisionID != ids[3] {
		t.Errorf("left are %+v", left)
	}
	if _, err := d.Decide(prompt.Answer{DecisionID: ids[3], Behavior: agenttool.Deny}); err != nil {
		t.Fatal(err)
	}
	<-all[3]
}

// TestRulesAnswer: rules that come while prompts wait answer those that they cover, and no others, and none about a call that ran before.
func TestRulesAnswer(t *testing.T) {
	d := newDesk(t, prompt.Approvals{})
	defer d.Attend()()
	covered, _ := d.question("a/1")
	other, _ := d.question("b")
	ran, _ := d.question("a/2")
	ran.Override = true
	first, _ := d.question("a/3")
	_, coveredGot := d.ask(t.Context(), covered)
	otherID, otherGot := d.ask(t.Context(), other)
	ranID, ranGot := d.ask(t.Context(), ran)
	firstID, firstGot := d.ask(t.Context(), first)
	trial, with, err := d.Try(firstID, []string{"Write(a/**)"})
	if err != nil || !trial.Covers() || !trial.Runs || len(trial.Parts) != 1 || len(with.Rules()) != 1 {
		t.Errorf("tried: %+v, %v", trial, err)
	}
	if trial, _, err := d.Try(firstID, []string{"Write(c/**)"}); err != nil || trial.Covers() || trial.Runs || trial.Still == "" {
		t.Errorf("tried another: %+v, %v", trial, err)
	}
	if _, _, err := d.Try(ranID, []string{"Write(a/**)"}); !errors.Is(err, prompt.ErrRefused) {
		t.Errorf("tried about a call that ran: %v", err)
	}
	approve := prompt.Channel{Name: "toolhost approve"}
	if _, err := d.Decide(prompt.Answer{DecisionID: firstID, Behavior: agenttool.Allow, Scope: prompt.ScopeSession, Rules: []string{"Write(a/**)"}, Channel: approve}); err != nil {
		t.Fatal(err)
	}
	if answer := <-firstGot; answer.ByRule || answer.Behavior != agenttool.Allow {
		t.Errorf("the one that was answered: %+v", answer)
	}
	if answer := <-coveredGot; !answer.ByRule || answer.Behavior != agenttool.Allow || answer.Decision.AnsweredBy != nil {
		t.Errorf("the one that is covered: %+v", answer)
	}
	if n := len(d.All()); n != 2 {
		t.Errorf("%d prompts wait", n)
	}
	for id, got := range map[agenttool.DecisionID]<-chan answered{otherID: otherGot, ranID: ranGot} {
		if _, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Deny}); err != nil {
			t.Error(err)
		}
		<-got
	}
}

// TestPathsStayOpen: of the paths that a prompt shows those stay open that an answer names, if they still may.
func TestPathsStayOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		may  func(string) bool
		want int // rules
	}{{"they may", func(string) bool { return true }, len(permissions.Opening("/srv/a"))}, {"somebody made it meanwhile", func(string) bool { return false }, 0}, {"unknown", nil, 0}} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, prompt.Approvals{})
			defer d.Attend()()
			q, call := d.question("a")
			q.Shown.Opens, q.MayOpen = []string{"/srv/a", "/srv/b"}, c.may
			id, got := d.ask(t.Context(), q)
			if _, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow, Opens: []string{"/srv/a"}}); err != nil {
				t.Fatal(err)
			}
			<-got
			rules := d.rules.Policy().Rules()
			if len(rules) != c.want || c.want > 0 && (rules[0].Origin.Made != call.id || rules[0].Origin.Source != agenttool.SourceSession) {
				t.Errorf("rules %+v", rules)
			}
		})
	}
}

// TestWhoCanAnswer: a prompt is opened, and waits, only while somebody can answer it: a user who attends, the caller, or one who may come.
func TestWhoCanAnswer(t *testing.T) {
	listens := func(prompt.Prompt, <-chan struct{}) {}
	for _, c := range []struct {
		name      string
		approvals prompt.Approvals
		attends   bool
		asked     prompt.Listener
		reached   bool
		stays     bool // when those who attend leave
	}{
		{"nobody", prompt.Approvals{}, false, nil, false, false},
		{"a user", prompt.Approvals{}, true, nil, true, false},
		{"the caller", prompt.Approvals{}, false, listens, true, true},
		{"both", prompt.Approvals{}, true, listens, true, true},
		{"always", prompt.Approvals{Wait: prompt.WaitAlways}, false, nil, true, true},
		{"never, beside a user", prompt.Approvals{Wait: prompt.WaitNever, Here: func() bool { return true }}, true, nil, true, false},
		{"one who will come", prompt.Approvals{Here: func() bool { return true }}, true, nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, c.approvals)
				detach := func() {}
				if c.attends {
					detach = d.Attend()
				}
				if d.Reaches(c.asked) != c.reached {
					t.Errorf("reached: %v", !c.reached)
				}
				q, _ := d.question("a")
				q.Asked = c.asked
				if !c.reached {
					if _, err := d.Open(q); code(err) != "approval_unavailable" || !strings.Contains(err.Error(), "toolhost approve") {
						t.Errorf("opened: %v", err)
					}
					return
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				_, got := d.ask(ctx, q)
				detach()
				synctest.Wait()
				select {
				case answer := <-got:
					if c.stays || code(answer.err) != "approval_unavailable" {
						t.Errorf("it ended: %+v", answer)
					}
				default:
					if !c.stays {
						t.Error("it waits for nobody")
					}
					cancel(agenttool.Failure(agenttool.Canceled, "user_interruption", "canceled"))
					if answer := <-got; code(answer.err) != "user_interruption" {
						t.Errorf("canceled: %+v", answer)
					}
				}
				cancel(nil)
				if n := len(d.All()); n != 0 {
					t.Errorf("%d prompts are left", n)
				}
			})
		})
	}
}

// TestPromptExpires: nobody who answers has ten minutes, or what the settings say.
func TestPromptExpires(t *testing.T) {
	for _, c := range []struct{ set, want time.Duration }{{0, 10 * time.Minute}, {time.Minute, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, prompt.Approvals{Timeout: c.set})
			defer d.Attend()()
			start := time.Now()
			if at := d.Expires(); at != agenttool.Timestamp(start.Add(c.want)) {
				t.Errorf("it expires at %s", at)
			}
			q, _ := d.question("a")
			_, got := d.ask(t.Context(), q)
			if answer := <-got; code(answer.err) != "approval_expired" || time.Since(start) != c.want {
				t.Errorf("after %s: %+v", time.Since(start), answer)
			}
		})
	}
}

// TestUnseenDenial: a denial that no user saw ends a prompt only where no other user can answer it.
func TestUnseenDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, prompt.Approvals{})
		detach := d.Attend()
		q, call := d.question("a")
		q.Asked = func(prompt.Prompt, <-chan struct{}) {}
		id, got := d.ask(t.Context(), q)
		unseen := prompt.Answer{DecisionID: id, Behavior: agenttool.Deny, Unseen: "the client declined"}
		if decided, err := d.Decide(unseen); err != nil || decided.DecisionID != "" || len(call.decisions) != 1 {
			t.Errorf("beside a user: %+v, %v", decided, err)
		}
		detach() // the caller has declined, and the user is gone
		if answer := <-got; code(answer.err) != "approval_unavailable" {
			t.Errorf("%+v", answer)
		}
		q, _ = d.question("b")
		q.Asked = func(prompt.Prompt, <-chan struct{}) {}
		unseen.DecisionID, got = d.ask(t.Context(), q)
		if decided, err := d.Decide(unseen); err != nil || decided.Behavior != agenttool.Deny {
			t.Errorf("alone: %+v, %v", decided, err)
		}
		if answer := <-got; answer.Unseen != unseen.Unseen {
			t.Errorf("%+v", answer)
		}
	})
}

// TestFirstAnswerWins: of many answers at once exactly one counts.
func TestFirstAnswerWins(t *testing.T) {
	d := newDesk(t, prompt.Approvals{})
	defer d.Attend()()
	q, _ := d.question("a")
	id, got := d.ask(t.Context(), q)
	counted := make(chan agenttool.DecisionID, 32)
	var all sync.WaitGroup
	for range cap(counted) {
		all.Go(func() {
			if decided, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow}); err == nil {
				counted <- decided.DecisionID
			}
		})
	}
	all.Wait()
	if answer := <-got; len(counted) != 1 || answer.Decision.DecisionID != <-counted {
		t.Errorf("%d more answers counted; the call got %+v", len(counted), answer)
	}
}

// TestAnswerOfAnEndedCall is refused.
func TestAnswerOfAnEndedCall(t *testing.T) {
	d := newDesk(t, prompt.Approvals{})
	defer d.Attend()()
	q, call := d.question("a")
	ctx, cancel := context.WithCancelCause(t.Context())
	id, got := d.ask(ctx, q)
	call.mu.Lock()
	call.ended = true
	call.mu.Unlock()
	if _, err := d.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow}); !errors.Is(err, prompt.ErrRefused) {
		t.Errorf("%v", err)
	}
	cancel(nil)
	<-got
}

// TestPromptsAreBounded: by their number, and by the bytes that they hold.
func TestPromptsAreBounded(t *testing.T) {
	t.Run("number", func(t *testing.T) {
		d := newDesk(t, prompt.Approvals{Wait: prompt.WaitAlways})
		for i := range 1000 {
			q, _ := d.question(fmt.Sprint(i))
			if _, err := d.Open(q); err != nil {
				t.Fatal(i, err)
			}
		}
		q, _ := d.question("more")
		if _, err := d.Open(q); code(err) != "approval_unavailable" {
			t.Error(err)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		d := newDesk(t, prompt.Approvals{Wait: prompt.WaitAlways})
		diff := strings.Repeat("+", 40<<20)
		for i, want := range []string{"", "approval_unavailable"} {
			q, _ := d.question(fmt.Sprint(i))
			q.Shown.Decision.ContentBlocks = []agenttool.Content{{Type: "diff", Diff: diff}}
			if _, err := d.Open(q); code(err) != want {
				t.Errorf("prompt %d: %v", i, err)
			}
		}
	})
}

// TestInvite opens the channels to users once, before the first prompt.
func TestInvite(t *testing.T) {
	opened := 0
	d := newDesk(t, prompt.Approvals{Opened: func() { opened++ }})
	for range 2 {
		if d.Invite(nil) {
			t.Error("somebody is there")
		}
	}
	if opened != 1 {
		t.Errorf("opened %d times", opened)
	}
}

// TestWall is how long a running command is held.
func TestWall(t *testing.T) {
	for _, c := range []struct{ set, want time.Duration }{{0, 2 * time.Minute}, {time.Second, time.Second}, {-1, 0}} {
		d := newDesk(t, prompt.Approvals{})
		d.Amend(prompt.Approvals{Wall: c.set})
		if got := d.Wall(); got != c.want {
			t.Errorf("%s: %s, want %s", c.set, got, c.want)
		}
	}
}
