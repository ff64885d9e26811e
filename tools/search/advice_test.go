package search

import (
	"strings"
	"testing"
)

// TestWouldHaveMatched checks that a grep without results offers what would have found some, and only that.
func TestWouldHaveMatched(t *testing.T) {
	tr := plant(t, map[string]string{
		"a.txt":      "one\nfoo here\n",
		"b.go":       "package b\n\nfunc Render(x int) {}\n",
		"c.txt":      "the re\u0301sume\u0301\n",
		"d.txt":      "un café noir\nun été\n",
		"README.md":  "# Title\n",
		"sub/e.txt":  "aaa bbb\n",
		"sub/f.conf": "path = ${HOME}/x\n",
	})
	tests := []struct{ name, pattern, want string }{
		{"alternation", `foo\|quux`, "`foo|quux` would match, as in a.txt:2 (in RE2 `\\|` is the character |)"},
		{"word borders", `\<foo\>`, "`\\bfoo\\b` would match, as in a.txt:2"},
		{"count", `a\{3\}`, "`a{3}` would match, as in sub/e.txt:1"},
		{"letter case", `func render`, `"ignore_case": true would match, as in b.go:3`},
		{"dialect and letter case", `\<RENDER\|quux\>`, "`\\bRENDER|quux\\b` with \"ignore_case\": true would match, as in b.go:3"},
		{"Unicode form", "résumé", "`re\\x{301}sume\\x{301}` would match, as in c.txt:1"},
		{"Unicode class", `caf\w noir`, "`caf[\\pL\\pM\\pN_] noir` would match, as in d.txt:1"},
		{"Unicode border", `\bété\b`, "would match, as in d.txt:2 (in RE2 `\\b` is ASCII)"},
		{"plain text", `Render(x int)`, "`Render\\(x int\\)` would match, as in b.go:3"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			for _, path := range []string{"", strings.TrimSuffix(strings.Fields(tc.want[strings.Index(tc.want, "as in ")+6:])[0], ":"+tc.want[strings.LastIndex(tc.want, ":")+1:])} {
				in := map[string]any{"pattern": tc.pattern}
				if path != "" {
					in["path"] = strings.Split(path, ":")[0]
				}
				text, result := tr.grep(t, in)
				if result.Total != 0 || !strings.HasPrefix(text, "No matches.") || !strings.Contains(text, tc.want) {
					t.Errorf("%v: %s\nwant %s", in, text, tc.want)
				}
			}
		})
	}
	for _, pattern := range []string{`zebra\|quux`, `\<zebra\>`, "nowhere", "naïve", `zz\w+`} {
		if text, _ := tr.grep(t, map[string]any{"pattern": pattern}); strings.Contains(text, "would match") {
			t.Errorf("%s: offers what does not match: %s", pattern, text)
		}
	}
}

// TestOtherReadingIsStated checks that the result says so if a pattern was not searched for as it was written.
func TestOtherReadingIsStated(t *testing.T) {
	tr := plant(t, map[string]string{"b.go": "package b\n\nfunc main() { os.Getenv(\"HOME\") }\n", "f.sh": "echo ${HOME}\n"})
	tests := []struct{ name, pattern, want string }{
		{"parenthesis", "func main(", "[searched for `func main\\(` (`(` for the character)]"},
		{"variable", "${HOME}", "[searched for `\\${HOME}` (`$` is the end of a line, where nothing can follow)]"},
		{"nothing found", "func other(", "[searched for `func other\\(` (`(` for the character)"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			text, result := tr.grep(t, map[string]any{"pattern": tc.pattern})
			if !strings.Contains(text, tc.want) {
				t.Errorf("got %s\nwant %s", text, tc.want)
			}
			if found := tc.name != "nothing found"; found != (result.Total == 1) {
				t.Errorf("%d results", result.Total)
			}
		})
	}
	if e := tr.fail(t, tr.newGrep(), map[string]any{"pattern": "i++"}); !strings.Contains(e.Message, "Did you mean `i\\+\\+`") {
		t.Error(e.Message)
	}
}

