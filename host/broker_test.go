package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
)

// prompts listens for permission requests.
func (f *fixture) prompts() (requests <-chan agenttool.Decision, detach func()) {
	heard := make(chan agenttool.Decision, 256) // Tell must not block
	f.Subscribe(&host.Subscription{Level: host.EventsNone, Prompts: true, Tell: func(told host.Notice) {
		var e struct {
			Data struct {
				Decision agenttool.Decision `json:"decision"`
			} `json:"data"`
		}
		if err := json.Unmarshal(told.Event, &e); err != nil {
			f.t.Error(err)
		}
		if told.Type == agenttool.EventPermissionRequested {
			heard <- e.Data.Decision
		}
	}})
	return heard, f.Attend()
}

// TestPrompt: a call waits for its answer under the same invocation id, and ends as the answer says.
func TestPrompt(t *testing.T) {
	conform.Held(t, "AT-087", "AT-097", "AT-137", "AT-138", "AT-161", "AT-162", "AT-254", "AT-315", "AT-361", "AT-395", "AT-396")
	for _, c := range []struct {
		name   string
		answer prompt.Answer
		state  agenttool.InvocationStatus
		status agenttool.ResultStatus
		code   string
		ran    string // the path that ran
	}{
		{"allow", prompt.Answer{Behavior: agenttool.Allow}, "succeeded", "succeeded", "", "a"},
		{"deny", prompt.Answer{Behavior: agenttool.Deny, Feedback: "not that one"}, "denied", "rejected", "rejected_by_person", ""},
		{"another input", prompt.Answer{Behavior: agenttool.Allow, UpdatedInput: input("b")}, "succeeded", "succeeded", "", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
			requests, _ := f.prompts()
			done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
			asked := <-requests
			if asked.Behavior != agenttool.Ask || asked.Reason.Type != "mode" || asked.ExpiresAt == "" || len(asked.SuggestedUpdates) != 2 {
				t.Errorf("the prompt says %+v", asked)
			}
			if f.status("c1") != agenttool.StatusAwaitingApproval {
				t.Errorf("status %s while asked", f.status("c1"))
			}
			c.answer.DecisionID = asked.DecisionID
			decided, err := f.Decide(c.answer)
			if err != nil || decided.RequestRef != asked.DecisionID || decided.UserModified != (c.answer.UpdatedInput != nil) {
				t.Errorf("decision %+v, %v", decided, err)
			}
			if _, err := f.Decide(c.answer); !host.IsRefused(err) {
				t.Errorf("a second answer: %v", err)
			}
			got := <-done
			if got.Invocation.Status != c.state || got.Result.Status != c.status || got.Invocation.InvocationID != asked.InvocationID {
				t.Errorf("%s %s", got.Invocation.Status, got.Result.Status)
			}
			if c.code != "" && (got.Result.Error.Code != c.code || !strings.Contains(got.Result.Error.Message, c.answer.Feedback)) {
				t.Errorf("error %+v", got.Result.Error)
			}
			if c.ran != "" && !strings.Contains(got.Result.Content[0].Text, c.ran) {
				t.Errorf("content %v", got.Result.Content)
			}
			if changed := got.Invocation.PermissionInput != nil; changed != (c.answer.UpdatedInput != nil) {
				t.Errorf("call_input %s, ref %s", got.Invocation.CallInput, got.Invocation.CallInputRef)
			}
			checkRecords(t, got)
		})
	}
}

