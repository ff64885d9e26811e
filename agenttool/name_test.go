package agenttool_test

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

var oddPaths = []string{
	"", "a", "/ws/café.txt", "/ws/caf\xe9.txt", "$'a'", "$'", "'", `a\xe9`, `$'a\xe9'`, `$'a'b'`, "$'a\\", "new\nline", "tab\t", "\xff", "\xe2\x80", "\ufffd",
	"bidi\u202e", "it's \\ \xff1", "$'\\'", "~/\x80", "caf\xe9f",
}

func FuzzPathSpelling(f *testing.F) {
	for _, path := range oddPaths {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for _, spelt := range []string{agenttool.SpellPath(path), agenttool.PrintPath(path), agenttool.QuotePath(path), agenttool.EscapePath(path)} {
			if !utf8.ValidString(spelt) || agenttool.ParsePath(spelt) != path {
				t.Errorf("%q is spelt %q, which means %q", path, spelt, agenttool.ParsePath(spelt))
			}
		}
		p := agenttool.Path{Spelling: "s", Absolute: path, Resolved: path, Root: path}
		text, err := json.Marshal(p)
		var again agenttool.Path
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || again != p {
			t.Errorf("%+v became %+v: %v", p, again, err)
		}
	})
}

// What QuotePath writes is the same path for bash, so that a name can be taken from one tool to another.
func TestBashReadsQuotedPaths(t *testing.T) {
	for _, path := range oddPaths {
		if strings.ContainsRune(path, 0) {
			continue
		}
		out, err := exec.Command("bash", "--norc", "-c", "printf %s "+agenttool.QuotePath(path)).Output()
		if err != nil {
			t.Skip("no bash:", err)
		}
		if string(out) != path {
			t.Errorf("%q: bash reads %q", path, out)
		}
	}
}
