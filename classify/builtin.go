package classify

import (
	"strings"
	"sync"

	"toolhost/classify/program"
)

// builtin describes a command of the shell like a program, and its effect on the shell's state. Builtins without a description are
// not understood.
type builtin struct {
	spec    program.Spec
	then    func(*walk, *program.Args, *program.Use)
	carried program.CarriedCode
}

func builtinTable() []*builtin {
	return []*builtin{
		{spec: program.Spec{Names: ": true false echo", Raw: true, Judge: judgeNothing}},
		{spec: program.Spec{Names: "exit times caller", Raw: true, Judge: judgeNothing}},
		{spec: program.Spec{Names: "shift", Raw: true, Judge: judgeNothing}, then: loseParams},
		{spec: program.Spec{Names: "break continue return", Raw: true, Judge: judgeNothing}, then: leaveLoop},
		{spec: program.Spec{Names: "pwd", Options: "-L,--logical -P,--physical", Operands: "label*"}},
		{spec: program.Spec{Names: "test [", Carries: "subscript", Raw: true, Judge: judgeTest}},
		{spec: program.Spec{Names: "printf", Carries: "subscript", InOrder: true, Options: "-v:variable", Operands: "format label*",
			Judge: judgePrintf}, then: assignNamed},
		{spec: program.Spec{Names: "type", Options: "-a -f -t -p -P", Operands: "look*", Harmless: true}},
		{spec: program.Spec{Names: "command", InOrder: true, Options: "-p -v -V", Operands: "command", Passes: true}, then: runCommand},
		{spec: program.Spec{Names: "builtin", InOrder: true, Operands: "command"}, then: runBuiltin},
		{spec: program.Spec{Names: "exec", InOrder: true, Operands: "command", Passes: true}},
		{spec: program.Spec{Names: "eval", Carries: "shell", Raw: true, Judge: judgeCode}},
		{spec: program.Spec{Names: "source .", Carries: "shell input", Raw: true, Judge: judgeCode}},
		{spec: program.Spec{Names: "cd pushd", InOrder: true, Options: "-L -P -e -@ -n", Operands: "dir*",
			Harmless: true, Judge: judgeNothing}, then: changeDir},
		{spec: program.Spec{Names: "popd", Operands: "count?"}, then: loseDir},
		{spec: program.Spec{Names: "dirs", Options: "-l -p -v"}},
		{spec: program.Spec{Names: "read", Carries: "subscript", InOrder: true,
			Options:  "-r -s -e -p:label -n:count -N:count -t:count -d:label -u:count -i:label -a:variable",
			Operands: "variable*", Judge: judgeVariables}, then: readInput},
		{spec: program.Spec{Names: "mapfile readarray", Carries: "subscript", InOrder: true,
			Options: "-t -d:label -n:count -s:count -u:count", Operands: "variable?", Judge: judgeVariables}, then: readInput},
		{spec: program.Spec{Names: "unset", Carries: "subscript", InOrder: true, Options: "-v -f", Operands: "variable*",
			Judge: judgeVariables}, then: unset},
		{spec: program.Spec{Names: "set", Raw: true, Judge: judgeSet}, then: loseParams},
		{spec: program.Spec{Names: "shopt", InOrder: true, Options: "-p -q -o -s -u", Operands: "option*",
			Judge: judgeShopt}, then: setGlobs},
		{spec: program.Spec{Names: "alias", Carries: "alias", Options: "-p"}},
		{spec: program.Spec{Names: "hash", Options: "-l -r -t", Operands: "id*"}},
		{spec: program.Spec{Names: "enable", Options: "-a -p -n -s"}},
		{spec: program.Spec{Names: "trap", Carries: "shell", Raw: true, Judge: judgeTrap}},
		{spec: program.Spec{Names: "ulimit", Options: "-a -S -H -b -c -d -e -f -i -l -m -n -p -q -r -s -t -u -v -x"}},
		{spec: program.Spec{Names: "umask", Options: "-S -p"}},
		{spec: program.Spec{Names: "history", Operands: "count?", Judge: judgeHistory}},
		{spec: program.Spec{Names: "help", Options: "-d -m -s", Operands: "match*"}},
		{spec: program.Spec{Names: "jobs", Options: "-l -n -p -r -s", Operands: "id*"}},
		{spec: program.Spec{Names: "wait", Carries: "subscript", Options: "-n -f", Operands: "id*"}},
		{spec: program.Spec{Names: "kill", Raw: true, Judge: program.JudgeKill}},
	}
}

// otherBuiltins are the names that mean something to bash and are not in the table.
var otherBuiltins = program.WordSet("alias bg bind compgen complete compopt declare disown export fc fg getopts let local logout " +
	"nameref readonly suspend time typeset command_not_found_handle")

// builtinIndex is the table by name. It is made at its first use and not when the program starts, since functions in the table look
// builtins up themselves.
var builtinIndex struct {
	once   sync.Once
	byName map[string]*builtin
}

