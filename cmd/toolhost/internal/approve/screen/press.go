package screen

import (
	tea "charm.land/bubbletea/v2"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
)

// press takes a key.
func (m *Model) press(key tea.KeyPressMsg) tea.Cmd {
	k := name(key)
	switch {
	case k == "ctrl+c":
		return tea.Quit
	case k == "ctrl+z":
		return tea.Suspend
	case k == "ctrl+l":
		return tea.ClearScreen
	case m.intent != nil:
		m.intent = nil
		m.notice = "keys came too quickly one after the other: nothing was answered"
		return m.disarm()
	case m.small():
		if k == "q" {
			return tea.Quit
		}
		return nil
	case m.dialog != nil:
		return m.dialog.press(m, key)
	}
	m.notice = ""
	return m.browse(k)
}

// browse takes a key when no dialog is open.
func (m *Model) browse(k string) tea.Cmd {
	switch k {
	case "q":
		return tea.Quit
	case "?", "f1":
		return m.open(help(m.current))
	case "d":
		return m.open(done(&m.queue))
	case "w":
		return m.open(allWarnings(warnings(&m.queue, m.trouble)))
	case "/":
		return chooseMode(m)
	case "j", "down", "tab":
		return m.move(1)
	case "k", "up", "shift+tab":
		return m.move(-1)
	case "f":
		return tea.Batch(m.open(newFeed(m)), m.follow())
	case "space", "pgdown":
		return m.scroll(m.bodyHeight() - 1)
	case "pgup", "b":
		return m.scroll(1 - m.bodyHeight())
	case "home":
		return m.scroll(-m.offset)
	case "end", "G":
		return m.scroll(m.laidOut().rows())
	case "y", "1", "s", "p", "u", "a", "n", "N", "r", "R", "e", "g", "c":
		return m.answerKey(k)
	default:
		return m.disarm() // the person is typing into another window
	}
}

// follow asks the sessions for the feed, if it is open.
func (m *Model) follow() tea.Cmd {
	f, open := m.dialog.(*feed)
	if !open {
		return nil
	}
	f.renew(m)
	return f.ask(m)
}

// scroll moves the view of the prompt by so many rows.
func (m *Model) scroll(by int) tea.Cmd {
	m.offset += by
	m.clamp()
	return m.disarm()
}

// clamp keeps the view within the prompt.
func (m *Model) clamp() { m.offset = max(0, min(m.offset, m.laidOut().rows()-m.bodyHeight())) }

// scopes of the keys that answer.
var scopes = map[string]string{"s": "session", "p": "project", "u": "user"}

// answerKey takes a key that answers, or begins to.
func (m *Model) answerKey(k string) tea.Cmd {
	it := m.current
	switch {
	case it == nil:
		return nil
	case it.Ended != "":
		m.notice = "it has ended; tab goes on to the next"
		return m.disarm()
	case !m.armed:
		m.notice = "too quick: read it, then press the key"
		return m.disarm()
	case m.queue.NeedsCode(it):
		return m.open(newCode(m.queue.Session(it.Session)))
	}
	if why := m.queue.Refusal(it, scopes[k], m.o.Now()); why != "" {
		m.notice = why
		return nil
	}
	if k != "n" && k != "N" && k != "r" && m.readOn() {
		return m.disarm()
	}
	switch k {
	case "y", "1":
		return m.intend(approve.Allow(it, approve.Choice{}))
	case "n":
		return m.intend(approve.Deny(it, ""))
	case "N", "r":
		return m.open(newReason(it))
	case "s", "p", "u":
		return m.open(newKeep(&m.queue, it, scopes[k], it.Prompt.Decision.SuggestedRules()))
	case "a":
		return m.allEdits(it)
	case "R":
		d := newOwn(it)
		return tea.Batch(m.open(d), d.try(m))
	case "g":
		return m.chooseGrants(it)
	case "e":
		return m.edit(it)
	}
	m.notice = "this session wants no code"
	return nil
}

// allEdits offers to have the session's edits run from now on.
func (m *Model) allEdits(it *approve.Item) tea.Cmd {
	offered := approve.AllEdits(it)
	if offered < 0 {
		m.notice = "this is no edit that mode accept_edits would run: y allows it once"
		return nil
	}
	return m.open(newKeep(&m.queue, it, "session", offered))
}

func (m *Model) chooseGrants(it *approve.Item) tea.Cmd {
	if len(it.Prompt.Grants)+len(it.Prompt.Decision.SuggestedUpdates) == 0 {
		m.notice = "nothing is suggested for this call: y allows it once"
		return nil
	}
	return m.open(newKeep(&m.queue, it, "session", -1))
}

func (m *Model) edit(it *approve.Item) tea.Cmd {
	d, err := newEdit(it)
	if err != nil {
		m.notice = err.Error()
		return nil
	}
	return m.open(d)
}

// intend answers, unless another key follows at once: then the keys were no answer.
func (m *Model) intend(a approve.Answer) tea.Cmd {
	m.intent = &a
	m.intended++
	return after(burst, intentMsg{m.intended})
}

func (m *Model) carryOut(msg intentMsg) tea.Cmd {
	if m.intent == nil || msg.number != m.intended {
		return nil
	}
	a := *m.intent
	m.intent = nil
	return m.send(m.current, a)
}

// send sends an answer, if it still can be one.
func (m *Model) send(it *approve.Item, a approve.Answer) tea.Cmd {
	if why := m.queue.Refuses(it, a, m.o.Now()); why != "" {
		m.notice = why
		return nil
	}
	if a.Behavior == agenttool.Allow && (it != m.current || m.unread() >= 0) {
		m.notice = "lines that ask have not been on the screen: esc, then read them"
		return m.disarm()
	}
	m.queue.Send(it, a)
	m.dialog = nil
	answerer := m.o.Answerer
	return tea.Batch(m.disarm(), func() tea.Msg { return approve.Answered{Answer: a, Err: answerer.Answer(a)} })
}

// paste gives pasted text to the dialog. It is never an answer.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	m.intent = nil
	if d, ok := m.dialog.(paster); ok {
		d.paste(msg.Content)
	} else {
		m.notice = "pasted text answers nothing"
	}
	return m.disarm()
}
