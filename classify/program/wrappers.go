package program

import "strings"

// judgeEnv judges the assignments before the command, and options that change its directory or its environment.
func judgeEnv(a *Args, u *Use) {
	words := a.Values("env")
	for _, w := range a.Values("split") {
		u.Unknown("env -S splits this into words by rules of its own", w)
	}
	for _, w := range a.Values("dir") {
		u.Dir = &w
		if !w.Static || w.Text != "." {
			u.Unknown("env -C: the program may read the configuration of the other directory", w)
		}
	}
	for _, w := range a.Values("name") {
		if !w.Static || !HarmlessEnvironment(w.Text, Lit("x")) && !unsetVariables[w.Text] && !meansNothing(w.Text) {
			u.Add(RunsCode, "without this variable a program may do something else: "+w.Text)
		}
	}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].Text, "=")
		if !ok {
			break
		}
		given := words[0]
		given.Text = value
		if !HarmlessEnvironment(name, given) {
			u.Add(RunsCode, "this variable may change what the program does: "+name)
		}
		words = words[1:]
	}
	if len(words) > 0 && words[0].Static && words[0].Text == "-" {
		u.Add(RunsCode, "env - takes all variables away")
		words = words[1:]
	}
	if len(words) > 0 {
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}

func judgeBusybox(a *Args, u *Use) {
	u.Unknown("its programs have other options than those of their names", a.Argv[0])
}

// ownShell adds text that the shell of the person runs, whichever that is.
func ownShell(u *Use, text Word) {
	u.Runs = append(u.Runs, Command{Shell: &text})
	u.Unknown("this runs in the shell of the person, which may have a language of its own", text)
}

// judgeFlock judges the lock file, which flock creates if it is missing, and the command; with -c that is text for the shell.
func judgeFlock(a *Args, u *Use) {
	for _, w := range a.Values("lock") {
		if !w.Static || !Digits(w.Text) {
			u.Writes = append(u.Writes, w)
		}
	}
	inner := a.Values("inner")
	if len(inner) > 1 && (inner[0].Text == "-c" || inner[0].Text == "--command") {
		ownShell(u, inner[1])
		return
	}
	for _, w := range a.Values("own") {
		ownShell(u, w)
	}
	if len(inner) > 0 {
		u.Runs = append(u.Runs, Command{Argv: inner})
	}
}

// judgeWatch judges the command, which watch gives to the shell as one text unless -x was given.
func judgeWatch(a *Args, u *Use) {
	inner := a.Values("inner")
	switch {
	case len(inner) == 0:
	case a.Has("--exec"):
		u.Runs = append(u.Runs, Command{Argv: inner})
	default:
		u.Runs = append(u.Runs, Command{Shell: joined(inner), Joined: true})
	}
}

func judgeEntr(a *Args, u *Use) {
	inner := a.Values("inner")
	if a.Has("-s") && len(inner) > 0 {
		ownShell(u, inner[0])
	} else if len(inner) > 0 {
		argv := make([]Word, len(inner))
		for i, w := range inner {
			argv[i] = replaced(w, "/_", Word{})
		}
		u.Runs = append(u.Runs, Command{Argv: argv})
	}
}

// judgeParallel adds the command up to the first list of arguments.
func judgeParallel(a *Args, u *Use) {
	var argv []Word
	for _, w := range a.Values("inner") {
		if strings.HasPrefix(w.Text, ":::") {
			break
		}
		argv = append(argv, w)
	}
	switch {
	case len(argv) == 0:
		u.Add(RunsCode, "parallel runs the lines that it reads")
	case len(argv) == 1 && strings.ContainsAny(argv[0].Text, " ;|&"):
		u.Runs = append(u.Runs, Command{Shell: &argv[0]})
	default:
		for i, w := range argv {
			argv[i] = replaced(w, "{}", Word{})
		}
		u.Runs = append(u.Runs, Command{Argv: argv, More: true})
	}
}
