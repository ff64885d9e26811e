package mcp

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// inputReader reads the arguments of one tool as models send them.
//
// An optional member that is null, or empty where the schema takes no empty text, is absent. Numbers, booleans and lists may stand
// in strings. Usual names of other programs' members stand for ours. Everything else stays as it is, for the host to check: a reader
// never makes a member up, and never drops one that says something.
type inputReader struct {
	schema inputShape
}

// inputShape is the part of a schema that a reader needs.
type inputShape struct {
	Type       json.RawMessage        `json:"type"`
	Enum       []any                  `json:"enum"`
	MinLength  int                    `json:"minLength"`
	Required   []string               `json:"required"`
	Properties map[string]*inputShape `json:"properties"`
	Items      *inputShape            `json:"items"`
}

// newInputReader returns the reader for a tool's input schema.
func newInputReader(schema json.RawMessage) (r inputReader) {
	_ = json.Unmarshal(schema, &r.schema) // a schema that cannot be read has no members, and changes nothing
	return r
}

// usualNames are members of other programs' tools, and ours that they stand for, the best first. A name stands for a member only if
// the tool has no member of that name, and the call does not give ours.
var usualNames = map[string][]string{
	"file_path": {"path"}, "filePath": {"path"}, "filename": {"path"}, "target_file": {"path"}, "directory": {"path", "cwd"}, "dir": {"path", "cwd"},
	"cmd": {"command"}, "workdir": {"cwd"}, "working_directory": {"cwd"}, "background": {"run_in_background"}, "is_background": {"run_in_background"},
	"timeout": {"timeout_ms"}, "timeoutMs": {"timeout_ms"},
	"old_str": {"old_string"}, "oldString": {"old_string"}, "old_text": {"old_string"}, "oldText": {"old_string"}, "search": {"old_string"},
	"new_str": {"new_string"}, "newString": {"new_string"}, "new_text": {"new_string"}, "newText": {"new_string"}, "replace": {"new_string"},
	"replaceAll": {"replace_all"}, "file_text": {"content"}, "contents": {"content"}, "text": {"content"}, "input": {"patch"}, "patch_text": {"patch"},
	"regex": {"pattern"}, "query": {"pattern"}, "include": {"glob"}, "-i": {"ignore_case"}, "-A": {"after"}, "-B": {"before"}, "-C": {"context"},
	"head_limit": {"limit"}, "max_results": {"limit"}, "bash_id": {"job"}, "shell_id": {"job"}, "task_id": {"job"}, "filter": {"grep"},
}

// maxSeconds is the largest timeout that counts as seconds: as milliseconds it would be none.
const maxSeconds = 600

// read returns the arguments as the tool has them, or nil if they are that already. Arguments that are no object, or give a member
// twice, are left to the host.
func (r inputReader) read(arguments []byte) []byte {
	v, err := hujson.Parse(arguments)
	if err != nil || !v.IsStandard() || !r.schema.mend(&v) {
		return nil
	}
	v.Minimize()
	return v.Pack()
}

// mend changes an object as its schema needs it, and reports whether anything changed.
func (s *inputShape) mend(v *hujson.Value) (changed bool) {
	o, ok := v.Value.(*hujson.Object)
	if !ok || s == nil || repeats(o) {
		return false
	}
	for i := range o.Members {
		name := keyword(o.Members[i])
		ours := s.meant(name, o)
		if ours != name {
			o.Members[i].Name.Value, changed = hujson.String(ours), true
		}
		if name == "timeout" && ours == "timeout_ms" {
			toMilliseconds(&o.Members[i].Value)
		}
	}
	kept := slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool { return s.isAbsent(m) })
	changed = changed || len(kept) != len(o.Members)
	o.Members = kept
	for i := range o.Members {
		if member := s.Properties[keyword(o.Members[i])]; member != nil {
			changed = member.mendValue(&o.Members[i].Value) || changed
		}
	}
	return changed
}

// repeats reports whether an object gives a member twice.
func repeats(o *hujson.Object) bool {
	seen := map[string]bool{}
	for _, m := range o.Members {
		if seen[keyword(m)] {
			return true
		}
		seen[keyword(m)] = true
	}
	return false
}

