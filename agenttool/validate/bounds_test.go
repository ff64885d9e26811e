package validate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
	var links []string
	for i := range 300 {
		links = append(links, fmt.Sprintf(`"c%d":{"$ref":"#/$defs/c%d"}`, i, i+1))
	}
	var copies []string
	for i := range 50 {
		copies = append(copies, fmt.Sprintf(`"p%d":{"$ref":"#/allOf/%s0"}`, i, strings.Repeat("0", i)))
	}
	for _, tt := range []struct{ name, schema, code string }{
		{"not JSON", `{`, "schema_invalid"},
		{"nothing", ``, "schema_invalid"},
		{"no object", `[]`, "schema_invalid"},
		{"null", `null`, "schema_invalid"},
		{"a keyword of the wrong type", `{"required":"path"}`, "schema_invalid"},
		{"an unknown type", `{"type":"strnig"}`, "schema_invalid"},
		{"a keyword twice", `{"type":"object","type":"array"}`, "schema_invalid"},
		{"a pattern that is not RE2", `{"properties":{"a":{"pattern":"(?!x)"}}}`, "schema_invalid"},
		{"a reference to nothing", `{"$ref":"#/$defs/none"}`, "schema_invalid"},
		{"a bound that no arithmetic reaches", `{"minimum":1e99999999}`, "schema_invalid"},
		{"a file", `{"$ref":"file://` + file + `"}`, "schema_remote_ref"},
		{"a relative file", `{"$ref":"other.json"}`, "schema_remote_ref"},
		{"the network", `{"$ref":"http://127.0.0.1:1/schema.json"}`, "schema_remote_ref"},
		{"another language", `{"$schema":"https://example.com/mine"}`, "schema_remote_ref"},
		{"itself", `{"$ref":"#"}`, "schema_unbounded"},
		{"itself in two steps",
			`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}}}`,
			"schema_unbounded"},
		{"a long chain", `{"$ref":"#/$defs/c0","$defs":{` + strings.Join(links, ",") + `,"c300":{}}}`,
			"schema_unbounded"},
		{"a dynamic reference", `{"$dynamicAnchor":"x","properties":{"a":{"$dynamicRef":"#x"}}}`, "schema_not_supported"},
		{"too many bytes", `{"description":"` + strings.Repeat("x", 300_000) + `"}`, "schema_too_large"},
		{"too many values", `{"properties":{` + members(9_000, `"p%d":{}`) + `}}`, "schema_too_large"},
		{"too deep", strings.Repeat(`{"not":`, 100) + `{}` + strings.Repeat(`}`, 100), "schema_too_large"},
		{"a long name around many parts", `{"properties":{"` + strings.Repeat("x", 100_000) + `":{"properties":{` +
			members(7_000, `"p%d":{}`) + `}}}}`, "schema_too_large"},
		{"a long address around many parts", `{"$id":"http://127.0.0.1/` + strings.Repeat("x", 100_000) +
			`/","properties":{` + members(2_500, `"p%d":{"$ref":"#"}`) + `}}`, "schema_too_large"},
		{"one part in many ways", `{"allOf":[{"properties":{` + members(3_000, `"p%d":{}`) + `}}],"properties":{` +
			strings.Join(copies, ",") + `}}`, "schema_invalid"},
		{"a sign before an index", `{"properties":{"a":{"$ref":"#/allOf/%2B0"}},"allOf":[{}]}`, "schema_invalid"},
		{"a large pattern", `{"properties":{"a":{"pattern":"` + strings.Repeat("(a?b?){900}", 80) + `"}}}`,
			"schema_too_large"},
		{"many patterns", `{"properties":{` + members(50, `"p%d":{"pattern":"[a-z]{900}"}`) + `}}`, "schema_too_large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := computed(t)
			s, err := validate.Compile(json.RawMessage(tt.schema))
			e := failure(t, err)
			if e == nil || s != nil || e.Code != tt.code || e.Class != agenttool.CapabilityGap {
				t.Errorf("got %v %+v, want code %s", s, e, tt.code)
			}
			if e != nil && (len(e.Message) > 500 || strings.Contains(e.Message, "\n")) {
				t.Errorf("message %q", e.Message)
			}
			if took := computed(t) - start; took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Some schemas make a check exponential in the depth of the input. Such a check is refused, not begun.
func TestCheckIsBounded(t *testing.T) {
	nest := func(depth int, open, in, end string) string {
		return strings.Repeat(open, depth) + in + strings.Repeat(end, depth)
	}
	for _, tt := range []struct{ name, schema, input, code string }{
		{"doubles at every level", `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			nest(60, `{"a":`, `1`, `}`), "too_expensive"},
		{"doubles by a pattern", `{"properties":{"a":{"$ref":"#"}},"patternProperties":{"^a$":{"$ref":"#"}}}`,
			nest(60, `{"a":`, `1`, `}`), "too_expensive"},
		{"doubles in arrays",
			`{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"items":{"$ref":"#/$defs/x"},"contains":{"$ref":"#/$defs/x"}}}}`,
			`{"a":` + nest(60, `[`, `1`, `]`) + `}`, "too_expensive"},
		{"a long list of choices for each of many items", `{"properties":{"a":{"items":{"enum":[` + members(5_000,
			"%d") + `]}}}}`,
			`{"a":[` + members(50_000, "%d") + `]}`, "too_expensive"},
		{"a large pattern for a long text", `{"properties":{"a":{"pattern":"([a-z]?[b-y]?){400}$"}}}`,
			`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "too_expensive"},
		{"many required fields for each of many items", `{"properties":{"a":{"items":{"required":[` + members(5_000,
			`"f%d"`) + `]}}}}`,
			`{"a":[` + members(1_000, `{"x":%d}`) + `]}`, "too_expensive"},
		{"many fields that others require", `{"properties":{"a":{"items":{"dependentRequired":{"x":[` + members(5_000,
			`"f%d"`) + `]}}}}}`,
			`{"a":[` + members(1_000, `{"x":%d}`) + `]}`, "too_expensive"},
		{"equal items looked for many times", `{"properties":{"a":{"allOf":[` + members(1_000,
			`{"uniqueItems":true,"minItems":%d}`) + `]}}}`,
			`{"a":[` + members(50_000, "%d") + `]}`, "too_expensive"},
		{"large items compared each with each", `{"properties":{"a":{"allOf":[` + members(5,
			`{"uniqueItems":true,"minItems":%d}`) + `]}}}`,
			`{"a":[` + members(20, `[`+members(4_000, "%d")+`,%d]`) + `]}`, "too_expensive"},
		{"many fields looked through many times", `{"allOf":[` + members(500, `{"properties":{"p%d":{}}}`) + `]}`,
			`{` + members(30_000, `"f%d":1`) + `}`, "too_expensive"},
		{"many fields remembered many times", `{"unevaluatedProperties":true,"allOf":[` + members(100,
			`{"minProperties":%d}`) + `]}`,
			`{` + members(90_000, `"f%d":1`) + `}`, "too_expensive"},
		{"many items remembered many times", `{"properties":{"a":{"unevaluatedItems":true,"allOf":[` + members(1_000,
			`{"minItems":%d}`) + `]}}}`,
			`{"a":[` + members(90_000, `%d`) + `]}`, "too_expensive"},
		{"many small patterns for many names", `{"patternProperties":{` + members(2_000, `"a%d":{}`) + `}}`,
			`{` + members(50_000, `"f%d":1`) + `}`, "too_expensive"},
		{"a long text counted many times", `{"properties":{"a":{"allOf":[` + members(2_000, `{"maxLength":9%07d}`) + `]}}}`,
			`{"a":"` + strings.Repeat("x", 4<<20) + `"}`, "too_expensive"},
		{"a long text held to a format many times", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":
			{"a":{"allOf":[` + members(200, `{"format":"uri","title":"%d"}`) + `]}}}`,
			`{"a":"http://` + strings.Repeat("a/", 1<<18) + `"}`, "too_expensive"},
		{"far numbers divided many times", `{"properties":{"a":{"items":{"allOf":[` + members(30,
			`{"multipleOf":1e-9%02d}`) + `]}}}}`,
			`{"a":[` + members(50_000, `%de-997`) + `]}`, "too_expensive"},
		{"far numbers among far choices", `{"properties":{"a":{"items":{"enum":[` + members(1_000, `%de-997`) + `]}}}}`,
			`{"a":[` + members(300, `7%de-997`) + `]}`, "too_expensive"},
		{"large values compared many times", `{"properties":{"a":{"items":{"allOf":[` + members(500,
			`{"$ref":"#/$defs/r","title":"%d"}`) + `]}}},"$defs":{"r":{"const":[` + members(5_000, `%d`) + `,0]}}}`,
			`{"a":[` + members(10, `[`+members(5_000, `%d`)+`,%d]`) + `]}`, "too_expensive"},
		{"very many problems deep inside", `{"$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{"$ref":"#/$defs/x"},
			"b":{"items":{"allOf":[` + members(20, `{"type":"string","title":"%d"}`) + `]}}}}}}`,
			nest(120, `{"a":`, `{"b":[`+members(50_000, "%d")+`]}`, `}`), "too_expensive"},
		{"too deep", `{}`, nest(200, `{"a":`, `1`, `}`), "nested_too_deeply"},
		{"too deep in arrays", `{}`, `{"a":` + nest(200, `[`, ``, `]`) + `}`, "nested_too_deeply"},
		{"too many values", `{}`, `{"a":[` + members(200_000, "%d") + `]}`, "too_many_values"},
		{"an exponent that no arithmetic reaches", `{"properties":{"a":{"minimum":1}}}`, `{"a":1e9999999}`,
			"value_out_of_range"},
		{"a negative one", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1E-9999999}`, "value_out_of_range"},
		{"a very long number", `{"properties":{"a":{"type":"integer"}}}`, `{"a":` + strings.Repeat("9",
			100_000) + `}`, "value_out_of_range"},
		{"far numbers in a set", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[` + members(30,
			"%de9999999") + `]}`, "value_out_of_range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := computed(t)
			e := failure(t, compile(t, tt.schema).Check([]byte(tt.input)))
			if e == nil || e.Code != tt.code {
				t.Errorf("got %v, want code %s", e, tt.code)
			}
			if took := computed(t) - start; took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// What helps with a refusal is bounded as well: to tell the problems and the allowed fields, and to guess what was meant.
func TestRefusalIsBounded(t *testing.T) {
	var fan []string
	for i := range 45 {
		fan = append(fan, fmt.Sprintf(`"c%d":{"allOf":[{"$ref":"#/$defs/c%[2]d"},{"$ref":"#/$defs/c%[2]d"}]}`, i, i+1))
	}
	long := strings.Repeat("x", 50)
	const others = "(and 9999 other problems)"
	for _, tt := range []struct{ name, schema, input, code, want string }{
		{"fields that are reached in very many ways",
			`{"$ref":"#/$defs/c0","$defs":{` + strings.Join(fan, ",") + `,"c45":{"properties":{"a":{}}}}}`,
			`{"b":1,"b":2}`, "duplicate_field", "allowed fields: a"},
		{"many missing fields of many objects", `{"properties":{"a":{"items":{"required":[` + members(5_000, `"f%d"`) +
			`]}}}}`, `{"a":[` + members(200, `{"x":%d}`) + `]}`, "missing_field", others},
		{"many unknown fields and many that could be meant", `{"properties":{` + members(900, `"`+long+`%d":{}`) +
			`},"additionalProperties":false}`, `{` + members(15_000, `"`+long+`y%d":1`) + `}`, "unknown_field", others},
		{"many wrong choices of many", `{"properties":{"a":{"items":{"enum":[` + members(900, `"`+long+`%d"`) + `]}}}}`,
			`{"a":[` + members(1_500, `"`+long+`y%d"`) + `]}`, "value_not_allowed", "(and 1499 other problems)"},
		{"forms within forms", `{"$ref":"#/$defs/x","$defs":{"x":` + strings.Repeat(`{"anyOf":[`, 12) +
			`{"properties":{"a":{"$ref":"#/$defs/x"},"b":{"items":{"type":"string"}}}}` + strings.Repeat(`]}`, 12) + `}}`,
			strings.Repeat(`{"a":`, 60) + `{"b":[` + members(50_000, "%d") + `]}` + strings.Repeat(`}`, 60),
			"no_form_matches", "matches none of the 1 allowed forms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			start := computed(t)
			e := failure(t, compile(t, tt.schema).Check([]byte(tt.input)))
			if e == nil || e.Code != tt.code || !strings.Contains(e.Message+e.Hint, tt.want) || len(e.Message) > 3_000 {
				t.Errorf("got %.500v, want code %s and %q", e, tt.code, tt.want)
			}
			if took := computed(t) - start; took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Of more problems than are told, the first are told, with a guess: the library finds them in no order.
func TestManyProblemsAreToldTheSame(t *testing.T) {
	s := compile(t, `{"additionalProperties":{"additionalProperties":false,"properties":{"path":{}}}}`)
	input := []byte(`{` + members(12_000, `"%d":{"pth":1}`) + `}`)
	for range 3 {
		const want = `0: unknown field "pth" — did you mean "path"? (and 9999 other problems)`
		if e := failure(t, s.Check(input)); e == nil || e.Message != want || e.Pointer != "/0/pth" {
			t.Fatalf("got %+v, want %s", e, want)
		}
	}
}

// An input that is to be a pattern does not count among the patterns of the schema.
func TestPatternAsInput(t *testing.T) {
	s := compile(t, `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"regex"}}}`)
	for range 20 {
		if err := s.Check([]byte(`{"a":"[a-z]{900}[a-z]{900}"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if e := failure(t, s.Check([]byte(`{"a":"("}`))); e == nil || e.Code != "wrong_format" {
		t.Errorf("got %v, want wrong_format", e)
	}
}

