package approve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// Describe returns the whole content of a prompt as text for a person. The most important lines come first, so that no input,
// however long, moves them out of view.
func Describe(it *Item, s Session) []Line {
	var p page
	prompt := it.Prompt
	p.why(prompt)
	if n := len(it.Together); n > 0 {
		p.add(Plain, 9, fmt.Sprintf("calls:   %d ask this; one answer is for all of them", n+1))
	}
	p.matters(prompt, s)
	p.input(prompt)
	p.subcommands(prompt.Decision.Reason)
	p.facts(prompt.Facts)
	p.place(prompt, s)
	p.suggestions(prompt, s)
	if diff := prompt.Diff(); diff != "" {
		p.section("Diff: " + count(strings.Count(strings.TrimSuffix(diff, "\n"), "\n")+1, "line"))
		p.diff(diff, 2)
	}
	return p
}

// why gives the reason of the prompt.
func (p *page) why(prompt Prompt) {
	reason := prompt.Decision.Reason
	if reason == nil {
		reason = &agenttool.DecisionReason{Detail: "the session does not say why"}
	}
	p.add(Heading, 9, "why:     "+visible.Text(reason.Detail))
	if reason.RuleRef != "" {
		p.add(Plain, 9, "rule:    "+visible.Text(reason.RuleRef))
	}
	if prompt.Attempt > 1 {
		p.add(Warning, 9, fmt.Sprintf("again:   attempt %d: it ran, and something was kept from it", prompt.Attempt))
	}
	if prompt.Decision.BlockedPath != "" {
		p.add(Plain, 9, "path:    "+visible.Text(prompt.Decision.BlockedPath))
	}
	for _, name := range prompt.Unread {
		p.add(Warning, 9, "unread:  the session sent "+visible.Text(name)+" in a form that is not known here")
	}
}

// matters shows the facts that a person should not miss.
func (p *page) matters(prompt Prompt, s Session) {
	f := prompt.Facts
	var words []string
	switch f.Destructive {
	case agenttool.Yes:
		words = append(words, "DESTRUCTIVE")
	case agenttool.Unknown:
		words = append(words, "may be destructive")
	}
	switch {
	case f.OpenWorld == agenttool.Yes && len(f.Hosts) > 0:
		words = append(words, "REACHES OUT to "+visible.Text(strings.Join(f.Hosts, ", ")))
	case f.OpenWorld == agenttool.Yes:
		words = append(words, "REACHES OUT")
	case f.OpenWorld == agenttool.Unknown:
		words = append(words, "may reach out")
	}
	switch {
	case len(f.Writes) > 0:
		words = append(words, "WRITES "+count(len(f.Writes), "path"))
	case f.ReadOnly != agenttool.Yes:
		words = append(words, "may write")
	}
	if f.PathsComplete != agenttool.Yes && f.ReadOnly != agenttool.Yes {
		words = append(words, "touches more than is known")
	}
	if b := prompt.in(s); b.Profile == "unconfined" || b.Profile != "" && b.Level == "none" {
		words = append(words, "NO SANDBOX")
	}
	if len(words) == 0 {
		p.add(Plain, 9, "effects: only reads, no network")
		return
	}
	p.add(Warning, 9, "effects: "+strings.Join(words, " · "))
}

