package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/testdata/support/conform"
)

// fakeJob is a job that a test ends.
type fakeJob struct {
	id   string
	done chan struct{}
	once sync.Once
}

func newFakeJob(id string) *fakeJob { return &fakeJob{id: id, done: make(chan struct{})} }

func (j *fakeJob) ID() string                  { return j.id }
func (j *fakeJob) Done() <-chan struct{}       { return j.done }
func (j *fakeJob) Status() agenttool.JobStatus { return agenttool.JobStatus{ID: j.id} }
func (j *fakeJob) end()                        { j.once.Do(func() { close(j.done) }) }
func (j *fakeJob) Final() agenttool.Progress {
	return agenttool.Progress{Status: "completed", TaskID: j.id, Message: "bye"}
}

// fakeJobs ends jobs when the host does.
type fakeJobs []*fakeJob

func (js fakeJobs) List() (list []agenttool.JobStatus) {
	for _, j := range js {
		list = append(list, j.Status())
	}
	return list
}

func (js fakeJobs) Close() {
	for _, j := range js {
		j.end()
	}
}

// TestYielded shows a call whose work goes on: its result, its locks, and the one announcement of
// the job's end.
func TestYielded(t *testing.T) {
	conform.Held(t, "AT-105", "AT-200", "AT-251", "AT-365", "AT-366", "AT-370")
	j := newFakeJob("j1")
	server := &fake{name: "server", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("up")}, Bytes: 2, Job: j, Yielded: true}, nil
	}}
	f := newFixture(t, []agenttool.Tool{server, &fake{name: "read", reads: true}, &fake{name: "edit"}},
		allowing("Server", "Edit"), func(o *host.Options) { o.Jobs = fakeJobs{j} })
	got := f.call(host.Request{ID: "s", Tool: "server", Input: input("src")})
	checkRecords(t, got)
	if got.Invocation.Status != agenttool.StatusYielded || got.Result.Status != agenttool.ResultPartialSucceeded || got.Result.IsError {
		t.Errorf("status %s, result %s, error %v", got.Invocation.Status, got.Result.Status, got.Result.IsError)
	}
	if state := got.Invocation.Scheduler.QueueState; state != "yielded" {
		t.Errorf("queue state %s", state)
	}
	if list := f.Status().Jobs; len(list) != 1 || list[0].ID != "j1" {
		t.Errorf("status has jobs %v", list)
	}

	after := f.call(host.Request{ID: "after", Tool: "read", After: []string{"s"}, Input: input("src/a")})
	if !strings.Contains(last(after.Result.Content), "j1 is still running and may write here") {
		t.Errorf("a read where the job may write says %v", after.Result.Content)
	}
	if elsewhere := f.call(host.Request{ID: "r2", Tool: "edit", Input: input("doc/b")}); strings.Contains(last(elsewhere.Result.Content), "j1") {
		t.Errorf("an edit elsewhere says %v", elsewhere.Result.Content)
	}

	j.end()
	f.waitFor(func() bool {
		events := f.events(got.Invocation.InvocationID)
		return events[len(events)-1] == "tool.invocation.progress"
	})
	again := f.call(host.Request{ID: "again", Tool: "read", Input: input("src/a")})
	if strings.Contains(last(again.Result.Content), "j1") {
		t.Errorf("after its end the job is still named: %v", again.Result.Content)
	}
	events := f.events(got.Invocation.InvocationID)
	tail := events[len(events)-4:]
	if want := []string{"tool.invocation.partial_result", "tool.invocation.yielded", "tool.result.created", "tool.invocation.progress"}; !slices.Equal(tail, want) {
		t.Errorf("events end with %v, want %v", tail, want)
	}
}

