package agenttool

import (
	"slices"
	"strconv"
)

// Transition and PhaseTiming come by the dozen in every invocation, which writes them by hand: it takes a third of the time.

// timelineSize is about the bytes of one entry.
const timelineSize = 112

// appendTimeline adds a list of records to the encoded object b; no records, no field.
func appendTimeline[T interface{ appendTo([]byte) ([]byte, error) }](b []byte, name string, records []T) (_ []byte, err error) {
	if len(records) == 0 {
		return b, nil
	}
	b = append(openField(b, name), '[')
	for i, r := range records {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = r.appendTo(b); err != nil {
			return nil, err
		}
	}
	return append(b, ']', '}'), nil
}

// withoutRepeats leaves out the start of each phase that began in the same millisecond as the one before it: most do, and a log has a dozen of
// them for each call.
func withoutRepeats(phases []PhaseTiming) []PhaseTiming {
	short := slices.Clone(phases)
	for i := len(short) - 1; i > 0; i-- {
		if short[i].StartedAt == short[i-1].StartedAt {
			short[i].StartedAt = ""
		}
	}
	return short
}

// withRepeats undoes withoutRepeats.
func withRepeats(phases []PhaseTiming) {
	for i := range phases {
		if i > 0 && phases[i].StartedAt == "" {
			phases[i].StartedAt = phases[i-1].StartedAt
		}
	}
}

func (t Transition) appendTo(b []byte) ([]byte, error) {
	b = append(b, `{"status":`...)
	b = AppendString(b, string(t.Status))
	b = append(b, `,"at":`...)
	b = AppendString(b, t.At)
	if t.Reason != "" {
		b = append(b, `,"reason":`...)
		b = AppendString(b, t.Reason)
	}
	return appendExtra[Transition](append(b, '}'), t.Extra)
}

func (t PhaseTiming) appendTo(b []byte) ([]byte, error) {
	b = append(b, `{"phase":`...)
	b = AppendString(b, string(t.Phase))
	if t.StartedAt != "" {
		b = append(b, `,"started_at":`...)
		b = AppendString(b, t.StartedAt)
	}
	b = append(b, `,"duration_us":`...)
	b = strconv.AppendInt(b, t.DurationUS, 10)
	if t.Outcome != "" {
		b = append(b, `,"outcome":`...)
		b = AppendString(b, t.Outcome)
	}
	return appendExtra[PhaseTiming](append(b, '}'), t.Extra)
}
