package permissions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

// Rule is one line of what a person allowed, as they wrote it and as it is matched.
//
//	Tool               any input of a tool, by name or alias, without regard to case
//	Shell(WORDS)       a command whose words match: * stands for any part of one word, a last word * (or :* at the
//	                   end) for any further words: Shell(npm run test:*) covers "npm run test" and
//	                   "npm run test -- -u", not "npm run test:unit"
//	Read(GLOB)         reading the paths that match, by whatever tool
//	Write(GLOB)        writing them (and editing, and reading what is written)
//	Edit(GLOB)         writing them with the edit tool only
//
// A GLOB is a doublestar pattern: ~/x is below the home directory, /x absolute, all else relative to the workspace.
// A pattern that names a directory covers what is below it. There is no ".." and no "!".
type Rule struct {
	Text     string             // as written
	Behavior agenttool.Behavior // today always allow
	Source   string             // the standard's rule source: cli_arg, session, …

	tool string   // lower-case name of the tool; for path rules read, write or edit
	argv []string // Shell(WORDS)
	more bool     // … followed by any further words
	glob string   // Read, Write, Edit: absolute, or relative to the workspace; "" matches every path
}

// Ref names the rule in records: "cli_arg:Write(src/**)".
func (r Rule) Ref() string { return r.Source + ":" + r.Text }

// Parser reads rules. Names maps every tool's name and aliases, in lower case, to the tool's name.
type Parser struct {
	Names map[string]string
	Home  string
}

// Parse reads one rule. Its errors quote the rule and say what would be right.
func (p Parser) Parse(text string, behavior agenttool.Behavior, source string) (Rule, error) {
	r := Rule{Text: strings.TrimSpace(text), Behavior: behavior, Source: source}
	name, spec, scoped := strings.Cut(r.Text, "(")
	if scoped && !strings.HasSuffix(spec, ")") {
		return r, fmt.Errorf("rule %q: the closing parenthesis is missing", text)
	}
	spec = strings.TrimSuffix(spec, ")")
	tool, known := p.Names[strings.ToLower(name)]
	if !known {
		return r, fmt.Errorf("rule %q: there is no tool %q; a rule is Tool or Tool(specifier), such as Shell(go test *) or Write(src/**)", text, name)
	}
	r.tool = tool
	var err error
	switch {
	case !scoped:
	case strings.TrimSpace(spec) == "":
		err = fmt.Errorf("rule %q: the specifier is empty; leave the parentheses out to cover every input", text)
	case tool == "shell":
		err = r.setWords(spec)
	case isPathTool(tool):
		err = r.setGlob(spec, p.Home)
	default:
		err = fmt.Errorf("rule %q: %s takes no specifier; restrict paths with Read(GLOB)", text, name)
	}
	return r, err
}

func (r *Rule) setWords(spec string) error {
	if head, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = head + " *"
	}
	r.argv = strings.Fields(spec)
	if last := len(r.argv) - 1; r.argv[last] == "*" {
		r.argv, r.more = r.argv[:last], true
	}
	if len(r.argv) == 0 {
		return fmt.Errorf("rule %q: it would cover every command; write Shell to mean that", r.Text)
	}
	return nil
}

func (r *Rule) setGlob(spec, home string) error {
	if rest, ok := strings.CutPrefix(spec, "~/"); ok || spec == "~" {
		if home == "" {
			return fmt.Errorf("rule %q: there is no home directory for ~", r.Text)
		}
		spec = filepath.Join(escapeGlob(home), strings.TrimPrefix(rest, "~"))
	}
	spec = strings.TrimPrefix(spec, "./")
	if spec == "." {
		spec = "**"
	}
	if len(spec) > 1 {
		spec = strings.TrimSuffix(spec, "/")
	}
	switch {
	case strings.HasPrefix(spec, "!"):
		return fmt.Errorf("rule %q: a pattern cannot be negated", r.Text)
	case strings.Contains("/"+spec+"/", "/../"):
		return fmt.Errorf("rule %q: a pattern cannot hold .. as a component", r.Text)
	case !doublestar.ValidatePattern(spec):
		return fmt.Errorf("rule %q: the pattern is malformed: a bracket or brace is open", r.Text)
	}
	r.glob = spec
	return nil
}

func isPathTool(tool string) bool { return tool == "read" || tool == "write" || tool == "edit" }

// coversCommand reports whether a Shell(WORDS) rule covers the argv.
func (r Rule) coversCommand(argv []string) bool {
	if r.tool != "shell" || r.argv == nil || len(argv) < len(r.argv) || len(argv) > len(r.argv) && !r.more {
		return false
	}
	for i, word := range r.argv {
		if !matchWord(word, argv[i]) {
			return false
		}
	}
	return true
}

// matchWord matches pattern, in which * stands for any text, against one word.
func matchWord(pattern, word string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == word
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(word) < len(first)+len(last) || !strings.HasPrefix(word, first) || !strings.HasSuffix(word, last) {
		return false
	}
	word = word[len(first) : len(word)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(word, part)
		if !found {
			return false
		}
		word = rest
	}
	return true
}

// coversPath reports whether the rule's pattern covers p, on its spelling and on where it leads.
func (r Rule) coversPath(p agenttool.Path, workspace string) bool {
	if r.glob == "" {
		return true
	}
	return r.matchPath(filepath.Clean(p.Absolute), workspace) && r.matchPath(p.Resolved, workspace)
}

func (r Rule) matchPath(path, workspace string) bool {
	if !filepath.IsAbs(r.glob) {
		rel, err := filepath.Rel(workspace, path)
		if err != nil || !agenttool.Within(workspace, path) {
			return false
		}
		path = rel
	}
	return matchGlob(r.glob, path) || r.glob != "/" && matchGlob(r.glob+"/**", path) || r.glob == "/"
}

func matchGlob(pattern, path string) bool {
	ok, err := doublestar.Match(pattern, path)
	return err == nil && ok
}

// escapeGlob returns a pattern that matches exactly path.
func escapeGlob(path string) string {
	var b strings.Builder
	for _, c := range path {
		if strings.ContainsRune(`*?[]{}\,`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
