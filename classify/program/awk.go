package program

import "strings"

// awkSpecs describes awk as gawk, mawk, busybox and the original one have it. Where they differ, what is dangerous in
// one of them counts.
func awkSpecs() []*Spec {
	return []*Spec{{
		// Some of them ignore options that they do not know, and take what follows for the program.
		Names: "awk mawk nawk original-awk bwk", Carries: "filter", Operands: "input*", InOrder: true, Judge: judgeAwk,
		Options: "-F:text -v:assignment -f:scriptfile --version",
	}, {
		Names: "gawk", Carries: "filter", Operands: "input*", InOrder: true, Abbreviates: true, Judge: judgeAwk,
		Options: `-F,--field-separator:text -v,--assign:assignment -f,--file:scriptfile -e,--source:script -b,--characters-as-bytes
			-c,--traditional -C,--copyright -d,--dump-variables?:text!writes -D,--debug?:text!runs_code
			-E,--exec:scriptfile!runs_code -g,--gen-pot -h,--help -i,--include:scriptfile!runs_code -I,--trace
			-l,--load:scriptfile!runs_code -L,--lint?:text -M,--bignum -n,--non-decimal-data -N,--use-lc-numeric
			-o,--pretty-print?:text!writes -O,--optimize -p,--profile?:text!writes -P,--posix -r,--re-interval
			-s,--no-optimize -S,--sandbox -t,--lint-old -V,--version --csv -k`,
	}}
}

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
	case len(scripts) > 0, a.oneOf("--file", "--exec", "-f"):
	case len(inputs) > 0:
		scripts, inputs = inputs[:1], inputs[1:]
	case !a.oneOf("--help", "--version", "--copyright"):
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

func awkLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

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
