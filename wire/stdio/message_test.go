package stdio

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, line string
		code       int    // 0: a message
		id         string // as it will be answered
		method     string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`, 0, "1", "m"},
		{"string id", `{"jsonrpc":"2.0","id":"x","method":"m"}`, 0, `"x"`, "m"},
		{"negative id", `{"jsonrpc":"2.0","id":-7,"method":"m"}`, 0, "-7", "m"},
		{"largest id", `{"jsonrpc":"2.0","id":9007199254740992,"method":"m"}`, 0, "9007199254740992", "m"},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, 0, "", "m"},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, 0, "1", ""},
		{"spread out", " { \"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"method\" : \"m\" } ", 0, "1", "m"},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"m","x":{"y":[1,{"z":null}]}}`, 0, "1", "m"},
		{"equal keys in different objects", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"k":1},"b":{"k":2}}}`, 0, "1", "m"},

		{"half a message", `{"jsonrpc":"2.0","id":1`, CodeParse, "", ""},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"m"}{}`, CodeParse, "", ""},
		{"binary", "\x00\xff", CodeParse, "", ""},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", CodeParse, "", ""},
		{"array", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, CodeInvalidRequest, "", ""},
		{"number", `17`, CodeInvalidRequest, "", ""},
		{"no version", `{"id":1,"method":"m"}`, CodeInvalidRequest, "1", ""},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, CodeInvalidRequest, "1", ""},
		{"no method", `{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest, "1", ""},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, CodeInvalidRequest, "1", ""},
		{"method is null", `{"jsonrpc":"2.0","id":1,"method":null}`, CodeInvalidRequest, "1", ""},
		{"method in another case", `{"jsonrpc":"2.0","id":1,"Method":"m"}`, CodeInvalidRequest, "1", ""},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, CodeInvalidRequest, "", ""},
		{"fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, CodeInvalidRequest, "", ""},
		{"huge id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, CodeInvalidRequest, "", ""},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"m"}`, CodeInvalidRequest, "", ""},
		{"null params", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, CodeInvalidParams, "1", ""},
		{"string params", `{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, CodeInvalidParams, "1", ""},
		{"key twice", `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, CodeInvalidRequest, "1", ""},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, CodeInvalidRequest, "", ""},
		{"key twice, far inside", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":2}]}}`, CodeInvalidRequest, "1", ""},
		{"key twice, spelled in two ways", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"\u0061":2}}`, CodeInvalidRequest, "1", ""},
		{"key twice among many", `{"jsonrpc":"2.0","id":1,"method":"m","params":{` + manyKeys(100) + `,"k7":0}}`, CodeInvalidRequest, "1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode([]byte(c.line))
			code := 0
			if err != nil {
				code = err.Code
			}
			if code != c.code || string(m.ID) != c.id || err == nil && m.Method != c.method {
				t.Errorf("code %d, id %q, method %q (%v); want %d, %q, %q", code, m.ID, m.Method, err, c.code, c.id, c.method)
			}
		})
	}
}

func manyKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, `"k`+string(rune('0'+i%10))+strings.Repeat("x", i/10)+`":0`)
	}
	return strings.Join(keys, ",")
}

// FuzzDecode: what is accepted is valid JSON with one reading: every member that Decode sees is the one that
// encoding/json sees, and no object holds a key twice.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,{"b":"\"}"}]}}`, `[]`, `{"a":1,"a":2}`, `{"jsonrpc":"2.0","id":"\u0000","method":"\\"}`,
		`{"jsonrpc":"2.0","id":1e3,"method":"m"}`, "\xff", `{"":{"":0}}`, ` {"jsonrpc" : "2.0","method":"x"} `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := Decode(line)
		if err != nil {
			return
		}
		var whole struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(line, &members) != nil {
			t.Fatalf("accepted %q", line)
		}
		_ = json.Unmarshal(members["method"], &whole.Method)
		if m.Method != whole.Method || !bytes.Equal(m.ID, members["id"]) || !bytes.Equal(m.Params, members["params"]) {
			t.Errorf("%q: read as %+v, %s", line, m, members)
		}
		if again := reencode(t, line); again != count(line) {
			t.Errorf("%q holds %d values of which %d are read", line, count(line), again)
		}
	})
}

// reencode returns how many values are left when the line is decoded and encoded: a key that came twice is lost.
func reencode(t *testing.T, line []byte) int {
	var v any
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return count(out)
}

// count returns the number of tokens in valid JSON.
func count(line []byte) int {
	dec, n := json.NewDecoder(bytes.NewReader(line)), 0
	dec.UseNumber()
	for {
		if _, err := dec.Token(); err != nil {
			return n
		}
		n++
	}
}

func BenchmarkDecode(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":17,"method":"agenttool/invoke","params":{"id":"c17","tool":"read","input":{"path":"some/file.go","offset":1}}}`)
	for b.Loop() {
		if _, err := Decode(line); err != nil {
			b.Fatal(err)
		}
	}
}
