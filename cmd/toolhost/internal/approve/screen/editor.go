package screen

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// editor is a text that a person writes. It changes nothing that the person does not: characters that cannot be seen are kept,
// and written out.
type editor struct {
	lines    [][]rune // at least one
	row, col int      // of the cursor, in runes
	single   bool     // one line only
	most     int      // bytes
	size     int      // bytes now
}

func newEditor(text string, single bool, most int) *editor {
	e := &editor{lines: [][]rune{nil}, single: single, most: most}
	e.insert(text)
	return e
}

func (e *editor) text() string {
	lines := make([]string, len(e.lines))
	for i, line := range e.lines {
		lines[i] = string(line)
	}
	return strings.Join(lines, "\n")
}

// insert writes text at the cursor, as far as there is room.
func (e *editor) insert(text string) {
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		if e.size += utf8.RuneLen(r); e.size > e.most {
			e.size -= utf8.RuneLen(r)
			return
		}
		switch {
		case r == '\n' && e.single:
			e.write(' ')
		case r == '\n':
			rest := slices.Clone(e.lines[e.row][e.col:])
			e.lines[e.row] = e.lines[e.row][:e.col]
			e.row, e.col = e.row+1, 0
			e.lines = slices.Insert(e.lines, e.row, rest)
		default:
			e.write(r)
		}
	}
}

func (e *editor) write(r rune) {
	e.lines[e.row] = slices.Insert(e.lines[e.row], e.col, r)
	e.col++
}

// paste inserts pasted text, with the line ends of this system.
func (e *editor) paste(text string) {
	e.insert(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
}

// press takes a key and reports whether it is one that edits.
func (e *editor) press(key tea.KeyPressMsg) bool {
	switch k := name(key); k {
	case "left", "ctrl+b":
		e.left()
	case "right", "ctrl+f":
		if e.col < len(e.lines[e.row]) {
			e.col++
		} else if e.row < len(e.lines)-1 {
			e.row, e.col = e.row+1, 0
		}
	case "up", "ctrl+p":
		e.to(e.row - 1)
	case "down", "ctrl+n":
		e.to(e.row + 1)
	case "pgup":
		e.to(e.row - 10)
	case "pgdown":
		e.to(e.row + 10)
	case "home", "ctrl+a":
		e.col = 0
	case "end", "ctrl+e":
		e.col = len(e.lines[e.row])
	default:
		return e.change(key, k)
	}
	return true
}

func (e *editor) change(key tea.KeyPressMsg, k string) bool {
	switch {
	case k == "backspace" || k == "ctrl+h":
		if e.row+e.col > 0 {
			e.left()
			e.remove()
		}
	case k == "delete" || k == "ctrl+d":
		e.remove()
	case k == "ctrl+u":
		e.cut(0, e.col)
		e.col = 0
	case k == "ctrl+k":
		e.cut(e.col, len(e.lines[e.row]))
	case k == "ctrl+w":
		from := e.wordBefore()
		e.cut(from, e.col)
		e.col = from
	case k == "enter" && !e.single:
		e.insert("\n")
	case k == "tab" && !e.single:
		e.insert("\t")
	case key.Text != "" && key.Mod&^tea.ModShift == 0:
		e.insert(key.Text)
	default:
		return false
	}
	return true
}

func (e *editor) left() {
	if e.col > 0 {
		e.col--
	} else if e.row > 0 {
		e.row--
		e.col = len(e.lines[e.row])
	}
}

func (e *editor) to(line int) {
	e.row = max(0, min(line, len(e.lines)-1))
	e.col = min(e.col, len(e.lines[e.row]))
}

// remove takes away what is under the cursor.
func (e *editor) remove() {
	switch {
	case e.col < len(e.lines[e.row]):
		e.cut(e.col, e.col+1)
	case e.row < len(e.lines)-1:
		e.size--
		e.lines[e.row] = append(e.lines[e.row], e.lines[e.row+1]...)
		e.lines = slices.Delete(e.lines, e.row+1, e.row+2)
	}
}

// cut takes away a part of the line of the cursor.
func (e *editor) cut(from, to int) {
	e.size -= len(string(e.lines[e.row][from:to]))
	e.lines[e.row] = slices.Delete(e.lines[e.row], from, to)
}

func (e *editor) wordBefore() int {
	line, at := e.lines[e.row], e.col
	for at > 0 && line[at-1] == ' ' {
		at--
	}
	for at > 0 && line[at-1] != ' ' {
		at--
	}
	return at
}

// gutter stands before each row: a line that goes on has ↪ there.
const gutter = 2

// rows are the rows around the cursor, and where the cursor is in them.
func (e *editor) rows(width, height int) (rows []row, column, line int) {
	at := 0
	for i := range e.lines {
		wrapped, x, y := e.wrapped(i, width-gutter-1) // the cursor can stand behind the last character
		if i == e.row {
			column, at = x+gutter, len(rows)+y
		}
		rows = append(rows, wrapped...)
		if len(rows) > at+height && i >= e.row {
			break
		}
	}
	from := max(0, min(at-height/2, len(rows)-height))
	return rows[from:min(len(rows), from+height)], column, at - from
}

// wrapped are the rows of one line; x and y are the place of the cursor, if it is in that line.
func (e *editor) wrapped(i, width int) (rows []row, x, y int) {
	var b strings.Builder
	used, before := 0, "  "
	for j, r := range e.lines[i] {
		shown := visible.Text(string(r))
		if w := columns(shown); used+w > width && used > 0 {
			rows = append(rows, row{approve.Command, before + b.String()})
			b.Reset()
			used, before = 0, "↪ "
		}
		if i == e.row && j == e.col {
			x, y = used, len(rows)
		}
		b.WriteString(shown)
		used += columns(shown)
	}
	if i == e.row && e.col == len(e.lines[i]) {
		x, y = used, len(rows)
	}
	return append(rows, row{approve.Command, before + b.String()}), x, y
}