// TestJobsEndWithTheHost shows that the end of a job is in the log even where the host brings it about.
func TestJobsEndWithTheHost(t *testing.T) {
	j := newFakeJob("j1")
	server := &fake{name: "server", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Job: j, Yielded: true}, nil
	}}
	f := newFixture(t, []agenttool.Tool{server}, allowing("Server"), func(o *host.Options) { o.Jobs = fakeJobs{j} })
	var announced []json.RawMessage
	f.Subscribe(&host.Subscription{Level: host.EventsProgress, Tell: func(e host.Notice) {
		if e.Type == agenttool.EventProgress && e.Final {
			announced = append(announced, e.Event)
		}
	}})
	f.call(host.Request{ID: "s", Tool: "server", Input: input("src")})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if len(announced) != 1 || !strings.Contains(string(announced[0]), `"task_id":"j1"`) {
		t.Errorf("announced: %s", announced)
	}
}

// TestDirectoryMoves shows the context modifier of a cd: serial only, inside the workspace, recorded.
func TestDirectoryMoves(t *testing.T) {
	conform.Held(t, "AT-136")
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(root, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	beside := make(chan struct{})
	cd := &fake{name: "cd", reads: true, run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		if in.Say == "slow" {
			<-beside
		}
		return agenttool.Output{Dir: in.Path}, nil
	}}
	where := &fake{name: "where", reads: true, run: func(_ context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{}, nil
	}}
	for _, tt := range []struct {
		name, to string
		policy   string
		beside   bool
		want     string // where calls start then
		reason   string
	}{
		{name: "alone", to: sub, want: sub},
		{name: "outside", to: "/", want: root, reason: "outside the workspace"},
		{name: "no directory", to: filepath.Join(root, "none"), want: root, reason: "no directory"},
		{name: "beside others", to: sub, beside: true, want: root, reason: "at the same time"},
		{name: "forbidden", to: sub, policy: "forbid", want: root, reason: "forbid"},
		{name: "deferred", to: sub, policy: "defer_until_batch_complete", want: sub},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, []agenttool.Tool{cd, where}, func(o *host.Options) {
				o.Scope = agenttool.Scope{Dir: root, Roots: []string{root}}
				o.Policy.Workspace = root
				o.Locate = func(p *agenttool.Path) error {
					p.Resolved, p.Root = filepath.Clean(p.Absolute), ""
					if agenttool.Within(root, p.Resolved) {
						p.Root = root
					}
					return nil
				}
			}, allowing("Cd", "Where"))
			raw, _ := json.Marshal(fakeInput{Path: tt.to, Say: map[bool]string{true: "slow"}[tt.beside]})
			request := host.Request{ID: "m", Tool: "cd", Input: raw}
			done := make(chan host.Completion, 1)
			if tt.policy != "" {
				if err := f.Batch(host.BatchRequest{ID: "b", Calls: []host.Request{request}, Policy: &agenttool.SchedulerPolicy{ContextModifierPolicy: tt.policy}},
					func(all []host.Completion) { done <- all[0] }); err != nil {
					t.Fatal(err)
				}
			} else if err := f.Invoke(request, func(c host.Completion) { done <- c }); err != nil {
				t.Fatal(err)
			}
			if tt.beside {
				f.waitFor(func() bool { return f.status("m") == agenttool.StatusRunning })
				f.call(host.Request{ID: "other", Tool: "where", Input: input("x")})
				beside <- struct{}{}
			}
			got := <-done
			checkRecords(t, got)
			if f.Dir() != tt.want {
				t.Errorf("the session is in %s, want %s", f.Dir(), tt.want)
			}
			if note := last(got.Result.Content); !strings.Contains(note, tt.reason) || !strings.Contains(note, tt.to) {
				t.Errorf("the model reads %q", note)
			}
			var modifiers []struct {
				Applied bool   `json:"applied"`
				To      string `json:"to"`
			}
			if err := json.Unmarshal(got.Result.Extra["context_modifiers"], &modifiers); err != nil || len(modifiers) != 1 || modifiers[0].To != tt.to {
				t.Errorf("recorded %s: %v", got.Result.Extra["context_modifiers"], err)
			}
		})
	}
}

func last(blocks []agenttool.Content) string { return blocks[len(blocks)-1].Text }

// waitFor waits until ok, or fails.
func (f *fixture) waitFor(ok func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			f.t.Fatal("it did not come to that")
		}
		time.Sleep(time.Millisecond) // the log tells nobody in this package
	}
}
