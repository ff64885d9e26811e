// Package plain speaks of prompts line by line, for screen readers and pipes: text goes out, one command a line comes in.
// It moves no cursor and asks for no key; every answer names the number of its prompt, which no other prompt ever has.
package plain

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// Options say how a Talk speaks.
type Options struct {
	Out  io.Writer
	JSON bool             // one object a line instead of text
	Now  func() time.Time // the clock
	Send func(approve.Answer)
	Code func(session, code string)
	Try  func(it *approve.Item, rule string) // its outcome comes as [Tried]
	Look func(sessions []string)             // at their activity, which comes as [Looked]
	Ring func()                              // called when a prompt comes; nil: nothing
	Bare bool                                // answers need no number while one prompt waits: y, n REASON, session
}

// Talk is one conversation. It belongs to one goroutine.
type Talk struct {
	o        Options
	queue    approve.Queue
	answered int
	pasting  bool         // the next line is pasted as well
	shown    time.Time    // when the last prompt was printed
	cut      map[int]bool // prompts with asking lines that were not printed
	trials   map[int]trial
}

// New begins a conversation.
func New(o Options) *Talk { return &Talk{o: o, cut: map[int]bool{}, trials: map[int]trial{}} }

// Answered is how many answers of this person counted.
func (t *Talk) Answered() int { return t.answered }

// Event applies an event of a session and prints it.
func (t *Talk) Event(event any) {
	before, known := approve.Session{}, false
	if e, ok := event.(approve.Opened); ok {
		before = t.queue.Session(e.Session.ID)
		known = before.ID != ""
	}
	it := t.queue.Apply(event, t.o.Now())
	switch e := event.(type) {
	case Looked:
		t.looked(e)
	case Tried:
		t.tried(e)
	case approve.Opened:
		t.opened(e.Session, before, known)
	case approve.Closed:
		t.say(record{Event: "session_closed", Session: e.Session}, "session %s: %s", visible.Text(e.Session), visible.Text(e.Why))
	case approve.Trouble:
		t.say(record{Event: "warning", Message: e.Text}, "warning: %s", visible.Text(e.Text))
	case approve.Asked:
		t.came(it, t.queue.Leader(e))
	case approve.Complete:
		if len(t.queue.Waiting) == 0 {
			t.say(record{Event: "nothing_pending"}, "nothing is pending; prompts are shown when they come. help lists what can be typed")
		}
	}
	t.told(it)
}

// Tick ends prompts that are long overdue. It is to be called now and then.
func (t *Talk) Tick() {
	for _, it := range t.queue.Expire(t.o.Now()) {
		t.told(it)
	}
}

// told says what became of an item.
func (t *Talk) told(it *approve.Item) {
	switch {
	case it == nil:
	case it.Ended != "":
		delete(t.trials, it.Number)
		if it.Mine {
			t.answered++
		}
		t.say(record{Event: "ended", Number: it.Number, Session: it.Session, Decision: it.Prompt.ID(), Message: it.Ended, Mine: it.Mine, Error: it.Error},
			"prompt %d has ended: %s", it.Number, it.Ended)
	case it.Error != "":
		t.say(record{Event: "refused", Number: it.Number, Session: it.Session, Decision: it.Prompt.ID(), Error: it.Error},
			"prompt %d: the answer did not count: %s", it.Number, it.Error)
	}
}

func (t *Talk) opened(s, before approve.Session, known bool) {
	if !t.o.Bare && !known || known && before.Approvals.MayAnswer != s.Approvals.MayAnswer {
		t.say(record{Event: "session", Session: s.ID, Workspace: s.Workspace, MayAnswer: &s.Approvals.MayAnswer, Message: s.Approvals.Why},
			"session %s in %s%s", visible.Text(s.ID), visible.Text(s.Workspace), readOnly(s))
	}
	for _, w := range s.Warnings {
		if !slices.Contains(before.Warnings, w) {
			t.say(record{Event: "warning", Session: s.ID, Message: w}, "warning of session %s: %s", visible.Text(s.Short()), visible.Text(w))
		}
	}
}

func readOnly(s approve.Session) string {
	switch {
	case s.Approvals.MayAnswer:
		return ""
	case s.Approvals.NeedsCode:
		return ": it wants the code that it shows: type NUMBER code CODE with the number of one of its prompts"
	}
	return ": its prompts cannot be answered from here: " + visible.Text(s.Approvals.Why)
}

