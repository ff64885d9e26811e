package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// perlEscapes maps escapes of Perl, GNU and PostgreSQL that RE2 lacks to patterns that match the same lines.
var perlEscapes = map[string]string{
	`\h`: `[ \t]`, `\H`: `[^ \t]`, `\N`: `[^\n]`, `\e`: `\x1b`, `\K`: ``, `\G`: ``, `\X`: `\PM\pM*`, `\y`: `\b`, `\Y`: `\B`, `\Z`: `$`, `\R`: `$`,
}

// perlMembers are those that may be members of a class.
var perlMembers = strings.NewReplacer(`\\`, `\\`, `\h`, ` \t`, `\e`, `\x1b`)

// posixClasses are Java's names of POSIX's classes, \p{Alpha}.
var posixClasses = []string{"Alpha", "Digit", "Alnum", "Upper", "Lower", "Punct", "Space", "XDigit", "Cntrl", "Graph", "Print", "Blank", "ASCII"}

// perl replaces constructs of Perl's dialect and its relatives that RE2 lacks. If RE2 can express all of them, the reading is
// valid; otherwise it matches more lines, and Why says so.
func perl(tokens []token, multiline bool) []Reading {
	tokens = slices.Clone(tokens)
	r := Reading{valid: true}
	note := func(construct, why string) {
		if r.Why == "" {
			r.Why = "RE2 has no `" + construct + "`" + why
		}
	}
	for i := range tokens {
		t := &tokens[i]
		switch {
		case t.kind == escape && (t.text == `\Z` || t.text == `\R`) && multiline:
			note(t.text, "")
			t.text = map[string]string{`\Z`: `\n?\z`, `\R`: `\n`}[t.text] // \r\n is read as \n
		case t.kind == escape && isReference(t.text):
			note(t.text, "; this matches more")
			r.guess, r.valid = true, false
			t.text = "(?:" + referred(tokens, i, t.text) + ")"
		case t.kind == escape && strings.HasPrefix(t.text, `\p{`) && slices.Contains(posixClasses, strings.Trim(t.text[2:], "{}")):
			note(t.text, "")
			t.text = "[[:" + strings.ToLower(strings.Trim(t.text[2:], "{}")) + ":]]"
		case t.kind == escape && strings.HasPrefix(t.text, `\u`) && len(t.text) > 2:
			note(t.text, "")
			r.guess = true // it may stand in the file like this
			t.text = `\x{` + strings.Trim(t.text[2:], "{}") + `}`
		case t.kind == escape:
			if other, ok := perlEscapes[t.text]; ok {
				note(t.text, "")
				t.text = other
			}
		case t.text == "[[:<:]]" || t.text == "[[:>:]]":
			note(t.text, "")
			t.text = `\b`
		case t.kind == class && perlMembers.Replace(t.text) != t.text:
			note(t.text, "")
			t.text = perlMembers.Replace(t.text)
		case t.kind == repetition && len(t.text) > 1 && strings.HasSuffix(t.text, "+") && !begins(tokens, i):
			note(t.text, ", which does not give back; this does")
			r.guess, r.valid = true, false
			t.text = t.text[:len(t.text)-1]
		case t.text == "(?>":
			note(t.text, ", which does not give back; this does")
			t.text = "(?:"
		case t.text == "(?|":
			note(t.text, "")
			t.text = "(?:"
		case t.kind == whole && strings.HasPrefix(t.text, "(?#"):
			note("(?#", "")
			t.text = ""
		case t.kind == whole && strings.HasPrefix(t.text, "(?P="):
			note(t.text, "; this matches more")
			r.guess, r.valid = true, false
			t.text = "(?:" + referred(tokens, i, t.text) + ")"
		}
	}
	tokens, looked, exact := lookAround(tokens)
	switch {
	case looked != "" && exact:
		note(looked, ", this finds the same lines")
	case looked != "":
		note(looked, "; this matches more")
		r.guess, r.valid = true, false
	}
	if r.Why == "" {
		return nil
	}
	r.Expr = written(tokens)
	return []Reading{r}
}

// isReference reports whether an escape refers to a group before it.
func isReference(text string) bool {
	return len(text) > 1 && ('1' <= text[1] && text[1] <= '9' || text[1] == 'k' || text[1] == 'g')
}

