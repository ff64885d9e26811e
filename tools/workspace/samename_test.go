package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
)

const (
	nfc = "r\u00e9sum\u00e9.txt"
	nfd = "re\u0301sume\u0301.txt"
)

// A path that does not exist is answered with the existing one that reads the same, in a spelling that leads to it.
func TestSameName(t *testing.T) {
	tests := []struct {
		name     string
		files    []string
		wanted   string
		found    string // a file; empty: none
		likeness Likeness
	}{
		{"NFD, asked for as NFC", []string{nfd}, nfc, nfd, SameForm},
		{"NFC, asked for as NFD", []string{nfc}, nfd, nfc, SameForm},
		{"in a directory", []string{"caf\u0065\u0301/a.txt"}, "caf\u00e9/a.txt", "caf\u0065\u0301/a.txt", SameForm},
		{"in two", []string{"e\u0301/o\u0308/x"}, "\u00e9/\u00f6/x", "e\u0301/o\u0308/x", SameForm},
		{"a directory alone", []string{"e\u0301/x"}, "\u00e9", "e\u0301", SameForm},
		{"Hangul", []string{"\u1112\u1161\u11ab"}, "\ud55c", "\u1112\u1161\u11ab", SameForm},
		{"a curly quote", []string{"it’s.txt"}, "it's.txt", "it’s.txt", SameLooks},
		{"a straight quote", []string{"it's.txt"}, "it’s.txt", "it's.txt", SameLooks},
		{"a screenshot of macOS", []string{"Screenshot 2024-05-01 at 10.30.00\u202fAM.png"}, "Screenshot 2024-05-01 at 10.30.00 AM.png", "Screenshot 2024-05-01 at 10.30.00\u202fAM.png", SameLooks},
		{"a no-break space", []string{"a\u00a0b"}, "a b", "a\u00a0b", SameLooks},
		{"a dash", []string{"2023–2024"}, "2023-2024", "2023–2024", SameLooks},
		{"letter case", []string{"README.md"}, "readme.md", "README.md", SameCase},
		{"letter case and form", []string{"E\u0301TUDE"}, "\u00e9tude", "E\u0301TUDE", SameCase},
		{"the better one", []string{nfd, strings.ToUpper(nfc)}, nfc, nfd, SameForm},
		{"two as good", []string{"README.md", "Readme.md"}, "readme.md", "", 0},
		{"another name", []string{"resume.txt"}, nfc, "", 0},
		{"a name that is not UTF-8", []string{"caf\xe9"}, "caf\u00e9", "", 0},
		{"not below it", []string{"e\u0301/x"}, "\u00e9/y", "", 0},
		{"below a file", []string{"a"}, "A/b", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := t.TempDir()
			for _, name := range tt.files {
				name = filepath.Join(top, "d", name)
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte("text\n"), 0o666); err != nil {
					t.Skip("the file system refuses the name:", err)
				}
			}
			w, err := Open([]string{top})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			scope := agenttool.Scope{Dir: top, Roots: []string{top}}
			for _, spelling := range []string{"d/" + tt.wanted, top + "/d/" + tt.wanted, "./d/../d/" + tt.wanted} {
				p, err := Path(scope, spelling)
				if err == nil {
					err = w.Locate(&p)
				}
				if err != nil {
					t.Fatal(err)
				}
				got, ok := w.SameName(p)
				if ok != (tt.found != "") || ok && got.Likeness != tt.likeness {
					t.Fatalf("%s: %+v, %v", spelling, got, ok)
				}
				if !ok {
					continue
				}
				p, err = Path(scope, got.Spelling)
				if err == nil {
					err = w.Locate(&p)
				}
				if err != nil || p.Resolved != filepath.Join(top, "d", tt.found) {
					t.Errorf("%s: %s leads to %q, %v", spelling, got.Spelling, p.Resolved, err)
				}
				if tt.likeness == SameForm && strings.ContainsFunc(got.Spelling, func(r rune) bool { return r > 127 }) {
					t.Errorf("%q can be taken for the other name", got.Spelling)
				}
			}
		})
	}
}

// What calls cannot see is not suggested.
func TestSameNameKeepsPrivate(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"State", "state2/In"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Open([]string{top}, filepath.Join(top, "state2"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []string{"state2/in", "State2/in"} {
		p, err := Path(agenttool.Scope{Dir: top}, name)
		if err == nil {
			err = w.Locate(&p)
		}
		if got, ok := w.SameName(p); ok || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