// TestUnseenDenial: a denial that no user saw ends a prompt only where no other user can answer it.
func TestUnseenDenial(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	requests, detach := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	unseen := prompt.Answer{DecisionID: (<-requests).DecisionID, Behavior: agenttool.Deny, Unseen: "the client declined"}
	if d, err := f.Decide(unseen); err != nil || d.DecisionID != "" {
		t.Errorf("it counts beside a user: %+v, %v", d, err)
	}
	if _, err := f.Decide(prompt.Answer{DecisionID: unseen.DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Errorf("the user's answer: %v", err)
	}
	if got := <-done; got.Result.Status != agenttool.ResultSucceeded {
		t.Errorf("%+v", got.Result)
	}
	detach()
	heard := make(chan agenttool.DecisionID, 1)
	asked := func(p prompt.Prompt, _ <-chan struct{}) { heard <- p.Decision.DecisionID }
	done = f.start(host.Request{ID: "c2", Tool: "put", Input: input("b"), Caller: host.Caller{Asked: asked}})
	unseen.DecisionID = <-heard
	if _, err := f.Decide(unseen); err != nil {
		t.Error(err)
	}
	if got := <-done; got.Result.Error == nil || got.Result.Error.Code != "approval_unavailable" || !strings.Contains(got.Result.Error.Message, "the client declined") {
		t.Errorf("%+v", got.Result)
	}
}

// TestInputsThatCannotRun are refused as answers, and leave the prompt open.
func TestInputsThatCannotRun(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	requests, _ := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	id := (<-requests).DecisionID
	for name, updated := range map[string][]byte{"schema": []byte(`{"pth":1}`), "value": input("bad")} {
		if _, err := f.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow, UpdatedInput: updated}); !host.IsRefused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow}); err != nil {
		t.Error(err)
	}
	<-done
}

// TestModeForTheSession: a user who accepts the mode that a prompt offers has the session go on in it. The client can make it stricter, and
// no looser than the user chose; settings that name another mode end it.
func TestModeForTheSession(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	requests, detach := f.prompts()
	defer detach()
	first, second := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")}), f.start(host.Request{ID: "c2", Tool: "put", Input: input("b")})
	asked := <-requests
	<-requests
	last := len(asked.SuggestedUpdates) - 1
	if got := asked.SuggestedUpdates[last]; got.Op != "set_mode" || got.Mode != permissions.AcceptEdits || got.Destination != agenttool.SourceSession {
		t.Fatalf("offered is %+v", got)
	}
	d, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow, AcceptUpdates: []int{last}})
	if err != nil || !strings.Contains(d.Reason.Detail, "mode accept_edits") {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, done := range []<-chan host.Completion{first, second} { // the second prompt is answered by the mode
		if got := <-done; got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("%+v", got.Result)
		}
	}
	if got := f.call(host.Request{ID: "c3", Tool: "put", Input: input("c")}); got.Result.Status != agenttool.ResultSucceeded {
		t.Errorf("the next call: %+v", got.Result)
	}
	amended := f.Host.Policy().Rules()
	f.Amend(host.Amendment{Policy: permissions.Policy{Mode: permissions.Default}.With(amended...)})
	if f.Mode() != permissions.AcceptEdits {
		t.Errorf("after other settings changed: mode %s", f.Mode())
	}
	if err := f.SetMode(permissions.Sandboxed, host.ByClient); !host.IsRefused(err) {
		t.Errorf("a client loosens: %v", err)
	}
	if err := f.SetMode(permissions.Default, host.ByClient); err != nil || f.Mode() != permissions.Default {
		t.Errorf("a client tightens: %v, mode %s", err, f.Mode())
	}
	if err := f.SetMode(permissions.AcceptEdits, host.ByClient); !host.IsRefused(err) {
		t.Errorf("a client loosens again: %v", err)
	}
}

// TestSessionGrant: the rule that was shown is kept for the session, and covers nothing else.
func TestSessionGrant(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "write"}})
	requests, detach := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "write", Input: input("a[1]")})
	d, err := f.Decide(prompt.Answer{DecisionID: (<-requests).DecisionID, Behavior: agenttool.Allow, Scope: "session"})
	if err != nil || len(d.RuleRefs) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	<-done
	detach()
	if got := f.call(host.Request{ID: "c2", Tool: "write", Input: input("a[1]")}); got.Result.Status != agenttool.ResultSucceeded {
		t.Errorf("the same path: %+v", got.Result)
	}
	for _, other := range []string{"a1", "b", "a[1]x"} {
		if got := f.call(host.Request{ID: "c3", Tool: "write", Input: input(other)}); got.Result.Status != agenttool.ResultRejected {
			t.Errorf("path %s: %+v", other, got.Result)
		}
	}
}

