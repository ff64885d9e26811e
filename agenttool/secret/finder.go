package secret

import (
	"cmp"
	"slices"
	"sync"
)

// Span is a place in text that holds a secret.
type Span struct {
	Start, End int
	Kind       string
}

// Finder finds the secrets of known forms, and values that it was told. It is read-only; [All] has the forms alone.
type Finder struct{ m *matcher }

// All returns the finder of all forms.
func All() *Finder { return all() }

var all = sync.OnceValue(func() *Finder { return &Finder{newMatcher(slices.Concat(forms(), hints))} })

// Kinds returns the kinds of secrets, sorted, that a finder knows by their form.
func Kinds() (kinds []string) {
	for _, f := range forms() {
		kinds = append(kinds, f.kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Knowing returns a finder that also finds a value: as it is, escaped in JSON, encoded in a URL, and in base64.
func (f *Finder) Knowing(kind, value string) *Finder {
	return &Finder{f.m.with(knownValue(kind, value))}
}

// Find returns the secrets in text, in order and without overlaps.
func (f *Finder) Find(text []byte) []Span { return Joined(f.Places(text, nil)) }

// Places returns the secrets in text but those of some kinds, in any order; they may overlap. Secrets that escapes hide are among them.
func (f *Finder) Places(text []byte, off []string) []Span {
	found := f.spelled(text, off)
	if plain, at := unescape(text); plain != nil {
		for _, s := range f.spelled(plain, off) {
			found = append(found, Span{at[s.Start], at[s.End], s.Kind})
		}
	}
	return found
}

// spelled returns the secrets as they are spelled.
func (f *Finder) spelled(text []byte, off []string) (found []Span) {
	f.m.candidates(text, func(f *form, at, n int) bool {
		if slices.Contains(off, f.kind) {
			return true
		}
		if f.all != nil {
			f.all(text, at, n, func(start, end int) { found = append(found, Span{start, end, f.kind}) })
		} else if start, end := f.find(text, at, n); end > start {
			found = append(found, Span{start, end, f.kind})
		} else if end := f.cutOff(text, at, n); end > 0 {
			found = append(found, Span{at, end, f.kind})
		}
		return true
	})
	return found
}

// Suspicious reports whether encoded JSON has a literal of a form, or an escape that may hide one: it takes one fast pass. What is not
// suspicious holds no secret.
func (f *Finder) Suspicious(record []byte) bool {
	return !f.m.candidates(record, func(f *form, at, n int) bool {
		return f.quick != nil && !f.quick(record, at, n)
	})
}

// Joined sorts spans and joins those that overlap. The kind is that of the first; a value that the host knows gives way to a
// form, which says more.
func Joined(spans []Span) []Span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	all := spans[:1]
	for _, s := range spans[1:] {
		last := &all[len(all)-1]
		if s.Start >= last.End {
			all = append(all, s)
			continue
		}
		last.End = max(last.End, s.End)
	}
	return all
}
