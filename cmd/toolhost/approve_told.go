package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/approve"
)

// probe asks who is there, without being one who answers, and greets only a session that is meant: one that is not would take
// this for somebody who comes and goes.
func (l *link) probe() {
	hello := map[string]any{"client": map[string]string{"name": "toolhost approve"}, "events": "none"}
	l.ask("agenttool/hello", hello, func(result json.RawMessage, err error) {
		var s approve.Session
		if err == nil {
			err = json.Unmarshal(result, &s)
		}
		switch {
		case err != nil:
			l.ended = err
		case !l.match(s):
			l.ended = errNotMeant
		default:
			l.greet(false, nil)
		}
	})
}

// greet says hello, with the code that the person typed if they have, and asks for all prompts. done, if any, hears how the
// greeting went. Each greeting may be a try that the session counts, so that there are no more of them than needed.
func (l *link) greet(withCode bool, done func(error)) {
	hello := map[string]any{"client": map[string]string{"name": "toolhost approve"}, "events": "none", "approvals": true}
	if withCode {
		l.mu.Lock()
		hello["code"] = l.code
		l.mu.Unlock()
	}
	l.ask("agenttool/hello", hello, func(result json.RawMessage, err error) {
		var s approve.Session
		if err == nil {
			err = json.Unmarshal(result, &s)
		}
		switch {
		case err == nil:
			err = l.greeted(s)
		case l.session.ID == "":
			l.ended = err
		}
		if err == nil && withCode && !s.Approvals.MayAnswer {
			err = errors.New(cmp.Or(s.Approvals.Why, "the session does not take it"))
			if !s.Approvals.NeedsCode { // it takes no more of them on this connection
				l.ended = err
			}
		}
		if done != nil {
			done(err)
		}
	})
}

// greeted takes the session's greeting.
func (l *link) greeted(s approve.Session) error {
	if s.ID == "" {
		l.ended = errors.New("the session does not say its id")
		return l.ended
	}
	l.session = s
	_ = l.conn.SetReadDeadline(time.Time{})
	l.mu.Lock()
	l.name, l.told = s.ID, s.Approvals.MayAnswer
	l.mu.Unlock()
	l.tell(approve.Opened{Session: s})
	l.list()
	return nil
}

// list asks for all prompts.
func (l *link) list() {
	l.mu.Lock()
	at := l.asked
	l.mu.Unlock()
	l.ask("agenttool/prompts", struct{}{}, func(result json.RawMessage, err error) { l.prompts(at, result, err) })
}

// prompts takes the list of all that waits, which was asked for after so many requests. What was asked meanwhile may be
// missing in it, and so are prompts that ask the same as another.
func (l *link) prompts(at int, result json.RawMessage, err error) {
	defer l.heard()
	var list struct {
		Prompts []json.RawMessage `json:"prompts"`
	}
	if err == nil {
		err = json.Unmarshal(result, &list)
	}
	if err != nil {
		if !errors.Is(err, errGone) && !l.complained {
			l.complained = true
			l.tell(approve.Trouble{Text: fmt.Sprintf("session %s does not say what it asks: %v", l.session.ID, err)})
		}
		return
	}
	waits := map[agenttool.DecisionID]bool{}
	for _, raw := range list.Prompts {
		waits[l.requested(raw)] = true
	}
	for id, p := range l.open {
		if !waits[id] && !waits[p.with] && p.at <= at {
			delete(l.open, id)
			l.tell(approve.Ended{Session: l.session.ID, ID: id, How: "it does not wait any more", Lost: true})
		}
	}
}

// requested tells a prompt, unless it was told before, and returns its id.
func (l *link) requested(raw json.RawMessage) agenttool.DecisionID {
	p, err := approve.ParsePrompt(append(json.RawMessage(nil), raw...))
	if err != nil {
		l.tell(approve.Trouble{Text: fmt.Sprintf("session %s: %v", l.session.ID, err)})
		return ""
	}
	if before, known := l.open[p.ID()]; known && before.with == p.With {
		return p.ID()
	}
	l.mu.Lock()
	l.open[p.ID()] = told{with: p.With, at: l.asked}
	l.mu.Unlock()
	l.tell(approve.Asked{Session: l.session.ID, Prompt: p})
	return p.ID()
}

// told is a prompt that was told and has not ended.
type told struct {
	with agenttool.DecisionID // the one that it asks the same as
	at   int                  // how many requests there were before
}

// event takes a notification.
func (l *link) event(params json.RawMessage) {
	var e struct {
		Event struct {
			Type agenttool.EventType `json:"event_type"`
			Data json.RawMessage     `json:"data"`
		} `json:"event"`
	}
	if json.Unmarshal(params, &e) != nil || l.session.ID == "" {
		return // of another version, or for who has greeted
	}
	switch e.Event.Type {
	case agenttool.EventPermissionRequested:
		l.requested(e.Event.Data)
	case agenttool.EventPermissionDecided:
		l.decided(e.Event.Data)
	case agenttool.EventSettingsChanged, agenttool.EventProtectedChanged:
		l.settings(e.Event.Data)
	}
}

func (l *link) decided(raw json.RawMessage) {
	var data struct {
		Decision agenttool.Decision `json:"decision"`
	}
	if json.Unmarshal(raw, &data) != nil || data.Decision.RequestRef == "" {
		return // it was decided without asking
	}
	id := data.Decision.RequestRef
	delete(l.open, id)
	l.tell(approve.Ended{Session: l.session.ID, ID: id, How: howEnded(data.Decision)})
	for _, p := range l.open {
		if p.with == id { // it waits by itself from now on, if it was not answered as well
			l.list()
			return
		}
	}
}

// maxWarnings is how many warnings of one session are kept.
const maxWarnings = 20

// settings takes what a session says of its settings: a warning, or that they are in force as they are now.
func (l *link) settings(raw json.RawMessage) {
	var data struct {
		Warning string `json:"warning"`
	}
	if json.Unmarshal(raw, &data) != nil {
		return
	}
	warnings := []string{}
	if data.Warning != "" {
		warnings = append(slices.DeleteFunc(slices.Clone(l.session.Warnings), func(w string) bool { return w == data.Warning }), data.Warning)
	}
	l.session.Warnings = warnings[max(0, len(warnings)-maxWarnings):]
	l.tell(approve.Opened{Session: l.session})
}

// howEnded says what a decision did to the prompt that it refers to.
func howEnded(d agenttool.Decision) string {
	how := map[agenttool.Behavior]string{agenttool.Allow: "allowed", agenttool.Deny: "denied"}[d.Behavior]
	var parts []string
	for _, part := range []string{how, reasonOf(d), d.AcceptFeedback} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return cmp.Or(strings.Join(parts, ": "), "it was decided")
}

func reasonOf(d agenttool.Decision) string {
	if d.Reason == nil {
		return ""
	}
	return d.Reason.Detail
}
