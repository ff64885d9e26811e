package policy

import (
	"fmt"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/permissions"
	"toolhost/sandbox"
)

// Flags are the parts of a policy that the command line sets.
type Flags struct {
	Allow, Ask, Deny []string // rules
	Mode             string
	Given            func(flag string) bool // reports whether a flag was given; nil: none were
	Own              []string               // further files that no call reads, absolute and without links
}

// Is reports whether a flag was given.
func (f Flags) Is(flag string) bool { return f.Given != nil && f.Given(flag) }

// Parser reads rules about the tools of toolhost. With an empty workspace it reads rules of any workspace.
func Parser(workspace, home string) permissions.Parser {
	return permissions.Parser{
		Names: builtin.Names(), Home: home, Workspace: workspace, Resolve: dirs.Target,
		Grants: func(grants []string) error {
			_, err := sandbox.ParseGrants(grants)
			return err
		},
	}
}

// rules reads the rules.
func (f Flags) rules(p permissions.Parser) ([]permissions.Rule, error) {
	var rules []permissions.Rule
	for _, given := range []struct {
		flag     string
		behavior agenttool.Behavior
		texts    []string
	}{{"--deny", agenttool.Deny, f.Deny}, {"--ask", agenttool.Ask, f.Ask}, {"--allow", agenttool.Allow, f.Allow}} {
		for _, text := range given.texts {
			rule, err := p.Parse(text, given.behavior, agenttool.Origin{Source: agenttool.SourceCLI})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", given.flag, err)
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}
