package agenttool

import "toolhost/agenttool/json"

// EventType is one of the standard's 27 classes of event (AT-350 … AT-376), or an extra of ours under tool.x (X11).
type EventType string

// The classes that are written today.
const (
	EventDeclared            EventType = "tool.declared"
	EventSurfaceCreated      EventType = "tool.surface.created"
	EventSurfaceUpdated      EventType = "tool.surface.updated"
	EventDeferredDiscovered  EventType = "tool.deferred.discovered"
	EventDeferredLoaded      EventType = "tool.deferred.loaded"
	EventPlanned             EventType = "tool.invocation.planned"
	EventSelected            EventType = "tool.invocation.selected"
	EventArgumentsReady      EventType = "tool.invocation.arguments_ready"
	EventValidationFailed    EventType = "tool.invocation.validation_failed"
	EventPermissionRequested EventType = "tool.permission.requested"
	EventPermissionDecided   EventType = "tool.permission.decided"
	EventQueued              EventType = "tool.invocation.queued"
	EventStarted             EventType = "tool.invocation.started"
	EventProgress            EventType = "tool.invocation.progress"
	EventPartialResult       EventType = "tool.invocation.partial_result"
	EventResultPersisted     EventType = "tool.result.persisted"
	EventYielded             EventType = "tool.invocation.yielded"
	EventSucceeded           EventType = "tool.invocation.succeeded"
	EventFailed              EventType = "tool.invocation.failed"
	EventCanceled            EventType = "tool.invocation.canceled"
	EventTimedOut            EventType = "tool.invocation.timed_out"
	EventResultCreated       EventType = "tool.result.created"
	EventResultRedacted      EventType = "tool.result.redacted"

	EventCancelRequested    EventType = "tool.x.cancel_requested"    // each request, also one that is refused or names no live call
	EventCancelAcknowledged EventType = "tool.x.cancel_acknowledged" // the call will be canceled
	EventCancelFailed       EventType = "tool.x.cancel_failed"       // it ended in another way, or may still run
	EventSchedulerPolicy    EventType = "tool.x.scheduler.policy"    // once for each policy, before calls that name it
	EventSessionOpened      EventType = "tool.x.session.opened"
	EventSessionClosed      EventType = "tool.x.session.closed"
	EventSessionRedacted    EventType = "tool.x.session.redacted" // secrets were taken out of the log afterwards, and it was chained anew
	EventJournalGap         EventType = "tool.x.journal.gap"
	EventProtectedChanged   EventType = "tool.x.protected.changed" // files that other programs run or obey were changed; with a warning
	EventSettingsChanged    EventType = "tool.x.settings.changed"  // with warnings, or with the settings now in force
)

// Event is one thing that happened. Agent Tool v0.2.0, "tool_event" (AT-018).
type Event struct {
	SchemaVersion string            `json:"schema_version"`
	EventID       EventID           `json:"event_id"`
	EventType     EventType         `json:"event_type"`
	Source        string            `json:"source"`
	Time          string            `json:"time"`
	Subject       string            `json:"subject,omitempty"`
	InvocationID  InvocationID      `json:"invocation_id,omitempty"`
	ToolID        ToolID            `json:"tool_id,omitempty"`
	Data          json.RawMessage   `json:"data,omitempty"` // a JSON object
	TraceRefs     []json.RawMessage `json:"trace_refs,omitempty"`
	Extra         Extra             `json:",embed"`
}

// envelopeSize is about the bytes of an event without its data.
const envelopeSize = 512

// MarshalJSON writes the record. Data is written byte for byte. There are a dozen events for each call: their envelope is written by hand, which
// takes a sixth of the time.
func (e Event) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, envelopeSize+len(e.Data))
	b = append(b, `{"schema_version":`...)
	b = AppendString(b, e.SchemaVersion)
	for _, f := range [...]struct{ name, value string }{
		{"event_id", string(e.EventID)}, {"event_type", string(e.EventType)}, {"source", e.Source}, {"time", e.Time},
		{"subject", e.Subject}, {"invocation_id", string(e.InvocationID)}, {"tool_id", string(e.ToolID)},
	} {
		if f.value == "" && f.name != "event_id" && f.name != "event_type" && f.name != "source" && f.name != "time" {
			continue
		}
		b = append(append(append(b, ',', '"'), f.name...), '"', ':')
		b = AppendString(b, f.value)
	}
	b = appendField(append(b, '}'), "data", e.Data)
	if len(e.TraceRefs) > 0 {
		refs, err := json.Encode(e.TraceRefs)
		if err != nil {
			return nil, err
		}
		b = appendField(b, "trace_refs", refs)
	}
	return appendExtra[Event](b, e.Extra)
}
