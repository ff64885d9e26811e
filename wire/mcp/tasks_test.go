package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
)

// slow is a tool that says that it is half way, waits until it is let go on, and ends.
func slow() (tool *fake, goOn func()) {
	let := make(chan struct{})
	return &fake{name: "slow", run: func(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
		r.Progress(agenttool.Progress{Message: "half way"})
		select {
		case <-let:
			return agenttool.Output{Content: []agenttool.Content{agenttool.Text("all of it")}}, nil
		case <-ctx.Done():
			return agenttool.Output{}, ctx.Err()
		}
	}}, sync.OnceFunc(func() { close(let) })
}

// taskOf calls a tool and wants a task for a result.
func (c *rawClient) taskOf(tool string) *reply {
	c.t.Helper()
	arguments := map[string]any{}
	if tool == "server" {
		arguments["run_in_background"] = true
	}
	r := c.must("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if r.ResultType != "task" || r.TaskID == "" || r.Result != nil {
		c.t.Fatalf("%s", r.raw)
	}
	return r
}

// look asks how a task is.
func (c *rawClient) look(id string) *reply {
	c.t.Helper()
	r := c.must("tasks/get", map[string]any{"taskId": id})
	if r.ResultType != "complete" || r.TaskID != id {
		c.t.Errorf("%s", r.raw)
	}
	return r
}

// TestTaskOfASlowCall follows a task to its end, and until it is forgotten.
func TestTaskOfASlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, goOn := slow()
		f := newFixture(t, adding(tool))
		c := f.raw()
		began := time.Now()
		made := c.taskOf("slow")
		if took := time.Since(began); took != usualWait { // it is not known to wait for a minute
			t.Errorf("the task was made after %v", took)
		}
		if made.Status != "working" || made.TTLMS != nil || made.PollIntervalMS <= 0 || made.CreatedAt == "" || !strings.Contains(string(made.raw), `"ttlMs":null`) {
			t.Errorf("%s", made.raw)
		}
		time.Sleep(time.Second)
		if r := c.look(made.TaskID); r.Status != "working" || r.StatusMessage != "half way" || r.Result != nil {
			t.Errorf("%s", r.raw)
		}
		goOn()
		synctest.Wait()
		r := c.look(made.TaskID)
		if r.Status != "completed" || r.Result == nil || r.Result.text() != "all of it" || r.Result.IsError || r.TTLMS == nil || r.LastUpdatedAt <= r.CreatedAt {
			t.Errorf("%s", r.raw)
		}
		time.Sleep(keptFor - time.Second)
		if again := c.look(made.TaskID); string(again.raw) != string(r.raw) {
			t.Errorf("later it is %s", again.raw)
		}
		time.Sleep(2 * time.Second)
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if r, err := c.call(method, map[string]any{"taskId": made.TaskID, "inputResponses": map[string]any{}}); errorCode(err) != jsonrpc.CodeInvalidParams {
				t.Errorf("%s: %+v, %v", method, r, err)
			}
		}
	})
}

// TestTasksOnlyForThoseWhoKnow: whoever does not declare the extension for this request waits for the result, and has no
// tasks to ask for.
func TestTasksOnlyForThoseWhoKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, goOn := slow()
		f := newFixture(t, adding(tool))
		c := f.raw()
		id := c.taskOf("slow").TaskID
		c.meta = with(c.meta, sdk.MetaKeyClientCapabilities, map[string]any{})
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if _, err := c.call(method, map[string]any{"taskId": id}); errorCode(err) != sdk.CodeMissingRequiredClientCapabilities {
				t.Errorf("%s: %v", method, err)
			}
		}
		waiting := c.start("tools/call", map[string]any{"name": "slow", "arguments": map[string]any{}})
		time.Sleep(time.Minute)
		goOn()
		if r, err := c.take(<-waiting); err != nil || r.ResultType != "complete" || r.text() != "all of it" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestLegacyHasNoTasks: an extension that a session declares in its handshake is none for its requests.
func TestLegacyHasNoTasks(t *testing.T) {
	tool, goOn := slow()
	f := newFixture(t, adding(tool))
	f.o.TaskAfter = time.Millisecond
	caps := &sdk.ClientCapabilities{}
	caps.AddExtension(tasksExtension, nil)
	c := f.client("anyone", "2025-11-25", &sdk.ClientOptions{Capabilities: caps})
	time.AfterFunc(50*time.Millisecond, goOn)
	if res := f.call(c, "slow", map[string]any{}); strings.Join(texts(res), "") != "all of it" {
		t.Errorf("%+v", res)
	}
}

