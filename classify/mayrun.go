package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// namesCode records code that a program may run because of its words, and that is not among the commands that were found behind it.
func (w *walk) namesCode(base string, argv []program.Word, use *program.Use) {
	if w.found.quiet > 0 {
		return
	}
	if program.SetsVariables(base) {
		w.found.givenVariables(argv)
		w.found.mayRun(ofProgram(base, use.Lost()))
		return
	}
	if use != nil && (use.OnlyReads() || use.NamesCode() == "" && !program.RunsProject(base)) {
		return
	}
	w.found.mayRun(w.codeOf(base, argv, use, 0))
}

// codeOf says why a program may run code that was not analysed, "" if the analysis covers all the code that its words name. That
// code goes to the mentions.
func (w *walk) codeOf(base string, argv []program.Word, use *program.Use, depth int) string {
	n, ok := program.NamesCode(base, argv)
	switch {
	case depth > maxInner:
		return "too many programs run one another"
	case !ok && use == nil:
		return base + " is not a program that is known"
	case !ok:
		return ofProgram(base, use.NamesCode())
	}
	for _, value := range n.Maybe {
		w.found.mentions = append(w.found.mentions, []string{value.Text, agenttool.Unread})
	}
	for _, script := range n.Scripts {
		w.found.mentions = append(w.found.mentions, spelledWords(script))
	}
	if n.Why == "" && w.elsewhere() {
		return base + " runs code of a directory outside the one in which the command line starts"
	}
	why := n.Why
	for _, inner := range n.Commands {
		w.found.mentions = append(w.found.mentions, spelledWords(inner))
		if reason := w.codeOfCommand(inner, depth+1); why == "" {
			why = reason
		}
	}
	return why
}

// ofProgram puts the name of a program before a reason from its description.
func ofProgram(base, reason string) string {
	if reason == "" || strings.HasPrefix(reason, base) {
		return reason
	}
	return base + " " + strings.TrimSpace(reason)
}

const maxInner = 8

// codeOfCommand says why a command that a program runs may run what is not read.
func (w *walk) codeOfCommand(argv []program.Word, depth int) string {
	name := argv[0]
	base, ok := trustedName(name.Text)
	if !ok {
		base, ok = projectProgram(name.Text)
	}
	if !name.Static || !ok {
		return spelledWord(name) + " is a file of its own, or not known"
	}
	spec := program.Lookup(base)
	if spec == nil {
		return w.codeOf(base, argv, nil, depth)
	}
	_, use := program.Parse(spec, argv)
	if program.SetsVariables(base) {
		w.found.givenVariables(argv)
	} else if !use.OnlyReads() && (use.NamesCode() != "" || program.RunsProject(base)) {
		if why := w.codeOf(base, argv, use, depth); why != "" {
			return why
		}
	}
	for _, c := range use.Runs {
		switch {
		case c.Shell != nil:
			return base + " runs text in a shell"
		case len(c.Argv) > 0:
			w.found.mentions = append(w.found.mentions, spelledWords(c.Argv))
			if why := w.codeOfCommand(c.Argv, depth+1); why != "" {
				return why
			}
		}
	}
	return ""
}

// projectProgram returns the name of a program which a file of the project is a copy of, or starts: node_modules/.bin/eslint, ./gradlew.
func projectProgram(name string) (string, bool) {
	name = strings.TrimPrefix(name, "./")
	if name == "gradlew" || name == "mvnw" {
		return name, true
	}
	dir, base := path.Split(name)
	switch dir {
	case "node_modules/.bin/", ".venv/bin/", "venv/bin/", ".tox/py/bin/":
		return base, base != ""
	}
	return "", false
}

// elsewhere reports whether a command may start outside the start directory.
func (w *walk) elsewhere() bool {
	if !w.scope.moved() {
		return false
	}
	return len(w.scope.dirs) == 0 || slices.ContainsFunc(w.scope.dirs, func(dir string) bool {
		return w.ctx.Dir == "" || !agenttool.Within(w.ctx.Dir, dir)
	})
}

// givenVariables judges the variables among the words of a wrapper.
func (rec *record) givenVariables(argv []program.Word) {
	for _, word := range argv[1:] {
		switch name, value, ok := strings.Cut(word.Text, "="); {
		case strings.HasPrefix(word.Text, "-S"), strings.HasPrefix(word.Text, "--split"), strings.HasPrefix(word.Text, "--s"),
			strings.HasPrefix(word.Text, "-") && !strings.HasPrefix(word.Text, "--") &&
				strings.Contains(word.Text, "S") && argv[0].Text != "sudo":
			rec.mayRun(argv[0].Text + " " + word.Text + " splits text into a command")
			return
		case strings.HasPrefix(word.Text, "-"):
		case !ok && word.Text == "":
		case !ok:
			return
		default:
			word.Text = value
			rec.givenVariable(name, word)
		}
	}
}

