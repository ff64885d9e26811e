package classify

import (
	"slices"
	"strings"

	"toolhost/classify/program"
)

// done records what one run of a program does by itself.
func (sh effects) done(argv []program.Word, u *program.Use) {
	name, own := argv[0], ownMachine(u)
	for _, r := range u.Told() {
		if own && r.Fact == "open_world" {
			continue
		}
		at := program.Word{Line: r.Line, Column: r.Column}
		if r.Line == 0 {
			at = name
		}
		sh.factAt(r.Fact, u.Sentence(r, argv), at)
	}
	if !u.Understood {
		sh.note(unknown)
	}
	for _, e := range u.Effects {
		if e != program.Reaches || !own {
			sh.effect(e, u)
		}
	}
	if own {
		sh.note(loopback)
	}
	sh.usePaths(argv, u)
	sh.useFollows(u)
	sh.useHosts(u)
	if u.Has(program.Writes) || u.Has(program.Destroys) || u.Has(program.GitConfig) || u.Has(program.GitUpstream) {
		sh.lock(u.Locks)
	}
}

// usePaths records the paths that one run of a program names.
func (sh effects) usePaths(argv []program.Word, u *program.Use) {
	name := argv[0]
	for _, word := range u.Reads {
		switch {
		case !onlyNames(name.Text):
			sh.read(word)
		case word.Glob:
			sh.list(word)
		default:
			sh.look(word)
		}
	}
	for _, word := range u.Looks {
		sh.look(word)
	}
	for _, at := range u.Homely {
		moved := slices.ContainsFunc(at.Moved, func(name string) bool { return sh.variable(name) != value{} })
		if sh.ctx.Home != "" && !moved {
			sh.write(program.Lit(sh.ctx.Home+"/"+at.Dir), false, func(what string) string { return u.Sentence(program.Reason{Text: what}, argv) })
		}
	}
	for _, word := range u.Writes {
		sh.write(word, !u.Has(program.Adds), func(what string) string { return u.Sentence(program.Reason{Text: what}, argv) })
	}
}

// useFollows records the configurations in which git notes which branches its branches follow.
func (sh effects) useFollows(u *program.Use) {
	for _, word := range u.Follows {
		if word.Static {
			sh.named(follows, word)
		} else {
			sh.note(incomplete)
		}
	}
}

// ownMachine reports whether a use names hosts, and they are this machine alone.
func ownMachine(u *program.Use) bool {
	return len(u.Hosts) > 0 && !slices.ContainsFunc(u.Hosts, func(host program.Word) bool { return !program.Loopback(host) })
}

// useHosts records the hosts that one run of a program names, and whether there are others.
func (sh effects) useHosts(u *program.Use) {
	named := 0
	for _, word := range u.Hosts {
		switch {
		case namesHost(word):
			sh.host(word.Text)
			named++
		case ownMachine(u):
			sh.host("localhost")
			named++
		}
	}
	if named == 0 && sh.gitRemotes(u) {
		return
	}
	if named < len(u.Hosts) || named == 0 && u.Has(program.Reaches) || u.Has(program.HostsUnknown) {
		sh.note(hostless)
	}
}

// namesHost reports whether the host in a word is known, if not all of the word is.
func namesHost(word program.Word) bool {
	_, rest, _ := strings.Cut(word.Text, "://")
	return word.Static || strings.ContainsAny(rest, "/?#")
}

// lock records files that a program locks while it runs, in the directory where it starts.
func (sh effects) lock(names []string) {
	for _, name := range names {
		rest, home := strings.CutPrefix(name, "~")
		switch {
		case sh.quiet > 0 || sh.remote > 0 || home && sh.ctx.Home == "":
		case home:
			sh.addLock(sh.ctx.Home + rest)
		case strings.HasPrefix(name, "/"):
			sh.addLock(name)
		default:
			for _, dir := range sh.scope.dirs {
				sh.addLock(strings.TrimSuffix(dir, "/") + "/" + name)
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

func (sh effects) effect(e program.Effect, u *program.Use) {
	switch e {
	case program.Writes: // overwrites, unless a proof shows that no data is lost
		sh.note(writes | mayDestroy.when(!u.Has(program.Adds)) | incomplete.when(len(u.Writes) == 0 && sh.remote == 0))
	case program.Destroys:
		sh.note(writes | destroys | incomplete.when(len(u.Writes) == 0 && sh.remote == 0))
	case program.GitConfig, program.GitUpstream: // a change loses at most one line of it
		sh.note(writes | incomplete)
		sh.gitConfig = sh.gitConfig || sh.quiet == 0
	case program.GitGlobal:
		sh.globalGit()
	case program.Reaches:
		sh.note(reaches)
	case program.MayReach:
		sh.note(mayReach)
	case program.LongRunning:
		sh.note(long)
	case program.Interactive:
		sh.note(interactive)
	case program.Pages:
		sh.note(interactive.when(!sh.scope.captured))
	case program.ObservesHost:
		sh.note(observes.when(sh.remote == 0))
	case program.NotConcurrent:
		sh.note(notConcurrent)
	case program.WritesElsewhere:
		sh.note(writes | incomplete)
	case program.ReadsElsewhere:
		sh.note(incomplete.when(sh.remote == 0))
	case program.ReadsTree:
		if !slices.ContainsFunc(u.Reads, func(word program.Word) bool { return !word.Maybe }) {
			sh.named(contents, program.Lit("."))
		}
	case program.RunsHooks:
		sh.note(incomplete)
	case program.Adds, program.HostsUnknown: // see usePaths and useHosts
	default: // RunsCode and unknown effects
		sh.note(unknown)
	}
}

// globalGit records that git's configuration of the person is written, which is in one of two places.
func (sh effects) globalGit() {
	sh.note(writes | incomplete)
	if sh.ctx.Home != "" {
		sh.write(program.Lit(sh.ctx.Home+"/.gitconfig"), false, nil)
		sh.write(program.Lit(sh.ctx.Home+"/.config/git/config"), false, nil)
	}
}
