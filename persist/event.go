package persist

import (
	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist/redact"
)

// Line is an event as a session stores it: on one line and without secrets. Only [Store.Line] makes one,
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