// meant returns the member of the schema that a name stands for, or the name itself.
func (s *inputShape) meant(name string, in *hujson.Object) string {
	if s.Properties[name] != nil {
		return name
	}
	for _, ours := range usualNames[name] {
		given := slices.ContainsFunc(in.Members, func(m hujson.ObjectMember) bool { return keyword(m) == ours })
		if s.Properties[ours] != nil && !given {
			return ours
		}
	}
	return name
}

// isAbsent reports whether an optional member says nothing. An empty text says something where the schema takes it.
func (s *inputShape) isAbsent(m hujson.ObjectMember) bool {
	name, member := keyword(m), s.Properties[keyword(m)]
	literal, ok := m.Value.Value.(hujson.Literal)
	switch {
	case !ok || member == nil || slices.Contains(s.Required, name):
		return false
	case literal.Kind() == 'n':
		return true
	}
	return literal.Kind() == '"' && literal.String() == "" && (!member.is("string") || member.MinLength > 0)
}

// is reports whether the schema takes values of a type. One without a type takes texts.
func (s *inputShape) is(kind string) bool {
	if len(s.Type) == 0 {
		return kind == "string" && len(s.Enum) == 0
	}
	return bytes.Contains(s.Type, []byte(`"`+kind+`"`))
}

// mendValue changes a value of a member as its schema needs it.
func (s *inputShape) mendValue(v *hujson.Value) (changed bool) {
	if literal, ok := v.Value.(hujson.Literal); ok {
		return s.mendLiteral(v, literal)
	}
	if s.is("object") {
		return s.mend(v)
	}
	if s.is("array") && s.Items != nil {
		eachElement(v, func(element *hujson.Value) { changed = s.Items.mendValue(element) || changed })
	}
	return changed
}

// mendLiteral takes numbers, booleans and lists out of strings, and writes whole numbers without a fraction.
func (s *inputShape) mendLiteral(v *hujson.Value, literal hujson.Literal) bool {
	text := strings.TrimSpace(string(literal))
	if literal.Kind() == '"' {
		if s.is("string") || len(s.Enum) > 0 {
			return false
		}
		text = strings.TrimSpace(literal.String())
	}
	switch whole, isWhole := wholeNumber(text); {
	case s.is("integer") && isWhole && whole != string(literal):
		v.Value = hujson.Literal(whole)
	case s.is("number") && literal.Kind() == '"' && spellsNumber(text):
		v.Value = hujson.Literal(text)
	case s.is("boolean") && literal.Kind() == '"' && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
		v.Value = hujson.Bool(strings.EqualFold(text, "true"))
	case s.is("array") && literal.Kind() == '"' && strings.HasPrefix(text, "["):
		list, err := hujson.Parse([]byte(text))
		if err != nil || !list.IsStandard() {
			return false
		}
		v.Value = list.Value
		s.mendValue(v)
	default:
		return false
	}
	return true
}

// spellsNumber reports whether a text is a number in JSON.
func spellsNumber(text string) bool {
	var n json.Number
	return text != "" && text[0] != '"' && json.Unmarshal([]byte(text), &n) == nil
}

// wholeNumber returns a number that is an integer as JSON writes one.
func wholeNumber(text string) (string, bool) {
	if !spellsNumber(text) {
		return "", false
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return text, true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(n), 10), true
}

// toMilliseconds changes a timeout that can only be in seconds.
func toMilliseconds(v *hujson.Value) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok {
		return
	}
	text := string(literal)
	if literal.Kind() == '"' {
		text = literal.String()
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && n > 0 && n <= maxSeconds {
		v.Value = hujson.Literal(strconv.FormatInt(int64(math.Ceil(n*1000)), 10))
	}
}

// inputReaders are the readers of tools by name and alias.
type inputReaders map[string]inputReader

// add adds a tool that can be called by several names.
func (rs inputReaders) add(d agenttool.Declaration, schema json.RawMessage) {
	r := newInputReader(schema)
	for _, name := range append([]string{d.Name}, d.Aliases...) {
		rs[name] = r
	}
}
