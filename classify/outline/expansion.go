package outline

import "strings"

// parameter reads ${…} behind its brace.
func (r *reader) parameter(quoted bool) {
	defer func() { r.depth-- }()
	if !r.deeper() {
		return
	}
	start := r.at
	if c := r.peek(0); (c == '!' || c == '#') && r.peek(1) != '}' {
		r.at++
	}
	if n := identifier(r.text[r.at:r.end]); n > 0 {
		r.at += n
	} else if c := r.peek(0); c >= '0' && c <= '9' || c != 0 && strings.IndexByte("@*#?-$!", c) >= 0 {
		r.at++
	} else if r.at == start {
		r.doubt("the meaning of ${ depends on the version of bash")
		return
	}
	if r.peek(0) == '[' {
		r.index()
	}
	for r.more() && r.text[r.at] != '}' {
		if kinds[r.text[r.at]] == plain || kinds[r.text[r.at]] == blank {
			r.at++
		} else {
			r.inParameter(quoted)
		}
	}
	if !r.more() {
		r.doubt("an expansion is not closed")
		return
	}
	r.unbroken(start)
	r.take(1, Close)
}

// index reads the subscript of a parameter.
func (r *reader) index() {
	for r.at++; r.more() && r.text[r.at] != ']'; {
		switch c := r.text[r.at]; {
		case c == '$':
			r.dollar(true)
		case c == '}' || c == '[' || kinds[c] != plain && c != ' ' && c != '(' && c != ')':
			r.doubt("a subscript is not plain")
		default:
			r.at++
		}
	}
	if r.more() {
		r.at++
	}
}

// inParameter reads a special byte between the braces of ${…}. If the expansion is in double quotes, the meaning of single quotes
// and of $ before quotes differs with the operator and the version of bash.
func (r *reader) inParameter(quoted bool) {
	switch c, next := r.text[r.at], r.peek(1); {
	case quoted && (c == '`' || c == '$' && (next == '\'' || next == '"')):
		r.doubt("versions of bash treat quotes in a quoted expansion differently")
	case quoted && c == '\'':
		r.either()
	case quoted && c == '"':
		r.take(1, Quote)
		r.double(true)
	case (c == '<' || c == '>') && next == '(':
		r.doubt("a substitution in an expansion depends on the version of bash")
	case r.around.expressions > 0 && (c == '(' || c == ')'):
		r.doubt("bash counts this parenthesis as one of the expression around it")
	case c == '$':
		r.dollar(quoted)
	case kinds[c] == operator:
		r.at++
	default:
		r.unquoted(c)
	}
}

// either reads '…' where it makes no difference whether the quotes quote.
func (r *reader) either() {
	n := strings.IndexByte(r.text[r.at+1:r.end], '\'')
	if n < 0 || strings.ContainsAny(r.text[r.at+1:r.at+1+n], "$`\\\"{}<>()\n") {
		r.doubt("single quotes may quote nothing in an expansion that stands in double quotes")
		return
	}
	r.take(1+n, Quote)
	r.take(1, Quote)
}

// arithmeticCommand reads ((…)).
func (r *reader) arithmeticCommand() {
	if r.peek(1) != '(' {
		r.doubt("a parenthesis goes on in a joined line")
		return
	}
	r.take(2, Open)
	r.arithmetic()
}

// arithmetic reads to the )) that closes an expression.
func (r *reader) arithmetic() {
	start := r.at
	r.around.expressions++
	defer func() { r.around.expressions-- }()
	for open := 0; r.more(); {
		switch c := r.text[r.at]; c {
		case '(':
			open++
			r.at++
		case ')':
			if open == 0 {
				r.endArithmetic(start)
				return
			}
			open--
			r.at++
		case '\'', '\\', '#':
			if c == '#' && r.at > start && r.text[r.at-1] >= '0' && r.text[r.at-1] <= '9' {
				r.at++ // 16#ff
				continue
			}
			r.doubt("versions of bash treat quotes in arithmetic differently")
		case '"':
			r.take(1, Quote)
			r.double(false)
		default:
			r.quoted(c)
		}
	}
	r.doubt("an expression is not closed")
}

