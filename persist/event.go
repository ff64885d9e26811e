package persist

import (
	"bytes"
	"fmt"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist/redact"
)

// Line is an event in the form in which a session stores it: on one line and without secrets. Only [Store.Line] makes one,
// so that no event reaches the log another way.
type Line struct {
	event []byte
	found redact.Found
	err   error
}

// Event returns the encoded event, which must not be changed; nil if it cannot be stored.
func (l Line) Event() []byte { return l.event }

// Redacted says which secrets were taken out.
func (l Line) Redacted() redact.Found { return l.found }

// line is [Store.Line].
func (o Options) line(event []byte) Line {
	l := Line{event: event}
	if len(event) > maxEvent {
		l.err = agenttool.Failure(agenttool.ResultTooLarge, "event_too_large",
			fmt.Sprintf("an event of %d bytes does not fit the session log, whose limit is %d; "+
				"store its data as a payload and refer to it", len(event), maxEvent))
		return l
	}
	if bytes.IndexByte(event, '\n') >= 0 {
		var flat bytes.Buffer
		if json.Compact(&flat, event) == nil {
			l.event = flat.Bytes()
		}
	}
	flat, err := l.event, error(nil)
	if l.event, l.found, err = o.Redactor.Record(flat); err != nil {
		l.event = withheld(flat)
	}
	if b := l.event; len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' || bytes.IndexByte(b, '\n') >= 0 {
		l.event, l.err = nil, agenttool.Failure(agenttool.ExecutionFailed, "invalid_event",
			"an event is not a JSON object and was not recorded; this is a bug in toolhost")
	}
	return l
}

// withheld returns the envelope of an event, without what its data and names may contain; nil if it is no event.
func withheld(event []byte) []byte {
	var full agenttool.Event
	if json.Unmarshal(event, &full) != nil {
		return nil
	}
	bare := agenttool.Event{
		SchemaVersion: full.SchemaVersion, EventID: full.EventID, EventType: full.EventType, Source: full.Source, Time: full.Time,
		InvocationID: full.InvocationID, ToolID: full.ToolID, Data: json.RawMessage(`{"redaction_state":"withheld"}`),
	}
	encoded, _ := bare.MarshalJSON()
	return encoded
}

// checked returns the events of lines, or the error of the first that cannot be stored.
func checked(lines []Line) ([][]byte, error) {
	events := make([][]byte, len(lines))
	for i, l := range lines {
		if l.err != nil {
			return nil, l.err
		}
		events[i] = l.event
	}
	return events, nil
}