// What tools really get is far below the bounds.
func TestOrdinaryInputIsNotExpensive(t *testing.T) {
	for _, tt := range []struct{ name, schema, input string }{
		{"many small numbers with an exponent", `{"properties":{"a":{"items":{"type":"number","minimum":-1}}}}`,
			`{"a":[` + members(50_000, `%de-12`) + `]}`},
		{"many small sets", `{"properties":{"a":{"items":{"items":{"type":"string"},"uniqueItems":true}}}}`,
			`{"a":[` + members(4_000, `[`+members(19, `"%d"`)+`,"x%d"]`) + `]}`},
		{"a large text", `{"required":["a"],"properties":{"a":{"type":"string","maxLength":90000000}}}`,
			`{"a":"` + strings.Repeat("x", 20<<20) + `"}`},
		{"many objects", `{"properties":{"a":{"items":{"type":"object","required":["path","id"],"additionalProperties":false,
			"properties":{"path":{"type":"string"},"id":{"type":"integer"},"kind":{"enum":["a","b","c"]}}}}}}`,
			`{"a":[` + members(20_000, `{"path":"p","id":%d,"kind":"c"}`) + `]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := compile(t, tt.schema).Check([]byte(tt.input)); err != nil {
				t.Error(err)
			}
		})
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
	for _, input := range []string{`{"path":"a"}`, `{}`, `[1,{"a":[]}]`, `{"path":"a","path":"b"}`, `{"a":1e99}`, `{"é\ud800":"\u0000"}`, `{"a":-0.0}`} {
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
			var obj map[string]any
			if err := json.Unmarshal(input, &obj); err != nil || obj == nil {
				t.Errorf("accepted what is no object: %v", err)
			}
			if countNames(input) != countMembers(obj) {
				t.Error("accepted a field given twice")
			}
		}
	})
}

// countNames counts the member names in the text of an object, repeated ones too.
func countNames(input []byte) int {
	dec := json.NewDecoder(strings.NewReader(string(input)))
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

// computed is the processor time that this process has used: a busy machine makes it no longer.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
