package approve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// details follow the card: all decisions with their grounds.
func (p *page) details(in Prompt, s Session) {
	command, shell := in.Command()
	if shell && len(excerpt(command, in.Decision.Reason)) > 0 {
		p.section("The whole command")
		for _, line := range visible.Lines(command) {
			p.add(Command, 4, "  | "+line)
		}
	}
	p.subcommands(in.Decision.Reason)
	p.facts(in)
	p.place(in, s)
	p.suggestions(in, s)
}

// subcommands are the simple commands, each with its verdict and the rule that decided.
func (p *page) subcommands(reason *agenttool.DecisionReason) {
	if reason == nil {
		return
	}
	if reason.RuleRef != "" && len(reason.Subcommands) == 0 {
		p.section("Its rule")
		p.add(Plain, 2, "  "+visible.Text(reason.RuleRef))
	}
	if len(reason.Subcommands) == 0 || len(reason.Subcommands) == 1 && reason.Subcommands[0].Rule == "" {
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

// facts shows the paths, the hosts, and the reasons for the facts that nothing above has given.
func (p *page) facts(in Prompt) {
	f := in.Facts
	if len(f.Writes)+len(f.Reads)+len(f.Hosts)+len(f.Reasons) == 0 {
		return
	}
	p.section("What is known of it")
	p.paths("writes", f.Writes)
	p.paths("reads", f.Reads)
	for _, host := range f.Hosts {
		p.add(Plain, 9, "  host   "+visible.Text(host))
	}
	command, _ := in.Command()
	several := strings.Contains(strings.TrimSpace(command), "\n")
	var said []string
	if in.Decision.Reason != nil && len(in.Decision.Reason.Subcommands) > 1 {
		for _, sub := range in.Decision.Reason.Subcommands {
			said = append(said, sub.Reason)
		}
	}
	for _, r := range f.Reasons {
		if slices.Contains(said, r.Text) {
			continue
		}
		said = append(said, r.Text)
		at := ""
		if r.Line > 0 && several {
			at = fmt.Sprintf(" (line %d)", r.Line)
		}
		p.add(Faint, 9, "  from   "+visible.Text(r.Text)+at)
	}
}

// paths shows paths as the call spells them, and where links lead.
func (p *page) paths(verb string, paths []agenttool.Path) {
	for _, path := range paths {
		line := fmt.Sprintf("  %-6s %s", verb, visible.Text(path.Spelling))
		if path.Resolved != "" && path.Resolved != path.Spelling && path.Resolved != path.Absolute {
			line += "  is " + visible.Text(path.Resolved)
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

// place shows the workspace, the session and the sandbox of the call.
func (p *page) place(prompt Prompt, s Session) {
	p.section("Session and sandbox")
	if s.Workspace != prompt.Dir {
		p.add(Plain, 13, "  workspace  "+visible.Text(s.Workspace))
	}
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
	text = cmp.Or(text, visible.Text(b.Profile))
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
	agenttool.ModeSandboxed:   "what the sandbox holds runs; it asks about losses that it cannot copy before, and about hosts",
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
