package host_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/testdata/support/conform"
)

// decisions are the decisions about a call, as the journal has them.
func (f *fixture) decisions(inv agenttool.InvocationID) (list []agenttool.Decision) {
	f.t.Helper()
	for _, e := range f.entries() {
		if e.InvocationID != inv || e.EventType != agenttool.EventPermissionRequested && e.EventType != agenttool.EventPermissionDecided {
			continue
		}
		var data struct {
			Decision agenttool.Decision `json:"decision"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			f.t.Fatal(err)
		}
		list = append(list, data.Decision)
	}
	return list
}

// TestAbortReasons ends a running call and one that waits for its lock in each way before their time: both get a result that names the
// standard's reason, although neither tool made one.
func TestAbortReasons(t *testing.T) {
	conform.Held(t, "AT-208", "AT-244")
	for _, c := range []struct {
		name, reason string
		timeout      time.Duration
		end          func(f *fixture)
		status       agenttool.ResultStatus
	}{
		{"a person", "user interruption", 0, func(f *fixture) { f.Cancel("2", ""); f.Cancel("1", "") }, agenttool.ResultCanceled},
		{"the model's stream", "fallback", 0, func(f *fixture) { f.CancelAs(host.Fallback, "2", ""); f.CancelAs(host.Fallback, "1", "") }, agenttool.ResultDiscarded},
		{"the clock", "timeout", time.Second, func(*fixture) {}, agenttool.ResultTimedOut},
		{"the end of the host", "runtime shutdown", 0, func(f *fixture) { f.Host.Close() }, agenttool.ResultCanceled},
		{"another call of the batch", "sibling error", 0, func(*fixture) {}, agenttool.ResultCanceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: hang}}, allowing("put"))
				done := make(chan []host.Completion, 1)
				policy := agenttool.SchedulerPolicy{SiblingFailurePolicy: "ignore"}
				if c.reason == "sibling error" {
					policy.SiblingFailurePolicy = "cancel_siblings"
				}
				err := f.Batch(host.BatchRequest{ID: "b", Policy: &policy, Calls: []host.Request{
					{ID: "0", Tool: "put", Input: input("z"), Timeout: c.timeout}, {ID: "1", Tool: "put", Input: input("a"), Timeout: c.timeout},
					{ID: "2", Tool: "put", Input: input("a"), Timeout: c.timeout},
				}}, func(got []host.Completion) { done <- got })
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				c.end(f)
				f.Cancel("0", "")
				for _, got := range (<-done)[1:] {
					if got.Result.Status != c.status || got.Result.AbortReason != c.reason || got.Invocation.AbortReason != c.reason || !got.Result.IsError {
						t.Errorf("%s: %s, abort_reason %q and %q; want %s, %q", got.Invocation.NativeCallID, got.Result.Status, got.Result.AbortReason,
							got.Invocation.AbortReason, c.status, c.reason)
					}
					checkRecords(t, got)
				}
				f.Host.Close()
			})
		})
	}
}

// TestReasonsOfPrompts: decisions say that nobody was there to ask, that a prompt ended without an answer, that an answer was for one call,
// and that one was for the session.
func TestReasonsOfPrompts(t *testing.T) {
	conform.Held(t, "AT-150", "AT-152", "AT-159", "AT-160")
	f := newFixture(t, []agenttool.Tool{&fake{name: "write"}})
	alone := f.call(host.Request{ID: "alone", Tool: "write", Input: input("a")})
	requests, _ := f.prompts()
	ended := f.start(host.Request{ID: "ended", Tool: "write", Input: input("a")})
	<-requests
	f.Cancel("ended", "")
	answer := func(id, path string, a prompt.Answer) host.Completion {
		done := f.start(host.Request{ID: id, Tool: "write", Input: input(path)})
		a.DecisionID = (<-requests).DecisionID
		if _, err := f.Decide(a); err != nil {
			t.Fatal(err)
		}
		return <-done
	}
	once := answer("once", "a", prompt.Answer{Behavior: agenttool.Allow})
	session := answer("session", "b", prompt.Answer{Behavior: agenttool.Allow, Scope: prompt.ScopeSession})
	later := f.call(host.Request{ID: "later", Tool: "write", Input: input("b")})
	for _, c := range []struct {
		name         string
		call         host.Completion
		behavior     agenttool.Behavior
		kind, source string
	}{
		{"nobody there", alone, agenttool.Deny, "async_agent", ""}, {"no answer", <-ended, agenttool.Deny, "other", ""},
		{"once", once, agenttool.Allow, "permission_prompt_tool", agenttool.SourceCommand},
		{"for the session", session, agenttool.Allow, "permission_prompt_tool", agenttool.SourceSession},
		{"by the session's rule", later, agenttool.Allow, "rule", agenttool.SourceSession},
	} {
		list := f.decisions(c.call.Invocation.InvocationID)
		d := list[len(list)-1]
		if d.Behavior != c.behavior || d.Reason.Type != c.kind || d.Source != c.source {
			t.Errorf("%s: %s because of %s, source %q; want %s because of %s, source %q", c.name, d.Behavior, d.Reason.Type, d.Source, c.behavior, c.kind, c.source)
		}
	}
}

// TestQueueStates: a call that runs and one that waits say so while they do, and which of them needs the place for itself.
func TestQueueStates(t *testing.T) {
	conform.Held(t, "AT-194", "AT-197", "AT-198")
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			<-release
			return agenttool.Output{}, nil
		}}}, allowing("put"))
		runs := f.start(host.Request{ID: "runs", Tool: "put", Input: input("a")})
		synctest.Wait()
		waits := f.start(host.Request{ID: "waits", Tool: "put", Input: input("wild")})
		synctest.Wait()
		states := map[string]string{}
		for _, c := range f.Status().Calls {
			states[c.ID] = c.QueueState
		}
		if states["runs"] != "executing" || states["waits"] != "queued" {
			t.Errorf("queue states %v", states)
		}
		close(release)
		for _, c := range []struct {
			done      <-chan host.Completion
			exclusive bool
		}{{runs, false}, {waits, true}} {
			if s := (<-c.done).Invocation.Scheduler; s.RequiresExclusiveContext != c.exclusive || s.QueueState != "completed" {
				t.Errorf("scheduler facts %+v, want requires_exclusive_context %v", s, c.exclusive)
			}
		}
		f.Host.Close()
	})
}

// TestInterruptBehavior: a running call goes on when it is canceled, if its batch or its tool says block, or its tool says nothing. One that
// waits is canceled all the same.
func TestInterruptBehavior(t *testing.T) {
	conform.Held(t, "AT-203")
	for _, c := range []struct{ name, tool, policy, want string }{
		{"the tool says nothing", "", "", "succeeded"}, {"the tool says block", "block", "", "succeeded"},
		{"the policy says block", "cancel", "block", "succeeded"}, {"both say cancel", "cancel", "cancel", "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []agenttool.Tool{&deaf{fake{name: "put", run: func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
					select {
					case <-ctx.Done():
						return agenttool.Output{}, ctx.Err()
					case <-time.After(time.Minute):
						return agenttool.Output{}, nil
					}
				}}, c.tool}}, allowing("put"))
				done := make(chan []host.Completion, 1)
				err := f.Batch(host.BatchRequest{ID: "b", Policy: &agenttool.SchedulerPolicy{InterruptBehavior: c.policy, SiblingFailurePolicy: "ignore"},
					Calls: []host.Request{{ID: "runs", Tool: "put", Input: input("a")}, {ID: "waits", Tool: "put", Input: input("a")}}},
					func(got []host.Completion) { done <- got })
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if ack := f.Cancel("runs", ""); ack.Acknowledged != (c.want == "canceled") {
					t.Errorf("the running call: %+v", ack)
				}
				if ack := f.Cancel("waits", ""); !ack.Acknowledged {
					t.Errorf("the waiting call: %+v", ack)
				}
				got := <-done
				if states := string(got[0].Result.Status) + " " + string(got[1].Result.Status); states != c.want+" canceled" {
					t.Errorf("results %s, want %s canceled", states, c.want)
				}
				f.Host.Close()
			})
		})
	}
}

// deaf is a fake with another interrupt_behavior.
type deaf struct {
	fake
	interrupt string
}

func (d *deaf) Describe() agenttool.Description {
	described := d.fake.Describe()
	described.Interface.InterruptBehavior = d.interrupt
	return described
}

// TestTooLarge: what cannot be answered because of its size says so.
func TestTooLarge(t *testing.T) {
	conform.Held(t, "AT-256")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{}, agenttool.Failure(agenttool.ResultTooLarge, "session_full", "the session has no room")
	}}})
	got := f.call(host.Request{ID: "1", Tool: "look", Input: input("a")})
	if got.Result.Status != agenttool.ResultTooLargeStatus || !got.Result.IsError || got.Invocation.Status != agenttool.StatusFailed {
		t.Errorf("%s, %s, %+v", got.Invocation.Status, got.Result.Status, got.Result.Error)
	}
	checkRecords(t, got)
}

// TestWhatThePersonReads: each result has a line for the person, besides what the model reads: the tool's, or why there is none of the tool.
// A prompt that is said no to, and a call that is denied, have one, too.
func TestWhatThePersonReads(t *testing.T) {
	conform.Held(t, "AT-277")
	f := newFixture(t, []agenttool.Tool{
		&fake{name: "look", reads: true, run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
			if in.Say == "fail" {
				return agenttool.Output{}, agenttool.Failure(agenttool.ExecutionFailed, "broken", "the disk is broken")
			}
			return agenttool.Output{Content: []agenttool.Content{agenttool.Text("line 1\nline 2")}, Summary: "2 lines"}, nil
		}}, &fake{name: "write"},
	})
	requests, _ := f.prompts()
	rejected := f.start(host.Request{ID: "rejected", Tool: "write", Input: input("a")})
	if _, err := f.Decide(prompt.Answer{DecisionID: (<-requests).DecisionID, Behavior: agenttool.Deny, Feedback: "not here"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  host.Completion
		want string
	}{
		{"succeeded", f.call(host.Request{ID: "1", Tool: "look", Input: input("a")}), "2 lines"},
		{"failed", f.call(host.Request{ID: "2", Tool: "look", Input: []byte(`{"path":"a","say":"fail"}`)}), "the disk is broken"},
		{"rejected", <-rejected, "a person looked at the call and said no: not here"},
		{"wrong input", f.call(host.Request{ID: "3", Tool: "look", Input: input("bad")}), "bad is never a good path"},
	} {
		if line := c.got.Result.UIFacingSummary; line != c.want || c.got.Result.Content[0].Text == line {
			t.Errorf("%s: the person reads %q, the model %q; want %q", c.name, line, c.got.Result.Content[0].Text, c.want)
		}
	}
}
