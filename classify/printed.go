package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// shape describes the output of a command for any content of the disk. The output may be empty.
type shape uint8

const (
	anyText shape = iota
	oneNumber
	numberLines // decimal integers in lines of their own
	oneToken    // the name of a commit, a date: it begins with no dash and no slash, and leads nowhere as a path
)

// shapeOf returns the shape of the output of statements.
func (w *walk) shapeOf(list []*syntax.Stmt) shape {
	if printsNumber(list) && w.scope.funcs["wc"] == nil {
		return oneNumber
	}
	stages, ok := stagesOf(list)
	isFunction := func(words []string) bool { return w.scope.funcs[words[0]] != nil }
	if !ok || w.scope.namesChanged != "" || slices.ContainsFunc(stages, isFunction) {
		return anyText
	}
	first, rest := stages[0], stages[1:]
	if len(rest) > 0 {
		return lineNumbers(first, rest)
	}
	switch first[0] {
	case "nproc":
		if len(first) == 1 || len(first) == 2 && first[1] == "--all" {
			return oneNumber
		}
	case "date":
		return dateShape(first[1:])
	case "git":
		if len(first) > 1 && first[1] == "describe" {
			return w.tagShape(first[2:])
		}
		return gitShape(first[1:])
	}
	return anyText
}

// stagesOf returns the words of the commands of a pipe, if they are known and all that runs. Errors may go to /dev/null.
func stagesOf(list []*syntax.Stmt) (stages [][]string, ok bool) {
	if len(list) != 1 {
		return nil, false
	}
	for stmt := list[0]; ; {
		if stmt.Negated || stmt.Background || stmt.Coprocess {
			return nil, false
		}
		pipe, piped := stmt.Cmd.(*syntax.BinaryCmd)
		last := stmt
		if piped {
			if pipe.Op != syntax.Pipe || len(stmt.Redirs) > 0 {
				return nil, false
			}
			last = pipe.Y
		}
		words, ok := wordsOf(last)
		if !ok {
			return nil, false
		}
		stages = append([][]string{words}, stages...)
		if !piped {
			return stages, true
		}
		stmt = pipe.X
	}
}

// wordsOf returns the words of a simple command that the text holds as they are.
func wordsOf(stmt *syntax.Stmt) ([]string, bool) {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || stmt.Negated || stmt.Background {
		return nil, false
	}
	for _, r := range stmt.Redirs {
		if r.Op != syntax.RdrOut || r.N == nil || r.N.Value != "2" || r.Word.Lit() != "/dev/null" {
			return nil, false
		}
	}
	words := make([]string, len(call.Args))
	for i, arg := range call.Args {
		words[i], ok = writtenText(arg)
		if !ok {
			return nil, false
		}
	}
	return words, true
}

// writtenText returns the text of a word without expansions.
func writtenText(word *syntax.Word) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	switch x := word.Parts[0].(type) {
	case *syntax.Lit:
		return x.Value, !strings.ContainsAny(x.Value, globBytes+"$`{}") && !strings.HasPrefix(x.Value, "~")
	case *syntax.SglQuoted:
		return x.Value, !x.Dollar
	case *syntax.DblQuoted:
		lit, ok := onlyPart(x.Parts).(*syntax.Lit)
		if !ok || x.Dollar || strings.ContainsAny(lit.Value, "\\$`") {
			return "", false
		}
		return lit.Value, true
	}
	return "", false
}

// lineNumbers recognises the numbers of lines that grep -n found, which cut takes out.
func lineNumbers(grep []string, rest [][]string) shape {
	if !numbersLines(grep) {
		return anyText
	}
	cut, one := false, false
	for _, stage := range rest {
		line := strings.Join(stage, " ")
		switch {
		case line == "cut -d: -f1", line == "cut -d : -f 1", line == "cut -f1 -d:", line == "cut -d: -f 1":
			cut = true
		case stage[0] == "head" || stage[0] == "tail":
			if len(stage) == 1 {
				return anyText
			}
			count := strings.TrimPrefix(strings.Join(stage[1:], ""), "-n")
			if !program.Digits(count) && !program.Digits(strings.TrimPrefix(stage[1], "-")) {
				return anyText
			}
			one = one || line == stage[0]+" -1" || line == stage[0]+" -n1" || line == stage[0]+" -n 1"
		default:
			return anyText
		}
	}
	switch {
	case !cut:
		return anyText
	case one:
		return oneNumber
	}
	return numberLines
}