// TestTaskExtensionIsDeclared by server/discover.
func TestTaskExtensionIsDeclared(t *testing.T) {
	c := newFixture(t).raw()
	if r := c.must("server/discover", nil); !strings.Contains(string(r.raw), `"`+tasksExtension+`":{}`) {
		t.Errorf("%s", r.raw)
	}
}

// TestTaskCanceled: the call ends, and the task says so.
func TestTaskCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool, _ := slow()
		f := newFixture(t, adding(tool))
		c := f.raw()
		id := c.taskOf("slow").TaskID
		for range 2 { // the second time it has ended
			if r := c.must("tasks/cancel", map[string]any{"taskId": id}); r.ResultType != "complete" || r.Status != "" {
				t.Errorf("%s", r.raw)
			}
			synctest.Wait()
		}
		if r := c.look(id); r.Status != "cancelled" || r.Result != nil || r.TTLMS == nil {
			t.Errorf("%s", r.raw)
		}
		if list := f.invocations(); len(list) != 1 || list[0].Status != agenttool.StatusCanceled {
			t.Errorf("%+v", list)
		}
	})
}

// TestTaskAsks: a prompt of a task is its input request, and only its own answer counts.
func TestTaskAsks(t *testing.T) {
	held := &fake{name: "held", run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		time.Sleep(70 * time.Second)
		return agenttool.Output{Wanted: []string{"host:example.com"}}, agenttool.Failure(agenttool.SandboxViolation, "kept", "it was kept from example.com")
	}}
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, asking, adding(held))
		c := f.raw()
		id := c.taskOf("held").TaskID
		if r := c.look(id); r.Status != "working" {
			t.Errorf("%s", r.raw)
		}
		time.Sleep(70 * time.Second)
		r := c.look(id)
		if again := c.look(id); string(again.raw) != string(r.raw) || r.Status != "input_required" || len(r.InputRequests) != 1 {
			t.Fatalf("%s\n%s", r.raw, again.raw)
		}
		for key, asked := range r.InputRequests {
			if asked.Method != "elicitation/create" || asked.Params.RequestedSchema == nil || !strings.Contains(asked.Params.Message, "example.com") {
				t.Errorf("%s", r.raw)
			}
			update := func(key string) {
				ack := c.must("tasks/update", map[string]any{"taskId": id, "inputResponses": map[string]any{key: says("decline", "")}})
				if ack.ResultType != "complete" {
					t.Errorf("%s", ack.raw)
				}
				synctest.Wait()
			}
			ack := c.must("tasks/update", map[string]any{"taskId": id, "inputResponses": map[string]any{"unknown": map[string]any{"ignored": true}}})
			if ack.ResultType != "complete" {
				t.Errorf("%s", ack.raw)
			}
			update("approval")
			if r := c.look(id); r.Status != "input_required" {
				t.Errorf("after the answer to another question: %s", r.raw)
			}
			update(key)
			update(key)
		}
		if r := c.look(id); r.Status != "completed" || !r.Result.IsError || !strings.Contains(r.Result.text(), "the client declined") {
			t.Errorf("%s", r.raw)
		}
	})
}

// fakeJob is a job that a test ends.
type fakeJob struct {
	done  chan struct{}
	end   func()
	state string // in which it ends
}

func newFakeJob() *fakeJob {
	j := &fakeJob{done: make(chan struct{}), state: "completed"}
	j.end = sync.OnceFunc(func() { close(j.done) })
	return j
}

func (j *fakeJob) ID() string                  { return "j1" }
func (j *fakeJob) Done() <-chan struct{}       { return j.done }
func (j *fakeJob) Status() agenttool.JobStatus { return agenttool.JobStatus{ID: "j1"} }
func (j *fakeJob) Final() agenttool.Progress {
	return agenttool.Progress{Status: j.state, TaskID: "j1", Message: "bye"}
}
func (j *fakeJob) List() []agenttool.JobStatus { return nil }
func (j *fakeJob) Close()                      { j.end() }

// aboutJob is a tool that acts on a job.
type aboutJob struct {
	*fake
	inputs *[]string
}

func (a aboutJob) Describe() agenttool.Description {
	d := a.fake.Describe()
	d.Interface.ModelInputSchema = json.RawMessage(`{"type":"object"}`)
	return d
}

func (a aboutJob) Bind(scope agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	*a.inputs = append(*a.inputs, string(raw))
	return a.fake.Bind(scope, raw)
}

// jobHost has a tool that leaves a job, and the named tools for jobs: shell_output reads, shell_kill ends.
func jobHost(j *fakeJob, inputs *[]string, names ...string) func(*host.Options) {
	server := &fake{name: "server", run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("up")}, Job: j, Yielded: true, Background: true}, nil
	}}
	return func(o *host.Options) {
		o.Tools, o.Jobs = nil, j
		adding(aboutJob{server, new([]string)})(o)
		for _, name := range names {
			adding(aboutJob{&fake{name: name, run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
				if name == "shell_kill" {
					j.state = "canceled"
					j.end()
				}
				return agenttool.Output{Content: []agenttool.Content{agenttool.Text("what it said")}}, nil
			}}, inputs})(o)
		}
	}
}

