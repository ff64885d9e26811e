package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
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
	defer func() { w.part, w.last = outer, argv }()
	w.require(argv)
	name := argv[0]
	switch {
	case w.scope.void != "":
		w.unknown("its meaning is not known: " + w.scope.void)
	case !name.Static || name.Text == "":
		w.strange("which program runs is not known", name)
		w.note(tally{gap: true})
		w.mayRun("which program runs is not known")
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
	if by != byProgram && (builtinNames[name.Text] || otherBuiltins[name.Text]) {
		w.doubt("what "+name.Text+" did to the shell is not known", true)
	}
	if by == byBuiltins {
		w.strange("`"+name.Text+"` is no builtin that toolhost knows", name)
		w.mayRun(name.Text + " is no builtin that is understood")
		return
	}
	w.program(argv)
}

// program analyses the run of a program by its description.
func (w *walk) program(argv []program.Word) {
	name := argv[0]
	base, ok := trustedName(name.Text)
	if !ok {
		w.strange("`"+name.Text+"` is a program of its own, which toolhost does not know", name)
		if base, ok := projectProgram(name.Text); ok {
			w.namesCode(base, argv, nil)
		} else {
			w.mayRun(name.Text + " is a file of its own, which is not read")
		}
		return
	}
	spec := program.Lookup(base)
	if b := builtins()[base]; spec == nil && b != nil && b.alsoProgram {
		spec = &b.spec
	}
	if spec == nil {
		w.strange("`"+base+"` is not a program that toolhost knows", name)
		if harmlessBuiltins[base] {
			w.setsByBuiltin(base, argv[1:])
		} else {
			w.namesCode(base, argv, nil)
		}
		return
	}
	if w.scope.moved() && readsOwnConfiguration(base) {
		w.strange("`"+base+"` would read the configuration of another directory, which may run programs", name)
	}
	if base != name.Text {
		argv = slices.Clone(argv)
		argv[0].Text = base
	}
	argv = w.here(base, argv)
	defer w.parsing.Free(w.parsing.Mark())
	args, use := w.parse(spec, argv)
	if w.disk != nil {
		switch base {
		case "xargs":
			w.fed(args, use)
		case "fd", "fdfind":
			w.fedByFd(argv, use)
		}
		use = w.settled(argv, use)
		w.leavesLines(argv, use)
		w.prints(argv, args, use)
	}
	if base == "git" {
		w.runsGit(argv[0], use)
	}
	w.namesCode(base, argv, use)
	w.use(argv, use)
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
func (w *walk) use(argv []program.Word, u *program.Use) {
	name, own := argv[0], ownMachine(u)
	for _, r := range u.Told() {
		if own && r.Fact == "open_world" {
			continue
		}
		at := program.Word{Line: r.Line, Column: r.Column}
		if r.Line == 0 {
			at = name
		}
		w.factAt(r.Fact, u.Sentence(r, argv), at)
	}
	if !u.Understood {
		w.note(tally{unknown: true})
	}
	for _, e := range u.Effects {
		if e != program.Reaches || !own {
			w.effect(e, u)
		}
	}
	if own {
		w.note(tally{loopback: true})
	}
	w.usePaths(argv, u)
	w.useHosts(u)
	if u.Has(program.Writes) || u.Has(program.Destroys) || u.Has(program.GitConfig) {
		w.lock(u.Locks)
	}
	if len(u.Runs) > 0 {
		w.started(name.Text, u)
	}
}

// usePaths records the paths that one run of a program names.
func (w *walk) usePaths(argv []program.Word, u *program.Use) {
	name := argv[0]
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
		w.write(word, !u.Has(program.Adds), func(what string) string { return u.Sentence(program.Reason{Text: what}, argv) })
	}
}

// ownMachine reports whether a use names hosts, and they are this machine alone.
func ownMachine(u *program.Use) bool {
	return len(u.Hosts) > 0 && !slices.ContainsFunc(u.Hosts, func(host program.Word) bool { return !program.Loopback(host) })
}

// useHosts records the hosts that one run of a program names, and whether there are others.
func (w *walk) useHosts(u *program.Use) {
	named := 0
	for _, word := range u.Hosts {
		_, rest, _ := strings.Cut(word.Text, "://")
		switch {
		case word.Static || strings.ContainsAny(rest, "/?#"):
			w.host(word.Text)
			named++
		case ownMachine(u):
			w.host("localhost")
			named++
		}
	}
	if named == 0 && w.gitRemotes(u) {
		return
	}
	if named < len(u.Hosts) || named == 0 && u.Has(program.Reaches) || u.Has(program.HostsUnknown) {
		w.note(tally{hostless: true})
	}
}

// lock records files that a program locks while it runs, in the directory where it starts.
func (w *walk) lock(names []string) {
	for _, name := range names {
		rest, home := strings.CutPrefix(name, "~")
		switch {
		case w.quiet > 0 || w.remote > 0 || home && w.ctx.Home == "":
		case home:
			w.addLock(w.ctx.Home + rest)
		case strings.HasPrefix(name, "/"):
			w.addLock(name)
		default:
			for _, dir := range w.scope.dirs {
				w.addLock(strings.TrimSuffix(dir, "/") + "/" + name)
			}
		}
	}
}

func (w *walk) addLock(path string) {
	l := agenttool.Lock{Path: path, Write: true}
	if len(w.locks) < maxPaths && !slices.Contains(w.locks, l) {
		w.locks = append(w.locks, l)
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
		w.note(tally{writes: true, mayDestroy: !u.Has(program.Adds), incomplete: len(u.Writes) == 0 && w.remote == 0})
	case program.Destroys:
		w.note(tally{writes: true, destroys: true, incomplete: len(u.Writes) == 0 && w.remote == 0})
	case program.GitConfig: // of which a change loses a line at most
		w.note(tally{writes: true, incomplete: true})
		w.gitConfig = w.gitConfig || w.quiet == 0
	case program.GitGlobal:
		w.globalGit()
	case program.Reaches:
		w.note(tally{reaches: true})
	case program.MayReach:
		w.note(tally{mayReach: true})
	case program.LongRunning:
		w.note(tally{long: true})
	case program.Interactive:
		w.note(tally{interactive: true})
	case program.Pages:
		w.note(tally{interactive: !w.scope.captured})
	case program.ObservesHost:
		w.note(tally{observes: w.remote == 0})
	case program.NotConcurrent:
		w.note(tally{notConcurrent: true})
	case program.WritesElsewhere:
		w.note(tally{writes: true, incomplete: true})
	case program.ReadsElsewhere:
		w.note(tally{incomplete: w.remote == 0})
	case program.ReadsTree:
		if !slices.ContainsFunc(u.Reads, func(word program.Word) bool { return !word.Maybe }) {
			w.named(contents, program.Lit("."))
		}
	case program.RunsHooks:
		w.note(tally{incomplete: true})
	case program.Adds, program.HostsUnknown: // see usePaths and useHosts
	default: // RunsCode, and what is not known
		w.note(tally{unknown: true})
	}
}

// globalGit records that git's configuration of the person is written, which is in one of two places.
func (w *walk) globalGit() {
	w.note(tally{writes: true, incomplete: true})
	if w.ctx.Home != "" {
		w.write(program.Lit(w.ctx.Home+"/.gitconfig"), false, nil)
		w.write(program.Lit(w.ctx.Home+"/.config/git/config"), false, nil)
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
