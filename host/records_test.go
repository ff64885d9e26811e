package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/testdata/support/conform"
)

// hang is a Run that goes on until its context ends.
func hang(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
	<-ctx.Done()
	return agenttool.Output{}, ctx.Err()
}

// TestAdviceFollowsFromFacts times out a call that reads, one that writes and one that waits for its lock: only the one that may have
// written is told to look first, and the one that never ran is discarded.
func TestAdviceFollowsFromFacts(t *testing.T) {
	conform.Held(t, "AT-199", "AT-201")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: hang}, &fake{name: "put", run: hang}}, allowing("put"))
		look := f.start(host.Request{ID: "look", Tool: "look", Input: input("b"), Timeout: time.Second})
		put := f.start(host.Request{ID: "put", Tool: "put", Input: input("a"), Timeout: time.Second})
		wait := f.start(host.Request{ID: "wait", Tool: "put", Input: input("a"), Timeout: time.Second / 2})
		for _, c := range []struct {
			name        string
			done        <-chan host.Completion
			advice      agenttool.Recovery
			safe, queue string
			look        bool
		}{
			{"reads", look, agenttool.RetrySafe, "yes", "completed", false},
			{"writes", put, agenttool.InspectFirst, "unknown", "completed", true},
			{"waits", wait, agenttool.RetrySafe, "yes", "discarded", false},
		} {
			got := <-c.done
			e := got.Result.Error
			if e.Class != agenttool.Timeout || e.Recoverability != c.advice || e.RetrySafe != c.safe {
				t.Errorf("%s: %s, advice %s, retry_safe %s; want %s, %s", c.name, e.Class, e.Recoverability, e.RetrySafe, c.advice, c.safe)
			}
			if state := got.Invocation.Scheduler.QueueState; state != c.queue {
				t.Errorf("%s: queue state %s, want %s", c.name, state, c.queue)
			}
			if said := strings.Contains(got.Result.Content[0].Text, "Look before"); said != c.look {
				t.Errorf("%s: the model reads %q", c.name, got.Result.Content[0].Text)
			}
			checkRecords(t, got)
		}
		f.Host.Close()
	})
}

