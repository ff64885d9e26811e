package program

import "strings"

// awkKind is a kind of token.
type awkKind int

const (
	awkEnd     awkKind = iota // of the program
	awkNewline                // also a semicolon
	awkWord                   // a name or a keyword
	awkNumber
	awkString
	awkRegexp
	awkMark // an operator or a bracket
)

// awkToken is a token of a program.
type awkToken struct {
	kind awkKind
	text string // as written; of a string what it stands for
	sure bool   // of a string: text is the same in all awks
}

func (t awkToken) is(mark string) bool { return t.kind == awkMark && t.text == mark }

// awkLexer splits a program into tokens.
type awkLexer struct {
	text     string
	next     int
	view     bracketView
	last     awkToken
	parens   []bool // of the open parentheses: they belong to if, while or for
	control  bool   // the parenthesis closed last did
	rejected string // why every awk refuses the program
	problem  string // why it is not understood
}

// awkMarks are the operators, longest first.
var awkMarks = []string{
	"**=", "|&", "||", "&&", "==", "!=", "<=", ">=", ">>", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**",
	"{", "}", "(", ")", "[", "]", ",", "+", "-", "*", "/", "%", "^", "!", ">", "<", "|", "?", ":", "~", "$", "=",
}

// token takes the next token.
func (l *awkLexer) token() awkToken {
	l.skip()
	t := l.scan()
	if l.rejected != "" || l.problem != "" {
		t = awkToken{}
	}
	l.brackets(t)
	l.last = t
	return t
}

// skip takes blanks, continued lines and comments.
func (l *awkLexer) skip() {
	for l.next < len(l.text) {
		switch c := l.text[l.next]; {
		case c == ' ' || c == '\t':
			l.next++
		case c == '\\' && strings.HasPrefix(l.text[l.next:], "\\\n"):
			l.next += 2
		case c == '#':
			if end := strings.IndexByte(l.text[l.next:], '\n'); end >= 0 {
				l.next += end
			} else {
				l.next = len(l.text)
			}
		default:
			return
		}
	}
}

func (l *awkLexer) scan() awkToken {
	if l.next >= len(l.text) {
		return awkToken{}
	}
	start := l.next
	switch c := l.text[start]; {
	case c == '\n' || c == ';':
		l.next++
		return awkToken{kind: awkNewline, text: string(c)}
	case c == '"':
		return l.quoted()
	case c == '/' && l.slash() == slashUnclear:
		l.problem = "a slash may divide or begin a regular expression"
		return awkToken{}
	case c == '/' && l.slash() == slashRegexp:
		return l.regexp()
	case awkLetter(c):
		l.while(func(c byte) bool { return awkLetter(c) || isDigit(c) })
		return awkToken{kind: awkWord, text: l.text[start:l.next]}
	case isDigit(c), c == '.' && start+1 < len(l.text) && isDigit(l.text[start+1]):
		return l.numeral()
	}
	for _, mark := range awkMarks {
		if strings.HasPrefix(l.text[start:], mark) {
			l.next += len(mark)
			return awkToken{kind: awkMark, text: mark}
		}
	}
	l.problem = "what begins with " + strings.ToValidUTF8(l.text[start:start+1], "?") + " is not understood"
	return awkToken{}
}

func (l *awkLexer) while(belongs func(byte) bool) {
	for l.next < len(l.text) && belongs(l.text[l.next]) {
		l.next++
	}
}

// numeral takes a decimal number; letters right after it are read in different ways.
func (l *awkLexer) numeral() awkToken {
	start := l.next
	digit := func(c byte) bool { return isDigit(c) || c == '.' }
	l.while(digit)
	if rest := l.text[l.next:]; rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = strings.TrimLeft(rest[1:], "+-")
		if rest != "" && isDigit(rest[0]) {
			l.next = len(l.text) - len(rest)
			l.while(isDigit)
		}
	}
	if l.next < len(l.text) && awkLetter(l.text[l.next]) {
		l.problem = "letters follow a number"
	}
	return awkToken{kind: awkNumber, text: l.text[start:l.next]}
}

