package main

import (
	_ "embed" // the steps and the home
	"fmt"
	"strings"
)

//go:embed steps.txt
var stepLines string

// step is a call of a session.
type step struct {
	session   string // the title of its session
	workspace string // below the home
	kind      string
	short     bool   // part of the short form
	tool      string // "" for a command
	text      string // the command, or the input of the tool
}

// parse reads the steps.
func parse(short bool) ([]step, error) {
	var all []step
	var at step
	open := false // lines that begin with a tab belong to the last step
	for i, line := range strings.Split(stepLines, "\n") {
		switch rest, starred := strings.CutPrefix(line, "*"); {
		case strings.HasPrefix(line, "== "):
			title, workspace, _ := strings.Cut(line[3:], " | ")
			at = step{session: title, workspace: workspace}
		case strings.HasPrefix(line, "-- "):
			at.kind = line[3:]
		case strings.HasPrefix(rest, "$ "), strings.HasPrefix(rest, "@"):
			s := at
			s.short = starred
			if s.text = rest[2:]; rest[0] == '@' {
				s.tool, s.text, _ = strings.Cut(rest[1:], " ")
			}
			if open = starred || !short; open {
				all = append(all, s)
			}
		case strings.HasPrefix(line, "\t"):
			if open {
				all[len(all)-1].text += "\n" + line[1:]
			}
		case line != "" && line[0] != '#':
			return nil, fmt.Errorf("steps.txt:%d: not a step: %s", i+1, line)
		}
	}
	return all, nil
}

// name is a line that shows the step.
func (s step) name() string {
	text := strings.Join(strings.Fields(s.text), " ")
	if s.tool != "" {
		text = s.tool + " " + text
	}
	return text
}
