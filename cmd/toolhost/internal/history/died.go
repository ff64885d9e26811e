package history

import (
	"context"
	"errors"
	"iter"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
)

// How many sessions are looked at for hosts that died, and how many bytes of their logs are read at a time. The next host goes on.
const (
	diedSessions = 2000
	diedBytes    = 256 << 20
)

// EndDied ends the sessions in dir whose hosts died, the last used first: it writes the ends of their calls and jobs, and says that they
// were written afterwards. Sessions that cannot be read stay as they are.
func EndDied(ctx context.Context, dir string) {
	sessions, err := recent(dir)
	if err != nil {
		return
	}
	left := int64(diedBytes)
	for _, s := range sessions[:min(len(sessions), diedSessions)] {
		if ctx.Err() != nil || left <= 0 {
			return
		}
		if ended, err := EndOne(dir, s.ID); ended || err != nil && !errors.Is(err, persist.ErrLocked) {
			left -= s.Bytes // of the others the last record is read
		}
	}
}

// EndOne is EndDied for one session. It returns false if there was nothing to end.
func EndOne(dir string, id agenttool.SessionID) (ended bool, err error) {
	return persist.EndAfterwards(persist.Options{Dir: dir, ID: id}, func(log iter.Seq2[persist.Entry, error]) ([][]byte, error) {
		w := endWriter{ids: &agenttool.IDs{}, now: time.Now()}
		return w.ends(log)
	})
}

// endWriter makes the records that a host did not write.
type endWriter struct {
	ids    *agenttool.IDs
	now    time.Time
	last   string // time of the last record
	events [][]byte
	err    error
}

// ends makes the ends of the calls and jobs that a log leaves open.
func (w *endWriter) ends(log iter.Seq2[persist.Entry, error]) ([][]byte, error) {
	r, open := Reader{}, map[agenttool.InvocationID][]*Unended{}
	var order []agenttool.InvocationID
	for item, err := range r.items(w.watch(log)) {
		switch {
		case err != nil:
			return nil, err
		case item.Call != nil: // also one whose host died before the session was resumed
			delete(open, item.Call.Invocation)
		case item.Unended != nil:
			id := item.Unended.Call.Invocation
			if open[id] == nil {
				order = append(order, id)
			}
			open[id] = append(open[id], item.Unended)
		}
	}
	if r.Newer > 0 {
		return nil, persist.ErrNewer
	}
	w.endAll(order, open)
	return w.events, w.err
}

// endAll writes the ends of calls and jobs in the order of their beginnings.
func (w *endWriter) endAll(order []agenttool.InvocationID, open map[agenttool.InvocationID][]*Unended) {
	for _, id := range order {
		for _, u := range open[id] {
			w.end(u)
		}
		delete(open, id)
	}
}

