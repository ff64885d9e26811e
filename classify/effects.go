package classify

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// ownEffects records what one run of a program does by itself.
func (w *walk) ownEffects(argv []program.Word, u *program.Use) {
	name, own := argv[0], ownMachine(u)
	for _, r := range u.AllReasons() {
		if own && r.Fact == "open_world" {
			continue
		}
		at := program.Word{Line: r.Line, Column: r.Column}
		if r.Line == 0 {
			at = name
		}
		w.found.factAt(r.Fact, u.Sentence(r, argv), at)
	}
	if !u.Understood {
		w.found.note(unknown)
	}
	for _, e := range u.Effects {
		if e != program.Reaches || !own {
			w.effect(e, u)
		}
	}
	if own {
		w.found.note(loopback)
	}
	w.usePaths(argv, u)
	for _, word := range u.Follows {
		if word.Static {
			w.addPath(follows, word)
		} else {
			w.found.note(incomplete)
		}
	}
	w.useHosts(u)
	if u.Has(program.Writes) || u.Has(program.Destroys) || u.Has(program.GitConfig) || u.Has(program.GitUpstream) {
		w.lockFiles(u.Locks)
	}
}

// usePaths records the paths that one run of a program names.
func (w *walk) usePaths(argv []program.Word, u *program.Use) {
	name := argv[0]
	sentence := func(what string) string { return u.Sentence(program.Reason{Text: what}, argv) }
	for _, word := range u.Reads {
		switch {
		case !onlyNames(name.Text):
			w.read(word)
		case word.Glob:
			w.listDir(word)
		default:
			w.look(word)
		}
	}
	for _, word := range u.Looks {
		w.look(word)
	}
	for _, at := range u.HomeWrites {
		moved := slices.ContainsFunc(at.Moved, func(name string) bool { return w.variable(name) != value{} })
		if w.ctx.Home != "" && !moved {
			w.write(program.Lit(w.ctx.Home+"/"+at.Dir), false, sentence)
		}
	}
	for _, word := range u.Writes {
		w.write(word, !u.Has(program.Adds), sentence)
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
		switch {
		case namesHost(word):
			w.found.host(word.Text)
			named++
		case ownMachine(u):
			w.found.host("localhost")
			named++
		}
	}
	if named == 0 && w.gitRemotes(u) {
		return
	}
	if named < len(u.Hosts) || named == 0 && u.Has(program.Reaches) || u.Has(program.HostsUnknown) {
		w.found.note(hostless)
	}
}

// namesHost reports whether the host in a word is known, if not all of the word is.
func namesHost(word program.Word) bool {
	_, rest, _ := strings.Cut(word.Text, "://")
	return word.Static || strings.ContainsAny(rest, "/?#")
}

