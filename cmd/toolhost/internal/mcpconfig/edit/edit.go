// Package edit changes single values in the configuration files of other programs: JSON with comments, and TOML. Comments, order and
// format of everything else stay as they are, byte for byte. A file that cannot be read is an error with its line, and nothing is changed.
package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Format is how a file is written.
type Format string

const (
	JSON Format = "json" // with comments and trailing commas
	TOML Format = "toml"
)

// Change is a value that a file shall have.
type Change struct {
	Path  []string // keys from the root
	Value any      // string, bool, int, []string, [Object]

	// Own says that nothing but setup writes this value: it is removed as a whole. The keys of other objects are set and removed one by one.
	Own bool

	// Add says that Path leads to a list, which shall have the elements of Value, a []any, beside its own.
	Add bool
}

// Field is a key with its value.
type Field struct {
	Key   string
	Value any
}

// Object is a mapping whose keys have an order.
type Object []Field

// MarshalJSON writes the fields in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, v := range []any{f.Key, f.Value} {
			if j > 0 {
				b.WriteByte(':')
			}
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(v); err != nil {
				return nil, err
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON keeps the order of the keys, at any depth.
func (o *Object) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := ordered(d)
	if object, ok := v.(Object); ok {
		*o = object
	}
	return err
}

// ordered reads a value whose objects are each an [Object].
func ordered(d *json.Decoder) (any, error) {
	t, err := d.Token()
	switch t {
	case json.Delim('['):
		list := []any{}
		for err == nil && d.More() {
			var element any
			element, err = ordered(d)
			list = append(list, element)
		}
		_, end := d.Token()
		return list, cmp.Or(err, end)
	case json.Delim('{'):
		object := Object{}
		for err == nil && d.More() {
			var key json.Token
			var value any
			if key, err = d.Token(); err == nil {
				value, err = ordered(d)
				object = append(object, Field{key.(string), value})
			}
		}
		_, end := d.Token()
		return object, cmp.Or(err, end)
	}
	return t, err
}

// A document is a file that was read. Paths lead to values of mappings.
type document interface {
	value(path []string) (v any, ok bool)    // as encoding/json decodes it
	raw(path []string) (text string)         // of a value that is there
	set(path []string, v any) error          // v may be a literal
	drop(path []string) error                // a value that is there
	add(path []string, element any) error    // to the list at path, which is there
	remove(path []string, element any) error // from the list at path
	bytes() []byte
}

// literal is a value as a file has it.
type literal string

// LineError is an error of a file at a line, from 1.
type LineError struct {
	Line    int
	Message string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

func open(f Format, content []byte) (document, error) {
	if f == TOML {
		return openTOML(content)
	}
	return openJSON(content)
}

// Apply returns the content with all changes. Values that are equal already stay as they are.
func Apply(f Format, content []byte, changes []Change) ([]byte, error) {
	d, err := open(f, content)
	if err != nil {
		return nil, err
	}
	for _, c := range Leaves(changes) {
		if err := apply(d, c); err != nil {
			return nil, err
		}
	}
	return d.bytes(), nil
}

func apply(d document, c Change) error {
	have, ok := d.value(c.Path)
	if !c.Add || !ok {
		if ok && equal(have, c.Value) {
			return nil
		}
		return d.set(c.Path, c.Value)
	}
	list, _ := have.([]any) // add says that another value is none
	for _, element := range c.Value.([]any) {
		if slices.ContainsFunc(list, func(e any) bool { return equal(e, element) }) {
			continue
		}
		if err := d.add(c.Path, element); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns the changes that a file does not have, one by one.
func Missing(f Format, content []byte, changes []Change) ([]Change, error) {
	d, err := open(f, content)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(Leaves(changes), func(c Change) bool {
		have, ok := d.value(c.Path)
		if list, isList := have.([]any); c.Add && isList {
			return !slices.ContainsFunc(c.Value.([]any), func(element any) bool {
				return !slices.ContainsFunc(list, func(e any) bool { return equal(e, element) })
			})
		}
		return ok && equal(have, c.Value)
	}), nil
}

// Value returns the value at a path, as encoding/json decodes it.
func Value(f Format, content []byte, path []string) (any, bool, error) {
	d, err := open(f, content)
	if err != nil {
		return nil, false, err
	}
	v, ok := d.value(path)
	return v, ok, nil
}

// Revert takes the changes out of a file that was changed since, and puts the values of the original in their place. The original is nil if
// there was no file. kept are changes that have another value by now: they stay.
func Revert(f Format, content, original []byte, changes []Change) (reverted []byte, kept []Change, err error) {
	d, err := open(f, content)
	if err != nil {
		return nil, nil, err
	}
	before, err := open(f, original)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range slices.Backward(Leaves(changes)) {
		have, ok := d.value(c.Path)
		switch {
		case !ok:
			continue
		case c.Add:
			err = removeAdded(d, before, c)
		case !c.Own && !equal(have, c.Value):
			kept = append(kept, c)
			continue
		default:
			err = restore(d, before, c.Path)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return d.bytes(), kept, nil
}

// removeAdded takes out the elements that the original did not have.
func removeAdded(d, before document, c Change) error {
	old, _ := before.value(c.Path)
	list, _ := old.([]any)
	for _, element := range c.Value.([]any) {
		if slices.ContainsFunc(list, func(e any) bool { return equal(e, element) }) {
			continue
		}
		if err := d.remove(c.Path, element); err != nil {
			return err
		}
	}
	return dropEmpty(d, before, c.Path)
}

// restore puts the value of the original back, or removes one that it did not have.
func restore(d, before document, path []string) error {
	if _, ok := before.value(path); ok {
		return d.set(path, literal(before.raw(path)))
	}
	if err := d.drop(path); err != nil {
		return err
	}
	if len(path) == 0 {
		return nil
	}
	return dropEmpty(d, before, path[:len(path)-1])
}

// dropEmpty removes the mappings and lists on a path that are empty now and that the original did not have.
func dropEmpty(d, before document, path []string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		v, ok := d.value(path)
		if _, was := before.value(path); was || ok && !isEmpty(v) {
			return nil
		}
		if !ok {
			continue
		}
		if err := d.drop(path); err != nil {
			return err
		}
	}
	return nil
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil
}

// Leaves splits the objects of changes into their keys, but for objects of our own.
func Leaves(changes []Change) (all []Change) {
	for _, c := range changes {
		o, ok := c.Value.(Object)
		if !ok || c.Own || len(o) == 0 {
			all = append(all, c)
			continue
		}
		for _, f := range o {
			all = append(all, Leaves([]Change{{Path: append(slices.Clone(c.Path), f.Key), Value: f.Value}})...)
		}
	}
	return all
}

// equal compares two values as JSON.
func equal(a, b any) bool {
	var both [2]any
	for i, v := range []any{a, b} {
		text, err := json.Marshal(v)
		if err != nil || json.Unmarshal(text, &both[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(both[0], both[1])
}

// errNoLists is a bug in the table of clients.
var errNoLists = fmt.Errorf("lists are merged in JSON only")
