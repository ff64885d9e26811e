package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// reason asks why a call is denied.
type reason struct {
	it     *approve.Item
	editor *editor
}

func newReason(it *approve.Item) *reason {
	return &reason{it, newEditor("", true, approve.MaxReason)}
}

func (r *reason) title() string { return "Why not? The model is told" }

func (r *reason) keys() []hint { return []hint{{"enter", "deny"}, {"esc", "back"}} }

func (r *reason) paste(text string) { r.editor.paste(text) }

func (r *reason) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	switch k := name(key); {
	case k == "esc":
		return m.close()
	case k == "enter":
		ok, wait := m.confirmed()
		if !ok {
			return wait
		}
		return m.send(r.it, approve.Deny(r.it, r.editor.text()))
	default:
		m.notice = ""
		r.editor.press(key)
	}
	return nil
}

func (r *reason) rows(width, height int) ([]row, int, int) {
	if height < 3 {
		return r.editor.rows(width, height)
	}
	rows, x, y := r.editor.rows(width, height-2)
	rows = append([]row{about(r.it, width), {}}, rows...)
	return rows, x, y + 2
}

// about names the prompt that a dialog is for, or says that it has ended.
func about(it *approve.Item, width int) row {
	if it.Ended != "" {
		return row{approve.Warning, fit("it has ended: "+it.Ended, width)}
	}
	return row{approve.Plain, fit(visible.Text(it.Prompt.Tool)+"  "+it.Prompt.Subject(), width)}
}

// code asks for the code that a session shows.
type code struct {
	session approve.Session
	editor  *editor
	said    string // the effect of the last one
	asked   bool   // one is on its way
}

// maxCode is the length of the longest code.
const maxCode = 64

func newCode(s approve.Session) *code { return &code{session: s, editor: newEditor("", true, maxCode)} }

func (c *code) title() string {
	return "Which code does session " + visible.Text(c.session.Short()) + " show?"
}

func (c *code) keys() []hint { return []hint{{"enter", "send"}, {"esc", "back"}} }

func (c *code) paste(text string) { c.editor.paste(text) }

func (c *code) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	switch k := name(key); {
	case k == "esc":
		return m.close()
	case k == "enter" && !c.asked:
		text := strings.TrimSpace(c.editor.text())
		if text == "" {
			return nil
		}
		c.asked, c.said = true, ""
		answerer, id := m.o.Answerer, c.session.ID
		return func() tea.Msg { return codeMsg{id, answerer.Code(id, text)} }
	default:
		c.editor.press(key)
	}
	return nil
}

func (c *code) rows(width, height int) ([]row, int, int) {
	sheet := newSheet([]approve.Line{
		{Text: "Commands of this session run without a full sandbox, so that one of them could answer in your place. The session shows a code where it was started, on the terminal or in the log of its client."},
		{Text: "workspace  " + visible.Text(c.session.Workspace)},
		{Kind: approve.Warning, Text: c.said},
	}, width)
	rows := sheet.view(0, max(0, height-1))
	entry, x, _ := c.editor.rows(width, 1)
	return append(rows, entry...), x, len(rows)
}

// codeMsg says what came of a code.
type codeMsg struct {
	session string
	err     error
}

func (c *code) refused(why string) {
	c.asked = false
	c.said = "not taken"
	if why != "" {
		c.said += ": " + visible.Text(why)
	}
}
