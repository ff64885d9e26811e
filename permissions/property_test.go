package permissions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"toolhost/agenttool"
)

// properties are what holds for every policy and every call. Each looks at one random world and says what is wrong in it, "" if
// nothing is.
var properties = []struct {
	name  string
	holds func(*world) string
}{
	{"what forbids never loosens", forbiddingTightens},
	{"what allows never tightens", allowingLoosens},
	{"order does not matter", orderIsNothing},
	{"tighter modes are tighter", tighterModes},
	{"unknown is no better than unsafe", unknownIsUnsafe},
	{"what is mentioned can be denied", mentionedIsDenied},
	{"what is touched can be denied", touchedIsDenied},
	{"an unknown word may be the forbidden one", unreadMayBeForbidden},
	{"a suggestion covers the call and no other", suggestionsAreLiteral},
	{"own state is never touched", privateIsDenied},
}

func TestProperties(t *testing.T) {
	worlds := 5_000
	if testing.Short() {
		worlds = 1_000
	}
	for _, p := range properties {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			failures := 0
			for seed := range uint64(worlds) {
				if wrong := p.holds(newWorld(seed)); wrong != "" {
					t.Errorf("world %d: %s", seed, wrong)
					if failures++; failures == 5 {
						t.FailNow()
					}
				}
			}
		})
	}
}

// TestWorldsAreMixed: worlds in which everything is denied would prove nothing.
func TestWorldsAreMixed(t *testing.T) {
	seen := map[agenttool.Behavior]int{}
	suggested := 0
	for seed := range uint64(2000) {
		w := newWorld(seed)
		d := w.policy(w.rules).Decide(w.request)
		seen[d.Behavior]++
		suggested += len(d.SuggestedUpdates)
	}
	for _, b := range looseness {
		if seen[b] < 200 {
			t.Errorf("%d of 2000 worlds say %s", seen[b], b)
		}
	}
	if suggested < 50 {
		t.Errorf("%d suggestions in 2000 worlds", suggested)
	}
}

func FuzzProperties(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, which uint8) {
		p := properties[int(which)%len(properties)]
		if wrong := p.holds(newWorld(seed)); wrong != "" {
			t.Errorf("%s: world %d: %s", p.name, seed, wrong)
		}
	})
}

// looseness are the behaviours, the tightest first.
var looseness = []agenttool.Behavior{agenttool.Deny, agenttool.Ask, agenttool.Allow}

func looser(a, b agenttool.Behavior) bool {
	return slices.Index(looseness, a) > slices.Index(looseness, b)
}

// forbiddingTightens: one more rule that denies or asks never makes a decision looser.
func forbiddingTightens(w *world) string {
	before := w.decide(w.rules, w.request)
	rule := w.rule(pickOf(w, looseness[:2]))
	if after := w.decide(append(slices.Clip(w.rules), rule), w.request); looser(after, before) {
		return w.tell("with %s %s it is %s, without it %s", rule.Behavior, rule.Text, after, before)
	}
	return ""
}

// allowingLoosens: one rule less that allows never makes a decision looser.
func allowingLoosens(w *world) string {
	rule := w.rule(agenttool.Allow)
	before := w.decide(append(slices.Clip(w.rules), rule), w.request)
	if after := w.decide(w.rules, w.request); looser(after, before) {
		return w.tell("with allow %s it is %s, without it %s", rule.Text, before, after)
	}
	return ""
}

// orderIsNothing: the behaviour does not depend on the order of the rules.
func orderIsNothing(w *world) string {
	before := w.decide(w.rules, w.request)
	shuffled := slices.Clone(w.rules)
	w.rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if after := w.decide(shuffled, w.request); after != before {
		return w.tell("in another order it is %s, not %s", after, before)
	}
	return ""
}

// tighterModes: who may only tighten the mode never loosens a decision by it. Bypass is set apart: it asks nobody, and so denies
// where others ask.
func tighterModes(w *world) string {
	last := agenttool.Allow
	for _, mode := range []Mode{Sandboxed, AcceptEdits, Default, DontAsk, Plan} {
		w.mode = mode
		got := w.decide(w.rules, w.request)
		if looser(got, last) {
			return w.tell("it is %s, and %s in a looser mode", got, last)
		}
		last = got
	}
	return ""
}

