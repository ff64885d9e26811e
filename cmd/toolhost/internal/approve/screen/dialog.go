package screen

import (
	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool/count"
	"toolhost/cmd/toolhost/internal/approve"
)

// reader is a dialog with a text to read.
type reader struct {
	name   string
	lines  []approve.Line
	sheet  *sheet
	offset int
	height int
}

func (r *reader) title() string { return r.name }

func (r *reader) keys() []hint { return []hint{{"space", "scroll"}, {"esc", "back"}} }

func (r *reader) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	switch name(key) {
	case "esc", "q", "enter", "?", "d", "w":
		return m.close()
	case "space", "pgdown", "f":
		r.scroll(r.height - 1)
	case "pgup", "b":
		r.scroll(1 - r.height)
	case "down", "j":
		r.scroll(1)
	case "up", "k":
		r.scroll(-1)
	case "home":
		r.scroll(-r.offset)
	case "end", "G":
		r.scroll(r.sheet.rows())
	}
	return nil
}

func (r *reader) scroll(by int) {
	if r.sheet != nil {
		r.offset = max(0, min(r.offset+by, r.sheet.rows()-r.height))
	}
}

func (r *reader) rows(width, height int) ([]row, int, int) {
	if r.sheet == nil || r.sheet.width != width {
		r.sheet = newSheet(r.lines, width)
	}
	r.height = max(1, height-1)
	r.scroll(0)
	rows := r.sheet.view(r.offset, r.height)
	return append(rows, row{approve.Faint, more(r.sheet.rows(), r.offset, r.height)}), -1, 0
}

// more says what of a text is not on the screen.
func more(total, offset, height int) string {
	below := max(0, total-offset-height)
	switch {
	case offset == 0 && below == 0:
		return ""
	case below == 0:
		return "… " + lines(offset) + " above; this is the end"
	case offset == 0:
		return "… " + count.Grouped(below, "more line", "more lines") + ", space to scroll"
	}
	return "… " + lines(offset) + " above, " + count.Thousands(below) + " more below, space to scroll"
}

func lines(n int) string { return count.Grouped(n, "line", "lines") }
