package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// runner says who runs a simple command, which decides what its name may mean.
type runner uint8

const (
	byShell    runner = iota // functions, builtins and programs
	byBuiltin                // builtins and programs: command
	byBuiltins               // builtins alone: builtin
	byProgram                // programs alone: another program starts it
)

// callExpr analyses a simple command as it stands in the text.
func (w *walk) callExpr(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		sure := !slices.ContainsFunc(x.Assigns, mayFail) // if one of them fails, none is sure
		for _, a := range x.Assigns {
			w.assign(a, sure && !a.Append)
		}
		return
	}
	argv := w.fields(x.Args)
	doubt, variables := w.environment(x.Assigns, argv)
	if len(argv) == 0 {
		return // all words became nothing, and so does the command
	}
	doubts := doubt != "" && w.scope.doubt == ""
	if doubts {
		w.scope.doubt = doubt
	}
	environment := w.scope.environment
	if len(variables) > 0 {
		w.scope.environment = append(slices.Clip(environment), variables...)
	}
	if _, ok := w.scope.funcs[argv[0].Text]; ok && len(x.Assigns) > 0 {
		w.unknown("a function that runs with variables of its own is not understood")
	}
	for _, word := range argv {
		if word.Glob {
			w.listDir(word)
		}
	}
	w.simple(argv, byShell)
	if doubts && w.scope.doubt == doubt {
		w.scope.doubt = ""
	}
	if len(variables) > 0 {
		w.scope.environment = environment
	}
}

// simple analyses a simple command.
func (w *walk) simple(argv []program.Word, by runner) {
	w.programDepth++
	defer func() { w.programDepth-- }()
	if w.programDepth > maxProgramDepth {
		w.found.hidden("too many programs run one another")
		return
	}
	w.commandWords += len(argv)
	if w.commandWords > maxCommandWords || len(w.found.parts) >= maxParts {
		w.found.reject(w.found.reason("there are too many commands, or their words are too many"))
	}
	if w.found.rejection != nil {
		return
	}
	outer := w.begin(argv)
	defer func() { w.found.part, w.lastCommand = outer, argv }()
	w.requireNames(argv)
	w.adviseQuotes(argv)
	name := argv[0]
	switch {
	case w.scope.namesChanged != "":
		w.unknown("its meaning is not known: " + w.scope.namesChanged)
	case !name.Static || name.Text == "":
		w.found.strange("which program runs is not known", name)
		w.found.note(gap)
		w.found.mayRun("which program runs is not known")
		if by != byProgram {
			w.scope.doubtLater("which program ran is not known")
		}
		return
	}
	if _, ok := w.scope.funcs[name.Text]; ok && by == byShell {
		w.callFunction(name.Text)
		return
	}
	if b := builtins()[name.Text]; b != nil && (by != byProgram) {
		w.builtin(b, argv)
		return
	}
	if by != byProgram && (builtinNames[name.Text] || otherBuiltins[name.Text]) {
		w.scope.doubtLater("what " + name.Text + " did to the shell is not known")
	}
	if by == byBuiltins {
		w.found.strange("`"+name.Text+"` is no builtin that toolhost knows", name)
		w.found.mayRun(name.Text + " is no builtin that is understood")
		return
	}
	w.program(argv)
}

// adviseQuotes says first of a command what to write for variables without quotes that may become several words.
func (w *walk) adviseQuotes(argv []program.Word) {
	for _, word := range argv {
		if !word.Unquoted || !word.Many || w.found.quiet > 0 {
			continue
		}
		part := &w.found.parts[w.found.part]
		for _, fact := range [...]string{"read_only", "paths_complete"} {
			reason := w.found.placed(agenttool.Reason{Fact: fact, Text: w.wantsQuotes(word), Line: word.Line, Column: word.Column})
			part.Reasons = append([]agenttool.Reason{reason}, part.Reasons...)
		}
	}
}

// wantsQuotes says why a variable without quotes is not known to be one name.
func (w *walk) wantsQuotes(word program.Word) string {
	name := w.spelled(word)
	return cut.Short("`"+name+"` becomes several words, or any, where a name holds a blank or a star: write `\""+name+"\"`", maxReason)
}

