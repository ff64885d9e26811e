package permissions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/near"
)

// Rule is one line that allows, asks about or denies calls, as written and as compiled.
//
//	Tool               any input of a tool, by name or alias, without regard to case; Shell covers what is typed
//	                   into a running shell as well
//	Shell(WORDS)       a command whose words match: * stands for any part of one word, a last word * (or :* at the
//	                   end) for any further words: Shell(npm run test:*) covers "npm run test" and
//	                   "npm run test -- -u", not "npm run test:unit". Quotes hold a word together, and \* and a * in
//	                   quotes are a star. NAME=VALUE words in front are variables that the command runs with
//	Read(GLOB)         reading the paths that match, by any tool or command
//	Write(GLOB)        writing them (and editing them, and reading written files)
//	Edit(GLOB)         writing them with the edit tool only
//	Network(HOST)      reaching a host: NAME, NAME:PORT, or *.NAME for the names below it
//
// A GLOB is a doublestar pattern: ~/x is below the home directory, /x absolute, all else relative to the workspace.
// A pattern that names a directory covers everything below it. There is no ".." and no "!".
//
// A rule that allows may end in " with GRANT, GRANT": the calls that it allows run in a sandbox with these grants.
type Rule struct {
	Text     string             // as written
	Behavior agenttool.Behavior // allow, ask or deny
	Origin   agenttool.Origin
	Grants   []string // as agenttool.Confined takes them

	matcher
}

// matcher is the compiled text of a rule.
type matcher struct {
	tool string // lower-case name of the tool; for path rules read, write or edit
	argv []word // Shell(WORDS)
	vars []setting
	more bool     // … followed by any further words
	glob string   // Read, Write, Edit: absolute, or relative to the workspace; "" matches every path
	led  []string // target of the links in the literal beginning of the glob, absolute
	host hostName // Network; the zero value matches every host
}

// Ref names the rule in records: "cli_arg:Write(src/**)".
func (r Rule) Ref() string { return r.Origin.Source + ":" + r.Text }

// Described names the rule, and the line where it stands if it stands in a file.
func (r Rule) Described() string { return describe(&r) }

// describe names a rule and where it stands.
func describe(r *Rule) string {
	if where := r.Origin.Where(); where != "" {
		return r.Text + " (" + where + ")"
	}
	return r.Ref()
}

// networkTool is the name before a rule about hosts, which is no tool.
const networkTool = "network"

// pushTool and fetchTool are the names before rules about repositories of this machine to which calls push, or from which they fetch. They are
// no tools either.
const (
	pushTool  = "push"
	fetchTool = "fetch"
)

// Parser reads rules. Names maps every tool's name and aliases, in lower case, to the tool's name.
type Parser struct {
	Names     map[string]string
	Home      string
	Workspace string                      // absolute, without links; empty: relative patterns are not followed through links
	Resolve   func(path string) string    // follows the links of an absolute path; nil: none are followed
	Grants    func(grants []string) error // checks grants; nil: none are valid
}

// Parse reads one rule. Its errors quote the rule and say what would be right.
func (p Parser) Parse(text string, behavior agenttool.Behavior, origin agenttool.Origin) (Rule, error) {
	r := Rule{Text: strings.TrimSpace(text), Behavior: behavior, Origin: origin}
	head, err := p.cutGrants(&r)
	if err != nil {
		return r, fmt.Errorf("rule %q: %w", text, err)
	}
	name, spec, scoped := strings.Cut(head, "(")
	if end := strings.LastIndexByte(spec, ')'); scoped && end < 0 {
		return r, fmt.Errorf("rule %q: the closing parenthesis is missing", text)
	} else if scoped && end < len(spec)-1 {
		return r, fmt.Errorf("rule %q: nothing may follow the closing parenthesis but grants, such as with host:example.com", text)
	}
	spec = strings.TrimSuffix(spec, ")")
	tool, known := p.Names[strings.ToLower(strings.TrimSpace(name))]
	if strings.EqualFold(strings.TrimSpace(name), networkTool) {
		tool, known = networkTool, true
	}
	switch about := strings.ToLower(strings.TrimSpace(name)); {
	case about == pushTool && (behavior != agenttool.Allow || !scoped):
		return r, fmt.Errorf("rule %q: Push(DIR) allows pushes to a repository of this machine; deny or ask with Shell(git push *) or Write(DIR)", text)
	case about == fetchTool && (behavior != agenttool.Allow || !scoped):
		return r, fmt.Errorf("rule %q: Fetch(DIR) allows fetches from a repository of this machine; deny or ask with Shell(git fetch *) or Read(DIR)", text)
	case about == pushTool, about == fetchTool:
		tool, known = about, true
	}
	if !known {
		return r, fmt.Errorf("rule %q: there is no tool %q%s; a rule is Tool or Tool(specifier), such as Shell(go test *) or Write(src/**)", text, name, p.meant(name))
	}
	r.tool = tool
	switch {
	case !scoped:
	case strings.TrimSpace(spec) == "":
		err = fmt.Errorf("the specifier is empty; leave the parentheses out to cover every input")
	default:
		err = p.setSpecifier(&r, spec)
	}
	if err != nil {
		return r, fmt.Errorf("rule %q: %w", text, err)
	}
	return r, nil
}

