// Package adapt rewrites inputs that models write as they learned it with another harness into inputs that our tools take.
//
//	a := adapt.New("read", schema)
//	input, changes, err := a.Input([]byte(`{"file_path":"go.mod","start_line":3,"end_line":9,"limit":null}`))
//	// {"limit":7,"offset":3,"path":"go.mod"}, what was rewritten, nil
//
// What is rewritten:
//
//   - names and values of other harnesses, by the table habits;
//   - optional members that are null, or empty where the schema takes no empty text: they count as absent;
//   - numbers, booleans and lists that stand in strings, as the schema wants them.
//
// A rewriting asks for the same or for less, never for more. Two members that say different things are an error, and so is a known member
// that asks for what no tool here does. Any other member stays as it is: the schema refuses it.
package adapt

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Adapter reads the inputs of one tool. It does not change, and may be used from several goroutines.
type Adapter struct {
	tool  string
	shape shape
	rows  map[string][]*habit // of the table, by place: the tool, or a list of it such as edit.edits
}

// shape is the part of a schema that an adapter needs.
type shape struct {
	Type       json.RawMessage   `json:"type"`
	Enum       []any             `json:"enum"`
	MinLength  int               `json:"minLength"`
	MinItems   int               `json:"minItems"`
	Maximum    *float64          `json:"maximum"`
	Required   []string          `json:"required"`
	Properties map[string]*shape `json:"properties"`
	Items      *shape            `json:"items"`
}

// Change is one rewriting.
type Change struct {
	Fields []string // members of the input, as they are named before and after
	Reason string   // for people: "file_path is path here"
}

// New returns the adapter of a tool by its name and the schema of its input. A schema that cannot be read has no members, so that nothing
// is rewritten.
func New(tool string, schema json.RawMessage) *Adapter {
	a := &Adapter{tool: tool, rows: map[string][]*habit{}}
	if json.Unmarshal(schema, &a.shape) != nil {
		a.shape = shape{}
	}
	for i := range habits {
		for place := range strings.FieldsSeq(habits[i].places) {
			if base, _, _ := strings.Cut(place, "."); base == tool {
				a.rows[place] = append(a.rows[place], &habits[i])
			}
		}
	}
	return a
}

// Input returns an input as the tool's schema has it, and what was rewritten. Without changes it is the input itself. An input that is no
// object, or that gives a member twice, stays as it is: the schema's check says what is wrong with it.
//
// The error is of class schema_validation_failed: conflicting_fields if two members say different things, unsupported_field if a member asks
// for what no tool here does.
func (a *Adapter) Input(input []byte) ([]byte, []Change, error) {
	members, err := json.Members(input)
	if err != nil || a.shape.fits(members) {
		return input, nil, nil
	}
	o := object{adapter: a, shape: &a.shape, members: members}
	if err := o.adapt(a.tool); err != nil {
		return input, nil, err
	}
	if len(o.changes) == 0 {
		return input, nil, nil
	}
	adapted, err := encode(o.members)
	if err != nil {
		return input, nil, nil // a member that cannot be written again is no JSON: the schema's check says so
	}
	return adapted, o.changes, nil
}

// fits reports whether each member is one of the schema and has its type, so that nothing is to be rewritten. It looks at little more than
// the first byte of each value: most inputs are right, and some are large.
func (s *shape) fits(members map[string]json.RawMessage) bool {
	for name, value := range members {
		member := s.Properties[name]
		if member == nil || !member.takes(value) {
			return false
		}
	}
	return true
}

