package engine

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolhost/tools/encoding"
	"toolhost/tools/search/match"
)

// legacyTexts has a text with its encodings, which Recognise finds.
var legacyTexts = []struct {
	text      string
	encodings []encoding.Encoding
}{
	{"the first line\nUn café noir, s'il vous plaît\n“quotes” – and €5\nà la fin\n", []encoding.Encoding{encoding.Windows1252, encoding.UTF16LE, encoding.UTF16BE}},
	{"first\n日本語のテキストです。ソースコードの表示\nこれは検索の結果を確認する。\nend\n", []encoding.Encoding{encoding.ShiftJIS, encoding.EUCJP, encoding.UTF16LE, encoding.UTF16BE}},
	{"first\n这是一个中文的文件，我们要在里面搜索。\n第二行的内容也是中国人的话。\nend\n", []encoding.Encoding{encoding.GBK, encoding.UTF16LE}},
	{"first\n這是一個中文的檔案，我們要在裡面搜尋。\n第二行的內容也是說明。\nend\n", []encoding.Encoding{encoding.Big5}},
	{"first\n이것은 한국어로 된 파일이다. 우리는 여기에서 단어를 찾는다.\nend\n", []encoding.Encoding{encoding.EUCKR}},
}

// eachLegacy calls test for each text in each of its encodings.
func eachLegacy(t *testing.T, test func(t *testing.T, text string, raw string)) {
	for i, l := range legacyTexts {
		for _, e := range l.encodings {
			t.Run(fmt.Sprintf("%d in %s", i, e), func(t *testing.T) {
				raw, err := e.Encode([]byte(l.text))
				if err != nil {
					t.Fatal(err)
				}
				if got := decoded(string(raw)); got != l.text {
					t.Fatalf("recognised as %q", got)
				}
				test(t, l.text, string(raw))
			})
		}
	}
}

// legacyPatterns returns patterns for a text: its words and characters, and others that bytes could match wrongly.
func legacyPatterns(text string) []string {
	patterns := []string{`first`, `^end$`, `.`, `^.{6}$`, `\\`, `\|`, `[A-Z]`, `[a-z]+ `, `\pL+`, `[^ -~]`, `(?i)É|À`, `f.*t`, `\w`, `,|。`, `x*`, "a.?c|文|te"}
	runes := []rune(text)
	for i := 0; i+3 < len(runes); i += 3 {
		if part := string(runes[i : i+1+i%3]); !strings.ContainsAny(part, "\n") {
			patterns = append(patterns, regexp.QuoteMeta(part))
		}
	}
	return patterns
}

// TestLegacyTextIsFound checks that a search of a text in any encoding finds what a search of the decoded text finds, and
// shows that text.
func TestLegacyTextIsFound(t *testing.T) {
	e := newEngine(t, Options{})
	eachLegacy(t, func(t *testing.T, text, raw string) {
		for _, expr := range legacyPatterns(text) {
			for _, want := range []around{{}, {before: 1, after: 1}, {limit: 1}} {
				agreesWithPlain(t, e, expr, raw, want)
			}
		}
		for _, expr := range []string{`t[\s\S]*nd`, `(?s)first.*\pL`, "[a-z]\n[^ -~]|f"} { // multiline
			p := pattern(t, expr, match.Options{Multiline: true})
			got, want := scanFile(t, e, Query{Pattern: p, Store: true}, raw), scanFile(t, e, Query{Pattern: p, Store: true}, text)
			if got.count == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %+v, want %+v", expr, got, want)
			}
		}
	})
}

// TestLongLegacyText checks the same where the text is longer than what is searched at once, and where results were sent
// before the first line that is not ASCII.
func TestLongLegacyText(t *testing.T) {
	e := newEngine(t, Options{})
	eachLegacy(t, func(t *testing.T, text, raw string) {
		if raw[1] == 0 || raw[0] == 0 { // UTF-16 is never taken for ASCII
			return
		}
		ahead := strings.Repeat("a first line of plain text\n", 30_000)
		for _, expr := range []string{`first`, `end`, `[^ -~]`, `.`} {
			agreesWithPlain(t, e, expr, ahead+raw+ahead, around{before: 1})
		}
	})
}

