package check

import (
	"fmt"
	"io"
	"strings"

	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/classify"
	"toolhost/permissions"
)

// Coverage sorts commands by their relation to a rule, as a rule that allows and as one that forbids.
type Coverage struct {
	Commands int      `json:"commands"` // that were looked at
	Covers   []string `json:"covers"`
	Meets    []string `json:"meets"`
	Near     []string `json:"near"`
	Rule     string   `json:"rule"`
}

// CoverageOf compares a rule with commands.
func CoverageOf(rule permissions.Rule, commands []string, in classify.Context) Coverage {
	c := Coverage{Rule: rule.Text, Commands: len(commands), Covers: []string{}, Meets: []string{}, Near: []string{}}
	for _, command := range commands {
		facts := classify.Command(command, in)
		switch permissions.Relation(rule, &facts) {
		case permissions.Covers:
			c.Covers = append(c.Covers, command)
		case permissions.Meets:
			c.Meets = append(c.Meets, command)
		case permissions.Near:
			c.Near = append(c.Near, command)
		}
	}
	return c
}

// Print prints some of the commands.
func (c Coverage) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, of %d different commands of past sessions:\n", visible.Text(c.Rule), c.Commands)
	if c.Commands == 0 {
		b.WriteString("no past session ran a command: toolhost check 'COMMAND' --allow RULE tries a rule on one\n")
	} else {
		section(&b, "to allow, it covers", c.Covers)
		section(&b, "to ask or deny, it is about these as well", c.Meets)
		section(&b, "it is not about these, which are of the same program", c.Near)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// shownCommands is how many commands of a section are printed.
const shownCommands = 15

func section(b *strings.Builder, title string, commands []string) {
	fmt.Fprintf(b, "%s (%d):\n", title, len(commands))
	for _, command := range commands[:min(len(commands), shownCommands)] {
		fmt.Fprintf(b, "    %s\n", visible.Text(cut.Characters(command, 110)))
	}
	if more := len(commands) - shownCommands; more > 0 {
		fmt.Fprintf(b, "    … and %d more\n", more)
	}
}
