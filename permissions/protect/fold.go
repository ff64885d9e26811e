package protect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"toolhost/agenttool/visible"
)

// fold returns the name as a file system that ignores case compares it: lower case, without the characters that such
// file systems skip, ligatures and sharp s spelled out (".ßh" opens ".ssh" on ext4 with casefold). It may unite more
// names than any one file system does; bytes that are no UTF-8 stay. A folded path folds to itself.
func fold(name string) string {
	if !visible.ASCII(name) {
		return foldSlowly(name)
	}
	return strings.ToLower(name)
}

// foldSlowly folds again what is not UTF-8: without an ignored character between them, bytes may be another character.
func foldSlowly(name string) string {
	folded := foldOnce(name)
	for !utf8.ValidString(name) && folded != name {
		name, folded = folded, foldOnce(folded)
	}
	return folded
}

func foldOnce(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch expanded, ok := expansions[r]; {
		case r == utf8.RuneError && size == 1:
			b.WriteByte(name[i])
		case ok:
			b.WriteString(expanded)
		case !ignorable(r):
			b.WriteRune(lowest(r))
		}
		i += size
	}
	return b.String()
}

// expansions are the characters whose full case folding is several ASCII letters.
var expansions = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
}

func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// lowest returns the lower case of the first letter that folds like r: of K, k and the Kelvin sign, k.
func lowest(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}
