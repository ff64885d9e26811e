package classify

import (
	"strings"

	"toolhost/classify/program"
)

// leaveLoop merges the scope at a break, continue or return into the scope of the place where execution goes on.
func leaveLoop(w *walk, _ *program.Args, _ *program.Use) {
	w.away = join(w.away, w.scope.clone())
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
	w.settle()
	before := w.scope.dirs
	if w.scope.dirs = directory(w, a); a.Argv[0].Text == "cd" && len(a.Operands) == 1 && a.Operands[0].Static && a.Operands[0].Text == "-" {
		w.scope.dirs = w.scope.old
	}
	if w.scope.old = before; a.Argv[0].Text != "cd" {
		w.scope.old = nil
	}
	w.scope.fork, w.scope.alt = true, before
	for _, dir := range w.scope.dirs {
		w.named(names, program.Lit(dir))
	}
	if w.scope.dirs == nil {
		w.found.note(incomplete)
	}
}

// directory returns where cd goes, nil if that is not known.
func directory(w *walk, a *program.Args) []string {
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
	return w.relative(target.Text)
}

// loseParams forgets the positional parameters.
func loseParams(w *walk, _ *program.Args, _ *program.Use) { w.scope.params = nil }

func loseDir(w *walk, _ *program.Args, _ *program.Use) {
	w.settle()
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
	if !w.scope.piped {
		w.found.note(interactive)
		w.found.factAt("interactive", "`"+a.Argv[0].Text+"` waits for input", a.Argv[0])
	}
}

// setGlobs takes note that a glob which matches nothing may become nothing.
func setGlobs(w *walk, a *program.Args, _ *program.Use) {
	w.found.reglobs = true
	if a.Has("-s") {
		w.scope.vanishing = true
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
