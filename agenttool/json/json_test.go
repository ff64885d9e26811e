package json_test

import (
	"bytes"
	std "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"toolhost/agenttool/json"
)

type record struct {
	Name  string                     `json:"name"`
	Any   any                        `json:"any,omitempty"`
	Size  int                        `json:"size,omitempty"`
	Extra map[string]json.RawMessage `json:",embed"`
}

func TestUnmarshal(t *testing.T) {
	for _, tt := range []struct {
		name, text, want string // as it is written again; "": an error
	}{
		{"names match exactly", `{"Name":"a","name":"b","NAME":"c"}`, `{"name":"b","NAME":"c","Name":"a"}`},
		{"unknown members are kept", `{"x":{"b":1.0, "a":[]},"name":"a"}`, `{"name":"a","x":{"b":1.0,"a":[]}}`},
		{"numbers stay as they are spelt", `{"name":"","any":[9007199254740993,1e2,1.0]}`, `{"name":"","any":[9007199254740993,1e2,1.0]}`},
		{"the last one counts", `{"name":"a","name":"b"}`, `{"name":"b"}`},
		{"null changes nothing", `{"name":null,"size":null}`, `{"name":""}`},
		{"half a surrogate pair", `{"name":"\ud800"}`, `{"name":"` + "\uFFFD" + `"}`},
		{"separators", `{"name":"<&>` + "\u2028" + `"}`, `{"name":"<&>\u2028"}`},
		{"another type", `{"name":1}`, ``},
		{"no JSON", `{"name":"a"`, ``},
		{"two values", `{} {}`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r record
			if err := json.Unmarshal([]byte(tt.text), &r); err != nil {
				if tt.want != "" {
					t.Fatal(err)
				}
				return
			}
			if got, err := json.Encode(r); err != nil || string(got) != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

// A kept member that bears the name of a field is not written, not even beside a text with a name that comes twice.
func TestKeptMembers(t *testing.T) {
	raw := json.RawMessage(`{"a":1,"a":2}`)
	for kept, want := range map[string]string{"x": `{"name":"","any":{"a":1,"a":2},"x":1}`, "name": ""} {
		got, err := json.Encode(record{Any: raw, Extra: map[string]json.RawMessage{kept: json.RawMessage("1")}})
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %s, %v", kept, got, err)
		}
	}
}

// A string is no number, not even for a reader that takes one of them only: it would be written without its quotes.
func TestNumber(t *testing.T) {
	for text, want := range map[string]string{`1e400`: `1e400`, `-0`: `-0`, `null`: `7`, `"12"`: ``, `"{\"a\":1}"`: ``, `""`: ``, `{}`: ``} {
		v := struct{ N json.Number }{"7"}
		err := json.Unmarshal([]byte(`{"N":`+text+`}`), &v)
		if (err == nil) != (want != "") || err == nil && string(v.N) != want {
			t.Errorf("%s: %q, %v", text, v.N, err)
		}
	}
}

func TestUnmarshalKnown(t *testing.T) {
	var known struct {
		Name string `json:"name"`
	}
	if err := json.UnmarshalKnown([]byte(`{"name":"a"}`), &known); err != nil || known.Name != "a" {
		t.Errorf("%q, %v", known.Name, err)
	}
	if err := json.UnmarshalKnown([]byte(`{"Name":"b"}`), &known); err == nil || err.Error() != `json: unknown field "Name"` {
		t.Errorf("error %v", err)
	}
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]string // with values as they are spelt
		wantErr    string
	}{
		{"as they are spelt", " {\"a\" : [1.0 ,{} ], \"b\":\"\\u0041\"}\n", map[string]string{"a": "[1.0 ,{} ]", "b": `"\u0041"`}, ""},
		{"none", `{}`, map[string]string{}, ""},
		{"twice at the top", `{"a":1,"b":2,"a":3}`, map[string]string{"a": "3", "b": "2"}, `"a" comes twice in one object`},
		{"twice by an escape", `{"a":1,"\u0061":3}`, map[string]string{"a": "3"}, `"a" comes twice in one object`},
		{"twice below", `{"a":[0,{"x/y":1,"x/y":2}]}`, map[string]string{"a": `[0,{"x/y":1,"x/y":2}]`}, `"x/y" comes twice in one object`},
		{"twice below, and at the top", `{"a":{"c":1,"c":2},"b":1,"\u0062":2}`, map[string]string{"a": `{"c":1,"c":2}`, "b": "2"}, `"b" comes twice in one object`},
		{"in two objects", `{"a":{"a":1},"b":{"a":1}}`, map[string]string{"a": `{"a":1}`, "b": `{"a":1}`}, ""},
		{"not to its end", `{"a":1,"a":2`, nil, "unexpected end of JSON input"},
		{"more behind it", `{"a":1} 1`, nil, "invalid character '1' after top-level value"},
		{"empty", ` `, nil, "unexpected end of JSON input"},
		{"null", ` null`, nil, "the text is JSON, but no object"},
		{"array", `[{"a":1,"a":2}]`, nil, "the text is JSON, but no object"},
		{"not UTF-8", "{\"a\":\"\xff\"}", nil, "the text is not UTF-8"},
		{"half a surrogate pair", `{"a":"\ud800"}`, map[string]string{"a": `"\ud800"`}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			members, err := json.Members([]byte(tt.text))
			if got := text(err); got != tt.wantErr {
				t.Errorf("error %q, want %q", got, tt.wantErr)
			}
			if len(members) != len(tt.want) {
				t.Errorf("got %s, want %s", members, tt.want)
			}
			for name, value := range tt.want {
				if string(members[name]) != value {
					t.Errorf("%s: got %s, want %s", name, members[name], value)
				}
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestValue(t *testing.T) {
	deep := errors.New("too deep")
	for text, want := range map[string]struct {
		value any
		err   string
	}{
		`{"a":1.50,"b":[null,true,"c"]}`: {map[string]any{"a": json.Number("1.50"), "b": []any{nil, true, "c"}}, ""},
		`{"a":{"b":1,"b":2}}`:            {nil, `"b" comes twice in one object`},
		`{"a":{"b":1,"b":2}`:             {nil, "unexpected end of JSON input"},
		"\"\xff\"":                       {nil, "the text is not UTF-8"},
		`[0,{"a":[1]}]`:                  {nil, "too deep [1 a 0]"},
		`[0,{"a":[1]}`:                   {nil, "unexpected end of JSON input"},
	} {
		v, err := json.Value([]byte(text), func(depth int, n json.Number) error {
			if depth == 3 {
				return deep
			}
			return nil
		})
		got := ""
		if err != nil {
			got = err.Error()
		}
		if at, ok := errors.AsType[*json.PlacedError](err); ok {
			got += fmt.Sprint(" ", at.Path)
		}
		if got != want.err || err == nil && !reflect.DeepEqual(v, want.value) {
			t.Errorf("%s: got %v, %q; want %v, %q", text, v, got, want.value, want.err)
		}
	}
}

func TestRepeated(t *testing.T) {
	for text, want := range map[string][]string{
		`{"a":{"b":[1,{"c~/d":1,"x":{},"c~/d":2}]}}`: {"a", "b", "1", "c~/d"},
		`{"a":1,"a":2}`:                      {"a"},
		`[{"a":1},{"a":1}]`:                  nil,
		`"a"`:                                nil,
		`{"":1,"":2}`:                        {""},
		`{"\ud800":1,"\udfff":2}`:            {"\uFFFD"}, // readers that replace both read the same name
		`{"x":"{\"a\":1,\"a\":2}","y":[[]]}`: nil,
	} {
		twice := json.Repeated([]byte(text))
		if (twice == nil) != (want == nil) || twice != nil && !reflect.DeepEqual(twice.Path, want) {
			t.Errorf("%s: got %v, want %v", text, twice, want)
		}
	}
}

func TestExact(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":"é\ud83d\ude00"}`: true, `"\ud83d"`: false, `"\ude00\ud83d"`: false, `"\\ud83d"`: true, "\"\xff\"": false, `{"a":1,"a":1}`: false, `{`: false,
	} {
		if got := json.Exact([]byte(text)); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

// A text is read as encoding/json reads it, and its members are those that encoding/json finds.
func FuzzUnmarshal(f *testing.F) {
	const deepest = 10_000 // as encoding/json has it
	for _, seed := range []string{
		`{"a":[1.50,-0,true,null,"\u00e9\ud800\n"],"b":{"a":{}}}`, `{"a":1,"a":{"b":2}}`, ` [ ] `, `1e400`, `{"a":}`, "\"\x7f\xff\"", `{"é":0`,
		`{}`, `[]`, `{"a":[1,-0.5e+3,0,"x\n\u00e9\\",true,false,null,{"b":{}}]}`, ` { "a" : 1 } `, `{"a"}`, `{,}`, `[1,]`, `01`, `-`, `1.`, `1e`, `"a`, `"\x"`, `"\u12"`,
		"\"\x01\"", "\"\xff\"", `tru`, `nullx`, ``, ` `, `1 2`, `{"a":1}}`, `[[[[`, `"\ud800"`, "\"\x7f\"", `+1`, `.5`, `1E-2`, `{"a":1,"a":2}`, "\u00a0{}", "{}\x00",
		strings.Repeat("[", deepest) + strings.Repeat("]", deepest), strings.Repeat("[", deepest+1) + strings.Repeat("]", deepest+1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want, got any
		d := std.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		valid := std.Valid(text)
		if err := json.Unmarshal(text, &got); (err == nil) != valid {
			t.Fatalf("error %v, and it is valid: %v", err, valid)
		}
		if json.Valid(text) != valid {
			t.Errorf("valid: %v", !valid)
		}
		members, err := json.Members(text)
		if !valid {
			if err == nil || members != nil {
				t.Errorf("no JSON, with the members %s", members)
			}
			return
		}
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %#v, want %#v, %v", got, want, err)
		}
		if json.Exact(text) && !errors.Is(err, json.ErrNoObject) && err != nil {
			t.Errorf("it is exact, and its members are refused: %v", err)
		}
		var expected map[string]std.RawMessage
		if _, is := want.(map[string]any); !is || errors.Is(err, json.ErrUTF8) {
			return
		}
		if err := std.Unmarshal(text, &expected); err != nil || !reflect.DeepEqual(members, expected) {
			t.Errorf("got %s, want %s, %v", members, expected, err)
		}
		if twice := json.Repeated(text); (twice != nil) != (err != nil) {
			t.Errorf("repeated: %v, and the error of the members is %v", twice, err)
		}
	})
}

// A text is written as encoding/json writes it, but for characters that are not UTF-8: those are written, not escaped.
func FuzzMarshal(f *testing.F) {
	f.Add("a<b>&\u2028\x00\x1f\x7f\"\\/é😀", 1.5e-9)
	f.Add("\b\f\n\r\t", 1e21)
	f.Fuzz(func(t *testing.T, s string, n float64) {
		v := map[string]any{"s": strings.ToValidUTF8(s, "?"), strings.ToValidUTF8(s, "?"): []any{n, nil, []int(nil), map[string]int(nil), struct{}{}}}
		want, wantErr := std.Marshal(v)
		got, err := json.Marshal(v)
		if (err == nil) != (wantErr == nil) || !bytes.Equal(got, want) {
			t.Errorf("got  %s, %v\nwant %s, %v", got, err, want, wantErr)
		}
		var plain bytes.Buffer
		e := std.NewEncoder(&plain)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		if got, err := json.Encode(v); err == nil && string(got)+"\n" != plain.String() {
			t.Errorf("got  %s\nwant %s", got, plain.String())
		}
	})
}
