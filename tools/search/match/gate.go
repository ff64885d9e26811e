package match

import (
	"slices"

	"toolhost/tools/search/literal"
)

// Rough costs on one processor, in microseconds per MiB of source text. They only serve to compare strategies.
const (
	costPass = 50  // of searching for one needle
	costWalk = 650 // of running the automaton
)

// cost estimates the time to search for the needles of a clause and to check their hits.
func cost(c literal.Clause) int {
	cost := costPass * len(c)
	for i := range c {
		cost += 1 << max(0, 20-c[i].Weight()) / 10
	}
	return cost
}

// way is a strategy to find lines.
type way struct {
	clause literal.Clause // the needles to search for; nil: run the automaton over everything
	sure   bool           // every line with a needle matches
	also   literal.Clause // a line must also fulfil this to match; nil: no such condition
}

// choose picks the strategy that is likely the cheapest. A sure strategy stays cheap however often its needles occur.
func (p *Pattern) choose() way {
	if len(p.required) == 0 {
		return way{}
	}
	least := cost(p.required[0])
	if sure := costPass * len(p.exact); 0 < sure && sure < min(2*least, costWalk) {
		return way{clause: p.exact, sure: true}
	}
	if least > costWalk {
		return way{}
	}
	w := way{clause: p.required[0]}
	if i := slices.IndexFunc(p.required, w.tellsLess); i >= 0 {
		w.also = p.required[i]
	}
	return w
}

// tellsLess reports whether c can reject lines that hold a needle of w and is quick to check.
func (w way) tellsLess(c literal.Clause) bool {
	return len(c) <= 2 && slices.ContainsFunc(w.clause, func(n literal.Needle) bool { return !fulfils(n.Text(), c) })
}

const (
	trialSize = 16 << 10 // bytes passed before the needles are judged
	timeOff   = 16 * trialSize
	findCost  = 20 // cost of a line with a needle in addition to its bytes, in bytes that the automaton processes
)

// trust judges whether searching for needles pays off, that is, skips most of the buffer. It applies to needles that
// are not sure. The zero value trusts.
type trust struct {
	passed  int // bytes passed
	checked int // bytes of passed lines that hold a needle
	off     int // bytes to walk before the next trial
}

func (t *trust) lost() bool { return t.off > 0 }

// walk records n bytes that the automaton processed.
func (t *trust) walk(n int) { t.off = max(0, t.off-n) }

// pass records n bytes that were skipped or checked.
func (t *trust) pass(n int) {
	if t.passed += n; t.passed < trialSize {
		return
	}
	if t.checked > t.passed/4 {
		t.off = timeOff
	}
	t.passed, t.checked = 0, 0
}

// check records a line of n bytes that the automaton checked.
func (t *trust) check(n int) { t.checked += n + findCost }
