package classify

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// scope is the known state of the shell at one point of a command line.
type scope struct {
	// The working directory.
	start      string   // where the command line starts
	dirs       []string // where it is, one of these; nil if unknown
	oldDirs    []string // where it was before the last cd, which cd - goes back to; nil if unknown
	afterCd    bool     // the command just analysed is a cd, which leaves it in ifCdFailed if it fails
	ifCdFailed []string

	// What names mean.
	vars         variables
	params       []value                     // $1, $2, … of a shell in a shell; nil where they are not known
	funcs        map[string]*syntax.FuncDecl // nil: depends on earlier commands
	namesChanged string                      // why they no longer mean what they say; "" if they do
	otherShell   bool                        // the shell may not be bash: values of variables are not followed

	// The standard streams.
	stdinPiped     bool     // stdin is not that of the command line
	stdinNames     *listing // the content of stdin, if it is names of files
	stdinLines     bool     // a loop reads stdin line by line
	stdoutCaptured bool     // stdout surely is no terminal: a pipe or a file

	environment     []agenttool.Variable // those that the line sets for the commands that run now
	exportsVariable bool                 // programs find a variable that may mean something to them
	nullGlob        bool                 // a glob that matches nothing may become no word
	doubt           string               // why nothing is proved about later commands: an earlier one is not understood; "" if all are
}

func (s *scope) clone() *scope {
	c := *s
	c.own()
	return &c
}

// own gives a copy its own maps.
func (s *scope) own() { s.vars, s.funcs = s.vars.clone(), maps.Clone(s.funcs) }

// set notes the value of a variable.
func (s *scope) set(name string, v value) {
	if s.otherShell {
		v = value{}
	}
	s.vars.set(name, v)
}

func (s *scope) declare(name string, f *syntax.FuncDecl) {
	if s.funcs == nil {
		s.funcs = map[string]*syntax.FuncDecl{}
	}
	s.funcs[name] = f
}

// moved reports whether the working directory may differ from the start directory.
func (s *scope) moved() bool { return len(s.dirs) != 1 || s.dirs[0] != s.start }

// at reports whether the working directory surely is this one.
func (s *scope) at(dir string) bool { return len(s.dirs) == 1 && s.dirs[0] == dir }

// settle forgets whether the last cd succeeded: from here on both may be.
func (s *scope) settle() {
	if s.afterCd {
		s.dirs = eitherDir(s.dirs, s.ifCdFailed)
		s.afterCd, s.ifCdFailed = false, nil
	}
}

// failed returns where the working directory is if the last command failed.
func (s *scope) failed() []string {
	if s.afterCd {
		return s.ifCdFailed
	}
	return s.dirs
}

// eitherDir returns both lists, nil if one of them is unknown or there are too many to follow.
func eitherDir(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	all := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	if len(all) > 4 {
		return nil
	}
	return all
}

// join returns the state that holds in both scopes. Either may be nil, for a point that is not reached.
func join(a, b *scope) *scope {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	a.settle()
	b.settle()
	j := &scope{
		start: a.start, dirs: eitherDir(a.dirs, b.dirs), oldDirs: eitherDir(a.oldDirs, b.oldDirs),
		vars: a.vars.common(&b.vars), namesChanged: cmp.Or(a.namesChanged, b.namesChanged), otherShell: a.otherShell,
		stdinPiped: a.stdinPiped, stdinLines: a.stdinLines || b.stdinLines, stdoutCaptured: a.stdoutCaptured,
		environment: a.environment, exportsVariable: a.exportsVariable || b.exportsVariable,
		nullGlob: a.nullGlob || b.nullGlob, doubt: cmp.Or(a.doubt, b.doubt),
	}
	if a.stdinNames == b.stdinNames {
		j.stdinNames = a.stdinNames
	}
	if len(a.params) == len(b.params) { // they change only by being forgotten
		j.params = a.params
	}
	for name, f := range a.funcs {
		if b.funcs[name] != f {
			f = nil
		}
		j.declare(name, f)
	}
	for name := range b.funcs {
		if _, ok := a.funcs[name]; !ok {
			j.declare(name, nil)
		}
	}
	return j
}

// same reports whether both scopes know the same.
func same(a, b *scope) bool {
	return slices.Equal(a.dirs, b.dirs) && slices.Equal(a.oldDirs, b.oldDirs) &&
		maps.Equal(a.vars.values, b.vars.values) && len(a.params) == len(b.params) && maps.Equal(a.funcs, b.funcs) &&
		a.namesChanged == b.namesChanged && a.stdinNames == b.stdinNames && a.stdinLines == b.stdinLines &&
		a.exportsVariable == b.exportsVariable && a.nullGlob == b.nullGlob && a.doubt == b.doubt
}

// relative returns the path joined with each possible working directory; nil if that is unknown.
func (s *scope) relative(to string) []string {
	if strings.HasPrefix(to, "/") {
		return []string{path.Clean(to)}
	}
	var dirs []string
	for _, dir := range s.dirs {
		dirs = append(dirs, path.Join(dir, to))
	}
	return dirs
}

// doubtLater records why nothing is proved about later commands.
func (s *scope) doubtLater(reason string) {
	if s.doubt == "" {
		s.doubt = reason
	}
}

// goTo takes the scope to the directory of a word, if there is one.
func (s *scope) goTo(dir *program.Word) {
	switch {
	case dir == nil:
	case !dir.Static || dir.Text == "":
		s.dirs = nil
	default:
		s.dirs = s.relative(dir.Text)
	}
}
