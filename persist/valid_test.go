package persist

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzValidJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"a":[1,-0.5e+3,0,"x\n\u00e9\\",true,false,null,{"b":{}}]}`, ` { "a" : 1 } `, `{"a":}`, `{"a"}`, `{,}`, `[1,]`, `01`, `-`, `1.`, `1e`, `"a`, `"\x"`, `"\u12"`,
		"\"\x01\"", "\"\xff\"", `tru`, `nullx`, ``, ` `, `1 2`, `{"a":1}}`, `[[[[`, `"\ud800"`, "\"\x7f\"", `+1`, `.5`, `1E-2`, `{"a":1,"a":2}`, "\u00a0{}", "{}\x00",
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := validJSON(b), json.Valid(b); got != want {
			t.Errorf("%.200q: %v, json.Valid says %v", b, got, want)
		}
	})
}
