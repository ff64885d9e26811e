package output

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// TestBinaryIsNotShown: of output that is no text a result and a page say how much it is and of what, and show none of it. Text of any
// encoding is shown, with whatever odd bytes it has.
func TestBinaryIsNotShown(t *testing.T) {
	random := make([]byte, 20_000)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(random)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(random)
	w.Close()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	encoded := func(bytes []byte, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes)
	}
	french, german := "Le résumé est terminé: 3 fichiers copiés.\n", "Größe: äöü\n"
	sjis := encoded(japanese.ShiftJIS.NewEncoder().Bytes([]byte("ファイルが見つかりません。\n日本語の出力です。\n")))
	for _, tt := range []struct{ name, out, binary, shows string }{
		{"random", string(random), "data", ""},
		{"a little of it", string(random[:64]), "data", ""},
		{"gzip", packed.String(), "application/x-gzip", ""},
		{"a program", string(program[:200_000]), "an ELF program", ""},
		{"a picture", "\x89PNG\r\n\x1a\n" + string(random), "image/png", ""},
		{"zeros", strings.Repeat("\x00", 1000), "data", ""},
		{"text", "hello\n", "", "hello\n"},
		{"empty", "", "", ""},
		{"a byte", "a\xffb\n", "", "aÿb\n"},
		{"half a character", "caf\xc3", "", "caf"},
		{"names with NUL", "main.go\x00go.mod\x00internal/x.go\x00", "", "main.go"},
		{"a log with a few odd bytes", strings.Repeat("line of a log\n", 100) + "\xff\xfe\xfd\x01\x02\n", "", "line of a log"},
		{"escape sequences", strings.Repeat("\x1b[31mred\x1b[0m\r", 100), "", "red"},
		{"a character that is cut", strings.Repeat("é", 20_000)[:32<<10-1], "", "éé"},
		{"UTF-8", strings.Repeat("日本語\n", 5000), "", "日本語\n"},
		{"Latin-1", encoded(charmap.ISO8859_1.NewEncoder().Bytes([]byte(french))), "", french},
		{"Latin-1, dense", encoded(charmap.ISO8859_1.NewEncoder().Bytes([]byte(german))), "", german},
		{"Shift-JIS", sjis, "", "ファイルが見つかりません。\n日本語の出力です。\n"},
		{"Shift-JIS, long", strings.Repeat(sjis, 1000), "", "\n"},
		{"GBK", encoded(simplifiedchinese.GBK.NewEncoder().Bytes([]byte("文件不存在，请检查路径。\n"))), "", "文件不存在"},
		{"UTF-16", encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes([]byte("Windows says hello\r\n"))), "", "Windows says hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := New(Options{})
			l.Write(Stdout, []byte(tt.out))
			l.Write(Stderr, []byte("beside it\n"))
			r := l.Rendered(pageBytes, 0)
			text, page := r.Stdout.Text("whole output: U"), l.Read(Request{Streams: Only(Stdout)}).Shown()
			if r.Stdout.Binary != tt.binary || r.Stderr.Text("") != "beside it\n" || !strings.Contains(text, tt.shows) || !utf8.ValidString(text+page) {
				t.Errorf("%q, %.200q", r.Stdout.Binary, text)
			}
			for _, text := range []string{text, page} {
				if tt.binary != "" && (len(text) > 200 || !strings.Contains(text, " bytes of binary output ("+tt.binary+"), not shown")) {
					t.Errorf("%.300q", text)
				}
				if tt.binary == "" && strings.Contains(text, "binary output") {
					t.Errorf("%.300q", text)
				}
			}
			if tt.binary != "" && (!strings.Contains(text, "whole output: U") || !r.Stdout.Cut() || r.Stdout.Omitted.Bytes != int64(len(tt.out))) {
				t.Errorf("%q, %+v", text, r.Stdout)
			}
		})
	}
}
