package encoding_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"toolhost/tools/encoding"
)

var legacy = []encoding.Encoding{encoding.Windows1252, encoding.ShiftJIS, encoding.EUCJP, encoding.EUCKR, encoding.GBK, encoding.GB18030, encoding.Big5}

// TestBytesAreOneCharacter tries all sequences of one and two bytes: each is decoded in one way, however it is cut into chunks, and what
// can be encoded again decodes as the same text.
func TestBytesAreOneCharacter(t *testing.T) {
	for _, e := range legacy {
		t.Run(e.String(), func(t *testing.T) {
			characters := 0
			for lead := range 0x100 {
				for trail := range 0x100 {
					raw := []byte{byte(lead), byte(trail), '\n'}
					text, ok := e.Decode(raw)
					if whole := string(text); whole != inPieces(e, raw) {
						t.Fatalf("% x is %q in one chunk and %q in three", raw, whole, inPieces(e, raw))
					}
					if ok != e.Decodes(raw) || !bytes.HasSuffix(text, []byte("\n")) {
						t.Fatalf("% x: %q, %t", raw, text, ok)
					}
					if !ok {
						continue
					}
					characters++
					again, err := e.Encode(text)
					if err != nil {
						continue
					}
					if back, ok := e.Decode(again); !ok || !bytes.Equal(back, text) {
						t.Fatalf("% x is %q, which is encoded as % x, which is %q", raw, text, again, back)
					}
				}
			}
			if characters < 20_000 {
				t.Errorf("only %d sequences are characters", characters)
			}
		})
	}
}

func inPieces(e encoding.Encoding, raw []byte) string {
	d := encoding.NewDecoder(e)
	var text []byte
	for i := range raw {
		text = append(text, d.Next(raw[i:i+1], i == len(raw)-1)...)
	}
	return string(text)
}

// TestUndefinedBytesOfWindows1252 decodes all 256 bytes and encodes them again.
func TestUndefinedBytesOfWindows1252(t *testing.T) {
	var all []byte
	for b := range 0x100 {
		all = append(all, byte(b))
	}
	text, ok := encoding.Windows1252.Decode(all)
	again, err := encoding.Windows1252.Encode(text)
	if !ok || err != nil || !bytes.Equal(again, all) {
		t.Errorf("%q, %t, % x, %v", text, ok, again, err)
	}
}

// TestDecodesLikePython has the codecs of Python decode all characters with two bytes that the national standards define.
func TestDecodesLikePython(t *testing.T) {
	python := requirePython(t)
	for _, tt := range []struct {
		encoding encoding.Encoding
		codec    string
		leads    [2]byte
		trails   [2]byte
	}{
		{encoding.Windows1252, "cp1252", [2]byte{'a', 'z'}, [2]byte{0xa0, 0xff}},
		{encoding.ShiftJIS, "cp932", [2]byte{0x88, 0x9f}, [2]byte{0x40, 0xfc}},
		{encoding.ShiftJIS, "cp932", [2]byte{0xe0, 0xea}, [2]byte{0x40, 0xfc}},
		{encoding.EUCJP, "euc_jp", [2]byte{0xb0, 0xf4}, [2]byte{0xa1, 0xfe}},
		{encoding.EUCKR, "cp949", [2]byte{0x81, 0xc8}, [2]byte{0x41, 0xfe}},
		{encoding.GBK, "gbk", [2]byte{0xb0, 0xf7}, [2]byte{0x40, 0xfe}},
		{encoding.GB18030, "gb18030", [2]byte{0xb0, 0xf7}, [2]byte{0x40, 0xfe}},
		{encoding.Big5, "cp950", [2]byte{0xa4, 0xc6}, [2]byte{0x40, 0x7e}},
		{encoding.Big5, "cp950", [2]byte{0xc9, 0xf8}, [2]byte{0xa1, 0xfe}},
	} {
		var raw bytes.Buffer
		for lead := int(tt.leads[0]); lead <= int(tt.leads[1]); lead++ {
			for trail := int(tt.trails[0]); trail <= int(tt.trails[1]); trail++ {
				if pair := []byte{byte(lead), byte(trail)}; tt.encoding.Decodes(pair) {
					raw.Write(pair)
					raw.WriteByte('\n')
				}
			}
		}
		ours, _ := tt.encoding.Decode(raw.Bytes())
		theirs := convert(t, python, raw.Bytes(), tt.codec, "utf-8")
		differ := 0
		their := strings.Split(string(theirs), "\n")
		for i, line := range strings.Split(string(ours), "\n") {
			if i < len(their) && their[i] != line && !strings.Contains(their[i], "\ufffd") {
				differ++
				t.Errorf("%s: %q, Python has %q", tt.encoding, line, their[i])
			}
			if differ > 5 {
				break
			}
		}
		if lines := bytes.Count(raw.Bytes(), []byte("\n")); lines < 1500 {
			t.Errorf("%s: only %d characters", tt.encoding, lines)
		}
	}
}

