package validate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/agenttool/validate"
)

// members returns n members, one for each number, separated by commas.
func members(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

func TestCompileRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(file, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, schema string }{
		{"not JSON", `{`},
		{"nothing", ``},
		{"no object", `[]`},
		{"null", `null`},
		{"a keyword of the wrong type", `{"required":"path"}`},
		{"an unknown type", `{"type":"strnig"}`},
		{"a pattern that is not RE2", `{"properties":{"a":{"pattern":"(?!x)"}}}`},
		{"a reference to nothing", `{"$ref":"#/$defs/none"}`},
		{"a file", `{"$ref":"file://` + file + `"}`},
		{"a relative file", `{"$ref":"other.json"}`},
		{"the network", `{"$ref":"http://127.0.0.1:1/schema.json"}`},
		{"another language", `{"$schema":"https://example.com/mine"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := validate.Compile(json.RawMessage(tt.schema))
			e := failure(t, err)
			if e == nil || s != nil || e.Code != "schema_invalid" || e.Class != agenttool.CapabilityGap {
				t.Errorf("got %v %+v, want schema_invalid", s, e)
			}
		})
	}
}

func TestInputIsBounded(t *testing.T) {
	nest := func(depth int, open, in, end string) string {
		return strings.Repeat(open, depth) + in + strings.Repeat(end, depth)
	}
	for _, tt := range []struct{ name, schema, input, code string }{
		{"too deep", `{}`, nest(200, `{"a":`, `1`, `}`), "nested_too_deeply"},
		{"too deep in arrays", `{}`, `{"a":` + nest(200, `[`, ``, `]`) + `}`, "nested_too_deeply"},
		{"too many values", `{}`, `{"a":[` + members(200_000, "%d") + `]}`, "too_many_values"},
		{"an exponent that no arithmetic reaches", `{"properties":{"a":{"minimum":1}}}`, `{"a":1e9999999}`,
			"value_out_of_range"},
		{"a negative one", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1E-9999999}`, "value_out_of_range"},
		{"a very long number", `{"properties":{"a":{"type":"integer"}}}`, `{"a":` + strings.Repeat("9",
			100_000) + `}`, "value_out_of_range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if e := failure(t, compile(t, tt.schema).Check([]byte(tt.input))); e == nil || e.Code != tt.code {
				t.Errorf("got %v, want code %s", e, tt.code)
			}
		})
	}
}

// TestInputOfManyValuesIsNotBuilt: an input with millions of values costs no multiple of itself before it is refused.
func TestInputOfManyValuesIsNotBuilt(t *testing.T) {
	s := compile(t, `{}`)
	for _, tt := range []struct{ name, input string }{
		{"an array", `{"a":[` + strings.Repeat("0,", 4<<20) + `0]}`},
		{"arrays", `{"a":[` + strings.Repeat("[],", 3<<20) + `0]}`},
		{"an object", `{"a":{` + members(700_000, `"%d":0`) + `}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			e := failure(t, s.Check([]byte(tt.input)))
			runtime.ReadMemStats(&after)
			if e == nil || e.Code != "too_many_values" {
				t.Errorf("got %v", e)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
				t.Errorf("%d MiB were allocated for an input of %d", got>>20, len(tt.input)>>20)
			}
		})
	}
}

// Of more problems than are told, the first are told, with a guess: the library finds them in no order.
func TestManyProblemsAreReportedTheSame(t *testing.T) {
	s := compile(t, `{"additionalProperties":{"additionalProperties":false,"properties":{"path":{}}}}`)
	input := []byte(`{` + members(12_000, `"%d":{"pth":1}`) + `}`)
	for range 3 {
		const want = `0: unknown field "pth" — did you mean "path"? (and 9999 other problems)`
		if e := failure(t, s.Check(input)); e == nil || e.Message != want || e.Pointer != "/0/pth" {
			t.Fatalf("got %+v, want %s", e, want)
		}
	}
}

// A recursive schema that reaches each value once is as good as any other.
func TestRecursiveSchema(t *testing.T) {
	s := compile(t, `{"properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}},
		"additionalProperties":{"$ref":"#"}}`)
	input := strings.Repeat(`{"children":[`, 60) + `{"name":1}` + strings.Repeat(`]}`, 60)
	if e := failure(t, s.Check([]byte(input))); e == nil || e.Code != "wrong_type" || len(e.Message) > 200 {
		t.Errorf("got %v, want wrong_type", e)
	}
	if err := s.Check([]byte(strings.Replace(input, "1", `"x"`, 1))); err != nil {
		t.Error(err)
	}
}

// FuzzCheck holds Check to: no panic, an error that can be acted on, the same error twice, and a duplicate or something
// that is no object is never accepted.
func FuzzCheck(f *testing.F) {
	for _, input := range []string{`{"path":"a"}`, `{}`, `[1,{"a":[]}]`, `{"path":"a","path":"b"}`, `{"a":1e99}`, `{"é\ud800":"\u0000"}`, `{"a":-0.0}`, `{"":1e999}`} {
		f.Add([]byte(input))
	}
	s := compile(f, editSchema)
	open := compile(f, `{}`)
	f.Fuzz(func(t *testing.T, input []byte) {
		e := failure(t, s.Check(input))
		if e != nil && (e.Code == "" || e.Message == "" || e.Class != agenttool.SchemaValidationFailed) {
			t.Errorf("%+v", e)
		}
		if again := failure(t, s.Check(input)); (e == nil) != (again == nil) || (e != nil && e.Message != again.Message) {
			t.Errorf("%v, then %v", e, again)
		}
		if open.Check(input) == nil {
			dec := json.NewDecoder(bytes.NewReader(input))
			dec.UseNumber() // a number that no float64 holds is still a number
			var obj map[string]any
			if err := dec.Decode(&obj); err != nil || obj == nil {
				t.Errorf("accepted input that is not an object: %v", err)
			}
			if countNames(input) != countMembers(obj) {
				t.Error("accepted a field given twice")
			}
		}
	})
}

// countNames counts the member names in the text of an object, repeated ones too.
func countNames(input []byte) int {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	names := 0
	var inObject []bool
	isName := false
	for {
		token, err := dec.Token()
		if err != nil {
			return names
		}
		if d, ok := token.(json.Delim); ok {
			switch d {
			case '{', '[':
				inObject = append(inObject, d == '{')
				isName = d == '{'
			default:
				inObject = inObject[:len(inObject)-1]
				isName = len(inObject) > 0 && inObject[len(inObject)-1]
			}
			continue
		}
		if isName {
			names++
		}
		isName = len(inObject) > 0 && inObject[len(inObject)-1] && !isName
	}
}

func countMembers(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, m := range v {
			n += countMembers(m)
		}
	case []any:
		for _, m := range v {
			n += countMembers(m)
		}
	}
	return n
}
