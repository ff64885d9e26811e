package redact

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/secret"
)

// Found says what was taken out of a record.
type Found struct {
	Kinds   []string // of each secret, in the order of the record
	Results bool     // a result was changed, and its redaction_state says so
}

// ErrWithheld means that a record could not be searched for secrets, and must not be stored.
var ErrWithheld = errors.New("the record could not be searched for secrets")

// JSON returns an encoded record with marks for the secrets in its strings and names; the record itself if it has none. In an
// object that loses something, a redaction_state of "none" becomes "redacted". All else stays byte
// for byte. It fails with ErrWithheld if the record is no JSON, and if the search fails.
func (r *Redactor) JSON(record []byte) (out []byte, found Found, err error) {
	defer func() {
		if recover() != nil {
			out, found, err = nil, Found{}, ErrWithheld
		}
	}()
	if r == nil || !r.suspicious(record) {
		return record, found, nil
	}
	if !json.Valid(record) {
		return nil, found, ErrWithheld
	}
	w := walker{r: r, in: record, found: &found}
	w.value("")
	if len(found.Kinds) == 0 {
		return record, found, nil
	}
	return append(w.out, record[w.at:]...), found, nil
}

// suspicious reports whether a record contains a literal of a form, an escape that may hide one, or encoded bytes.
func (r *Redactor) suspicious(record []byte) bool {
	now := r.now.Load()
	if len(now.rules.Patterns) > 0 || bytes.Contains(record, []byte(`"`+encodedMember+`":"`)) {
		return true
	}
	return now.finder.Suspicious(record)
}

// maxDepth bounds the nesting of a record.
const maxDepth = 200

// walker copies a valid JSON text and redacts its strings.
type walker struct {
	r     *Redactor
	in    []byte
	at    int // the next byte of in
	out   []byte
	depth int
	found *Found

	argument []Span // secrets of the next string, which is a word of a command
}

// keep copies the bytes up to at.
func (w *walker) keep(to int) {
	w.out = append(w.out, w.in[w.at:to]...)
	w.at = to
}

func (w *walker) space() {
	for w.at < len(w.in) && (w.in[w.at] == ' ' || w.in[w.at] == '\t' || w.in[w.at] == '\n' || w.in[w.at] == '\r') {
		w.keep(w.at + 1)
	}
}

// value copies one value. name is that of the member that it is the value of.
func (w *walker) value(name string) {
	w.space()
	switch w.in[w.at] {
	case '{':
		w.enter(w.object)
	case '[':
		w.enter(func() { w.array(name) })
	case '"':
		w.str(name)
	default:
		end := w.at
		for end < len(w.in) && w.in[end] != ',' && w.in[end] != '}' && w.in[end] != ']' && w.in[end] > ' ' {
			end++
		}
		w.keep(end)
	}
	w.space()
}

func (w *walker) enter(copy func()) {
	if w.depth++; w.depth > maxDepth {
		panic(ErrWithheld)
	}
	w.keep(w.at + 1)
	copy()
	w.depth--
}

// array copies an array. One of strings may be the words of a command, some of which hold secrets.
func (w *walker) array(name string) {
	var arguments []secret.Argument
	if !w.r.now.Load().isOff(secret.KindArgument) {
		arguments = w.arguments()
	}
	for i := 0; ; i++ {
		if w.space(); w.in[w.at] == ']' {
			break
		}
		w.argument = nil
		for _, a := range arguments {
			if a.Word == i {
				w.argument = append(w.argument, Span{Start: a.Start, End: a.End, Kind: secret.KindArgument})
			}
		}
		w.value(name)
		if w.in[w.at] == ',' {
			w.keep(w.at + 1)
		}
	}
	w.keep(w.at + 1)
}

// arguments returns the secrets of an array of strings, as the words of a command.
func (w *walker) arguments() []secret.Argument {
	end := w.at
	for end < len(w.in) && w.in[end] != ']' {
		switch w.in[end] {
		case '"':
			end = stringEnd(w.in, end)
		case '[', '{':
			return nil
		default:
			end++
		}
	}
	var words []string
	if end >= len(w.in) || json.Unmarshal(slices.Concat([]byte("["), w.in[w.at:end], []byte("]")), &words) != nil {
		return nil
	}
	return secret.Arguments(words)
}