func requirePython(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: apt-get install python3")
	}
	return python
}

// convert has Python write content in another encoding.
func convert(t *testing.T, python string, content []byte, from, to string) []byte {
	t.Helper()
	script := fmt.Sprintf("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().decode(%q, 'replace').encode(%q))", from, to)
	c := exec.Command(python, "-c", script)
	c.Stdin = bytes.NewReader(content)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		want       encoding.Encoding
	}{
		{name: "UTF-8", want: encoding.UTF8}, {name: "latin1", want: encoding.Windows1252}, {name: " CP1252 ", want: encoding.Windows1252},
		{name: "SJIS", want: encoding.ShiftJIS}, {name: "gb2312", want: encoding.GBK}, {name: "cp949", want: encoding.EUCKR},
		{name: "utf-16", want: encoding.UTF16LE}, {name: "UTF16", head: "\xfe\xff", want: encoding.UTF16BE},
	} {
		if got, err := encoding.Parse(tt.name, []byte(tt.head)); got != tt.want || err != nil {
			t.Errorf("%q is %v, %v", tt.name, got, err)
		}
	}
	for _, name := range []string{"", "klingon", "binary", "iso-2022-jp"} {
		_, err := encoding.Parse(name, nil)
		if err == nil || !strings.Contains(err.Error(), "shift_jis") || !strings.Contains(err.Error(), "windows-1252") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range encoding.Names() {
		if e, err := encoding.Parse(name, nil); err != nil || e.String() != name {
			t.Errorf("%q is %v, %v", name, e, err)
		}
	}
}

func TestUnencodable(t *testing.T) {
	for _, tt := range []struct {
		encoding encoding.Encoding
		text     string
		want     rune
	}{
		{encoding.Windows1252, "a€ł", 'ł'}, {encoding.ShiftJIS, "表¥", '¥'}, {encoding.EUCJP, "日😀", '😀'},
		{encoding.GBK, "中😀", '😀'}, {encoding.Big5, "中简", '简'}, {encoding.EUCKR, "한😀", '😀'}, {encoding.ShiftJIS, "‾", '‾'},
	} {
		out, err := tt.encoding.Encode([]byte(tt.text))
		unencodable, ok := errors.AsType[*encoding.UnencodableError](err)
		if !ok || unencodable.Rune != tt.want || out != nil {
			t.Errorf("%s: %q is % x, %v", tt.encoding, tt.text, out, err)
		}
	}
	for _, e := range []encoding.Encoding{encoding.UTF8, encoding.UTF16LE, encoding.UTF16BE, encoding.GB18030} {
		out, err := e.Encode([]byte("aé中😀\ufffd"))
		if text, ok := e.Decode(out); string(text) != "aé中😀\ufffd" || !ok || err != nil {
			t.Errorf("%s: %q, %t, %v", e, text, ok, err)
		}
	}
}
