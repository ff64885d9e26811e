package host

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/persist"
)

// journal writes events to the session log and then, not before, tells subscribers.
type journal struct {
	store *persist.Store
	ids   *agenttool.IDs
	now   func() time.Time

	once    sync.Mutex
	records map[string]bool // that calls refer to, by kind and name, and that are written; guarded by once

	mu          sync.Mutex // guards what follows, and orders what subscribers hear
	subscribers []*Subscription
	last        int64  // highest seq that a listener knows, by tell or replay; 0: none
	unlogged    string // code of the error that results said last; empty: they are in the log
}

// Level says which events a subscriber hears.
type Level string

// The levels.
const (
	EventsNone     Level = "none"
	EventsResults  Level = "results"  // results, and prompts
	EventsProgress Level = "progress" // and progress
	EventsAll      Level = "all"
)

// Notice is an event as a listener gets it.
type Notice struct {
	Seq   int64
	Type  agenttool.EventType
	Final bool   // of progress: the job has ended, and nothing else says so
	Event []byte // as the log has it; a prompt has the secrets that the log has not
}

// Subscription is one listener. Tell is called in order of seq and must not block.
type Subscription struct {
	Level   Level
	Prompts bool // hear of permission requests and decisions at every level
	Tell    func(Notice)

	from int64 // the last event that a replay handed over
}

// Hears reports whether the listener gets events of that type.
func (s *Subscription) Hears(t agenttool.EventType) bool {
	switch t {
	case agenttool.EventPermissionRequested, agenttool.EventPermissionDecided, agenttool.EventSettingsChanged, agenttool.EventProtectedChanged:
		return s.Prompts || s.Level != EventsNone
	case agenttool.EventResultCreated:
		return s.Level != EventsNone
	case agenttool.EventProgress, agenttool.EventQueued, agenttool.EventStarted, agenttool.EventYielded:
		return s.Level == EventsProgress || s.Level == EventsAll
	}
	return s.Level == EventsAll
}

// replay is [Host.Replay].
func (j *journal) replay(seq int64, limit int, s *Subscription, deliver func(entries []persist.Entry, more bool)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq > j.last {
		return agenttool.Failure(agenttool.InvalidArguments, "unknown_event",
			fmt.Sprintf("there is no event %d in this session yet, the last is %d: it is of another session; ask for those after 0", seq, j.last))
	}
	entries, more, err := j.store.Since(seq, limit)
	if err != nil {
		return err
	}
	deliver(entries, more)
	if n := len(entries); n > 0 {
		j.last = max(j.last, entries[n-1].Seq) // the log has events shortly before subscribers get them
		s.from = entries[n-1].Seq
	}
	if !more {
		if s.Level == EventsNone { // a client that replays wants later events, too
			s.Level = EventsAll
		}
		j.subscribeLocked(s)
	}
	return nil
}

func (j *journal) subscribe(s *Subscription) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.subscribeLocked(s)
}

func (j *journal) subscribeLocked(s *Subscription) {
	if !slices.Contains(j.subscribers, s) {
		j.subscribers = append(j.subscribers, s)
	}
}

func (j *journal) unsubscribe(s *Subscription) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.subscribers = slices.DeleteFunc(j.subscribers, func(other *Subscription) bool { return other == s })
}

func (j *journal) resubscribe(s *Subscription, level Level, prompts bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Level, s.Prompts = level, prompts
}

// event completes an envelope; pairs are names and values of its data.
func (j *journal) event(e agenttool.Event, pairs ...any) agenttool.Event {
	now := j.now()
	e.SchemaVersion, e.Source, e.Time = agenttool.SchemaVersion, "toolhost", agenttool.Timestamp(now)
	e.EventID = agenttool.EventID(j.ids.New("evt_", now))
	e.Data = object(pairs...)
	return e
}

// record writes one event by itself. It returns no error: subscribers do not get an event that cannot be recorded.
func (j *journal) record(e agenttool.Event, pairs ...any) {
	_ = j.append(false, j.event(e, pairs...))
}

// recordPatience is how long the host waits for the disk that has the session log. Then it goes on with [persist.ErrPending]. It
// does not wait at all for a disk that has stalled.
const recordPatience = 500 * time.Millisecond

// append writes events as one group and then tells subscribers; final marks the last ones of a job. It waits for the disk
// as long as recordPatience. On an error subscribers got no event; after [persist.ErrPending] they get it when the disk has answered.
func (j *journal) append(final bool, events ...agenttool.Event) error {
	return j.await(j.submit(final, events...))
}

// submit is append for a caller that waits later, or not at all.
func (j *journal) submit(final bool, events ...agenttool.Event) *persist.Pending {
	events, lines := j.lines(events)
	return j.store.Submit(lines, func(first int64) { j.tell(first, final, events, lines) })
}

// await waits for submitted events.
func (j *journal) await(p *persist.Pending) error {
	patience := recordPatience
	if j.store.Stalled() {
		patience = 0
	}
	_, err := p.Wait(patience)
	return err
}