// TestNamesInAnotherSpelling checks that names in another letter case or Unicode form are offered.
func TestNamesInAnotherSpelling(t *testing.T) {
	tr := plant(t, map[string]string{"README.md": "x\n", "docs/Readme.md": "y\n", "re\u0301sume\u0301.txt": "z\n", "a.go": "package a\n"})
	tests := []struct{ name, pattern, want string }{
		{"letter case", "readme.md", "[in another letter case: README.md, docs/Readme.md]"},
		{"in a directory", "Docs/*.md", "[in another letter case: docs/Readme.md]"},
		{"Unicode form", "résumé.txt", "[in another Unicode form or letter case: re\u0301sume\u0301.txt]"},
		{"Unicode form, wild", "rés*", "re\u0301sume\u0301.txt"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if text, _ := tr.glob(t, map[string]any{"pattern": tc.pattern}); !strings.HasPrefix(text, "No files match.") || !strings.Contains(text, tc.want) {
				t.Errorf("glob: %s\nwant %s", text, tc.want)
			}
			if text, _ := tr.grep(t, map[string]any{"pattern": "x", "glob": tc.pattern}); !strings.Contains(text, strings.Trim(tc.want, "[]")) {
				t.Errorf("grep: %s\nwant %s", text, tc.want)
			}
		})
	}
	for _, in := range []map[string]any{{"glob": "*.md,!*.md"}, {"glob": "*.md", "type": "go"}} { // they match: something else leaves them out
		in["pattern"] = "x"
		if text, _ := tr.grep(t, in); strings.Contains(text, "another") {
			t.Errorf("%v: %s", in, text)
		}
	}
	if text, _ := tr.glob(t, map[string]any{"pattern": "other.md"}); strings.Contains(text, "another") {
		t.Error(text)
	}
}

// TestIgnoreCaseOfAllLetters checks that ignore_case is not only about ASCII.
func TestIgnoreCaseOfAllLetters(t *testing.T) {
	tr := plant(t, map[string]string{"a.txt": "CAFÉ\ncafé\nПРИВЕТ\nΣΊΣΥΦΟΣ\n"})
	for pattern, want := range map[string]int{"café": 2, "CAFÉ": 2, "привет": 1, "σίσυφος": 1, "[à-ü]": 2, `\p{Lu}É`: 2} {
		if _, result := tr.grep(t, map[string]any{"pattern": pattern, "ignore_case": true}); result.Total != want {
			t.Errorf("%s: %d lines, want %d", pattern, result.Total, want)
		}
	}
}

// TestLegacyText checks that grep finds what read shows of files that are not UTF-8, and prints it so that edit finds it.
func TestLegacyText(t *testing.T) {
	tr := plant(t, map[string]string{
		"latin.txt": "Un caf\xe9 noir\n", "quotes.txt": "He said \x93hello\x94 \x96 \x805\n", "sjis.c": "int x;\n// \x83\x5c\x81\x5b\x83\x58\x83\x52\x81\x5b\x83\x68\n",
		"wide.txt": "w\x00i\x00d\x00e\x00 \x00\xe9\x00\n\x00", "app.log": "start\n\x00\nERROR here\n", "utf8.txt": "Un café noir\n",
	})
	tests := []struct{ input, want string }{
		{`{"pattern":"café"}`, "latin.txt:1:Un café noir\nutf8.txt:1:Un café noir\n"},
		{`{"pattern":"noir"}`, "latin.txt:1:Un café noir\nutf8.txt:1:Un café noir\n"},
		{`{"pattern":"“hello” – €"}`, "quotes.txt:1:He said “hello” – €5\n"},
		{`{"pattern":"ソース"}`, "sjis.c:2:// ソースコード\n"},
		{`{"pattern":"int","after":1}`, "sjis.c:1:int x;\nsjis.c-2-// ソースコード\n"},
		{`{"pattern":"\\\\"}`, "No matches. Searched 6 files in the workspace.\n"}, // a byte of ソ
		{`{"pattern":"wide é"}`, "wide.txt:1:wide é\n"},
		{`{"pattern":"CAFÉ","ignore_case":true,"output_mode":"count"}`, "latin.txt:1\nutf8.txt:1\n"},
		{`{"pattern":"ERROR"}`, "No matches. Searched 5 files in the workspace.\n[skipped 1 binary with matches (app.log)]\n"},
		{`{"pattern":"cafÃ©","path":"utf8.txt","encoding":"latin1"}`, "utf8.txt:1:Un cafÃ© noir\n"},
	}
	for _, tc := range tests {
		if text, _ := tr.grep(t, tc.input); text != tc.want {
			t.Errorf("%s: %s\nwant %s", tc.input, text, tc.want)
		}
	}
	if e := tr.fail(t, tr.newGrep(), `{"pattern":"x","encoding":"klingon"}`); !strings.Contains(e.Message, "windows-1252, shift_jis") {
		t.Error(e.Message)
	}
}
