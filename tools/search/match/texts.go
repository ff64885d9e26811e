package match

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolhost/tools/search/literal"
)

const (
	maxTexts = 16      // alternatives that are kept separately
	maxBytes = 1 << 10 // maximum bytes of the texts that join creates
)

// text is a literal that a part of an expression can match.
type text struct {
	string      // with fold in lower case (ASCII)
	fold   bool // ASCII letters of either case match
}

// texts are alternatives. Nil means unknown.
type texts []text

// join returns each text of a followed by each of b; ok is false if they are too many. exact is false if a joined
// text matches more than a followed by b.
func (a texts) join(b texts) (joined texts, exact, ok bool) {
	size := 0
	for _, x := range a {
		size += len(x.string)*len(b) + len(b)
	}
	if len(a)*len(b) > maxTexts || size > maxBytes {
		return nil, false, false
	}
	exact = true
	for _, x := range a {
		for _, y := range b {
			xy := text{x.string + y.string, x.fold || y.fold}
			if xy.fold {
				exact = exact && (x.fold || !hasLetter(x.string)) && (y.fold || !hasLetter(y.string))
			}
			joined = append(joined, xy.lower())
		}
	}
	return joined, exact, true
}

// lower returns x in lower case if it folds.
func (x text) lower() text {
	if x.fold {
		x.string = strings.Map(lowerASCII, x.string)
	}
	return x
}

// hasLetter reports whether fold makes a difference for s.
func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) })
}

// holds reports whether every string that contains x also contains y.
func (x text) holds(y text) bool {
	if y.fold {
		return strings.Contains(strings.Map(lowerASCII, x.string), y.string)
	}
	return !x.fold && strings.Contains(x.string, y.string)
}

// clause returns the texts as a condition, or nil if that is impossible: they are unknown, or one of them is empty.
// Texts that contain another one of them add nothing and are left out.
func (a texts) clause() literal.Clause {
	var few texts
	for _, x := range a {
		if x.string == "" {
			return nil
		}
		if slices.ContainsFunc(few, x.holds) {
			continue
		}
		few = append(slices.DeleteFunc(few, func(y text) bool { return y.holds(x) }), x)
	}
	var c literal.Clause
	for _, x := range few {
		c = append(c, literal.New([]byte(x.string), x.fold))
	}
	return c
}

// anyOf returns one text for each of the runes.
func anyOf(runes []rune) texts {
	var all texts
	for _, r := range runes {
		switch {
		case 'a' <= r && r <= 'z' && slices.Contains(runes, unicode.ToUpper(r)):
			all = append(all, text{string(r), true})
		case 'A' <= r && r <= 'Z' && slices.Contains(runes, unicode.ToLower(r)):
		default:
			all = append(all, text{string(r), false})
		}
	}
	return all
}

// cases returns r and its other cases.
func cases(r rune) []rune {
	all := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f)
	}
	return all
}

// lowerASCII changes only ASCII letters: some other letters have an ASCII lower case that the pattern does not match.
func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r + ('a' - 'A')
	}
	return r
}
