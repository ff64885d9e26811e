// Package screen shows prompts on a whole terminal, and takes answers by key.
//
// No key answers by accident: a key counts only for a prompt that has been on the screen for a moment, and only if no
// other key follows at once. Pasted text never answers. The selection does not move to another prompt while the current
// one waits.
package screen

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolhost/cmd/toolhost/internal/approve"
)

// New returns a Model for an empty screen.
func New(o Options) *Model { return &Model{o: o} }

// Answered is how many answers of this person counted.
func (m *Model) Answered() int { return m.answered }

// Init begins the clock.
func (m *Model) Init() tea.Cmd { return second() }

func second() tea.Cmd { return after(time.Second, secondMsg{}) }

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m, m.resize(msg)
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case armedMsg:
		m.armed = m.armed || msg.turn == m.turn
	case seenMsg:
		m.see(msg)
	case intentMsg:
		return m, m.carryOut(msg)
	case leaveMsg:
		return m, m.leave(msg.item)
	case codeMsg:
		if c, ok := m.dialog.(*code); ok && c.session.ID == msg.session && msg.err != nil {
			c.refused(msg.err.Error())
		}
	case trialMsg:
		return m, msg.of.said(m, msg)
	case feedMsg:
		msg.of.said(m, msg)
	case modeMsg:
		return m, modeSaid(m, msg)
	case secondMsg:
		m.queue.Expire(m.o.Now())
		return m, tea.Batch(second(), m.follow(), m.settle())
	default:
		return m, m.event(msg)
	}
	return m, nil
}

// event applies an event of a session.
func (m *Model) event(event any) tea.Cmd {
	it := m.queue.Apply(event, m.o.Now())
	if it != nil && it == m.current {
		m.sheet, m.offset = nil, 0 // it says how it stands
	}
	var told tea.Cmd
	switch e := event.(type) {
	case approve.Opened:
		m.stale = true // it shows the session, too
		m.codeSaid(e.Session)
	case approve.Trouble:
		m.addTrouble(e.Text)
	case approve.Asked:
		if it != nil {
			told = m.ring()
		} else if m.queue.Leader(e) == m.current {
			m.stale = true // it says how many ask the same
		}
	case approve.Answered:
		if e.Err == nil {
			m.answered++
		}
		if e.Err == nil && m.o.Once {
			return tea.Quit
		}
	}
	if m.stale || m.sheet == nil {
		told = tea.Batch(told, m.glance())
	}
	return tea.Batch(told, m.settle())
}

// maxTrouble is how many different warnings are kept.
const maxTrouble = 50

func (m *Model) addTrouble(text string) {
	if len(m.trouble) < maxTrouble {
		m.trouble = append(m.trouble, text)
	}
}

// ring tells the person that a prompt came, without any of its text.
func (m *Model) ring() tea.Cmd {
	if m.o.Ring == "" {
		return nil
	}
	return tea.Raw(m.o.Ring)
}

func (m *Model) resize(msg tea.WindowSizeMsg) tea.Cmd {
	m.width, m.height = msg.Width, msg.Height
	m.stale = true
	return m.disarm()
}

// small reports whether the window is too small to show a prompt.
func (m *Model) small() bool { return m.width < minWidth || m.height < minHeight }

const (
	minWidth  = 30
	minHeight = 8
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
	l := layout{m, m.current != nil && m.elsewhere()}
	top, bottom := l.top(), l.bottom()
	body, column, line := l.body(m.height - len(top) - len(bottom))
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

// bodyHeight is how many rows of the prompt are shown at once.
func (m *Model) bodyHeight() int {
	return max(1, m.height-len(layout{Model: m}.top())-len(layout{Model: m}.bottom())-1)
}

// laidOut is the current prompt, laid out for the width of the window.
func (m *Model) laidOut() *sheet {
	if m.sheet == nil || m.stale {
		var lines []approve.Line
		if m.current != nil {
			lines = append(standing(m.current, &m.queue, m.o.Now()), approve.Describe(m.current, m.queue.Session(m.current.Session))...)
		}
		sheet := newSheet(lines, m.width)
		sheet.inherit(m.sheet)
		m.sheet, m.stale = sheet, false
	}
	return m.sheet
}

// see notes the rows of the prompt that have been on the screen, since nothing has moved for a glimpse.
func (m *Model) see(msg seenMsg) {
	if msg.turn == m.turn && m.current != nil && m.dialog == nil && !m.small() {
		m.laidOut().see(m.offset, m.height-len(layout{Model: m}.top())-len(layout{Model: m}.bottom())-1)
	}
}

// codeSaid closes the dialog for a code when its session can be answered, or says that the code was not taken.
func (m *Model) codeSaid(s approve.Session) {
	c, ok := m.dialog.(*code)
	if !ok || c.session.ID != s.ID {
		return
	}
	if s.Approvals.MayAnswer {
		m.dialog = nil
		m.notice = "the code was right: its prompts can be answered now"
		return
	}
	if c.asked {
		c.refused(s.Approvals.Why)
	}
}
