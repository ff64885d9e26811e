package permissions

import (
	"slices"
	"strings"

	"toolhost/agenttool"
)

// DeniedCommand is a rule that denies commands, as the sandbox of commands holds it.
type DeniedCommand struct {
	Program string // that the rule denies whole, whatever its arguments; "" for a rule about arguments
	Rule    string // as [Rule.Described]

	matcher matcher
}

// Denies reports whether the rule is about a program that is started with an argv.
func (d *DeniedCommand) Denies(argv []string) bool {
	return len(argv) > 0 && len(d.matcher.vars) == 0 && d.matcher.meets(argv) == surely
}

// DeniedCommands returns the rules that deny commands by their words. Those that count in single threads are left out.
func (p Policy) DeniedCommands() (denied []DeniedCommand) {
	for i := range p.Rules() {
		r := &p.set.rules[i]
		if r.Behavior == agenttool.Deny && r.IsAboutCommands() && r.Origin.Thread == "" {
			denied = append(denied, DeniedCommand{Program: r.wholeProgram(), Rule: describe(r), matcher: r.matcher})
		}
	}
	return denied
}

// wholeProgram returns the name of the program that a rule is about whatever its arguments; "" for other rules, and for those that name a
// program by a path.
func (r *matcher) wholeProgram() string {
	if !r.IsAboutCommands() || len(r.argv) != 1 || !r.more || len(r.vars) > 0 {
		return ""
	}
	name, plain := r.argv[0].literal()
	if !plain || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// heldFor returns which rules that deny commands the sandbox of a call holds, whatever the call's code turns out to run; nil: none. A command
// that runs already began when other rules may have been in force.
func (p *Policy) heldFor(r *Request) func(*Rule) bool {
	if p.Holds == nil || !r.RunsCode || r.Tool != shellTool {
		return nil
	}
	return func(rule *Rule) bool {
		program := rule.wholeProgram()
		return program != "" && rule.Origin.Thread == "" && rule.Behavior == agenttool.Deny && p.Holds(program)
	}
}

// shellTool is the tool whose commands the sandbox starts with the rules in force.
const shellTool = "shell"

// leavesSandbox reports whether a verdict lets a call run without the sandbox.
func (v *verdict) leavesSandbox() bool {
	return v.behavior == agenttool.Allow && slices.Contains(v.grants, "unconfined")
}
