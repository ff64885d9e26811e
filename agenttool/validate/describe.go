package validate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// reader turns what the library found into problems.
type reader struct {
	input any
	parts map[string]*jsonschema.Schema // of the schema, by location
	spent *effort
}

// effort counts the work that the description of one input's problems took.
type effort struct {
	told    int // problems, each once more for every choice of forms that it is weighed in
	guesses int // of the name that was meant
}

// The message shows one problem and counts the others. The same input gets the same message, although these bounds cut.
const (
	maxTold    = 10_000
	maxGuesses = 10
)

func (r reader) exhausted() bool { return r.spent.told >= maxTold }

// mayGuess reports whether there is a guess left, and takes it.
func (r reader) mayGuess() bool {
	r.spent.guesses++
	return r.spent.guesses <= maxGuesses
}

// problems returns the problems in no order. Of several forms it describes the one that was probably meant.
func (r reader) problems(e *jsonschema.ValidationError) []problem {
	if r.exhausted() {
		return nil
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference, *kind.ContentSchema:
		return r.all(e)
	case *kind.AnyOf:
		return r.forms(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return r.forms(e)
		}
		return r.one(e, "several_forms_match", fmt.Sprintf("matches the allowed forms %d and %d, want exactly one",
			k.Subschemas[0]+1, k.Subschemas[1]+1))
	case *kind.Required:
		return r.missing(e, k.Missing, "")
	case *kind.DependentRequired:
		return r.missing(e, k.Missing, fmt.Sprintf(", required when %s is given", quote(k.Prop)))
	case *kind.Dependency:
		return r.missing(e, k.Missing, fmt.Sprintf(", required when %s is given", quote(k.Prop)))
	case *kind.AdditionalProperties:
		return r.unknown(e, k.Properties)
	case *kind.FalseSchema:
		return r.forbidden(e)
	case *kind.PropertyNames:
		return r.badName(e, k.Property)
	case *kind.Type:
		return r.tell(r.wrongType(e, k))
	}
	code, text := describeValue(e.ErrorKind)
	return r.one(e, code, text)
}

// all sorts the problems by place, since the library visits members in no order and the bound on problems may cut some.
func (r reader) all(e *jsonschema.ValidationError) []problem {
	above := len(e.InstanceLocation)
	slices.SortStableFunc(e.Causes, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(comparePaths(a.InstanceLocation[min(above, len(a.InstanceLocation)):],
			b.InstanceLocation[min(above, len(b.InstanceLocation)):]), cmp.Compare(a.SchemaURL, b.SchemaURL))
	})
	var found []problem
	for _, cause := range e.Causes {
		found = append(found, r.problems(cause)...)
	}
	return found
}

func (r reader) tell(found ...problem) []problem {
	r.spent.told += len(found)
	return found
}

func (r reader) one(e *jsonschema.ValidationError, code, text string) []problem {
	p := problem{path: e.InstanceLocation, code: code, text: text}
	if k, ok := e.ErrorKind.(*kind.Enum); ok && r.mayGuess() {
		p.text += suggestChoice(k)
	}
	return r.tell(p)
}

// describeValue describes the constraint that a value of the right type breaks. It mentions sizes and counts of the
// value, never the value itself.
func describeValue(k jsonschema.ErrorKind) (code, text string) {
	switch k := k.(type) {
	case *kind.Enum:
		return "value_not_allowed", "want " + choices(k.Want)
	case *kind.Const:
		return "value_not_allowed", "want " + choices([]any{k.Want})
	case *kind.Not:
		return "value_not_allowed", "has a form that is not allowed"
	case *kind.Minimum:
		return "value_out_of_range", "want at least " + number(k.Want)
	case *kind.Maximum:
		return "value_out_of_range", "want at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "value_out_of_range", "want more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "value_out_of_range", "want less than " + number(k.Want)
	case *kind.MultipleOf:
		return "value_out_of_range", "want a multiple of " + number(k.Want)
	case *kind.Pattern:
		return "wrong_format", "want a string that matches " + quote(k.Want)
	case *kind.Format:
		return "wrong_format", "want a string of the format " + quote(k.Want)
	case *kind.UniqueItems:
		return "duplicate_item", fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "missing_item", "holds no item of the kind that it must hold"
	case *kind.MinContains:
		return "missing_item", fmt.Sprintf("holds %d items of the kind of which it must hold %d", len(k.Got), k.Want)
	case *kind.MaxContains:
		return "wrong_length", fmt.Sprintf("holds %d items of a kind of which it may hold %d", len(k.Got), k.Want)
	}
	return describeSize(k)
}

