package index

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"toolhost/tools/search/literal"
)

func TestQuery(t *testing.T) {
	texts := []string{"Alpha beta", "beta gamma", "GAMMA delta", "d\xff\xfe\xfd", "größe", "ab"}
	for _, test := range []struct {
		name  string
		query []literal.Clause
		want  string // the texts that are found; "all" when the query selects nothing
	}{
		{"one", []literal.Clause{clause(false, "beta")}, "01"},
		{"either case", []literal.Clause{clause(true, "GaMMa")}, "12"},
		{"case does not count for the index", []literal.Clause{clause(false, "gamma")}, "12"},
		{"or", []literal.Clause{clause(false, "Alpha", "delta")}, "02"},
		{"and", []literal.Clause{clause(false, "beta"), clause(false, "gamma")}, "1"},
		{"and of or", []literal.Clause{clause(false, "Alpha", "delta"), clause(false, "beta", "nowhere")}, "0"},
		{"bytes that are no text", []literal.Clause{clause(false, "\xff\xfe\xfd")}, "3"},
		{"not ASCII", []literal.Clause{clause(true, "GRößE")}, "4"},
		{"other letters do not fold", []literal.Clause{clause(true, "ÖSSE")}, ""},
		{"nowhere", []literal.Clause{clause(false, "nowhere")}, ""},
		{"too short", []literal.Clause{clause(false, "ab")}, "all"},
		{"one needle too short", []literal.Clause{clause(false, "ab", "gamma")}, "all"},
		{"one clause too short", []literal.Clause{clause(false, "be"), clause(false, "gamma")}, "12"},
		{"no needle", []literal.Clause{{}}, "all"},
		{"no clause", nil, "all"},
		{"too many needles", []literal.Clause{clause(false, strings.Fields(strings.Repeat("gamma ", maxLookups))...)}, "all"},
		{"much too many needles", []literal.Clause{clause(false, strings.Fields(strings.Repeat("gamma ", maxLookups+1))...)}, "all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := New(1 << 20)
			for _, text := range texts {
				addText(t, x, text)
			}
			c, ok := x.Query(test.query)
			if ok != (test.want != "all") {
				t.Fatalf("ok is %t", ok)
			}
			for i := range texts {
				want := !ok || strings.ContainsRune(test.want, rune('0'+i))
				if c.Has(ID(i)) != want {
					t.Errorf("%q: found %t, want %t", texts[i], !want, want)
				}
			}
		})
	}
}

func TestZeroCandidatesHaveAll(t *testing.T) {
	if c := (Candidates{}); !c.Has(0) || !c.Has(1<<32-1) {
		t.Error("not all")
	}
}

// Needles of all lengths, cut from chunks of all sizes, are found in every chunk that has them.
func TestNothingIsMissed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := corpus{x: New(64 << 20)}
	for size := 1; size < 1<<17; size += size/2 + 1 {
		c.add(t, randomText(r, size))
		c.add(t, randomText(r, size))
	}
	for range 500 {
		from := c.texts[r.IntN(len(c.texts))]
		start := r.IntN(len(from))
		needle := from[start:][:r.IntN(min(len(from)-start, 1<<r.IntN(12)))+1]
		c.check(t, needle, r.IntN(2) == 0)
	}
}

// randomText has few different bytes, so that needles are in several texts, among them halves of characters.
func randomText(r *rand.Rand, size int) []byte {
	const alphabet = "aAbBzZ@[`{\n\r\x00\xff\xc3\xb6é"
	text := make([]byte, size)
	for i := range text {
		text[i] = alphabet[r.IntN(len(alphabet))]
	}
	return text
}

// corpus is an index with the texts that were added to it.
type corpus struct {
	x      *Index
	ids    []ID
	texts  [][]byte
	folded [][]byte
}

func (c *corpus) add(t *testing.T, text []byte) {
	t.Helper()
	c.ids = append(c.ids, addText(t, c.x, string(text)))
	c.texts = append(c.texts, text)
	c.folded = append(c.folded, lower(text))
}

// check reports texts that have the needle, or with fold one that differs in case, and are not candidates.
func (c *corpus) check(t *testing.T, needle []byte, fold bool) {
	t.Helper()
	texts, query := c.texts, needle
	if fold {
		texts, needle, query = c.folded, lower(needle), swapCase(needle)
	}
	found, ok := c.x.Query([]literal.Clause{{literal.New(query, fold)}})
	if ok != (len(needle) >= 3) {
		t.Fatalf("%q: ok is %t", needle, ok)
	}
	for i, text := range texts {
		if bytes.Contains(text, needle) && !found.Has(c.ids[i]) {
			t.Errorf("%q, fold %t: missed in text %d of %d bytes", needle, fold, i, len(text))
		}
	}
}

func lower(text []byte) []byte {
	return mapLetters(text, func(c byte) byte { return c | 0x20 })
}

func swapCase(text []byte) []byte {
	return mapLetters(text, func(c byte) byte { return c ^ 0x20 })
}

func mapLetters(text []byte, to func(byte) byte) []byte {
	text = bytes.Clone(text)
	for i, c := range text {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			text[i] = to(c)
		}
	}
	return text
}

// The chunks are the lines of text; the needle is cut out of it.
func FuzzNothingIsMissed(f *testing.F) {
	f.Add([]byte("func main() {\n\tMain()\n}\n"), uint16(5), uint16(4), true)
	f.Add([]byte("\xff\xfe\xfd\n\xc3\xb6\xc3\n\x00\x00\x00"), uint16(0), uint16(3), false)
	f.Add([]byte("aaa\nAAA\nÄÄÄ\näää"), uint16(8), uint16(6), true)
	f.Fuzz(func(t *testing.T, text []byte, start, size uint16, fold bool) {
		if int(start) >= len(text) {
			return
		}
		needle := text[start:min(int(start)+int(size), len(text))]
		if len(needle) == 0 {
			return
		}
		c := corpus{x: New(8 << 20)}
		for _, line := range bytes.SplitAfter(text, []byte("\n")) {
			c.add(t, line)
		}
		c.add(t, text)
		c.check(t, needle, fold)
	})
}
