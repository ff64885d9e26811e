package screen

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// View is the screen: as many rows as the window has, none wider.
func (m *Model) View() tea.View {
	v := tea.View{AltScreen: true}
	var rows []string
	if m.small() {
		rows = []string{fit(fmt.Sprintf("too small: %d x %d", m.width, m.height), m.width), fit("40 x 10 is enough", m.width), fit("q quits", m.width)}
		v.Content = strings.Join(rows[:max(0, min(len(rows), m.height))], "\n")
		return v
	}
	top := m.top()
	bottom := m.bottom()
	body, column, line := m.body(m.height - len(top) - len(bottom))
	if column >= 0 {
		v.Cursor = tea.NewCursor(min(column, m.width-1), len(top)+line)
	}
	body = body[:max(0, min(len(body), m.height-len(top)-len(bottom)))]
	for len(body) < m.height-len(top)-len(bottom) {
		body = append(body, row{})
	}
	for _, part := range [][]row{top, body, bottom} {
		for _, r := range part {
			r.text = fit(r.text, m.width)
			rows = append(rows, paint(r))
		}
	}
	v.Content = strings.Join(rows, "\n")
	return v
}

// top is the head line, the warnings, the list, and the line above the body.
func (m *Model) top() []row {
	rows := []row{{approve.Faint, fit(m.head(), m.width)}}
	rows = append(rows, m.warningRows()...)
	if m.dialog == nil || m.height >= 16 {
		rows = append(rows, m.list()...)
	}
	return append(rows, row{approve.Heading, ruled(m.bar(), m.width)})
}

func (m *Model) head() string {
	head := fmt.Sprintf("toolhost approve  %d waiting  %d done (d)  %d", len(m.queue.Waiting), len(m.queue.Done), len(m.queue.Sessions()))
	if len(m.queue.Sessions()) == 1 {
		return head + " session"
	}
	return head + " sessions"
}

// warningRows are the first warnings; the last row says how many there are if not all is to be read.
func (m *Model) warningRows() (rows []row) {
	all := m.warnings()
	most := 2
	if m.height < 16 {
		most = 1
	}
	for i, w := range all {
		text := "! " + w
		last := i == most-1 && len(all) > most
		if last || columns(text) > m.width {
			note := fmt.Sprintf(" (w: all %d)", len(all))
			text = fit(text, m.width-len(note)) + note
		}
		rows = append(rows, row{approve.Warning, text})
		if last {
			break
		}
	}
	return rows
}

// list are the prompts around the current one.
func (m *Model) list() (rows []row) {
	all := m.listed()
	room := max(1, min(6, (m.height-10)/3))
	from := 0
	for i, it := range all {
		if it == m.current {
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
		rows = append(rows, m.listRow(it, hidden))
	}
	return rows
}

func (m *Model) listRow(it *approve.Item, hidden string) row {
	r := row{approve.Plain, "  "}
	if it == m.current {
		r = row{approve.Heading, "▸ "}
	}
	state := it.Left(m.o.Now())
	switch {
	case it.Ended != "":
		state = "ended"
	case it.Sent != nil:
		state = "sending"
	}
	r.text += fmt.Sprintf("#%d %s  ", it.Number, fit(visible.Text(it.Prompt.Tool), 16))
	if len(m.queue.Sessions()) > 1 && m.width >= 60 {
		state = fit(visible.Text(filepath.Base(m.queue.Session(it.Session).Workspace)), 16) + "  " + state
	}
	state = "  " + state + hidden
	r.text = fit(r.text, m.width)
	r.text += fit(it.Prompt.Subject(), max(1, m.width-columns(r.text)-columns(state)))
	pad := m.width - columns(r.text) - columns(state)
	r.text = fit(r.text+strings.Repeat(" ", max(0, pad))+state, m.width)
	return r
}

// bar names what is in the body.
func (m *Model) bar() string {
	switch {
	case m.dialog != nil:
		return m.dialog.title()
	case m.current == nil:
		return "nothing waits for you"
	}
	it := m.current
	bar := fmt.Sprintf("#%d %s", it.Number, visible.Text(it.Prompt.Tool))
	if left := it.Left(m.o.Now()); left != "" && it.Ended == "" {
		bar += ", " + left + " left"
	}
	if dir := it.Prompt.Dir; dir != "" {
		bar += ", in " + visible.Text(dir)
	}
	return bar
}

// ruled is a line with text in it.
func ruled(text string, width int) string {
	text = fit("── "+text+" ", width)
	return text + strings.Repeat("─", max(0, width-columns(text)))
}

// bottom is what the last key did, and the keys.
func (m *Model) bottom() []row {
	var rows []row
	if m.notice != "" {
		rows = append(rows, row{approve.Warning, fit(m.notice, m.width)})
	}
	kind := approve.Plain
	if !m.armed {
		kind = approve.Faint
	}
	for _, text := range m.hints() {
		rows = append(rows, row{kind, text})
	}
	return rows
}

// hints are rows that name the keys, as few as hold them all; on a low window the last keys are left to the help.
func (m *Model) hints() []string {
	gap := "  "
	if m.width < 70 {
		gap = " "
	}
	rows := []string{""}
	for _, h := range m.keys() {
		text, last := h.key+" "+h.does, &rows[len(rows)-1]
		switch {
		case *last == "":
			*last = text
		case columns(*last)+len(gap)+columns(text) <= m.width:
			*last += gap + text
		default:
			rows = append(rows, text)
		}
	}
	for i := range rows {
		rows[i] = fit(rows[i], m.width)
	}
	if m.height < 14 {
		rows = rows[:min(len(rows), 2)]
	}
	return rows
}

// keys are those that do something now.
func (m *Model) keys() []hint {
	if m.dialog != nil {
		return m.dialog.keys()
	}
	var keys []hint
	if it := m.current; it != nil && it.Ended == "" {
		keys = m.answerKeys(it)
	}
	keys = append(keys, hint{"?", "help"})
	if len(m.listed()) > 1 {
		keys = append(keys, hint{"tab", "next"})
	}
	return append(keys, hint{"q", "quit"})
}

func (m *Model) answerKeys(it *approve.Item) (keys []hint) {
	now := m.o.Now()
	switch {
	case it.Sent != nil:
		return nil
	case m.queue.NeedsCode(it):
		return []hint{{"c", "code"}}
	case m.queue.Refusal(it, "", now) != "":
		return nil
	}
	keys = append(keys, hint{"y", "once"})
	for _, k := range []string{"s", "p", "u"} {
		if m.queue.Refusal(it, scopes[k], now) == "" {
			keys = append(keys, hint{k, scopes[k]})
		}
	}
	keys = append(keys, hint{"n", "no"}, hint{"r", "reason"}, hint{"e", "edit"})
	if len(it.Prompt.Decision.SuggestedUpdates)+len(it.Prompt.Grants) > 0 {
		keys = append(keys, hint{"g", "choose"})
	}
	return keys
}
