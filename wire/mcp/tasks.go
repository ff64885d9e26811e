package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
)

// taskPoll is how often clients should look at a task.
const taskPoll = time.Second

// tasks are the calls that clients have as tasks: all that go on, and those that ended not long ago.
type tasks struct {
	s *Server // whose calls they are

	mu  sync.Mutex
	all map[string]*task
}

// task is a call, and the job that it may leave.
type task struct {
	id      string               // unguessable
	request *sdk.CallToolRequest // that began it
	flight  *flight
	created time.Time
	held    atomic.Int64 // about the size of its job's output, in bytes

	mu sync.Mutex // guards the state
	taskState
}

// taskState changes while a task runs.
type taskState struct {
	told     string    // the last reported status and message
	updated  time.Time // when that changed
	canceled bool      // the client asked for it
	killed   bool      // shell_kill was sent to its job
	result   sdk.Result
	failure  error
}

// knowsTasks reports whether the client takes a task for the result of this request. It says so for each request.
func knowsTasks(req *sdk.CallToolRequest) bool {
	return stateless(req.Params.Meta) && declaresTasks(req.ClientCapabilities())
}

func declaresTasks(caps *sdk.ClientCapabilities) bool {
	if caps == nil {
		return false
	}
	_, ok := caps.Extensions[tasksExtension].(map[string]any)
	return ok
}

// taskRecord is a task as clients get it: alone as the result of a call, else with the fields that its status needs.
type taskRecord struct {
	sdk.ResultBase
	ResultType     string              `json:"resultType"`
	TaskID         string              `json:"taskId"`
	Status         string              `json:"status"`
	StatusMessage  string              `json:"statusMessage,omitempty"`
	CreatedAt      string              `json:"createdAt"`
	LastUpdatedAt  string              `json:"lastUpdatedAt"`
	TTLMS          *int64              `json:"ttlMs"` // since createdAt; null while the task has not ended: it is kept
	PollIntervalMS int64               `json:"pollIntervalMs"`
	InputRequests  sdk.InputRequestMap `json:"inputRequests,omitempty"`
	Result         sdk.Result          `json:"result,omitempty"`
	Error          *jsonrpc.Error      `json:"error,omitempty"`
}

// The states of a task.
const (
	taskWorking       = "working"
	taskInputRequired = "input_required"
	taskCompleted     = "completed"
	taskFailed        = "failed"
	taskCancelled     = "cancelled"
)

// answer answers a call with a task. The same call is the same task.
func (ts *tasks) answer(req *sdk.CallToolRequest, f *flight) (sdk.Result, error) {
	t := ts.of(req, f)
	record := t.record(taskWorking, t.working())
	record.ResultType = "task"
	return record, nil
}

// of returns the task of a call, a new one if it has none.
func (ts *tasks) of(req *sdk.CallToolRequest, f *flight) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.all {
		if t.flight == f {
			return t
		}
	}
	now := time.Now()
	ts.trim(now)
	t := &task{id: rand.Text(), request: req, flight: f, created: now, taskState: taskState{updated: now}}
	if ts.all == nil {
		ts.all = map[string]*task{}
	}
	ts.all[t.id] = t
	return t
}

// trim forgets tasks that ended long ago, and the oldest of too many. ts.mu is held.
func (ts *tasks) trim(now time.Time) {
	type finished struct {
		*task
		at time.Time
	}
	var list []finished
	size := 0
	for _, t := range ts.all {
		if at, ended := t.flight.finished(); ended {
			list = append(list, finished{t, at})
			size += t.size()
		}
	}
	slices.SortFunc(list, func(a, b finished) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	for i, t := range list {
		left := len(list) - i
		if now.Sub(t.at) < keptFor && left <= maxKept && (size <= maxKeptAt || left == 1) {
			return
		}
		size -= t.size()
		delete(ts.all, t.id)
	}
}

// size is how many bytes the results of a task hold that has ended, near enough.
func (t *task) size() int { return t.flight.size() + int(t.held.Load()) }

// get returns the task of that id, nil if there is none.
func (ts *tasks) get(id string) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.trim(time.Now())
	return ts.all[id]
}

