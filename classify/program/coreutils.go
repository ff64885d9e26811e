package program

import "strings"

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
		if strings.HasPrefix("infinity", text) && len(text) >= 3 || len(text) > 9 && Digits(text) || strings.ContainsAny(text, "ex") && text != "" && w.Static {
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