// lines prepares events for the log, and drops the data of those that subscribers get as the log has them: it is large in a result, and the
// line has it. Before a result that loses secrets there it puts the event that says so (AT-376).
func (j *journal) lines(events []agenttool.Event) ([]agenttool.Event, []persist.Line) {
	all, lines := slices.Clone(events), make([]persist.Line, 0, len(events))
	for _, e := range events {
		line := j.store.Line(encode(e))
		if found := line.Redacted(); found.Results && e.EventType == agenttool.EventResultCreated {
			note := j.event(agenttool.Event{EventType: agenttool.EventResultRedacted, Subject: e.Subject, InvocationID: e.InvocationID, ToolID: e.ToolID},
				"phase", agenttool.PhaseEmitTerminal, "redaction_state", "redacted", "secrets", len(found.Kinds), "kinds", slices.Compact(slices.Sorted(slices.Values(found.Kinds))))
			all, lines = slices.Insert(all, len(lines), note), append(lines, j.store.Line(encode(note)))
		}
		if e.EventType != agenttool.EventPermissionRequested {
			all[len(lines)].Data = nil
		}
		lines = append(lines, line)
	}
	return all, lines
}

// shown is an event as subscribers get it: as the log has it, except for a prompt. The person who is asked sees all of the call.
func shown(e agenttool.Event, line persist.Line) []byte {
	if e.EventType == agenttool.EventPermissionRequested {
		return encode(e)
	}
	return line.Event()
}

// tell tells subscribers of events that are in the log.
func (j *journal) tell(first int64, final bool, events []agenttool.Event, lines []persist.Line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last = max(j.last, first+int64(len(lines))-1)
	for _, s := range j.subscribers {
		for i, e := range events {
			if seq := first + int64(i); seq > s.from && s.Hears(e.EventType) {
				s.Tell(Notice{seq, e.EventType, final, shown(e, lines[i])})
			}
		}
	}
}

// firstOf reports whether err is another reason than that of the result before why results are not in the log; nil is that they
// are.
func (j *journal) firstOf(err error) bool {
	code := ""
	if err != nil {
		code = agenttool.AsError(err, agenttool.DependencyUnavailable).Code
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	changed := j.unlogged != code
	j.unlogged = code
	return changed && err != nil
}

// maxRecords bounds the names that are remembered: clients may name policies as they like. Then records are written again.
const maxRecords = 4096

// refers returns those of the records that a call refers to and that the journal does not hold.
func (j *journal) refers(c *call) []agenttool.Event {
	var events []agenttool.Event
	if j.first("policy " + c.batch.policyKey()) {
		events = append(events, j.event(agenttool.Event{EventType: agenttool.EventSchedulerPolicy}, "scheduler_policy", c.policy()))
	}
	events = append(events, j.created(c.surface)...)
	if e := c.tool; e != nil && j.first("tool "+string(e.Declaration.ToolID)) {
		events = append(events, j.event(agenttool.Event{EventType: agenttool.EventDeclared, ToolID: e.Declaration.ToolID},
			"declaration", e.Declaration, "interface", e.Interface, "execution_profile", e.Execution, "permission_profile", e.Permission))
	}
	return events
}

// created is the event of a surface that the journal does not hold.
func (j *journal) created(s agenttool.Surface) []agenttool.Event {
	if !j.first("surface " + string(s.SurfaceID)) {
		return nil
	}
	return []agenttool.Event{j.event(agenttool.Event{EventType: agenttool.EventSurfaceCreated}, "surface", s)}
}

// first reports whether a record that calls refer to is new, and remembers it: the journal holds each of them once, before or with
// the first call that names it.
func (j *journal) first(name string) bool {
	j.once.Lock()
	defer j.once.Unlock()
	if j.records[name] {
		return false
	}
	if j.records == nil || len(j.records) >= maxRecords {
		j.records = map[string]bool{}
	}
	j.records[name] = true
	return true
}

// object composes a JSON object from names and values; raw JSON is kept byte for byte.
func object(pairs ...any) json.RawMessage {
	size := 2
	for i := 1; i < len(pairs); i += 2 {
		switch pairs[i].(type) {
		case json.RawMessage, string, agenttool.Phase:
		default:
			pairs[i] = encode(pairs[i])
		}
		size += len(pairs[i-1].(string)) + valueSize(pairs[i]) + 8
	}
	b := append(make([]byte, 0, size), '{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = agenttool.AppendString(b, pairs[i].(string))
		b = append(b, ':')
		switch v := pairs[i+1].(type) {
		case json.RawMessage:
			b = append(b, v...)
		case string:
			b = agenttool.AppendString(b, v)
		case agenttool.Phase:
			b = agenttool.AppendString(b, string(v))
		}
	}
	return append(b, '}')
}

func valueSize(v any) int {
	if raw, ok := v.(json.RawMessage); ok {
		return len(raw)
	}
	return 32
}

// encode encodes a record of ours. A failure is a bug: records hold nothing that JSON cannot.
func encode(v any) json.RawMessage {
	var b []byte
	var err error
	if m, ok := v.(json.Marshaler); ok { // directly: encoding/json would compact nested texts
		b, err = m.MarshalJSON()
	} else {
		b, err = agenttool.Encode(v)
	}
	if err != nil {
		panic(fmt.Sprintf("host: encode %T: %v (this is a bug in toolhost)", v, err))
	}
	return b
}

func withExtra(x agenttool.Extra, name string, v any) agenttool.Extra {
	if x == nil {
		x = agenttool.Extra{}
	}
	x[name] = encode(v)
	return x
}
