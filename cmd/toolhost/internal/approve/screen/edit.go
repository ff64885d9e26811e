package screen

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

// edit lets the person change the input.
type edit struct {
	it     *approve.Item
	editor *editor
}

func newEdit(it *approve.Item) (*edit, error) {
	text, err := approve.EditText(it.Prompt)
	if err != nil {
		return nil, err
	}
	return &edit{it, newEditor(text, false, approve.MaxEdit)}, nil
}

func (e *edit) title() string {
	if _, ok := e.it.Prompt.Command(); ok {
		return "Change the command"
	}
	return "Change the input (JSON)"
}

func (e *edit) keys() []hint { return []hint{{"ctrl+s", "review"}, {"esc", "back"}} }

func (e *edit) paste(text string) { e.editor.paste(text) }

func (e *edit) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	switch name(key) {
	case "esc":
		return m.close()
	case "ctrl+s", "f2", "alt+enter":
		input, err := approve.Edited(e.it.Prompt, e.editor.text())
		if err != nil {
			m.notice = err.Error()
			return nil
		}
		return m.open(newReview(e, input))
	default:
		e.editor.press(key)
	}
	return nil
}

func (e *edit) rows(width, height int) ([]row, int, int) {
	if e.it.Ended == "" {
		return e.editor.rows(width, height)
	}
	rows, x, y := e.editor.rows(width, max(1, height-1))
	return append([]row{about(e.it, width)}, rows...), x, y + 1
}

// review shows what an edit changed before it is sent.
type review struct {
	reader
	edit  *edit
	input json.RawMessage
}

func newReview(e *edit, input json.RawMessage) *review {
	var lines []approve.Line
	if doubt := approve.Doubt(e.it.Prompt, e.editor.text()); doubt != "" {
		lines = append(lines, approve.Line{Kind: approve.Warning, Indent: 2, Text: doubt})
	}
	lines = append(lines, approve.DiffLines(approve.EditDiff(e.it.Prompt, input))...)
	return &review{reader: reader{name: "This would run instead", lines: lines}, edit: e, input: input}
}

func (r *review) keys() []hint {
	return []hint{{"y", "allow it once"}, {"space", "scroll"}, {"esc", "change more"}}
}

func (r *review) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	switch name(key) {
	case "esc", "q":
		return m.open(r.edit)
	case "y", "enter":
		ok, wait := m.confirmed()
		if !ok {
			return wait
		}
		a := approve.Allow(r.edit.it, approve.Choice{})
		a.UpdatedInput, a.Opens = r.input, nil
		return m.send(r.edit.it, a)
	case "?", "d", "w":
		return nil
	}
	return r.reader.press(m, key)
}
