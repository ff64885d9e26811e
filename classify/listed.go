package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// Characters that split or change a name on a line, by its reader.
const (
	lineBreakers  = "\n\\"
	xargsBreakers = " \t\n\v\f\r\"'\\"
	shellBreakers = " \t\n*?[]\\"
)

// listing is names of files that a command prints and another one reads, as [program.Listing] says. Only what looks at the disk can rely
// on them: a name may hold what parts it, or look like an option.
type listing struct {
	program.Listing
	dir string // the directory that the names are relative to
}

// notePrinted notes the names of files that a command prints.
func (w *walk) notePrinted(argv []program.Word, a *program.Args, u *program.Use) {
	if w.disk == nil {
		return
	}
	switch l := program.Lists(argv, a, u); {
	case l.Passes && w.scope.stdinNames != nil && !w.scope.stdinNames.Null:
		w.printedNames = w.scope.stdinNames
	case len(l.Names) > 0 && len(w.scope.dirs) == 1:
		w.printedNames = &listing{l, w.scope.dirs[0]}
	case namesCommits(argv) && u.Understood && len(u.Writes)+len(u.Runs) == 0 && len(w.scope.dirs) == 1:
		w.printedNames = &listing{program.Listing{Names: []program.Word{{Token: true}}}, w.scope.dirs[0]}
	}
}

// namesCommits reports whether a command prints names of commits, one a line.
func namesCommits(argv []program.Word) bool {
	if argv[0].Text != "git" || !allStatic(argv) {
		return false
	}
	return gitShape(program.Texts(argv[1:])) == oneToken
}

// feedXargs adds known input names to the command that xargs runs.
func (w *walk) feedXargs(a *program.Args, u *program.Use) {
	in := w.scope.stdinNames
	if in == nil || !w.scope.at(in.dir) || in.Null != a.Has("--null") || len(u.Runs) != 1 {
		return
	}
	placeholder, without := "", xargsBreakers
	if in.Null {
		without = ""
	}
	for _, o := range a.Options {
		switch o.Name {
		case "-I", "--replace":
			placeholder = o.Value.Text
			if !o.Has {
				placeholder = "{}"
			}
		case "--null", "--no-run-if-empty", "--max-args", "-n", "--max-procs", "-P", "-r", "-0", "--verbose", "-t":
		default:
			return
		}
	}
	inner := a.Values("inner")
	if len(inner) == 0 {
		return
	}
	var runs []program.Command
	for _, name := range in.Names {
		if name.Token {
			runs = append(runs, program.Command{Argv: withName(inner, placeholder, name)})
			continue
		}
		name.Name = true
		name = name.Shaped(program.Shape{Pattern: name.Shape().Pattern, Without: without, Flat: name.Shape().Flat})
		runs = append(runs, program.Command{Argv: withName(inner, placeholder, name)})
	}
	w.namesFromIndex = w.namesFromIndex || in.Index
	u.Runs = runs
}

// feedFromFd adds the names that fd finds to the command that it runs, if they are below the working directory.
func feedFromFd(argv []program.Word, u *program.Use) {
	if len(u.Reads) > 0 || !allStatic(argv) || len(u.Runs) != 1 || !u.Runs[0].More || len(u.Runs[0].Argv) == 0 {
		return
	}
	for _, word := range argv {
		for _, elsewhere := range []string{"--base", "--search", "--absolute", "--follow"} {
			if strings.HasPrefix(word.Text, elsewhere) {
				return
			}
		}
		short := len(word.Text) > 1 && word.Text[0] == '-' && word.Text[1] != '-'
		if short && strings.ContainsAny(word.Text, "aL") {
			return
		}
	}
	found := program.Word{Local: true, Name: true}.Shaped(program.Shape{Pattern: "**/*"})
	u.Runs[0] = program.Command{Argv: withName(u.Runs[0].Argv, "", found)}
}

// withName returns the words of a command with each placeholder replaced by a name, or with names added at the end. A word with a
// placeholder inside it is unknown.
func withName(words []program.Word, placeholder string, name program.Word) []program.Word {
	argv := slices.Clone(words)
	if placeholder == "" {
		name.Many, name.Glob = true, !name.Token
		name.Line, name.Column = words[0].Line, words[0].Column
		return append(argv, name)
	}
	for i, word := range argv {
		switch {
		case word.Text == placeholder && word.Static:
			argv[i] = name
		case strings.Contains(word.Text, placeholder):
			before, _, _ := strings.Cut(word.Text, placeholder)
			argv[i] = program.Word{Text: before}
		}
		argv[i].Line, argv[i].Column = word.Line, word.Column
	}
	return argv
}