// unknownIsUnsafe: a fact that is not known is never better than one that is known to be bad. Mode sandboxed is set apart, and so
// are rules about hosts: there the sandbox holds what is not known.
func unknownIsUnsafe(w *world) string {
	if w.mode == Sandboxed {
		w.mode = Default
	}
	w.rules = slices.DeleteFunc(w.rules, func(r Rule) bool { return strings.HasPrefix(r.Text, "Network") })
	f := w.request.Facts
	type unsafe struct {
		at  *agenttool.Fact
		bad agenttool.Fact
	}
	facts := []unsafe{{&f.ReadOnly, agenttool.No}, {&f.Destructive, agenttool.Yes}, {&f.OpenWorld, agenttool.Yes},
		{&f.PathsComplete, agenttool.No}, {&f.PartsComplete, agenttool.No}, {&f.OwnJobs, agenttool.No}}
	for i := range f.Parts {
		p := &f.Parts[i]
		facts = append(facts, unsafe{&p.ReadOnly, agenttool.No}, unsafe{&p.OpenWorld, agenttool.Yes}, unsafe{&p.PathsComplete, agenttool.No},
			unsafe{&p.Destructive, agenttool.Yes})
	}
	n := w.rand.IntN(len(facts))
	*facts[n].at = facts[n].bad
	before := w.decide(w.rules, w.request)
	*facts[n].at = agenttool.Unknown
	if after := w.decide(w.rules, w.request); looser(after, before) {
		return w.tell("with fact %d unknown it is %s, known to be bad %s", n, after, before)
	}
	return ""
}

// mentionedIsDenied: a rule that denies the very words of a command that is mentioned anywhere denies the call.
func mentionedIsDenied(w *world) string {
	for _, argv := range w.request.Facts.Mentions {
		if strings.Contains(strings.Join(argv, ""), agenttool.Unread) {
			continue
		}
		for _, more := range []string{"", " *"} {
			rule, err := w.parse("Shell("+joinQuoted(argv)+more+")", agenttool.Deny)
			if err != nil {
				return w.tell("%v", err)
			}
			if got := w.decide(append(slices.Clip(w.rules), rule), w.request); got != agenttool.Deny {
				return w.tell("%s does not deny %q: %s", rule.Text, argv, got)
			}
		}
	}
	return ""
}

func joinQuoted(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quoted(word)
	}
	return strings.Join(words, " ")
}

// touchedIsDenied: a rule that denies a path denies what reads or writes it, by its spelling, by where it leads, by a directory
// above it, in any case.
func touchedIsDenied(w *world) string {
	f := w.request.Facts
	for i, p := range slices.Concat(f.Reads, f.Writes) {
		tool := "Write"
		if i < len(f.Reads) {
			tool = "Read"
		}
		for _, path := range []string{p.Absolute, p.Resolved} {
			for _, glob := range []string{path, filepath.Dir(path), filepath.Dir(path) + "/*", strings.ToUpper(path)} {
				glob = strings.NewReplacer("[", `\[`, "]", `\]`).Replace(glob)
				rule, err := w.parse(tool+"("+glob+")", agenttool.Deny)
				if err != nil {
					return w.tell("%v", err)
				}
				if got := w.decide(append(slices.Clip(w.rules), rule), w.request); got != agenttool.Deny {
					return w.tell("%s does not deny %+v: %s", rule.Text, p, got)
				}
			}
		}
	}
	return ""
}

// unreadMayBeForbidden: where a rule denies a command, it does not run either when some of its text is not known. What is not known
// may be a piece of a word, several words, or none.
func unreadMayBeForbidden(w *world) string {
	f := w.request.Facts
	if len(f.Mentions) == 0 {
		return ""
	}
	n := w.rand.IntN(len(f.Mentions))
	argv := f.Mentions[n]
	rule, err := w.parse("Shell("+joinQuoted(argv[:1+w.rand.IntN(len(argv))])+" *)", agenttool.Deny)
	if err != nil || strings.Contains(strings.Join(argv, ""), agenttool.Unread) {
		return ""
	}
	first := w.rand.IntN(len(argv))
	last := first + w.rand.IntN(len(argv)-first)
	head, tail := argv[first], argv[last]
	cut := w.rand.IntN(len(head) + 1)
	kept := w.rand.IntN(len(tail) + 1)
	if first == last {
		kept = min(kept, len(tail)-cut)
	}
	hidden := slices.Concat(argv[:first:first], []string{head[:cut] + agenttool.Unread + tail[len(tail)-kept:]}, argv[last+1:])
	if w.often(2) { // nothing at all
		hidden = slices.Insert(slices.Clone(argv), first, agenttool.Unread)
	}
	f.Parts, f.PartsComplete, f.Mentions = nil, agenttool.Unknown, [][]string{hidden}
	if got := w.decide(append(slices.Clip(w.rules), rule), w.request); got == agenttool.Allow {
		return w.tell("%q may be %q, which %s denies", hidden, argv, rule.Text)
	}
	return ""
}

