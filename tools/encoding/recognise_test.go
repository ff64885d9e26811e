package encoding_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/tools/encoding"
)

func TestRecognise(t *testing.T) {
	wide := func(e encoding.Encoding, text string) string { out, _ := e.Encode([]byte(text)); return string(out) }
	for _, tt := range []struct {
		name, content string
		want          encoding.Encoding
		mark          bool
	}{
		{"empty", "", encoding.UTF8, false},
		{"one byte", "a", encoding.UTF8, false},
		{"ASCII", "hello\n", encoding.UTF8, false},
		{"UTF-8", "héllo 日本\n", encoding.UTF8, false},
		{"UTF-8 that is Shift-JIS, too", "\xc2\xb1\n", encoding.UTF8, false},
		{"UTF-8 with its mark", "\xef\xbb\xbfa", encoding.UTF8, true},
		{"a mark of UTF-8, and other bytes", "\xef\xbb\xbfcaf\xe9\n", encoding.Windows1252, false},
		{"UTF-16 with its mark", "\xff\xfea\x00", encoding.UTF16LE, true},
		{"UTF-16BE with its mark", "\xfe\xff\x00a", encoding.UTF16BE, true},
		{"a mark alone", "\xff\xfe", encoding.UTF16LE, true},
		{"half a character", "\xff\xfea\x00b", encoding.Binary, false},
		{"a surrogate alone", "\xff\xfe\x00\xd8a\x00", encoding.Binary, false},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", encoding.Binary, false},
		{"UTF-16 without a mark", wide(encoding.UTF16LE, "hello\r\nwörld\r\n"), encoding.UTF16LE, false},
		{"UTF-16BE without a mark", wide(encoding.UTF16BE, "hello\nworld\n"), encoding.UTF16BE, false},
		{"UTF-16 without a mark, Japanese", wide(encoding.UTF16LE, "日本語のテキスト一二\n"), encoding.UTF16LE, false},
		{"UTF-16BE without a mark, Japanese", wide(encoding.UTF16BE, "日本語の　テキスト😀\n"), encoding.UTF16BE, false},
		{"a log with a NUL", "one\nt\x00o\nthree four\n", encoding.Binary, false},
		{"an even log with a NUL", "hello wo\x00rld\n", encoding.Binary, false},
		{"numbers", "\x01\x00\x02\x00\x41\x00\x00\x01", encoding.Binary, false},
		{"a program", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00", encoding.Binary, false},
		{"words between NUL bytes", "cat\x00f\x00", encoding.Binary, false},
		{"an even number of words between NUL bytes", "ab\x00cd\x00ef\x00gh\x00", encoding.Binary, false},
		{"UTF-16 without a mark, Russian", wide(encoding.UTF16LE, "Привет, мир\n"), encoding.UTF16LE, false},
		{"UTF-16 without a mark, Greek", wide(encoding.UTF16BE, "Καλημέρα κόσμε\n"), encoding.UTF16BE, false},
		{"UTF-16 without a mark, Chinese", wide(encoding.UTF16LE, "天地玄黄，宇宙洪荒。中国中国\n"), encoding.UTF16LE, false},
		{"a letter and NUL", "b\x00", encoding.Binary, false},
		{"NUL alone", "\x00\x00", encoding.Binary, false},
		{"ISO-2022-JP", "a \x1b$B4A;z\x1b(B\n", encoding.ISO2022, false},
		{"ISO-2022-KR", "\x1b$)C\x0e0!\x0f\n", encoding.ISO2022, false},
		{"escapes of a terminal", "\x1b(B\x1b[m bold \x1b[31m $\n", encoding.UTF8, false},
		{"an escape in UTF-8", "é \x1b$B\n", encoding.UTF8, false},
		{"Western", "caf\xe9\n", encoding.Windows1252, false},
		{"quotes and the euro", "He said \x93hello\x94 \x96 \x805\n", encoding.Windows1252, false},
		{"apostrophes that are kanji", "it\x92s what you don\x92t see", encoding.Windows1252, false},
		{"German", "f\xfcr \xc4hnliche Gr\xf6\xdfen\n", encoding.Windows1252, false},
		{"a backslash in a kana", "int x;\n// \x83\x5c\n", encoding.ShiftJIS, false},
		{"binary without NUL", "\xff\xfd\xfe\xf0\x81\n", encoding.Windows1252, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := encoding.Recognise([]byte(tt.content))
			if got.Encoding != tt.want || got.Mark != tt.mark {
				t.Errorf("%v, mark %t", got.Encoding, got.Mark)
			}
			var d encoding.Detector
			for i := range len(tt.content) {
				d.Add([]byte(tt.content[i : i+1]))
			}
			if again := d.End(); again.Encoding != got.Encoding || again.Mark != got.Mark || again.Mixed != got.Mixed ||
				!slices.Equal(again.Decoding, got.Decoding) {
				t.Errorf("%+v in one chunk, %+v byte by byte", got, again)
			}
		})
	}
}

