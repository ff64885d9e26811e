package outline

import "strings"

// list reads commands up to their end, which it leaves unread: the end of the text, a ), a ;; or a keyword.
func (r *reader) list() {
	for r.gap(); r.more() && !r.stops(); r.gap() {
		r.command()
		for r.blanks(); r.more(); r.blanks() {
			op := r.joins()
			if op == "" {
				break
			}
			r.gap()
			if !r.more() || r.stops() {
				r.doubt("a command is missing")
				return
			}
			if (op == "|" || op == "|&") && r.keyword() == "time" {
				r.doubt("behind a pipe, time is a program")
			}
			r.command()
		}
		if !r.more() {
			return
		}
		switch c := r.text[r.at]; {
		case c == '\n':
		case c == '&':
			r.separated()
			r.take(1, Background)
		case c == ';' && !r.stops():
			r.separated()
			r.take(1, Separator)
		case !r.stops():
			r.doubt("a command goes on where none can")
			return
		default:
			return
		}
		if r.joined() {
			r.unjoined()
		}
	}
}

// unjoined doubts an operator that a joined line may continue.
func (r *reader) unjoined() {
	at := r.at
	for r.joined() {
		r.at += 2
	}
	if c := r.peek(0); c != 0 && (kinds[c] == operator || c == '-') {
		r.doubt("an operator goes on in a joined line")
	}
	r.at = at
}

// separated raises a doubt between two commands in a substitution behind a here-document. Bash 5.2 prints the commands of a
// substitution and runs the printed text; behind a here-document it forgets to print a ;, and makes one command of two.
func (r *reader) separated() {
	if r.around.hasDocument {
		r.doubt("bash 5.2 may join two commands behind a here-document in a substitution")
	}
}

// joins reads an operator that joins two commands, "" if there is none next.
func (r *reader) joins() (op string) {
	c, next := r.text[r.at], r.peek(1)
	switch {
	case c == '|' && (next == '|' || next == '&'), c == '&' && next == '&':
		op = r.text[r.at : r.at+2]
	case c == '|':
		op = "|"
	default:
		return ""
	}
	if op == "||" || op == "&&" {
		r.separated()
	}
	r.take(len(op), Operator)
	if r.joined() {
		r.unjoined()
	}
	return op
}

// stops reports whether what is next ends a list.
func (r *reader) stops() bool {
	switch r.text[r.at] {
	case ')':
		return true
	case ';':
		return r.peek(1) == ';' || r.peek(1) == '&'
	case 't', 'd', 'f', 'e', '}':
		switch r.keyword() {
		case "then", "do", "done", "fi", "elif", "else", "esac", "}":
			return true
		}
	}
	return false
}

// keyword returns the word that is next, if it is a keyword where a command begins.
func (r *reader) keyword() string {
	n := 0
	for n < len("function")+1 && r.at+n < r.end && kinds[r.text[r.at+n]] == plain {
		n++
	}
	if c := r.peek(n); c != 0 && kinds[c] != blank && kinds[c] != operator {
		if n < len("function")+1 && c == '\\' && r.peek(n+1) == '\n' {
			r.doubt("a joined line continues the name of a command")
		}
		return ""
	}
	switch word := r.text[r.at : r.at+n]; word {
	case "if", "then", "elif", "else", "fi", "while", "until", "for", "select", "do", "done", "case", "esac", "function", "{", "}", "!",
		"[[", "time", "coproc":
		return word
	}
	return ""
}

// expect reads a keyword, which must be next.
func (r *reader) expect(word string) {
	r.gap()
	if !r.more() || r.keyword() != word {
		r.doubt("no " + word + " where one must be")
		return
	}
	r.take(len(word), Keyword)
}

// command reads one command without what joins it to others.
func (r *reader) command() {
	defer func() { r.depth-- }()
	if !r.deeper() {
		return
	}
	if r.text[r.at] == '(' {
		if r.peek(1) == '(' || r.peek(1) == '\\' {
			r.arithmeticCommand()
		} else {
			r.subshell()
		}
		r.redirects()
		return
	}
	word := r.keyword()
	if word == "" {
		r.simple()
		return
	}
	if word == "!" || word == "time" {
		r.before(word)
		return
	}
	r.take(len(word), Keyword)
	r.compound(word)
	r.redirects()
}

// before reads a keyword before a command, and the command.
func (r *reader) before(word string) {
	if word == "time" {
		r.mark(r.at, Keyword)
	}
	r.at += len(word)
	r.blanks()
	if word == "time" && r.peek(0) == '-' && r.peek(1) == 'p' && kinds[r.peek(2)] == blank {
		r.at += 2
		r.blanks()
	}
	if word == "time" && r.peek(0) == '-' {
		r.doubt("the options of time are not the same for all")
		return
	}
	if !r.more() || r.text[r.at] == '\n' || r.text[r.at] == ';' || r.text[r.at] == '|' || r.text[r.at] == '&' || r.stops() {
		r.doubt("a command is missing")
		return
	}
	r.command()
}

