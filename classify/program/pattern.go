package program

import (
	"slices"
	"strings"
)

// QuotePattern returns the pattern that matches a text and nothing else, see [Word].
func QuotePattern(text string) string {
	if !strings.ContainsAny(text, `*?[\`) {
		return text
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(text)
}

// named takes note that all that comes by here has a name like the value of -name.
func (f *finder) named(value string) {
	if !strings.ContainsAny(value, `[]\/`) {
		f.name = strings.ReplaceAll(value, "?", "*")
	}
}

// pattern returns the pattern of the paths that reach an action, "" if it is unknown: with several starting points, or with links
// followed.
func (f *finder) pattern() string {
	if len(f.starts) > 1 || f.has("-L", "-H", "-follow") {
		return ""
	}
	start, name := Lit("."), f.name
	if len(f.starts) == 1 {
		start = f.starts[0]
	}
	if name == "" || f.has("-o", "-or", "!", "-not", "(", ")", ",") {
		name = "*"
	}
	if !start.Static {
		return ""
	}
	return QuotePattern(start.Text) + "/**/" + name
}

// has reports whether a word is one of some.
func (f *finder) has(any ...string) bool {
	return slices.ContainsFunc(f.words, func(w Word) bool { return slices.Contains(any, w.Text) })
}
