package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolhost/agenttool/near"
)

const maxListed = 20 // names or choices in a message

// allowedFields lists the fields of the objects that s describes: "allowed fields: path (required), limit, offset".
func allowedFields(s *jsonschema.Schema) string {
	fields := fieldsOf(s)
	if len(fields) == 0 {
		return ""
	}
	var required, optional []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch shown := plainOrQuoted(name); {
		case fields[name]:
			required = append(required, shown+" (required)")
		default:
			optional = append(optional, shown)
		}
	}
	return "allowed fields: " + list(append(required, optional...))
}

// fieldsOf returns the fields that s and the schemas that it applies to the same value name, and whether they are
// required. A field that only one form requires is not required.
func fieldsOf(s *jsonschema.Schema) map[string]bool {
	fields, seen := map[string]bool{}, map[*jsonschema.Schema]bool{}
	var collect func(s *jsonschema.Schema, always bool)
	collect = func(s *jsonschema.Schema, always bool) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for name, inner := range s.Properties {
			if inner.Bool == nil || *inner.Bool {
				fields[name] = fields[name] || always && slices.Contains(s.Required, name)
			}
		}
		for _, same := range sameValue(s) {
			collect(same, always && (same == s.Ref || slices.Contains(s.AllOf, same)))
		}
	}
	collect(s, true)
	return fields
}

func plainOrQuoted(name string) string {
	if isPlain(name) {
		return name
	}
	return quote(name)
}

func list(names []string) string { return listSome(names, len(names)) }

// listSome lists the first names and counts the rest of all. names may end after the first maxListed.
func listSome(names []string, all int) string {
	if more := all - maxListed; more > 0 {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// choices lists the values that an enum or const allows.
func choices(values []any) string {
	shown := make([]string, min(len(values), maxListed))
	for i := range shown {
		switch v := values[i].(type) {
		case string:
			shown[i] = quote(v)
		case map[string]any, []any:
			shown[i] = "a fixed " + typeName(v)
		case json.Number:
			shown[i] = v.String()
		default:
			shown[i] = fmt.Sprint(v)
			if v == nil {
				shown[i] = "null"
			}
		}
	}
	if len(shown) == 1 {
		return shown[0]
	}
	return "one of " + listSome(shown, len(values))
}

func suggestChoice(k *kind.Enum) string {
	got, ok := k.Got.(string)
	if !ok {
		return ""
	}
	var allowed []string
	for _, v := range k.Want {
		if s, ok := v.(string); ok {
			allowed = append(allowed, s)
		}
	}
	if s := nearest(got, allowed); s != "" {
		return fmt.Sprintf(" — did you mean %s?", quote(s))
	}
	return ""
}

// nearestField returns the field of n that name probably means in the object at path, or "". It skips fields that the
// object already has.
func (r reader) nearestField(name string, path []string, n *jsonschema.Schema) string {
	fields := fieldsOf(n)
	obj, _ := lookup(r.input, path).(map[string]any)
	for given := range obj {
		delete(fields, given)
	}
	return nearest(name, slices.Sorted(maps.Keys(fields)))
}

// nearest returns the one of allowed that name most likely stands for, or "".
//
// Models write the names that they know from other tools: oldString for old_string, file_path for path.
func nearest(name string, allowed []string) string {
	if best := near.Word(name, allowed); best != "" || len(name) > maxQuoted {
		return best
	}
	for _, candidate := range allowed {
		if slices.Contains(words(name), candidate) || slices.Contains(words(candidate), name) {
			return candidate
		}
	}
	return ""
}

func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), near.IsSeparator)
}