// lineVariable returns the variable that the condition of a loop reads each line into, and its value, if the lines are names of files.
func (w *walk) lineVariable(cond []*syntax.Stmt) (string, value) {
	in, name := w.scope.stdinNames, lineName(cond)
	if in == nil || in.Null || len(in.Names) != 1 || !w.scope.at(in.dir) || name == "" {
		return "", value{}
	}
	w.namesFromIndex = w.namesFromIndex || in.Index
	return name, nameValue(in.Names[0], in.dir, " \t\r"+lineBreakers)
}

// lineName returns the variable into which a condition reads one line; "" if it does anything else.
func lineName(cond []*syntax.Stmt) string {
	if len(cond) != 1 || len(cond[0].Redirs) > 0 || cond[0].Negated {
		return ""
	}
	call, ok := cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || len(call.Args) > 3 || call.Args[0].Lit() != "read" {
		return ""
	}
	if len(call.Args) == 3 && call.Args[1].Lit() != "-r" {
		return ""
	}
	for _, a := range call.Assigns {
		if a.Name == nil || a.Name.Value != "IFS" || a.Value != nil && len(a.Value.Parts) > 0 {
			return ""
		}
	}
	if name := call.Args[len(call.Args)-1].Lit(); ownName(name) {
		return name
	}
	return ""
}

// nameValue is the value of a variable that holds one of the names that a word stands for.
func nameValue(word program.Word, dir, without string) value {
	if word.Token {
		return value{kind: tokenText}
	}
	shape := word.Shape()
	v := value{kind: begins, text: word.Text, pattern: shape.Pattern, dir: dir, named: true, without: without, flat: shape.Flat}
	if word.Text == "" {
		v.kind = local
		if !word.Local {
			return value{}
		}
	}
	return v
}

// paramValues returns the positional parameters that a nested shell gets from words.
func (s *scope) paramValues(words []program.Word) []value {
	var list []value
	for _, word := range words {
		v := known(word)
		if !word.Static && word.Shape().Pattern != "" && len(s.dirs) == 1 {
			v = nameValue(word, s.dirs[0], word.Shape().Without)
			v.named = word.Name
		}
		list = append(list, v)
	}
	return list
}

// listedWord describes the words that an unquoted substitution expands to, if it prints names of files.
func (w *walk) listedWord() *program.Word {
	l := w.printedNames
	if l == nil || l.Null || len(l.Names) != 1 || l.Names[0].Token || !w.scope.at(l.dir) {
		return nil
	}
	w.namesFromIndex = w.namesFromIndex || l.Index
	word := l.Names[0].Shaped(program.Shape{Pattern: l.Names[0].Shape().Pattern, Without: shellBreakers, Flat: l.Names[0].Shape().Flat})
	return &word
}

// requireNames notes that facts depend on the form of names of files.
func (w *walk) requireNames(argv []program.Word) {
	if w.disk == nil || w.found.quiet > 0 {
		return
	}
	for _, word := range argv {
		if word.Name {
			w.found.note(w.addGlob(names, word))
		}
	}
}

// leavesLines notes a command in the body of a loop over lines that may read a part of them: the rest of a line may then be any
// name.
func (w *walk) leavesLines(argv []program.Word, u *program.Use) {
	if !w.scope.stdinLines || len(u.Reads) > 0 && !slices.ContainsFunc(argv, func(word program.Word) bool { return word.Text == "-" }) {
		return
	}
	if leavesStdin[argv[0].Text] {
		return
	}
	w.found.hidden("it may read a part of the lines that the loop reads")
}

// leavesStdin are programs and builtins that read no standard input if they have something else to read.
var leavesStdin = program.WordSet(`echo printf test [ : true false basename dirname stat ls wc cat sort uniq du file git cd
	break continue exit return find rg grep realpath readlink`)

// settledUse returns the use of a program in a known directory: if the project has no file that could name other code, the program
// only reads.
func (w *walk) settledUse(argv []program.Word, u *program.Use) *program.Use {
	if w.disk == nil || len(w.scope.dirs) != 1 {
		return u
	}
	dir := w.scope.dirs[0]
	if s, ok := program.SettledBy(argv); ok && w.disk.Absent != nil && w.disk.Absent(dir, s) {
		return &s.Use
	}
	return u
}
