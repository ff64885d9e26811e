package permissions

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool"
)

// maxSuggested is how many rules one suggestion holds at most.
const maxSuggested = 5

// suggester finds changes of a policy that would allow a call.
type suggester struct {
	p *Policy
	r Request
}

// suggest returns rule changes that would have allowed this very call, the narrowest first. A wider one follows where the first
// words of a command select a subcommand (any further words), or where the call reads files outside the workspace (all of their
// directory). The last one is a mode that would let the call run, for the session. Each suggestion was checked against the call.
func (s suggester) suggest() []agenttool.SuggestedUpdate {
	var updates []agenttool.SuggestedUpdate
	exact := s.narrowest()
	for _, rules := range [][]string{exact, s.widened(exact)} {
		if len(rules) > 0 && len(rules) <= maxSuggested && s.wouldAllow(rules) {
			updates = append(updates, agenttool.SuggestedUpdate{
				Op: agenttool.OpAddRules, Destination: agenttool.SourceSession, Behavior: agenttool.Allow, Rules: rules})
		}
	}
	if mode, found := s.looser(); found {
		updates = append(updates, agenttool.SuggestedUpdate{Op: agenttool.OpSetMode, Destination: agenttool.SourceSession, Mode: mode})
	}
	return updates
}

// looser returns the strictest of the modes that are looser than the one in force and would let the call run, if there is one.
func (s suggester) looser() (Mode, bool) {
	for _, mode := range []Mode{AcceptEdits, Sandboxed} {
		looser := *s.p
		looser.Mode = mode
		if !mode.Within(s.p.Mode) && !s.p.Fixed && looser.verdict(s.r).behavior == agenttool.Allow {
			return mode, true
		}
	}
	return "", false
}

// SuggestGrants returns the rules that would have given a command its grants for hosts and paths, as one update; nil if there are none.
func SuggestGrants(grants []string) []agenttool.SuggestedUpdate {
	var rules []string
	for _, grant := range grants {
		kind, object, _ := strings.Cut(grant, ":")
		rule, ok := "Network("+object+")", kind == "host"
		if kind == "write" && utf8.ValidString(object) {
			rule, ok = "Write("+escapeGlob(object)+")", true
		}
		if _, err := suggested.Parse(rule, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceSession}); err == nil && ok {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	return []agenttool.SuggestedUpdate{{Op: agenttool.OpAddRules, Destination: agenttool.SourceSession, Behavior: agenttool.Allow, Rules: rules}}
}

// suggested parses what is suggested.
var suggested = Parser{Names: map[string]string{"shell": "shell", "read": "read", "write": "write"}}

// wouldAllow tries rules.
func (s suggester) wouldAllow(texts []string) bool {
	var rules []Rule
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false // no record and no settings file can hold it
		}
		rule, err := suggested.Parse(text, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceSession})
		if err != nil {
			return false
		}
		rules = append(rules, rule)
	}
	return s.p.With(rules...).verdict(s.r).behavior == agenttool.Allow
}

