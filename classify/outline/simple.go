package outline

import "strings"

// simple reads a simple command, or the definition of a function.
func (r *reader) simple() {
	first := r.at
	named := false    // its name was read
	declares := false // assignments may follow its name
	for r.blanks(); r.more(); r.blanks() {
		if r.redirect() {
			continue
		}
		c := r.text[r.at]
		switch {
		case c == '\n' || c == ';' || c == '|' || c == '&' || c == ')':
			if r.at == first {
				r.doubt("a command is missing")
			}
			return
		case c == '(':
			r.doubt("a parenthesis is not expected here")
		case (!named || declares) && r.assigns():
			r.assignment()
		case named:
			r.argument()
		default:
			if r.at == first && r.defines() {
				r.function()
				return
			}
			named = true
			r.mark(r.at, Name)
			start := r.at
			r.argument()
			switch r.text[start:r.at] {
			case "declare", "typeset", "local", "export", "readonly":
				declares = true
			}
		}
	}
}

// defines reports whether a plain word is next, and a ( behind it.
func (r *reader) defines() bool {
	n := 0
	for kinds[r.peek(n)] == plain && r.at+n < r.end {
		n++
	}
	for r.peek(n) == ' ' || r.peek(n) == '\t' {
		n++
	}
	return r.peek(n) == '('
}

// redirects reads those behind a compound command.
func (r *reader) redirects() {
	for r.blanks(); r.more() && r.redirect(); r.blanks() {
	}
}

// redirect reads a redirection, if one is next.
func (r *reader) redirect() bool {
	n := 0
	for c := r.peek(n); c >= '0' && c <= '9'; c = r.peek(n) {
		n++
	}
	if n > 0 && r.peek(n) == '\\' && r.peek(n+1) == '\n' {
		r.doubt("a joined line continues a number")
		return false
	}
	length := redirection(r.text[r.at+n : r.end])
	if length == 0 || n > 0 && r.peek(n) == '&' {
		return false
	}
	if r.peek(n+1) == '(' && length == 1 {
		if n > 0 {
			r.doubt("the meaning of a number before a substitution depends on the version of bash")
		}
		return false
	}
	r.at += n
	at, op := r.at, r.text[r.at:r.at+length]
	r.take(length, Redirect)
	if r.joined() {
		r.unjoined()
	}
	r.blanks()
	if op == "<<" || op == "<<-" {
		r.waits(at, op == "<<-")
		return true
	}
	from := r.at
	r.argument()
	if (op == ">&" || op == "<&") && closes(r.text[from:r.at]) {
		r.doubt("bash ends this redirection at the -, and another word follows")
	}
	return true
}

// closes reports whether the target of a duplication begins with a descriptor and a -, and goes on.
func closes(target string) bool {
	target = strings.TrimLeft(target, "0123456789")
	return len(target) > 1 && target[0] == '-'
}

// redirection returns the length of the redirection operator at the beginning of a text, 0 if there is none.
func redirection(text string) int {
	if text == "" || text[0] != '<' && text[0] != '>' && text[0] != '&' {
		return 0
	}
	for _, op := range [...]string{"&>>", "<<<", "<<-", "&>", ">>", ">&", ">|", "<<", "<&", "<>", "<", ">"} {
		if strings.HasPrefix(text, op) {
			return len(op)
		}
	}
	return 0
}

// assigns reports whether the word that is next begins like an assignment: a=, a+=, a[1]=.
func (r *reader) assigns() bool {
	n := identifier(r.text[r.at:r.end])
	if n == 0 {
		return false
	}
	if r.peek(n) == '[' {
		n += r.subscript(n)
	}
	if r.peek(n) == '+' {
		n++
	}
	return r.peek(n) == '='
}

// subscript returns how long the subscript n bytes on is.
func (r *reader) subscript(n int) int {
	for i := n + 1; ; i++ {
		switch c := r.peek(i); {
		case c == ']':
			return i + 1 - n
		case c != '_' && c != '@' && c != '*' && c != '$' && c != '-' && c != '+' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9'):
			r.doubt("a subscript is not plain")
			return 0
		}
	}
}

// assignment reads one that assigns has seen.
func (r *reader) assignment() {
	start := r.at
	r.mark(start, Word)
	r.at += strings.IndexByte(r.text[start:r.end], '=') + 1
	switch {
	case r.peek(0) == '(':
		r.array()
	case r.joined():
		r.doubt("a joined line continues an assignment")
	default:
		r.word()
	}
	if c := r.peek(0); c == '(' || c != 0 && kinds[c] != blank && kinds[c] != operator {
		r.doubt("an assignment goes on where none can")
	}
	end := r.at
	for end-2 > start && r.text[end-2:end] == "\\\n" {
		end -= 2
	}
	r.mark(end, End)
}

// array reads the words of (…) in an assignment.
func (r *reader) array() {
	defer func() { r.depth-- }()
	if !r.deeper() {
		return
	}
	r.take(1, Group)
	start := r.at
	for r.blanks(); r.more() && r.text[r.at] != ')'; r.blanks() {
		if r.text[r.at] == '\n' {
			r.at++
			continue
		}
		r.element()
	}
	r.unbroken(start)
	if r.peek(0) != ')' {
		r.doubt("an array is not closed")
		return
	}
	r.take(1, Group)
}

// element reads one of an array: x, [1]=x.
func (r *reader) element() {
	if r.text[r.at] != '[' {
		r.argument()
		return
	}
	start := r.at
	n := r.subscript(0)
	if r.peek(n) != '=' {
		r.argument()
		return
	}
	r.mark(start, Word)
	r.at += n + 1
	r.word()
	r.mark(r.at, End)
}
