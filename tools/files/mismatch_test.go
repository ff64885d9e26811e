package files

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const program = `package main

import "fmt"

// greet says “hello” — in a friendly way.
func greet(name string) error {
	if name == "" {
		return fmt.Errorf("don’t greet nobody")
	}
	fmt.Println("caf\u00e9\n", name)
	for range 3 {
		fmt.Println("again")  
	}
	return nil
}

func main() {
	if err := greet("you"); err != nil {
		panic(err)
	}
}
`

// TestMismatch: each kind of difference is named, with the line, in a few lines.
func TestMismatch(t *testing.T) {
	text := strings.ReplaceAll(program, `\u00e9`, "é")
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	for _, tt := range []struct {
		name, file, old, now string
		kind                 mismatchKind
		start, line          int
		words                []string
	}{
		{"blanks for tabs", text, "    if name == \"\" {\n        return fmt", "x", indentation, 7, 7,
			[]string{"the file indents with 1 tab, old_string with 4 blanks, in all lines", "file:       →if name", "old_string: ····if name"}},
		{"blanks for tabs in the second line", text, "if name == \"\" {\n        return fmt", "x", indentation, 7, 8,
			[]string{"with 2 tabs, old_string with 8 blanks", "file:       →→return", "old_string: ········return"}},
		{"a block shifted", "a:\n    b:\n        c: 1\n        d: 2\n", "  b:\n      c: 1\n      d: 2\n", "x", indentation, 2, 3,
			[]string{"the file indents with 8 blanks, old_string with 6 blanks, in all lines"}},
		{"the third line", text, "\tfor range 3 {\n\t\tfmt.Println(\"again\")  \n\t}\n\treturn err\n}", "x", wording, 11, 14,
			[]string{"line 11, first difference: line 14", "file:       \treturn nil", "old_string: \treturn err"}},
		{"several lines", text, "func main() {\n\tif err := greet(\"me\"); err != nil {\n\t\tpanic(error)\n\t}\n}", "x", wording, 17, 18,
			[]string{"1 more line differs"}},
		{"decomposed letters in the file", strings.ReplaceAll(text, "é", "e\u0301"), "fmt.Println(\"café", "x", unicodeForm, 10, 10,
			[]string{"separate accents (NFD), old_string has composed ones (NFC)", "e⟨U+0301⟩"}},
		{"composed letters in the file", text, "fmt.Println(\"cafe\u0301", "x", unicodeForm, 10, 10,
			[]string{"composed letters (NFC), old_string has separate accents (NFD)"}},
		{"curly quotes", text, `"don't greet nobody"`, "x", typographic, 8, 8, []string{"the file has ’ (U+2019) where old_string has ' (U+0027)"}},
		{"curly double quotes", text, `// greet says "hello" — in`, "x", typographic, 5, 5, []string{"“ (U+201C) where"}},
		{"a dash", text, `friendly way`, "x", "", 0, 0, nil},
		{"a long dash", text, "“hello” - in a friendly", "x", typographic, 5, 5, []string{"— (U+2014) where old_string has - (U+002D)"}},
		{"no-break space in the file", "price: 5\u00a0€\n", "price: 5 €", "x", blankKind, 1, 1,
			[]string{"a no-break space (U+00A0) where old_string has a blank", "5⟨U+00A0⟩€", "5·€"}},
		{"no-break space in the string", text, "func\u00a0main()", "x", blankKind, 17, 17, []string{"has a blank where old_string has a no-break space (U+00A0)"}},
		{"trailing blanks in the file", text, "fmt.Println(\"again\")\n\t}", "x", trailing, 12, 12,
			[]string{"ends with 2 blanks in the file, with no white space in old_string", `"again")··`}},
		{"trailing blanks in the string", text, "func main() { \n\tif err", "x", trailing, 17, 17, []string{"with no white space in the file, with 1 blank in old_string"}},
		{"blanks within a line", text, "if err  := greet(\"you\");err != nil", "x", blanks, 18, 18, []string{"white space differs", "err·:=", "err··:="}},
		{"line numbers", text, "     7\tif name == \"\" {\n     8\t\t\treturn", "x", lineNumbers, 7, 7, []string{"line numbers of read: leave them out"}},
		{"line numbers, arrow", text, "    17→func main() {", "x", lineNumbers, 17, 17, nil},
		{"line numbers and a slip", text, "    17\tfunc main() {\n    18\t\tif err := great(\"you\")", "x", lineNumbers, 17, 18, []string{"leave them out; also, the text differs"}},
		{"literal \\n for a line end", text, `func main() {\n\tif err`, "x", escaped, 17, 17, []string{"old_string is escaped"}},
		{"literal quotes", text, `greet(\"you\")`, "x", escaped, 18, 18, nil},
		{"a line end for \\n", `s := "a\nb\tc"` + "\n", "a\nb\tc", "x", escaped, 1, 1, []string{"the file has a backslash"}},
		{"one literal \\t of several", text, "func main() {\n\\tif err := greet(\"you\")", "x", escaped, 17, 17, nil},
		{"HTML entities", text, "err := greet(&quot;you&quot;)", "x", escaped, 18, 18, []string{"HTML entities"}},
		{"CR LF in the string", text, "func main() {\r\n\tif err", "x", newlineKind, 17, 17, []string{"has CR"}},
		{"mixed line ends", "one\r\ntwo\nthree\n", "one\ntwo\nthree", "x", newlineKind, 1, 1, []string{"CR LF"}},
		{"tabs in a file with CR LF", crlf, "    if name == \"\" {\n", "x", indentation, 7, 7, nil},
		{"a final line end too many", strings.TrimSuffix(text, "\n"), "\t\tpanic(err)\n\t}\n}\n", "x", finalNewline, 19, 21, []string{"1 line end more"}},
		{"an empty line too many at the end", text, "\t\tpanic(err)\n\t}\n\n", "x", finalNewline, 19, 20, []string{"1 line end more"}},
		{"an ellipsis", text, "func greet(name string) error {\n\t// ...\n\treturn nil\n}", "x", ellipsis, 6, 6, []string{"leaves lines out (\"// ...\")", "an edit for each part"}},
		{"a bare ellipsis", text, "func greet(name string) error {\n...\n}", "x", ellipsis, 6, 6, nil},
		{"replaced already", text, "\treturn err\n}\n\nfunc main", "\treturn nil\n}\n\nfunc main", alreadyDone, 14, 14, []string{"line 14: the file holds the replacement already"}},
		{"replaced already in CR LF", crlf, "\treturn err\n}\n\nfunc main", "\treturn nil\n}\n\nfunc main", alreadyDone, 14, 14, nil},
		{"an invisible character", "na\u200bme: x\n", "name: x", "y", invisible, 1, 1, []string{"the file has an invisible character (U+200B)", "na⟨U+200B⟩me"}},
		{"an invisible character in the string", text, "func\u200b main", "y", invisible, 17, 17, []string{"old_string has an invisible character (U+200B)"}},
		{"capital letters", text, "func Main() {", "y", letterCase, 17, 17, nil},
		{"a look-alike", text, "func m\u0430in() {", "y", lookAlike, 17, 17, []string{"a (U+0061) where old_string has а (U+0430)"}},
		{"a line too many", text, "func main() {\n\tlog.Println()\n\tif err := greet(\"you\"); err != nil {", "y", lineTooMany, 17, 18, []string{"1 line here that the file lacks"}},
		{"lines missing", text, "\tif name == \"\" {\n\t}\n\tfmt.Println", "y", lineMissing, 7, 8, []string{"1 line here that old_string leaves out", "don’t"}},
		{"a misspelling", text, "func mian() {", "y", wording, 17, 17, []string{"file:       func main() {", "old_string: func mian() {"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.file)
			_, err := p.edit("f", tt.old, tt.now)
			if tt.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || p.get("f") != tt.file {
				t.Fatalf("it was applied: %v", err)
			}
			newline := "\n"
			if strings.Contains(tt.file, "\r\n") {
				newline = "\r\n"
			}
			m, ok := explain([]byte(tt.file), tt.old, tt.now, "old_string", newline, false)
			if !ok || m.kind != tt.kind || m.start != tt.start || m.line != tt.line {
				t.Errorf("%q at line %d, first difference at %d; want %q, %d, %d", m.kind, m.start, m.line, tt.kind, tt.start, tt.line)
			}
			for _, word := range tt.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("no %q", word)
				}
			}
			if len(err.Error()) > 700 || strings.Count(err.Error(), "\n") > 5 {
				t.Errorf("%d bytes", len(err.Error()))
			}
		})
	}
}

