package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/approve"
)

// probe asks for the session's id without offering answers, and greets the session only if it is to be followed. Another session
// would count this client as one that comes and goes.
func (c *conn) probe() {
	hello := map[string]any{"client": map[string]string{"name": "toolhost approve"}, "events": "none"}
	var s approve.Session
	c.request("agenttool/hello", hello, decoded(&s, func(err error) {
		switch {
		case err != nil:
			c.failed = err
		case !c.match(s):
			c.failed = errExcluded
		default:
			c.greet(false, nil)
		}
	}))
}

// greet says hello, with the typed code if withCode is set, and lists the prompts. done, if any, gets the outcome. The session may
// count each greeting as a try of a code, so there are no more of them than needed.
func (c *conn) greet(withCode bool, done func(error)) {
	hello := map[string]any{"client": map[string]string{"name": "toolhost approve"}, "events": "none", "approvals": true}
	if withCode {
		c.mu.Lock()
		hello["code"] = c.code
		c.mu.Unlock()
	}
	var s approve.Session
	c.request("agenttool/hello", hello, decoded(&s, func(err error) {
		switch {
		case err == nil:
			err = c.welcome(s)
		case c.greeting.ID == "":
			c.failed = err
		}
		if err == nil && withCode && !s.Approvals.MayAnswer {
			err = errors.New(cmp.Or(s.Approvals.Why, "the session does not take it"))
			if !s.Approvals.NeedsCode { // it takes no more of them on this connection
				c.failed = err
			}
		}
		if done != nil {
			done(err)
		}
	}))
}

// welcome handles the session's response to a greeting.
func (c *conn) welcome(s approve.Session) error {
	if s.ID == "" {
		c.failed = errors.New("the session does not say its id")
		return c.failed
	}
	c.greeting = s
	_ = c.net.SetReadDeadline(time.Time{})
	c.mu.Lock()
	c.id, c.pushes = s.ID, s.Approvals.MayAnswer
	c.mu.Unlock()
	c.event(approve.Opened{Session: s})
	c.list()
	return nil
}

// list requests all prompts.
func (c *conn) list() {
	c.mu.Lock()
	at := c.requests
	c.mu.Unlock()
	c.request("agenttool/prompts", struct{}{}, func(result json.RawMessage, err error) { c.listed(at, result, err) })
}

// listed handles the list of open prompts, whose request was the one after number at. Newer prompts may be missing in it, and
// prompts that ask the same as another one are.
func (c *conn) listed(at int, result json.RawMessage, err error) {
	defer c.ready()
	var list struct {
		Prompts []json.RawMessage `json:"prompts"`
	}
	if err == nil {
		err = json.Unmarshal(result, &list)
	}
	if err != nil {
		if !errors.Is(err, errEnded) && !c.listFailed {
			c.listFailed = true
			c.event(approve.Trouble{Text: fmt.Sprintf("session %s does not say what it asks: %v", c.greeting.ID, err)})
		}
		return
	}
	waits := map[agenttool.DecisionID]bool{}
	for _, raw := range list.Prompts {
		waits[c.addPrompt(raw)] = true
	}
	for id, p := range c.open {
		if !waits[id] && !waits[p.with] && p.at <= at {
			delete(c.open, id)
			c.event(approve.Ended{Session: c.greeting.ID, ID: id, How: "it does not wait any more", Lost: true})
		}
	}
}

// addPrompt reports a prompt, unless it was reported before, and returns its id.
func (c *conn) addPrompt(raw json.RawMessage) agenttool.DecisionID {
	p, err := approve.ParsePrompt(append(json.RawMessage(nil), raw...))
	if err != nil {
		c.event(approve.Trouble{Text: fmt.Sprintf("session %s: %v", c.greeting.ID, err)})
		return ""
	}
	if before, known := c.open[p.ID()]; known && before.with == p.With {
		return p.ID()
	}
	c.mu.Lock()
	c.open[p.ID()] = prompt{with: p.With, at: c.requests}
	c.mu.Unlock()
	c.event(approve.Asked{Session: c.greeting.ID, Prompt: p})
	return p.ID()
}

// prompt is a reported prompt that has not ended.
type prompt struct {
	with agenttool.DecisionID // the prompt that asks the same; empty: none
	at   int                  // requests sent before it came
}

// notified handles a notification.
func (c *conn) notified(params json.RawMessage) {
	var e struct {
		Event struct {
			Type agenttool.EventType `json:"event_type"`
			Data json.RawMessage     `json:"data"`
		} `json:"event"`
	}
	if json.Unmarshal(params, &e) != nil || c.greeting.ID == "" {
		return // from another version, or before the greeting
	}
	switch e.Event.Type {
	case agenttool.EventPermissionRequested:
		c.addPrompt(e.Event.Data)
	case agenttool.EventPermissionDecided:
		c.endPrompt(e.Event.Data)
	case agenttool.EventSettingsChanged, agenttool.EventProtectedChanged:
		c.setWarnings(e.Event.Data)
	}
}

func (c *conn) endPrompt(raw json.RawMessage) {
	var data struct {
		Decision agenttool.Decision `json:"decision"`
	}
	if json.Unmarshal(raw, &data) != nil || data.Decision.RequestRef == "" {
		return // it was decided without asking
	}
	id := data.Decision.RequestRef
	delete(c.open, id)
	c.event(approve.Ended{Session: c.greeting.ID, ID: id, How: howEnded(data.Decision)})
	for _, p := range c.open {
		if p.with == id { // it is a prompt by itself now, unless it was answered as well
			c.list()
			return
		}
	}
}

// maxWarnings is how many warnings are kept for one session.
const maxWarnings = 20

// setWarnings handles an event about settings: a warning, or that they are in force again, which ends all warnings.
func (c *conn) setWarnings(raw json.RawMessage) {
	var data struct {
		Warning string `json:"warning"`
	}
	if json.Unmarshal(raw, &data) != nil {
		return
	}
	warnings := []string{}
	if data.Warning != "" {
		warnings = append(slices.DeleteFunc(slices.Clone(c.greeting.Warnings), func(w string) bool { return w == data.Warning }), data.Warning)
	}
	c.greeting.Warnings = warnings[max(0, len(warnings)-maxWarnings):]
	c.event(approve.Opened{Session: c.greeting})
}

// howEnded is a sentence about how a decision ended its prompt.
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
