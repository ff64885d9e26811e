package enter

import (
	"reflect"
	"testing"
)

// A plan that was encoded is read as it was, and nothing else is taken for one.
func FuzzPlan(f *testing.F) {
	f.Add("hold", "/a", "1", []byte{1, 0, 0, 0})
	f.Add("", "", "\x00\n", []byte{255, 255, 255, 127})
	f.Fuzz(func(t *testing.T, op, a, b string, other []byte) {
		var p Plan
		p.Add(Op(op), a, b)
		p.Add(ReadOnly)
		p.Add(Op(b), op)
		encoded := p.Encode()
		for i := range p {
			if p[i].Args == nil {
				p[i].Args = []string{}
			}
		}
		if got, ok := Decode(encoded); !ok || !reflect.DeepEqual(got, p) {
			t.Errorf("%q, %v", got, ok)
		}
		for cut := range len(encoded) {
			if got, ok := Decode(encoded[:cut]); ok && len(got) == len(p) {
				t.Errorf("cut at %d: %q", cut, got)
			}
		}
		if got, ok := Decode(other); ok && string(got.Encode()) != string(other) {
			t.Errorf("%q is read as %q", other, got)
		}
	})
}