// givenVariable records that programs run with a variable set.
func (rec *record) givenVariable(name string, value program.Word) {
	if rec.quiet > 0 || program.HarmlessEnvironment(name, value) {
		return
	}
	rec.mayRun(program.VariableNamesCode(name, value))
	if value.Static && value.Text != "" {
		rec.mentions = append(rec.mentions, []string{value.Text, agenttool.Unread})
	}
}

// builtinMayRun judges the builtins that run text, files or other programs.
func (w *walk) builtinMayRun(argv []program.Word) {
	words := argv[1:]
	if w.found.quiet > 0 || len(words) == 0 {
		return
	}
	w.found.setsByBuiltin(argv[0].Text, words)
	switch name := argv[0].Text; name {
	case "eval":
		texts := make([]string, len(words))
		for i, word := range words {
			texts[i] = word.Text
			if !word.Static {
				w.found.mayRun("eval runs text that is not known")
				return
			}
		}
		w.textMayRun(strings.Join(texts, " "))
	case "trap":
		if !words[0].Static {
			w.found.mayRun("trap runs text that is not known")
		} else if len(words) > 1 && words[0].Text != "-" && words[0].Text != "-p" && words[0].Text != "-l" {
			w.textMayRun(words[0].Text)
		}
	case "source", ".":
		if base, ok := projectProgram(words[0].Text); !words[0].Static || !ok || base != "activate" {
			w.found.mayRun(name + " runs " + strings.TrimSuffix(spelledWord(words[0]), agenttool.Unread) + ", which is not read")
		}
	case "alias", "enable", "hash", "mapfile", "readarray":
		if slices.ContainsFunc(words, func(word program.Word) bool { return !word.Static || definesCommand(name, word.Text) }) {
			w.found.mayRun(name + " says what a name runs")
		}
	case "set":
		if slices.ContainsFunc(words, exportsAll) {
			w.found.mayRun("set -a and -k give every variable to programs")
		}
	}
}

func definesCommand(builtin, word string) bool {
	option := strings.HasPrefix(word, "-")
	switch builtin {
	case "alias":
		return strings.Contains(word, "=")
	case "enable":
		return option && strings.ContainsAny(word, "fn")
	case "hash":
		return option && strings.Contains(word, "p")
	}
	return option && strings.Contains(word, "C")
}

// exportsAll reports whether a word of set may be an option which exports variables, or makes words variables.
func exportsAll(word program.Word) bool {
	switch {
	case !word.Static:
		return true
	case word.Text == "allexport", word.Text == "keyword":
		return true
	}
	return strings.HasPrefix(word.Text, "-") && !strings.HasPrefix(word.Text, "--") && strings.ContainsAny(word.Text, "ak")
}

// textMayRun judges text that this shell runs later, or as a part of the line.
func (w *walk) textMayRun(text string) {
	tree := parseResult{failed: true}
	if _, ok := unfit(text); ok && w.codeDepth < maxInner {
		tree = parse(text)
	}
	if tree.failed {
		w.found.mayRun("it runs text that cannot be parsed")
		return
	}
	inner := newWalk(w.ctx)
	defer inner.free()
	inner.codeDepth = w.codeDepth + 1
	inner.strict(tree.stmts)
	w.found.mayRun(inner.found.allMayRun())
	w.found.mentions = append(w.found.mentions, inner.found.mentions...)
}

// harmlessBuiltins are those without a description that run nothing.
var harmlessBuiltins = program.WordSet("getopts let local readonly logout suspend typeset time disown bg fg compopt")

func spelledWord(word program.Word) string {
	if word.Static {
		return word.Text
	}
	return word.Text + agenttool.Unread
}

func spelledWords(words []program.Word) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = spelledWord(word)
	}
	return list
}

// trustedName returns the name under which a program is described: names without a slash, and those in the
// directories that only the system writes.
func trustedName(name string) (string, bool) {
	for _, dir := range []string{"/bin/", "/usr/bin/"} {
		if base, ok := strings.CutPrefix(name, dir); ok && base != "" && !strings.Contains(base, "/") {
			return base, true
		}
	}
	return name, !strings.Contains(name, "/")
}

// naming are the variables that decide which program a word runs, or hold code that the shell runs.
var naming = program.WordSet(`BASH_ALIASES BASH_CMDS IFS`)