// numbersLines reports whether grep begins each line that it prints with the line's number and a colon: it has one file, whose name may
// itself be printed if it is no text.
func numbersLines(grep []string) bool {
	if grep[0] != "grep" && grep[0] != "egrep" && grep[0] != "fgrep" {
		return false
	}
	numbered, operands := false, 0
	for i, word := range grep[1:] {
		switch {
		case strings.HasPrefix(word, "--") || i > 0 && word == "-e":
			return false
		case len(word) > 1 && word[0] == '-' && operands == 0:
			if strings.Trim(word[1:], "niEFPwxs") != "" {
				return false
			}
			numbered = numbered || strings.Contains(word, "n")
		case strings.HasPrefix(word, "-"):
			return false
		default:
			operands++
			if operands == 2 && (strings.Trim(word, plainBytes) != "" || word == "") {
				return false
			}
		}
	}
	return numbered && operands == 2
}

// plainBytes are those of usual paths.
const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"

// dateShape recognises what date prints by a format of its own.
func dateShape(args []string) shape {
	if len(args) > 0 && (args[0] == "-u" || args[0] == "--utc") {
		args = args[1:]
	}
	if len(args) != 1 {
		return anyText
	}
	format, ok := strings.CutPrefix(args[0], "+")
	switch {
	case !ok:
		return anyText
	case format == "%s":
		return oneNumber
	}
	for i := 0; i < len(format); i++ {
		switch c := format[i]; {
		case c == '%' && i+1 < len(format) && strings.IndexByte("FYmdHMSTyjs", format[i+1]) >= 0:
			i++
		case c == '-' && i == 0, strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:", c) < 0:
			return anyText
		}
	}
	return oneToken
}

// tagShape recognises git describe, which prints the name of a tag and perhaps how far behind it the commit is.
func (w *walk) tagShape(args []string) shape {
	if w.disk == nil || !w.disk.PlainTags || w.scope.moved() {
		return anyText
	}
	for _, arg := range args {
		switch arg {
		case "--tags", "--abbrev=0", "--always", "--long", "HEAD", "HEAD^", "HEAD~1":
		default:
			return anyText
		}
	}
	return oneToken
}

// gitShape recognises commands of git that print the names of commits. Of a revision that is none, rev-parse prints the word itself.
func gitShape(args []string) shape {
	if len(args) < 2 {
		return anyText
	}
	switch args[0] {
	case "log":
		return logShape(args[1:])
	case "rev-parse", "merge-base", "rev-list":
	default:
		return anyText
	}
	revisions, count := 0, false
	for _, arg := range args[1:] {
		switch {
		case arg == "--verify", arg == "--short", arg == "-q", arg == "--quiet",
			strings.HasPrefix(arg, "--short=") && program.Digits(arg[len("--short="):]):
			if args[0] != "rev-parse" {
				return anyText
			}
		case args[0] == "rev-list" && arg == "--count":
			count = true
		case args[0] == "rev-list" && (limitsCommits(arg) || commitFilters[arg]):
		case args[0] == "merge-base" && arg == "--fork-point":
		case arg == "" || arg[0] == '-' || arg[0] == '/' || strings.Contains(arg, "..") || strings.Trim(arg, plainBytes+"~^@{}") != "":
			return anyText
		default:
			revisions++
		}
	}
	switch {
	case count && revisions > 0:
		return oneNumber
	case revisions > 0 && (revisions == 1 || args[0] != "rev-parse"):
		return oneToken // of rev-list several, each in a line of its own
	}
	return anyText
}

// commitFilters are options of git log and git rev-list that choose commits or their order, and print nothing besides.
var commitFilters = program.WordSet(`--all --branches --tags --remotes --merges --no-merges --first-parent --reverse
	--date-order --topo-order`)

// commitNames are formats that print the name of a commit, and nothing else.
var commitNames = program.WordSet("%H %h format:%H format:%h tformat:%H tformat:%h")

// limitsCommits reports whether an option says how many commits are shown: -3, -n3, --max-count=3.
func limitsCommits(arg string) bool {
	for _, begin := range []string{"--max-count=", "-n", "-"} {
		if rest, ok := strings.CutPrefix(arg, begin); ok {
			return program.Digits(rest)
		}
	}
	return false
}

// logShape recognises git log that prints the names of commits alone: a patch or a graph, which options ask for, is none.
func logShape(args []string) shape {
	named := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		format, formats := strings.CutPrefix(arg, "--format=")
		if !formats {
			format, formats = strings.CutPrefix(arg, "--pretty=")
		}
		switch {
		case arg == "--":
			i = len(args)
		case formats:
			named = commitNames[format]
			if !named {
				return anyText
			}
		case arg == "-n" && i+1 < len(args) && program.Digits(args[i+1]):
			i++
		case limitsCommits(arg), commitFilters[arg]:
		case arg == "", arg[0] == '-':
			return anyText
		}
	}
	if !named {
		return anyText
	}
	return oneToken
}