// narrowest returns the rules that cover the call and nothing else.
func (s suggester) narrowest() []string {
	c := coverOf(s.p, s.r)
	if s.r.RunsCode && s.r.Facts.PartsComplete != agenttool.Yes {
		return nil
	}
	var rules []string
	add := func(rule string) {
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	for n := range s.r.Facts.Parts {
		part := &s.r.Facts.Parts[n]
		if n < len(c.parts) && c.parts[n] != uncovered || readsOnly(part) || c.passing(n) || s.endsAnother(part) {
			continue
		}
		rule := s.ruleFor(part)
		if rule == "" {
			return nil
		}
		add(rule)
	}
	if slices.ContainsFunc(s.r.Facts.Reads, ofProcess) || slices.ContainsFunc(s.r.Facts.Writes, ofProcess) {
		return nil
	}
	for _, path := range s.r.Facts.Writes {
		if s.p.keeps(path) {
			continue
		}
		if s.p.set.allowing(path, func(rule *Rule) bool { return rule.takes(path, s.r.Tool) }) < 0 {
			add("Write(" + s.spell(path) + ")")
		}
	}
	for _, path := range s.r.Facts.Reads {
		written := slices.ContainsFunc(s.r.Facts.Writes, func(w agenttool.Path) bool { return w.Resolved == path.Resolved })
		if s.p.outside(path) && !written {
			add(s.reading(path))
		}
	}
	return rules
}

// reading is the rule that lets a path be read.
func (s suggester) reading(path agenttool.Path) string {
	if path.Upstream && path.Resolved != "" {
		return Opening(Fetches + path.Resolved)[0]
	}
	return "Read(" + s.spell(path) + ")"
}

// ofProcess reports whether a path is about one process: no rule about its number means anything later.
func ofProcess(path agenttool.Path) bool {
	name, below := strings.CutPrefix(path.Resolved, "/proc/")
	return below && !path.Own && name != "" && name[0] >= '0' && name[0] <= '9'
}

// ruleFor returns the rule with the words of a simple command: all of them, those before a commit's message of several lines, or, if not all
// are known, those that say what the program does. It is "" if there is none.
func (s suggester) ruleFor(part *agenttool.Part) string {
	words := s.meant(part)
	variables, ok := beforeWords(part, false)
	if lines := beforeLines(words); lines > 0 && s.r.Facts.Destructive != agenttool.Yes {
		words = words[:lines]
	}
	if known := slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, unknownEnd) }); known >= 0 && !part.Exact {
		n := told(words)
		if n == 0 || n > known || slices.Contains(runners, words[n-1]) || s.r.Facts.Destructive == agenttool.Yes {
			return ""
		}
		words = words[:n]
	}
	switch {
	case !ok || !part.Exact && !part.Loose || !suggestible(words):
		return ""
	case len(words) < len(s.meant(part)):
		return "Shell(" + variables + joinWords(words) + " *)"
	}
	return "Shell(" + variables + joinWords(words) + ")"
}

// meant returns the words of a simple command as rules are suggested for them.
func (s suggester) meant(part *agenttool.Part) []string {
	if part.Means != nil && meansInRoots(s.r.Facts, part) {
		return part.Means
	}
	return part.Argv
}

// beforeWords returns the variables of a suggested rule, each with a blank behind it; with stars for values that name no code, if those are
// wanted or not known. It is not ok if one names code.
func beforeWords(part *agenttool.Part, stars bool) (text string, ok bool) {
	for _, v := range part.Variables {
		value := quoteWord(v.Value)
		if v.Value == "" {
			value = ""
		}
		if !v.Known || stars && v.Influence == agenttool.ActsOnOther {
			value = "*"
		}
		switch {
		case v.Influence == agenttool.ShowsOther:
			continue
		case v.Influence == agenttool.RunsOther, !v.Known && v.Influence != agenttool.ActsOnOther, strings.ContainsAny(v.Value, "\n\x00"):
			return "", false
		}
		text += v.Name + "=" + value + " "
	}
	return text, true
}

// endsAnother reports whether a part is the end of the words of the one that runs it: the rule for that one shows all that runs.
func (s suggester) endsAnother(part *agenttool.Part) bool {
	if part.WrappedBy < 0 || part.WrappedBy >= len(s.r.Facts.Parts) || !part.Exact {
		return false
	}
	outer := &s.r.Facts.Parts[part.WrappedBy]
	return !outer.Passes && outer.Exact && !readsOnly(outer) && endsIn(outer.Argv, part.Argv)
}