// builtins returns the builtins that are understood, by name.
func builtins() map[string]*builtin {
	builtinIndex.once.Do(func() {
		builtinIndex.byName = map[string]*builtin{}
		for _, b := range builtinTable() {
			b.carried = b.spec.Carried()
			for name := range strings.FieldsSeq(b.spec.Names) {
				builtinIndex.byName[name] = b
			}
		}
	})
	return builtinIndex.byName
}

// carries describes the code that the words of a builtin or a program may carry.
func carries(name string) program.CarriedCode {
	if b := builtins()[name]; b != nil {
		return b.carried
	}
	return program.Carries(name)
}

func judgeNothing(*program.Args, *program.Use) {}

// judgeCode is the judge of eval and source.
func judgeCode(a *program.Args, u *program.Use) {
	if len(a.Operands) > 0 && a.Argv[0].Text != "eval" {
		u.Reads = append(u.Reads, a.Operands[0])
	}
	u.Unknown(a.Argv[0].Text+" runs text as a part of this shell", a.Argv[0])
}

// judgePrintf refuses formats that are not known, and %n, which sets a variable.
func judgePrintf(a *program.Args, u *program.Use) {
	judgeVariables(a, u)
	for _, format := range a.Values("format") {
		if !format.Static || setsVariable(format.Text) {
			u.Unknown("printf: the format may set a variable", format)
		}
	}
}

func setsVariable(format string) bool {
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return false
		}
		format = strings.TrimLeft(rest, "0123456789.*-+ #'hlLjztq")
		if strings.HasPrefix(format, "n") {
			return true
		}
		if strings.HasPrefix(format, "%") && len(format) == len(rest) {
			format = format[1:]
		}
	}
}

// judgeVariables refuses names of variables that the shell or programs know.
func judgeVariables(a *program.Args, u *program.Use) {
	for _, name := range a.Values("variable") {
		if !name.Static || !ownName(name.Text) {
			u.Unknown(a.Argv[0].Text+": the variable may change what commands do, or is not known", name)
		}
	}
}

func judgeHistory(a *program.Args, u *program.Use) {
	for _, count := range a.Operands {
		if !count.Static || !program.Digits(count.Text) {
			u.Unknown("history: only a count is understood", count)
		}
	}
}

// judgeSet allows the options that end a script early. The positional parameters are never taken as known, so they may
// be set to anything.
func judgeSet(a *program.Args, u *program.Use) {
	for i := 0; i < len(a.Operands); i++ {
		word := a.Operands[i]
		if word.Static && word.Text == "--" {
			return
		}
		letters := strings.TrimLeft(word.Text, "+-")
		if !word.Static || len(word.Text)-len(letters) != 1 || strings.Trim(letters, "euo") != "" ||
			strings.Count(letters, "o") > 1 {
			u.Unknown("set: only -e, -u and -o pipefail are understood", word)
			return
		}
		if !strings.HasSuffix(letters, "o") {
			continue
		}
		i++
		if i < len(a.Operands) && !shellOption(a.Operands[i]) {
			u.Unknown("set: only -e, -u and -o pipefail are understood", a.Operands[i])
			return
		}
	}
}

// judgeShopt allows to set what globs become, as long as they begin as they are spelt.
func judgeShopt(a *program.Args, u *program.Use) {
	if !a.Has("-s") && !a.Has("-u") || len(a.Operands) == 0 {
		return
	}
	for _, word := range a.Operands {
		if !word.Static || word.Text != "globstar" && word.Text != "nullglob" && word.Text != "dotglob" || a.Has("-o") {
			u.Unknown("shopt: only globstar, nullglob and dotglob are understood", word)
		}
	}
}

func shellOption(word program.Word) bool {
	return word.Static && (word.Text == "pipefail" || word.Text == "errexit" || word.Text == "nounset")
}

func judgeTrap(a *program.Args, u *program.Use) {
	if len(a.Operands) == 0 {
		return
	}
	if first := a.Operands[0]; !first.Static || first.Text != "-l" && first.Text != "-p" && first.Text != "-" {
		u.Unknown("trap runs text later", first)
	}
}

// judgeTest looks at the words of test and [. Of their operators only -v and -R evaluate text, where the word after
// them has a subscript. A word that is not static may be such an operator.
func judgeTest(a *program.Args, u *program.Use) {
	words := a.Operands
	if a.Argv[0].Text == "[" && len(words) > 0 && words[len(words)-1].Static && words[len(words)-1].Text == "]" {
		words = words[:len(words)-1]
	}
	for i, word := range words {
		if word.Many && !word.Number && (!word.Glob || word.Text == "" || word.Text[0] == '-') {
			u.Unknown("test: an expansion without quotes may become an operator that runs the code in a subscript", word)
		}
		var next program.Word
		if i+1 < len(words) {
			next = words[i+1]
		} else {
			next = program.Lit("")
		}
		if mayBeOperator(word) && mayHaveSubscript(next) {
			u.Unknown("test: -v may run what is in a subscript", word)
		}
		if fileOperator(word) && i+1 < len(words) {
			u.Reads = append(u.Reads, next)
		}
		if i > 0 && i+1 < len(words) && word.Static && (word.Text == "-nt" || word.Text == "-ot" || word.Text == "-ef") {
			u.Reads = append(u.Reads, words[i-1], next)
		}
	}
}

