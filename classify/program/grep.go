package program

// judgeGrep tells the pattern from the files.
func judgeGrep(a *Args, u *Use) {
	files := a.Values("pattern")
	if !a.Has("--regexp", "--file") && len(files) > 0 {
		if first := files[0]; first.Static || !first.Many {
			files = files[1:]
		}
	}
	recursive := a.Has("--recursive", "--dereference-recursive") || a.Argv[0].Text == "rgrep"
	for _, action := range a.Values("action") {
		recursive = recursive || action.Text != "skip" && action.Text != "read"
	}
	if recursive {
		u.Add(ReadsTree, "grep reads all files below a directory")
		if len(files) == 0 {
			u.Reads = append(u.Reads, Lit("."))
		}
	}
	u.reads(files)
}
