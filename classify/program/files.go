package program

import (
	"slices"
	"strings"
)

// judgeHere is for programs that look at the working directory if no operand names another.
func judgeHere(a *Args, u *Use) {
	if len(a.Operands) == 0 {
		u.Reads = append(u.Reads, Lit("."))
	}
}

// judgeDate tells a format, which begins with +, from a time to be set.
func judgeDate(a *Args, u *Use) {
	for _, w := range a.Values("when") {
		switch {
		case strings.HasPrefix(w.Text, "+"):
		case w.Static:
			u.Add(Writes, "date: an operand that is no format sets the clock")
		default:
			u.Unknown("date: an operand that is not static may set the clock", w)
		}
	}
}

// ddKeys are the operands of dd that mean nothing beyond the copy.
var ddKeys = WordSet("bs ibs obs cbs count skip seek iseek oseek conv iflag oflag status files fillchar speed")

func judgeDD(a *Args, u *Use) {
	for _, w := range a.Operands {
		key, _, ok := strings.Cut(w.Text, "=")
		switch value := part(w, min(len(key)+1, len(w.Text))); {
		case w.Static && (w.Text == "--help" || w.Text == "--version" || w.Text == "--"):
		case !ok || w.Many && !w.Static && !w.Glob:
			u.Unknown("dd: what "+spelled(w)+" does is not known", w)
		case key == "if":
			u.Reads = append(u.Reads, value)
		case key == "of" && value.Static && (value.Text == "/dev/stdout" || value.Text == "/dev/null"):
		case key == "of":
			if value.Static && value.Text == "-" {
				value.Text = "./-"
			}
			u.Writes = append(u.Writes, value)
			u.Add(Destroys, "overwrites what of= names")
		case !ddKeys[key]:
			u.Unknown("dd: the operand "+key+" is not known", w)
		}
	}
}

// judgeSeq finds a sequence without end, or one that is as good as that.
func judgeSeq(a *Args, u *Use) {
	for _, w := range a.Operands {
		text := strings.ToLower(strings.TrimLeft(w.Text, "+-"))
		infinite := strings.HasPrefix("infinity", text) && len(text) >= 3
		large := len(text) > 9 && Digits(text) || strings.ContainsAny(text, "ex") && w.Static // 1e9, 0xfff
		if infinite || large {
			u.Add(LongRunning, "seq "+w.Text+" does not end")
		}
	}
}

// judgeSleep finds a sleep that does not end: for ever, or for a day and more.
func judgeSleep(a *Args, u *Use) {
	for _, w := range a.Values("span") {
		text := strings.ToLower(w.Text)
		number := strings.TrimRight(text, "smhd")
		if strings.HasPrefix(text, "inf") || strings.HasSuffix(text, "d") || Digits(number) && len(number) > 4 {
			u.Add(LongRunning, "sleep: "+w.Text+" is very long")
		}
	}
}

// judgeTree refuses what tree takes apart in its own way: the value of a letter is the next word, even where other
// letters follow in the same one.
func judgeTree(a *Args, u *Use) {
	judgeHere(a, u)
	for _, w := range a.Argv[1:] {
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-' {
			continue
		}
		i := strings.IndexAny(w.Text, "LPIoHT")
		if i > 0 && i < len(w.Text)-1 && !(w.Text[i] == 'L' && Digits(w.Text[i+1:])) {
			u.Unknown("tree: the value of a letter is the next word, and letters follow in "+w.Text, w)
		}
	}
}

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
