package program

import "strings"

// judgeSudo finds the command behind assignments. With -s or -i it is text for a shell.
func judgeSudo(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs as another user"))
	for _, dir := range a.Values("dir") {
		u.Dir = &dir
	}
	if a.Has("--login") {
		u.Dir = &Word{} // the home of the other user
	}
	words := a.Operands
	for len(words) > 0 && strings.Contains(words[0].Text, "=") {
		words = words[1:]
	}
	switch {
	case len(words) > 0 && len(words) < len(a.Operands) && strings.HasPrefix(words[0].Text, "-"):
		u.Unknown("sudo: options after a variable", words[0])
	case a.Has("--edit"):
		u.Writes = append(u.Writes, words...)
	case len(words) == 0:
	case a.Has("--shell", "--login", "-s"):
		u.Runs = append(u.Runs, Command{Shell: joined(words), Joined: true})
	default:
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}

// judgeSu: with -u the operands are a command; else they name a user, and words for a shell.
func judgeSu(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs as another user"))
	words := a.Values("inner")
	switch {
	case a.Has("--user") && len(words) > 0:
		u.Runs = append(u.Runs, Command{Argv: words})
	case len(words) > 2 || len(words) == 2 && words[0].Text != "-":
		u.Unknown("su gives these words to a shell", words[len(words)-1])
	}
}

// bwrapValues says how many words follow an option of bwrap, for those that have some; a command stands behind all.
var bwrapValues = map[string]int{
	"--args": 1, "--argv0": 1, "--unsetenv": 1, "--setenv": 2, "--userns": 1, "--pidns": 1, "--uid": 1, "--gid": 1,
	"--hostname": 1, "--chdir": 1, "--bind": 2, "--bind-try": 2, "--dev-bind": 2, "--dev-bind-try": 2, "--ro-bind": 2,
	"--ro-bind-try": 2, "--remount-ro": 1, "--exec-label": 1, "--file-label": 1, "--proc": 1, "--dev": 1, "--tmpfs": 1,
	"--mqueue": 1, "--dir": 1, "--file": 2, "--bind-data": 2, "--ro-bind-data": 2, "--symlink": 2, "--seccomp": 1,
	"--block-fd": 1, "--userns-block-fd": 1, "--info-fd": 1, "--sync-fd": 1, "--lock-file": 1, "--cap-add": 1,
	"--cap-drop": 1, "--perms": 1, "--size": 1, "--chmod": 2, "--json-status-fd": 1,
}

func judgeBwrap(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && (!words[0].Static || strings.HasPrefix(words[0].Text, "-")) {
		if !words[0].Static {
			u.Unknown("the command inside is not known", words[0])
		}
		words = words[min(1+bwrapValues[words[0].Text], len(words)):]
	}
	if len(words) > 0 {
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}
