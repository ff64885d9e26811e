package program

import (
	"slices"
	"strings"
)

func judgeShell(a *Args, u *Use) {
	for _, w := range a.Values("setting") {
		switch w.Text {
		case "pipefail", "errexit", "nounset", "noglob", "noclobber":
		default:
			u.Unknown("this option of the shell may change what its words mean: "+w.Text, w)
		}
	}
	for _, w := range a.Values("shopt") {
		u.Unknown("this option of the shell may change what its words mean: "+w.Text, w)
	}
	operands := a.Values("operand")
	u.Passes = u.Passes && a.Has("-c")
	switch {
	case a.Has("--version", "--help"):
	case a.Has("-c", "--command") && len(operands) > 0:
		u.Runs = append(u.Runs, Command{Shell: &operands[0], Bash: a.Argv[0].Text == "bash", Params: params(operands[1:])})
	case a.Has("-c", "--command"):
		u.Unknown("-c has no text", a.Argv[0])
	case a.Has("-n") && plainShells[a.Argv[0].Text] && !slices.ContainsFunc(operands, maySwitch):
		u.Reads = append(u.Reads, operands[:min(len(operands), 1)]...)
	case len(operands) > 0 && !a.Has("-s"):
		u.Reads = append(u.Reads, operands[0])
		u.Add(RunsCode, "runs the script "+spelled(operands[0]))
	default:
		u.Add(RunsCode, "runs its standard input as code")
	}
}

// params are the words that a text of -c finds as $1, $2, …, as far as it is known which is which.
func params(words []Word) []Word {
	if len(words) < 2 || words[0].Many && !words[0].Static {
		return nil
	}
	for i, w := range words[1:] {
		if w.Many && !w.Static {
			return words[1 : 1+i]
		}
	}
	return words[1:]
}

// plainShells are the shells that -n tells to read commands without running them.
var plainShells = WordSet("bash sh dash ash ksh mksh")

// maySwitch reports whether a word may be an option that begins with +, such as +n, which takes -n back.
func maySwitch(w Word) bool {
	return strings.HasPrefix(w.Text, "+") || !w.Static && w.Text == ""
}

// OnlyBash returns a form in a text that not all shells read alike, "" if there is none. A dollar before quotes makes escapes for bash and
// not for dash, and [[ a > b ]] writes a file in dash.
func OnlyBash(text string) string {
	for _, form := range []string{"$'", `$"`, "$[", "[[", "((", "&>", "<<<", "|&", "<(", ">(", ";&", "function"} {
		if strings.Contains(text, form) {
			return form
		}
	}
	if strings.Contains(strings.ReplaceAll(text, "${", ""), "{") {
		return "{"
	}
	for _, after := range strings.Split(text, ">&")[1:] {
		if after == "" || after[0] != '-' && (after[0] < '0' || after[0] > '9') {
			return ">&"
		}
	}
	return ""
}

func judgeOtherShell(a *Args, u *Use) {
	judgeShell(a, u)
	if len(u.Runs) > 0 {
		u.Unknown("this shell has a language of its own", a.Argv[0])
	}
}

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
		if !w.Static || !HarmlessEnvironment(w.Text, Lit("x")) && !variables()["unset"][w.Text] && !meansNothing(w.Text) {
			u.Passes = false
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
		u.Variables = append(u.Variables, GivenVariable{name, given})
		if !HarmlessEnvironment(name, given) {
			u.Add(RunsCode, "this variable may change what the program does: "+name)
		}
		words = words[1:]
	}
	if len(words) > 0 && words[0].Static && words[0].Text == "-" {
		u.Passes = false
		u.Add(RunsCode, "env - takes all variables away")
		words = words[1:]
	}
	if len(words) > 0 {
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}

// judgeChrt judges the policy: without an option it is a real-time one, which may take the processor from everybody else.
func judgeChrt(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, Reason{Fact: factOf[Writes], Text: "chrt may take the processor from everybody else"})
	u.Passes = u.Passes && a.Has("--idle", "--batch", "--other") && !a.Has("--fifo", "--rr")
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

// judgeXargs finds the command: the operands with words from the input after them, or in the place of -I's word.
func judgeXargs(a *Args, u *Use) {
	argv := a.Values("inner")
	if a.Has("--help", "--version", "--show-limits") && len(argv) == 0 {
		return
	}
	if len(argv) == 0 {
		argv = []Word{Lit("echo")}
	}
	placeholder, replaces := "", false
	for _, o := range a.Options {
		switch o.Name {
		case "-I":
			placeholder, replaces = o.Value.Text, true
		case "--replace":
			placeholder, replaces = o.Value.Text, true
			if !o.Has {
				placeholder = "{}"
			}
		default:
			continue
		}
		if o.Has && !o.Value.Static {
			u.Unknown("xargs: the replaced word is not known", o.Value)
		}
	}
	if !replaces {
		u.Runs = append(u.Runs, Command{Argv: argv, More: true})
		return
	}
	if a.Has("--max-lines", "--max-args", "-L", "-l", "-n") {
		u.Unknown("xargs: of these options the last counts, and replaces or does not", a.Argv[0])
	}
	if placeholder == "" {
		u.Unknown("xargs: nothing is named to be replaced", a.Argv[0])
		return
	}
	inner := make([]Word, len(argv))
	for i, w := range argv {
		inner[i] = replaced(w, placeholder, Word{})
	}
	u.Runs = append(u.Runs, Command{Argv: inner})
}