// came tells of a prompt that is new, or of one more call that asks the same as a waiting one.
func (t *Talk) came(it, leader *approve.Item) {
	switch {
	case leader != nil:
		calls := len(leader.Together) + 1
		t.say(record{Event: "together", Number: leader.Number, Session: leader.Session, Calls: calls}, "prompt %d is asked by %d calls now; one answer is for all of them", leader.Number, calls)
	case it != nil:
		t.asked(it)
		if t.o.Ring != nil {
			t.o.Ring()
		}
	}
}

// shownAtOnce is how many lines of a prompt are printed when it comes.
const shownAtOnce = 100

func (t *Talk) asked(it *approve.Item) {
	if t.o.JSON {
		t.say(record{Event: "prompt", Number: it.Number, Session: it.Session, Decision: it.Prompt.ID(), Prompt: it.Prompt.Raw, Answers: t.answers(it)}, "")
		return
	}
	t.show(it, shownAtOnce)
}

// show prints an item, up to so many lines.
func (t *Talk) show(it *approve.Item, most int) {
	t.shown = t.o.Now()
	s := t.queue.Session(it.Session)
	lines := approve.Describe(it, s)[1:]
	if t.o.Bare && most == shownAtOnce {
		lines = approve.Card(it, s)[1:]
	}
	rest := len(lines) - most
	if rest < 20 {
		most, rest = len(lines), 0
	}
	left := ""
	if l := it.Left(t.o.Now()); l != "" {
		left = ", time left " + l
	}
	t.print("prompt %d: %s asks: %s%s", it.Number, visible.Text(it.Prompt.Tool), it.Prompt.Summary(s).What, left)
	for _, line := range lines[:most] {
		t.print("%s", strings.TrimRight(line.Text, " "))
	}
	t.cut[it.Number] = slices.ContainsFunc(lines[most:], func(line approve.Line) bool { return line.Asks })
	if rest > 0 {
		t.print("… %s more lines: show %d prints all", count.Thousands(rest), it.Number)
	}
	t.print("prompt %d, answers: %s", it.Number, strings.Join(t.answers(it), ", "))
}

// answers are the commands that would answer an item now.
func (t *Talk) answers(it *approve.Item) []string {
	if why := t.queue.Refusal(it, "", t.o.Now()); why != "" {
		return []string{"none: " + why}
	}
	n, once, deny := fmt.Sprint(it.Number)+" ", "once", "deny REASON"
	if t.o.Bare {
		n, once, deny = "", "y", "n REASON"
	}
	list := []string{n + once}
	for _, scope := range []string{"session", "project", "user"} {
		if t.queue.Refusal(it, scope, t.o.Now()) == "" {
			list = append(list, n+scope)
		}
	}
	return append(list, n+deny, n+"edit JSON", n+"rule RULE")
}

// record is a line of --json.
type record struct {
	Event     string               `json:"event"`
	Number    int                  `json:"number,omitempty"`
	Session   string               `json:"session_id,omitempty"`
	Workspace string               `json:"workspace,omitempty"`
	MayAnswer *bool                `json:"may_answer,omitempty"`
	Decision  agenttool.DecisionID `json:"decision_id,omitempty"`
	Tool      string               `json:"tool,omitempty"`
	Subject   string               `json:"subject,omitempty"`
	Message   string               `json:"message,omitempty"`
	Mine      bool                 `json:"mine,omitempty"`
	Error     string               `json:"error,omitempty"`
	Answers   []string             `json:"answers,omitempty"`
	Rule      string               `json:"rule,omitempty"`
	Covers    []string             `json:"covers,omitempty"`
	Lines     []string             `json:"lines,omitempty"`
	Calls     int                  `json:"calls,omitempty"` // that ask the same
	Prompt    json.RawMessage      `json:"prompt,omitempty"`
}

// say prints a record, as text or as JSON.
func (t *Talk) say(r record, format string, args ...any) {
	if !t.o.JSON {
		t.print(format, args...)
		return
	}
	if encoded, err := agenttool.Encode(r); err == nil { // strings and JSON: it cannot fail
		fmt.Fprintf(t.o.Out, "%s\n", ascii(encoded))
	}
}

func (t *Talk) print(format string, args ...any) { fmt.Fprintf(t.o.Out, format+"\n", args...) }

// ascii spells characters beyond ASCII in JSON as \u…, which means the same and moves no cursor.
func ascii(b []byte) []byte {
	if !slices.ContainsFunc(b, func(c byte) bool { return c >= 0x7f }) {
		return b
	}
	out := make([]byte, 0, len(b)+len(b)/4)
	for _, r := range string(b) {
		switch {
		case r < 0x7f:
			out = append(out, byte(r))
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
