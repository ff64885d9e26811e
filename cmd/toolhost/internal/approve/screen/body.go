package screen

import (
	"fmt"
	"strings"
	"time"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// body returns the main part of the screen: the dialog, the current prompt, or the idle page.
func (l layout) body(height int) ([]row, int, int) {
	switch {
	case height < 1:
		return nil, -1, 0
	case l.dialog != nil:
		return l.dialog.rows(l.width, height)
	case l.current == nil:
		return l.idle(height), -1, 0
	}
	sheet := l.laidOut()
	l.clamp() // the window may have grown
	rows := sheet.view(l.offset, height-1)
	for len(rows) < height-1 {
		rows = append(rows, row{})
	}
	return append(rows, l.rest(height-1)), -1, 0
}

// rest counts the lines of the prompt that are not on the screen, and says whether some of them ask.
func (l layout) rest(height int) row {
	sheet := l.laidOut()
	below := sheet.rows() - l.offset - height
	if below > 0 && l.more {
		return row{approve.Warning, fit("▼ "+lines(below)+" more, some ask: space, then y", l.width)}
	}
	return row{approve.Faint, fit(more(sheet.rows(), l.offset, height), l.width)}
}

// idle is the body when nothing waits.
func (l layout) idle(height int) (rows []row) {
	var all []approve.Line
	say := func(format string, args ...any) {
		all = append(all, approve.Line{Kind: approve.Faint, Indent: 4, Text: fmt.Sprintf(format, args...)})
	}
	say("Prompts of your running sessions appear here.")
	for _, s := range l.queue.Sessions() {
		say("  session %s in %s%s", visible.Text(s.Short()), visible.Text(s.Workspace), readOnly(s))
	}
	for _, d := range l.queue.Done[max(0, len(l.queue.Done)-3):] {
		say("  %s  #%d %s: %s", d.At.Local().Format("15:04:05"), d.Number, d.Tool, d.How)
	}
	sheet := newSheet(all, l.width)
	rows = sheet.view(0, height)
	if hidden := sheet.rows() - height; hidden > 0 {
		rows[len(rows)-1] = row{approve.Faint, "… " + lines(hidden+1) + " more"}
	}
	return rows
}

func readOnly(s approve.Session) string {
	switch {
	case s.Approvals.MayAnswer:
		return ""
	case s.Approvals.NeedsCode:
		return " (wants a code)"
	}
	return " (read only: " + visible.Text(s.Approvals.Why) + ")"
}

// standing says how the prompt stands, if that is not simply that it waits.
func standing(it *approve.Item, queue *approve.Queue, now time.Time) (lines []approve.Line) {
	say := func(text string) {
		lines = append(lines, approve.Line{Kind: approve.Warning, Indent: 2, Text: text})
	}
	if it.Ended != "" {
		say("IT HAS ENDED: " + it.Ended)
	} else if why := queue.Refusal(it, "", now); why != "" && it.Sent == nil {
		say("READ ONLY: " + why)
	}
	if it.Error != "" {
		say("Your answer did not count: " + it.Error)
	}
	if len(lines) > 0 {
		lines = append(lines, approve.Line{})
	}
	return lines
}

// The sequences that show kinds. Without colour bold and faint are left, and no meaning is lost.
var looks = map[approve.Kind]string{
	approve.Heading: "\x1b[1m", approve.Danger: "\x1b[1;31m", approve.Warning: "\x1b[1;33m", approve.Good: "\x1b[32m", approve.Faint: "\x1b[2m",
	approve.Added: "\x1b[32m", approve.Removed: "\x1b[31m", approve.Hunk: "\x1b[36m",
}

const plainly = "\x1b[0m"

// paint returns the bytes of a row for the terminal. It shows marks in ⟨ ⟩ in reverse video.
func paint(r row) string {
	look := looks[r.kind]
	if !strings.ContainsRune(r.text, visible.Open) {
		if look == "" {
			return r.text
		}
		return look + r.text + plainly
	}
	var b strings.Builder
	b.WriteString(look)
	for _, c := range r.text {
		if c == visible.Open {
			b.WriteString("\x1b[7m")
		}
		b.WriteRune(c)
		if c == visible.Close {
			b.WriteString(plainly + look)
		}
	}
	b.WriteString(plainly)
	return b.String()
}