// TestPromptEnds: a prompt ends when nobody is left to answer, when it expires, when its call is cancelled or times
// out, and at the end of input. None of it hangs.
func TestPromptEnds(t *testing.T) {
	conform.Held(t, "AT-163", "AT-165")
	for _, c := range []struct {
		name string
		req  host.Request
		end  func(f *fixture, detach func())
		code string
	}{
		{"viewer leaves", host.Request{}, func(_ *fixture, detach func()) { detach() }, "approval_unavailable"},
		{"expires", host.Request{}, func(*fixture, func()) {}, "approval_expired"},
		{"canceled", host.Request{}, func(f *fixture, _ func()) { f.Cancel("c1", "") }, "user_interruption"},
		{"deadline", host.Request{Timeout: time.Second}, func(*fixture, func()) {}, "deadline_exceeded"},
		{"end of input", host.Request{}, func(f *fixture, _ func()) { f.Drain(context.Background()) }, "runtime_shutdown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
				requests, detach := f.prompts()
				c.req.ID, c.req.Tool, c.req.Input = "c1", "put", input("a")
				done := f.start(c.req)
				<-requests
				c.end(f, detach)
				if got := <-done; got.Result.Error == nil || got.Result.Error.Code != c.code {
					t.Errorf("result %+v, want code %s", got.Result, c.code)
				}
				if n := len(f.Status().Pending); n != 0 {
					t.Errorf("%d prompts are left", n)
				}
				f.Host.Close()
			})
		})
	}
}

// TestUnansweredPromptDelaysNobody: other calls, and later ones of the same batch, run meanwhile.
func TestUnansweredPromptDelaysNobody(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}, &fake{name: "look", reads: true}})
	requests, _ := f.prompts()
	var asked []<-chan host.Completion
	for i := range 200 {
		asked = append(asked, f.start(host.Request{ID: string(rune('A' + i)), Tool: "put", Input: input("a")}))
	}
	first := <-requests
	if got := f.call(host.Request{ID: "look", Tool: "look", Input: input("a")}); got.Result.Status != agenttool.ResultSucceeded {
		t.Errorf("a read beside prompts: %+v", got.Result)
	}
	if _, err := f.Decide(prompt.Answer{DecisionID: first.DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Error(err)
	}
	go f.Drain(context.Background())
	for _, done := range asked {
		<-done
	}
}

// TestPromptWhileTheClockJumps: deadlines of calls and prompts go by a clock that nobody sets, so that a wall clock that jumps by years
// ends none of them.
func TestPromptWhileTheClockJumps(t *testing.T) {
	var readings atomic.Int64
	jumping := func() time.Time {
		n := readings.Add(1)
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(int(n*7%40)-20, 0, 0)
	}
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}}, func(o *host.Options) { o.Now = jumping })
	requests, _ := f.prompts()
	for i := range 20 {
		id := fmt.Sprint("c", i)
		done := f.start(host.Request{ID: id, Tool: "put", Input: input("a"), Timeout: time.Hour})
		asked := <-requests
		if _, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow}); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if got := <-done; got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("%s: %+v", id, got.Result.Error)
		}
	}
}

// TestStricterModeWhileAsked: what came into force before the answer holds for the call.
func TestStricterModeWhileAsked(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	requests, _ := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	asked := <-requests
	if err := f.SetMode(permissions.Plan, host.ByClient); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.Result.Status != agenttool.ResultDenied {
		t.Errorf("result %+v", got.Result)
	}
}