func mayBeOperator(word program.Word) bool {
	if word.Static {
		return word.Text == "-v" || word.Text == "-R"
	}
	return !word.Number && (word.Text == "" || word.Text == "-" || word.Text == "-v" || word.Text == "-R")
}

func mayHaveSubscript(word program.Word) bool {
	if word.Static {
		return strings.Contains(word.Text, "[")
	}
	return !word.Number
}

func fileOperator(word program.Word) bool {
	return word.Static && len(word.Text) == 2 && word.Text[0] == '-' && strings.IndexByte("abcdefghLprsSuwxkGNO", word.Text[1]) >= 0
}

// leaveLoop merges the scope at a break, continue or return into the scope of the place where execution goes on.
func leaveLoop(w *walk, _ *program.Args, _ *program.Use) {
	w.exitScope = join(w.exitScope, w.scope.clone())
}

// runCommand analyses command, which finds builtins and programs and no functions. With -v it only looks.
func runCommand(w *walk, a *program.Args, u *program.Use) {
	runs := u.Runs
	u.Runs = nil
	if a.Has("-v") || a.Has("-V") {
		return
	}
	for _, c := range runs {
		w.simple(c.Argv, byBuiltin)
	}
}

func runBuiltin(w *walk, _ *program.Args, u *program.Use) {
	for _, c := range u.Runs {
		w.simple(c.Argv, byBuiltins)
	}
	u.Runs = nil
}

// changeDir analyses cd and pushd.
func changeDir(w *walk, a *program.Args, _ *program.Use) {
	w.scope.settle()
	before := w.scope.dirs
	w.scope.dirs = w.cdTarget(a)
	if a.Argv[0].Text == "cd" && len(a.Operands) == 1 && a.Operands[0].Static && a.Operands[0].Text == "-" {
		w.scope.dirs = w.scope.oldDirs
	}
	w.scope.oldDirs = before
	if a.Argv[0].Text != "cd" {
		w.scope.oldDirs = nil
	}
	w.scope.afterCd, w.scope.ifCdFailed = true, before
	for _, dir := range w.scope.dirs {
		w.addPath(names, program.Lit(dir))
	}
	if w.scope.dirs == nil {
		w.found.note(incomplete)
	}
}

// cdTarget returns where cd goes, nil if that is not known.
func (w *walk) cdTarget(a *program.Args) []string {
	target := program.Lit(w.ctx.Home)
	if len(a.Operands) > 0 {
		target = a.Operands[0]
	}
	switch {
	case !target.Static, target.Text == "", len(a.Operands) > 1, a.Argv[0].Text == "pushd" && len(a.Operands) == 0,
		strings.HasPrefix(target.Text, "-"), strings.HasPrefix(target.Text, "+"), a.Has("-n"),
		a.Has("-P"): // a later .. would lead from where the links led, which no text tells
		return nil
	}
	return w.scope.relative(target.Text)
}

// loseParams forgets the positional parameters.
func loseParams(w *walk, _ *program.Args, _ *program.Use) { w.scope.params = nil }

func loseDir(w *walk, _ *program.Args, _ *program.Use) {
	w.scope.settle()
	w.scope.dirs = nil
}

// assignNamed forgets the variables that a builtin sets.
func assignNamed(w *walk, a *program.Args, _ *program.Use) {
	for _, name := range a.Values("variable") {
		w.scope.set(name.Text, value{})
	}
}

// readInput analyses read and mapfile.
func readInput(w *walk, a *program.Args, u *program.Use) {
	assignNamed(w, a, u)
	w.arrays = w.arrays || a.Has("-a") || a.Argv[0].Text != "read"
	if !w.scope.stdinPiped {
		w.found.note(interactive)
		w.found.factAt("interactive", "`"+a.Argv[0].Text+"` waits for input", a.Argv[0])
	}
}

// setGlobs takes note that a glob which matches nothing may become nothing.
func setGlobs(w *walk, a *program.Args, _ *program.Use) {
	w.found.globOptionsChanged = true
	if a.Has("-s") {
		w.scope.nullGlob = true
	}
}

func unset(w *walk, a *program.Args, _ *program.Use) {
	for _, name := range a.Values("variable") {
		w.scope.set(name.Text, value{})
		if _, ok := w.scope.funcs[name.Text]; ok {
			w.scope.declare(name.Text, nil)
		}
	}
}