// watch notes the time of the last record of a log.
func (w *endWriter) watch(log iter.Seq2[persist.Entry, error]) iter.Seq2[persist.Entry, error] {
	return func(yield func(persist.Entry, error) bool) {
		for entry, err := range log {
			if e, ok := agenttool.Peek(entry.Event); ok {
				w.last = e.Time
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// end writes the end of a job, and of its call if that has no result.
func (w *endWriter) end(u *Unended) {
	if u.Job != "" {
		w.endJob(u.Call, u.Job)
	}
	if u.CallRuns {
		w.endCall(u.Call)
	}
}

func (w *endWriter) endJob(c *Call, job string) {
	c.steps++
	w.event(c, agenttool.EventProgress, "phase", agenttool.PhaseExecute, "progress", agenttool.Progress{
		SchemaVersion: agenttool.SchemaVersion, ProgressID: agenttool.ProgressID(w.ids.New("prog_", w.now)), InvocationID: c.Invocation,
		Sequence: c.steps, Status: "canceled", TaskID: job, Message: died, Timestamp: agenttool.Timestamp(w.now),
		Extra: agenttool.Extra{"reason": agenttool.AppendString(nil, shutdown)},
	})
}

func (w *endWriter) endCall(c *Call) {
	inv, failure := w.invocation(c), w.failure(c)
	result := agenttool.Result{
		SchemaVersion: agenttool.SchemaVersion, ResultID: agenttool.ResultID(w.ids.New("res_", w.now)), InvocationID: c.Invocation,
		Status: agenttool.ResultSyntheticError, IsError: true, Content: []agenttool.Content{agenttool.Text(failure.Message)},
		UIFacingSummary: died, Error: failure, AbortReason: shutdown, RedactionState: "none", CreatedAt: agenttool.Timestamp(w.now),
	}
	kept := agenttool.Persistence{
		SchemaVersion: agenttool.SchemaVersion, DecisionID: agenttool.PersistenceID(w.ids.New("persist_", w.now)), InvocationID: c.Invocation,
		ResultID: result.ResultID, Strategy: agenttool.Inline, OriginalSizeBytes: int64(len(failure.Message)), RedactionState: "none",
		CreatedAt: result.CreatedAt,
	}
	result.PersistenceRefs = []string{string(kept.DecisionID)}
	w.event(c, agenttool.EventCanceled, "phase", agenttool.PhaseEmitTerminal, "status", inv.Status)
	w.event(c, agenttool.EventResultCreated, "phase", agenttool.PhaseEmitTerminal, "result", result, "invocation", inv, "persistence", kept)
}

// Words of the records.
const (
	died     = "the host died"
	shutdown = "runtime shutdown" // the standard's reason (AT-244)
)

// failure is the error of a call whose host died. Its advice depends on how far the call had come.
func (w *endWriter) failure(c *Call) *agenttool.Error {
	message := "the host died before the call ended; its last record is of " + w.last + ", and this one was written afterwards"
	return agenttool.Failure(agenttool.Canceled, "host_died", message).At(c.stage())
}

// stage says how far a call without a result had come.
func (c *Call) stage() agenttool.Stage {
	var e struct {
		Data struct {
			ReadOnly bool `json:"read_only"`
		} `json:"data"`
	}
	switch {
	case len(c.started) == 0: // a call that may change something starts only when the log says so
		return agenttool.NotStarted
	case json.Unmarshal(c.started, &e) == nil && e.Data.ReadOnly:
		return agenttool.OnlyRead
	}
	return agenttool.MayHaveChanged
}

// invocation is the record of a call at its end: as it was admitted, with the members of later records. The time of its end is unknown: the
// record has the time of the host's last record.
func (w *endWriter) invocation(c *Call) agenttool.Invocation {
	var e struct {
		Data struct {
			Invocation agenttool.Invocation `json:"invocation"`
		} `json:"data"`
	}
	_ = json.Unmarshal(c.planned, &e) // an older version did not write it
	inv := e.Data.Invocation
	inv.SchemaVersion, inv.InvocationID, inv.ToolID, inv.NativeCallID = agenttool.SchemaVersion, c.Invocation, c.Tool, c.Subject
	if inv.CreatedAt == "" {
		inv.CreatedAt, inv.ModelInput = agenttool.Timestamp(c.Start), c.Input
	}
	w.ended(c, &inv)
	return inv
}

// ended adds to the record of a call what later records say.
func (w *endWriter) ended(c *Call, inv *agenttool.Invocation) {
	if started, ok := agenttool.Peek(c.started); ok {
		inv.StartedAt = started.Time
		inv.StatusTransitions = append(inv.StatusTransitions, agenttool.Transition{Status: agenttool.StatusRunning, At: started.Time})
	}
	for _, d := range c.Decided {
		inv.PermissionDecisionRefs = append(inv.PermissionDecisionRefs, d.ID)
	}
	inv.Status, inv.EndedAt, inv.AbortReason = agenttool.StatusCanceled, w.last, shutdown
	inv.StatusTransitions = append(inv.StatusTransitions, agenttool.Transition{Status: inv.Status, At: w.last, Reason: "host_died"})
}

// event makes an event of a call; pairs are names and values of its data.
func (w *endWriter) event(c *Call, kind agenttool.EventType, pairs ...any) {
	data := []byte(`{"written_afterwards":true`)
	for i := 0; i < len(pairs); i += 2 {
		value, err := agenttool.Encode(pairs[i+1])
		if err != nil {
			w.err = err
			return
		}
		data = append(append(data, ','), agenttool.AppendString(nil, pairs[i].(string))...)
		data = append(append(data, ':'), value...)
	}
	encoded, err := agenttool.Event{
		SchemaVersion: agenttool.SchemaVersion, EventID: agenttool.EventID(w.ids.New("evt_", w.now)), EventType: kind, Source: "toolhost",
		Subject: c.Subject, Time: agenttool.Timestamp(w.now), InvocationID: c.Invocation, ToolID: c.Tool, Data: append(data, '}'),
	}.MarshalJSON()
	w.events, w.err = append(w.events, encoded), errors.Join(w.err, err)
}
