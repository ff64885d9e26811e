package program

import "strings"

// judgeAwk joins the program's texts and judges the program and its operands.
func judgeAwk(a *Args, u *Use) {
	scripts, inputs := a.Values("script"), a.Values("input")
	for _, w := range a.Values("scriptfile") {
		u.Reads = append(u.Reads, w)
		u.Unknown("awk: what stands in the program "+spelled(w)+" is not known", w)
	}
	for _, w := range a.Values("assignment") {
		if name, _, ok := strings.Cut(w.Text, "="); !ok || !awkName(name) {
			u.Unknown("awk: "+spelled(w)+" sets no variable", w)
		}
	}
	switch {
	case len(scripts) > 0, a.Has("--file", "--exec", "-f"):
	case len(inputs) > 0:
		scripts, inputs = inputs[:1], inputs[1:]
	case !a.Has("--help", "--version", "--copyright"):
		u.Unknown("awk: there is no program", a.Argv[0])
	}
	var text strings.Builder
	for _, w := range scripts {
		if !w.Static && len(scripts) == 1 && w.Shape().Sample != "" && !strings.Contains(w.Shape().Sample, "\n") { // as with any other number
			judgeAwkProgram(w.Shape().Sample, w, u)
			continue
		}
		if !w.Static {
			u.Unknown("awk: the program is not static", w)
			return
		}
		text.WriteString(w.Text + "\n")
	}
	if text.Len() > 0 {
		judgeAwkProgram(strings.TrimSuffix(text.String(), "\n"), scripts[0], u)
	}
	for _, w := range inputs {
		judgeAwkInput(w, u)
	}
}

// judgeAwkInput tells files from assignments, and from names that gawk takes for a connection.
func judgeAwkInput(w Word, u *Use) {
	name, _, assigns := strings.Cut(w.Text, "=")
	switch {
	case assigns && awkName(name), w.Static && w.Text == "-":
	case strings.HasPrefix(w.Text, "/inet"):
		u.Add(Reaches, "awk connects to "+spelled(w))
	default:
		u.Reads = append(u.Reads, w)
		if !w.Static && strings.HasPrefix("/inet", w.Text) && !(w.Glob && w.Text == "") {
			u.Add(Reaches, "awk may connect to an unknown place")
		}
	}
}

// awkName reports whether s is the name of a variable.
func awkName(s string) bool {
	for i := range len(s) {
		if !awkLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

// judgeAwkProgram judges a program under both readings of a regular expression that awks have: with brackets that hide a slash, and
// without. A reading that is surely rejected before anything runs does not count.
func judgeAwkProgram(text string, at Word, u *Use) {
	views := []bracketView{bracketLiteral, bracketNone}
	if !strings.Contains(text, "[") {
		views = views[:1]
	}
	rejected, accepted := "", false
	for _, view := range views {
		p := readAwk(text, view)
		if p.rejected != "" {
			rejected = p.rejected
			continue
		}
		accepted = true
		if p.problem != "" {
			u.Unknown("awk: "+p.problem, at)
		}
		p.tell(at, u)
	}
	if !accepted {
		u.Unknown("awk: "+rejected, at)
	}
}
