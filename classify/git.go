package classify

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

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
	if slices.Contains(w.found.git, run) {
		return
	}
	if len(w.found.git) >= maxGit {
		w.found.strange("git runs in too many places", name)
		return
	}
	w.found.git = append(w.found.git, run)
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
		if found := (agenttool.GitRemote{Dir: dir, Name: r.Name, Push: r.Push}); w.found.quiet == 0 && !slices.Contains(w.found.remotes, found) {
			w.found.remotes = append(w.found.remotes, found)
		}
	}
	return true
}