// quoted takes a string.
func (l *awkLexer) quoted() awkToken {
	t := awkToken{kind: awkString, sure: true}
	var value strings.Builder
	for l.next++; l.next < len(l.text); l.next++ {
		switch c := l.text[l.next]; c {
		case '"':
			l.next++
			t.text = value.String()
			return t
		case '\n':
			l.rejected = "a string has no end on its line"
			return t
		case '\\':
			l.next++
			if l.next < len(l.text) {
				t.sure = awkEscape(l.text[l.next], &value) && t.sure
			}
		default:
			value.WriteByte(c)
		}
	}
	l.rejected = "a string has no end"
	return t
}

// awkEscape adds what a backslash before c stands for, and reports whether all awks agree about it.
func awkEscape(c byte, value *strings.Builder) bool {
	switch c {
	case '"', '\\', '/':
		value.WriteByte(c)
	case 'n':
		value.WriteByte('\n')
	case 't':
		value.WriteByte('\t')
	default:
		return false
	}
	return true
}

// regexp takes a regular expression between slashes. With brackets that hide a slash, it must be one about which all
// awks that know such brackets agree.
func (l *awkLexer) regexp() awkToken {
	start := l.next
	end := awkSlash(l.text, start+1, bracketNone)
	if l.view != bracketNone {
		blind := end
		end = awkSlash(l.text, start+1, bracketLiteral)
		escaped := awkSlash(l.text, start+1, bracketEscape)
		if end != escaped || end != blind && !awkClean(l.text[start+1:max(end, start+1)]) {
			l.problem = "a bracket expression is not understood"
			return awkToken{}
		}
	}
	if end < 0 {
		l.rejected = "a regular expression has no end on its line"
		return awkToken{}
	}
	l.next = end + 1
	return awkToken{kind: awkRegexp, text: l.text[start:l.next]}
}

// awkSlash returns where a regular expression that begins at i ends, or -1.
func awkSlash(text string, i int, view bracketView) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c == '/':
			return i
		case c == '\n':
			return -1
		case c == '\\':
			i++
		case c == '[' && view != bracketNone:
			i = closeBracket(text, i+1, view)
			if i < 0 {
				return -1
			}
		}
	}
	return -1
}

// awkClean reports whether the brackets of a regular expression are simple ones, and paired.
func awkClean(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return false
		case '[':
			inner := strings.TrimPrefix(text[i+1:], "^")
			if inner == "" || inner[0] == ']' || inner[0] == '[' && !strings.HasPrefix(inner, "[:") {
				return false
			}
			i = closeBracket(text, i+1, bracketLiteral)
			if i < 0 {
				return false
			}
		}
	}
	return true
}

// Meanings of a slash.
const (
	slashDivides = iota
	slashRegexp
	slashUnclear
)

// slash says what a slash after the last token is, in all awks alike.
func (l *awkLexer) slash() int {
	switch t := l.last; t.kind {
	case awkNumber:
		return slashDivides
	case awkString, awkRegexp:
		return slashUnclear
	case awkWord:
		switch {
		case awkBeforeRegexp[t.text]:
			return slashRegexp
		case awkKeywords[t.text]:
			return slashUnclear
		}
		return slashDivides
	case awkMark:
		switch {
		case t.text == ")" && !l.control || t.text == "]":
			return slashDivides
		case t.text == "++" || t.text == "--":
			return slashUnclear
		}
	}
	return slashRegexp
}

// awkBeforeRegexp are the words behind which a slash begins a pattern; awkControls those with a condition in parentheses.
var (
	awkBeforeRegexp = WordSet("print printf return exit do else")
	awkControls     = WordSet("if while for")
)

// awkKeywords are the other words that are no variables in some awk.
var awkKeywords = WordSet(`BEGIN END BEGINFILE ENDFILE function func if while for break continue next nextfile delete in
 getline length switch case default`)

// brackets tracks which parentheses belong to a statement.
func (l *awkLexer) brackets(t awkToken) {
	switch {
	case t.is("("):
		word := l.last.kind == awkWord
		l.parens = append(l.parens, word && awkControls[l.last.text])
	case t.is(")"):
		n := len(l.parens)
		if n == 0 {
			l.rejected = "a ) has no ("
			return
		}
		l.control = l.parens[n-1]
		l.parens = l.parens[:n-1]
	}
}

func awkLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
