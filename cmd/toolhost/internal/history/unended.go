package history

import (
	"cmp"
	"maps"
	"slices"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// openWork follows the calls without a result and the jobs whose end is not in the log.
type openWork struct {
	calls map[agenttool.InvocationID]Unended
	jobs  map[string]Unended // by invocation and job
}

// note follows an event of a call.
func (w *openWork) note(c *Call, e agenttool.Envelope, d *callData) {
	if w.calls == nil {
		w.calls, w.jobs = map[agenttool.InvocationID]Unended{}, map[string]Unended{}
	}
	began := Unended{Time: e.Time, Call: c}
	switch e.Type {
	case agenttool.EventProgress:
		if d.Progress == nil || d.Progress.TaskID == "" {
			return
		}
		began.Job, began.Command = d.Progress.TaskID, d.Progress.Command // an older version did not record the command
		key := string(e.InvocationID) + began.Job
		if agenttool.ProgressEnds(d.Progress.Status) {
			delete(w.jobs, key)
		} else if _, known := w.jobs[key]; !known && d.Progress.Status == "running" { // else its result says the rest
			w.jobs[key] = began
		}
	case agenttool.EventResultCreated:
		delete(w.calls, e.InvocationID)
		w.ended(c)
	default:
		if _, known := w.calls[e.InvocationID]; !known {
			w.calls[e.InvocationID] = began
		}
	}
}

// ended notes whether the job of an ended call runs on.
func (w *openWork) ended(c *Call) {
	job := c.Outcome.Job
	if c.Tool != "toolhost.shell" || job == "" {
		return
	}
	key := string(c.Invocation) + job
	if c.Outcome.State == agenttool.JobEnded {
		delete(w.jobs, key)
		return
	}
	var input struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(c.Input, &input) // the input may be a payload
	if c.InputRef != "" {
		input.Command = "the command in " + c.InputRef
	}
	w.jobs[key] = Unended{Time: agenttool.Timestamp(c.Start), Call: c, Job: job, Command: input.Command}
}

// end returns the jobs and then the calls that did not end, oldest first, and forgets them. The job of a call that did
// not end is returned with the call.
func (w *openWork) end() (items []Item) {
	oldest := func(a, b Unended) int { return cmp.Compare(a.Time, b.Time) }
	for _, j := range slices.SortedFunc(maps.Values(w.jobs), oldest) {
		if c, ok := w.calls[j.Call.Invocation]; ok {
			c.Job, c.Command = j.Job, j.Command
			w.calls[j.Call.Invocation] = c
			continue
		}
		items = append(items, Item{Unended: &j})
	}
	for _, c := range slices.SortedFunc(maps.Values(w.calls), oldest) {
		c.CallRuns = true
		c.Call.recall()
		items = append(items, Item{Unended: &c})
	}
	clear(w.calls)
	clear(w.jobs)
	return items
}
