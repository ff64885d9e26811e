package approve

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/host/prompt"
)

// Describe returns the whole content of a prompt as text for a person: first the card, which is enough to decide most prompts, then the
// details. Parts that ask stand before parts that are allowed, so that no input, however long, moves them out of view.
func Describe(it *Item, s Session) []Line {
	var p page
	p.card(it, s)
	p.details(it.Prompt, s)
	return p
}

// Card returns the card of a prompt alone.
func Card(it *Item, s Session) []Line {
	var p page
	p.card(it, s)
	return p
}

// Summary is the prompt in a few words.
func (p Prompt) Summary(s Session) prompt.Summary {
	b := p.in(s)
	return prompt.Prompt{
		Decision: p.Decision, Tool: p.Tool, Input: p.Input, Facts: &p.Facts, Dir: p.Dir, Attempt: p.Attempt,
		Sandbox: &prompt.Sandbox{Level: b.Level, Profile: b.Profile, Grants: b.Grants},
	}.Summary()
}

// card sums the call up, with its effects, its reason and the parts that ask, and then shows it.
func (p *page) card(it *Item, s Session) {
	in := it.Prompt
	sum := in.Summary(s)
	p.add(Heading, 2, sum.What)
	p.effects(sum.Effects)
	p.add(Plain, 9, "why:     "+sum.Why)
	p.circumstances(it, sum)
	p.risks(in)
	p.add(Plain, 0, "")
	p.input(in)
	if diff := in.Diff(); diff != "" {
		p.diff(withoutNames(diff), 2)
	}
	p.add(Plain, 0, "")
	if where := where(in, s); len(where) > 0 {
		p.add(Plain, 9, "where:   "+strings.Join(where, " · "))
	}
	if offer := offer(in, s); offer != "" {
		p.add(Plain, 9, "rule:    "+offer)
	}
}

// grades are how effects are shown.
var grades = map[prompt.Grade]Kind{prompt.Harmless: Good, prompt.Notable: Warning, prompt.Grave: Danger}

// effects shows the effects, the grave ones on a line of their own.
func (p *page) effects(all []prompt.Effect) {
	label := "effects: "
	for _, grade := range []prompt.Grade{prompt.Grave, prompt.Notable, prompt.Harmless} {
		var words []string
		for _, e := range all {
			if e.Grade == grade {
				words = append(words, e.Words)
			}
		}
		if len(words) > 0 {
			p.add(grades[grade], 9, label+strings.Join(words, " · "))
			label = "         "
		}
	}
}

// circumstances are further facts that a person should know before they look at the call.
func (p *page) circumstances(it *Item, sum prompt.Summary) {
	in := it.Prompt
	if in.Attempt > 1 {
		p.add(Warning, 9, fmt.Sprintf("again:   attempt %d: it ran, and something was kept from it", in.Attempt))
	}
	if path := in.Decision.BlockedPath; path != "" && !strings.Contains(sum.Why, visible.Text(path)) {
		p.add(Plain, 9, "path:    "+visible.Text(path))
	}
	if n := len(it.Together); n > 0 {
		p.add(Plain, 9, fmt.Sprintf("calls:   %d ask this; one answer is for all of them", n+1))
	}
	for _, name := range in.Unread {
		p.add(Warning, 9, "unread:  the session sent "+visible.Text(name)+" in a form that is not known here")
	}
	for _, of := range in.Opens {
		p.ask(Warning, 9, "opens:   "+prompt.Opening(of))
	}
	for _, grant := range in.Grants {
		if grant == "unconfined" {
			p.add(Danger, 9, "offers:  "+GrantText(grant)+", only if you choose it with g")
		}
	}
}

// How much of the commands that ask is quoted before the whole text.
const (
	maxRisks = 5
	maxRisk  = 160 // characters of one
)

// risks quotes the commands that ask or are denied, the gravest first, if the text has others too.
func (p *page) risks(in Prompt) {
	reason := in.Decision.Reason
	if reason == nil || len(reason.Subcommands) < 2 {
		return
	}
	risky := slices.DeleteFunc(slices.Clone(reason.Subcommands), func(sub agenttool.Subcommand) bool { return sub.Behavior == agenttool.Allow })
	slices.SortStableFunc(risky, func(a, b agenttool.Subcommand) int { return gravity(b, in.Facts) - gravity(a, in.Facts) })
	for _, sub := range risky[:min(len(risky), maxRisks)] {
		kind, label := Warning, "asks:    "
		if gravity(sub, in.Facts) > 0 {
			kind = Danger
		}
		if sub.Behavior == agenttool.Deny {
			label = "denied:  "
		}
		p.ask(kind, 9, label+visible.Text(cut.Characters(Quote(sub.Argv), maxRisk))+does(sub))
	}
	if more := len(risky) - maxRisks; more > 0 {
		p.add(Warning, 9, fmt.Sprintf("         and %d more, see the text below", more))
	}
}

// gravity orders the commands that ask: those that are denied, and those that destroy, come first.
func gravity(sub agenttool.Subcommand, f agenttool.Facts) int {
	destroys := slices.ContainsFunc(f.Parts, func(part agenttool.Part) bool {
		return part.Line == sub.Line && part.Column == sub.Column && part.Destructive == agenttool.Yes
	})
	switch {
	case sub.Behavior == agenttool.Deny:
		return 2
	case destroys:
		return 1
	}
	return 0
}

