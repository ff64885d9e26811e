package encoding_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"toolhost/tools/encoding"
)

// TestReplaceCutsNoCharacter replaces a byte that is a letter in one encoding and a part of a character in another.
func TestReplaceCutsNoCharacter(t *testing.T) {
	for _, tt := range []struct {
		name, content, old, new string
		want                    string
		cut                     encoding.Encoding // Binary: none
		newText                 bool
	}{
		{name: "Shift-JIS", content: "int x;\n// \x83\x5c\n", old: "int", new: "var", want: "var x;\n// \x83\x5c\n"},
		{name: "shown as Western", content: "\xe9a \x93f\x94\n", old: "\u201cf", new: "g", want: "\xe9a g\x94\n"},
		{name: "maybe GBK", content: "f\xfcr\n", old: "ü", new: "ue", cut: encoding.ShiftJIS},
		{name: "maybe GBK, whole", content: "f\xfcr\n", old: "ür", new: "uer", want: "fuer\n"},
		{name: "nothing else", content: "caf\xe9\n", old: "é", new: "è", want: "caf\xe8\n"},
		{name: "new text is half a character elsewhere", content: "f\xfcr so\n", old: "so", new: "sö", cut: encoding.GBK, newText: true},
		{name: "UTF-16", content: "\xff\xfea\x00=\xd8\x00\xdeb\x00", old: "😀", new: "é", want: "\xff\xfea\x00\xe9\x00b\x00"},
		{name: "two bytes for one character", content: "\xfa\x54 \xca\x83\x5c\n", old: " ", new: "", want: "\xfa\x54\xca\x83\x5c\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := encoding.Recognise([]byte(tt.content))
			text, _ := found.Text([]byte(tt.content))
			at := strings.Index(string(text), tt.old)
			if at < 0 {
				t.Fatalf("%q is not in %q", tt.old, text)
			}
			got, err := found.Replace([]byte(tt.content), []encoding.Change{{Start: at, End: at + len(tt.old), Text: tt.new}})
			cut, isCut := errors.AsType[*encoding.CutError](err)
			switch {
			case tt.cut == encoding.Binary && (err != nil || string(got) != tt.want):
				t.Errorf("% x, %v, of %v", got, err, found)
			case tt.cut != encoding.Binary && (!isCut || cut.NewText != tt.newText):
				t.Errorf("% x, %v, of %v", got, err, found)
			}
		})
	}
}

// TestReplaceInLongLines replaces characters far from any byte below 0x30, and between others, in each encoding.
func TestReplaceInLongLines(t *testing.T) {
	for _, e := range legacy {
		r := rand.New(rand.NewPCG(uint64(e), 1))
		var raw []byte
		var characters []int // where they begin
		for len(raw) < 60_000 {
			characters = append(characters, len(raw))
			if r.IntN(3000) == 0 {
				raw = append(raw, ' ')
				continue
			}
			raw = append(raw, randomCharacter(r, e)...)
		}
		var changes []encoding.Change
		var want []byte
		copied := 0
		for at := r.IntN(500); at < len(characters)-1; at += 1 + r.IntN(9000) {
			start, end := characters[at], characters[at+1]
			before, _ := e.Decode(raw[:start])
			length := len(before)
			text, _ := e.Decode(raw[start:end])
			changes = append(changes, encoding.Change{Start: length, End: length + len(text), Text: "x"})
			want = append(append(want, raw[copied:start]...), 'x')
			copied = end
		}
		want = append(want, raw[copied:]...)
		got, err := encoding.Recognition{Encoding: e, Decoding: []encoding.Encoding{encoding.Windows1252, e}}.Replace(raw, changes)
		if err != nil || !bytes.Equal(got, want) || len(changes) < 3 {
			t.Errorf("%s: %d changes, %v", e, len(changes), err)
		}
	}
}
