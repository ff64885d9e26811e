package program

import "strings"

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
			if i++; i < len(p.text) && p.text[i] == '\n' {
				return -1
			}
		case c == '[':
			if i = closeBracket(p.text, i+1, view); i < 0 {
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