// input shows the command, or the input as JSON. It names members that the diff also shows, and does not repeat them.
func (p *page) input(prompt Prompt) {
	command, shell := prompt.Command()
	if shell {
		p.section("Command")
		for _, line := range visible.Lines(command) {
			p.add(Command, 4, "  | "+line)
		}
		if command == "" {
			p.add(Faint, 2, "  (it is empty)")
		}
		for _, word := range visible.Mixed(command) {
			p.add(Warning, 2, fmt.Sprintf("  note: “%s” mixes letters of two alphabets: %s", word, spelled(word)))
		}
		p.members(prompt, "command")
		return
	}
	p.section("Input")
	if prompt.ShowsAll() && (prompt.Tool == "write" || prompt.Tool == "edit") {
		p.members(prompt, "content", "edits", "old_string", "new_string")
		return
	}
	var b bytes.Buffer
	if json.Indent(&b, prompt.Input, "", "  ") != nil {
		b.Reset()
		b.Write(prompt.Input)
	}
	for _, line := range visible.Lines(b.String()) {
		p.add(Command, 6, "  | "+line)
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

// members lists the members of the input. Those that the page shows elsewhere are passed as shown.
func (p *page) members(prompt Prompt, shown ...string) {
	var input map[string]json.RawMessage
	if json.Unmarshal(prompt.Input, &input) != nil {
		p.add(Warning, 2, "  "+visible.Text(string(prompt.Input)))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(input)) {
		switch value := input[name]; {
		case slices.Contains(shown, name) && name == "command":
		case slices.Contains(shown, name):
			p.add(Faint, 4, fmt.Sprintf("  %s: %s, see the diff", name, count(len(value), "byte")))
		case name == "description":
			p.add(Faint, 4, "  the model says of it: "+visible.Text(string(value)))
		default:
			p.add(Plain, 4, "  "+visible.Text(name)+": "+visible.Text(string(value)))
		}
	}
}

// subcommands are the simple commands, each with its verdict and the rule that decided.
func (p *page) subcommands(reason *agenttool.DecisionReason) {
	if reason == nil || len(reason.Subcommands) == 0 {
		return
	}
	p.section("Its commands, each with its decision")
	for i, sub := range reason.Subcommands {
		kind := Plain
		if sub.Behavior == agenttool.Deny {
			kind = Warning
		}
		line := fmt.Sprintf("%3d. %-5s  %s", i+1, visible.Text(string(sub.Behavior)), visible.Text(Quote(sub.Argv)))
		if sub.WrappedBy >= 0 && sub.WrappedBy < len(reason.Subcommands) && sub.WrappedBy != i {
			line += fmt.Sprintf("   (run by %d)", sub.WrappedBy+1)
		}
		p.add(kind, 12, line)
		if sub.Reason != "" {
			p.add(Faint, 12, "            "+visible.Text(sub.Reason))
		}
		if sub.Rule != "" {
			p.add(Faint, 12, "            rule "+visible.Text(sub.Rule)+from(sub))
		}
	}
}

// from says where a rule comes from.
func from(sub agenttool.Subcommand) string {
	from := ""
	if sub.Source != "" {
		from = ", of " + visible.Text(strings.ReplaceAll(sub.Source, "_", " "))
	}
	if sub.Where != "" {
		from += ", " + visible.Text(sub.Where)
	}
	return from
}

// facts shows the paths, the hosts, and the reasons for the facts.
func (p *page) facts(f agenttool.Facts) {
	if len(f.Writes)+len(f.Reads)+len(f.Hosts)+len(f.Reasons) == 0 {
		return
	}
	p.section("What is known of it")
	p.paths("writes", f.Writes)
	p.paths("reads", f.Reads)
	for _, host := range f.Hosts {
		p.add(Plain, 9, "  host   "+visible.Text(host))
	}
	for _, r := range f.Reasons {
		at := ""
		if r.Line > 0 {
			at = fmt.Sprintf(" (line %d, column %d)", r.Line, r.Column)
		}
		p.add(Faint, 9, "  from   "+visible.Text(r.Text)+at)
	}
}

func (p *page) paths(verb string, paths []agenttool.Path) {
	for _, path := range paths {
		line := fmt.Sprintf("  %-6s %s", verb, visible.Text(path.Spelling))
		switch {
		case path.Resolved != "" && path.Resolved != path.Spelling:
			line += "  is " + visible.Text(path.Resolved)
		case path.Resolved == "" && path.Absolute != "" && path.Absolute != path.Spelling:
			line += "  is " + visible.Text(path.Absolute)
		}
		switch {
		case path.Private:
			line += "  (toolhost's own)"
		case path.Root == "" && path.Resolved != "":
			line += "  (outside the workspace)"
		}
		p.add(Plain, 9, line)
	}
}

// place shows the directory, the session and the sandbox of the call.
func (p *page) place(prompt Prompt, s Session) {
	p.section("Where")
	if prompt.Dir != "" {
		p.add(Plain, 13, "  directory  "+visible.Text(prompt.Dir))
	}
	p.add(Plain, 13, "  workspace  "+visible.Text(s.Workspace))
	p.add(Plain, 13, "  session    "+visible.Text(s.ID)+mode(s))
	p.add(Plain, 13, "  sandbox    "+sandbox(prompt.in(s)))
}

func mode(s Session) string {
	if s.Mode == "" {
		return ""
	}
	return ", mode " + visible.Text(s.Mode)
}

// profiles say what a sandbox profile means.
var profiles = map[string]string{
	"":           "none: this tool runs no commands",
	"read_only":  "read_only: it can write nothing and has no network",
	"workspace":  "workspace: it can write the workspace and /tmp, and reach granted hosts",
	"unconfined": "unconfined: it can do what you can",
}

func sandbox(b Sandbox) string {
	text := profiles[b.Profile]
	if text == "" {
		text = visible.Text(b.Profile)
	}
	switch {
	case b.Profile == "" || b.Level == "":
	case b.Level == "none":
		text += "; on this machine nothing holds it"
	default:
		text += "; level " + visible.Text(b.Level)
	}
	if len(b.Grants) > 0 {
		text += "; with " + visible.Text(strings.Join(b.Grants, ", "))
	}
	return text
}

// suggestions are the rules and grants that could be given, as they would be stored.
func (p *page) suggestions(prompt Prompt, s Session) {
	updates := prompt.Decision.SuggestedUpdates
	if len(updates)+len(prompt.Grants) == 0 {
		return
	}
	p.section("Could be kept, the narrowest first")
	for i := range updates {
		for _, text := range SuggestedRules(prompt, i) {
			p.add(Plain, 6, fmt.Sprintf("  r%-2d %s", i+1, text))
		}
	}
	if len(updates) > 0 {
		for _, scope := range s.Approvals.Scopes {
			if scope != "once" {
				p.add(Faint, 6, fmt.Sprintf("      for the %s: in %s", visible.Text(scope), visible.Text(s.Store(scope))))
			}
		}
	}
	for i, grant := range prompt.Grants {
		p.add(Plain, 6, fmt.Sprintf("  g%-2d %s, for this call", i+1, GrantText(grant)))
	}
}

// GrantText is a grant, for a person.
func GrantText(grant string) string {
	if grant == "unconfined" {
		return grant + " (NO SANDBOX: it can do what you can)"
	}
	return visible.Text(grant)
}

// modeRuns says what the modes run unasked that a prompt may offer.
var modeRuns = map[agenttool.Mode]string{
	agenttool.ModeAcceptEdits: "edits of files in the workspace run",
	agenttool.ModeSandboxed:   "what the sandbox holds runs; it asks about what destroys or reaches out",
}

// SuggestedRules returns the lines of the n-th suggested update: each rule exactly as it would be stored, behind its behaviour, or the mode.
func SuggestedRules(p Prompt, n int) []string {
	update := p.Decision.SuggestedUpdates[n]
	if update.Mode != "" {
		return []string{"mode   " + visible.Text(string(update.Mode)) + " from now on, for this session: " + modeRuns[update.Mode]}
	}
	var lines []string
	for _, rule := range update.Rules {
		lines = append(lines, visible.Text(string(update.Behavior))+"  "+visible.Text(rule))
	}
	return lines
}

// Thousands writes a number with commas.
func Thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