// TestMismatchInLongLine: of a line of 5 MB the part around the difference is shown.
func TestMismatchInLongLine(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, `{"id":%d,"name":"n%d"},`, i, i*7919%200_000)
	}
	text := b.String()
	for _, length := range []int{60, 600, 6000, 60_000} {
		at := strings.Index(text, `{"id":150000,`)
		old := text[at : at+length]
		wrong := strings.Replace(old, `"id":150001`, `"id":15001`, 1)
		m, ok := explain([]byte(text), wrong, "x", "old_string", "\n", false)
		if !ok || m.kind != wording || m.line != 1 || !strings.Contains(m.shown[0], `"id":150001`) || !strings.Contains(m.shown[1], `"id":15001,`) || len(m.message("old_string")) > 400 {
			t.Errorf("%d: %+v", length, m)
		}
	}
}

// TestMismatchIsBounded: what compares a string with a text takes about as long as reading the text, whatever they hold.
func TestMismatchIsBounded(t *testing.T) {
	long := strings.Repeat("x = compute(first, second)\n", 64<<20/27)
	for _, tt := range []struct{ name, text, old string }{
		{"64 MiB of one line", strings.Repeat("abcdefgh ", 64<<20/9), "abcdefgh abcdefhg"},
		{"64 MiB of near matches", long, "x = compute(first, third)\nx = compute(first, second)"},
		{"64 MiB of line ends", strings.Repeat("\n", 64<<20), "a\n\n\nb"},
		{"64 MiB beyond ASCII", strings.Repeat("é’\u00a0ü\n", 64<<20/9), strings.Repeat("é'\u00a0ö\n", 100)},
		{"a string of 1 MiB", long[:8<<20], strings.Replace(long[:1<<20], "second", "third", 1)},
		{"a string of 1 MiB that differs at its end", long[:8<<20], long[:1<<20] + "\nand this"},
		{"a string of line ends", long[:8<<20], "x" + strings.Repeat("\n", 1<<20)},
		{"one line of 5 MB", strings.Repeat(`{"a":[1,2,3],"b":"c"},`, 5<<20/22), strings.Repeat(`{"a":[1,2,3],"b":"d"},`, 1<<20/22)},
		{"many unlike lines", strings.Repeat("alpha beta gamma\ndelta epsilon\n", 1<<15), strings.Repeat("beta gamma delta\nepsilon alpha\n", 1<<14)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(tt.text)
			var start, end runtime.MemStats
			runtime.ReadMemStats(&start)
			began := processorTime(t)
			m, ok := explain(text, tt.old, "y", "old_string", "\n", false)
			took := processorTime(t) - began
			runtime.ReadMemStats(&end)
			allocated := (end.TotalAlloc - start.TotalAlloc) >> 20
			t.Logf("%v, %d MiB in all, %v %q", took, allocated, ok, m.message("old_string"))
			if took > 5*time.Second || allocated > 256 || len(m.message("old_string")) > 1000 {
				t.Error("too slow, too large or too long")
			}
		})
	}
}

