package classify

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// isEmpty reports whether a word has no text at all and no quotes: bash drops it.
func isEmpty(word *syntax.Word) bool {
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); !ok || lit.Value != "" {
			return false
		}
	}
	return true
}

func hasBrace(word *syntax.Word) bool {
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

func hasBraceExp(parts []syntax.WordPart) bool {
	for _, part := range parts {
		if _, ok := part.(*syntax.BraceExp); ok {
			return true
		}
	}
	return false
}

// namesGrow reports whether a $x without braces of its own is in a word with braces, which bash expands first: $x{a,b}
// is $xa and $xb.
func namesGrow(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.ParamExp:
			if x.Short || x.Exp != nil || x.Repl != nil { // whose braces bash counts as well
				return true
			}
		case *syntax.BraceExp:
			for _, elem := range x.Elems {
				if namesGrow(elem.Parts) {
					return true
				}
			}
		}
	}
	return false
}

// mayBrace reports whether bash may still expand braces in literal text: it finds a {, later a comma or two dots, and later
// a }. The } may belong to an expansion.
func mayBrace(parts []syntax.WordPart) bool {
	open, parted := false, false
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			if parted && !isQuoted(part) {
				return true
			}
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch c := lit.Value[i]; {
			case c == '\\':
				i++
			case c == '{':
				open = true
			case open && (c == ',' || c == '.' && strings.HasPrefix(lit.Value[i:], "..")):
				parted = true
			case parted && c == '}':
				return true
			}
		}
	}
	return false
}

func isQuoted(part syntax.WordPart) bool {
	switch part.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// expandBraces makes one word for each combination.
func expandBraces(parts []syntax.WordPart) ([]*syntax.Word, bool) {
	words := []*syntax.Word{{}}
	for _, part := range parts {
		b, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, word := range words {
				word.Parts = append(word.Parts, part)
			}
			continue
		}
		choices, ok := choices(b)
		if !ok || len(words)*len(choices) > maxFields {
			return nil, false
		}
		var next []*syntax.Word
		for _, word := range words {
			for _, choice := range choices {
				all := append(append([]syntax.WordPart{}, word.Parts...), choice.Parts...)
				next = append(next, &syntax.Word{Parts: all})
			}
		}
		words = next
	}
	return words, true
}

func choices(b *syntax.BraceExp) ([]*syntax.Word, bool) {
	if b.Sequence {
		return sequence(b)
	}
	var all []*syntax.Word
	for _, elem := range b.Elems {
		words, ok := expandBraces(elem.Parts)
		if len(elem.Parts) == 0 {
			words, ok = []*syntax.Word{{}}, true
		}
		if !ok || len(all)+len(words) > maxFields {
			return nil, false
		}
		all = append(all, words...)
	}
	return all, true
}

// sequence expands {1..9} and {a..e}, without a step and without leading zeros.
func sequence(b *syntax.BraceExp) ([]*syntax.Word, bool) {
	if len(b.Elems) != 2 {
		return nil, false
	}
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	first, last, letters := 0, 0, false
	if len(from) == 1 && len(to) == 1 && from[0] >= 'a' && to[0] >= 'a' && from[0] <= 'z' && to[0] <= 'z' {
		first, last, letters = int(from[0]), int(to[0]), true
	} else if !shortNumber(from, &first) || !shortNumber(to, &last) {
		return nil, false
	}
	step := 1
	if last < first {
		step = -1
	}
	if (last-first)*step >= maxFields {
		return nil, false
	}
	at := b.Elems[0].Pos()
	var all []*syntax.Word
	for n := first; n != last+step; n += step {
		text := strconv.Itoa(n)
		if letters {
			text = string(rune(n))
		}
		all = append(all, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: at, ValueEnd: at, Value: text}}})
	}
	return all, true
}

func shortNumber(s string, n *int) bool {
	if len(s) > 6 || !program.Digits(s) || len(s) > 1 && s[0] == '0' {
		return false
	}
	*n, _ = strconv.Atoi(s)
	return true
}
