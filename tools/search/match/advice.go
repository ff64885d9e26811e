package match

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool"
)

// badPattern converts an error of regexp/syntax into one that names the place and the remedy.
func badPattern(expr string, err error) error {
	bad, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return patternError(expr, err.Error())
	}
	at := strings.Index(expr, bad.Expr)
	part := bad.Expr
	if bad.Code == syntax.ErrMissingParen || bad.Code == syntax.ErrUnexpectedParen {
		if at = unpaired(expr); at >= 0 {
			part = expr[at : at+1]
		}
	}
	where := ""
	if at >= 0 && part != "" {
		where = fmt.Sprintf(" at character %d, %s", utf8.RuneCountInString(expr[:at])+1, quote(part))
	}
	return patternError(expr, string(bad.Code)+where+"; "+advice(bad))
}

func patternError(expr, why string) error {
	return agenttool.Failure(agenttool.InvalidArguments, "bad_pattern", "pattern "+quote(expr)+": "+why).In("/pattern")
}

// advice returns a hint how to write the pattern instead.
func advice(bad *syntax.Error) string {
	lookAround := func(prefix string) bool { return strings.HasPrefix(bad.Expr, prefix) }
	switch bad.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return `for the character itself write \( or \)`
	case syntax.ErrMissingBracket:
		return `for the character itself write \[`
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return `for the character itself write \*, \+, \? or \{`
	case syntax.ErrInvalidRepeatSize:
		return `a repetition counts to 1000 at most; for the character itself write \{`
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return "use fewer or smaller repetitions"
	case syntax.ErrInvalidEscape:
		if len(bad.Expr) > 1 && '1' <= bad.Expr[1] && bad.Expr[1] <= '9' {
			return "back-references are not supported (RE2 syntax)"
		}
		return `for a backslash write \\`
	}
	if slices.ContainsFunc([]string{"(?=", "(?!", "(?<=", "(?<!"}, lookAround) {
		return "look-around is not supported (RE2 syntax): match more and filter the result"
	}
	return "the syntax is RE2's (Go regexp/syntax)"
}

// unpaired returns the index of the first unmatched parenthesis, or -1.
func unpaired(expr string) int {
	var open []int
	for i := 0; i < len(expr); i++ {
		switch expr[i] {
		case '\\':
			i += escaped(expr[i:]) - 1
		case '[':
			width, _ := setWidth(expr[i:])
			i += width - 1
		case '(':
			open = append(open, i)
		case ')':
			if len(open) == 0 {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[0]
}

// escaped returns the width of the escape at the head of expr: two, or all of \Q…\E.
func escaped(expr string) int {
	if !strings.HasPrefix(expr, `\Q`) {
		return 2
	}
	if end := strings.Index(expr, `\E`); end >= 0 {
		return end + 2
	}
	return len(expr)
}

// setWidth returns the width of the character class at the head of expr; all of expr if the class is not closed.
func setWidth(expr string) (width int, closed bool) {
	i := 1
	if strings.HasPrefix(expr[i:], "^") {
		i++
	}
	if strings.HasPrefix(expr[i:], "]") {
		i++
	}
	for ; i < len(expr); i++ {
		switch {
		case expr[i] == '\\':
			i++
		case expr[i] == ']':
			return i + 1, true
		case strings.HasPrefix(expr[i:], "[:"):
			if end := strings.Index(expr[i:], ":]"); end >= 0 {
				i += end + 1
			}
		}
	}
	return len(expr), false
}

// suggest adds the likeliest readings to the error of a pattern.
func suggest(err error, readings []Reading) error {
	bad, ok := errors.AsType[*agenttool.Error](err)
	if !ok || len(readings) == 0 {
		return err
	}
	var words []string
	for _, r := range readings[:min(len(readings), 2)] {
		words = append(words, fmt.Sprintf("%s (%s)", Quote(r.Expr), r.Why))
	}
	more := *bad
	more.Message += ". Did you mean " + strings.Join(words, " or ") + "?"
	return &more
}

// quote quotes part of an input for a message and shortens it if it is long.
func quote(s string) string {
	if runes := []rune(s); len(runes) > 120 {
		s = string(runes[:120]) + "…"
	}
	return Quote(s)
}

// Quote quotes a pattern for a message.
func Quote(s string) string {
	if !strings.ContainsAny(s, "`") && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return "`" + s + "`"
	}
	return fmt.Sprintf("%q", s)
}
