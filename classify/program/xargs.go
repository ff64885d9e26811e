package program

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
