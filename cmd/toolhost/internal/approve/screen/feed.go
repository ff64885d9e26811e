package screen

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

// feed shows waiting, running and denied calls of all sessions. It asks them each second while it is open.
type feed struct {
	reader
	seen   map[string]approve.Activity // by session
	asking map[string]bool
}

func newFeed(m *Model) *feed {
	f := &feed{reader: reader{name: "Live: waits, runs, denied"}, seen: map[string]approve.Activity{}, asking: map[string]bool{}}
	f.renew(m)
	return f
}

func (f *feed) press(m *Model, key tea.KeyPressMsg) tea.Cmd {
	if name(key) == "f" {
		return m.close()
	}
	return f.reader.press(m, key)
}

// feedMsg is the answer of a session.
type feedMsg struct {
	of       *feed
	session  string
	activity approve.Activity
	err      error
}

// ask asks all sessions, but for those that have not answered yet.
func (f *feed) ask(m *Model) tea.Cmd {
	var asks []tea.Cmd
	answerer := m.o.Answerer
	for _, s := range m.queue.Sessions() {
		if f.asking[s.ID] {
			continue
		}
		f.asking[s.ID] = true
		asks = append(asks, func() tea.Msg {
			activity, err := answerer.Activity(s.ID)
			return feedMsg{f, s.ID, activity, err}
		})
	}
	return tea.Batch(asks...)
}

// said takes the answer of a session. A session without an answer shows nothing.
func (f *feed) said(m *Model, msg feedMsg) {
	delete(f.asking, msg.session)
	f.seen[msg.session] = msg.activity
	if msg.err != nil {
		delete(f.seen, msg.session)
	}
	f.renew(m)
}

// renew makes the lines anew.
func (f *feed) renew(m *Model) {
	var all []approve.Activity
	for _, s := range m.queue.Sessions() {
		if a, ok := f.seen[s.ID]; ok {
			all = append(all, a)
		}
	}
	lines := approve.Feed(&m.queue, all, m.o.Now())
	if !slices.Equal(lines, f.lines) {
		f.lines, f.sheet = lines, nil
	}
}