// texts are words of people, in comments and in prose, with the encodings that hold them.
var texts = []struct {
	text      string
	encodings []encoding.Encoding
}{
	{"// 設定ファイルを読み込む\nint x;\n", []encoding.Encoding{encoding.ShiftJIS, encoding.EUCJP}},
	{"日本語\n", []encoding.Encoding{encoding.ShiftJIS, encoding.EUCJP}},
	{"表示\n", []encoding.Encoding{encoding.ShiftJIS}},
	{"エラーが発生しました。もう一度やり直してください。\n", []encoding.Encoding{encoding.ShiftJIS, encoding.EUCJP}},
	{"吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n", []encoding.Encoding{encoding.ShiftJIS, encoding.EUCJP}},
	{"# ソース能力表\nvalue = 1\n", []encoding.Encoding{encoding.ShiftJIS, encoding.EUCJP}},
	{"你好\n", []encoding.Encoding{encoding.GBK}},
	{"// 读取配置文件，如果不存在则返回错误\nint x;\n", []encoding.Encoding{encoding.GBK}},
	{"中文\n", []encoding.Encoding{encoding.GBK, encoding.Big5}},
	{"道可道，非常道。名可名，非常名。\n", []encoding.Encoding{encoding.GBK, encoding.Big5}},
	{"學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？\n", []encoding.Encoding{encoding.Big5}},
	{"// 讀取設定檔，如果不存在就傳回錯誤\nint x;\n", []encoding.Encoding{encoding.Big5}},
	{"안녕하세요\n", []encoding.Encoding{encoding.EUCKR}},
	{"// 설정 파일을 읽어서 값을 반환한다\nint x;\n", []encoding.Encoding{encoding.EUCKR}},
	{"나라의 말이 중국과 달라 한자와는 서로 통하지 아니하므로\n", []encoding.Encoding{encoding.EUCKR}},
	{"中文 😀 ᠠ\n", []encoding.Encoding{encoding.GB18030}},
	{"Les élèves français ont été très étonnés : « où ça ? »\n", []encoding.Encoding{encoding.Windows1252}},
	{"Größe, Maß, Übermut — „ärgerlich“\n", []encoding.Encoding{encoding.Windows1252}},
	{"El niño comió piña mañana… ¿Qué?\n", []encoding.Encoding{encoding.Windows1252}},
	{"Året efter gick vi på bio, så det så\n", []encoding.Encoding{encoding.Windows1252}},
	{"don’t “quote” – it’s 5 €\n", []encoding.Encoding{encoding.Windows1252}},
	{"São Paulo, coração, não, à noite\n", []encoding.Encoding{encoding.Windows1252}},
}

// TestRecogniseTexts writes texts in their encodings, each alone, within a program, and repeated.
func TestRecogniseTexts(t *testing.T) {
	program := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(`a\\b`) } // "
	for _, tt := range texts {
		for _, e := range tt.encodings {
			for _, text := range []string{tt.text, program + tt.text, strings.Repeat(tt.text, 40)} {
				raw, err := e.Encode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				found := encoding.Recognise(raw)
				if got, ok := found.Text(raw); found.Encoding != e || string(got) != text || !ok {
					t.Errorf("%q in %s is %s: %.60q", tt.text, e, found.Encoding, got)
				}
				if !slices.Contains(found.Decoding, e) || !slices.Contains(found.Decoding, encoding.Windows1252) {
					t.Errorf("%q in %s is decoded by %v only", tt.text, e, found.Decoding)
				}
			}
		}
	}
}

