package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// modes lets the person change the mode of a session: stricter at once, looser with the code that the session shows.
type modes struct {
	session approve.Session
	at      int     // of offered
	code    *editor // nil: none is asked for
	said    string
	sent    bool
}

// offered are the modes that can be chosen, the loosest first, with the calls that run unasked in them.
var offered = []struct {
	mode agenttool.Mode
	runs string
}{
	{agenttool.ModeSandboxed, "commands that the sandbox holds run; loss and network ask"},
	{agenttool.ModeAcceptEdits, "edits in the workspace run; other changes ask"},
	{agenttool.ModeDefault, "calls that only read run; the rest asks"},
	{agenttool.ModeDontAsk, "calls that only read run; the rest is denied unasked"},
	{agenttool.ModePlan, "calls that only read run; the rest is denied"},
}

func newModes(s approve.Session) *modes {
	d := &modes{session: s}
	for i, o := range offered {
		if string(o.mode) == s.Mode {
			d.at = i
		}
	}
	return d
}

func (d *modes) title() string {
	return "Mode of session " + visible.Text(d.session.Short()) + ", now " + visible.Text(d.session.Mode)
}

func (d *modes) keys() []hint {
	return []hint{{"enter", "choose"}, {"up down", "move"}, {"esc", "back"}}
}

func (d *modes) paste(text string) {
	if d.code != nil {
		d.code.paste(text)
	}
}

func (d *modes) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	switch k := name(key); {
	case k == "esc" || k == "q" && d.code == nil:
		return m.close()
	case d.sent:
	case k == "enter":
		ok, wait := m.confirmed()
		if !ok {
			return wait
		}
		return d.send(m)
	case d.code != nil:
		d.code.press(key)
	case k == "down" || k == "j":
		d.at = min(d.at+1, len(offered)-1)
		return m.disarm()
	case k == "up" || k == "k":
		d.at = max(d.at-1, 0)
		return m.disarm()
	}
	return nil
}

func (d *modes) send(m *Model) tea.Cmd {
	code := ""
	if d.code != nil {
		if code = strings.TrimSpace(d.code.text()); code == "" {
			return nil
		}
	}
	d.sent = true
	answerer, id, mode := m.o.Answerer, d.session.ID, string(offered[d.at].mode)
	return func() tea.Msg { return modeMsg{id, mode, answerer.Mode(id, mode, code)} }
}

// modeMsg is the outcome of a choice.
type modeMsg struct {
	session, mode string
	err           error
}

// modeSaid closes the dialog when the mode is in force. If it was refused and is looser, the code of the session is asked for.
func modeSaid(m *Model, msg modeMsg) tea.Cmd {
	d, ok := m.dialog.(*modes)
	if !ok || d.session.ID != msg.session {
		return nil
	}
	d.sent = false
	if msg.err == nil {
		closed := m.close()
		m.notice = "mode " + msg.mode + " is in force"
		return closed
	}
	d.said = visible.Text(msg.err.Error())
	if d.code == nil && !agenttool.Mode(msg.mode).Within(agenttool.Mode(d.session.Mode)) {
		d.code = newEditor("", true, maxCode)
	}
	return m.disarm()
}

func (d *modes) rows(width, height int) ([]row, int, int) {
	var rows []row
	for i, o := range offered {
		pointer, kind := "  ", approve.Plain
		if i == d.at {
			pointer, kind = "▸ ", approve.Heading
		}
		rows = append(rows, wrap(approve.Line{Kind: kind, Indent: 16, Text: fmt.Sprintf("%s%-13s %s", pointer, o.mode, o.runs)}, width)...)
	}
	if d.said != "" {
		rows = append(rows, wrap(approve.Line{Kind: approve.Warning, Indent: 2, Text: d.said}, width)...)
	}
	if d.code == nil {
		return rows[:min(len(rows), height)], -1, 0
	}
	rows = rows[max(0, len(rows)-max(0, height-1)):]
	entry, x, _ := d.code.rows(width, 1)
	return append(rows, entry...), x, len(rows)
}

// chooseMode offers the modes of the session of the prompt, or else of the only one.
func chooseMode(m *Model) tea.Cmd {
	all := m.queue.Sessions()
	switch {
	case m.current != nil && m.queue.Session(m.current.Session).ID != "":
		return m.open(newModes(m.queue.Session(m.current.Session)))
	case len(all) == 1:
		return m.open(newModes(all[0]))
	}
	m.notice = "there is no prompt of a session, whose mode could be changed"
	return nil
}
