package agenttool

import (
	"bytes"

	"toolhost/agenttool/json"
)

// Envelope has the members of an event besides its data.
type Envelope struct {
	Type         EventType    `json:"event_type"`
	Time         string       `json:"time"`
	Subject      string       `json:"subject"`
	InvocationID InvocationID `json:"invocation_id"`
	ToolID       ToolID       `json:"tool_id"`
}

// Peek reads the envelope of an encoded event. It is fast for events that [Event.MarshalJSON] encoded, whose fields stand in a known
// order, and decodes others. ok is false if event is not an event.
func Peek(event []byte) (e Envelope, ok bool) {
	if e, ok = peek(event); ok {
		return e, true
	}
	e = Envelope{}
	return e, json.Unmarshal(event, &e) == nil && e.Type != ""
}

// peek reads the fields in the order of Event.MarshalJSON. It gives up at the first that is written in another way.
func peek(b []byte) (e Envelope, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte{'{'})
	for ok {
		var name, value []byte
		if name, b, ok = plainString(b); !ok || len(b) == 0 || b[0] != ':' {
			return e, false
		}
		if string(name) == "data" {
			return e, e.Type != ""
		}
		if value, b, ok = plainString(b[1:]); !ok {
			return e, false
		}
		e.set(string(name), string(value))
		if len(b) == 1 && b[0] == '}' {
			return e, e.Type != ""
		}
		b, ok = bytes.CutPrefix(b, []byte{','})
	}
	return e, false
}

func (e *Envelope) set(name, value string) {
	switch name {
	case "event_type":
		e.Type = EventType(value)
	case "time":
		e.Time = value
	case "subject":
		e.Subject = value
	case "invocation_id":
		e.InvocationID = InvocationID(value)
	case "tool_id":
		e.ToolID = ToolID(value)
	}
}

// plainString cuts a JSON string without escapes off the beginning of b.
func plainString(b []byte) (s, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, b, false
	}
	end := bytes.IndexByte(b[1:], '"')
	if end < 0 || bytes.IndexByte(b[1:1+end], '\\') >= 0 {
		return nil, b, false
	}
	return b[1 : 1+end], b[2+end:], true
}
