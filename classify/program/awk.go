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
		sample := w.Shape().Sample
		if !w.Static && len(scripts) == 1 && sample != "" && !strings.Contains(sample, "\n") { // as with any other number
			judgeAwkProgram(sample, w, u)
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

// awkProgram is a program with its effects.
type awkProgram struct {
	lexer    awkLexer
	tokens   []awkToken
	rejected string // why every awk refuses it
	problem  string // why it is not understood

	// What it does besides printing text.
	writes         []string // print > "f"
	reads          []string // getline < "f"
	commands       []string // "c" | getline, print | "c", system("c")
	unknownTargets []string // the same, where the target is not known before it runs, in words
	readsElsewhere bool
	reaches        bool
}

// awkTokenLimit bounds the work for one program.
const awkTokenLimit = 20000

// readAwk finds out what a program does, with one way of reading bracket expressions.
func readAwk(text string, view bracketView) *awkProgram {
	p := &awkProgram{lexer: awkLexer{text: text, view: view, last: awkToken{kind: awkNewline}}}
	if strings.ContainsAny(text, "\x00\r\v\f") {
		p.problem = "there is a control character in the program"
		return p
	}
	newline := awkToken{kind: awkNewline, text: "\n"}
	p.tokens = append(p.tokens, newline)
	for len(p.tokens) < awkTokenLimit {
		t := p.lexer.token()
		if t == newline && p.tokens[len(p.tokens)-1] == newline {
			continue // several are as one
		}
		p.tokens = append(p.tokens, t)
		if t.kind == awkEnd {
			break
		}
	}
	p.rejected, p.problem = p.lexer.rejected, p.lexer.problem
	if len(p.tokens) >= awkTokenLimit {
		p.problem = "the program is too long"
	}
	whole := p.problem == ""
	if p.rejected == "" {
		p.read(whole)
	}
	return p
}

// at returns a token. An index outside the program gives the zero token.
func (p *awkProgram) at(i int) awkToken {
	if i < 0 || i >= len(p.tokens) {
		return awkToken{}
	}
	return p.tokens[i]
}

func (p *awkProgram) fail(problem string) {
	if p.problem == "" {
		p.problem = problem
	}
}

// statement is where in a program something stands.
type statement struct {
	open     []string // the brackets that are open
	printing int      // how many were at the print whose list this is, -1 outside
	getline  int      // how many were at the outermost getline that a < may be of, -1 without
}

// read goes through the tokens, which are the whole program or as much of it as was understood.
func (p *awkProgram) read(whole bool) {
	s := &statement{printing: -1, getline: -1}
	for i := 1; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; t.kind {
		case awkNewline:
			p.newline(s, i)
		case awkWord:
			p.word(s, i)
		case awkMark:
			p.mark(s, i)
		}
		if p.rejected != "" {
			return
		}
	}
	if whole && len(s.open) > 0 {
		p.rejected = s.open[len(s.open)-1] + " has no end"
	}
}

// newline ends a statement, unless the line goes on.
func (p *awkProgram) newline(s *statement, i int) {
	if p.at(i).text == "\n" && continuesLine(p.at(i-1)) {
		return
	}
	switch n := len(s.open); {
	case n == 0 || s.open[n-1] == "{":
		s.printing, s.getline = -1, -1
	case p.at(i).text == "\n":
		p.fail("a line ends in brackets") // some awks ignore that
	}
}

// continuesLine reports whether a token is one after which some awk lets a line go on.
func continuesLine(t awkToken) bool {
	switch t.kind {
	case awkMark:
		return t.text != ")" && t.text != "]" && t.text != "}" && t.text != "++" && t.text != "--" && t.text != "{"
	case awkWord:
		return t.text == "do" || t.text == "else" || t.text == "in"
	}
	return false
}

func (p *awkProgram) word(s *statement, i int) {
	switch p.at(i).text {
	case "print", "printf":
		if n := len(s.open); n > 0 && s.open[n-1] != "{" {
			p.fail("a print is where none can be")
		}
		s.printing = len(s.open)
	case "getline":
		if s.getline < 0 || len(s.open) < s.getline {
			s.getline = len(s.open)
		}
	case "system":
		p.system(i)
	case "ARGV":
		p.arguments(i)
	case "ARGC", "SYMTAB", "FUNCTAB":
		p.fail("the program may change which files are read")
	}
}

func (p *awkProgram) mark(s *statement, i int) {
	switch mark := p.at(i).text; mark {
	case "{", "(", "[":
		s.open = append(s.open, mark)
		if mark == "{" {
			s.printing, s.getline = -1, -1
		}
	case "}", ")", "]":
		p.closing(s, mark)
	case ">", ">>":
		p.greater(s, i)
	case "|":
		p.pipe(s, i)
	case "|&":
		p.unknownTargets = append(p.unknownTargets, "a command or a connection beside the program")
		p.reaches = true
	case "<":
		if s.getline >= 0 {
			p.readFile(i)
		}
	}
}