// TestAnswerIsRecordedFirst: an answer that was accepted is in the log, with what it grants, also when the call was
// cancelled in the same moment; one that comes after the cancellation grants nothing.
func TestAnswerIsRecordedFirst(t *testing.T) {
	for round := range 50 {
		f := newFixture(t, []agenttool.Tool{&fake{name: "write"}})
		requests, _ := f.prompts()
		done := f.start(host.Request{ID: "c1", Tool: "write", Input: input("a")})
		id := (<-requests).DecisionID
		var d agenttool.Decision
		var err error
		var both sync.WaitGroup
		both.Go(func() { f.Cancel("c1", "") })
		both.Go(func() {
			d, err = f.Decide(prompt.Answer{DecisionID: id, Behavior: agenttool.Allow, Scope: "session"})
		})
		both.Wait()
		got := <-done
		recorded := len(got.Invocation.PermissionDecisionRefs) == 2 && strings.Contains(strings.Join(f.events(got.Invocation.InvocationID), " "), "tool.permission.decided")
		if (err == nil) != recorded {
			t.Fatalf("round %d: answer %+v, %v; recorded: %v", round, d, err, recorded)
		}
		again := f.start(host.Request{ID: "c2", Tool: "write", Input: input("a")})
		if err != nil { // nothing was granted: it asks
			<-requests
			f.Cancel("c2", "")
		}
		if got := <-again; (got.Result.Status == agenttool.ResultSucceeded) != (err == nil) {
			t.Fatalf("round %d: answer %v, then %s", round, err, got.Result.Status)
		}
	}
}

// previewTool is a call whose preview goes stale as often as a test says.
type previewTool struct {
	fakeCall
	tool  *previewedTool
	shown bool
}

type previewedTool struct {
	fake
	stale int // how many of the next runs find that the preview is stale
}

func (f *previewedTool) Bind(scope agenttool.Scope, in json.RawMessage) (agenttool.Call, error) {
	c, err := f.fake.Bind(scope, in)
	if err != nil {
		return nil, err
	}
	return &previewTool{fakeCall: *c.(*fakeCall), tool: f}, nil
}

func (c *previewTool) Preview(context.Context) (agenttool.Preview, error) {
	c.shown = true
	return agenttool.Preview{Diff: "+a\n", Digest: "sha256:x"}, nil
}

func (c *previewTool) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	if c.shown && c.tool.stale > 0 {
		c.tool.stale--
		return agenttool.Output{}, agenttool.ErrPreviewStale
	}
	return c.fakeCall.Run(ctx, r)
}

// TestStalePreviewAsksAgain: what was approved is what runs: if the file changed since, the call asks again, under the
// same invocation id, and gives up in the end.
func TestStalePreviewAsksAgain(t *testing.T) {
	for _, c := range []struct {
		stale, asked int
		status       agenttool.ResultStatus
	}{{0, 1, "succeeded"}, {1, 2, "succeeded"}, {2, 3, "succeeded"}, {9, 3, "failed"}} {
		f := newFixture(t, []agenttool.Tool{&previewedTool{fake: fake{name: "put"}, stale: c.stale}})
		requests, _ := f.prompts()
		done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
		var got host.Completion
		asked := 0
		for ended := false; !ended; {
			select {
			case d := <-requests:
				if asked++; len(d.ContentBlocks) != 1 || d.ContentBlocks[0].Diff == "" {
					t.Errorf("the prompt shows %+v", d.ContentBlocks)
				}
				if _, err := f.Decide(prompt.Answer{DecisionID: d.DecisionID, Behavior: agenttool.Allow}); err != nil {
					t.Fatal(err)
				}
			case got = <-done:
				ended = true
			}
		}
		if asked != c.asked || got.Result.Status != c.status {
			t.Errorf("stale %d times: asked %d times, ended %s; want %d, %s", c.stale, asked, got.Result.Status, c.asked, c.status)
		}
		states := 0
		for _, s := range got.Invocation.StatusTransitions {
			if s.Status == agenttool.StatusFailed || s.Status == agenttool.StatusSucceeded {
				states++
			}
		}
		if states != 1 {
			t.Errorf("transitions %v hold %d last states", got.Invocation.StatusTransitions, states)
		}
		checkRecords(t, got)
	}
}

// TestModeOfAUser: a mode that a user chooses may be looser than the one that the host was started with, and answers the prompts that wait.
func TestModeOfAUser(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	requests, detach := f.prompts()
	defer detach()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	<-requests
	if err := f.SetMode(permissions.AcceptEdits, host.ByClient); !host.IsRefused(err) {
		t.Errorf("a client loosens: %v", err)
	}
	if err := f.SetMode(permissions.AcceptEdits, host.ByUser); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.Result.Status != agenttool.ResultSucceeded {
		t.Errorf("the call that waited: %+v", got.Result)
	}
}
