package screen

import (
	"fmt"
	"path/filepath"
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// layout lays out the parts of the screen of a Model.
type layout struct {
	*Model
	more bool // there are asking rows elsewhere: y shows them. It changes no width
}

// top is the head line, the warnings, the list, and the line above the body.
func (l layout) top() []row {
	rows := []row{{approve.Faint, fit(l.head(), l.width)}}
	rows = append(rows, l.warningRows()...)
	if l.dialog == nil || l.height >= 16 {
		rows = append(rows, l.list()...)
	}
	return append(rows, row{approve.Heading, ruled(l.bar(), l.width)})
}

func (l layout) head() string {
	head := fmt.Sprintf("toolhost approve  %d waiting  %d done (d)  %d", len(l.queue.Waiting), len(l.queue.Done), len(l.queue.Sessions()))
	if len(l.queue.Sessions()) == 1 {
		return head + " session"
	}
	return head + " sessions"
}

// warningRows are the first warnings; the last row says how many there are if not all is to be read.
func (l layout) warningRows() (rows []row) {
	all := warnings(&l.queue, l.trouble)
	most := 2
	if l.height < 16 {
		most = 1
	}
	for i, w := range all {
		text := "! " + w
		last := i == most-1 && len(all) > most
		if last || columns(text) > l.width {
			note := fmt.Sprintf(" (w: all %d)", len(all))
			text = fit(text, l.width-len(note)) + note
		}
		rows = append(rows, row{approve.Warning, text})
		if last {
			break
		}
	}
	return rows
}

// list are the prompts around the current one.
func (l layout) list() (rows []row) {
	all := l.listed()
	room := max(1, min(6, (l.height-10)/3))
	from := 0
	for i, it := range all {
		if it == l.current {
			from = max(0, min(i-room/2, len(all)-room))
		}
	}
	to := min(len(all), from+room)
	for i, it := range all[from:to] {
		hidden := ""
		if n := from; i == 0 && n > 0 {
			hidden = fmt.Sprintf("  … %d before", n)
		}
		if n := len(all) - to; i == to-from-1 && n > 0 {
			hidden += fmt.Sprintf("  … %d after", n)
		}
		rows = append(rows, l.listRow(it, hidden))
	}
	return rows
}

func (l layout) listRow(it *approve.Item, hidden string) row {
	r := row{approve.Plain, "  "}
	if it == l.current {
		r = row{approve.Heading, "▸ "}
	}
	state := it.Age(l.o.Now())
	switch {
	case it.Ended != "":
		state = "ended"
	case it.Sent != nil:
		state = "sending"
	}
	r.text += fmt.Sprintf("#%d %s  ", it.Number, fit(visible.Text(it.Prompt.Tool), 16))
	if len(l.queue.Sessions()) > 1 && l.width >= 60 {
		state = fit(visible.Text(filepath.Base(l.queue.Session(it.Session).Workspace)), 16) + "  " + state
	}
	state = "  " + state + hidden
	r.text = fit(r.text, l.width)
	r.text += fit(it.Prompt.Subject(), max(1, l.width-columns(r.text)-columns(state)))
	pad := l.width - columns(r.text) - columns(state)
	r.text = fit(r.text+strings.Repeat(" ", max(0, pad))+state, l.width)
	return r
}

// bar names what is in the body.
func (l layout) bar() string {
	switch {
	case l.dialog != nil:
		return l.dialog.title()
	case l.current == nil:
		return "nothing waits for you"
	}
	it := l.current
	bar := fmt.Sprintf("#%d %s", it.Number, visible.Text(it.Prompt.Tool))
	if it.Ended != "" {
		return bar
	}
	if age := it.Age(l.o.Now()); age != "" {
		bar += ", waits for " + age
	}
	if left := it.Left(l.o.Now()); left != "" {
		bar += ", " + left + " left"
	}
	return bar
}

// ruled is a line with text in it.
func ruled(text string, width int) string {
	text = fit("── "+text+" ", width)
	return text + strings.Repeat("─", max(0, width-columns(text)))
}

// bottom shows the effect of the last key, and the keys.
func (l layout) bottom() []row {
	var rows []row
	if l.notice != "" {
		rows = append(rows, row{approve.Warning, fit(l.notice, l.width)})
	}
	kind := approve.Plain
	if !l.armed {
		kind = approve.Faint
	}
	for _, text := range l.hints() {
		rows = append(rows, row{kind, text})
	}
	return rows
}

// wide is the width of a window that has room for all keys.
const wide = 70

// hints are rows that name the keys, as few as hold them all; on a low window the last keys are left to the help.
func (l layout) hints() []string {
	gap := "  "
	if l.width < wide {
		gap = " "
	}
	rows := []string{""}
	for _, h := range l.keys() {
		text, last := h.key+" "+h.does, &rows[len(rows)-1]
		switch {
		case *last == "":
			*last = text
		case columns(*last)+len(gap)+columns(text) <= l.width:
			*last += gap + text
		default:
			rows = append(rows, text)
		}
	}
	for i := range rows {
		rows[i] = fit(rows[i], l.width)
	}
	if l.height < 14 {
		rows = rows[:min(len(rows), 2)]
	}
	return rows
}

// keys are those that do something now.
func (l layout) keys() []hint {
	if l.dialog != nil {
		return l.dialog.keys()
	}
	var keys []hint
	if it := l.current; it != nil && it.Ended == "" {
		keys = l.answerKeys(it)
	}
	if l.width >= wide { // a narrow window keeps its rows for the prompt
		keys = append(keys, hint{"/", "mode"})
	}
	if l.width >= wide || l.current == nil {
		keys = append(keys, hint{"f", "live"})
	}
	keys = append(keys, hint{"?", "help"})
	if len(l.listed()) > 1 {
		keys = append(keys, hint{"tab", "next"})
	}
	return append(keys, hint{"q", "quit"})
}

func (l layout) answerKeys(it *approve.Item) (keys []hint) {
	now := l.o.Now()
	switch {
	case it.Sent != nil:
		return nil
	case l.queue.NeedsCode(it):
		return []hint{{"c", "code"}}
	case l.queue.Refusal(it, "", now) != "":
		return nil
	}
	if l.more {
		keys = append(keys, hint{"y", "more"})
	} else {
		keys = append(keys, hint{"y", "once"})
	}
	for _, k := range []string{"s", "p", "u"} {
		if l.queue.Refusal(it, scopes[k], now) == "" {
			keys = append(keys, hint{k, scopes[k]})
		}
	}
	if approve.AllEdits(it) >= 0 {
		keys = append(keys, hint{"a", "all edits"})
	}
	keys = append(keys, hint{"n", "no"}, hint{"r", "reason"}, hint{"e", "edit"})
	if l.width >= wide {
		keys = append(keys, hint{"R", "rule"})
	}
	if len(it.Prompt.Decision.SuggestedUpdates)+len(it.Prompt.Grants) > 0 {
		keys = append(keys, hint{"g", "choose"})
	}
	return keys
}
