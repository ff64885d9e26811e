package screen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  approve.Kind
		width int
		text  string
		want  string // rows, joined with |
	}{
		{"fits", approve.Plain, 10, "0123456789", "0123456789"},
		{"empty", approve.Plain, 10, "", ""},
		{"commands fill their rows", approve.Command, 10, "echo one two three", "echo one t|↪ wo three"},
		{"prose breaks at blanks", approve.Plain, 10, "echo one two", "echo one |↪ two"},
		{"prose without blanks", approve.Plain, 6, "0123456789", "012345|↪ 6789"},
		{"wide characters", approve.Command, 7, "删除删除删", "删除删|↪ 除删"},
		{"accents stay on their letter", approve.Command, 4, "abce\u0301f", "abce\u0301|↪f"},
		{"marks are not torn", approve.Command, 12, "abcdef⟨U+202E⟩x", "abcdef|↪ ⟨U+202E⟩x"},
		{"a mark that is wider than the screen", approve.Command, 6, "⟨5000 blanks⟩", "⟨5000 |↪ blan|↪ ks⟩"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, r := range wrap(approve.Line{Kind: c.kind, Indent: 2, Text: c.text}, c.width) {
				got = append(got, r.text)
				if columns(r.text) > c.width {
					t.Errorf("row %q is wider than %d", r.text, c.width)
				}
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("wrap(%q, %d) = %q, want %q", c.text, c.width, strings.Join(got, "|"), c.want)
			}
		})
	}
}

// TestSheetLosesNothing checks that every character can be scrolled to, at every width.
func TestSheetLosesNothing(t *testing.T) {
	text := strings.Repeat("ls -l 删除 e\u0301 \x1b[0m ", 900) + "\n\nrm -rf x\n" + strings.Repeat("a", 3*longest)
	var lines []approve.Line
	want := ""
	for _, line := range visible.Lines(text) {
		lines = append(lines, approve.Line{Kind: approve.Command, Indent: 2, Text: line})
		want += line
	}
	for _, width := range []int{12, 40, 80, 200} {
		s := newSheet(lines, width)
		var got strings.Builder
		for from := 0; from < s.rows(); from += 7 {
			for _, r := range s.view(from, 7) {
				if columns(r.text) > width {
					t.Fatalf("width %d: row %q", width, r.text)
				}
				got.WriteString(strings.TrimPrefix(r.text, "↪ "))
			}
		}
		if got.String() != want {
			t.Errorf("width %d: what can be scrolled to is not what was sent", width)
		}
	}
}

// TestSheetIsFluid checks that a screen of a huge text is made in no time once it is laid out, and that laying out is bearable.
func TestSheetIsFluid(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	var diff strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&diff, "+\tline %d %s\n", i, strings.Repeat("é", 120))
	}
	diff.WriteString("+" + strings.Repeat("x", 4<<20) + "\n")
	lines := approve.DiffLines(diff.String())
	begun := time.Now()
	s := newSheet(lines, 80)
	laidOut := time.Since(begun)
	begun = time.Now()
	const screens = 200
	for i := range screens {
		if len(s.view(s.rows()*i/screens, 24)) == 0 {
			t.Fatal("an empty screen")
		}
	}
	each := time.Since(begun) / screens
	t.Logf("%d rows laid out in %v, a screen in %v", s.rows(), laidOut, each)
	if laidOut > time.Minute || each > time.Second { // finds what does not end; the figures are in the log
		t.Errorf("laid out in %v, a screen in %v", laidOut, each)
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("echo ⟨ESC⟩ 删除", 7)
	f.Add("0⟨", 4)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 4 + (width&0x7fff)%200
		text = visible.Code(text)
		line := approve.Line{Kind: approve.Command, Indent: 2, Text: text}
		got := ""
		for i, r := range wrap(line, width) {
			if columns(r.text) > width {
				t.Errorf("%q is wider than %d", r.text, width)
			}
			if i > 0 {
				r.text = strings.TrimPrefix(r.text, hanging(min(2, width/3)))
			}
			got += r.text
		}
		if height(line, width) != len(wrap(line, width)) {
			t.Error("height is not the number of rows")
		}
		if got != text {
			t.Errorf("wrap(%q) lost text: %q", text, got)
		}
	})
}