func (p Parser) setSpecifier(r *Rule, spec string) error {
	switch {
	case r.tool == "shell":
		return r.setWords(spec)
	case isPathTool(r.tool):
		glob, err := parsePathPattern(spec, p.Home)
		if err != nil {
			return err
		}
		r.glob = glob
		r.led = p.leads(r)
		return nil
	case r.tool == networkTool:
		host, err := parseHostPattern(spec)
		r.host = host
		return err
	}
	return fmt.Errorf("%s takes no specifier; restrict paths with Read(GLOB)", r.tool)
}

// cutGrants takes the grants off the text of a rule.
func (p Parser) cutGrants(r *Rule) (head string, err error) {
	const with = ") with "
	at := strings.LastIndex(r.Text, with)
	rest := ""
	switch {
	case at >= 0:
		head, rest = r.Text[:at+1], r.Text[at+len(with):]
	case !strings.Contains(r.Text, "("):
		head, rest, _ = strings.Cut(r.Text, " with ")
	default:
		head = r.Text
	}
	if rest == "" {
		return head, nil
	}
	for grant := range strings.SplitSeq(rest, ",") {
		r.Grants = append(r.Grants, strings.TrimSpace(grant))
	}
	switch {
	case r.Behavior != agenttool.Allow:
		return head, fmt.Errorf("only a rule that allows can grant something")
	case p.Grants == nil:
		return head, fmt.Errorf("nothing can be granted here")
	}
	return head, p.Grants(r.Grants)
}

// meant suggests the tool whose name is nearest to a misspelt one.
func (p Parser) meant(name string) string {
	if best := near.Word(strings.TrimSpace(name), slices.Sorted(maps.Keys(p.Names))); best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ""
}

func isPathTool(tool string) bool {
	return tool == "read" || tool == "write" || tool == "edit" || tool == pushTool || tool == fetchTool
}

// coversTool reports whether a rule without a specifier covers any call of a tool.
func (r matcher) coversTool(tool string) bool {
	return r.argv == nil && !isPathTool(r.tool) && r.tool != networkTool && (r.tool == tool || r.tool == "shell" && tool == "shell_input")
}

// allowsWrite reports whether the rule is about what a tool writes.
func (r matcher) allowsWrite(tool string) bool {
	return r.tool == "write" || r.tool == "edit" && tool == "edit"
}

// takes reports whether the rule lets a tool write a path: any file, or the user's repository that a call pushes to.
func (r matcher) takes(path agenttool.Path, tool string) bool {
	return r.allowsWrite(tool) || r.tool == pushTool && path.Upstream
}

// lends reports whether the rule lets calls read a path: any file, or the user's repository from which git fetches. Whoever may push to one may
// fetch from it.
func (r matcher) lends(path agenttool.Path) bool {
	return r.tool == "read" || (r.tool == fetchTool || r.tool == pushTool) && path.Upstream
}

// sortedBy returns rules in the order deny, ask, allow, and otherwise as they came.
func sortedBy(rules []Rule) []Rule {
	order := []agenttool.Behavior{agenttool.Deny, agenttool.Ask, agenttool.Allow}
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return slices.Index(order, a.Behavior) - slices.Index(order, b.Behavior)
	})
	return rules
}

// IsAboutCommands reports whether a rule is about the words of commands.
func (r matcher) IsAboutCommands() bool { return r.tool == "shell" && r.argv != nil }