// setsUnseen records that something other than a plain assignment sets a variable, whose value is not followed: if the shell uses
// that variable to find programs, later words may run anything. The name may have a subscript.
func (rec *record) setsUnseen(name string) {
	name, _, _ = strings.Cut(name, "[")
	if naming[name] || inherited[name] {
		rec.mayRun("the variable " + name + " decides what commands run, and its value here is not known")
	}
}

// setsWord is setsUnseen for a name that is a word of a command.
func (rec *record) setsWord(name program.Word) {
	if !name.Static {
		rec.mayRun("a variable is set whose name is not known")
		return
	}
	rec.setsUnseen(name.Text)
}

// setsByBuiltin judges the variables that the words of a builtin name.
func (rec *record) setsByBuiltin(builtin string, words []program.Word) {
	switch builtin {
	case "printf":
		rec.setsByPrintf(words)
	case "let":
		for _, word := range words {
			rec.setsByExpression(word)
		}
	case "local", "readonly", "typeset": // after command
		for _, word := range words {
			if strings.HasPrefix(word.Text, "-") && strings.Contains(word.Text, "n") {
				word.Static = false
			}
			word.Text, _, _ = strings.Cut(word.Text, "=")
			rec.setsWord(word)
		}
	case "getopts":
		if len(words) > 1 {
			rec.setsWord(words[1])
		}
	case "read", "mapfile", "readarray", "wait":
		for i, word := range words {
			valued := i > 0 && valueOption(builtin, words[i-1])
			if !valued || word.Many {
				rec.setsWord(word)
			}
		}
	}
}

// valueOption reports whether the next word is the value of an option, which names no variable.
func valueOption(builtin string, option program.Word) bool {
	if !option.Static || len(option.Text) < 2 || option.Text[0] != '-' {
		return false
	}
	values := ""
	switch builtin {
	case "read":
		values = "dinNptu"
	case "mapfile", "readarray":
		values = "dnOsuCc"
	}
	return strings.IndexAny(option.Text, values) == len(option.Text)-1
}

// setsByPrintf judges what follows -v. Words that are not known may be the option, too.
func (rec *record) setsByPrintf(words []program.Word) {
	first := words[0]
	name, option := strings.CutPrefix(first.Text, "-v")
	switch {
	case first.Static && !option, first.Text != "" && !option && first.Text != "-":
	case !first.Static && len(words) == 1 && !first.Many: // a format or an option alone
	case name != "" || !first.Static:
		rec.setsWord(program.Word{Text: name, Static: first.Static})
	case len(words) > 1:
		rec.setsWord(words[1])
	}
}

// setsByExpression judges the names in the text of an expression.
func (rec *record) setsByExpression(word program.Word) {
	if !word.Static {
		rec.mayRun("an expression is not known, and may set any variable")
		return
	}
	for _, name := range strings.FieldsFunc(word.Text, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) }) {
		rec.setsUnseen(name)
	}
}

// setsByClause judges the words of declare and its like that are no plain assignments: one may be so after it is expanded, and with -n
// a name stands for another.
func (w *walk) setsByClause(x *syntax.DeclClause) {
	stands := false
	for _, a := range x.Args {
		if a.Name != nil {
			continue
		}
		word := w.quietly(a.Value)
		switch {
		case word.Static && strings.HasPrefix(word.Text, "-"):
			stands = stands || strings.Contains(word.Text, "n") && x.Variant.Value != "export"
		case !word.Static || !strings.HasPrefix(word.Text, "+"):
			name, _, _ := strings.Cut(word.Text, "=")
			w.found.setsWord(program.Word{Text: strings.TrimSuffix(name, "+"), Static: word.Static})
		}
	}
	for _, a := range x.Args {
		switch {
		case a.Name == nil || !stands:
		case a.Naked || a.Array != nil || a.Append:
			w.found.mayRun("a name stands for a variable that is not known")
		default:
			w.found.setsWord(w.quietly(a.Value))
		}
	}
}

// setsTarget judges the target of an assignment in an expression if it is no plain name: a[i], or one made of expansions.
func (rec *record) setsTarget(target syntax.ArithmExpr) {
	word, ok := target.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		rec.mayRun("an expression sets a variable whose name is not known")
		return
	}
	switch part := word.Parts[0].(type) {
	case *syntax.ParamExp:
		if !part.Short || part.Index == nil {
			rec.mayRun("an expression sets a variable whose name is not known")
			return
		}
		rec.setsUnseen(part.Param.Value)
	default:
		rec.mayRun("an expression sets a variable whose name is not known")
	}
}