// TestRecogniseFilesOfVim takes files that others wrote: those of Vim say their encodings in their names. testdata/encodings.sh sets the
// directory.
func TestRecogniseFilesOfVim(t *testing.T) {
	dir := os.Getenv("TOOLHOST_VIM")
	if dir == "" {
		t.Skip("TOOLHOST_VIM does not say where the runtime files of Vim are")
	}
	want := map[string]encoding.Encoding{
		".latin1": encoding.Windows1252, ".1252": encoding.Windows1252,
		".sjis": encoding.ShiftJIS, ".cp932": encoding.ShiftJIS, ".932": encoding.ShiftJIS,
		".ja.euc": encoding.EUCJP, ".euc-jp": encoding.EUCJP, ".eucjp": encoding.EUCJP, ".ko.euc": encoding.EUCKR, ".euckr": encoding.EUCKR,
		".zh.euc": encoding.GBK, ".936": encoding.GBK, ".big5": encoding.Big5, ".950": encoding.Big5,
	}
	seen := map[encoding.Encoding]int{}
	for _, pattern := range []string{"tutor/*", "lang/*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				continue // a directory
			}
			for suffix, e := range want {
				found := encoding.Recognise(raw)
				if !strings.HasSuffix(strings.TrimSuffix(file, ".vim"), suffix) || utf8.Valid(raw) {
					continue // many of them hold only ASCII
				}
				if seen[e]++; found.Encoding != e || !slices.Contains(found.Decoding, e) {
					t.Errorf("%s is taken for %s", filepath.Base(file), found.Encoding)
				}
			}
		}
	}
	t.Logf("recognised: %v", seen)
	if len(seen) < 6 {
		t.Errorf("only files of %d encodings are there", len(seen))
	}
}

// FuzzChunks shows that a content is recognised and decoded alike, whatever its chunks are.
func FuzzChunks(f *testing.F) {
	for _, seed := range []string{"caf\xe9\n", "\x83\x5c\n", "a\x00b\x00\n\x00", "\xff\xfea\x00\x00\xd8", "\x81\x30\x81\x30\xff", "\x8f\xa2\xaf\x1b$B", "\xef\xbb\xbf\xe2\x82"} {
		f.Add([]byte(seed), uint8(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, size uint8) {
		whole := encoding.Recognise(raw)
		var d encoding.Detector
		for chunk := range slices.Chunk(raw, int(size)%7+1) {
			if !d.Add(chunk) {
				break
			}
		}
		if got := d.End(); got.Encoding != whole.Encoding || got.Mark != whole.Mark || got.Mixed != whole.Mixed || !slices.Equal(got.Decoding, whole.Decoding) {
			t.Errorf("%q: %+v in chunks, %+v at once", raw, got, whole)
		}
		if text, ok := whole.Text(raw); whole.Encoding.IsText() && (!ok || !utf8.Valid(text)) {
			t.Errorf("%q is taken for %s, which does not decode it", raw, whole.Encoding)
		}
		for e := encoding.UTF8; e <= encoding.Big5; e++ {
			text, ok := e.Decode(raw)
			decoder := encoding.NewDecoder(e)
			var parts []byte
			for chunk := range slices.Chunk(raw, int(size)%7+1) {
				parts = append(parts, decoder.Next(chunk, false)...)
			}
			parts = append(parts, decoder.Next(nil, true)...)
			if string(parts) != string(text) || decoder.Malformed() == ok || ok != e.Decodes(raw) {
				t.Errorf("%q as %s is %q at once, %q in chunks; malformed %t, %t", raw, e, text, parts, !ok, decoder.Malformed())
			}
		}
	})
}