// program analyses the run of a program by its description.
func (w *walk) program(argv []program.Word) {
	name := argv[0]
	base, ok := trustedName(name.Text)
	if !ok {
		w.found.strange("`"+name.Text+"` is a program of its own, which toolhost does not know", name)
		w.found.loose(name.Text, argv, nil, nil)
		if base, ok := projectProgram(name.Text); ok {
			w.namesCode(base, argv, nil)
		} else {
			w.found.mayRun(name.Text + " is a file of its own, which is not read")
		}
		return
	}
	spec := program.Lookup(base)
	if spec == nil {
		w.found.strange("`"+base+"` is not a program that toolhost knows", name)
		w.found.loose(base, argv, nil, nil)
		if harmlessBuiltins[base] {
			w.found.setsByBuiltin(base, argv[1:])
		} else {
			w.namesCode(base, argv, nil)
		}
		return
	}
	if w.scope.moved() && (base == "gh" || base == "hub") {
		w.found.strange("`"+base+"` would read the configuration of another directory, which may run programs", name)
	}
	if base != name.Text {
		argv = slices.Clone(argv)
		argv[0].Text = base
	}
	if base == "git" {
		argv = w.scope.gitHere(argv)
	}
	defer w.memory.parsing.Free(w.memory.parsing.Mark())
	args, use := w.parse(spec, argv)
	if w.disk != nil {
		switch base {
		case "xargs":
			w.feedXargs(args, use)
		case "fd", "fdfind":
			feedFromFd(argv, use)
		}
		use = w.settledUse(argv, use)
		w.leavesLines(argv, use)
		w.notePrinted(argv, args, use)
	}
	if base == "git" {
		w.runsGit(argv[0], use)
	}
	w.namesCode(base, argv, use)
	w.means(base, argv)
	w.found.loose(base, argv, args, use)
	w.use(argv, use)
}

// means notes the words of a command of git without the options before it, and the directories that those lead to.
func (w *walk) means(base string, argv []program.Word) {
	if base != "git" || w.found.quiet > 0 {
		return
	}
	from, in, ok := program.GitCommand(argv)
	part := &w.found.parts[w.found.part]
	if !ok || len(part.Argv) != len(argv) || in != "" && len(w.scope.dirs) == 0 {
		return
	}
	part.Means = append([]string{part.Argv[0]}, part.Argv[from:]...)
	switch {
	case strings.HasPrefix(in, "/"):
		part.MeansIn = []string{strings.TrimRight(in, "/")}
	case in != "":
		for _, dir := range w.scope.dirs {
			part.MeansIn = append(part.MeansIn, strings.TrimRight(dir+"/"+in, "/"))
		}
	}
}

// loose notes whether the words that are not known to their end are text for the program, whatever they become.
func (rec *record) loose(base string, argv []program.Word, args *program.Args, u *program.Use) {
	if rec.quiet > 0 || allStatic(argv) {
		return
	}
	if u != nil && !u.Understood || u != nil && len(u.Runs) > 0 || mayBeCode(base, argv) {
		return
	}
	for _, word := range argv {
		if !word.Static && (!noOption(word, args) || touched(word, u)) {
			return
		}
	}
	rec.parts[rec.part].Loose = true
}

// mayBeCode reports whether words that are not known to their end may be code, or a command.
func mayBeCode(base string, argv []program.Word) bool {
	c := carries(base)
	switch {
	case c.Command && (len(c.Behind) == 0 && !c.Never || commandPart(c, program.Texts(argv)) >= 0):
		return true
	case c.Text == program.ScriptText && takesScript[base]: // what stands behind its file is for the script
		return !argv[1].Static || strings.HasPrefix(argv[1].Text, "-") || !strings.ContainsAny(argv[1].Text, "./")
	}
	return c.Text != "" && c.Text != program.GitText
}

// takesScript are interpreters whose first operand is a file with code, and whose other words are for that.
var takesScript = program.WordSet("python python3 node ruby perl php")

// noOption reports whether a word that is not known to its end stays one word and is no option but one that is spelled out: it begins
// otherwise, or is the value of one.
func noOption(word program.Word, args *program.Args) bool {
	value := func(o program.GivenOption) bool {
		return o.Has && o.Value.Line == word.Line && o.Value.Column == word.Column
	}
	switch {
	case word.Many:
		return false
	case args != nil && slices.ContainsFunc(args.Options, value), word.Token:
		return true
	}
	option, _, valued := strings.Cut(word.Text, "=")
	return word.Text != "" && strings.IndexByte("-+", word.Text[0]) < 0 || valued && len(option) > 1
}

// touched reports whether a word that is not known to its end is a path or a host for the program, as far as those matter.
func touched(word program.Word, u *program.Use) bool {
	if u == nil {
		return false
	}
	it := func(other program.Word) bool {
		return other.Line == word.Line && other.Column == word.Column && !other.Static
	}
	for _, paths := range [...][]program.Word{u.Reads, u.Looks, u.Writes, u.Follows} {
		if slices.ContainsFunc(paths, it) {
			return true
		}
	}
	return u.Dir != nil && it(*u.Dir) || slices.ContainsFunc(u.Hosts, func(host program.Word) bool { return it(host) && !namesHost(host) })
}

