package mcp

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// bounds are the keywords that clients' input schemas lack: a model seldom meets a bound, every conversation would have
// to carry all of them, and the host checks calls by the whole schema and names the broken bound.
var bounds = []string{"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}

// inputSchema returns a tool's schema without [bounds], in its own order, which a model reads.
func inputSchema(native json.RawMessage) json.RawMessage {
	if !slices.ContainsFunc(bounds, func(b string) bool { return bytes.Contains(native, []byte(b)) }) {
		var out bytes.Buffer
		if json.Compact(&out, native) == nil {
			return out.Bytes()
		}
	}
	v, err := hujson.Parse(native)
	if err != nil {
		return native
	}
	loosen(&v)
	v.Minimize()
	return v.Pack()
}

// loosen removes the bounds from a schema and from those within it. It removes keywords only: a property may be called
// maximum.
func loosen(v *hujson.Value) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool { return slices.Contains(bounds, keyword(m)) })
	for i := range o.Members {
		value := &o.Members[i].Value
		switch keyword(o.Members[i]) {
		case "items":
			loosen(value)
		case "properties":
			eachMember(value, loosen)
		case "allOf", "anyOf", "oneOf":
			eachElement(value, loosen)
		}
	}
}

func keyword(m hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

func eachMember(v *hujson.Value, do func(*hujson.Value)) {
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range o.Members {
			do(&o.Members[i].Value)
		}
	}
}

func eachElement(v *hujson.Value, do func(*hujson.Value)) {
	if a, ok := v.Value.(*hujson.Array); ok {
		for i := range a.Elements {
			do(&a.Elements[i])
		}
	}
}

// ofText are the tools' names of members that repeat the text of their content, or measure it.
var ofText = []string{
	"text", "bytes", "lines",
	"stdout", "stdout_bytes", "stdout_truncated", "stderr", "stderr_bytes", "stderr_truncated",
}

// outline is the part of a schema that output schemas are made from.
type outline struct {
	Type       json.RawMessage            `json:"type"`
	Enum       []any                      `json:"enum"`
	Required   []string                   `json:"required"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// scalar returns the type of a member that is no object and no array; nil if it is one, or may be.
func (o outline) scalar() json.RawMessage {
	if o.Type == nil && len(o.Enum) > 0 && !slices.ContainsFunc(o.Enum, func(v any) bool { _, ok := v.(string); return !ok }) {
		return json.RawMessage(`"string"`)
	}
	var types []string
	if one := ""; json.Unmarshal(o.Type, &one) == nil {
		types = []string{one}
	} else if json.Unmarshal(o.Type, &types) != nil {
		return nil
	}
	if slices.Contains(types, "object") || slices.Contains(types, "array") {
		return nil
	}
	return o.Type
}

// member is one of a tool's structured content.
type member struct {
	name string
	kind json.RawMessage // the value of its schema's type
}

// members returns those of a tool's structured content that clients get: the scalars that are always there, without
// [ofText]. It reports whether there is structured content at all.
func members(native json.RawMessage) (told []member, there bool) {
	var o outline
	if len(native) == 0 || json.Unmarshal(native, &o) != nil {
		return nil, false
	}
	for _, name := range o.Required {
		var property outline
		if slices.Contains(ofText, name) || json.Unmarshal(o.Properties[name], &property) != nil {
			continue
		}
		if kind := property.scalar(); kind != nil {
			told = append(told, member{name, kind})
		}
	}
	return told, true
}

// outputSchema is the schema of a tool's structured content for clients: its members by their types alone, and the text, for
// clients that show their model nothing else. Models do not read it, but every conversation has to carry it.
func outputSchema(told []member) json.RawMessage {
	properties := map[string]any{"text": map[string]string{"type": "string"}}
	for _, m := range told {
		properties[m.name] = map[string]json.RawMessage{"type": m.kind}
	}
	out, err := agenttool.Encode(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return nil // words and schemas that were read: it cannot fail
	}
	return out
}
