package visible

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "go test ./...", "go test ./..."},
		{"empty", "", ""},
		{"escape sequence", "a\x1b[2Jb", "a⟨ESC⟩[2Jb"},
		{"title", "\x1b]0;x\a", "⟨ESC⟩]0;x⟨BEL⟩"},
		{"one-byte control sequence", "\u009b2J", "⟨U+009B⟩2J"},
		{"carriage return", "rm -rf /\rls       ", "rm -rf /⟨CR⟩ls       "},
		{"backspace and delete", "a\bb\x7f", "a⟨BS⟩b⟨DEL⟩"},
		{"line end", "a\nb", "a⟨LF⟩b"},
		{"tab", "a\tb", "a⟨TAB⟩b"},
		{"bidi override", "a\u202eb", "a⟨U+202E⟩b"},
		{"bidi isolate", "\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"},
		{"zero width", "r\u200bm", "r⟨U+200B⟩m"},
		{"soft hyphen", "r\u00adm", "r⟨U+00AD⟩m"},
		{"no-break space", "a\u00a0b", "a⟨U+00A0⟩b"},
		{"hangul filler", "a\u3164b", "a⟨U+3164⟩b"},
		{"braille blank", "a\u2800b", "a⟨U+2800⟩b"},
		{"variation selectors", "a\ufe0f\U000e0101", "a⟨U+FE0F⟩⟨U+E0101⟩"},
		{"tags", "a\U000e0041", "a⟨U+E0041⟩"},
		{"grapheme joiner", "a\u034fb", "a⟨U+034F⟩b"},
		{"line separator", "a\u2028b", "a⟨U+2028⟩b"},
		{"not UTF-8", "a\xffb", "a⟨byte FF⟩b"},
		{"a replacement character that was sent", "\ufffd", "\ufffd"},
		{"our own brackets", "⟨ESC⟩", "⟨U+27E8⟩ESC⟨U+27E9⟩"},
		{"accents", "e\u0301é", "e\u0301é"},
		{"an accent on nothing", "/\u0301", "/⟨U+0301⟩"},
		{"an accent on a blank", "e \u0301", "e ⟨U+0301⟩"},
		{"a pile of accents", "e\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301⟨U+0301⟩"},
		{"right to left", "rm א /", "rm ⟨U+05D0⟩ /"},
		{"flags", "\U0001f1e9\U0001f1ea", "⟨U+1F1E9⟩⟨U+1F1EA⟩"},
		{"chinese, emoji", "删除 🎉", "删除 🎉"},
		{"many blanks", "ls" + strings.Repeat(" ", 5000) + "; rm x", "ls⟨5000 blanks⟩; rm x"},
		{"trailing blanks", strings.Repeat(" ", 100), "⟨100 blanks⟩"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(c.text); got != c.want {
				t.Errorf("Text(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"one", "a", []string{"a"}},
		{"last line end", "a\nb\n", []string{"a", "b"}},
		{"tabs", "\ta", []string{"    a"}},
		{"a few empty lines", "a\n\n\nb", []string{"a", "", "", "b"}},
		{"many empty lines", "a" + strings.Repeat("\n", 301) + "b", []string{"a", "⟨300 empty lines⟩", "b"}},
		{"many blank lines at the end", "a" + strings.Repeat("\n \t", 9), []string{"a", "⟨9 empty lines⟩"}},
		{"windows", "a\r\nb", []string{"a⟨CR⟩", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Lines(c.text); strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
				t.Errorf("Lines(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// TestEveryRune checks that no character of Unicode passes that a terminal would act on or hide.
func TestEveryRune(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r <= 0xdfff {
			continue
		}
		got := Text("/" + string(r))[1:]
		if got == string(r) && (unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point) || r != ' ' && unicode.Is(unicode.Zs, r)) {
			t.Errorf("%U is shown as it is", r)
		}
	}
}

func TestMixed(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"ascii", "curl https://paypal.com", ""},
		{"a cyrillic a", "curl https://p\u0430ypal.com p\u0430ypal", "p\u0430ypal"},
		{"all russian", "echo привет", ""},
		{"greek beside latin", "echo α b", ""},
		{"full width", "ｃurl", "ｃurl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(Mixed(c.text), " "); got != c.want {
				t.Errorf("Mixed(%q) = %q, want %q", c.text, got, c.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "a\x1b[2J", "\u202e", "e\u0301", strings.Repeat(" ", 60), "\xff⟨"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Text(s), Code(s)} {
			if !utf8.ValidString(got) {
				t.Errorf("%q became %q, which is not UTF-8", s, got)
			}
			for _, r := range got {
				if !Shows(r) {
					t.Errorf("%q shows %U", s, r)
				}
			}
		}
		if Text(s) == s && strings.ContainsAny(s, "\x1b\n\t⟨⟩") {
			t.Errorf("%q is not plain", s)
		}
	})
}

// TestMessage: a message keeps its form and the marks of its parts, and shows all of its characters.
func TestMessage(t *testing.T) {
	for in, want := range map[string]string{
		"a\n\tb":                      "a\n\tb",
		Text("a\x1b⟨b") + "\x1b[0m\n": "a⟨ESC⟩⟨U+27E8⟩b⟨ESC⟩[0m\n",
		"\u202e\u200b\u00a0\r":        "⟨U+202E⟩⟨U+200B⟩⟨U+00A0⟩⟨CR⟩",
		"\xff\ufffdé":                 "⟨byte FF⟩⟨U+FFFD⟩é",
	} {
		if got := Message(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// TestLookAlikes: a character that may be taken for one of a keyboard is marked, and words of a language are left as they are.
func TestLookAlikes(t *testing.T) {
	for in, want := range map[string]string{
		"curl p\u0430ypal.com":      "curl p⟨U+0430⟩ypal.com",
		"cat \u0430/x":              "cat ⟨U+0430⟩/x",
		"\u0455\u0441\u0440 a":      "⟨U+0455⟩⟨U+0441⟩⟨U+0440⟩ a",
		"\u0455\u0441\u0440 привет": "⟨U+0455⟩⟨U+0441⟩⟨U+0440⟩ привет",
		"rm \u2010rf \u2215etc":     "rm ⟨U+2010⟩rf ⟨U+2215⟩etc",
		"ls \u037e id":              "ls ⟨U+037E⟩ id",
		"cat \u03bf":                "cat ⟨U+03BF⟩",
		"git commit -m 'а он и я с тобой, у моря'":              "git commit -m 'а он и я с тобой, у моря'",
		"it’s “good” – really — é, naïve, 漢字, αβγ, 5 µs, 10 kΩ": "it’s “good” – really — é, naïve, 漢字, αβγ, 5 µs, 10 kΩ",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
