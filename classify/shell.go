package classify

import (
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// Context is where a command line would run. Both paths are absolute and clean; an empty one is unknown.
type Context struct {
	Dir  string // the working directory, against which paths are resolved as cd moves it
	Home string // the value of ~ and $HOME

	// Git holds the result of checking the disk at places where git runs as a reader: "" if git runs no program there that
	// configuration names, else the reason. Of the places that are missing here, only Dir itself is taken to be fine.
	Git map[agenttool.GitRun]string
}

// Disk is the caller's knowledge of the disk besides names of files.
type Disk struct {
	// Prints maps commands, their words joined by blanks, to their output in Context.Dir, without the newline.
	Prints map[string]string
	// PlainTags says that the name of each tag of the repository in Context.Dir is made of letters, digits, dots, dashes inside, and slashes.
	PlainTags bool
	// Absent reports whether a directory has none of the files that decide how a program behaves there. nil: that is not known.
	Absent func(dir string, of program.ConditionalUse) bool
}

// shell is the shell at one point of the command line, with the findings so far.
type shell struct {
	record
	setting
	scope *scope

	remote int  // while positive, what runs is not on this machine, and its paths are not those here
	arrays bool // a variable may be an array
	listings
	endings
	texts int // depth of nested texts that are only searched for code that they may run
}

// setting is the place where the command line runs.
type setting struct {
	ctx  Context
	disk *Disk // nil if the caller does not look at it
}

// listings are names of files that commands print.
type listings struct {
	indexed bool     // names of files come from git's index
	lists   *listing // the output of the last command, if it is names of files
}

// endings say how much the commands of a pipeline read.
type endings struct {
	ending  ending // of the pipeline, behind the command that is looked at
	reading ending // how much the command reads
}

// assignable reports whether the shell gives a variable no meaning of its own and no program is likely to have it in
// its environment. If not, names no longer mean what they say.
func (w *walk) assignable(name string) bool {
	if ownName(name) {
		return true
	}
	w.void("the variable " + name + " may change what commands do")
	return false
}

// relative returns the path joined with each possible working directory; nil if that is unknown.
func (w *walk) relative(to string) []string {
	if strings.HasPrefix(to, "/") {
		return []string{path.Clean(to)}
	}
	var dirs []string
	for _, dir := range w.scope.dirs {
		dirs = append(dirs, path.Join(dir, to))
	}
	return dirs
}

// unknown records a construct that is not understood, and the reason. Later commands may then mean something else.
func (w *walk) unknown(reason string) {
	w.note(unknown | gap)
	w.fact("read_only", reason)
	w.doubt(reason, true)
}

// hidden records that something runs, or may run, which is not known, and why. The shell stays as it is.
func (w *walk) hidden(reason string) {
	w.note(unknown | gap)
	w.fact("read_only", reason)
	w.mayRun(reason)
}

// doubtWithin doubts what follows for a reason, if there is one, until the result is called.
func (w *walk) doubtWithin(reason string) (end func()) {
	if reason == "" || w.scope.doubt != "" {
		return func() {}
	}
	w.scope.doubt = reason
	return func() {
		if w.scope.doubt == reason {
			w.scope.doubt = ""
		}
	}
}

// givenWithin gives variables to the commands that follow until the result is called.
func (w *walk) givenWithin(variables []agenttool.Variable) (end func()) {
	before := w.scope.variables
	if len(variables) == 0 {
		return func() {}
	}
	w.scope.variables = append(slices.Clip(before), variables...)
	return func() { w.scope.variables = before }
}

// doubt records, if is is true, the reason why nothing is proved about later commands.
func (w *walk) doubt(reason string, is bool) {
	if is && w.scope.doubt == "" {
		w.scope.doubt = reason
	}
}

// begin opens a simple command; pass its result to end.
func (w *walk) begin(argv []program.Word) (outer int) {
	outer = w.part
	if w.quiet > 0 {
		return outer
	}
	c := w.recorded(argv)
	c.WrappedBy, c.Dirs, c.Variables = outer, w.startDirs(), w.scope.variables
	w.altered = w.altered || w.scope.given
	at := w.placed(agenttool.Reason{Line: argv[0].Line, Column: argv[0].Column})
	c.Line, c.Column = at.Line, at.Column
	w.parts = append(w.parts, c)
	w.part = len(w.parts) - 1
	if w.scope.doubt != "" && w.scope.void == "" {
		w.note(unknown)
		w.parts[w.part].Reasons = []agenttool.Reason{w.placed(agenttool.Reason{
			Fact: "read_only", Text: cut.Short("the text before it may change its meaning: "+w.scope.doubt, maxReason), Line: at.Line, Column: at.Column})}
	}
	return outer
}

// startDirs returns where a simple command may start, if that is not where the whole does.
func (w *walk) startDirs() []string {
	switch {
	case !w.scope.moved():
		return nil
	case len(w.scope.dirs) == 0:
		return []string{anywhere}
	}
	return w.scope.dirs
}

// variable returns the known value of a variable.
func (w *walk) variable(name string) value {
	switch name {
	case "HOME":
		if w.ctx.Home != "" {
			return value{kind: static, text: w.ctx.Home}
		}
	case "PWD":
		if !w.scope.moved() && len(w.scope.dirs) == 1 {
			return value{kind: static, text: w.scope.dirs[0]}
		}
	case "?", "#", "$":
		return value{kind: number}
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		if at := int(name[0] - '1'); at < len(w.scope.params) {
			return w.scope.params[at]
		}
		return value{}
	}
	return w.scope.vars[name]
}

func (w *walk) settle() { w.scope.settle() }

// void says that names may stand for other commands from here on.
func (w *walk) void(reason string) {
	w.unknown(reason)
	w.scope.void = reason
}

// goTo takes the scope to the directory of a word, if there is one.
func (w *walk) goTo(dir *program.Word) {
	switch {
	case dir == nil:
	case !dir.Static || dir.Text == "":
		w.scope.dirs = nil
	default:
		w.scope.dirs = w.relative(dir.Text)
	}
}

// ending says when a later part of a pipeline stops reading, which ends the parts before it.
type ending uint8

const (
	endsNever ending = iota
	endsLines        // after so many lines
	endsBytes        // after so many bytes
)
