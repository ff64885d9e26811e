package persist

import "toolhost/agenttool"

// Policy decides when a result's payload is moved out of the result.
type Policy struct {
	MaxInlineChars int   // characters of text; 0: 30,000
	MaxInlineBytes int64 // of everything, such as images; 0: 4 MiB
	Caller         agenttool.Capacity
	NeverPersist   bool // the tool reads stored content: persisting its results would go in a circle
}

// The default limits for inline content.
const (
	InlineChars = 30_000
	InlineBytes = 4 << 20
)

// Size describes a result's payload.
type Size struct {
	Chars     int   // characters of its text
	Text      int   // bytes of its text
	Lines     int   // of its text
	Bytes     int64 // of everything
	Persisted bool  // the tool already wrote all of it to a payload; Chars and Bytes describe the rest
}

// Placement is the decision of Decide.
type Placement struct {
	Strategy  agenttool.Strategy
	Reason    string         // one of the Reason constants
	Threshold map[string]any // for the record: max_inline_chars, max_inline_bytes
}

// The reasons of a placement.
const (
	ReasonExceeded = "result_exceeded_inline_limit"
	ReasonWithin   = "within_inline_limit"
	ReasonEmpty    = "empty_output" // the result must say so: an empty text confuses a model
	ReasonOptOut   = "tool_never_persists"
)

// Decide chooses the place of a result's payload: inline, preview_and_persist or, without text for a preview,
// ref_only. never_persist leaves it inline whatever its size, unless the caller does not take so much. A payload that the
// tool persisted itself is never inline. Redaction and dropping are decided elsewhere, because they depend on the content.
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
	case size.Persisted || large && !o.NeverPersist || !o.Caller.Holds(size.Text, size.Lines):
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