// does is the reason of a command, without the command.
func does(sub agenttool.Subcommand) string {
	reason := sub.Reason
	if rest, ok := strings.CutPrefix(reason, "`"); ok {
		if i := strings.LastIndex(rest, "` "); i > 0 {
			reason = rest[i+2:]
		}
	}
	if sub.Rule != "" {
		reason += " (rule " + sub.Rule + ")"
	}
	if reason == "" {
		return ""
	}
	return "  – " + visible.Text(cut.Characters(reason, maxRisk))
}

// withoutNames is a diff without the names of its file, which the card has said.
func withoutNames(diff string) string {
	lines := strings.SplitN(diff, "\n", 3)
	if len(lines) == 3 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") {
		return lines[2]
	}
	return diff
}

// where are the directory and the sandbox of the call.
func where(in Prompt, s Session) (parts []string) {
	if in.Dir != "" {
		parts = append(parts, visible.Text(in.Dir))
	}
	switch b := in.in(s); {
	case b.Profile == "":
	case b.Level == "":
		parts = append(parts, "sandbox "+visible.Text(b.Profile))
	default:
		parts = append(parts, "sandbox "+visible.Text(b.Profile)+", level "+visible.Text(b.Level))
	}
	return parts
}

// offer names the narrowest rules that could be kept.
func offer(in Prompt, s Session) string {
	first := in.Decision.SuggestedRules()
	if first < 0 {
		return ""
	}
	var rules []string
	for _, rule := range in.Rules(first) {
		rules = append(rules, visible.Text(rule))
	}
	text := strings.Join(rules, ", ") + " could be kept"
	if more := len(in.Decision.SuggestedUpdates) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// input shows the command, or the input as JSON. It names members that the diff also shows, and does not repeat them.
func (p *page) input(in Prompt) {
	command, shell := in.Command()
	if shell {
		p.command(command, in)
		p.members(in, "command")
		return
	}
	switch {
	case in.ShowsAll() && (in.Tool == "write" || in.Tool == "edit"):
		p.members(in, "path", "content", "edits", "old_string", "new_string")
		return
	case in.isFlat():
		p.members(in)
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, in.Input, "", "  ") != nil {
		b.Reset()
		b.Write(in.Input)
	}
	for _, line := range visible.Lines(b.String()) {
		p.ask(Command, 6, "  | "+line)
	}
}

// command shows a command. Of a text with lines that are proved to be allowed, those that ask come first, with their numbers.
func (p *page) command(command string, in Prompt) {
	if command == "" {
		p.add(Faint, 2, "  (the command is empty)")
	}
	parts := excerpt(command, in.Decision.Reason)
	if len(parts) == 0 {
		for _, line := range visible.Lines(command) {
			p.ask(Command, 4, "  | "+line)
		}
	}
	for _, part := range parts {
		for i, line := range visible.Lines(part.text) {
			number := "     "
			if i == 0 {
				number = fmt.Sprintf("%5d", part.line)
			}
			p.ask(Command, 8, number+" | "+line)
		}
	}
	if len(parts) > 0 {
		p.add(Faint, 2, "  the other lines only run allowed commands; the whole text is below")
	}
	for _, word := range visible.Mixed(command) {
		p.ask(Warning, 2, fmt.Sprintf("  note: “%s” mixes letters of two alphabets: %s", word, spelled(word)))
	}
}

// spelled writes out the letters of a word that are not ASCII.
func spelled(word string) string {
	var letters []string
	for _, r := range word {
		if name := fmt.Sprintf("%c is U+%04X", r, r); r >= 0x80 && !slices.Contains(letters, name) {
			letters = append(letters, name)
		}
	}
	return strings.Join(letters, ", ")
}

// idle are members of an input that have no effect on the world.
var idle = []string{"timeout_ms"}

// maxFlat is the length in bytes of the longest input that is shown a line for each member.
const maxFlat = 2000

// isFlat reports whether the input is a short object of words and numbers.
func (p Prompt) isFlat() bool {
	var members map[string]any
	if len(p.Input) > maxFlat || json.Unmarshal(p.Input, &members) != nil || len(members) == 0 {
		return false
	}
	for _, value := range members {
		switch value.(type) {
		case map[string]any, []any:
			return false
		}
	}
	return true
}

// members lists the members of the input, but for those that the page shows elsewhere.
func (p *page) members(in Prompt, shown ...string) {
	var input map[string]json.RawMessage
	if json.Unmarshal(in.Input, &input) != nil {
		p.ask(Warning, 2, "  "+visible.Text(string(in.Input)))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		switch value := visible.Text(string(input[name])); {
		case slices.Contains(shown, name) || slices.Contains(idle, name) || name == "cwd" && value == `"`+visible.Text(in.Dir)+`"`:
		case name == "description":
			p.add(Faint, 4, "  the model says of it: "+value)
		default:
			p.ask(Plain, 4, "  "+visible.Text(name)+": "+value)
		}
	}
}
