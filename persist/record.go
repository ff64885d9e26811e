package persist

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"toolhost/agenttool"
)

// recorder makes the records that a session writes about itself.
type recorder struct{ o Options }

// opened begins a session, or goes on with one.
func (r recorder) opened() ([]byte, error) {
	data := map[string]json.RawMessage{}
	if len(r.o.Meta) > 0 {
		if err := json.Unmarshal(r.o.Meta, &data); err != nil || data == nil {
			return nil, agenttool.Failure(agenttool.ExecutionFailed, "invalid_event",
				"the data of the session's opened record is not a JSON object; this is a bug in toolhost")
		}
	}
	data["session_id"] = agenttool.AppendString(nil, string(r.o.ID))
	data["format"] = strconv.AppendInt(nil, format, 10)
	return r.event(agenttool.EventSessionOpened, data)
}

// closing is the data of a closed record.
type closing struct {
	Count int64  `json:"count"`          // records before it
	Head  string `json:"head,omitempty"` // hash of the line before it, as the next line would write it
}

// closed ends a session whose last record is c.
func (r recorder) closed(c chain) ([]byte, error) {
	return r.event(agenttool.EventSessionClosed, closing{Count: c.seq, Head: hex.EncodeToString(c.head[:])})
}

// loss counts the events that could not be written. The zero value says that all were.
type loss struct {
	Events int64  `json:"events_not_recorded"`
	Since  string `json:"since"` // when the first was lost
	Cause  string `json:"cause"` // why the first was lost
}

// add counts n more events.
func (l *loss) add(n int, now time.Time, cause error) {
	if l.Events == 0 {
		l.Since, l.Cause = agenttool.Timestamp(now), cause.Error()
	}
	l.Events += int64(n)
}

// gap says what is missing at this place.
func (r recorder) gap(l loss) ([]byte, error) { return r.event(agenttool.EventJournalGap, l) }

func (r recorder) event(t agenttool.EventType, data any) ([]byte, error) {
	encoded, err := agenttool.Encode(data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", t, err)
	}
	now := r.o.Now()
	e := agenttool.Event{
		SchemaVersion: agenttool.SchemaVersion,
		EventID:       agenttool.EventID(r.o.IDs.New("evt_", now)),
		EventType:     t,
		Source:        "toolhost",
		Subject:       string(r.o.ID),
		Time:          agenttool.Timestamp(now),
		Data:          encoded,
	}
	return e.MarshalJSON()
}