// gitHere replaces git -C DIR by git -C . if DIR is spelled exactly as the start directory and the shell is still there.
func (s *scope) gitHere(argv []program.Word) []program.Word {
	if len(argv) < 3 || argv[1].Text != "-C" || !argv[2].Static || s.moved() || s.start == "" ||
		strings.TrimRight(argv[2].Text, "/") != s.start {
		return argv
	}
	argv = slices.Clone(argv)
	argv[2].Text = "."
	return argv
}

// use records what one run of a program does, and analyses the commands that it runs. If the program is not understood, or changes the
// environment of its commands, nothing is proved about them; if it changes directory, they run there.
func (w *walk) use(argv []program.Word, u *program.Use) {
	w.ownEffects(argv, u)
	w.found.passes(u)
	name := argv[0].Text
	altered := !u.Understood || name == "env" && slices.Contains(u.Effects, program.RunsCode)
	if len(u.Runs) > 0 && (altered || u.Dir != nil || len(u.Variables) > 0) {
		outer := w.scope
		defer func() { w.scope = outer }()
		w.scope = outer.clone()
		for _, given := range u.Variables {
			w.scope.environment = append(slices.Clip(w.scope.environment), variable(given.Name, given.Value))
		}
		if altered {
			w.scope.doubtLater(name + " is not understood, or changes the environment")
		}
		w.scope.goTo(u.Dir)
	}
	for _, c := range u.Runs {
		w.runs(c)
	}
}

// builtin analyses the run of a builtin.
func (w *walk) builtin(b *builtin, argv []program.Word) {
	defer w.memory.parsing.Free(w.memory.parsing.Mark())
	args, use := w.parse(&b.spec, argv)
	w.leavesLines(argv, use)
	if b.then != nil {
		b.then(w, args, use)
	}
	w.builtinMayRun(argv)
	w.use(argv, use)
	if !use.Understood {
		w.scope.doubtLater("what " + argv[0].Text + " did to the shell is not understood")
	}
}

// runs analyses the commands that a program runs.
func (w *walk) runs(c program.Command) {
	if c.Remote {
		w.remoteDepth++
		defer func() { w.remoteDepth-- }()
	}
	if c.Shell != nil {
		w.shellText(*c.Shell, c)
		return
	}
	argv := c.Argv
	if c.More {
		argv = append(argv[:len(argv):len(argv)], program.Word{Many: true})
	}
	if len(argv) == 0 {
		w.found.hidden("the command that it runs is not known")
		return
	}
	w.simple(argv, byProgram)
}

// shellText analyses text that a new shell runs: it has the directory of this one, and none of its variables. If it need
// not be bash, what other shells read in another way is not understood.
func (w *walk) shellText(text program.Word, c program.Command) {
	bash := c.Bash
	if !text.Static {
		w.found.hidden("the shell's command is not known")
		return
	}
	if _, ok := unfit(text.Text); !ok {
		w.found.hidden("the shell's command cannot be parsed")
		return
	}
	if form := program.OnlyBash(text.Text); form != "" && !bash {
		w.found.strange("shells other than bash may read this in another way: "+form, text)
	}
	tree := understood(text.Text)
	if tree.failed {
		w.found.hidden("the shell's command is not understood: " + tree.reason.Text)
		return
	}
	outer, inner, away, source := w.scope, w.found.textPlace, w.exitScope, w.source
	w.source = text.Text
	w.scope = outer.clone()
	w.scope.vars, w.scope.funcs, w.scope.otherShell, w.scope.params = variables{}, nil, !bash, outer.paramValues(c.Params)
	w.exitScope = nil
	if inner == nil {
		at := w.found.placed(agenttool.Reason{Line: text.Line, Column: text.Column})
		w.found.textPlace = &place{at.Line, at.Column}
	}
	w.stmts(tree.stmts)
	w.scope, w.found.textPlace, w.exitScope, w.source = outer, inner, away, source
}

// parse takes a command line apart until the program that it is of has been analysed. With a disk the words are kept for longer.
func (w *walk) parse(spec *program.Spec, argv []program.Word) (*program.Args, *program.Use) {
	if w.disk != nil {
		return program.Parse(spec, argv)
	}
	return w.memory.parsing.Parse(spec, argv)
}