func joinWords(argv []string) string {
	quoted := make([]string, len(argv))
	for i, w := range argv {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}

// toldBy is how many words of a command line tool say what it does; "npm run" takes one more.
var toldBy = map[string]int{
	"cargo": 2, "go": 2, "npm": 2, "npm run": 3, "pnpm": 2, "pnpm run": 3, "yarn": 2, "yarn run": 3, "bun": 2, "bun run": 3,
	"git": 2, "make": 1, "just": 2, "task": 2, "mvn": 2, "gradle": 2, "./gradlew": 2, "dotnet": 2, "mix": 2, "bundle": 2,
	"pytest": 1, "tox": 1, "ruff": 2, "mypy": 1, "eslint": 1, "prettier": 1, "tsc": 1, "vitest": 1, "jest": 1, "rspec": 1,
	"docker": 2, "docker compose": 3, "kubectl": 2, "terraform": 2, "gh": 3, "pip": 2, "uv": 2, "poetry": 2, "swift": 2, "zig": 2,
}

// runners are the words that announce a program in the words behind them.
var runners = []string{"run", "exec", "x", "dlx", "foreach", "submodule", "bisect", "rebase", "eval", "script", "tool", "generate",
	"cross-env", "env-cmd", "dotenv", "dotenvx", "concurrently", "npm-run-all", "run-s", "run-p", "tsx", "ts-node", "nodemon", "zx", "esno", "vite-node", "babel-node", "wait-on", "start-server-and-test", "husky", "lerna", "nx", "turbo", "patch-package"}

// widened returns the rules with any words behind those that say what a tool does, and with the directories of files outside; nil if
// that widens none.
func (s suggester) widened(exact []string) []string {
	if s.r.Facts.Destructive == agenttool.Yes || len(exact) == 0 {
		return nil
	}
	rules, wider := s.wholeDirs(exact)
	for i := range s.r.Facts.Parts {
		part := &s.r.Facts.Parts[i]
		at := slices.Index(rules, s.ruleFor(part))
		words := s.meant(part)
		n := told(words)
		if at < 0 || n == 0 || slices.Contains(runners, words[n-1]) {
			continue
		}
		variables, _ := beforeWords(part, true)
		if rule := "Shell(" + variables + joinWords(words[:n]) + " *)"; rule != rules[at] {
			rules[at], wider = rule, true
		}
	}
	if !wider {
		return nil
	}
	return slices.Compact(rules)
}

// told returns how many of the words say what the tool does; 0 if it is not known.
func told(argv []string) int {
	n := runsNamed(argv)
	switch {
	case n > 0 && n == len(argv) && (argv[0] == "source" || argv[0] == "."):
		return 0
	case n > 0:
		return n
	}
	for depth := 1; depth <= min(2, len(argv)); depth++ {
		if found, ok := toldBy[strings.Join(argv[:depth], " ")]; ok {
			n = found
		}
	}
	if n > len(argv) || slices.ContainsFunc(argv[:n], func(w string) bool { return strings.HasPrefix(w, "-") }) {
		return 0
	}
	return n
}

// spell writes a path as a pattern that matches it alone, by its spelling and by where it leads.
func (s suggester) spell(path agenttool.Path) string {
	led := leadsTo(path)
	spelled, resolved := s.pattern(filepath.Clean(path.Absolute)), s.pattern(led)
	switch {
	case spelled == resolved:
		return resolved
	case filepath.IsAbs(spelled) && !filepath.IsAbs(resolved): // one pattern is relative or absolute, not both
		resolved = escapeGlob(led)
	case filepath.IsAbs(resolved) && !filepath.IsAbs(spelled):
		spelled = escapeGlob(filepath.Clean(path.Absolute))
	}
	if filepath.IsAbs(spelled) {
		return "/{" + spelled[1:] + "," + resolved[1:] + "}"
	}
	return "{" + spelled + "," + resolved + "}"
}

// pattern returns the pattern for one path, relative to the workspace where it lies inside.
func (s suggester) pattern(path string) string {
	if rel, err := filepath.Rel(s.p.Workspace, path); err == nil && agenttool.Within(s.p.Workspace, path) {
		return escapeGlob(rel)
	}
	return escapeGlob(path)
}

// neverSuggested are programs that destroy, or run as somebody else, what they are given: no rule about them is suggested.
var neverSuggested = []string{"rm", "busybox", "sudo", "su", "doas", "pkexec", "eval", "builtin", "ssh", "dd", "mkfs", "shred", "script", "strace",
	"chroot", "unshare", "nsenter", "watch", "parallel", "find", "xargs"}

// runAnything are programs that run what their words or their input say. A rule is suggested that has all their words, and none wider.
var runAnything = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "python", "python2", "python3", "node", "deno", "perl", "ruby", "php",
	"lua", "awk", "sed", "npx", "env", "exec", "command", "source", ".", "nohup", "setsid", "timeout", "nice", "time"}

