package approve

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// Refusal says why an item cannot be answered now, or is empty. Scope is empty for a denial.
func (q *Queue) Refusal(it *Item, scope string, now time.Time) string {
	s, open := q.sessions[it.Session]
	at := it.expires()
	switch {
	case it.Ended != "":
		return "it has ended: " + it.Ended
	case it.Sent != nil:
		return "an answer is on its way"
	case !open:
		return "its session cannot be reached"
	case s.Approvals.NeedsCode && !s.Approvals.MayAnswer:
		return "its session wants a code first"
	case !s.Approvals.MayAnswer:
		return "it cannot be answered from here: " + visible.Text(cmp.Or(s.Approvals.Why, "the session does not say why"))
	case !at.IsZero() && !now.Before(at):
		return "its time is over"
	case scope != "" && scope != "once" && !slices.Contains(s.Approvals.Scopes, scope):
		return "this session takes no answers for the " + scope
	case scope != "" && scope != "once" && it.Prompt.Decision.SuggestedRules() < 0:
		return NothingSuggested
	}
	return ""
}

// NothingSuggested is the refusal of a scope where the session has no rule to keep for it.
const NothingSuggested = "no rule is suggested for this call: allow it once, or write a rule"

// Refuses says why an answer cannot be given to an item now, or is empty.
func (q *Queue) Refuses(it *Item, a Answer, now time.Time) string {
	why := q.Refusal(it, a.Scope, now)
	if why == NothingSuggested && len(a.Rules) > 0 {
		return ""
	}
	return why
}

// NeedsCode reports whether the item's session wants a code before it takes answers.
func (q *Queue) NeedsCode(it *Item) bool {
	s := q.sessions[it.Session]
	return s.Approvals.NeedsCode && !s.Approvals.MayAnswer
}

// Choice selects suggestions: indices of suggested updates and of grants.
type Choice struct {
	Scope   string // of the updates: session, project or user
	Updates []int
	Grants  []int
	Own     []string // rules of the person's own
}

// Allow is the answer that allows an item with a choice of its suggestions; the zero choice allows it once.
func Allow(it *Item, c Choice) Answer {
	a := Answer{Session: it.Session, ID: it.Prompt.ID(), Behavior: agenttool.Allow, Scope: "once", Opens: it.Prompt.Opens}
	if len(c.Updates) > 0 {
		a.Scope, a.AcceptUpdates = c.Scope, c.Updates
	}
	if len(c.Own) > 0 {
		a.Scope, a.Rules = c.Scope, c.Own
	}
	for _, i := range c.Grants {
		a.Grants = append(a.Grants, it.Prompt.Grants[i])
	}
	return a
}

// Deny returns the answer that denies an item. The model gets the reason, which may be empty.
func Deny(it *Item, reason string) Answer {
	return Answer{Session: it.Session, ID: it.Prompt.ID(), Behavior: agenttool.Deny, Feedback: strings.TrimSpace(reason)}
}

// Narrowest are the suggested updates that are kept if the person asks for a scope and chooses none: the first with rules.
func Narrowest(it *Item) []int {
	if first := it.Prompt.Decision.SuggestedRules(); first >= 0 {
		return []int{first}
	}
	return nil
}

// Widest is the text that the editor has when a person begins a rule: the widest suggested rules, one a line.
func Widest(it *Item) string {
	text := ""
	for i, update := range it.Prompt.Decision.SuggestedUpdates {
		if update.Mode == "" && len(update.Rules) > 0 {
			text = strings.Join(it.Prompt.Rules(i), "\n")
		}
	}
	return text
}

// AllEdits is the index of the suggested update that lets the session's edits run from now on; -1: there is none.
func AllEdits(it *Item) int {
	return slices.IndexFunc(it.Prompt.Decision.SuggestedUpdates, func(u agenttool.SuggestedUpdate) bool { return u.Mode == agenttool.ModeAcceptEdits })
}

// MaxReason is the length of the longest reason, in characters.
const MaxReason = 2000
