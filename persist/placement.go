package persist

import "toolhost/agenttool"

// Policy says when a result's payload leaves the result.
type Policy struct {
	MaxInlineChars int   // of text; 0: 30,000
	MaxInlineBytes int64 // of everything, images for instance; 0: 4 MiB
	NeverPersist   bool  // the tool reads what is kept already: persisting its results would go in a circle
}

// What a result may hold inline.
const (
	InlineChars = 30_000
	InlineBytes = 4 << 20
)

// Size is what is known of a result's payload.
type Size struct {
	Chars     int   // characters of its text
	Bytes     int64 // all of it
	Persisted bool  // the tool wrote the whole of it to a payload already; Chars and Bytes are those of the rest
}

// Placement is what Decide found.
type Placement struct {
	Strategy  agenttool.Strategy
	Reason    string         // one of the Reason constants
	Threshold map[string]any // for the record: max_inline_chars, max_inline_bytes
}

// The reasons of a placement.
const (
	ReasonExceeded = "result_exceeded_inline_limit"
	ReasonWithin   = "within_inline_limit"
	ReasonEmpty    = "empty_output" // the result must say so: an empty text tells a model nothing
	ReasonOptOut   = "tool_never_persists"
)

// Decide returns where the payload of a result belongs: inline, preview_and_persist or, without text to show a
// preview of, ref_only; never_persist leaves it inline whatever its size. What a tool has persisted already is never
// called inline. Redaction and dropping are decided elsewhere, from what a payload says rather than from its size.
//
// Agent Tool v0.2.0, "Result persistence".
func Decide(size Size, o Policy) Placement {
	if o.MaxInlineChars <= 0 {
		o.MaxInlineChars = InlineChars
	}
	if o.MaxInlineBytes <= 0 {
		o.MaxInlineBytes = InlineBytes
	}
	p := Placement{Strategy: agenttool.Inline, Reason: ReasonWithin, Threshold: map[string]any{
		"max_inline_chars": o.MaxInlineChars, "max_inline_bytes": o.MaxInlineBytes,
	}}
	large := size.Chars > o.MaxInlineChars || size.Bytes > o.MaxInlineBytes
	switch {
	case size.Persisted || large && !o.NeverPersist:
		p.Strategy, p.Reason = agenttool.PreviewAndPersist, ReasonExceeded
		if size.Chars == 0 {
			p.Strategy = agenttool.RefOnly
		}
	case o.NeverPersist:
		p.Strategy, p.Reason = agenttool.NeverPersist, ReasonOptOut
	case size.Chars == 0 && size.Bytes == 0:
		p.Reason = ReasonEmpty
	}
	return p
}