// printedText returns the expansion of a substitution, if its text or the caller's Disk determines it. The substitution was
// analysed before.
func (w *walk) printedText(x *syntax.CmdSubst) (string, bool) {
	if text, ok := w.scope.catDocument(x); ok {
		return text, true
	}
	if len(x.Stmts) != 1 || w.scope.namesChanged != "" || w.scope.doubt != "" {
		return "", false
	}
	if s := x.Stmts[0]; len(s.Redirs) > 0 || s.Negated || s.Background {
		return "", false
	}
	call, ok := x.Stmts[0].Cmd.(*syntax.CallExpr)
	last := w.lastCommand
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 || len(last) == 0 || !allStatic(last) || w.scope.funcs[last[0].Text] != nil {
		return "", false
	}
	text, ok := "", false
	switch argv := last; {
	case argv[0].Text == "pwd" && len(argv) == 1 && len(w.scope.dirs) == 1:
		text, ok = w.scope.dirs[0], true
	case argv[0].Text == "basename" && (len(argv) == 2 || len(argv) == 3) && !strings.HasPrefix(argv[1].Text, "-"):
		text, ok = baseName(argv[1].Text), true
		if len(argv) == 3 && text != argv[2].Text {
			text = strings.TrimSuffix(text, argv[2].Text)
		}
	case argv[0].Text == "dirname" && len(argv) == 2 && !strings.HasPrefix(argv[1].Text, "-"):
		text, ok = dirName(argv[1].Text), true
	case w.disk != nil && !w.scope.moved() && !w.scope.exportsVariable:
		text, ok = w.disk.Prints[strings.Join(program.Texts(argv), " ")]
	}
	return text, ok && !strings.Contains(text, "\n")
}

// catDocument returns the text of $(cat <<'END' …), in which nothing is expanded.
func (s *scope) catDocument(x *syntax.CmdSubst) (string, bool) {
	if s.namesChanged != "" || s.doubt != "" || s.funcs["cat"] != nil {
		return "", false
	}
	if len(x.Stmts) != 1 || len(x.Stmts[0].Redirs) != 1 {
		return "", false
	}
	stmt := x.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 || len(call.Assigns) > 0 || call.Args[0].Lit() != "cat" || stmt.Negated || stmt.Background {
		return "", false
	}
	r := stmt.Redirs[0]
	if r.Op != syntax.Hdoc || r.N != nil || r.Hdoc == nil || r.Word == nil || len(r.Word.Parts) != 1 {
		return "", false
	}
	if _, quoted := r.Word.Parts[0].(*syntax.SglQuoted); !quoted {
		return "", false
	}
	text, ok := onlyPart(r.Hdoc.Parts).(*syntax.Lit)
	if !ok || len(text.Value) > maxValue {
		return "", false
	}
	return strings.TrimRight(text.Value, "\n"), true
}

// baseName returns the output of the program basename.
func baseName(text string) string {
	trimmed := strings.TrimRight(text, "/")
	if trimmed == "" && text != "" {
		return "/"
	}
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

// dirName returns the output of the program dirname.
func dirName(text string) string {
	trimmed := strings.TrimRight(text, "/")
	at := strings.LastIndexByte(trimmed, '/')
	switch {
	case trimmed == "" && text != "":
		return "/"
	case at < 0:
		return "."
	}
	if dir := strings.TrimRight(trimmed[:at], "/"); dir != "" {
		return dir
	}
	return "/"
}

func allStatic(words []program.Word) bool {
	return !slices.ContainsFunc(words, func(word program.Word) bool { return !word.Static })
}

// printsNumber reports whether the statements print one number and nothing else: they end in wc of stdin.
func printsNumber(list []*syntax.Stmt) bool {
	if len(list) != 1 || list[0].Negated || list[0].Background {
		return false
	}
	stmt := list[0]
	for {
		pipe, ok := stmt.Cmd.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe {
			break
		}
		stmt = pipe.Y
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 2 || len(call.Assigns) > 0 || call.Args[0].Lit() != "wc" {
		return false
	}
	for _, r := range stmt.Redirs {
		if r.Op != syntax.RdrIn {
			return false
		}
	}
	switch call.Args[1].Lit() {
	case "-l", "-w", "-c", "-m":
		return true
	}
	return false
}

func onlyPart(parts []syntax.WordPart) syntax.WordPart {
	if len(parts) == 1 {
		return parts[0]
	}
	return nil
}