// TestTaskOfAJob: a call that leaves a job is a task until the job has ended, and then has what the job said.
func TestTaskOfAJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, inputs := newFakeJob(), []string{}
		f := newFixture(t, jobHost(j, &inputs, "shell_output"))
		c := f.raw()
		id := c.taskOf("server").TaskID
		time.Sleep(time.Hour) // longer than tasks are kept that have ended
		if r := c.look(id); r.Status != "working" || r.StatusMessage != "job j1 goes on" || r.TTLMS != nil {
			t.Errorf("%s", r.raw)
		}
		j.end()
		synctest.Wait()
		for range 2 {
			if r := c.look(id); r.Status != "completed" || r.Result.text() != "what it said" || r.TTLMS == nil {
				t.Errorf("%s", r.raw)
			}
		}
		if len(inputs) != 1 || inputs[0] != `{"cursor":0,"job":"j1"}` {
			t.Errorf("it was read with %v", inputs)
		}
	})
}

// TestTaskOfAJobWithoutReader: what cannot be had at all fails the task, as an error of the protocol.
func TestTaskOfAJobWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newFakeJob()
		c := newFixture(t, jobHost(j, nil)).raw()
		id := c.taskOf("server").TaskID
		j.end()
		synctest.Wait()
		if r := c.look(id); r.Status != "failed" || r.Error == nil || r.Error.Code != jsonrpc.CodeInvalidParams || r.StatusMessage == "" {
			t.Errorf("%s", r.raw)
		}
	})
}

// TestTaskOfAJobCanceled: the job is ended with the task.
func TestTaskOfAJobCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, inputs := newFakeJob(), []string{}
		f := newFixture(t, jobHost(j, &inputs, "shell_kill"))
		c := f.raw()
		id := c.taskOf("server").TaskID
		for range 2 {
			c.must("tasks/cancel", map[string]any{"taskId": id})
			synctest.Wait()
		}
		if r := c.look(id); r.Status != "cancelled" || !strings.Contains(r.StatusMessage, "j1") {
			t.Errorf("%s", r.raw)
		}
		if len(inputs) != 1 || inputs[0] != `{"job":"j1"}` {
			t.Errorf("it was ended with %v", inputs)
		}
	})
}

// TestJobWithoutTasks: others get the handle of the job at once.
func TestJobWithoutTasks(t *testing.T) {
	j := newFakeJob()
	f := newFixture(t, jobHost(j, nil))
	c := f.client("anyone", "", nil)
	if res := f.call(c, "server", map[string]any{}); res.Meta[metaJob] != "j1" || !strings.Contains(strings.Join(texts(res), ""), "up") {
		t.Errorf("%+v", res)
	}
}

// TestUnknownTask: ids that were never given, of any kind, are errors of the request.
func TestUnknownTask(t *testing.T) {
	c := newFixture(t).raw()
	for name, params := range map[string]map[string]any{
		"none": nil, "empty": {"taskId": ""}, "guessed": {"taskId": "mcp-1"}, "of another type": {"taskId": 7}, "wrong answers": {"taskId": "x", "inputResponses": 7},
	} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			if r, err := c.call(method, params); errorCode(err) != jsonrpc.CodeInvalidParams {
				t.Errorf("%s %s: %+v, %v", method, name, r, err)
			}
		}
	}
	for _, gone := range []string{"tasks/list", "tasks/result"} {
		if _, err := c.call(gone, nil); errorCode(err) != jsonrpc.CodeMethodNotFound {
			t.Errorf("%s: %v", gone, err)
		}
	}
}

// TestTasksAreBounded: of too many tasks that have ended the oldest are forgotten; those that go on stay.
func TestTasksAreBounded(t *testing.T) {
	var ts tasks
	ended := make(chan struct{})
	close(ended)
	going := ts.of(nil, &flight{landing: landing{ended: make(chan struct{})}})
	now := time.Now()
	var list []*task
	for i := range maxKept + 10 {
		list = append(list, ts.of(nil, &flight{landing: landing{ended: ended, at: now.Add(time.Duration(i) * time.Millisecond)}}))
	}
	if ts.get(going.id) == nil || ts.get(list[9].id) != nil || ts.get(list[10].id) == nil || len(ts.all) != maxKept+1 {
		t.Errorf("%d tasks are left", len(ts.all))
	}
	if same := ts.of(nil, going.flight); same != going {
		t.Error("a call has two tasks")
	}
}
