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

// effects records what one run of a program does by itself.
type effects struct{ *shell }

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
func (sh *shell) assignable(name string) bool {
	if ownName(name) {
		return true
	}
	sh.void("the variable " + name + " may change what commands do")
	return false
}

// relative returns the path joined with each possible working directory; nil if that is unknown.
func (sh *shell) relative(to string) []string {
	if strings.HasPrefix(to, "/") {
		return []string{path.Clean(to)}
	}
	var dirs []string
	for _, dir := range sh.scope.dirs {
		dirs = append(dirs, path.Join(dir, to))
	}
	return dirs
}

// unknown records a construct that is not understood, and the reason. Later commands may then mean something else.
func (sh *shell) unknown(reason string) {
	sh.note(unknown | gap)
	sh.fact("read_only", reason)
	sh.doubt(reason, true)
}

// hidden records that something runs, or may run, which is not known, and why. The shell stays as it is.
func (sh *shell) hidden(reason string) {
	sh.note(unknown | gap)
	sh.fact("read_only", reason)
	sh.mayRun(reason)
}

// doubtWithin doubts what follows for a reason, if there is one, until the result is called.
func (sh *shell) doubtWithin(reason string) (end func()) {
	if reason == "" || sh.scope.doubt != "" {
		return func() {}
	}
	sh.scope.doubt = reason
	return func() {
		if sh.scope.doubt == reason {
			sh.scope.doubt = ""
		}
	}
}

// givenWithin gives variables to the commands that follow until the result is called.
func (sh *shell) givenWithin(variables []agenttool.Variable) (end func()) {
	before := sh.scope.variables
	if len(variables) == 0 {
		return func() {}
	}
	sh.scope.variables = append(slices.Clip(before), variables...)
	return func() { sh.scope.variables = before }
}

// doubt records, if is is true, the reason why nothing is proved about later commands.
func (sh *shell) doubt(reason string, is bool) {
	if is && sh.scope.doubt == "" {
		sh.scope.doubt = reason
	}
}

// begin opens a simple command; pass its result to end.
func (sh *shell) begin(argv []program.Word) (outer int) {
	outer = sh.part
	if sh.quiet > 0 {
		return outer
	}
	c := sh.recorded(argv)
	c.WrappedBy, c.Dirs, c.Variables = outer, sh.startDirs(), sh.scope.variables
	sh.altered = sh.altered || sh.scope.given
	at := sh.placed(agenttool.Reason{Line: argv[0].Line, Column: argv[0].Column})
	c.Line, c.Column = at.Line, at.Column
	sh.parts = append(sh.parts, c)
	sh.part = len(sh.parts) - 1
	if sh.scope.doubt != "" && sh.scope.void == "" {
		sh.note(unknown)
		sh.parts[sh.part].Reasons = []agenttool.Reason{sh.placed(agenttool.Reason{
			Fact: "read_only", Text: cut.Short("the text before it may change its meaning: "+sh.scope.doubt, maxReason), Line: at.Line, Column: at.Column})}
	}
	return outer
}

// startDirs returns where a simple command may start, if that is not where the whole does.
func (sh *shell) startDirs() []string {
	switch {
	case !sh.scope.moved():
		return nil
	case len(sh.scope.dirs) == 0:
		return []string{anywhere}
	}
	return sh.scope.dirs
}

// variable returns the known value of a variable.
func (sh *shell) variable(name string) value {
	switch name {
	case "HOME":
		if sh.ctx.Home != "" {
			return value{kind: static, text: sh.ctx.Home}
		}
	case "PWD":
		if !sh.scope.moved() && len(sh.scope.dirs) == 1 {
			return value{kind: static, text: sh.scope.dirs[0]}
		}
	case "?", "#", "$":
		return value{kind: number}
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		if at := int(name[0] - '1'); at < len(sh.scope.params) {
			return sh.scope.params[at]
		}
		return value{}
	}
	return sh.scope.vars[name]
}

func (sh *shell) settle() { sh.scope.settle() }

// void says that names may stand for other commands from here on.
func (sh *shell) void(reason string) {
	sh.unknown(reason)
	sh.scope.void = reason
}

// goTo takes the scope to the directory of a word, if there is one.
func (sh *shell) goTo(dir *program.Word) {
	switch {
	case dir == nil:
	case !dir.Static || dir.Text == "":
		sh.scope.dirs = nil
	default:
		sh.scope.dirs = sh.relative(dir.Text)
	}
}

// ending says when a later part of a pipeline stops reading, which ends the parts before it.
type ending uint8

const (
	endsNever ending = iota
	endsLines        // after so many lines
	endsBytes        // after so many bytes
)