// referred returns the pattern of the group that a reference at i means; ".*" if there is none.
func referred(tokens []token, i int, reference string) string {
	name := strings.Trim(strings.TrimLeft(strings.TrimPrefix(reference, "(?P="), `\kg`), `{}<>'()`)
	number, _ := strconv.Atoi(name)
	for at, groups := 0, 0; at < i; at++ {
		t := tokens[at]
		named := t.kind == opening && strings.HasPrefix(t.text, "(?") && strings.HasSuffix(t.text, "<"+name+">")
		if t.kind == opening && (t.text == "(" || strings.HasSuffix(t.text, ">") && t.text != "(?>") {
			groups++
		}
		if named || t.text != "(?:" && t.kind == opening && groups == number && number > 0 {
			end := closingOf(tokens, at)
			if end < 0 || end > i {
				break
			}
			group := written(tokens[at+1 : end])
			if len(group) > maxRead { // references in references would grow without bound
				break
			}
			return group
		}
	}
	return ".*"
}

// closingOf returns the index of the parenthesis that closes the group that begins at i, or -1.
func closingOf(tokens []token, i int) int {
	depth := 0
	for at := i; at < len(tokens); at++ {
		switch tokens[at].kind {
		case opening:
			depth++
		case closing:
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return -1
}

// lookAround replaces look-ahead at the end of a pattern or alternative, and look-behind at its beginning, by what
// finds the same lines. It removes others; then exact is false. found is the beginning of the first one, "" if there is
// none.
func lookAround(tokens []token) (out []token, found string, exact bool) {
	exact = true
	depth := 0
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.text {
		case "(?=", "(?!", "(?<=", "(?<!":
		default:
			switch t.kind {
			case opening:
				depth++
			case closing:
				depth--
			}
			out = append(out, t)
			continue
		}
		end := closingOf(tokens, i)
		if end < 0 {
			return out, t.text, false
		}
		if found == "" {
			found = t.text
		}
		inner := tokens[i+1 : end]
		behind := strings.HasPrefix(t.text, "(?<")
		edge := depth == 0 && (behind && begins(tokens, i) || !behind && ends(tokens, end))
		same, ok := "", false
		switch {
		case !edge:
		case strings.HasSuffix(t.text, "="):
			same, ok = "(?:"+written(inner)+")", true
		default:
			same, ok = unlessNext(inner, behind)
		}
		if ok {
			out = append(out, token{opening, same})
		}
		exact = exact && ok
		i = end
	}
	return out, found, exact
}

// unlessNext returns a pattern for a place where text does not follow or, with behind, does not precede. ok is false unless text
// is a single class or consists of plain characters.
func unlessNext(text []token, behind bool) (pattern string, ok bool) {
	var not []string // the class of all but each of the characters
	for _, t := range text {
		n, ok := negated(t)
		if !ok || len(text) > 1 && (t.kind == class || t.text == "." || isClassEscape(t.text)) {
			return "", false
		}
		not = append(not, n)
	}
	if len(not) == 0 {
		return "", false
	}
	out := ""
	if behind {
		for i := range text {
			if i > 0 {
				out = "|" + out + text[i].text
			}
			out = fmt.Sprintf("(?:^|%s%s)", not[i], out)
		}
		return out, true
	}
	for i := len(text) - 1; i >= 0; i-- {
		if out != "" {
			out = "|" + text[i].text + out
		}
		out = fmt.Sprintf("(?:$|%s%s)", not[i], out)
	}
	return out, true
}

func isClassEscape(text string) bool {
	return len(text) > 1 && text[0] == '\\' && strings.ContainsRune("wWdDsSpP", rune(text[1]))
}

// negated returns the class of all characters but those of t; ok is false if t is not about one character.
func negated(t token) (_ string, ok bool) {
	switch {
	case t.kind == class && strings.HasPrefix(t.text, "[^"):
		return "[" + t.text[2:], true
	case t.kind == class:
		return "[^" + t.text[1:], true
	case t.kind == escape && isClassEscape(t.text):
		swapped := t.text[1] ^ ('a' - 'A')
		return `\` + string(swapped) + t.text[2:], true
	case t.kind == escape && len(t.text) > 1 && !isWordByte(t.text[1]):
		return "[^" + t.text + "]", true
	case t.kind == escape && (t.text == `\t` || t.text == `\r` || strings.HasPrefix(t.text, `\x`)):
		return "[^" + t.text + "]", true
	case t.kind == plainChar && t.text != "." && t.text != "[" && utf8.RuneCountInString(t.text) == 1:
		return "[^" + t.text + "]", true
	}
	return "", false
}
