package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// runner says who runs a simple command, which decides what its name may mean.
type runner uint8

const (
	byShell    runner = iota // functions, builtins and programs
	byBuiltin                // builtins and programs: command
	byBuiltins               // builtins alone: builtin
	byProgram                // programs alone: what another program starts
)

// callExpr analyses a simple command as it stands in the text.
func (w *walk) callExpr(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		w.assignments(x.Assigns)
		return
	}
	argv := w.fields(x.Args)
	defer w.doubtWithin(w.environment(x.Assigns, argv))()
	if len(argv) == 0 {
		return // all words became nothing, and so does the command
	}
	if _, ok := w.scope.funcs[argv[0].Text]; ok && len(x.Assigns) > 0 {
		w.unknown("a function that runs with variables of its own is not understood")
	}
	for _, word := range argv {
		if word.Glob {
			w.list(word)
		}
	}
	w.simple(argv, byShell)
}

// simple analyses a simple command.
func (w *walk) simple(argv []program.Word, by runner) {
	w.nested++
	defer func() { w.nested-- }()
	if w.nested > maxNested {
		w.hidden("too many programs run one another")
		return
	}
	if w.given += len(argv); w.given > maxGiven || len(w.parts) >= maxParts {
		w.reject(w.reason("there are too many commands, or their words are too many"))
	}
	if w.rejected != nil {
		return
	}
	outer := w.begin(argv)
	defer func() { w.part = outer }()
	name := argv[0]
	switch {
	case w.scope.void != "":
		w.unknown("its meaning is not known: " + w.scope.void)
	case !name.Static || name.Text == "":
		w.strange("which program runs is not known", name)
		w.note(tally{gap: true})
		w.doubt("which program ran is not known", by != byProgram)
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
	w.doubt("what "+name.Text+" did to the shell is not known", by != byProgram && (builtinNames[name.Text] || otherBuiltins[name.Text]))
	if by == byBuiltins {
		w.strange(name.Text+" is no builtin that is understood", name)
		return
	}
	w.program(argv)
}

// program analyses the run of a program by its description.
func (w *walk) program(argv []program.Word) {
	name := argv[0]
	base, ok := trustedName(name.Text)
	if !ok {
		w.strange(name.Text+" is a file of its own, not the program of that name", name)
		return
	}
	spec := program.Lookup(base)
	if b := builtins()[base]; spec == nil && b != nil && b.alsoProgram {
		spec = &b.spec
	}
	if spec == nil {
		w.strange(base+" is not a program that is known", name)
		return
	}
	if w.scope.moved() && readsOwnConfiguration(base) {
		w.strange(base+" would read the configuration of another directory, which may run programs", name)
	}
	if base != name.Text {
		argv = slices.Clone(argv)
		argv[0].Text = base
	}
	argv = w.here(base, argv)
	_, use := program.Parse(spec, argv)
	if base == "git" {
		w.runsGit(argv[0], use)
	}
	w.use(argv[0], use)
}

// here spells the directory in which git is anyway as it is understood: git -C DIR, with the very text of the directory.
func (w *walk) here(base string, argv []program.Word) []program.Word {
	if base != "git" || len(argv) < 3 || argv[1].Text != "-C" || !argv[2].Static || w.scope.moved() || w.scope.start == "" ||
		strings.TrimRight(argv[2].Text, "/") != w.scope.start {
		return argv
	}
	argv = slices.Clone(argv)
	argv[2].Text = "."
	return argv
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

// readsOwnConfiguration reports whether a program takes what it runs from files in the directory where it is.
func readsOwnConfiguration(base string) bool {
	switch base {
	case "gh", "hub", "hg", "jj", "svn", "tig":
		return true
	}
	return false
}

// use records what one run of a program does.
func (w *walk) use(name program.Word, u *program.Use) {
	for _, r := range u.Reasons {
		at := program.Word{Line: r.Line, Column: r.Column}
		if r.Line == 0 {
			at = name
		}
		w.becauseAt(r.Text, at)
	}
	if !u.Understood {
		w.note(tally{unknown: true})
	}
	for _, e := range u.Effects {
		w.effect(e, u)
	}
	for _, word := range u.Reads {
		switch {
		case !onlyNames(name.Text):
			w.read(word)
		case word.Glob:
			w.list(word)
		default:
			w.look(word)
		}
	}
	for _, word := range u.Looks {
		w.look(word)
	}
	for _, word := range u.Writes {
		w.write(word, true)
	}
	for _, word := range u.Hosts {
		_, rest, _ := strings.Cut(word.Text, "://")
		if word.Static || strings.ContainsAny(rest, "/?#") {
			w.host(word.Text)
		}
	}
	if len(u.Runs) > 0 {
		w.started(name.Text, u)
	}
}

// onlyNames reports whether a program shows of its operands no more than their names and attributes.
func onlyNames(base string) bool {
	switch base {
	case "ls", "dir", "vdir", "stat", "basename", "dirname", "readlink", "realpath", "test", "[":
		return true
	}
	return false
}

func (w *walk) effect(e program.Effect, u *program.Use) {
	switch e {
	case program.Writes: // what was there may be lost, unless it is shown that it is not
		w.note(tally{writes: true, mayDestroy: true, incomplete: len(u.Writes) == 0})
	case program.Destroys:
		w.note(tally{writes: true, destroys: true, incomplete: len(u.Writes) == 0})
	case program.GitConfig:
		w.note(tally{writes: true, mayDestroy: true, incomplete: true})
		w.gitConfig = w.gitConfig || w.quiet == 0
	case program.GitGlobal:
		w.globalGit()
	case program.Reaches:
		w.note(tally{reaches: true})
	case program.LongRunning:
		w.note(tally{long: true})
	case program.Interactive:
		w.note(tally{interactive: true})
	case program.Pages:
		w.note(tally{interactive: !w.scope.captured})
	case program.ObservesHost:
		w.note(tally{observes: true})
	case program.NotConcurrent:
		w.note(tally{notConcurrent: true})
	case program.ReadsElsewhere:
		w.note(tally{incomplete: true})
	case program.ReadsTree:
		if !slices.ContainsFunc(u.Reads, func(word program.Word) bool { return !word.Maybe }) {
			w.named(contents, program.Lit("."))
		}
	default: // RunsCode, and what is not known
		w.note(tally{unknown: true})
	}
}

// globalGit records that git's configuration of the person is written, which is in one of two places.
func (w *walk) globalGit() {
	w.note(tally{writes: true, mayDestroy: true, incomplete: true})
	if w.ctx.Home != "" {
		w.write(program.Lit(w.ctx.Home+"/.gitconfig"), true)
		w.write(program.Lit(w.ctx.Home+"/.config/git/config"), true)
	}
}

// host records a host that is named by itself, in a URL, or before a path: user@host:path.
func (w *walk) host(text string) {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if name, port, ok := strings.Cut(rest, ":"); ok && !strings.Contains(port, ":") && !isDigits(port) {
		rest = name
	}
	if rest == "" || w.quiet > 0 || slices.Contains(w.hosts, rest) {
		return
	}
	if w.touched += len(rest); len(w.hosts) >= maxHosts || w.touched > maxTouched {
		w.note(tally{incomplete: true, reaches: true})
		return
	}
	w.hosts = append(w.hosts, rest)
}