func (p *awkProgram) closing(s *statement, mark string) {
	opening := "{"
	switch mark {
	case ")":
		opening = "("
	case "]":
		opening = "["
	}
	n := len(s.open)
	if n == 0 || s.open[n-1] != opening {
		p.rejected = "a " + mark + " has no " + opening
		return
	}
	s.open = s.open[:n-1]
	if mark == "}" || s.printing > len(s.open) {
		s.printing = -1
	}
	if mark == "}" || s.getline > len(s.open) {
		s.getline = -1
	}
}

// greater takes a >, which redirects in the list of a print unless it is in brackets, and else compares.
func (p *awkProgram) greater(s *statement, i int) {
	switch {
	case s.printing == len(s.open):
		p.writeFile(i)
	case p.at(i).text == ">>":
		p.fail("a >> is where none can be")
	case p.at(i-1).kind == awkNewline:
		p.fail("a line begins with >")
	}
}

// literal returns the string at i if it is all of an expression that ends there.
func (p *awkProgram) literal(i int, ends ...string) (string, bool) {
	t, after := p.at(i), p.at(i+1)
	if t.kind != awkString || !t.sure {
		return "", false
	}
	if after.kind == awkEnd || after.kind == awkNewline {
		return t.text, true
	}
	for _, end := range ends {
		if after.is(end) {
			return t.text, true
		}
	}
	return "", false
}

func (p *awkProgram) writeFile(i int) {
	name, ok := p.literal(i+1, "}")
	switch {
	case !ok:
		p.unknownTargets = append(p.unknownTargets, "a file whose name it computes")
	case name == "/dev/stdout" || name == "/dev/stderr":
	case strings.HasPrefix(name, "/inet"):
		p.unknownTargets, p.reaches = append(p.unknownTargets, "a connection"), true
	default:
		p.writes = append(p.writes, name)
	}
}

func (p *awkProgram) readFile(i int) {
	name, ok := p.literal(i+1, "}", ")", ">", "==", "!=", "<", ">=", "<=", "&&", "||")
	switch {
	case !ok || strings.HasPrefix(name, "/inet"):
		p.readsElsewhere, p.reaches = true, true
	case name != "-":
		p.reads = append(p.reads, name)
	}
}

// pipe takes a |, which runs a command before a getline or after the list of a print.
func (p *awkProgram) pipe(s *statement, i int) {
	if p.at(i+1).kind == awkWord && p.at(i+1).text == "getline" {
		before := p.at(i - 2)
		begins := before.kind == awkNewline || before.is("{") || before.is("(") || before.is("&&") || before.is("||") ||
			before.is("!")
		if t := p.at(i - 1); t.kind == awkString && t.sure && begins {
			p.commands = append(p.commands, t.text)
			return
		}
		p.unknownTargets = append(p.unknownTargets, "a command that it computes")
		return
	}
	command, ok := p.literal(i+1, "}")
	if !ok || s.printing != len(s.open) {
		p.unknownTargets = append(p.unknownTargets, "a command that it computes")
		return
	}
	p.commands = append(p.commands, command)
}

func (p *awkProgram) system(i int) {
	if command, ok := p.literal(i+2, ")"); ok && p.at(i+1).is("(") && p.at(i+3).is(")") {
		p.commands = append(p.commands, command)
		return
	}
	p.unknownTargets = append(p.unknownTargets, "a command that it computes")
}

// arguments lets a comparison of ARGV[n] pass. Any other use of it may change which files are read.
func (p *awkProgram) arguments(i int) {
	before, after := p.at(i-1), p.at(i+4)
	element := p.at(i+1).is("[") && p.at(i+2).kind == awkNumber && p.at(i+3).is("]")
	compared := before.is("==") || before.is("!=") || after.is("==") || after.is("!=")
	alone := func(t awkToken) bool {
		return t.kind == awkNewline || t.kind == awkEnd || t.is("(") || t.is(")") || t.is("{") || t.is("}") || t.is("&&") ||
			t.is("||") || t.is("!") || t.is("==") || t.is("!=")
	}
	if !element || !compared || !alone(before) || !alone(after) {
		p.fail("the program may change which files are read")
	}
}

// tell adds the effects of the program to a use.
func (p *awkProgram) tell(at Word, u *Use) {
	word := func(text string) Word { return Word{Text: text, Static: true, Line: at.Line, Column: at.Column} }
	for _, name := range p.writes {
		if name == "-" {
			name = "./-"
		}
		u.Writes = append(u.Writes, word(name))
		u.Reasons = append(u.Reasons, because("awk: the program writes "+name))
	}
	for _, name := range p.reads {
		u.Reads = append(u.Reads, word(name))
	}
	for _, text := range p.commands {
		shell := word(text)
		u.Runs = append(u.Runs, Command{Shell: &shell})
		u.Add(RunsCode, "awk: the program runs "+text)
	}
	for _, what := range p.unknownTargets {
		u.Add(Writes, "awk: the program writes to or runs "+what)
		u.Unknown("awk: the program uses "+what, at)
	}
	if p.readsElsewhere {
		u.Add(ReadsElsewhere, "awk: the program reads files that are not known before it runs")
	}
	if p.reaches {
		u.Add(Reaches, "awk: the program may open a connection")
	}
}
