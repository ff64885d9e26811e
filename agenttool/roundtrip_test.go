package agenttool_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/testdata/support/conform"
)

// objects are the 19 core objects of the standard, input_mutation and tool_search_result.
func objects() []any {
	return []any{
		&agenttool.Declaration{}, &agenttool.Interface{}, &agenttool.Surface{}, &agenttool.Namespace{},
		&agenttool.InputContract{}, &agenttool.OutputContract{}, &agenttool.ExecutionProfile{},
		&agenttool.PermissionProfile{},
		&agenttool.Decision{}, &agenttool.Hook{}, &agenttool.Invocation{}, &agenttool.SchedulerPolicy{},
		&agenttool.DeferredTool{}, &agenttool.Progress{}, &agenttool.Result{}, &agenttool.Persistence{},
		&agenttool.Error{},
		&agenttool.Event{}, &agenttool.ExternalMapping{}, &agenttool.InputMutation{}, &agenttool.SearchResult{},
	}
}

// fill gives every field of v a value that is not its zero.
func fill(v reflect.Value) {
	if !v.CanSet() || v.Type() == reflect.TypeFor[agenttool.Extra]() {
		return
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes([]byte(`{"raw":[1.0,9007199254740993]}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("<text> & é")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(9007199254740993) // no float64 holds it
	case reflect.Uint8:
		v.SetUint(uint64(agenttool.Yes))
	case reflect.Float64:
		v.SetFloat(33.25)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{"any": json.Number("9007199254740993")}))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"any": json.Number("9007199254740993")}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" { // else it is no part of the record
				fill(v.Field(i))
			}
		}
	}
}

// addUnknown puts a field that no version names into every object below v, save where toolhost's own facts are: the
// standard has no such records.
func addUnknown(v any, depth int) int {
	added := 0
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "facts" && name != "resource_locks" {
				added += addUnknown(member, depth+1)
			}
		}
		v[fmt.Sprintf("x_new_%d", depth)] = map[string]any{"deep": []any{json.Number("1e2"), nil, "<&>"}}
		added++
	case []any:
		for _, item := range v {
			added += addUnknown(item, depth+1)
		}
	}
	return added
}

func decode(t testing.TB, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return v
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := agenttool.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRoundTripKeepsUnknownFields(t *testing.T) {
	conform.Held(t, "AT-035", "AT-381")
	for _, object := range objects() {
		typ := reflect.TypeOf(object).Elem()
		t.Run(typ.Name(), func(t *testing.T) {
			fill(reflect.ValueOf(object).Elem())
			if inv, ok := object.(*agenttool.Invocation); ok {
				inv.ModelInput = json.RawMessage(`{"in":1}`)
			}
			want := decode(t, encode(t, object))
			fields := slices.DeleteFunc(reflect.VisibleFields(typ), func(f reflect.StructField) bool { return f.Anonymous || f.Tag.Get("json") == "-" })
			if known := len(want.(map[string]any)); known < len(fields)-2 {
				t.Fatalf("%d of %d fields were written", known, len(fields))
			}
			addUnknown(want, 0)
			again := reflect.New(typ).Interface()
			if err := json.Unmarshal(encode(t, want), again); err != nil {
				t.Fatal(err)
			}
			if got := decode(t, encode(t, again)); !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", encode(t, got), encode(t, want))
			}
		})
	}
}

// The bytes are the same each time, with unknown fields in name order.
func TestEncodingIsDeterministic(t *testing.T) {
	for _, object := range objects() {
		v := reflect.ValueOf(object).Elem()
		fill(v)
		extra := agenttool.Extra{}
		for i := range 20 {
			extra[fmt.Sprintf("x%02d", i)] = json.RawMessage("1")
		}
		v.FieldByName("Extra").Set(reflect.ValueOf(extra))
		want := encode(t, object)
		for range 20 {
			if got := encode(t, object); !bytes.Equal(got, want) {
				t.Fatalf("%T: got  %s\nwant %s", object, got, want)
			}
		}
		if i, j := bytes.Index(want, []byte(`"x00"`)), bytes.Index(want, []byte(`"x19"`)); i < 0 || j < i {
			t.Errorf("%T: unknown fields out of order: %s", object, want)
		}
	}
}

// Go's decoder takes "Status" for "status"; the standard does not.
func TestNamesMatchExactly(t *testing.T) {
	for _, tt := range []struct {
		name, json, kept string
		into             any
		zero             func(any) bool
	}{
		{"invocation", `{"Status":"running"}`, `"Status":`, &agenttool.Invocation{},
			func(v any) bool { return v.(*agenttool.Invocation).Status == "" }},
		{"result", `{"IS_ERROR":true}`, `"IS_ERROR":`, &agenttool.Result{},
			func(v any) bool { return !v.(*agenttool.Result).IsError }},
		{"decision", `{"Behavior":"allow"}`, `"Behavior":`, &agenttool.Decision{},
			func(v any) bool { return v.(*agenttool.Decision).Behavior == "" }},
		{"event", `{"Event_Type":"tool.declared"}`, `"Event_Type":`, &agenttool.Event{},
			func(v any) bool { return v.(*agenttool.Event).EventType == "" }},
		{"nested", `{"status_transitions":[{"Status":"running"}]}`, `"Status":`, &agenttool.Invocation{},
			func(v any) bool { return v.(*agenttool.Invocation).StatusTransitions[0].Status == "" }},
		{"model input", `{"Model_Input":{}}`, `"Model_Input":`, &agenttool.Invocation{},
			func(v any) bool { return v.(*agenttool.Invocation).ModelInput == nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tt.json), tt.into); err != nil {
				t.Fatal(err)
			}
			if !tt.zero(tt.into) {
				t.Errorf("%s set a field", tt.json)
			}
			if got := encode(t, tt.into); !strings.Contains(string(got), tt.kept) {
				t.Errorf("%s was not kept: %s", tt.kept, got)
			}
		})
	}
}

// An unknown field that bears the name of a known one is never written: the object would have that name twice.
func TestExtraDoesNotShadow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		record func(agenttool.Extra) any
	}{
		{"schema_version", func(x agenttool.Extra) any { return agenttool.Result{Extra: x} }},
		{"status", func(x agenttool.Extra) any { return agenttool.Result{Extra: x} }},
		{"status", func(x agenttool.Extra) any { return []any{agenttool.Transition{Extra: x}} }},
		{"event_type", func(x agenttool.Extra) any { return agenttool.Event{Extra: x} }},
		{"data", func(x agenttool.Extra) any { return &agenttool.Event{Extra: x, Data: json.RawMessage(`{"a":1,"a":2}`)} }},
		{"phases", func(x agenttool.Extra) any { return agenttool.Invocation{Extra: x} }},
		{"model_input", func(x agenttool.Extra) any { return agenttool.Invocation{Extra: x} }},
	} {
		if b, err := agenttool.Encode(tt.record(agenttool.Extra{tt.name: json.RawMessage(`"x"`)})); err == nil {
			t.Errorf("%s stands in %s", tt.name, b)
		}
		other := encode(t, tt.record(agenttool.Extra{"x_" + tt.name: json.RawMessage(`{"b":1,"b":2}`), "empty": nil}))
		if !bytes.Contains(other, []byte(`"empty":null,"x_`+tt.name+`":{"b":1,"b":2}`)) {
			t.Errorf("another name: %s", other)
		}
	}
}

func TestModelInputIsKeptByteForByte(t *testing.T) {
	for _, input := range []string{
		`{ "path" :  "a" }`, "{\"path\":\t\"<&>\"}", `{"n": 1.0, "m": 1e2, "big": 12345678901234567890}`,
		`{"é":"\u00e9\/"}`, `[ ]`, `" "`, `null`,
	} {
		var inv agenttool.Invocation
		if err := json.Unmarshal([]byte(`{"status":"planned","model_input":`+input+`}`), &inv); err != nil {
			t.Fatal(err)
		}
		if string(inv.ModelInput) != input {
			t.Errorf("read %s as %s", input, inv.ModelInput)
		}
		b, err := inv.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte(`"model_input":`+input)) {
			t.Errorf("%s became %s", input, b)
		}
		if len(inv.Extra) != 0 {
			t.Errorf("the input is also an unknown field: %v", inv.Extra)
		}
	}
}

// A list that is always written is a list even when it is empty; the published schema refuses null.
func TestEmptyListsAreNotNull(t *testing.T) {
	for _, tt := range []struct {
		record any
		want   string
	}{
		{agenttool.Result{}, `"content":[]`}, {agenttool.SearchResult{}, `"matches":[]`},
		{agenttool.SuggestedUpdate{}, `"rules":[]`},
	} {
		if b := encode(t, tt.record); !bytes.Contains(b, []byte(tt.want)) {
			t.Errorf("%T: want %s in %s", tt.record, tt.want, b)
		}
	}
}

// What a record says is valid UTF-8 whatever bytes it was given.
func TestInvalidUTF8IsReplaced(t *testing.T) {
	const broken = "a\xff\xc0b"
	for _, record := range []any{
		agenttool.Result{Summary: broken, Content: []agenttool.Content{agenttool.Text(broken)}},
		agenttool.Event{Source: broken, Extra: agenttool.Extra{broken: json.RawMessage("1")}},
		agenttool.Transition{Reason: broken}, agenttool.PhaseTiming{Outcome: broken},
		*agenttool.Failure(agenttool.Timeout, "x", broken),
	} {
		b := encode(t, record)
		if !json.Valid(b) || bytes.Contains(b, []byte{0xff}) || !bytes.Contains(b, []byte("a\ufffd\ufffdb")) && !bytes.Contains(b, []byte(`a\ufffd\ufffdb`)) {
			t.Errorf("%T: %q", record, b)
		}
	}
}

// TestPhasesSayTheirStartOnce: the start of a phase is left out where it is that of the phase before, and is there again when the record is read.
func TestPhasesSayTheirStartOnce(t *testing.T) {
	const first, second = "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.679Z"
	inv := agenttool.Invocation{Phases: []agenttool.PhaseTiming{{Phase: "a", StartedAt: first}, {Phase: "b", StartedAt: first}, {Phase: "c", StartedAt: first}, {Phase: "d", StartedAt: second}, {Phase: "e", StartedAt: first}}}
	record := encode(t, inv)
	if n, m := bytes.Count(record, []byte(first)), bytes.Count(record, []byte(second)); n != 2 || m != 1 {
		t.Errorf("%s", record)
	}
	var read agenttool.Invocation
	if err := json.Unmarshal(record, &read); err != nil || !slices.Equal(starts(read), []string{first, first, first, second, first}) || !slices.Equal(starts(inv), starts(read)) {
		t.Errorf("%+v, %v", read.Phases, err)
	}
}

func starts(inv agenttool.Invocation) (all []string) {
	for _, p := range inv.Phases {
		all = append(all, p.StartedAt)
	}
	return all
}

// The records that are written by hand are equal to those by reflection.
func TestTimelineEqualsReflection(t *testing.T) {
	extra := agenttool.Extra{"x": json.RawMessage("1"), "a": nil}
	for _, tr := range []agenttool.Transition{{}, {Status: "s", At: "t"}, {Status: "<", At: "\"", Reason: "\n\u2028é", Extra: extra}} {
		got := encode(t, agenttool.Invocation{StatusTransitions: []agenttool.Transition{tr, tr}})
		if want := fmt.Sprintf(`"status_transitions":[%s,%[1]s]}`, encode(t, tr)); !strings.HasSuffix(string(got), want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, p := range []agenttool.PhaseTiming{{}, {Phase: "p", DurationUS: 1}, {Phase: "p", StartedAt: "t", DurationUS: -1}, {Outcome: "\x00<", Extra: extra}} {
		got := encode(t, agenttool.Invocation{Phases: []agenttool.PhaseTiming{p}})
		if want := fmt.Sprintf(`"phases":[%s]}`, encode(t, p)); !strings.HasSuffix(string(got), want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