// takes reports whether the schema surely takes a value as it is, and no row of the table is about such values.
func (s *shape) takes(value json.RawMessage) bool {
	switch value[0] {
	case '"':
		return (s.is("string") || len(s.Enum) > 0) && len(value) > len(`""`) && !bytes.HasPrefix(value, []byte(`"file:`))
	case 't', 'f':
		return s.is("boolean")
	case '[':
		return s.is("array") && (s.Items == nil || s.Items.Properties == nil)
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	return err == nil && s.is("integer") && n != 0 && (s.Maximum == nil || float64(n) <= *s.Maximum)
}

// object is an object on its way to what its schema takes.
type object struct {
	adapter *Adapter
	shape   *shape
	members map[string]json.RawMessage
	changes []Change
}

// adapt rewrites the object by the rows of the table for a place.
func (o *object) adapt(place string) error {
	for name := range o.members {
		if o.isNull(name) && !slices.Contains(o.shape.Required, name) && o.shape.Properties[name] != nil {
			o.drop(name, name+" is null: it says nothing")
		}
	}
	for _, h := range o.adapter.rows[place] {
		if err := o.apply(h); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		member := o.shape.Properties[name]
		switch {
		case member == nil:
		case o.isEmptyText(name, member):
			o.drop(name, name+" is empty: it says nothing")
		default:
			if err := o.convert(place, name, member); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply rewrites the members that one row of the table is about.
func (o *object) apply(h *habit) error {
	for name := range strings.FieldsSeq(h.names) {
		if _, given := o.members[name]; !given || o.shape.Properties[name] != nil && !h.own {
			continue
		}
		if o.isNull(name) && !h.own {
			o.drop(name, name+" is null: it says nothing")
			continue
		}
		if err := h.rewrite(o, name); err != nil {
			return err
		}
	}
	return nil
}

// convert changes the value of a member, and the objects in it, to what the schema takes.
func (o *object) convert(place, name string, member *shape) error {
	value := o.members[name]
	if changed, why := member.convert(value); changed != nil {
		o.set(name, changed, name+" "+why, name)
		value = changed
	}
	if value[0] != '[' || member.Items == nil || member.Items.Properties == nil {
		return nil
	}
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) != nil {
		return nil
	}
	var reasons []string
	for i, element := range elements {
		members, err := json.Members(element)
		if err != nil {
			continue
		}
		inner := object{adapter: o.adapter, shape: member.Items, members: members}
		if path := o.members["path"]; path != nil && place == "edit" {
			if err := inner.dropRepeatedPath(path); err != nil {
				return err
			}
		}
		if err := inner.adapt(place + "." + name); err != nil {
			return err
		}
		if len(inner.changes) == 0 {
			continue
		}
		if elements[i], err = encode(inner.members); err != nil {
			return nil
		}
		for _, c := range inner.changes {
			reasons = append(reasons, c.Reason)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	list, err := json.Encode(elements)
	if err == nil {
		slices.Sort(reasons)
		o.set(name, list, "in "+name+": "+strings.Join(slices.Compact(reasons), "; "), name)
	}
	return nil
}

// dropRepeatedPath leaves out the path of one edit, which repeats the path of the call.
func (o *object) dropRepeatedPath(path json.RawMessage) error {
	for _, name := range []string{"path", "file_path", "filePath"} {
		value := o.members[name]
		if value == nil || o.shape.Properties[name] != nil {
			continue
		}
		if !same(value, path) {
			return conflict("an edit and the call name different files: make one call a file", name)
		}
		o.drop(name, name+" repeats the file of the call")
	}
	return nil
}

// drop takes a member out.
func (o *object) drop(name, reason string) {
	delete(o.members, name)
	o.changes = append(o.changes, Change{[]string{name}, reason})
}

// set gives a member a value. names are the members that the change is about.
func (o *object) set(name string, value json.RawMessage, reason string, names ...string) {
	o.members[name] = value
	o.changes = append(o.changes, Change{names, reason})
}

// rename puts a value into our member, in place of their member. Ours may hold the same value already.
func (o *object) rename(theirs, ours string, value json.RawMessage, reason string) error {
	given, there := o.members[ours]
	if there && theirs != ours && !o.isNull(ours) && !same(given, value) {
		return conflict(fmt.Sprintf("%s and %s say different things: give %s alone", theirs, ours, ours), theirs)
	}
	delete(o.members, theirs)
	o.set(ours, value, reason, theirs, ours)
	return nil
}

func (o *object) isNull(name string) bool { return string(o.members[name]) == "null" }

// isEmptyText reports whether an optional member is an empty text that the schema does not take.
func (o *object) isEmptyText(name string, member *shape) bool {
	return string(o.members[name]) == `""` && !slices.Contains(o.shape.Required, name) && (!member.is("string") || member.MinLength > 0)
}

// is reports whether the schema takes values of a type. One without a type takes texts.
func (s *shape) is(kind string) bool {
	if len(s.Type) == 0 {
		return kind == "string" && len(s.Enum) == 0
	}
	return bytes.Contains(s.Type, []byte(`"`+kind+`"`))
}

// convert returns a value as the schema takes it, and words for what was done. Nil means that the value needs no change, or that none helps.
func (s *shape) convert(value json.RawMessage) (json.RawMessage, string) {
	plain := strings.TrimSpace(string(value))
	quoted, isText := text(value)
	switch {
	case isText && (s.is("string") || len(s.Enum) > 0):
		return nil, ""
	case isText:
		plain = strings.TrimSpace(quoted)
	}
	whole, isWhole := wholeNumber(plain)
	switch {
	case s.is("integer") && isWhole && whole != string(value):
		return json.RawMessage(whole), "is read as a whole number"
	case s.is("number") && isText && spellsNumber(plain):
		return json.RawMessage(plain), "is read as a number"
	case s.is("boolean") && isText && (strings.EqualFold(plain, "true") || strings.EqualFold(plain, "false")):
		return json.RawMessage(strings.ToLower(plain)), "is read as true or false"
	case s.is("array") && isText && strings.HasPrefix(plain, "[") && json.Valid([]byte(plain)):
		return json.RawMessage(plain), "is read as a list"
	case s.is("array") && !s.is("object") && s.Items != nil && s.Items.Properties != nil && value[0] == '{':
		return slices.Concat([]byte("["), value, []byte("]")), "is read as a list of one"
	}
	return nil, ""
}

// text returns a string, unless reading it would change it: then the input stays as it came, and is refused for that.
func text(value json.RawMessage) (s string, ok bool) {
	return s, value[0] == '"' && json.Exact(value) && json.Unmarshal(value, &s) == nil
}

// truth returns a boolean, which may stand in a string.
func truth(value json.RawMessage) (is, ok bool) {
	switch strings.ToLower(strings.Trim(string(value), `"`)) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// whole returns an integer, which may stand in a string.
func whole(value json.RawMessage) (int64, bool) {
	digits, ok := wholeNumber(strings.TrimSpace(strings.Trim(string(value), `"`)))
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// seconds returns a number, which may stand in a string.
func seconds(value json.RawMessage) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(value), `"`)), 64)
	return n, err == nil
}

// texts returns a list of strings.
func texts(value json.RawMessage) (list []string, ok bool) {
	if value[0] != '[' || !json.Exact(value) {
		return nil, false
	}
	var raw []json.RawMessage
	if json.Unmarshal(value, &raw) != nil {
		return nil, false
	}
	for _, element := range raw {
		s, ok := text(element)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
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

// same reports whether two values say the same.
func same(a, b json.RawMessage) bool {
	if n, ok := whole(a); ok {
		m, ok := whole(b)
		return ok && n == m
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	first, err := json.Marshal(x)
	if err != nil {
		return false
	}
	second, err := json.Marshal(y)
	return err == nil && bytes.Equal(first, second)
}

// encode writes an object, its members in the order of their names. Their values stay byte for byte.
func encode(members map[string]json.RawMessage) ([]byte, error) {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Encode(name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), members[name]...)
	}
	return append(b, '}'), nil
}

// jsonText writes a string as JSON.
func jsonText(s string) json.RawMessage { return agenttool.AppendString(nil, s) }

// number writes an integer as JSON.
func number(n int64) json.RawMessage { return strconv.AppendInt(nil, n, 10) }

// conflict is the error of members that say different things.
func conflict(message, field string) error {
	return agenttool.Failure(agenttool.SchemaValidationFailed, "conflicting_fields", message).In("/" + pointer.Replace(field))
}

// unsupported is the error of a member that asks for what no tool here does.
func unsupported(message, field string) error {
	return agenttool.Failure(agenttool.SchemaValidationFailed, "unsupported_field", message).In("/" + pointer.Replace(field))
}

// pointer escapes a name for a JSON pointer.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")