// stringEnd returns the end of the string that begins at i.
func stringEnd(in []byte, i int) int {
	for i++; in[i] != '"'; i++ {
		if in[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// object copies an object, and corrects its redaction_state.
func (w *walker) object() {
	before, state := len(w.found.Kinds), -1
	for w.space(); w.in[w.at] != '}'; w.space() {
		name := w.str("")
		w.space()
		w.keep(w.at + 1) // the colon
		w.space()
		if name == "redaction_state" && string(w.in[w.at:min(len(w.in), w.at+len(none))]) == none {
			state = len(w.out)
		}
		w.value(name)
		if w.in[w.at] == ',' {
			w.keep(w.at + 1)
		}
	}
	w.keep(w.at + 1)
	if state >= 0 && len(w.found.Kinds) > before {
		w.out = append(w.out[:state], append([]byte(changed), w.out[state+len(none):]...)...)
		w.found.Results = true
	}
}

const (
	none    = `"none"`
	changed = `"redacted"`
)

// str copies one string, redacted, and returns it as it was. name is that of its member.
func (w *walker) str(name string) string {
	end := stringEnd(w.in, w.at)
	argument := w.argument
	w.argument = nil
	var text string
	if err := json.Unmarshal(w.in[w.at:end], &text); err != nil {
		panic(ErrWithheld)
	}
	if name == encodedMember && w.encoded(text, end) {
		return text
	}
	now := w.r.now.Load()
	spans := append(now.known([]byte(text)), argument...)
	if !structural(name) {
		spans = now.matches([]byte(text), spans)
	}
	redacted, kinds := w.r.mark([]byte(text), secret.Joined(spans))
	if len(kinds) == 0 && secret.Member([]byte(name)) && !secret.Placeholder([]byte(text)) && !now.isOff(secret.KindMember) {
		redacted, kinds = []byte(w.r.Mark(secret.KindMember, []byte(text))), []string{secret.KindMember}
		w.r.learn(secret.KindMember, []byte(text))
	}
	if len(kinds) == 0 {
		w.keep(end)
		return text
	}
	w.found.Kinds = append(w.found.Kinds, kinds...)
	w.out = agenttool.AppendString(w.out, string(redacted))
	w.at = end
	return text
}

// encodedMember is the member of a content block that has the bytes of an image or the like, in base64.
const encodedMember = "data"

// encoded copies a string of encoded bytes that have a secret, with the secret covered: their length stays. It reports whether it did. A text
// that is no base64, or has no secret behind it, is left to its caller.
func (w *walker) encoded(text string, end int) bool {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	spans := w.r.Find(data)
	if len(spans) == 0 {
		return false
	}
	for _, s := range spans {
		w.found.Kinds = append(w.found.Kinds, s.Kind)
		w.r.learn(s.Kind, data[s.Start:s.End])
	}
	w.r.Cover(data, spans)
	w.out = agenttool.AppendString(w.out, base64.StdEncoding.EncodeToString(data))
	w.at = end
	return true
}

// structural reports whether a member refers to another record, or says what a record is. The user's patterns do not match there:
// one that matches ids would make the log unreadable.
func structural(name string) bool {
	for _, end := range []string{"_id", "_ids", "_ref", "_refs", "_at", "_type", "_version", "_state"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return slices.Contains([]string{"id", "type", "time", "uri", "digest", "source", "status", "subject"}, name)
}

// Record is JSON, and learns from the record: a value that has a secret's place in it, such as that of a variable, is found
// from then on wherever it occurs.
func (r *Redactor) Record(record []byte) (out []byte, found Found, err error) {
	for range 2 {
		known := r.known()
		if out, found, err = r.JSON(record); r.known() == known {
			break
		}
	}
	return out, found, err
}
