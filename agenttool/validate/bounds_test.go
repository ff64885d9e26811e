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
			if took := computed(t) - start; took > 3*time.Second {
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
			if took := computed(t) - start; took > 3*time.Second {
				t.Errorf("took %v", took)
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