func (r *reader) endArithmetic(start int) {
	if r.peek(1) != ')' {
		r.doubt("an expression in parentheses may be a command")
		return
	}
	if !balanced(r.text[start:r.at]) {
		r.doubt("bash counts the parentheses of this expression in another way, and may take it for a command")
		return
	}
	r.unbroken(start)
	r.take(2, Close)
}

// balanced reports whether the parentheses of an expression are pairs outside quotes. If they are not, bash runs $((…)) as a substitution
// with a subshell: it finds the end of the expression with the grammar of the substitutions in it, and counts parentheses without.
func balanced(text string) bool {
	if strings.Contains(text, "$'") {
		return false // another quotation without its $
	}
	if strings.IndexByte(text, '(') < 0 && strings.IndexByte(text, ')') < 0 {
		return true
	}
	bare, ok := unquoted(text)
	return ok && pairs(bare) || !ok && pairs(text)
}

// pairs reports whether each parenthesis has its other one.
func pairs(text string) bool {
	open := 0
	for i := 0; i < len(text) && open >= 0; i++ {
		switch text[i] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	return open == 0
}

// unquoted returns a text without quotations and escapes. It is not ok if there are substitutions in double quotes, which may have
// quotations of their own.
func unquoted(text string) (bare string, ok bool) {
	if !strings.ContainsAny(text, "\\'\"") {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
		case '\'', '"':
			start := i + 1
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
			if c == '"' && strings.ContainsAny(text[start:min(i, len(text))], "$`") {
				return "", false
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// brackets reads to the ] that closes $[…].
func (r *reader) brackets() {
	for r.more() && r.text[r.at] != ']' {
		switch c := r.text[r.at]; {
		case c == '$':
			r.dollar(true)
		case kinds[c] == special || c == '[' || c == '\n' || c == '#':
			r.doubt("versions of bash treat quotes in arithmetic differently")
		default:
			r.at++
		}
	}
	if !r.more() {
		r.doubt("an expression is not closed")
		return
	}
	r.take(1, Close)
}

// condition reads to the ]] that closes [[.
func (r *reader) condition() {
	start := r.at
	for r.blanks(); r.more(); r.blanks() {
		c := r.text[r.at]
		switch {
		case c == '\n' || c == '(' || c == ')' || c == '<' && r.peek(1) != '(' || c == '>' && r.peek(1) != '(':
			r.at++
		case c == '&' || c == '|':
			if r.peek(1) != c {
				r.doubt("an operator is not expected here")
			}
			r.at = min(r.at+2, r.end)
		case c == ';':
			r.doubt("an operator is not expected here")
		case c == ']' && r.peek(1) == ']' && (r.at+2 >= r.end || kinds[r.peek(2)] == blank || kinds[r.peek(2)] == operator):
			r.unbroken(start)
			r.take(2, Keyword)
			return
		default:
			r.operand()
		}
	}
	r.doubt("a condition is not closed")
}

// operand reads a word in [[ ]], and if it is =~ the regular expression behind it.
func (r *reader) operand() {
	start := r.at
	r.word()
	if r.peek(0) == '(' && r.at > start {
		r.doubt("a pattern that bash has only with extglob is not understood")
	}
	if r.text[start:r.at] != "=~" || r.outline.Doubt != "" {
		return
	}
	r.blanks()
	for open := 0; r.more(); {
		switch c := r.text[r.at]; {
		case c == '(':
			open++
			r.at++
		case c == ')' && open > 0:
			open--
			r.at++
		case c == '|':
			r.at++
		case kinds[c] == blank && open == 0:
			return
		case kinds[c] == operator || c == '\n':
			r.doubt("where a regular expression ends is not the same for all")
		case kinds[c] == special:
			r.unquoted(c)
		default:
			r.at++
		}
	}
}

// identifier returns how many bytes at the beginning of a text are a name that a variable may have.
func identifier(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' || n > 0 && text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}
