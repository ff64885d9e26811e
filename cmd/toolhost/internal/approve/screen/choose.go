package screen

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

// disarm makes keys answer nothing until what is on the screen now has been there for a moment.
func (m *Model) disarm() tea.Cmd {
	m.turn++
	m.armed = false
	return tea.Batch(m.glance(), after(unhurried, armedMsg{m.turn}))
}

// glance has the rows on the screen count as seen, unless they move before.
func (m *Model) glance() tea.Cmd { return after(glimpse, seenMsg{m.turn}) }

// unread is the first asking row that has not been on the screen; -1: there is none.
func (m *Model) unread() int { return m.laidOut().unread() }

// elsewhere reports whether there are asking rows that were not on the screen, and are not now.
func (m *Model) elsewhere() bool {
	return m.laidOut().unreadBut(m.offset, m.offset+m.bodyHeight()) >= 0
}

// readOn shows the next asking row that was not seen. It reports whether there was one.
func (m *Model) readOn() bool {
	at := m.unread()
	if at < 0 {
		return false
	}
	m.offset = at
	m.clamp()
	m.notice = "this had not been on the screen: read it, then answer"
	return true
}

// show puts a prompt on the screen; nil clears it.
func (m *Model) show(it *approve.Item) tea.Cmd {
	m.current, m.sheet, m.stale, m.offset, m.leaving, m.notice, m.intent = it, nil, false, 0, false, "", nil
	m.place = max(0, slices.Index(m.queue.Waiting, it))
	return m.disarm()
}

// settle puts the first prompt on an empty screen, and begins to take away one that has ended.
func (m *Model) settle() tea.Cmd {
	switch {
	case m.current == nil && m.dialog == nil && len(m.queue.Waiting) > 0:
		return m.show(m.queue.Waiting[0])
	case m.current == nil:
		return nil
	case m.current.Ended == "":
		m.place = slices.Index(m.queue.Waiting, m.current)
		return nil
	case m.leaving:
		return nil
	}
	m.leaving, m.intent, m.sheet, m.offset = true, nil, nil, 0
	shown := otherShown
	if m.current.Mine {
		shown = mineShown
	}
	return after(shown, leaveMsg{m.current})
}

// retry is the time between two attempts to leave a prompt that has a dialog over it.
const retry = 500 * time.Millisecond

// leave makes room for the next prompt. A dialog over an ended prompt stays, so that its text does not go to another prompt.
func (m *Model) leave(it *approve.Item) tea.Cmd {
	if m.current != it || it.Ended == "" {
		return nil
	}
	if m.dialog != nil {
		return after(retry, leaveMsg{it})
	}
	return m.show(m.next())
}

// next is the prompt that follows the place of the current one, or the last one.
func (m *Model) next() *approve.Item {
	if len(m.queue.Waiting) == 0 {
		return nil
	}
	return m.queue.Waiting[min(m.place, len(m.queue.Waiting)-1)]
}

// listed are the prompts of the list: those that wait, and the current one where it stood.
func (m *Model) listed() []*approve.Item {
	if m.current == nil || m.current.Ended == "" {
		return m.queue.Waiting
	}
	return slices.Insert(slices.Clone(m.queue.Waiting), min(m.place, len(m.queue.Waiting)), m.current)
}

// move selects another prompt, so many places away.
func (m *Model) move(by int) tea.Cmd {
	list := m.listed()
	if len(list) < 2 {
		if m.current != nil && m.current.Ended != "" {
			return m.show(m.next())
		}
		return nil
	}
	at := slices.Index(list, m.current)
	return m.show(list[(at+by+len(list))%len(list)])
}

// open lays a dialog over the prompt. Keys that send count when it has been there for a moment.
func (m *Model) open(d dialog) tea.Cmd {
	m.dialog, m.notice = d, ""
	return m.disarm()
}

// close takes the dialog away.
func (m *Model) close() tea.Cmd {
	m.dialog, m.notice = nil, ""
	return tea.Batch(m.disarm(), m.settle())
}

// confirmed reports whether a key that sends counts, and says why not.
func (m *Model) confirmed() (bool, tea.Cmd) {
	if m.armed {
		return true, nil
	}
	m.notice = "too quick: read it, then press the key"
	return false, m.disarm()
}