// suggestionsAreLiteral: what is suggested allows the call, and of other calls only those whose parts it spells.
func suggestionsAreLiteral(w *world) string {
	w.mode, w.rules = Default, slices.DeleteFunc(w.rules, func(r Rule) bool { return r.Behavior == agenttool.Allow })
	for _, update := range w.policy(w.rules).Decide(w.request).SuggestedUpdates {
		if update.Mode != "" {
			if w.mode = update.Mode; w.decide(w.rules, w.request) != agenttool.Allow {
				return w.tell("the suggested mode %s does not allow it", update.Mode)
			}
			w.mode = Default
			continue
		}
		with := slices.Clip(w.rules)
		for _, text := range update.Rules {
			rule, err := w.parse(text, agenttool.Allow)
			if err != nil {
				return w.tell("the suggestion %q: %v", text, err)
			}
			with = append(with, rule)
		}
		if got := w.decide(with, w.request); got != agenttool.Allow || len(update.Rules) > 5 {
			return w.tell("the suggestion %q: %s", update.Rules, got)
		}
		for range 5 {
			other := w.near()
			if w.decide(with, other) != agenttool.Allow || w.decide(w.rules, other) == agenttool.Allow {
				continue
			}
			if wrong := spelled(other.Facts, update.Rules); wrong != "" {
				return w.tell("the suggestion %q allows another call: %s", update.Rules, wrong)
			}
		}
	}
	return ""
}

// near is a call that differs little.
func (w *world) near() Request {
	r := w.request
	f := *r.Facts
	f.Parts = slices.Clone(f.Parts)
	for i := range f.Parts {
		argv := slices.Clone(f.Parts[i].Argv)
		switch w.rand.IntN(5) {
		case 0:
			argv[w.rand.IntN(len(argv))] = pickOf(w, someWords)
		case 1:
			argv = append(argv, pickOf(w, someWords))
		case 2:
			argv = argv[:1+w.rand.IntN(len(argv))]
		}
		f.Parts[i].Argv = argv
	}
	f.Mentions = nil
	for _, part := range f.Parts {
		f.Mentions = append(f.Mentions, part.Argv)
	}
	if w.often(3) {
		f.Writes = append(slices.Clip(f.Writes), w.path())
	}
	r.Facts = &f
	return r
}

// spelled says which part of a call, or which path, no rule of a suggestion spells out, "" if none is.
func spelled(f *agenttool.Facts, texts []string) string {
	var commands [][]string
	for _, text := range texts {
		inner, ok := strings.CutPrefix(strings.TrimSuffix(text, ")"), "Shell(")
		if words, err := shell.Fields(inner, func(string) string { return "" }); ok && err == nil {
			if strings.HasSuffix(inner, " *") {
				words[len(words)-1] = agenttool.Unread
			}
			commands = append(commands, words)
		}
	}
	for i := range f.Parts {
		if !readsOnly(&f.Parts[i]) && !spelledPart(f, i, commands) {
			return fmt.Sprintf("it runs %q", f.Parts[i].Argv)
		}
	}
	for _, p := range f.Writes {
		base := strings.NewReplacer("[", `\[`, "]", `\]`, "*", `\*`).Replace(filepath.Base(p.Resolved))
		if (p.By == 0 || p.Root == "") && !slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(text, "Write(") && strings.Contains(text, base) }) {
			return "it writes " + p.Resolved
		}
	}
	return ""
}

// spelledPart reports whether one of the commands spells a part, or all of what runs it with it at the end: who reads
// "timeout 5 npm test" has read "npm test".
func spelledPart(f *agenttool.Facts, i int, commands [][]string) bool {
	part := &f.Parts[i]
	if slices.ContainsFunc(commands, func(words []string) bool { return spells(words, part.Argv) }) {
		return true
	}
	for by := part.WrappedBy; by >= 0; by = f.Parts[by].WrappedBy {
		outer := f.Parts[by].Argv
		if n := len(outer) - len(part.Argv); n > 0 && slices.Equal(outer[n:], part.Argv) &&
			slices.ContainsFunc(commands, func(words []string) bool { return slices.Equal(words, outer) }) {
			return true
		}
	}
	return false
}

func spells(words, argv []string) bool {
	if last := len(words) - 1; words[last] == agenttool.Unread {
		return len(argv) >= last && slices.Equal(words[:last], argv[:last])
	}
	return slices.Equal(words, argv)
}

// privateIsDenied: whatever the rules and the mode.
func privateIsDenied(w *world) string {
	p := w.path()
	p.Private = true
	if f := w.request.Facts; w.often(5) {
		f.Reads = append(f.Reads, p)
	} else {
		f.Writes = append(f.Writes, p)
	}
	if got := w.decide(append(slices.Clip(w.rules), w.rule(agenttool.Allow)), w.request); got != agenttool.Deny {
		return w.tell("toolhost's own state: %s", got)
	}
	return ""
}