// taskParams are the parameters of the methods about tasks.
type taskParams struct {
	sdk.ParamsBase
	TaskID         string                     `json:"taskId"`
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// taskAck is the empty result of tasks/update and tasks/cancel.
type taskAck struct {
	sdk.ResultBase
	ResultType string `json:"resultType"`
}

func acknowledged() *taskAck { return &taskAck{ResultType: "complete"} }

// addMethods serves tasks/get, tasks/update and tasks/cancel.
func (ts *tasks) addMethods() {
	err := errors.Join(
		sdk.AddReceivingCustomMethod(ts.s.sdk, "tasks/get", ts.getTask),
		sdk.AddReceivingCustomMethod(ts.s.sdk, "tasks/update", ts.updateTask),
		sdk.AddReceivingCustomMethod(ts.s.sdk, "tasks/cancel", ts.cancelTask),
	)
	if err != nil {
		panic("mcp: our bug: " + err.Error()) // they are no methods of the SDK's
	}
}

// task returns the task that a request is about, if its client knows tasks.
func (ts *tasks) task(session *sdk.ServerSession, p *taskParams) (*task, error) {
	if p == nil {
		return nil, invalidParams("taskId is missing")
	}
	req := &sdk.ServerRequest[*taskParams]{Session: session, Params: p}
	if !stateless(p.Meta) || !declaresTasks(req.ClientCapabilities()) {
		data, _ := json.Marshal(map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{tasksExtension: struct{}{}}}})
		return nil, &jsonrpc.Error{Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client does not declare the extension " + tasksExtension, Data: data}
	}
	t := ts.get(p.TaskID)
	if t == nil {
		return nil, invalidParams("there is no such task: it ended more than " + keptFor.String() + " ago, or it never was")
	}
	return t, nil
}

func (ts *tasks) getTask(ctx context.Context, session *sdk.ServerSession, p *taskParams) (*taskRecord, error) {
	t, err := ts.task(session, p)
	if err != nil {
		return nil, err
	}
	return ts.look(ctx, t)
}

// updateTask takes answers to questions of a task. It ignores answers to other questions than the open one, which were
// answered already.
func (ts *tasks) updateTask(ctx context.Context, session *sdk.ServerSession, p *taskParams) (*taskAck, error) {
	t, err := ts.task(session, p)
	if err != nil {
		return nil, err
	}
	if q := t.flight.pending(); q != nil {
		key := string(q.Decision.DecisionID)
		if raw, ok := p.InputResponses[key]; ok {
			one, _ := json.Marshal(map[string]json.RawMessage{key: raw})
			var read sdk.InputResponseMap
			_ = json.Unmarshal(one, &read) // an invalid answer denies
			ts.s.respond(ctx, t.flight, q, read[key])
		}
	}
	return acknowledged(), nil
}

// cancelTask ends the call of a task, or the job that it left. It does not change an ended task.
func (ts *tasks) cancelTask(ctx context.Context, session *sdk.ServerSession, p *taskParams) (*taskAck, error) {
	t, err := ts.task(session, p)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ended := t.flight.finished(); ended {
		return acknowledged(), nil
	}
	t.canceled = true
	if !t.flight.over() {
		ts.s.o.Host.Cancel(t.flight.id, "the client canceled the task")
		return acknowledged(), nil
	}
	return acknowledged(), ts.kill(ctx, t)
}

// kill ends the job of a task, once. t.mu is held.
func (ts *tasks) kill(ctx context.Context, t *task) error {
	if t.killed {
		return nil
	}
	_, err := ts.about(ctx, t, "shell_kill", map[string]any{"job": t.flight.completion.Job})
	t.killed = err == nil
	return err
}