// TestLegacyTextAndIndex checks that searches of a tree with texts in many encodings find the same with an index, also
// after changes.
func TestLegacyTextAndIndex(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		r := rand.New(rand.NewPCG(3, 4))
		var all []string
		for i := range 40 {
			l := legacyTexts[i%len(legacyTexts)]
			raw, err := l.encodings[i%len(l.encodings)].Encode([]byte(l.text))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(raw))
			p.write(t, fmt.Sprintf("legacy/f%d.txt", i), string(raw))
			p.write(t, fmt.Sprintf("legacy/u%d.txt", i), l.text)
		}
		p.warm(t, e)
		for range 3 {
			for _, l := range legacyTexts {
				for _, expr := range legacyPatterns(l.text) {
					p.same(t, e, storing(t, expr))
				}
			}
			for range 5 {
				p.write(t, fmt.Sprintf("legacy/f%d.txt", r.IntN(40)), all[r.IntN(40)])
			}
		}
	})
}

// TestSaidEncoding checks that a file is decoded as the caller says.
func TestSaidEncoding(t *testing.T) {
	e := newEngine(t, Options{})
	for _, tc := range []struct{ text, declared, expr, want string }{
		{"caf\xe9\n", "latin1", "café", "café"},
		{"caf\xe9\n", "cp1252", "^.{4}$", "café"},
		{"\x83\x5c\n", "shift_jis", "ソ", "ソ"},
		{"\xc3\xa9\n", "windows-1252", "Ã©", "Ã©"},
		{"h\x00i\x00\n\x00", "utf-16le", "^hi$", "hi"},
		{"\x00h\x00i\x00\n", "utf-16be", "^hi$", "hi"},
		{"\xfe\xff\x00h\x00i\x00\n", "utf-16", "^hi$", "hi"},
		{"plain\n", "big5", "^plain$", "plain"},
	} {
		q := storing(t, tc.expr)
		q.Encoding = tc.declared
		got := scanFile(t, e, q, tc.text)
		if len(got.lines) != 1 || string(got.lines[0].Text) != tc.want {
			t.Errorf("%q in %s: %+v", tc.expr, tc.declared, got)
		}
	}
}

// TestBinaryIsOneRule checks that a file with a NUL that is no UTF-16 is binary wherever the NUL stands and the match.
func TestBinaryIsOneRule(t *testing.T) {
	long := strings.Repeat("a line of a log\n", 3*pieceSize/16)
	both(t, func(t *testing.T, p planted, e *Engine) {
		for i, text := range []string{
			"needle\n\x00\n", "\x00\nneedle\n", "needle\n" + long + "\x00", long + "\x00needle\n", "\x00\n" + long + "needle\n",
			long + "\x00\n" + long + "needle\n", "needle\n" + long + "\x00\n" + long,
		} {
			p.write(t, fmt.Sprintf("logs/%d.log", i), text)
		}
		for _, q := range []Query{storing(t, "needle"), {Pattern: storing(t, "needle").Pattern, Limit: 1}, storing(t, "nee[d]le$")} {
			for range 2 {
				sum, err := e.Grep(t.Context(), p.root(t), q, func(part Part) bool {
					t.Errorf("%s is text", part.Path)
					return true
				})
				if err != nil || sum.Skipped.Binary != 7 {
					t.Errorf("%+v, error %v", sum, err)
				}
				p.warm(t, e)
			}
		}
	})
}

func FuzzLegacy(f *testing.F) {
	for _, l := range legacyTexts {
		for _, e := range l.encodings {
			raw, err := e.Encode([]byte(l.text))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(raw), "[^ -~]x?")
		}
	}
	f.Fuzz(func(t *testing.T, text, expr string) {
		found := encoding.Recognise([]byte(text))
		if _, err := regexp.Compile(expr); err != nil || len(expr) > 100 || !found.Encoding.IsText() {
			return
		}
		if slices.Contains([]encoding.Encoding{encoding.UTF16LE, encoding.UTF16BE}, found.Encoding) && !found.Mark && !strings.Contains(text[:min(len(text), nulSize)], "\x00") {
			return
		}
		if expr == "" {
			return
		}
		agreesWithPlain(t, newEngine(t, Options{}), expr, text, around{1, 1, 0})
	})
}
