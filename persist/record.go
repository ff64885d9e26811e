package persist

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// recorder creates the records of a session about itself.
type recorder struct{ o Options }

// opened returns the record that begins or resumes a session, or continues another log of it.
func (r recorder) opened(continues *Break) ([]byte, error) {
	data := map[string]json.RawMessage{}
	members := []json.RawMessage{r.o.Meta}
	if about := r.o.about.Load(); about != nil {
		members = append(members, (*about)())
	}
	for _, m := range members {
		if len(m) == 0 {
			continue
		}
		if err := json.Unmarshal(m, &data); err != nil || data == nil {
			return nil, agenttool.Failure(agenttool.ExecutionFailed, "invalid_event",
				"the data of the session's opened record is not a JSON object; this is a bug in toolhost")
		}
	}
	if continues != nil {
		encoded, err := agenttool.Encode(continues)
		if err != nil {
			return nil, err
		}
		data["continues"] = encoded
	}
	data["session_id"] = agenttool.AppendString(nil, string(r.o.ID))
	data["format"] = strconv.AppendInt(nil, format, 10)
	return r.event(agenttool.EventSessionOpened, data)
}

// closing is the data of a closed record.
type closing struct {
	Count int64  `json:"count"`          // hash of the line before it, as in the next line's prev
	Head  string `json:"head,omitempty"` // hash of the line before it, as the next line would write it

	// PayloadsSynced says that the payloads of all records before it were on the disk before it was written: none of them can be unwritten.
	PayloadsSynced bool `json:"payloads_synced,omitempty"`

	// WrittenAfterwards says that the process died, and that a later one wrote the record.
	WrittenAfterwards bool `json:"written_afterwards,omitempty"`
}

// closed returns the record that ends a session with the chain c, whose payloads are on the disk or not.
func (r recorder) closed(c chain, payloadsSynced bool) ([]byte, error) {
	return r.event(agenttool.EventSessionClosed, closing{Count: c.seq, Head: hex.EncodeToString(c.head[:]), PayloadsSynced: payloadsSynced})
}

// closedAfterwards is closed for a process that ends the session of another one.
func (r recorder) closedAfterwards(c chain) ([]byte, error) {
	return r.event(agenttool.EventSessionClosed, closing{Count: c.seq, Head: hex.EncodeToString(c.head[:]), WrittenAfterwards: true})
}

// loss counts the events that could not be written. The zero value means none.
type loss struct {
	Events int64  `json:"events_not_recorded"`
	Since  string `json:"since"` // time of the first loss
	Cause  string `json:"cause"` // reason of the first loss
}

// add counts n more events.
func (l *loss) add(n int, now time.Time, cause error) {
	if l.Events == 0 {
		l.Since, l.Cause = agenttool.Timestamp(now), cause.Error()
	}
	l.Events += int64(n)
}

// gap returns the record of a loss.
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
	if encoded, err = e.MarshalJSON(); err != nil {
		return nil, err
	}
	l := r.o.line(encoded)
	return l.event, l.err
}