// suggestsNothing reports whether the words of a program that runs anything do not say what it runs: it reads that from its input, a
// package is not named, or a wrapper runs a program that is never suggested.
func suggestsNothing(argv []string) bool {
	if !slices.Contains(runAnything, filepath.Base(argv[0])) {
		return false
	}
	named := slices.Contains(argv, "--test")
	for _, w := range argv[1:] {
		named = named || !strings.HasPrefix(w, "-")
		shell := strings.HasSuffix(argv[0], "sh") && strings.HasPrefix(w, "-") && strings.Contains(w, "s")
		if w == "-" || w == "/dev/stdin" || shell || argv[0] != "npx" && slices.Contains(neverSuggested, filepath.Base(w)) {
			return true
		}
	}
	if slices.Contains([]string{"source", ".", "npx"}, argv[0]) {
		return runsNamed(argv) == 0
	}
	return !named
}

// suggestible reports whether the argv can be suggested as a rule.
func suggestible(argv []string) bool {
	if len(argv) == 0 || slices.Contains(neverSuggested, filepath.Base(argv[0])) || suggestsNothing(argv) || strings.ContainsRune(argv[0], '/') && filepath.IsAbs(argv[0]) {
		return false
	}
	return !slices.ContainsFunc(argv, func(w string) bool { return w == "" || strings.ContainsAny(w, "\n\x00") })
}

// runsNamed returns how many words of a command that runs another one say, by its name, which one: npx PACKAGE, python3 -m MODULE,
// source VENV/bin/activate; 0 if they do not say it, or if it could be any program.
func runsNamed(argv []string) int {
	if len(argv) < 2 {
		return 0
	}
	switch argv[0] {
	case "npx":
		n := 1
		for n < len(argv) && slices.Contains([]string{"-y", "--yes", "--no", "--no-install"}, argv[n]) {
			n++
		}
		if n < len(argv) && argv[n] != "" && !strings.HasPrefix(argv[n], "-") && !slices.Contains(neverSuggested, packageName(argv[n])) && !slices.Contains(runAnything, packageName(argv[n])) {
			return n + 1
		}
	case "source", ".":
		if path := argv[1]; len(argv) == 2 && strings.HasSuffix(path, "/bin/activate") && filepath.IsLocal(path) {
			return 2
		}
	case "python", "python3":
		if len(argv) > 2 && argv[1] == "-m" && slices.Contains(modules, argv[2]) {
			return 3
		}
	}
	return 0
}

// packageName is the last name of a package, without its version: tool of @scope/tool@1.2.
func packageName(spec string) string {
	name := filepath.Base(spec)
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	return name
}

// modules are those that test, check or format the project, and run nothing else.
var modules = []string{"unittest", "pytest", "mypy", "ruff", "black", "flake8", "isort", "pylint", "doctest", "compileall", "py_compile"}

// beforeLines returns how many words stand before a commit's message of several lines, which no later commit has; 0 for any other
// command.
func beforeLines(argv []string) int {
	if len(argv) < 4 || argv[0] != "git" || argv[1] != "commit" {
		return 0
	}
	n := slices.IndexFunc(argv, func(w string) bool { return strings.Contains(w, "\n") })
	if n > 2 && slices.Contains([]string{"-m", "--message", "-am"}, argv[n-1]) {
		return n
	}
	return 0
}

// wholeDirs returns the rules with the directory of each file outside that is read, where that is no large part of the machine, and
// whether there is one.
func (s suggester) wholeDirs(exact []string) (rules []string, wider bool) {
	rules = slices.Clone(exact)
	for _, path := range s.r.Facts.Reads {
		at := slices.Index(rules, "Read("+s.spell(path)+")")
		if dir := filepath.Dir(leadsTo(path)); at >= 0 && !path.Names && leadsTo(path) == filepath.Clean(path.Absolute) && s.narrow(dir) {
			rules[at], wider = "Read("+escapeGlob(dir)+"/**)", true
		}
	}
	var once []string
	for _, rule := range rules {
		if !slices.Contains(once, rule) {
			once = append(once, rule)
		}
	}
	return once, wider
}

// narrow reports whether a directory outside may be offered as a whole: it is not a top of the machine, a home, or hidden, and the
// workspace does not lie in it.
func (s suggester) narrow(dir string) bool {
	names := strings.Split(strings.TrimPrefix(dir, "/"), "/")
	least := 2
	if slices.Contains([]string{"home", "Users", "mnt", "media", "run", "proc", "sys", "dev"}, names[0]) {
		least = 3
	}
	hidden := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	if len(names) < least || hidden || agenttool.Within(dir, s.p.Workspace) {
		return false
	}
	return s.p.Home == "" || dir != s.p.Home
}