func (r *reader) compound(word string) {
	switch word {
	case "{":
		r.list()
		r.expect("}")
	case "if":
		r.ifs()
	case "while", "until":
		r.list()
		r.expect("do")
		r.list()
		r.expect("done")
	case "for", "select":
		r.loop()
	case "case":
		r.cases()
	case "function":
		r.blanks()
		r.function()
	case "[[":
		r.condition()
	case "coproc":
		if r.around.substitutions > 0 {
			r.doubt("bash 5.2 prints the text of a substitution anew before it runs, with another name for a coprocess")
			return
		}
		r.blanks()
		if !r.more() || kinds[r.text[r.at]] == operator && r.text[r.at] != '(' {
			r.doubt("a command is missing")
			return
		}
		r.command()
	default:
		r.doubt(word + " is not expected here")
	}
}

func (r *reader) subshell() {
	r.take(1, Group)
	r.list()
	if r.peek(0) != ')' {
		r.doubt("a parenthesis is not closed")
		return
	}
	r.take(1, Group)
}

func (r *reader) ifs() {
	for {
		r.list()
		r.expect("then")
		r.list()
		if !r.more() {
			break
		}
		word := r.keyword()
		if word == "elif" {
			r.take(len(word), Keyword)
			continue
		}
		if word == "else" {
			r.take(len(word), Keyword)
			r.list()
		}
		break
	}
	r.expect("fi")
}

// loop reads for and select behind their keyword.
func (r *reader) loop() {
	r.blanks()
	if strings.HasPrefix(r.text[r.at:r.end], "((") {
		r.arithmeticCommand()
		r.blanks()
		if r.peek(0) == ';' {
			r.at++
		}
	} else {
		r.items()
	}
	r.gap()
	if r.more() && r.text[r.at] == '{' {
		r.take(1, Keyword)
		r.list()
		r.expect("}")
		return
	}
	r.expect("do")
	r.list()
	r.expect("done")
}

// items reads the variable of a loop and its words.
func (r *reader) items() {
	if n := identifier(r.text[r.at:r.end]); n == 0 || kinds[r.peek(n)] != blank && r.peek(n) != ';' {
		r.doubt("the variable of a loop has no plain name")
		return
	}
	r.argument()
	r.gap()
	if strings.HasPrefix(r.text[r.at:r.end], "in") && (kinds[r.peek(2)] == blank || r.peek(2) == ';') {
		r.take(2, Keyword)
		for r.blanks(); r.more() && r.text[r.at] != '\n' && r.text[r.at] != ';'; r.blanks() {
			r.argument()
		}
	}
	if r.peek(0) == ';' {
		r.at++
	}
}

func (r *reader) cases() {
	if r.around.inExpression {
		r.doubt("bash counts the parentheses of this case as those of the expression around it")
	}
	r.blanks()
	r.argument()
	r.gap()
	if !strings.HasPrefix(r.text[r.at:r.end], "in") || kinds[r.peek(2)] != blank {
		r.doubt("no in where one must be")
		return
	}
	r.take(2, Keyword)
	for r.gap(); r.more(); r.gap() {
		if r.keyword() == "esac" {
			break
		}
		r.patterns()
		r.list()
		if !r.more() || r.text[r.at] != ';' {
			break
		}
		r.mark(r.at, Operator)
		r.at += 2
		if r.peek(0) == '&' && r.text[r.at-1] == ';' {
			r.at++
		}
		if r.joined() {
			r.unjoined()
		}
	}
	r.expect("esac")
}

// patterns reads those of one case, and the ) behind them.
func (r *reader) patterns() {
	if r.peek(0) == '(' {
		r.at++
		r.blanks()
	}
	for r.more() {
		r.argument()
		r.blanks()
		c := r.peek(0)
		r.at++
		if c == ')' {
			return
		}
		if c != '|' {
			r.doubt("a pattern ends where none can")
			return
		}
		r.blanks()
	}
}

// function reads the definition of one from its name.
func (r *reader) function() {
	r.mark(r.at, Function)
	start := r.at
	r.word()
	if r.at == start || strings.IndexByte(r.text[start:r.at], '\\') >= 0 {
		r.doubt("a function has no plain name")
		return
	}
	r.blanks()
	if r.peek(0) == '(' {
		r.at++
		r.blanks()
		if r.peek(0) != ')' {
			r.doubt("a parenthesis is not expected here")
			return
		}
		r.at++
	}
	r.gap()
	if !r.more() || r.text[r.at] != '(' && r.keyword() == "" {
		r.doubt("a function has no body")
		return
	}
	r.command()
}
