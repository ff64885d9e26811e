package screen

import (
	"strings"
	"testing"
)

func TestEditor(t *testing.T) {
	for _, c := range []struct{ name, text, keys, want string }{
		{"typing", "", "a b", "ab"},
		{"in the middle", "ac", "left b", "abc"},
		{"lines", "ab", "left enter", "a\nb"},
		{"joined with backspace", "a\nb", "home backspace", "ab"},
		{"joined with delete", "a\nb", "up end delete", "ab"},
		{"up and down", "abc\nd", "up x down y", "axbc\ndy"},
		{"the beginning and the end", "b", "home a end c", "abc"},
		{"left and right over a line end", "a\nb", "home left x right right y", "ax\nby"},
		{"a word back", "make  install", "ctrl+w", "make  "},
		{"all before", "ab", "left ctrl+u", "b"},
		{"all behind", "ab", "left ctrl+k", "a"},
		{"nothing left to take", "", "backspace delete ctrl+w ctrl+u ctrl+k left right up down x", "x"},
		{"a tab", "", "tab", "\t"},
		{"what cannot be seen stays", "a\u200b\x1b[2J\r", "b", "a\u200b\x1b[2J\rb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEditor(c.text, false, 1000)
			for k := range strings.FieldsSeq(c.keys) {
				if !e.press(key(k)) {
					t.Errorf("%s edits nothing", k)
				}
			}
			if got := e.text(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if e.size != len(c.want) {
				t.Errorf("it takes %d bytes for %d", e.size, len(c.want))
			}
		})
	}
}

func TestEditorIsBounded(t *testing.T) {
	e := newEditor("", true, 5)
	e.paste("ab\r\ncdef")
	e.insert("é")
	if got := e.text(); got != "ab cd" {
		t.Errorf("%q", got)
	}
}

// FuzzEditor checks that a text comes out as it went in, that no row is too wide, and that the cursor is on the screen.
func FuzzEditor(f *testing.F) {
	f.Add("a\n\u200b删除", 9, 3)
	f.Fuzz(func(t *testing.T, text string, width, height int) {
		width, height = 16+(width&0xff), 1+(height&0xf)
		text = strings.ToValidUTF8(text, "?")
		e := newEditor(text, false, len(text))
		if e.text() != text {
			t.Errorf("%q became %q", text, e.text())
		}
		rows, x, y := e.rows(width, height)
		if y < 0 || y >= len(rows) || len(rows) > height || x > width {
			t.Errorf("the cursor is at %d,%d in %d rows of %d columns", x, y, len(rows), width)
		}
		for _, r := range rows {
			if columns(r.text) > width {
				t.Errorf("%q is wider than %d", r.text, width)
			}
		}
	})
}
