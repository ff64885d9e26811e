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
	switch {
	case a.Has("--version", "--help"):
	case a.Has("-c", "--command") && len(operands) > 0:
		u.Runs = append(u.Runs, Command{Shell: &operands[0], Bash: a.Argv[0].Text == "bash", Params: params(operands[1:])})
	case a.Has("-c", "--command"):
		u.Unknown("-c has no text", a.Argv[0])
	case a.Has("-n") && readsOnly(a.Argv[0].Text) && !slices.ContainsFunc(operands, maySwitch):
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

// readsOnly reports whether -n tells a shell to read commands without running them.
func readsOnly(shell string) bool { return plainShells[shell] }

var plainShells = WordSet("bash sh dash ash ksh mksh")

// maySwitch reports whether a word may be an option that begins with +, such as +n, which takes -n back.
func maySwitch(w Word) bool {
	return strings.HasPrefix(w.Text, "+") || !w.Static && w.Text == ""
}

// OnlyBash returns a form in a text that not all shells read alike, "" if there is none: $'a\” is one word for bash and
// not for dash, and [[ a > b ]] writes a file there.
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
