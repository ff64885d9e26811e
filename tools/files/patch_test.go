package files

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"toolhost/agenttool"
)

func patchOf(lines ...string) string {
	return patchBegin + "\n" + strings.Join(lines, "\n") + "\n" + patchEnd
}

// TestApplyHunks: hunks are found in order, below the lines that they name, and without regard to spaces at line ends.
func TestApplyHunks(t *testing.T) {
	const text = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 1\n}\n"
	for _, tt := range []struct{ name, text, patch, want string }{
		{"context", text, " func a() {\n-\treturn 1\n+\treturn 2", strings.Replace(text, "return 1", "return 2", 1)},
		{"below a line", text, "@@ func b() {\n-\treturn 1\n+\treturn 2", "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"},
		{"two hunks", text, "@@\n-\treturn 1\n+\treturn 2\n@@\n-\treturn 1\n+\treturn 3", "func a() {\n\treturn 2\n}\n\nfunc b() {\n\treturn 3\n}\n"},
		{"spaces at the end", "a  \nb\n", "-a\n-b\n+c", "c\n"},
		{"an addition at the end", "a\n", "+b", "a\nb\n"},
		{"the end of the file", "a\nb\na\n", "-a\n+c\n*** End of File", "a\nb\nc\n"},
		{"an empty line", "a\n\nb\n", " a\n\n-b\n+c", "a\n\nc\n"},
		{"no line end", "a\nb", "-b\n+c", "a\nc"},
		{"all of it", "a\n", "-a", ""},
		{"not there", text, "-nothing\n+x", "error"},
		{"no such line above", text, "@@ func c() {\n-\treturn 1", "error"},
		{"a unified header", "a\nb\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c", "a\nc\na\nb\n"},
		{"a unified header, second place", "a\nb\na\nb\n", "@@ -3,2 +3,2 @@ func x() {\n a\n-b\n+c", "a\nb\na\nc\n"},
		{"a unified header, one place elsewhere", "x\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c", "x\na\nc\n"},
		{"a unified header, two places elsewhere", "x\na\nb\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c", "error"},
		{"two unified headers", text, "@@ -1,3 +1,3 @@\n func a() {\n-\treturn 1\n+\treturn 2\n }\n@@ -6 +6 @@\n-\treturn 1\n+\treturn 3", "func a() {\n\treturn 2\n}\n\nfunc b() {\n\treturn 3\n}\n"},
		{"a unified header that only adds", "a\nb\n", "@@ -1,0 +2 @@\n+x", "error"},
		{"a unified header that only adds at the top", "a\nb\n", "@@ -0,0 +1 @@\n+x", "error"},
		{"a unified header for an empty file", "", "@@ -0,0 +1 @@\n+x", "x\n"},
		{"the names of a unified diff", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b", "b\n"},
		{"no final line end, as before", "a\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file", "c\nb"},
		{"closed header", text, "@@ func b() { @@\n-\treturn 1\n+\treturn 2", "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"},
		{"context stays as it is", "a  \r\nb\nc \n", " a\n-b\n+x\n c", "a  \r\nx\nc \n"},
		{"behind the first only", "a\nb\n", "-b\n+x\n@@\n-a\n+y", "error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sections, err := parsePatch(patchOf("*** Update File: f", tt.patch))
			if err != nil {
				t.Fatal(err)
			}
			got, err := applyHunks(tt.text, "f", sections[0].hunks)
			if tt.want == "error" && err == nil || tt.want != "error" && (err != nil || got != tt.want) {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// TestHunksThatDoNotFit: the error shows the line that differs, of all lines of the hunk, or where the lines stand.
func TestHunksThatDoNotFit(t *testing.T) {
	text := strings.ReplaceAll(program, `\u00e9`, "é")
	whole := " " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n ") + "\n+// end"
	for _, tt := range []struct {
		name, text, patch string
		words             []string
	}{
		{"a hunk of 21 lines", text, strings.Replace(whole, "panic(err)", "panic(e)", 1),
			[]string{"line 1, first difference: line 19: the text differs", "file:  \t\tpanic(err)\npatch: \t\tpanic(e)"}},
		{"blanks for tabs", text, " func main() {\n-    if err := greet(\"you\"); err != nil {\n+x", []string{"line 18", "the file indents with 1 tab, the patch with 4 blanks", "patch: ····if"}},
		{"the second hunk", text, "@@\n-import \"fmt\"\n+import \"log\"\n@@\n-\treturn err\n+x", []string{"hunk 2 of the patch", "line 14: the text differs"}},
		{"a line above", text, "@@ func man() {\n-\tif err", []string{"does not hold the line after @@", "file:  func main() {\npatch: func man() {"}},
		{"a line above that is above", text, "@@ func main() {\n@@ import \"fmt\"\n-x", []string{"stands at line 3, above"}},
		{"hunks out of order", text, "@@\n-func main() {\n+x\n@@\n-import \"fmt\"\n+y", []string{"stand at line 3 only, above line 18", "in the order of the file"}},
		{"not at the end", text, "-func main() {\n+x\n*** End of File", []string{"stand at line 17, and not at the end"}},
		{"two places", "x\na\nb\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c", []string{"lines 2 and 4, and not at line 1"}},
		{"a part of a line", text, "-func main()\n+x", []string{"line 17", "func main() {"}},
		{"replaced already", text, " \t}\n-\treturn err\n+\treturn nil\n }\n \n func main() {", []string{"line 13: the file holds the replacement already"}},
		{"nothing like it", text, "-zzzzzz\n+x", []string{"nothing like it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sections, err := parsePatch(patchOf("*** Update File: f", tt.patch))
			if err != nil {
				t.Fatal(err)
			}
			_, err = applyHunks(tt.text, "f", sections[0].hunks)
			if err == nil {
				t.Fatal("it was applied")
			}
			for _, word := range append(tt.words, "f: nothing was changed") {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("no %q", word)
				}
			}
		})
	}
}

// TestPatchesThatAreNone are refused with the line that is wrong.
func TestPatchesThatAreNone(t *testing.T) {
	for _, text := range []string{
		"", "diff", patchBegin, patchBegin + "\n" + patchEnd, patchOf("hello"), patchOf("*** Add File: "), patchOf("*** Add File: a", "no plus"),
		patchOf("*** Update File: a"), patchOf("*** Update File: a", "@@ x"), patchOf("*** Update File: a", "?x"),
		patchOf("*** Update File: a", "-b", "\\ No newline at end of file", "+c"),
	} {
		if s, err := parsePatch(text); err == nil {
			t.Errorf("%q is a patch: %+v", text, s)
		} else if agenttool.AsError(err, agenttool.ExecutionFailed).Class != agenttool.InvalidArguments {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzPatch(f *testing.F) {
	f.Add(patchOf("*** Update File: f", "@@ a", " b", "-c", "+d"), "a\nb\nc\n")
	f.Fuzz(func(t *testing.T, patch, text string) {
		sections, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, s := range sections {
			if out, err := applyHunks(text, "f", s.hunks); err != nil && out != "" {
				t.Fatal("an error with a text")
			}
		}
	})
}

// TestPatch: a patch of several files is shown whole, names all that it touches, and is made whole or not at all.
func TestPatch(t *testing.T) {
	p := newProject(t, Options{})
	p.put("a.go", "package a\r\n\r\nvar x = 1\r\n")
	p.put("old.txt", "gone\n")
	p.put("move.txt", "one\ntwo\n")
	text := patchOf("*** Update File: a.go", "-var x = 1", "+var x = 2", "*** Add File: new/b.txt", "+b", "*** Delete File: old.txt",
		"*** Update File: move.txt", "*** Move to: moved.txt", "@@", " one", "-two", "+2")
	call := p.mustBind("edit", in{"patch": text})
	var writes []string
	for _, w := range call.Facts().Writes {
		writes = append(writes, w.Spelling)
	}
	if got := strings.Join(writes, " "); got != "a.go new/b.txt old.txt move.txt moved.txt" || call.Facts().Destructive != agenttool.Yes || len(call.Facts().Inferred) > 0 {
		t.Errorf("it writes %s, destructive %v", got, call.Facts().Destructive)
	}
	shown, err := call.(agenttool.Previewer).Preview(t.Context())
	if err != nil || shown.Partial {
		t.Fatal(shown, err)
	}
	for _, part := range []string{"+var x = 2", "+++ b/new/b.txt", "-gone", "--- a/old.txt\n+++ /dev/null", "--- a/move.txt", "+2"} {
		if !strings.Contains(shown.Diff, part) {
			t.Errorf("%q is not in\n%s", part, shown.Diff)
		}
	}
	if _, err := call.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if p.get("a.go") != "package a\r\n\r\nvar x = 2\r\n" || p.get("new/b.txt") != "b\n" || p.get("moved.txt") != "one\n2\n" {
		t.Errorf("%q %q %q", p.get("a.go"), p.get("new/b.txt"), p.get("moved.txt"))
	}
	if got := strings.Join(p.names("."), " "); got != "a.go moved.txt new" {
		t.Errorf("there are %s", got)
	}
}

// TestPatchChangesNothingOnError: every section is checked before the first is made, also against what was approved.
func TestPatchChangesNothingOnError(t *testing.T) {
	for name, last := range map[string][]string{
		"a hunk that does not fit":    {"*** Update File: b.txt", "-nothing"},
		"a file that is there":        {"*** Add File: b.txt", "+x"},
		"a file that is not there":    {"*** Delete File: c.txt"},
		"a move to a file that is":    {"*** Update File: c.txt", "*** Move to: b.txt"},
		"an update of a missing file": {"*** Update File: c.txt", "-a"},
		"the same file twice":         {"*** Update File: a.txt", "-a"},
		"a directory":                 {"*** Add File: d/", "+x"},
		"outside":                     {"*** Delete File: b.txt/../.."},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("a.txt", "a\n")
			p.put("b.txt", "b\n")
			text := patchOf(append([]string{"*** Update File: a.txt", "-a", "+changed"}, last...)...)
			if _, err := p.run("edit", in{"patch": text}); err == nil || p.get("a.txt") != "a\n" || p.get("b.txt") != "b\n" {
				t.Errorf("%v, %q, %q", err, p.get("a.txt"), p.get("b.txt"))
			}
		})
	}
	p := newProject(t, Options{})
	p.put("a.txt", "a\n")
	p.put("b.txt", "b\n")
	call := p.mustBind("edit", in{"patch": patchOf("*** Update File: a.txt", "-a", "+changed", "*** Delete File: b.txt")})
	if _, err := call.(agenttool.Previewer).Preview(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.put("b.txt", "precious\n")
	if _, err := call.Run(t.Context(), nil); err == nil || p.get("a.txt") != "a\n" || p.get("b.txt") != "precious\n" {
		t.Errorf("it was deleted after it had changed: %v", err)
	}
}

// A file that a patch moves keeps its mode: a script stays one.
func TestPatchMoveKeepsMode(t *testing.T) {
	p := newProject(t, Options{})
	p.put("run.sh", "echo a\n")
	if err := os.Chmod(p.path("run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := p.run("edit", in{"patch": patchOf("*** Update File: run.sh", "*** Move to: bin/go.sh", "-echo a", "+echo b")}); err != nil {
		t.Fatal(err)
	}
	if mode := p.lstat("bin/go.sh").Mode & 0o7777; mode != 0o750 || p.get("bin/go.sh") != "echo b\n" {
		t.Errorf("mode %o, %q", mode, p.get("bin/go.sh"))
	}
}

// A patch does not delete a file that it names only by a link, and would leave the link.
func TestPatchRemovesNoFileBehindALink(t *testing.T) {
	for name, patch := range map[string]string{
		"delete": patchOf("*** Delete File: link"),
		"move":   patchOf("*** Update File: link", "*** Move to: moved", "-a", "+b"),
		"a link in another directory, of the same name": patchOf("*** Delete File: d/file"),
	} {
		p := newProject(t, Options{})
		p.put("file", "a\n")
		p.put("d/other", "")
		if err := cmp.Or(os.Symlink("file", p.path("link")), os.Symlink("../file", p.path("d/file")), os.Symlink("d", p.path("dir"))); err != nil {
			t.Fatal(err)
		}
		_, err := p.run("edit", in{"patch": patch})
		if err == nil || !strings.Contains(err.Error(), "is a link to "+p.path("file")) || p.get("file") != "a\n" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(p.path("moved")); err == nil {
			t.Errorf("%s: moved exists", name)
		}
		if _, err := p.run("edit", in{"patch": patchOf("*** Delete File: dir/other")}); err != nil {
			t.Errorf("%s: a file in a directory behind a link: %v", name, err)
		}
		if _, err := p.run("edit", in{"patch": patchOf("*** Update File: link", "-a", "+b")}); err != nil || p.get("file") != "b\n" {
			t.Errorf("%s: an update: %v, %q", name, err, p.get("file"))
		}
	}
}
