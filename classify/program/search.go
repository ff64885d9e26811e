package program

import "strings"

// judgeRg tells the pattern from the paths.
func judgeRg(a *Args, u *Use) {
	paths := a.Values("operand")
	if !a.Has("--regexp", "--file", "--files", "--type-list", "--version", "--pcre2-version") && len(paths) > 0 {
		if paths[0].Many && !paths[0].Glob {
			return // all may be paths; the first stays without a meaning
		}
		paths = paths[1:]
	}
	u.reads(paths)
}

func judgeAg(a *Args, u *Use) {
	for _, w := range a.Values("lines") {
		if !w.Number && (!w.Static || !Digits(w.Text)) { // which ag takes again and again, for ever
			u.Unknown("ag: "+spelled(w)+" is no number", w)
		}
	}
	paths := a.Values("operand")
	if !a.Has("--filename-pattern", "--list-file-types", "--version") && len(paths) > 0 {
		paths = paths[1:]
	}
	u.Reads = append(u.Reads, paths...)
}

func judgeFdSearch(a *Args, u *Use) {
	paths := a.Values("operand")
	if len(paths) > 0 {
		paths = paths[1:]
	}
	u.Reads = append(u.Reads, paths...)
}

// judgeFd takes the command of -x or -X out, up to a word ;, and judges the rest as a search.
func judgeFd(a *Args, u *Use) {
	argv := a.Argv
	for i, w := range argv {
		if i == 0 || !w.Static || !fdRuns(w.Text) {
			continue
		}
		end := len(argv)
		for j, inner := range argv[i+1:] {
			if inner.Static && inner.Text == ";" {
				end = i + 1 + j
				break
			}
			if inner.Many && !inner.Glob || !inner.Static && inner.Text == "" {
				u.Unknown("fd: this word may end the command", inner)
			}
		}
		judgeFdCommand(argv[i+1:end], u)
		argv = append(append([]Word{}, argv[:i]...), argv[min(end+1, len(argv)):]...)
		break
	}
	_, search := Parse(shared("fdSearch"), argv)
	u.absorb(search)
}

// fdRuns recognises -x and -X, alone or at the end of a group.
func fdRuns(text string) bool {
	switch text {
	case "-x", "-X", "--exec", "--exec-batch":
		return true
	}
	n := len(text)
	return n > 2 && text[0] == '-' && (text[n-1] == 'x' || text[n-1] == 'X') && strings.Trim(text[1:n-1],
		"HIusigFalLp0q1") == ""
}

// judgeFdCommand adds the command of -x, with the found paths in the place of {}, {.}, {/}, {//} and {/.} or at the end. Only some
// versions put ./ before a path, so the paths are unknown.
func judgeFdCommand(words []Word, u *Use) {
	placed := false
	argv := make([]Word, len(words))
	for i, w := range words {
		argv[i] = w
		for _, placeholder := range []string{"{}", "{.}", "{/}", "{//}", "{/.}"} {
			if strings.Contains(w.Text, placeholder) {
				argv[i] = replaced(argv[i], placeholder, Word{})
				placed = true
			}
		}
	}
	u.Runs = append(u.Runs, Command{Argv: argv, More: !placed})
}