// entries are the events of the log as records.
func (f *fixture) entries() (events []agenttool.Event) {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10_000)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, entry := range entries {
		var e agenttool.Event
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			f.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// batch runs a batch to its end.
func (f *fixture) batch(p *agenttool.SchedulerPolicy, calls ...host.Request) []host.Completion {
	f.t.Helper()
	done := make(chan []host.Completion, 1)
	if err := f.Batch(host.BatchRequest{ID: "b", Policy: p, Calls: calls}, func(got []host.Completion) { done <- got }); err != nil {
		f.t.Fatal(err)
	}
	return <-done
}

// TestPolicyIsARecord: a batch's policy is in the journal once, before its calls; they name it, and say what it says.
func TestPolicyIsARecord(t *testing.T) {
	conform.Held(t, "AT-012", "AT-195")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	if exported := f.Surface().SchedulerPolicy; exported.SchedulerPolicyID != "toolhost.scheduler.session" || exported.ContextModifierPolicy != "allow_serial_only" {
		t.Errorf("the session's policy is %+v", exported)
	}
	mine := agenttool.SchedulerPolicy{SchedulerPolicyID: "mine", ContextModifierPolicy: "forbid"}
	alone := f.call(host.Request{ID: "alone", Tool: "look", Input: input("a")}).Invocation
	if facts := alone.Scheduler; alone.SchedulerPolicyRef != "toolhost.scheduler.session" || facts.ContextModifierPolicy != "allow_serial_only" || facts.QueueState != "completed" {
		t.Errorf("outside of a batch: policy %s, %+v", alone.SchedulerPolicyRef, facts)
	}
	var refs []string
	for range 2 {
		for _, got := range f.batch(&mine, host.Request{ID: "1", Tool: "look", Input: input("a")}, host.Request{ID: "2", Tool: "look", Input: input("b")}) {
			if policy := got.Invocation.Scheduler.ContextModifierPolicy; policy != "forbid" {
				t.Errorf("context_modifier_policy is %s", policy)
			}
			refs = append(refs, got.Invocation.SchedulerPolicyRef)
		}
	}
	unnamed := f.batch(&agenttool.SchedulerPolicy{MaxParallel: 2}, host.Request{ID: "3", Tool: "look", Input: input("a")})
	refs = append(refs, unnamed[0].Invocation.SchedulerPolicyRef)
	written := map[string]int{}
	for _, e := range f.entries() {
		if e.EventType != agenttool.EventSchedulerPolicy {
			continue
		}
		var data struct {
			Policy agenttool.SchedulerPolicy `json:"scheduler_policy"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		written[data.Policy.SchedulerPolicyID]++
	}
	for _, ref := range append(refs, "toolhost.scheduler.session") {
		if written[ref] != 1 {
			t.Errorf("policy %q is in the journal %d times", ref, written[ref])
		}
	}
	if len(written) != 3 || refs[0] != "mine" {
		t.Errorf("policies %v, refs %v", written, refs)
	}
}

// TestBatchPolicies shows what the policies do: unordered results come as they end, ordered progress waits for its turn, and locks of a
// policy exclude calls that have none in common.
func TestBatchPolicies(t *testing.T) {
	conform.Held(t, "X22")
	sleeps := func(ctx context.Context, in fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
		d, _ := time.ParseDuration(in.Say)
		if in.Path == "b" {
			time.Sleep(time.Millisecond)
		}
		r.Progress(agenttool.Progress{Message: in.Path})
		time.Sleep(d)
		r.Progress(agenttool.Progress{Message: in.Path})
		return agenttool.Output{}, nil
	}
	for _, c := range []struct {
		name   string
		policy agenttool.SchedulerPolicy
		want   string // the results, then what a subscriber hears: p is progress, r a result
		lasts  time.Duration
	}{
		{"the session's", agenttool.SchedulerPolicy{}, "ab, pa pb pb rb pa ra", 2 * time.Second},
		{"unordered", agenttool.SchedulerPolicy{OrderingPolicy: "allow_unordered"}, "ba, pa pb pb rb pa ra", 2 * time.Second},
		{"streaming", agenttool.SchedulerPolicy{YieldPolicy: "unordered_streaming"}, "ba, pa pb pb rb pa ra", 2 * time.Second},
		{"all ordered", agenttool.SchedulerPolicy{YieldPolicy: "all_ordered"}, "ab, pa pa ra pb pb rb", 2 * time.Second},
		{"serial", agenttool.SchedulerPolicy{OrderingPolicy: "serial"}, "ab, pa pa ra pb pb rb", 3 * time.Second},
		{"locks", agenttool.SchedulerPolicy{ResourceLocks: []json.RawMessage{[]byte(`{"path":"/port/80","write":true}`)}}, "ab, pa pa ra pb pb rb", 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []agenttool.Tool{&fake{name: "do", reads: true, run: sleeps}})
				start, heard := time.Now(), ""
				f.Subscribe(&host.Subscription{Level: host.EventsAll, Tell: func(n host.Notice) {
					var e agenttool.Event
					_ = json.Unmarshal(n.Event, &e)
					switch {
					case n.Type == agenttool.EventProgress && strings.Contains(string(e.Data), `"status":"running"`): // the tool's
						heard += " p" + e.Subject
					case n.Type == agenttool.EventResultCreated:
						heard += " r" + e.Subject
					}
				}})
				var order string
				for _, got := range f.batch(&c.policy, host.Request{ID: "a", Tool: "do", Input: []byte(`{"path":"a","say":"2s"}`)},
					host.Request{ID: "b", Tool: "do", Input: []byte(`{"path":"b","say":"1s"}`)}) {
					order += got.Invocation.NativeCallID
				}
				if got := order + "," + heard; got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if d := time.Since(start); d.Round(time.Second/2) != c.lasts {
					t.Errorf("it took %s, want %s", d, c.lasts)
				}
				f.Host.Close()
			})
		})
	}
}

// TestEveryCancelIsAnEvent: also requests that are refused, late or stray.
func TestEveryCancelIsAnEvent(t *testing.T) {
	conform.Held(t, "X11")
	conform.Held(t, "AT-242", "AT-243", "AT-245")
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		deaf := func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			<-release
			return agenttool.Output{}, nil
		}
		late := func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
			time.Sleep(time.Second)
			return agenttool.Output{}, nil
		}
		f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: hang}, &fake{name: "deaf", run: deaf}, &fake{name: "late", run: late}}, allowing("put", "deaf", "late"))
		var done []<-chan host.Completion
		for _, id := range []string{"put", "deaf", "late"} {
			done = append(done, f.start(host.Request{ID: id, Tool: id, Input: input(id)}))
		}
		blocked := make(chan []host.Completion, 1)
		err := f.Batch(host.BatchRequest{ID: "b", Policy: &agenttool.SchedulerPolicy{InterruptBehavior: "block"},
			Calls: []host.Request{{ID: "held", Tool: "late", Input: input("x")}}}, func(got []host.Completion) { blocked <- got })
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for _, id := range []string{"put", "deaf", "late", "held", "stray"} {
			if ack := f.Cancel(id, "why not"); ack.Acknowledged != (id != "held" && id != "stray") {
				t.Errorf("%s: %+v", id, ack)
			}
		}
		for _, c := range done {
			<-c
		}
		<-blocked
		close(release)
		synctest.Wait()
		f.Cancel("put", "too late")
		synctest.Wait()
		got := map[string]string{}
		for _, e := range f.entries() {
			switch e.EventType {
			case agenttool.EventCancelRequested, agenttool.EventCancelAcknowledged, agenttool.EventCancelFailed, agenttool.EventCanceled, agenttool.EventSucceeded:
				got[e.Subject] += " " + string(e.EventType[strings.LastIndexByte(string(e.EventType), '.')+1:])
			}
		}
		for id, want := range map[string]string{
			"put":  " cancel_requested cancel_acknowledged canceled cancel_requested",
			"deaf": " cancel_requested cancel_acknowledged cancel_failed canceled",
			"late": " cancel_requested cancel_acknowledged cancel_failed succeeded",
			"held": " cancel_requested succeeded", "stray": " cancel_requested",
		} {
			if got[id] != want {
				t.Errorf("%s:%s, want%s", id, got[id], want)
			}
		}
		f.Host.Close()
	})
}

// TestFallback: a call whose model stream was given up is discarded.
func TestFallback(t *testing.T) {
	conform.Held(t, "AT-260", "AT-330")
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: hang}}, allowing("put"))
		running := f.start(host.Request{ID: "1", Tool: "put", Input: input("a")})
		waiting := f.start(host.Request{ID: "2", Tool: "put", Input: input("a")})
		synctest.Wait()
		for i, done := range []<-chan host.Completion{waiting, running} {
			f.CancelAs(host.Fallback, []string{"2", "1"}[i], "")
			got := <-done
			advice := []agenttool.Recovery{agenttool.RetrySafe, agenttool.InspectFirst}[i]
			if got.Result.Status != agenttool.ResultDiscarded || got.Result.AbortReason != "fallback" || got.Invocation.Status != agenttool.StatusCanceled ||
				got.Result.Error.Class != agenttool.StreamingFallbackDiscarded || got.Result.Error.Recoverability != advice {
				t.Errorf("call %d: %s, %s, %+v", i+1, got.Invocation.Status, got.Result.Status, got.Result.Error)
			}
			checkRecords(t, got)
		}
		f.Host.Close()
	})
}

// TestWhoChangedTheInput: an edit by a person is named by invocation and result, the model reads of it, the input that was judged last is
// the permission_input, and the decision that let it run is in the journal.
func TestWhoChangedTheInput(t *testing.T) {
	conform.Held(t, "AT-009", "AT-086", "AT-098", "AT-427", "X17")
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}, &fake{name: "look", reads: true}})
	requests, _ := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	asked := <-requests
	if _, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow, UpdatedInput: input("b")}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	for name, mutations := range map[string][]agenttool.InputMutation{"invocation": got.Invocation.Mutations, "result": got.Result.Mutations} {
		if len(mutations) != 1 || mutations[0].SourceType != "permission_prompt" || mutations[0].SourceRef != string(asked.DecisionID) || !slices.Equal(mutations[0].ChangedFields, []string{"path"}) {
			t.Errorf("the %s says %+v", name, mutations)
		}
	}
	if inv := got.Invocation; string(inv.ModelInput) != `{"path":"a"}` || inv.ApprovalRequestRef != string(asked.DecisionID) || inv.Scheduler == nil {
		t.Errorf("model_input %s, approval_request_ref %s, scheduler %v", inv.ModelInput, inv.ApprovalRequestRef, inv.Scheduler)
	}
	if inv := got.Invocation; string(inv.PermissionInput) != `{"path":"b"}` || inv.CallInputRef != "#/permission_input" || string(inv.ObservableInput) != `{"path":"a"}` {
		t.Errorf("permission_input %s, call_input_ref %s, observable_input %s", inv.PermissionInput, inv.CallInputRef, inv.ObservableInput)
	}
	if text := got.Result.Content[len(got.Result.Content)-1].Text; text != "[the input was changed by the person who was asked: path]" {
		t.Errorf("the model reads %q", text)
	}
	if refs := got.Invocation.PermissionDecisionRefs; len(refs) != 3 {
		t.Errorf("decisions %v: want the one that asks, its answer, and the one about the edited input", refs)
	}
	f.decisionsAre(got.Invocation, "ask allow allow")
	plain := f.call(host.Request{ID: "c2", Tool: "look", Input: input("a")})
	f.decisionsAre(plain.Invocation, "allow")
	var states []agenttool.Transition
	for _, s := range got.Invocation.StatusTransitions {
		if s.Status == agenttool.StatusAwaitingApproval || s.Status == agenttool.StatusApproved {
			states = append(states, s)
		}
	}
	if len(states) != 2 || states[0].Status != agenttool.StatusAwaitingApproval || states[1].At < states[0].At {
		t.Errorf("states %+v: want awaiting_approval, then approved", states)
	}
	checkRecords(t, got)
}

// TestInjectedField: the result names who added a field that the model did not give, and the model's input stays as it was.
func TestInjectedField(t *testing.T) {
	conform.Held(t, "AT-089")
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	requests, _ := f.prompts()
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a")})
	asked := <-requests
	if _, err := f.Decide(prompt.Answer{DecisionID: asked.DecisionID, Behavior: agenttool.Allow, UpdatedInput: []byte(`{"path":"a","say":"more"}`)}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if m := got.Result.Mutations; len(m) != 1 || m[0].SourceType != "permission_prompt" || m[0].SourceRef != string(asked.DecisionID) || !slices.Equal(m[0].ChangedFields, []string{"say"}) {
		t.Errorf("the result says %+v", m)
	}
	if inv := got.Invocation; string(inv.ModelInput) != `{"path":"a"}` || string(inv.PermissionInput) != `{"path":"a","say":"more"}` {
		t.Errorf("model_input %s, permission_input %s", inv.ModelInput, inv.PermissionInput)
	}
	checkRecords(t, got)
}

// decisionsAre checks the decisions about a call in the log: what they say, and that the invocation names each of them.
func (f *fixture) decisionsAre(inv agenttool.Invocation, want string) {
	f.t.Helper()
	var behaviors, ids []string
	for _, data := range slices.Concat(f.logged(agenttool.EventPermissionRequested), f.logged(agenttool.EventPermissionDecided)) {
		var d struct{ Decision agenttool.Decision }
		if err := json.Unmarshal([]byte(data), &d); err != nil {
			f.t.Fatal(err)
		}
		if d.Decision.InvocationID == inv.InvocationID {
			behaviors, ids = append(behaviors, string(d.Decision.Behavior)), append(ids, string(d.Decision.DecisionID))
		}
	}
	refs := slices.Clone(inv.PermissionDecisionRefs)
	slices.Sort(refs)
	slices.Sort(ids)
	if got := strings.Join(behaviors, " "); got != want || !slices.Equal(refs, ids) {
		f.t.Errorf("decisions %s with ids %v, want %s with the ids %v", got, ids, want, refs)
	}
}

// TestSizesCountEveryBlock: of an image, the bytes before they were encoded.
func TestSizesCountEveryBlock(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("four"), {Type: "image", MediaType: "image/png", Data: "AAAAAAA="}, {Type: "diff", Diff: "-a\n"}}}, nil
	}}})
	if got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")}); got.Persistence.OriginalSizeBytes != 4+5+3 {
		t.Errorf("original_size_bytes is %d", got.Persistence.OriginalSizeBytes)
	}
}
