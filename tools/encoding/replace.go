package encoding

import (
	"fmt"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// Change replaces a part of a text.
type Change struct {
	Start, End int // offsets of the text in UTF-8, without a byte order mark
	Text       string
}

// CutError says that a change cannot be made without a risk for its neighbours.
type CutError struct {
	Encoding Encoding // in which the change is unsafe
	Shown    Encoding // of the text that the change is of
	Offset   int      // of the content: where it would be cut
	NewText  bool     // the new text is the reason, not the place
}

func (e *CutError) Error() string {
	if e.NewText {
		return fmt.Sprintf("the bytes of the new text in %s are no characters of %s, which decodes the content as well", e.Shown, e.Encoding)
	}
	if e.Encoding == e.Shown {
		return fmt.Sprintf("byte %d is within a character of %s", e.Offset, e.Encoding)
	}
	return fmt.Sprintf("byte %d is within a character of %s, which decodes the content as well as %s", e.Offset, e.Encoding, e.Shown)
}

// Splicer makes changes of a content, one after the other, from the beginning to the end. All bytes outside of them stay as they are.
type Splicer struct {
	found   Recognition
	body    []byte
	places  walker
	borders []walker // in each encoding that decodes the content, and in the guard
	out     []byte
	copied  int // bytes of body
}

// NewSplicer returns a splicer of raw, the content that was recognised.
func (r Recognition) NewSplicer(raw []byte) *Splicer {
	body := r.Body(raw)
	s := &Splicer{found: r, body: body, places: newWalker(r.Encoding, body)}
	for _, e := range r.Decoding {
		s.borders = append(s.borders, newWalker(e, body))
	}
	if r.Guard != Binary {
		s.borders = append(s.borders, newWalker(r.Guard, body))
	}
	s.out = append(s.out, raw[:len(raw)-len(body)]...)
	return s
}

// Change makes a change, which is behind the one before it. The error is a [CutError] or an [UnencodableError]; nothing can follow it.
func (s *Splicer) Change(c Change) error {
	shown := s.found.Encoding
	start, ok := s.places.toText(c.Start)
	if !ok {
		return &CutError{Encoding: shown, Shown: shown, Offset: start}
	}
	end, ok := s.places.toText(c.End)
	if !ok {
		return &CutError{Encoding: shown, Shown: shown, Offset: end}
	}
	for i := range s.borders {
		for _, at := range []int{start, end} {
			if !s.borders[i].to(at) {
				return &CutError{Encoding: s.borders[i].reader.encoding, Shown: shown, Offset: at}
			}
		}
	}
	fresh, err := shown.Encode([]byte(c.Text))
	if err != nil {
		return err
	}
	for _, e := range s.found.Decoding {
		if !e.Decodes(fresh) {
			return &CutError{Encoding: e, Shown: shown, Offset: start, NewText: true}
		}
	}
	s.out = append(s.out, s.body[s.copied:start]...)
	s.out = append(s.out, fresh...)
	s.copied = end
	return nil
}

// End returns the content with the changes. Nothing can follow it.
func (s *Splicer) End() []byte {
	s.out = append(s.out, s.body[s.copied:]...)
	s.copied = len(s.body)
	return s.out
}

// Replace returns raw, the content that was recognised, with changes of its text, which are in order and do not overlap. The error is that
// of [Splicer.Change].
func (r Recognition) Replace(raw []byte, changes []Change) ([]byte, error) {
	s := r.NewSplicer(raw)
	for _, c := range changes {
		if err := s.Change(c); err != nil {
			return nil, err
		}
	}
	return s.End(), nil
}

// walker goes through the characters of a content that decodes.
type walker struct {
	reader reader
	raw    []byte
	at     int // in raw, a border
	text   int // in the text
}

func newWalker(e Encoding, raw []byte) walker { return walker{reader: newReader(e), raw: raw} }

// step goes over one character, or over ASCII up to n bytes.
func (w *walker) step(n int) {
	if !w.reader.encoding.IsUTF16() {
		if plain := ascii(w.raw[w.at : w.at+min(n, len(w.raw)-w.at)]); plain > 0 {
			w.at += plain
			w.text += plain
			return
		}
	}
	c, size, ok := w.reader.first(w.raw[w.at:])
	if size == 0 { // a part of a character ends the content
		c, size = utf8.RuneError, len(w.raw)-w.at
	}
	w.at += size
	if !ok && w.reader.encoding == UTF8 {
		w.text += size
		return
	}
	w.text += textLen(c)
}

// to goes to an offset of the content that is not before the current one, and reports whether it is a border.
func (w *walker) to(offset int) bool {
	if w.reader.encoding == Windows1252 {
		return true
	}
	w.skip(offset)
	for w.at < offset {
		w.step(offset - w.at)
	}
	return w.at == offset
}

// skip goes near a far offset: a byte below 0x30 is a character of its own in each legacy encoding. It loses the place in the text.
func (w *walker) skip(offset int) {
	const near = 4 << 10
	if !w.reader.encoding.IsLegacy() || offset-w.at <= near {
		return
	}
	for at := offset - 1; at > offset-near; at-- {
		if w.raw[at] < 0x30 {
			w.at = at
			return
		}
	}
}

// toText goes to an offset of the text that is not before the current one, and returns that of the content. ok is false if the offset
// is within a character.
func (w *walker) toText(offset int) (raw int, ok bool) {
	for w.text < offset && w.at < len(w.raw) {
		w.step(offset - w.text)
	}
	return w.at, w.text == offset
}

// Changes returns the changes that make one text of another: of each pair of differing lines, the part that differs, in whole
// characters. lines are the places of differing lines, in order, with the lines that replace them.
func Changes(text []byte, lines []Change) []Change {
	changes := make([]Change, 0, len(lines))
	for _, c := range lines {
		old, now := text[c.Start:c.End], []byte(c.Text)
		same := cut.Common(old, now)
		old, now = old[same:], now[same:]
		tail := commonTail(old, now)
		changes = append(changes, Change{Start: c.Start + same, End: c.End - tail, Text: string(now[:len(now)-tail])})
	}
	return changes
}

// commonTail returns the length of the characters that two texts end with.
func commonTail(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}
