package encoding_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"unicode"

	"toolhost/tools/encoding"
)

// roundsVariable holds the number of edits to make; testdata/encodings.sh sets it.
const roundsVariable = "TOOLHOST_EDITS"

func editsToMake(t *testing.T, usual int) int {
	text := os.Getenv(roundsVariable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", roundsVariable, err)
	}
	return n
}

// kinds are the encodings with their marks.
var kinds = []struct {
	name     string
	encoding encoding.Encoding
	mark     bool
}{
	{"utf-8", encoding.UTF8, false}, {"utf-8 with a mark", encoding.UTF8, true},
	{"utf-16le", encoding.UTF16LE, false}, {"utf-16le with a mark", encoding.UTF16LE, true},
	{"utf-16be", encoding.UTF16BE, false}, {"utf-16be with a mark", encoding.UTF16BE, true},
	{"windows-1252", encoding.Windows1252, false}, {"shift_jis", encoding.ShiftJIS, false}, {"euc-jp", encoding.EUCJP, false},
	{"euc-kr", encoding.EUCKR, false}, {"gbk", encoding.GBK, false}, {"gb18030", encoding.GB18030, false}, {"big5", encoding.Big5, false},
}

// randomText returns characters of an encoding, as random bytes that it decodes: unusual spellings of characters are among them.
func randomText(r *rand.Rand, e encoding.Encoding, characters int) []byte {
	var raw []byte
	for range characters {
		if r.IntN(3) == 0 {
			plain, _ := e.Encode([]byte{"abx/\\|A[~n2 \n\t"[r.IntN(14)]})
			raw = append(raw, plain...)
			continue
		}
		raw = append(raw, randomCharacter(r, e)...)
	}
	return raw
}

func randomCharacter(r *rand.Rand, e encoding.Encoding) []byte {
	for {
		b := make([]byte, 1+r.IntN(4))
		for i := range b {
			b[i] = byte(1 + r.IntN(255))
			if i == 0 && len(b) > 1 {
				b[i] |= 0x80
			}
			if e == encoding.GB18030 && len(b) == 4 && i%2 == 1 {
				b[i] = byte('0' + r.IntN(10))
			}
		}
		if e.IsUTF16() && len(b)%2 == 0 {
			c := rune(0x20 + r.IntN(0x10000))
			if !unicode.IsGraphic(c) {
				continue
			}
			b, _ = e.Encode([]byte(string(c)))
		}
		if bytes.IndexByte(b, 0x1b) < 0 && e.Decodes(b) && !e.Decodes(b[:len(b)-1]) || len(b) == 1 && e.Decodes(b) && b[0] >= 0x80 {
			return b
		}
	}
}

// TestEditsUnderEveryGuess makes random edits of random contents, under each encoding that the content may have: the true one and every
// wrong guess. An edit that is made leaves all characters around it as they were in each of those encodings.
func TestEditsUnderEveryGuess(t *testing.T) {
	edits := editsToMake(t, 20_000)
	for _, kind := range kinds {
		t.Run(kind.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(30, uint64(len(kind.name))))
			var made, refused, wrong int
			for made < edits/len(kinds)+1 {
				raw := randomText(r, kind.encoding, 1+r.IntN(12))
				if kind.mark {
					raw = append([]byte(kind.encoding.Mark()), raw...)
				}
				found := encoding.Recognise(raw)
				switch {
				case !found.Encoding.IsText():
					continue // characters such as no text has
				case kind.encoding.IsUTF16() && bytes.IndexByte(raw, 0) < 0 && !kind.mark:
					continue // without a mark, and without ASCII: the rule does not know UTF-16
				case kind.encoding.IsLegacy() && found.Encoding.IsLegacy() && !slices.Contains(found.Decoding, kind.encoding),
					!kind.encoding.IsLegacy() && found.Encoding != kind.encoding:
					t.Fatalf("% x: %v", raw, found)
				}
				for _, guess := range found.Decoding {
					found.Encoding = guess
					if editOnce(t, r, found, raw) {
						made++
						if guess != kind.encoding {
							wrong++
						}
					} else {
						refused++
					}
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%s: %d edits made, %d of them under a wrong guess; %d refused", kind.name, made, wrong, refused)
		})
	}
}

// editOnce replaces a part of the text and reports whether that was not refused.
func editOnce(t *testing.T, r *rand.Rand, found encoding.Recognition, raw []byte) bool {
	body := found.Body(raw)
	var borders []int // of the encoding that is shown: where a head of the content decodes
	for i := range len(body) + 1 {
		if found.Encoding.Decodes(body[:i]) {
			borders = append(borders, i)
		}
	}
	start, end := borders[r.IntN(len(borders))], borders[r.IntN(len(borders))]
	if start > end {
		start, end = end, start
	}
	before, _ := found.Encoding.Decode(body[:start])
	at := len(before)
	match, _ := found.Encoding.Decode(body[start:end])
	fresh, _ := found.Encoding.Decode(randomText(r, found.Encoding, r.IntN(3)))
	got, err := found.Replace(raw, []encoding.Change{{Start: at, End: at + len(match), Text: string(fresh)}})
	if err != nil {
		return false
	}
	encoded, err := found.Encoding.Encode(fresh)
	if err != nil {
		t.Errorf("% x: %q was written, which %s does not have", raw, fresh, found.Encoding)
		return false
	}
	what := fmt.Sprintf("% x, shown as %s, bytes %d to %d replaced by % x: % x", raw, found.Encoding, start, end, encoded, got)
	want := append(append(append(bytes.Clone(raw[:len(raw)-len(body)]), body[:start]...), encoded...), body[end:]...)
	if !bytes.Equal(got, want) {
		t.Errorf("%s; want % x", what, want)
	}
	for _, e := range found.Decoding {
		head, headWhole := e.Decode(body[:start])
		head = bytes.Clone(head)
		tail, tailWhole := e.Decode(body[end:])
		tail = bytes.Clone(tail)
		now, whole := e.Decode(found.Body(got))
		if !headWhole || !tailWhole || !whole || !bytes.HasPrefix(now, head) || !bytes.HasSuffix(now, tail) {
			t.Errorf("%s: in %s, %q is not between %q and %q", what, e, now, head, tail)
		}
	}
	return true
}
