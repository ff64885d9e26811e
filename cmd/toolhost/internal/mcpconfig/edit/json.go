package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"toolhost/agenttool/jsonc"
)

// jsonDocument is a file of JSON with comments.
type jsonDocument struct {
	content []byte
	doc     *jsonc.Document
}

func openJSON(content []byte) (document, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		content = []byte("{}\n")
	}
	d := &jsonDocument{}
	return d, d.read(content)
}

func (d *jsonDocument) read(content []byte) error {
	doc, err := jsonc.Parse(content)
	if e, ok := errors.AsType[*jsonc.SyntaxError](err); ok {
		return &LineError{e.Line, e.Error()}
	}
	d.content, d.doc = content, doc
	return err
}

func (d *jsonDocument) bytes() []byte { return d.content }

// find follows a path as far as it goes: at is the value there, and rest are the keys that are missing.
func (d *jsonDocument) find(path []string) (at hujson.Value, rest []string, err error) {
	at = d.doc.Root
	for i, key := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return at, path[i:], d.errorAt(at, "an object is expected here, with the key "+key)
		}
		count := 0
		for _, m := range object.Members {
			if name, _ := m.Name.Value.(hujson.Literal); name.String() == key {
				count++
			}
		}
		if count > 1 {
			return at, path[i:], d.errorAt(at, "the key "+key+" is given twice: keep one")
		}
		next, ok := jsonc.Member(at, key)
		if !ok {
			return at, path[i:], nil
		}
		at = next
	}
	return at, nil, nil
}

func (d *jsonDocument) errorAt(v hujson.Value, message string) error {
	line, _ := d.doc.Position(v.StartOffset)
	return &LineError{line, message}
}

func (d *jsonDocument) value(path []string) (v any, ok bool) {
	at, rest, err := d.find(path)
	if err != nil || len(rest) > 0 {
		return nil, false
	}
	return decoded(at), true
}

// decoded is a value without its comments.
func decoded(at hujson.Value) (v any) {
	plain := at.Clone()
	plain.Standardize()
	_ = json.Unmarshal(plain.Pack(), &v) // it was parsed
	return v
}

func (d *jsonDocument) raw(path []string) string {
	at, _, _ := d.find(path)
	return d.doc.Raw(at)
}

func (d *jsonDocument) set(path []string, v any) error {
	at, rest, err := d.find(path)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		put := jsonc.Element(v)
		if text, ok := v.(literal); ok {
			put = jsonc.Leaf(string(text))
		}
		return d.read(d.doc.Apply(d.doc.Replace(at, put)))
	}
	if _, ok := at.Value.(*hujson.Object); !ok {
		return d.errorAt(at, "an object is expected here, with the key "+rest[0])
	}
	for _, key := range slices.Backward(rest[1:]) {
		v = Object{{key, v}}
	}
	return d.read(d.doc.Apply(d.doc.Insert(at, jsonc.Pair(rest[0], v))))
}

func (d *jsonDocument) drop(path []string) error {
	parent, rest, err := d.find(path[:len(path)-1])
	if err != nil || len(rest) > 0 {
		return err
	}
	return d.cut(parent, slices.IndexFunc(parent.Value.(*hujson.Object).Members, func(m hujson.ObjectMember) bool {
		name, _ := m.Name.Value.(hujson.Literal)
		return name.String() == path[len(path)-1]
	}))
}

func (d *jsonDocument) add(path []string, element any) error {
	at, _, err := d.find(path)
	if err != nil {
		return err
	}
	if _, ok := at.Value.(*hujson.Array); !ok {
		return d.errorAt(at, strings.Join(path, ".")+" is not a list")
	}
	return d.read(d.doc.Apply(d.doc.Insert(at, jsonc.Element(element))))
}

func (d *jsonDocument) remove(path []string, element any) error {
	at, _, err := d.find(path)
	if err != nil {
		return err
	}
	list, ok := at.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	return d.cut(at, slices.IndexFunc(list.Elements, func(e hujson.Value) bool { return equal(decoded(e), element) }))
}

func (d *jsonDocument) cut(v hujson.Value, i int) error {
	if i < 0 {
		return nil
	}
	return d.read(d.doc.Apply(d.doc.Cut(v, []int{i})))
}
