package rap

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// withJob is a set with a tool that leaves j, and with tools that look at it and end it. killed hears of the latter.
func withJob(j *fakeJob, killed chan string) set {
	return set{
		allow: []string{"Server"}, jobs: j, options: Options{ProgressEvery: 20 * time.Millisecond},
		tools: []agenttool.Tool{
			&fake{name: "server", run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
				o := said("up")
				o.Job, o.Yielded = j, true
				return o, nil
			}},
			&fake{name: "shell_output", reads: true, jobs: true, input: `{"type":"object"}`, run: func(_ context.Context, input json.RawMessage) (agenttool.Output, error) {
				return said("line 99\nline 100"), nil
			}},
			&fake{name: "shell_kill", reads: true, jobs: true, input: `{"type":"object"}`, run: func(_ context.Context, input json.RawMessage) (agenttool.Output, error) {
				killed <- string(input)
				j.end()
				return said("killed"), nil
			}},
		},
	}
}

// events are the subscription_events about a call, in order.
func (rt *runtime) events(id string) (list []callback) {
	for _, c := range rt.taken() {
		if c.text("type") == "subscription_event" && c.text("tool_call_id") == id {
			list = append(list, c)
		}
	}
	return list
}

func testSubscription(t *testing.T) {
	j := newFakeJob("j1")
	f := newFixture(t, withJob(j, make(chan string, 1)))
	f.invoke("s", "server")
	got := f.result("s")
	if got.fields["subscription"] != true || !strings.HasPrefix(got.text("text"), "up\n") || !strings.Contains(got.text("text"), "Subscription ID: j1") {
		t.Errorf("result %v", got.fields)
	}
	progress := f.runtime.of("subscription_event", "s")
	if progress.fields["final"] != false || progress.fields["associative"] != true || progress.text("group_id") != "g" ||
		!strings.Contains(progress.text("text"), "3 lines, 30 bytes") || !strings.Contains(progress.text("text"), "line ⟨ESC⟩[31m3") {
		t.Errorf("progress %v", progress.fields)
	}
	time.Sleep(60 * time.Millisecond) // nothing new is nothing to tell
	j.end()
	f.idle()
	events := f.runtime.events("s")
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	last := events[1]
	if want := "line 99\nline 100\n[failed: job j1]\n[exit code: 7]"; last.fields["final"] != true || last.fields["associative"] != true || last.text("text") != want {
		t.Errorf("the last event is %v, want %q", last.fields, want)
	}
	if n := f.runtime.count("tool_result", "s"); n != 1 {
		t.Errorf("%d results", n)
	}
}

// TestJobEndsFirst: the end of a job that comes before the result of its call is told after it.
func TestJobEndsFirst(t *testing.T) {
	j := newFakeJob("j1")
	j.end()
	s := withJob(j, make(chan string, 1))
	s.options.ProgressEvery = -1
	f := newFixture(t, s)
	for i := range 20 {
		id := fmt.Sprint("s", i)
		f.invoke(id, "server")
		f.runtime.of("subscription_event", id)
	}
	f.idle()
	order := map[string]string{}
	for _, c := range f.runtime.taken() {
		order[c.text("id")+c.text("tool_call_id")] += c.text("type") + " "
	}
	for id, kinds := range order {
		if kinds != "tool_result subscription_event " {
			t.Errorf("%s: %s", id, kinds)
		}
	}
}

// TestCancelJob: a job of a canceled call, or of a closed thread, is ended, and nothing more is told of it.
func TestCancelJob(t *testing.T) {
	for _, c := range []struct {
		path string
		body fields
	}{
		{"/cancel_tool_call", fields{"thread_id": "g", "tool_call_id": "s"}},
		{"/close_thread", fields{"thread_id": "g"}},
	} {
		t.Run(c.path, func(t *testing.T) {
			j, killed := newFakeJob("j1"), make(chan string, 4)
			s := withJob(j, killed)
			s.options.ProgressEvery = -1
			f := newFixture(t, s)
			f.invoke("s", "server")
			f.result("s")
			f.until("it is followed", func() bool { f.Server.mu.Lock(); defer f.Server.mu.Unlock(); return f.outbox.waiting("g") == 0 })
			for range 2 {
				f.send(c.path, c.body)
			}
			if input := <-killed; input != `{"job":"j1"}` {
				t.Errorf("killed %s", input)
			}
			f.idle()
			if n := len(f.runtime.events("s")); n != 0 {
				t.Errorf("%d events after it was canceled", n)
			}
			if len(killed) != 0 {
				t.Error("killed twice")
			}
		})
	}
}

// TestJobsAtTheEnd: a server that closes tells of the jobs that it follows.
func TestJobsAtTheEnd(t *testing.T) {
	j := newFakeJob("j1")
	f := newFixture(t, withJob(j, make(chan string, 1)))
	f.invoke("s", "server")
	f.result("s")
	f.Close()
	if got := f.runtime.of("subscription_event", "s"); got.text("group_id") != "g" {
		t.Errorf("%v", got.fields)
	}
	events := f.runtime.events("s")
	if last := events[len(events)-1]; last.fields["final"] != true || !strings.Contains(last.text("text"), "shutting down") {
		t.Errorf("the last event is %v", last.fields)
	}
	if status, _ := f.send("/invoke", f.invocation("late", "server")); status != 503 {
		t.Errorf("a call after the end: %d", status)
	}
}

// TestJobRefused: a job whose result the runtime refuses is ended: nobody can know of it.
func TestJobRefused(t *testing.T) {
	killed := make(chan string, 1)
	f := newFixture(t, withJob(newFakeJob("j1"), killed))
	f.runtime.answer = func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	f.invoke("s", "server")
	if input := <-killed; input != `{"job":"j1"}` {
		t.Errorf("killed %s", input)
	}
	f.idle()
}