// processorTime returns the processor time that the process has taken.
func processorTime(t *testing.T) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// FuzzMismatch: whatever is compared, the lines named are lines of the text, and the message is short, valid and without controls.
func FuzzMismatch(f *testing.F) {
	f.Add([]byte("a\tb\r\nc\n"), "a b\nd", "", false)
	f.Add([]byte("func a() {\n\treturn “1”\n}\n"), "func a() {\n  return \"1\"\n}\n\n", "x", true)
	f.Add([]byte("1\t2\n"), "     1\t1\t2", "", false)
	f.Add([]byte("e\u0301\u200b\n...\n"), "é\n...\n\\n", "e", false)
	f.Fuzz(func(t *testing.T, text []byte, old, now string, wholeLines bool) {
		for _, newline := range []string{"\n", "\r\n", "\r"} {
			m, ok := explain(text, old, now, "old_string", newline, wholeLines)
			message := m.message("old_string")
			if !ok {
				continue
			}
			lines := 1 + bytes.Count(text, []byte(newline[len(newline)-1:]))
			if m.kind == "" || m.explanation == "" || m.start < 0 || m.line < m.start || m.line > lines || m.more < 0 {
				t.Errorf("%+v", m)
			}
			if len(message) > 2000 || !utf8.ValidString(message) || strings.ContainsFunc(message, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f }) {
				t.Errorf("%q", message)
			}
		}
	})
}
