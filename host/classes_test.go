package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/redacttest"
)

// eventClasses are the standard's.
const eventClasses = "tool.declared tool.surface.created tool.surface.updated tool.deferred.discovered tool.deferred.loaded " +
	"tool.invocation.planned tool.invocation.selected tool.invocation.arguments_ready tool.invocation.validation_failed " +
	"tool.hook.pre.started tool.hook.pre.completed tool.permission.requested tool.permission.decided " +
	"tool.invocation.queued tool.invocation.started tool.invocation.progress tool.invocation.partial_result " +
	"tool.hook.post.started tool.hook.post.completed tool.result.persisted tool.invocation.yielded tool.invocation.succeeded " +
	"tool.invocation.failed tool.invocation.canceled tool.invocation.timed_out tool.result.created tool.result.redacted"

// eventfulTools do what the events of a session are about.
func eventfulTools(j *fakeJob) []agenttool.Tool {
	secret := redacttest.Secrets(6)[0].Value
	says := func(out agenttool.Output) func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return func(_ context.Context, _ fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
			r.Progress(agenttool.Progress{Message: "at work"})
			return out, nil
		}
	}
	text := func(s string) []agenttool.Content { return []agenttool.Content{agenttool.Text(s)} }
	return []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "put"}, &fake{name: "later", reads: true, lifecycle: agenttool.Deferred},
		&fake{name: "long", reads: true, run: says(agenttool.Output{Content: text(strings.Repeat("line\n", 20_000))})},
		&fake{name: "secret", reads: true, run: says(agenttool.Output{Content: text("key " + secret)})},
		&fake{name: "server", reads: true, run: says(agenttool.Output{Content: text("up"), Bytes: 2, Job: j, Yielded: true})},
		&fake{name: "hang", reads: true, run: func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
			<-ctx.Done()
			return agenttool.Output{}, context.Cause(ctx)
		}},
	}
}

// TestEveryClassInOneSession: the log of one session has the events of all classes. Each is a sound record, and those of a call begin with its plan
// and end with its one result, but for the end of a job.
func TestEveryClassInOneSession(t *testing.T) {
	conform.Held(t, "AT-428")
	j := newFakeJob("j1")
	f := newFixture(t, eventfulTools(j), watched(hookOf(t, hook.PreToolUse, says("")), hookOf(t, hook.PostToolUse, says(""))), func(o *host.Options) { o.Jobs = fakeJobs{j} })
	done := []host.Completion{f.call(host.Request{ID: "first", Tool: "look", Input: input("a")})}
	f.Search("later", 0)
	f.Load([]string{"later"})
	for _, tool := range []string{"look", "later", "long", "secret", "server", "nothing"} {
		done = append(done, f.call(host.Request{ID: tool, Tool: tool, Input: input("a")}))
	}
	done = append(done, f.call(host.Request{ID: "wrong", Tool: "look", Input: input("bad")}))
	done = append(done, f.call(host.Request{ID: "late", Tool: "hang", Input: input("a"), Timeout: time.Millisecond}))
	stopped := f.start(host.Request{ID: "stop", Tool: "hang", Input: input("a")})
	f.waitFor(func() bool { return f.status("stop") == agenttool.StatusRunning })
	f.Cancel("stop", "enough")
	done = append(done, <-stopped)
	requests, _ := f.prompts()
	asked := f.start(host.Request{ID: "ask", Tool: "put", Input: input("a")})
	if _, err := f.Decide(prompt.Answer{DecisionID: (<-requests).DecisionID, Behavior: agenttool.Allow}); err != nil {
		t.Fatal(err)
	}
	done = append(done, <-asked)
	if err := f.SetMode(permissions.Plan, host.ByClient); err != nil {
		t.Fatal(err)
	}
	types := f.types()
	for class := range strings.FieldsSeq(eventClasses) {
		if !slices.Contains(types, class) {
			t.Errorf("no %s", class)
		}
	}
	if n := len(strings.Fields(eventClasses)); n != 27 {
		t.Errorf("%d classes", n)
	}
	for _, c := range done {
		of := f.events(c.Invocation.InvocationID) // checks the records
		results := len(slices.DeleteFunc(slices.Clone(of), func(s string) bool { return s != "tool.result.created" }))
		if first := slices.Index(of, "tool.invocation.planned"); first != 0 || results != 1 {
			t.Errorf("%s: %d results, events %v", c.Invocation.NativeCallID, results, of)
		}
	}
}