// about makes a call of the host's about the job of a task and waits for its end.
func (ts *tasks) about(ctx context.Context, t *task, tool string, input map[string]any) (*flight, error) {
	raw, err := agenttool.Encode(input)
	if err != nil {
		return nil, err
	}
	f, err := ts.s.launch(ctx, host.Request{ID: ts.s.nextID(), Tool: tool, Input: raw, Actor: actor(t.request.ClientInfo())}, false)
	if err != nil {
		return nil, &jsonrpc.Error{Code: codeBusy, Message: err.Error()}
	}
	select {
	case <-f.ended:
		return f, nil
	case <-ctx.Done():
		ts.s.o.Host.Cancel(f.id, "the client canceled the request, or has gone")
		return nil, context.Cause(ctx)
	}
}

// look says how a task is.
func (ts *tasks) look(ctx context.Context, t *task) (*taskRecord, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.flight
	if _, ended := f.finished(); ended {
		return ts.outcomeOf(ctx, t)
	}
	if q := f.pending(); q != nil && !f.over() {
		r := t.recordLocked(taskInputRequired, "waits for approval")
		r.InputRequests = sdk.InputRequestMap{string(q.Decision.DecisionID): newForm(q.Prompt).params()}
		return r, nil
	}
	if f.over() && t.canceled { // the call was too fast for the one who canceled it, and left a job
		if err := ts.kill(ctx, t); err != nil {
			return nil, err
		}
	}
	return t.recordLocked(taskWorking, t.working()), nil
}

// outcomeOf says how a task has ended. t.mu is held.
func (ts *tasks) outcomeOf(ctx context.Context, t *task) (*taskRecord, error) {
	c := t.flight.completion
	final, hasJob := t.flight.jobEnd()
	switch {
	case c.Invocation.Status == agenttool.StatusCanceled:
		message := "it was canceled"
		if e := c.Result.Error; e != nil {
			message = clean(e.Message, maxName)
		}
		return t.recordLocked(taskCancelled, message), nil
	case hasJob && t.canceled && final.Status == "canceled":
		return t.recordLocked(taskCancelled, "job "+c.Job+" was ended"), nil
	}
	if err := ts.fetch(ctx, t); err != nil {
		return nil, err
	}
	if t.failure != nil {
		r := t.recordLocked(taskFailed, clean(t.failure.Error(), maxRef))
		if !errors.As(t.failure, &r.Error) {
			r.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: t.failure.Error()}
		}
		return r, nil
	}
	message := ""
	if hasJob {
		message = "job " + c.Job + " has ended"
	}
	r := t.recordLocked(taskCompleted, message)
	r.Result = t.result
	return r, nil
}

// fetch makes the result of a task that has ended: that of the call, or the output of its job. t.mu is held.
func (ts *tasks) fetch(ctx context.Context, t *task) error {
	if t.result != nil || t.failure != nil {
		return nil
	}
	f := t.flight
	if f.completion.Job != "" {
		said, err := ts.about(ctx, t, "shell_output", map[string]any{"job": f.completion.Job, "cursor": 0})
		if err != nil {
			return err
		}
		f = said
		t.held.Store(int64(said.size()))
	}
	t.result, t.failure = ts.s.catalog.result(t.request, f, ts.s.client(t.request))
	return nil
}

// working says what a task is doing.
func (t *task) working() string {
	if t.flight.over() && t.flight.completion.Job != "" {
		return "job " + t.flight.completion.Job + " goes on"
	}
	return t.flight.saying()
}

func (t *task) record(status, message string) *taskRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.recordLocked(status, message)
}

// recordLocked is the record of the task in that state. t.mu is held.
func (t *task) recordLocked(status, message string) *taskRecord {
	if told := status + " " + message; told != t.told {
		if t.told != "" {
			t.updated = time.Now()
		}
		t.told = told
	}
	r := &taskRecord{
		ResultType: "complete", TaskID: t.id, Status: status, StatusMessage: message, CreatedAt: agenttool.Timestamp(t.created),
		LastUpdatedAt: agenttool.Timestamp(t.updated), PollIntervalMS: taskPoll.Milliseconds(),
	}
	if at, ended := t.flight.finished(); ended {
		ttl := at.Sub(t.created).Milliseconds() + keptFor.Milliseconds()
		r.TTLMS = &ttl
	}
	return r
}
