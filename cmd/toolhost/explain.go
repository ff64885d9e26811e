package main

import (
	"fmt"
	"io"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/classify"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/permissions"
)

// How much of the past a rule is explained with.
const (
	explainedCommands = 2000
	shownCommands     = 15
)

// explain says what a rule covers of the commands that past sessions ran, as a rule that allows and as one that forbids.
func (c *checking) explain(out io.Writer) error {
	scope, err := c.flags.options().Scope()
	if err != nil {
		return err
	}
	rule, err := policy.Parser(scope.Dir, scope.Home).Parse(c.explained, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceCLI})
	if err != nil {
		return err
	}
	if !rule.IsAboutCommands() {
		return fmt.Errorf("--explain-rule %s: only rules about the words of commands, such as Shell(git *), can be explained", c.explained)
	}
	dir, err := dirs.Sessions()
	if err != nil {
		return err
	}
	commands, err := history.Commands(dir, explainedCommands)
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	var covered, met, near []string
	for _, command := range commands {
		facts := classify.Command(command, classify.Context{Dir: scope.Dir, Home: scope.Home})
		switch permissions.Relation(rule, &facts) {
		case permissions.Covers:
			covered = append(covered, command)
		case permissions.Meets:
			met = append(met, command)
		case permissions.Near:
			near = append(near, command)
		}
	}
	if c.asJSON {
		return printJSON(out, map[string]any{
			"rule": rule.Text, "commands": len(commands), "covers": output.List(covered), "meets": output.List(met), "near": output.List(near)})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, of %d different commands of past sessions:\n", visible.Text(rule.Text), len(commands))
	if len(commands) == 0 {
		b.WriteString("no past session ran a command: toolhost check 'COMMAND' --allow RULE tries a rule on one\n")
	} else {
		section(&b, "to allow, it covers", covered)
		section(&b, "to ask or deny, it is about these as well", met)
		section(&b, "it is not about these, which are of the same program", near)
	}
	_, err = io.WriteString(out, b.String())
	return err
}

func section(b *strings.Builder, title string, commands []string) {
	fmt.Fprintf(b, "%s (%d):\n", title, len(commands))
	for _, command := range commands[:min(len(commands), shownCommands)] {
		fmt.Fprintf(b, "    %s\n", visible.Text(cut.Characters(command, 110)))
	}
	if more := len(commands) - shownCommands; more > 0 {
		fmt.Fprintf(b, "    … and %d more\n", more)
	}
}
