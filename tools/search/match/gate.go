package match

import (
	"slices"

	"toolhost/tools/search/literal"
)

// Rough costs on one processor, in microseconds a MiB of source text: they only weigh one way against another.
const (
	costPass = 50  // of looking for one needle
	costWalk = 650 // of the automaton
)

// cost is what it takes to look for the needles of a clause, and at what they find.
func cost(c literal.Clause) int {
	cost := costPass * len(c)
	for i := range c {
		cost += 1 << max(0, 20-c[i].Weight()) / 10
	}
	return cost
}

// way is how lines are found.
type way struct {
	clause literal.Clause // its needles are looked for; nil: the automaton walks over everything
	sure   bool           // a line with one of them matches
	also   literal.Clause // a line that does not fulfil this too does not match; nil: there is none
}

// choose chooses the way that is likely to be the cheapest. What is sure is cheap however often it is found.
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

// tellsLess reports whether a line can have what is looked for and yet not fulfil c, which is quick to find out.
func (w way) tellsLess(c literal.Clause) bool {
	return len(c) <= 2 && slices.ContainsFunc(w.clause, func(n literal.Needle) bool { return !fulfils(n.Text(), c) })
}

const (
	trialSize = 16 << 10 // bytes passed before the texts are judged
	timeOff   = 16 * trialSize
	findCost  = 20 // of a line that holds a text, besides its bytes: in bytes that the automaton takes
)

// trust judges whether texts that are not sure are worth looking for: whether most of the buffer can be passed over.
// The zero value trusts.
type trust struct {
	passed  int // bytes, of which
	checked int // are in lines that held a text
	off     int // bytes that are still to be walked before the next trial
}

func (t *trust) lost() bool { return t.off > 0 }

// walk notes that the automaton took n bytes.
func (t *trust) walk(n int) { t.off = max(0, t.off-n) }

// pass notes that n bytes were passed.
func (t *trust) pass(n int) {
	if t.passed += n; t.passed < trialSize {
		return
	}
	if t.checked > t.passed/4 {
		t.off = timeOff
	}
	t.passed, t.checked = 0, 0
}

// check notes that the automaton took a line of n bytes.
func (t *trust) check(n int) { t.checked += n + findCost }
