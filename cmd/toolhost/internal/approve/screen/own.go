package screen

import (
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// own lets the person write rules of their own, and shows their coverage meanwhile. Enter leads to the choice of a scope; nothing is sent
// from here.
type own struct {
	it     *approve.Item
	editor *editor

	trying  bool
	known   bool     // the outcome is that of tried
	tried   string   // the text that was tried last
	rules   []string // in it
	outcome approve.Trial
	err     error
}

func newOwn(it *approve.Item) *own {
	return &own{it: it, editor: newEditor(approve.Widest(it), false, approve.MaxRule)}
}

func (o *own) title() string { return "A rule of your own" }

func (o *own) keys() []hint {
	return []hint{{"enter", "for whom"}, {"alt+enter", "another line"}, {"esc", "back"}}
}

func (o *own) paste(text string) { o.editor.paste(text) }

func (o *own) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	switch name(key) {
	case "esc":
		return m.close()
	case "enter":
		return o.choose(m)
	case "alt+enter":
		o.editor.insert("\n")
	default:
		o.editor.press(key)
	}
	return o.try(m)
}

var errNoRule = errors.New("there is no rule: write one, such as Shell(go test *), or esc")

// trialMsg is the outcome of a trial.
type trialMsg struct {
	of      *own
	text    string
	outcome approve.Trial
	err     error
}

// try asks for the coverage of the text, unless a trial runs: its end begins the next.
func (o *own) try(m *Model) tea.Cmd {
	text := o.editor.text()
	if o.trying || o.known && text == o.tried {
		return nil
	}
	rules := approve.OwnRules(text)
	o.tried, o.rules = text, rules
	if o.known = len(rules) == 0; o.known {
		o.outcome, o.err = approve.Trial{}, errNoRule
		return nil
	}
	o.trying = true
	answerer, session, id := m.o.Answerer, o.it.Session, o.it.Prompt.ID()
	return func() tea.Msg {
		outcome, err := answerer.Try(session, id, rules)
		return trialMsg{o, text, outcome, err}
	}
}

// said takes the outcome of a trial.
func (o *own) said(m *Model, msg trialMsg) tea.Cmd {
	o.trying, o.known, o.outcome, o.err = false, true, msg.outcome, msg.err
	return o.try(m)
}

// current reports whether the outcome is that of the text as it stands.
func (o *own) current() bool { return o.known && o.tried == o.editor.text() }

// choose goes on to the choice of a scope, with rules that were tried as they stand.
func (o *own) choose(m *Model) tea.Cmd {
	if !o.current() {
		m.notice = "the session has not said yet what it covers"
		return nil
	}
	if err := o.outcome.Acceptable(o.err); err != nil {
		m.notice = visible.Text(err.Error())
		return nil
	}
	k := newKeep(&m.queue, o.it, "session", -1)
	if len(k.scopes) == 0 {
		m.notice = "this session keeps no rules from here: y allows it once"
		return nil
	}
	lines := slices.Clone(o.rules)
	for i := range lines {
		lines[i] = "allow  " + visible.Text(lines[i])
	}
	k.own, k.options = o, []option{{update: -1, grant: -1, lines: lines, notes: o.outcome.Lines(), chosen: true}}
	return m.open(k)
}

func (o *own) rows(width, height int) ([]row, int, int) {
	rows := []row{about(o.it, width)}
	if o.it.Ended == "" {
		rows[0].kind = approve.Faint
	}
	entry, x, y := o.editor.rows(width, max(1, min(len(o.editor.lines)+2, height/3)))
	y += len(rows)
	rows = append(rows, entry...)
	for _, line := range o.lines() {
		rows = append(rows, wrap(line, width)...)
	}
	if len(rows) > height {
		rows = append(rows[:max(0, height-1)], row{approve.Faint, fit("… more: enter shows all of it", width)})
	}
	return rows[:min(len(rows), height)], x, y
}

// lines are the coverage of the text.
func (o *own) lines() []approve.Line {
	switch {
	case !o.current():
		return []approve.Line{{Kind: approve.Faint, Text: "…"}}
	case o.err != nil:
		return []approve.Line{{Kind: approve.Warning, Indent: 9, Text: "refused  " + visible.Text(o.err.Error())}}
	}
	return o.outcome.Lines()
}
