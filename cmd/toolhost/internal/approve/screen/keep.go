package screen

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// keep shows what would be kept of an answer, exactly as it would be stored, and lets the person choose.
type keep struct {
	it      *approve.Item
	session approve.Session
	scopes  []string // that rules can have here; empty: no rule can be kept
	scope   int
	options []option
	at      int
	offset  int  // the first row that is shown
	room    int  // how many are
	total   int  // how many there are
	seen    int  // how many have been on the screen, from the first one
	width   int  // that they were laid out for
	own     *own // the dialog in which the person wrote the rules; nil: they are suggested ones
}

// option is a suggested update or grant.
type option struct {
	update, grant int // its index; -1: it is of the other sort
	lines         []string
	notes         []approve.Line // below them
	chosen        bool
}

// newKeep offers the suggestions of a prompt. The update of that index is chosen at first; -1: none.
func newKeep(queue *approve.Queue, it *approve.Item, scope string, chosen int) *keep {
	k := &keep{it: it, session: queue.Session(it.Session)}
	for _, s := range []string{"session", "project", "user"} {
		if slices.Contains(k.session.Approvals.Scopes, s) {
			k.scopes = append(k.scopes, s)
		}
	}
	k.scope = max(0, slices.Index(k.scopes, scope))
	for i := range it.Prompt.Decision.SuggestedUpdates {
		if len(k.scopes) > 0 {
			k.options = append(k.options, option{i, -1, approve.SuggestedRules(it.Prompt, i), nil, i == chosen})
		}
	}
	for i, grant := range it.Prompt.Grants {
		k.options = append(k.options, option{-1, i, []string{"grant  " + approve.GrantText(grant) + ", for this call"}, nil, false})
	}
	return k
}

func (k *keep) title() string {
	if len(k.scopes) > 0 {
		return "Allow, and keep for: " + k.scopes[k.scope]
	}
	return "Allow, with"
}

func (k *keep) keys() []hint {
	keys := []hint{{"enter", "allow so"}, {"space", "choose"}, {"j k", "move"}}
	if k.own != nil {
		keys = []hint{{"enter", "allow so"}, {"y", "once, no rule"}}
	}
	if len(k.scopes) > 1 {
		keys = append(keys, hint{"tab", "for whom"})
	}
	return append(keys, hint{"esc", "back"})
}

func (k *keep) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	switch pressed := name(key); pressed {
	case "esc", "q":
		if k.own != nil {
			return m.open(k.own)
		}
		return m.close()
	case "y":
		return k.once(m)
	case "j", "down":
		k.at = min(k.at+1, max(0, len(k.options)-1))
		k.offset = k.first(m.width)
	case "k", "up":
		k.at = max(k.at-1, 0)
		k.offset = k.first(m.width)
	case "pgdown", "pgup":
		k.offset += map[string]int{"pgdown": k.room, "pgup": -k.room}[pressed]
	case "space", "x":
		if len(k.options) > 0 {
			k.options[k.at].chosen = !k.options[k.at].chosen
		}
	case "tab", "right", "left", "shift+tab":
		if len(k.scopes) > 1 {
			return k.to(m, (k.scope+1)%len(k.scopes))
		}
	case "s", "p", "u":
		if i := slices.Index(k.scopes, scopes[pressed]); i >= 0 && i != k.scope {
			return k.to(m, i)
		}
	case "enter":
		return k.send(m)
	}
	return nil
}

// once allows the call and keeps nothing of the rules that were written.
func (k *keep) once(m *Model) tea.Cmd {
	if k.own == nil {
		return nil
	}
	ok, wait := m.confirmed()
	if !ok {
		return wait
	}
	return m.send(k.it, approve.Allow(k.it, approve.Choice{}))
}

// to chooses another scope. That the rules would be stored elsewhere is to be read before they are sent.
func (k *keep) to(m *Model, scope int) tea.Cmd {
	k.scope, k.seen = scope, 0
	return m.disarm()
}

func (k *keep) send(m *Model) tea.Cmd {
	ok, wait := m.confirmed()
	if !ok {
		return wait
	}
	if k.seen < k.total {
		k.offset = k.seen
		m.notice = "not all of it has been on the screen: enter goes on"
		return nil
	}
	c := approve.Choice{}
	for _, o := range k.options {
		switch {
		case !o.chosen:
		case o.grant < 0 && o.update < 0:
			c.Own = k.own.rules
		case o.grant >= 0:
			c.Grants = append(c.Grants, o.grant)
		default:
			c.Updates = append(c.Updates, o.update)
		}
	}
	if len(c.Updates)+len(c.Grants)+len(c.Own) == 0 {
		m.notice = "nothing is chosen: space chooses, esc goes back"
		return nil
	}
	if len(c.Updates)+len(c.Own) > 0 {
		c.Scope = k.scopes[k.scope]
	}
	return m.send(k.it, approve.Allow(k.it, c))
}

// first is the first row of the selected option.
func (k *keep) first(width int) int {
	row := 0
	for i, o := range k.options[:k.at] {
		row += len(k.option(i, o, width))
	}
	return row
}

func (k *keep) rows(width, height int) ([]row, int, int) {
	rows := []row{about(k.it, width)}
	if len(k.scopes) > 0 {
		store := approve.Line{Text: "Rules are kept in " + visible.Text(k.session.Store(k.scopes[k.scope])), Indent: 2}
		rows = append(rows, wrap(store, width)...)
	}
	if height > len(rows)+6 {
		rows = append(rows, row{})
	}
	var body []row
	for i, o := range k.options {
		body = append(body, k.option(i, o, width)...)
	}
	if width != k.width {
		k.width, k.seen, k.offset = width, 0, 0
	}
	k.total, k.room = len(body), max(1, height-len(rows)-1)
	k.offset = max(0, min(k.offset, k.total-k.room))
	if k.offset <= k.seen {
		k.seen = max(k.seen, min(k.total, k.offset+k.room))
	}
	rows = append(rows, body[k.offset:min(len(body), k.offset+k.room)]...)
	if k.total > k.room {
		rows = append(rows, row{approve.Faint, strings.Replace(more(k.total, k.offset, k.room), "space to", "pgdown to", 1)})
	}
	return rows[:min(len(rows), height)], -1, 0
}

func (k *keep) option(i int, o option, width int) (rows []row) {
	pointer, box, kind := "  ", "[ ] ", approve.Plain
	if i == k.at {
		pointer, kind = "▸ ", approve.Heading
	}
	if o.chosen {
		box = "[x] "
	}
	name := "R  "
	switch {
	case o.grant >= 0:
		name = fmt.Sprintf("g%d ", o.grant+1)
	case o.update >= 0:
		name = fmt.Sprintf("r%d ", o.update+1)
	}
	for j, line := range o.lines {
		if j > 0 {
			pointer, box, name = "  ", "    ", "   "
		}
		rows = append(rows, wrap(approve.Line{Kind: kind, Indent: 9, Text: pointer + box + name + line}, width)...)
	}
	for _, note := range o.notes {
		note.Text, note.Indent = "    "+note.Text, 13
		rows = append(rows, wrap(note, width)...)
	}
	return rows
}
