package host_test

import (
	"context"
	"slices"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
)

// TestCallerAnswers: a caller that answers its own prompts is waited for, though nobody is attached; the prompts of others are not.
func TestCallerAnswers(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}})
	type asked struct {
		prompt.Prompt
		over <-chan struct{}
	}
	heard := make(chan asked, 2)
	caller := host.Caller{CallID: "theirs", Refs: []string{"thread 7"}, Asked: func(p prompt.Prompt, over <-chan struct{}) { heard <- asked{p, over} }}
	if got := f.call(host.Request{ID: "alone", Tool: "put", Input: input("a")}); got.Result.Error == nil || got.Result.Error.Code != "approval_unavailable" {
		t.Fatalf("a call that nobody answers for: %+v", got.Result)
	}
	done := f.start(host.Request{ID: "c1", Tool: "put", Input: input("a"), Caller: caller})
	p := <-heard
	select {
	case <-p.over:
		t.Error("the prompt is over before it is answered")
	default:
	}
	f.Attend()() // somebody looked in and left
	if _, err := f.Decide(prompt.Answer{DecisionID: p.Decision.DecisionID, Behavior: agenttool.Allow, Channel: prompt.Channel{Name: "test"}}); err != nil {
		t.Fatal(err)
	}
	got := <-done
	<-p.over
	if got.Result.Status != agenttool.ResultSucceeded || got.Invocation.NativeCallID != "theirs" || !slices.Contains(got.Invocation.RuntimeRefs, "thread 7") {
		t.Errorf("%+v\n%+v", got.Invocation, got.Result)
	}
	checkRecords(t, got)

	done = f.start(host.Request{ID: "c2", Tool: "put", Input: input("b"), Caller: caller})
	p = <-heard
	f.Cancel("c2", "the caller has gone")
	<-p.over
	if got := <-done; got.Invocation.Status != agenttool.StatusCanceled {
		t.Errorf("status %s", got.Invocation.Status)
	}
}

// TestCallerHears: a caller hears the progress of its own call, and the end of the job that it left.
func TestCallerHears(t *testing.T) {
	j := newFakeJob("j1")
	server := &fake{name: "server", run: func(_ context.Context, _ fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
		r.Progress(agenttool.Progress{Message: "half way"})
		return agenttool.Output{Job: j, Yielded: true}, nil
	}}
	f := newFixture(t, []agenttool.Tool{server}, allowing("Server"), func(o *host.Options) { o.Jobs = fakeJobs{j} })
	heard := make(chan agenttool.Progress, 8)
	got := f.call(host.Request{ID: "s", Tool: "server", Input: input("src"), Caller: host.Caller{Progress: func(p agenttool.Progress) { heard <- p }}})
	if p := <-heard; p.Message != "half way" || p.InvocationID != got.Invocation.InvocationID || got.Job != "j1" {
		t.Errorf("%+v, job %q", p, got.Job)
	}
	if p := <-heard; p.TaskID != "j1" || p.Status != "backgrounded" {
		t.Errorf("%+v", p)
	}
	j.end()
	if p := <-heard; p.TaskID != "j1" || p.Status != "completed" {
		t.Errorf("%+v", p)
	}
}
