package program

import (
	"slices"
	"strings"
)

func judgeMkdir(a *Args, u *Use) { makesDirs(u, a.Values("file")) }

// makesDirs notes that a directory is made at each of some paths that the use writes.
func makesDirs(u *Use, dirs []Word) {
	for i := range u.Writes {
		u.Writes[i].Makes = u.Writes[i].Makes || slices.Contains(dirs, u.Writes[i])
	}
}

// asksOnly reports whether a use only shows its help.
func asksOnly(a *Args, u *Use) bool {
	return u.Understood && a.Has("--help", "--version") && len(a.Operands) == 0
}

func judgeDestroyer(a *Args, u *Use) {
	if asksOnly(a, u) {
		return
	}
	switch a.Argv[0].Text {
	case "shred", "truncate":
		u.Add(Destroys, "overwrites files")
	case "rmdir":
		u.Add(Destroys, "deletes directories")
	default:
		u.Add(Destroys, "deletes files")
	}
}

// judgeCopy: the last operand is written, unless a directory for all was named before; ln and install have their own
// exceptions.
func judgeCopy(a *Args, u *Use) {
	defer judgeBackup(a, u)
	name, words := a.Argv[0].Text, a.Values("source")
	if asksOnly(a, u) || len(words) == 0 {
		return
	}
	if name == "ln" && !a.Has("--force") || name == "install" && a.Has("--directory") {
		u.Effects = append(u.Effects, Adds)
	}
	last := len(words) - 1
	switch {
	case name == "install" && a.Has("--directory"):
		u.Writes = append(u.Writes, words...)
		return
	case a.Has("--target-directory"):
		last = len(words)
	case last == 0 && name == "ln":
		u.Writes = append(u.Writes, lastName(words[0]))
		return
	case words[last].Many && !words[last].Static:
		u.Writes = append(u.Writes, words...)
		return
	}
	u.Reads = append(u.Reads, words[:last]...)
	u.Writes = append(u.Writes, words[last:]...)
}

// judgeMove: later commands read the moved files under another name.
func judgeMove(a *Args, u *Use) {
	defer judgeBackup(a, u)
	words := a.Operands
	if n := len(words); n > 0 && !a.Has("--target-directory") {
		words = words[:n-1]
	}
	u.Reads = append(u.Reads, words...)
}

// judgeBackup: the old file is kept under another name, which depends on existing files. Where the target is a file, and the name
// not numbered, that is the name with the suffix.
func judgeBackup(a *Args, u *Use) {
	if !a.Has("--backup", "-b", "--suffix") {
		return
	}
	suffix := Lit("~")
	for _, o := range a.Options {
		if o.Name == "--suffix" {
			suffix = o.Value
		}
	}
	if n := len(u.Writes); n > 0 && !a.Has("--target-directory", "--directory") && !strings.HasSuffix(u.Writes[n-1].Text, "/") {
		kept := u.Writes[n-1]
		if kept.Static {
			kept.Text += suffix.Text
		}
		kept.Static = kept.Static && suffix.Static
		u.Writes = append(u.Writes, kept)
	}
	u.Add(WritesElsewhere, a.Argv[0].Text+" keeps the old file under another name")
}

// lastName is the name under which ln makes a link in the working directory.
func lastName(w Word) Word {
	if !w.Static {
		return Word{Line: w.Line, Column: w.Column}
	}
	text := w.Text
	for len(text) > 1 && text[len(text)-1] == '/' {
		text = text[:len(text)-1]
	}
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == '/' {
			text = text[i+1:]
			break
		}
	}
	w.Text = text
	return w
}

// judgeChange: the first operand is the mode or the owner, unless an option was that.
func judgeChange(a *Args, u *Use) {
	words := a.Values("change")
	if !a.Has("--reference", "-a") && len(words) > 0 && (words[0].Static || !words[0].Many) {
		words = words[1:]
	}
	u.Writes = append(u.Writes, words...)
	if a.Has("--recursive") && len(words) > 0 {
		u.Add(Writes, "changes all files below a directory")
		if slices.ContainsFunc(words, wholeSystem) {
			u.Add(Destroys, "loses the permissions of a whole system")
		}
	}
}

// wholeSystem reports whether a path is the root, a directory right below it, or a home.
func wholeSystem(w Word) bool {
	dir, all := strings.CutSuffix(w.Text, "/*")
	dir = strings.TrimSuffix(dir, "/")
	if strings.HasPrefix(w.Text, "/") && (dir == "" || strings.LastIndexByte(dir, '/') == 0) {
		return true
	}
	return dir == "~" || dir == "$HOME" || all && dir == ""
}

func judgeMktemp(a *Args, u *Use) {
	if !asksOnly(a, u) && !a.Has("--dry-run") {
		u.Add(Writes, "creates a file or a directory")
	}
}

// judgeSplit: the names that are made begin with a prefix.
func judgeSplit(a *Args, u *Use) {
	if asksOnly(a, u) {
		return
	}
	prefix := Word{Text: "x"}
	if a.Argv[0].Text == "csplit" {
		prefix.Text = "xx"
	}
	for _, w := range a.Values("prefix") {
		prefix = w
		prefix.Static = false
	}
	u.Add(Writes, "creates files")
	u.Writes = append(u.Writes, prefix)
}
