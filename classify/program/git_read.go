package program

import "strings"

// judgeGitShow judges revisions, paths and formats.
func judgeGitShow(a *Args, u *Use) {
	judgeGitFormats(a, u)
	u.Reads = append(u.Reads, gitOperands(a, a.Operands)...)
	u.Reads = append(u.Reads, gitLines(a.Values("gitlines"))...)
	for _, o := range a.Options {
		if o.Name == "--submodule" && (o.Value.Text == "diff" || o.Has && !o.Value.Static) {
			u.Unknown("git runs in submodules to show this, with the configuration of each", o.Value)
		}
	}
	for _, format := range a.Values("gitmerges") {
		switch format.Text {
		case "off", "none", "on", "m", "first-parent", "1", "separate", "combined", "c", "dense-combined", "cc":
		default:
			u.Unknown("this way to show merges may write objects: "+format.Text, format)
		}
	}
}

// judgeGitBlame also looks at the word after -- and a file: blame takes it for a revision (git blame -- FILE REV), and reads
// revisions as options.
func judgeGitBlame(a *Args, u *Use) {
	judgeGitShow(a, u)
	rest := a.Argv[len(a.Argv)-afterDashes(a.Argv):]
	for i, w := range rest {
		if i > 0 && (!w.Static || strings.HasPrefix(w.Text, "-")) {
			u.Unknown("after -- and a file, blame takes a word for an option", w)
		}
	}
}

// judgeGitLog judges what is made of the options of revisions and of diffs. Only the latter can be grouped: git takes
// -iS for one option that it does not know, and the word after it for an option.
func judgeGitLog(a *Args, u *Use) {
	judgeGitShow(a, u)
	dashes := len(a.Argv) - afterDashes(a.Argv)
	for _, w := range a.Argv[1:dashes] {
		if len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && !gitGroup(w.Text[1:]) {
			u.Unknown("git does not group these options: "+w.Text, w)
		}
	}
}

// gitGroup reports whether git understands the letters after a dash: a number, letters of diff options, one of them possibly with
// the rest as its value, or -nNUMBER and -LRANGE.
func gitGroup(letters string) bool {
	if Digits(letters) || letters[0] == 'n' || letters[0] == 'L' {
		return true
	}
	rest := strings.TrimLeft(letters, "puWzDwbaRs")
	return rest == "" || strings.ContainsRune("UXBMClISGO", rune(rest[0]))
}

func judgeGitDiff(a *Args, u *Use) {
	judgeGitLog(a, u)
	if a.Has("--no-index") {
		u.Reads = append(u.Reads, a.Operands...)
	}
	u.Reasons = append(u.Reasons, because("git diff refreshes the index, whatever GIT_OPTIONAL_LOCKS says"))
}

func judgeGitGrep(a *Args, u *Use) {
	operands := a.Operands
	if !a.Has("-e") && !a.Has("-f") && len(operands) > 0 {
		operands = operands[1:]
	}
	if !a.Has("--no-index") {
		u.Reads = append(u.Reads, gitOperands(a, operands)...)
		return
	}
	for _, w := range operands {
		u.Reads = append(u.Reads, gitPathspec(w)...)
	}
}

func judgeGitReflog(a *Args, u *Use) {
	judgeGitLog(a, u)
	if len(a.Operands) == 0 {
		return
	}
	switch verb := a.Operands[0]; {
	case !verb.Static:
		u.Unknown("this may be a subcommand of git reflog", verb)
	case verb.Text == "expire" || verb.Text == "delete" || verb.Text == "drop":
		u.Add(Destroys, "removes entries of the reflog, by which lost commits are found")
		u.Add(Writes, "changes the reflog")
	case verb.Text == "write":
		u.Add(Writes, "changes the reflog")
	}
}

// judgeGitArchive judges the format. Git looks for --output and --remote before it knows the other options, even where
// the value of one should be; so only values in the same word count.
func judgeGitArchive(a *Args, u *Use) {
	judgeGitShow(a, u)
	for _, o := range a.Options {
		if o.Name == "--format" && !o.Has {
			u.Unknown("write --format=NAME in one word", a.Argv[0])
		}
	}
	for _, format := range a.Values("archive") {
		if format.Text != "tar" && format.Text != "zip" || !format.Static {
			u.Add(RunsCode, "this archive format may be a filter that configuration names: "+format.Text)
		}
	}
}

// judgeGitFormats finds placeholders that check signatures, which runs gpg.program.
func judgeGitFormats(a *Args, u *Use) {
	for _, format := range a.Values("gitformat") {
		if !format.Static {
			u.Unknown("a format that is not known may check signatures", format)
		} else if gitSigns(format.Text) {
			u.Add(RunsCode, "%G checks signatures with the program that gpg.program names")
		}
	}
	for _, format := range a.Values("refformat") {
		if !format.Static {
			u.Unknown("a format that is not known may check signatures", format)
		} else if strings.Contains(format.Text, "signature") {
			u.Add(RunsCode, "%(signature) runs the program that gpg.program names")
		}
	}
}

// gitSigns reports whether a format has a placeholder %G…, which a sign or a blank may stand in.
func gitSigns(format string) bool {
	for _, after := range strings.Split(format, "%")[1:] {
		if strings.HasPrefix(strings.TrimLeft(after, "+- "), "G") {
			return true
		}
	}
	return false
}