// lockFiles records files that a program locks while it runs, in the directory where it starts.
func (w *walk) lockFiles(names []string) {
	for _, name := range names {
		rest, home := strings.CutPrefix(name, "~")
		switch {
		case w.found.quiet > 0 || w.remoteDepth > 0 || home && w.ctx.Home == "":
		case home:
			w.found.addLock(w.ctx.Home + rest)
		case strings.HasPrefix(name, "/"):
			w.found.addLock(name)
		default:
			for _, dir := range w.scope.dirs {
				w.found.addLock(strings.TrimSuffix(dir, "/") + "/" + name)
			}
		}
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

// effect records one of the effects of a program.
func (w *walk) effect(e program.Effect, u *program.Use) {
	switch e {
	case program.Writes: // overwrites, unless a proof shows that no data is lost
		w.found.note(writes | mayDestroy.when(!u.Has(program.Adds)) | incomplete.when(len(u.Writes) == 0 && w.remoteDepth == 0))
	case program.Destroys:
		w.found.note(writes | destroys | incomplete.when(len(u.Writes) == 0 && w.remoteDepth == 0))
	case program.GitConfig, program.GitUpstream: // a change loses at most one line of it
		w.found.note(writes | incomplete)
		w.found.gitConfigChanges = w.found.gitConfigChanges || w.found.quiet == 0
	case program.GitGlobal:
		w.found.note(writes | incomplete)
		if w.ctx.Home != "" { // in one of two places
			w.write(program.Lit(w.ctx.Home+"/.gitconfig"), false, nil)
			w.write(program.Lit(w.ctx.Home+"/.config/git/config"), false, nil)
		}
	case program.Reaches:
		w.found.note(reaches)
	case program.MayReach:
		w.found.note(mayReach)
	case program.LongRunning:
		w.found.note(long)
	case program.Interactive:
		w.found.note(interactive)
	case program.Pages:
		w.found.note(interactive.when(!w.scope.stdoutCaptured))
	case program.ObservesHost:
		w.found.note(observes.when(w.remoteDepth == 0))
	case program.NotConcurrent:
		w.found.note(notConcurrent)
	case program.WritesElsewhere:
		w.found.note(writes | incomplete)
	case program.ReadsElsewhere:
		w.found.note(incomplete.when(w.remoteDepth == 0))
	case program.ReadsTree:
		if !slices.ContainsFunc(u.Reads, func(word program.Word) bool { return !word.Maybe }) {
			w.addPath(contents, program.Lit("."))
		}
	case program.RunsHooks:
		w.found.note(incomplete)
	case program.Adds, program.HostsUnknown: // they say how the writes and hosts count, see usePaths and useHosts
	default: // RunsCode and unknown effects
		w.found.note(unknown)
	}
}

const maxGit = 64 // places where git runs

// runsGit records where git runs. The configuration of the repository there may name programs that git runs: only a caller that
// checks the disk knows that, see Context.Git. A git command that writes stays unknown unless the text shows that it runs in the
// start directory.
func (w *walk) runsGit(name program.Word, u *program.Use) {
	if w.found.quiet > 0 || u.Git == nil || u.Git.Verb == "" && u.Understood || u.Git.Verb == "version" {
		return
	}
	switch {
	case !gitReads(u):
		if w.scope.moved() || u.Git.Dir.Text != "" && u.Git.Dir.Text != "." {
			w.found.strange("git would read the configuration of another directory, which may run programs", name)
		}
	case len(w.scope.dirs) == 0:
		w.found.strange("git runs in a directory that is not known, and the configuration of its repository can run programs", name)
	default:
		for _, dir := range w.scope.dirs {
			w.gitRun(gitPlace(dir, u.Git, slices.Contains(u.Effects, program.Reaches)), name)
		}
	}
}

// gitRun records one place, with the result of Context.Git for it.
func (w *walk) gitRun(run agenttool.GitRun, name program.Word) {
	switch why, settled := w.ctx.Git[run]; {
	case settled && why != "":
		w.found.strange(why, name)
	case !settled && (run.Dir != w.scope.start || run.GitDir != "" && run.GitDir != run.Dir+"/.git"):
		w.found.strange("git would use the repository of "+run.Dir+", whose configuration can run programs", name)
	}
	if slices.Contains(w.found.gitRuns, run) {
		return
	}
	if len(w.found.gitRuns) >= maxGit {
		w.found.strange("git runs in too many places", name)
		return
	}
	w.found.gitRuns = append(w.found.gitRuns, run)
}

// gitReads reports whether a use of git is a reader's, as far as its words tell.
func gitReads(u *program.Use) bool {
	return u.Understood && len(u.Writes)+len(u.Follows) == 0 && !slices.ContainsFunc(u.Effects, func(e program.Effect) bool {
		switch e {
		case program.Writes, program.GitConfig, program.GitUpstream, program.GitGlobal, program.Destroys, program.RunsCode:
			return true
		}
		return false
	})
}

// gitPlace returns where a use of git runs that begins in dir.
func gitPlace(dir string, u *program.GitUse, reaches bool) agenttool.GitRun {
	run := agenttool.GitRun{Dir: joined(dir, u.Dir.Text), Verb: u.Verb}
	if u.GitDir.Text != "" {
		run.GitDir = joined(run.Dir, u.GitDir.Text)
	}
	if reaches {
		run.Verb = "ls-remote"
	}
	return run
}

// joined returns a path as it is in a directory, with "..", and without what changes nothing.
func joined(dir, path string) string {
	for strings.HasPrefix(path, "./") {
		path = strings.TrimLeft(path[2:], "/")
	}
	if len(path) > 1 {
		path = strings.TrimRight(path, "/")
	}
	switch {
	case path == "" || path == ".":
		return dir
	case path[0] == '/':
		return path
	}
	return strings.TrimSuffix(dir, "/") + "/" + path
}

// gitRemotes records the repositories that git reaches by their names, and reports whether they are all that it reaches.
func (w *walk) gitRemotes(u *program.Use) bool {
	if len(u.Remotes) == 0 || u.Git == nil || len(u.Hosts) > 0 || u.Has(program.HostsUnknown) || u.Git.GitDir != (program.Word{}) ||
		!u.Git.Dir.Static || len(w.scope.dirs) != 1 {
		return false
	}
	dir := w.scope.dirs[0]
	switch to := u.Git.Dir.Text; {
	case strings.HasPrefix(to, "/"):
		dir = to
	case to != "":
		dir = strings.TrimSuffix(dir, "/") + "/" + to
	}
	w.found.note(remotes)
	for _, r := range u.Remotes {
		remote := agenttool.GitRemote{Dir: dir, Name: r.Name, Push: r.Push}
		if w.found.quiet == 0 && !slices.Contains(w.found.gitRemotes, remote) {
			w.found.gitRemotes = append(w.found.gitRemotes, remote)
		}
	}
	return true
}
