package outline

import "strings"

// argument reads one word.
func (r *reader) argument() {
	r.at = min(r.at, r.end) // a construct cut off by the end of the text may have been skipped as a whole
	start := r.at
	r.mark(start, Word)
	r.word()
	r.at = min(r.at, r.end)
	end := r.at
	for end-2 > start && r.text[end-2:end] == "\\\n" {
		end -= 2
	}
	if end == start {
		r.doubt("a word is missing")
	}
	if c := r.peek(0); (c == '<' || c == '>') && r.text[start] == '{' && r.text[end-1] == '}' {
		r.doubt("a redirection may choose its descriptor")
	}
	if c := r.peek(0); c == '(' {
		r.doubt("a parenthesis is not expected here")
	}
	r.mark(end, End)
}

// word reads to the end of a word.
func (r *reader) word() {
	for r.more() {
		c := r.text[r.at]
		switch kinds[c] {
		case plain:
			r.at++
		case special:
			r.unquoted(c)
		case operator:
			if c != '<' && c != '>' || r.peek(1) != '(' {
				return
			}
			if r.peek(2) == '(' {
				r.doubt("bash may take this for an expression")
				return
			}
			r.take(2, Open)
			r.substituted()
		default:
			return
		}
	}
}

// unquoted reads a construct that begins with a special byte outside quotes.
func (r *reader) unquoted(c byte) {
	switch c {
	case '\\':
		if r.at+1 >= r.end {
			r.doubt("a backslash ends the text")
			return
		}
		r.at += 2
	case '\'':
		r.take(1, Quote)
		r.single(false)
	case '"':
		r.take(1, Quote)
		r.double(false)
	case '`':
		r.backquotes(false)
	case '$':
		r.dollar(false)
	}
}

// single reads to the closing quote behind ' and behind $'.
func (r *reader) single(escapes bool) {
	start := r.at
	for r.at < r.end && r.text[r.at] != '\'' {
		if escapes && r.text[r.at] == '\\' {
			r.at++
		}
		r.at++
	}
	if r.at >= r.end {
		r.at = r.end // a backslash at the end went beyond
		r.doubt("a quotation is not closed")
		return
	}
	r.unbroken(start)
	r.take(1, Quote)
}

// double reads to the closing quote behind ". In an expansion which is itself in quotes, single quotes are in doubt.
func (r *reader) double(expanded bool) {
	start := r.at
	for r.more() && r.text[r.at] != '"' {
		c := r.text[r.at]
		if expanded && c == '\'' {
			r.doubt("single quotes may quote nothing in an expansion that stands in double quotes")
		}
		r.quoted(c)
	}
	if !r.more() {
		r.doubt("a quotation is not closed")
		return
	}
	r.unbroken(start)
	r.take(1, Quote)
}

// quoted reads one byte between double quotes or in a here-document, with the construct that it begins.
func (r *reader) quoted(c byte) {
	switch c {
	case '\\':
		r.at = min(r.at+2, r.end)
	case '`':
		r.backquotes(true)
	case '$':
		r.dollar(true)
	default:
		r.at++
	}
}

// unbroken doubts a newline since a place where here-documents wait for the end of the line.
func (r *reader) unbroken(start int) {
	if (len(r.waiting) > 0 || r.around.documentsWait) && strings.IndexByte(r.text[start:min(r.at, r.end)], '\n') >= 0 {
		r.doubt("a here-document waits for the end of a line that is quoted")
	}
}

// dollar reads $ and the expansion that it begins.
func (r *reader) dollar(quoted bool) {
	switch next := r.peek(1); {
	case next == '(' && r.peek(2) == '(':
		r.take(3, Open)
		r.arithmetic()
	case next == '(' && r.peek(2) == '\\' && r.peek(3) == '\n', next == '\\' && r.ending(1):
		r.doubt("a $ goes on in a joined line")
	case next == '(':
		r.take(2, Open)
		r.substituted()
	case next == '{':
		r.take(2, Open)
		r.parameter(quoted)
	case next == '[':
		r.take(2, Open)
		r.brackets()
	case next == '\'' && !quoted:
		r.take(2, Quote)
		r.single(true)
	case next == '"' && !quoted:
		r.take(2, Quote)
		r.double(false)
	case next == '$':
		r.take(2, Parameter)
	case next == '_', next|0x20 >= 'a' && next|0x20 <= 'z', next >= '0' && next <= '9', next != 0 && strings.IndexByte("@*#?-!", next) >= 0:
		r.take(2, Parameter)
	default:
		r.at++
	}
}

// ending reports whether there are but backslashes from n bytes on to the end of the line.
func (r *reader) ending(n int) bool {
	for r.peek(n) == '\\' {
		n++
	}
	return r.peek(n) == '\n'
}

// substituted reads commands to the ) that closes a substitution.
func (r *reader) substituted() {
	r.nested(func() {
		r.list()
		if r.peek(0) != ')' {
			r.doubt("a substitution is not closed")
		}
	})
	if r.outline.Doubt == "" {
		r.take(1, Close)
	}
}

// nested reads commands inside a word.
func (r *reader) nested(body func()) {
	defer func() { r.depth-- }()
	if !r.deeper() {
		return
	}
	waits, outer := r.waiting, r.around
	r.waiting = nil
	r.around = nesting{
		substitutions: outer.substitutions + 1,
		inExpression:  outer.inExpression || outer.expressions > 0,
		documentsWait: outer.documentsWait || len(waits) > 0,
	}
	body()
	if len(r.waiting) > 0 {
		r.doubt("a here-document has no body")
	}
	r.waiting, r.around = waits, outer
}

// backquotes reads `…`. Backslashes there mean something else, and a comment may hide the closing one.
func (r *reader) backquotes(quoted bool) {
	r.take(1, Open)
	n := strings.IndexByte(r.text[r.at:r.end], '`')
	if n < 0 {
		r.doubt("a substitution is not closed")
		return
	}
	inside := r.text[r.at : r.at+n]
	if strings.IndexByte(inside, '\\') >= 0 || quoted && strings.IndexByte(inside, '"') >= 0 || commented(inside) {
		r.doubt("the meaning of backquotes depends on the quotes around them")
		return
	}
	end := r.end
	r.end = r.at + n
	r.nested(func() {
		r.list()
		if r.at < r.end {
			r.doubt("a command ends where none can")
		}
	})
	r.end = end
	if r.outline.Doubt == "" {
		r.take(1, Close)
	}
}

// commented reports whether a # may begin a comment.
func commented(text string) bool {
	for i := range len(text) {
		if text[i] == '#' && (i == 0 || kinds[text[i-1]] == blank || kinds[text[i-1]] == operator) {
			return true
		}
	}
	return false
}