func describeSize(k jsonschema.ErrorKind) (code, text string) {
	size := func(got, want int, bound, unit string) (string, string) {
		return "wrong_length", fmt.Sprintf("has %d %s, want at %s %d", got, unit, bound, want)
	}
	switch k := k.(type) {
	case *kind.MinLength:
		return size(k.Got, k.Want, "least", "characters")
	case *kind.MaxLength:
		return size(k.Got, k.Want, "most", "characters")
	case *kind.MinItems:
		return size(k.Got, k.Want, "least", "items")
	case *kind.MaxItems:
		return size(k.Got, k.Want, "most", "items")
	case *kind.MinProperties:
		return size(k.Got, k.Want, "least", "fields")
	case *kind.MaxProperties:
		return size(k.Got, k.Want, "most", "fields")
	case *kind.AdditionalItems:
		return "wrong_length", fmt.Sprintf("has %d items too many", k.Count)
	}
	return "value_not_allowed", "does not satisfy the schema"
}

func (r reader) missing(e *jsonschema.ValidationError, names []string, when string) []problem {
	names = r.asMany(names)
	found := make([]problem, len(names))
	for i, name := range names {
		found[i] = missingField(e.InstanceLocation, name, when)
		found[i].owner = r.parts[e.SchemaURL]
	}
	return r.tell(found...)
}

// asMany returns the first of names, sorted, as many as the bound on problems leaves.
func (r reader) asMany(names []string) []string {
	names = slices.SortedFunc(slices.Values(names), compareNames)
	return names[:min(len(names), maxTold-r.spent.told)]
}

// missingField places the problem where the field belongs.
func missingField(path []string, name, when string) problem {
	return problem{path: below(path, name), code: "missing_field", unplaced: true,
		text: "missing required field " + quote(name) + when}
}

func (r reader) unknown(e *jsonschema.ValidationError, names []string) []problem {
	schema := r.parts[e.SchemaURL]
	names = r.asMany(names)
	found := make([]problem, len(names))
	for i, name := range names {
		p := problem{
			path: below(e.InstanceLocation, name), code: "unknown_field", unplaced: true,
			text: "unknown field " + quote(name), owner: schema,
		}
		if r.mayGuess() {
			p.meant = r.nearestField(name, e.InstanceLocation, schema)
		}
		if p.meant != "" {
			p.text += fmt.Sprintf(" — did you mean %s?", quote(p.meant))
		}
		found[i] = p
	}
	return r.tell(found...)
}

// forbidden describes a place where the schema allows nothing at all: most often a field that no part of it names.
func (r reader) forbidden(e *jsonschema.ValidationError) []problem {
	owner, _ := strings.CutSuffix(e.SchemaURL, "/unevaluatedProperties")
	if len(e.InstanceLocation) == 0 {
		return r.one(e, "value_not_allowed", "no input is allowed")
	}
	parent, name := e.InstanceLocation[:len(e.InstanceLocation)-1], e.InstanceLocation[len(e.InstanceLocation)-1]
	if _, isArray := lookup(r.input, parent).([]any); isArray {
		return r.one(e, "wrong_length", "is an item too many")
	}
	return r.unknown(&jsonschema.ValidationError{SchemaURL: owner, InstanceLocation: parent}, []string{name})
}

// badName places a bad field name at the top unless that is where it is: the library's place for it does not last, as
// it shares memory with the places that are visited later.
func (r reader) badName(e *jsonschema.ValidationError, name string) []problem {
	p := problem{code: "invalid_field_name", text: fmt.Sprintf("the field name %s is not allowed", quote(name))}
	if len(e.InstanceLocation) == 0 {
		p.path, p.unplaced = []string{name}, true
	}
	return r.tell(p)
}

func (r reader) wrongType(e *jsonschema.ValidationError, k *kind.Type) problem {
	return problem{path: e.InstanceLocation, code: "wrong_type", want: k.Want,
		text: fmt.Sprintf("got %s, want %s", typeName(lookup(r.input, e.InstanceLocation)), strings.Join(k.Want, " or "))}
}

func below(path []string, name string) []string { return append(slices.Clone(path), name) }

// lookup returns the value at path, or nil.
func lookup(v any, path []string) any {
	for _, name := range path {
		switch parent := v.(type) {
		case map[string]any:
			v = parent[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(parent) {
				return nil
			}
			v = parent[i]
		default:
			return nil
		}
	}
	return v
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	}
	return "object"
}

func number(r *big.Rat) string {
	if r.IsInt() && len(r.Num().String()) <= maxQuoted {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
