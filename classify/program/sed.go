package program

import "strings"

// judgeSed puts the script together and finds out what it and --in-place do.
func judgeSed(a *Args, u *Use) {
	scripts, files := a.Values("script"), a.Values("input")
	for _, w := range a.Values("scriptfile") {
		u.Reads = append(u.Reads, w)
		u.Unknown("sed: what stands in the script "+spelled(w)+" is not known", w)
	}
	if len(scripts) == 0 && !a.Has("--file") && !asksOnly(a, u) {
		if len(files) == 0 {
			u.Unknown("sed: there is no script", a.Argv[0])
			return
		}
		scripts, files = files[:1], files[1:]
	}
	for _, w := range a.Values("length") {
		if !w.Static || !Digits(w.Text) { // the option of another sed has no value
			u.Unknown("sed: "+spelled(w)+" may be the script", w)
		}
	}
	judgeSedScripts(scripts, u)
	for _, w := range files {
		switch {
		case w.Static && w.Text == "-":
		case a.Has("--in-place"):
			u.Reads = append(u.Reads, w)
			u.Writes = append(append(u.Writes, w), sedBackup(a, w)...)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
	if a.Has("--in-place") {
		u.Add(Writes, "rewrites files in place")
	}
}

// sedBackup returns the name under which sed keeps a file that it changes, if -i has a suffix: a * in it is the name of the file, and
// with a slash it is a path of its own.
func sedBackup(a *Args, file Word) []Word {
	for _, o := range a.Options {
		if o.Name != "--in-place" || !o.Has || o.Value.Static && o.Value.Text == "" {
			continue
		}
		kept := file
		kept.Static = file.Static && o.Value.Static
		if !kept.Static {
			return []Word{{Line: file.Line, Column: file.Column}}
		}
		dir, base := "", file.Text
		if slash := strings.LastIndexByte(base, '/'); slash >= 0 {
			dir, base = base[:slash+1], base[slash+1:]
		}
		name := strings.ReplaceAll(o.Value.Text, "*", base)
		switch {
		case !strings.Contains(o.Value.Text, "*"):
			kept.Text = file.Text + o.Value.Text
		case strings.Contains(name, "/"):
			kept.Text = name
		default:
			kept.Text = dir + name
		}
		return []Word{kept}
	}
	return nil
}

// judgeSedScripts judges the fragments of a script, which are as its lines.
func judgeSedScripts(scripts []Word, u *Use) {
	var text strings.Builder
	for i, w := range scripts {
		if !w.Static && len(scripts) == 1 && sedAddresses(w.Shape().Sample) {
			return
		}
		if !w.Static {
			u.Unknown("sed: the script is not static", w)
			return
		}
		if i > 0 {
			text.WriteByte('\n')
		}
		if i < len(scripts)-1 && strings.HasSuffix(w.Text, `\`) {
			u.Unknown(`sed: a part of the script ends with \`, w)
			return
		}
		text.WriteString(w.Text)
	}
	if len(scripts) == 0 {
		return
	}
	s, problem := parseSed(text.String())
	if problem != "" {
		u.Unknown("sed: "+problem, scripts[0])
	}
	at := scripts[0]
	for _, name := range s.reads {
		u.Reads = append(u.Reads, Word{Text: name, Static: true, Line: at.Line, Column: at.Column})
	}
	for _, name := range s.writes {
		u.Reasons = append(u.Reasons, because("sed: the script writes "+name))
		u.Writes = append(u.Writes, Word{Text: name, Static: true, Line: at.Line, Column: at.Column})
	}
	for _, text := range s.commands {
		shell := Word{Text: text, Static: true, Line: at.Line, Column: at.Column}
		u.Runs = append(u.Runs, Command{Shell: &shell})
	}
	if s.runs {
		u.Add(RunsCode, "sed: the script runs commands")
	}
}

// sedAddresses reports whether a script prints, removes or counts lines and does nothing else, whatever the numbers are that stand in it.
func sedAddresses(sample string) bool {
	return sample != "" && strings.Trim(sample, "0123456789,+~$!;{} \npdq=") == ""
}

// sedScript lists the effects of a script besides editing its input.
type sedScript struct {
	reads    []string // r, R
	writes   []string // w, W, s///w
	commands []string // those that e names
	runs     bool     // e, s///e
}

// parseSed returns the effects of a script. If it is not understood, problem says why, and the result holds the effects up to
// there.
//
// It follows GNU sed, and refuses scripts that other seds read in another way.
func parseSed(script string) (result sedScript, problem string) {
	p := &sedParser{text: script}
	if i := strings.IndexAny(script, "\x00\r\v\f"); i >= 0 {
		return p.result, "there is a control character in the script"
	}
	for p.problem == "" && p.blanks(" \t\n;") {
		p.command()
	}
	if p.problem == "" && p.depth > 0 {
		p.problem = "a { has no }"
	}
	return p.result, p.problem
}

// sedParser is the state of one parseSed.
type sedParser struct {
	text    string
	next    int
	depth   int // of open {
	result  sedScript
	problem string
}

func (p *sedParser) fail(problem string) {
	if p.problem == "" {
		p.problem = problem
	}
}

// blanks skips any of the characters and reports whether there is more.
func (p *sedParser) blanks(of string) bool {
	for p.next < len(p.text) && strings.IndexByte(of, p.text[p.next]) >= 0 {
		p.next++
	}
	return p.next < len(p.text)
}

// peek returns the next byte, 0 at the end.
func (p *sedParser) peek() byte {
	if p.next < len(p.text) {
		return p.text[p.next]
	}
	return 0
}

func (p *sedParser) take() byte {
	c := p.peek()
	if p.next < len(p.text) {
		p.next++
	}
	return c
}

// line takes the rest of the line.
func (p *sedParser) line() string {
	rest := p.text[p.next:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	p.next += len(rest)
	return rest
}

// command takes addresses and a command with all that belongs to it.
func (p *sedParser) command() {
	addressed := p.address(false)
	p.blanks(" \t")
	if addressed && p.peek() == ',' {
		p.next++
		p.blanks(" \t")
		if !p.address(true) {
			p.fail("an address is missing after a comma")
			return
		}
		p.blanks(" \t")
	}
	for p.peek() == '!' {
		p.next++
		p.blanks(" \t")
		addressed = true
	}
	if p.problem == "" {
		p.verb(p.take(), addressed)
	}
}

// address takes one address and reports whether there was one.
func (p *sedParser) address(second bool) bool {
	switch c := p.peek(); {
	case c == '$':
		p.next++
	case isDigit(c):
		p.number()
		if p.peek() == '~' {
			p.next++
			p.number()
		}
	case second && (c == '+' || c == '~'):
		p.next++
		if !isDigit(p.peek()) {
			p.fail("a number is missing in an address")
		}
		p.number()
	case c == '/':
		p.next++
		p.addressRegexp('/')
	case c == '\\':
		p.next++
		p.addressRegexp(p.take())
	default:
		return false
	}
	return true
}

func (p *sedParser) addressRegexp(delimiter byte) {
	p.pattern(delimiter)
	for p.problem == "" && (p.peek() == 'I' || p.peek() == 'M') {
		p.next++
	}
}

func (p *sedParser) number() {
	for isDigit(p.peek()) {
		p.next++
	}
}

// verb reads the arguments of a command, behind its name.
func (p *sedParser) verb(name byte, addressed bool) {
	switch name {
	case '{':
		p.depth++
	case '}':
		p.depth--
		if p.depth < 0 || addressed {
			p.fail("a } is where none can be")
		}
		p.end()
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'z', 'x':
		p.end()
	case 'l', 'L', 'q', 'Q':
		p.blanks(" \t")
		p.number()
		p.end()
	case '#':
		if addressed {
			p.fail("a comment has an address")
		}
		p.line()
	case 'a', 'i', 'c':
		p.insert()
	case ':', 'b', 't', 'T', 'v':
		p.label(name, addressed)
	case 'r', 'R', 'w', 'W':
		p.file(name)
	case 'e':
		p.result.runs = true
		if command := strings.Trim(p.line(), " \t"); command != "" {
			p.result.commands = append(p.result.commands, command)
		}
	case 's':
		p.substitute()
	case 'y':
		p.transliterate()
	default:
		p.fail("the command " + string(rune(name)) + " is not known")
	}
}

// end reads the end of a command: the end of the line, a semicolon, or a closing brace or comment, which it leaves unread.
func (p *sedParser) end() {
	p.blanks(" \t")
	switch p.peek() {
	case 0, '}', '#':
	case '\n', ';':
		p.next++
	default:
		p.fail("something follows a command")
	}
}

// insert takes the text of a, i or c: up to the end of the first line that does not end with a backslash. GNU sed has
// it on the same line too, and there some seds end it at a line that others go on after.
func (p *sedParser) insert() {
	p.blanks(" \t")
	switch p.peek() {
	case 0, '\n':
		p.fail("a text to be added is missing")
		return
	case '\\':
		p.next++
		if p.peek() == '\n' {
			p.next++
		} else if rest := p.next; p.oddText(p.line()) {
			return
		} else {
			p.next = rest
		}
	}
	for p.next < len(p.text) {
		switch p.take() {
		case '\\':
			p.take()
		case '\n':
			return
		}
	}
}

// oddText refuses a text that follows a \ on its line if not all seds take it for the same.
func (p *sedParser) oddText(line string) bool {
	switch {
	case strings.Trim(line, " \t") == "":
		p.fail(`blanks follow a \`)
	case strings.HasSuffix(line, `\`):
		p.fail(`a text that begins with \ ends with one`)
	}
	return p.problem != ""
}

// sedLabel are the characters of labels that all seds agree about.
const sedLabel = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

func (p *sedParser) label(name byte, addressed bool) {
	p.blanks(" \t")
	start := p.next
	p.blanks(sedLabel)
	if name == ':' && (p.next == start || addressed) {
		p.fail("a label is missing")
	}
	p.blanks(" \t")
	if p.peek() == '#' {
		p.fail("a # may belong to a label")
	}
	p.end()
}

// file takes the name of a file, which goes to the end of the line.
func (p *sedParser) file(command byte) {
	p.blanks(" \t")
	name := p.line()
	switch {
	case name == "":
		p.fail("the name of a file is missing")
	case command == 'r' || command == 'R':
		p.result.reads = append(p.result.reads, name)
	case name == "/dev/stdout" || name == "/dev/stderr":
	case name == "-":
		p.result.writes = append(p.result.writes, "./-")
	default:
		p.result.writes = append(p.result.writes, name)
	}
}

// transliterate reads y, where brackets are ordinary characters.
func (p *sedParser) transliterate() {
	delimiter := p.take()
	if !p.delimits(delimiter) {
		return
	}
	p.replacement(delimiter)
	p.replacement(delimiter)
	p.end()
}

// substitute takes s with its flags.
func (p *sedParser) substitute() {
	delimiter := p.take()
	p.pattern(delimiter)
	p.replacement(delimiter)
	for p.problem == "" {
		switch c := p.peek(); {
		case c == 'w':
			p.next++
			p.file('w')
			return
		case c == 'e':
			p.next++
			p.result.runs = true
		case c != 0 && strings.IndexByte("gpiImM", c) >= 0 || isDigit(c):
			p.next++
		default:
			p.end()
			return
		}
	}
}

// sedDelimiters are the characters that may stand around a pattern. Letters and others that some sed gives a meaning of
// their own are not understood.
const sedDelimiters = "/,|#:;@!%~+=_-\"'<>&? .*^$(){}`"

// delimits fails unless the character may stand around a pattern.
func (p *sedParser) delimits(c byte) bool {
	if c == 0 || strings.IndexByte(sedDelimiters, c) < 0 {
		p.fail("the text around a pattern is not understood")
		return false
	}
	return true
}

// pattern takes a regular expression up to the delimiter.
//
// A delimiter in a bracket expression does not end it. Where a bracket expression ends depends on whether a backslash in
// it is an ordinary character, as POSIX has it; if that makes a difference, the pattern is not understood.
func (p *sedParser) pattern(delimiter byte) {
	if !p.delimits(delimiter) {
		return
	}
	switch end := p.close(delimiter, bracketLiteral); {
	case end < 0:
		p.fail("a pattern has no end")
	case end != p.close(delimiter, bracketEscape):
		p.fail(`a bracket expression with a \ may end in two places`)
	default:
		p.next = end + 1
	}
}

// bracketView is how a bracket expression is read.
type bracketView int

const (
	bracketLiteral bracketView = iota // a backslash in it is an ordinary character
	bracketEscape                     // a backslash in it makes the next character an ordinary one
	bracketNone                       // there are none
)

// close returns where the delimiter of a pattern that begins at p.next is, or -1.
func (p *sedParser) close(delimiter byte, view bracketView) int {
	for i := p.next; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == delimiter:
			return i
		case c == '\n':
			return -1
		case c == '\\':
			i++
			if i < len(p.text) && p.text[i] == '\n' {
				return -1
			}
		case c == '[':
			i = closeBracket(p.text, i+1, view)
			if i < 0 {
				return -1
			}
		}
	}
	return -1
}

// closeBracket returns where the ] of a bracket expression is whose inner part begins at i, or -1.
func closeBracket(text string, i int, view bracketView) int {
	if i < len(text) && text[i] == '^' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case ']':
			return i
		case '\n':
			return -1
		case '\\':
			if view == bracketEscape {
				i++
			}
		case '[':
			if i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0 {
				end := strings.Index(text[i+2:], text[i+1:i+2]+"]")
				if end < 0 || strings.Trim(text[i+2:i+2+end], "abcdefghijklmnopqrstuvwxyz-") != "" {
					return -1
				}
				i += 2 + end + 1
			}
		}
	}
	return -1
}

// replacement takes the second half of s, or either of y, up to the delimiter.
func (p *sedParser) replacement(delimiter byte) {
	for p.problem == "" {
		switch c := p.peek(); c {
		case delimiter:
			p.next++
			return
		case 0, '\n':
			p.fail("a replacement has no end")
		case '\\':
			p.next++
			if p.take() == 0 {
				p.fail("a replacement has no end")
			}
		default:
			p.next++
		}
	}
}
