package redact

import (
	"bytes"
	"slices"

	"toolhost/agenttool/secret"
)

// Bounds of the text that a stream holds back: usually an unfinished line. Of a longer one it holds the end back, where a
// secret may begin.
const (
	maxHeld = 16 << 10
	overlap = 8 << 10
)

// Stream finds secrets in output that comes in parts, also those that are split between parts.
type Stream struct {
	r    *Redactor
	held []byte
	open bool // a private key began, and its end has not come
}

// NewStream returns a search in one output.
func NewStream(r *Redactor) *Stream { return &Stream{r: r} }

// Next takes the next part and returns the text that is decided, with its secrets: the part after the text that was
// held back before, without the new end. last says that no part follows. The text is valid until the next call, and may be the
// part itself. If the search fails in a text, all of it is secret.
func (s *Stream) Next(part []byte, last bool) (text []byte, found []Span) {
	all := part
	if len(s.held) > 0 {
		all = append(s.held, part...)
	}
	defer func() {
		if recover() != nil {
			s.held, text, found = nil, all, []Span{{Start: 0, End: len(all), Kind: kindWithheld}}
		}
	}()
	return s.search(all, last)
}

// search is Next for all of the text that is not decided.
func (s *Stream) search(text []byte, last bool) ([]byte, []Span) {
	found := s.r.Find(text)
	if s.open {
		if end := secret.KeyBody(text, 0); end > 0 {
			found = secret.Joined(append(found, Span{Start: 0, End: end, Kind: "private_key"}))
		}
	}
	safe := len(text)
	if !last {
		safe = s.decided(text, found)
	}
	s.open = keyOpen(text[:safe], s.open)
	s.held = bytes.Clone(text[safe:])
	for i := range found {
		if found[i].Start >= safe {
			return text[:safe], found[:i]
		}
		found[i].End = min(found[i].End, safe) // of a word that is too long to be held back
	}
	return text[:safe], found
}

// Held returns the bytes that Next holds back. They are valid until the next call.
func (s *Stream) Held() []byte { return s.held }

// decided returns the length of the text whose secrets no later part changes.
func (s *Stream) decided(text []byte, found []Span) int {
	safe := bytes.LastIndexByte(text, '\n') + 1
	if len(text)-safe > maxHeld {
		safe = len(text) - overlap
	}
	if n := s.r.now.Load().longest; n > 0 {
		safe = max(0, min(safe, len(text)-min(n, maxHeld)))
	}
	for _, span := range found {
		if span.Start < safe && span.End > safe && len(text)-span.Start <= maxHeld+overlap {
			return span.Start
		}
	}
	const header = 100 // the first line of a key, and as much of its body as makes it one
	from := max(0, safe-header)
	if begin := bytes.LastIndex(text[from:safe], []byte("-----BEGIN ")); begin >= 0 && !within(found, from+begin) {
		return from + begin
	}
	return safe
}

// within reports whether a secret begins at i.
func within(found []Span, i int) bool {
	return slices.ContainsFunc(found, func(s Span) bool { return s.Start <= i && i < s.End })
}

// keyOpen reports whether text ends within a private key; before is whether it began in one.
func keyOpen(text []byte, before bool) bool {
	const header = "PRIVATE KEY-----"
	if !bytes.Contains(text, []byte(header)) {
		return before && (len(text) == 0 || rest(text, 0))
	}
	at := bytes.LastIndex(text, []byte(header))
	if end := bytes.LastIndex(text[:at], []byte("-----END")); end >= 0 && at-end < 40 {
		return false
	}
	return rest(text, at+len(header))
}

// rest reports whether all text from i on may be the body of a key.
func rest(text []byte, i int) bool {
	return len(bytes.TrimSpace(text[secret.KeyBody(text, i):])) == 0
}
