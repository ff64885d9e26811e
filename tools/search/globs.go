package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

// maxAlternatives bounds the patterns that one glob with braces expands to, without the readings of its brackets.
const maxAlternatives = 256

// glob is a validated pattern. A pattern without a slash matches names at any depth, any other the path below the
// search root.
type glob struct {
	shapes []shape // without braces: doublestar's time is exponential in their number
	above  string  // path of the search root without the first slash and with one at its end, for patterns that are absolute; else ""
}

// shape is a pattern without braces, with a fast check that rejects most files.
type shape struct {
	pattern string
	name    bool   // matches only the name
	tail    string // every matching name ends with it
	whole   bool   // every name that ends with tail matches
}

// newShape returns the shape of a valid pattern. anyDepth says that it matches names at any depth.
func newShape(pattern string, anyDepth bool) shape {
	s := shape{pattern: pattern, name: anyDepth}
	if rest, any := strings.CutPrefix(pattern, "**/"); any && !strings.Contains(rest, "/") && rest != "**" {
		s.pattern, s.name = rest, true
	}
	s.tail = spelled(s.pattern[strings.LastIndexAny(s.pattern, `*?[]{}\/`)+1:])
	s.whole = s.name && s.pattern == "*"+s.tail
	return s
}

// spelled returns the longest literal suffix of text. U+FFFD, which stands for invalid bytes in displayed names, and
// bytes that are not UTF-8 are not literal: they match any such byte.
func spelled(text string) string {
	from := 0
	for i, r := range text {
		if r == utf8.RuneError {
			from = i + 1
		}
	}
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from++ // skip the rest of a literal U+FFFD
	}
	return text[from:]
}

func (s *shape) match(dir, name string) bool {
	switch {
	case !strings.HasSuffix(name, s.tail):
		return false
	case s.whole:
		return true
	case s.name:
		return doublestar.MatchUnvalidated(s.pattern, name)
	}
	return doublestar.MatchUnvalidated(s.pattern, dir+name)
}

// parseGlob parses a doublestar pattern. "./x" and "/x" mean x in the search root only, "x/" means everything below
// x.
func parseGlob(pattern string) (glob, error) {
	all, err := alternatives(pattern)
	g := glob{}
	for _, text := range all {
		g.add(text, !strings.Contains(pattern, "/"))
	}
	return g, err
}

// add adds a pattern without braces. anyDepth says that it matches names at any depth. Names may have brackets, such as
// app/[id]/page.tsx, so the pattern also matches with brackets that stand for themselves.
func (g *glob) add(pattern string, anyDepth bool) {
	for _, text := range literalBrackets(pattern, []string{pattern}) {
		g.shapes = append(g.shapes, newShape(text, anyDepth))
	}
}

// alternatives returns the patterns without braces that a pattern stands for, relative to the search root. Braces without
// a comma stand for themselves, too, as in {{name}}/setup.py.
func alternatives(pattern string) ([]string, error) {
	p := strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	bad := func(why string) ([]string, error) {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "bad_glob", fmt.Sprintf("glob %q: %s", pattern, why))
	}
	if p == "" || !doublestar.ValidatePattern(p) {
		return bad(`not a valid pattern: close every [ and {, and write \[ or \{ for the character itself`)
	}
	all := expand(p, 0, nil)
	if len(all) > maxAlternatives {
		return bad(fmt.Sprintf("its braces stand for more than %d patterns: use fewer of them", maxAlternatives))
	}
	if slices.ContainsFunc(all, func(text string) bool { return slices.Contains(strings.Split(text, "/"), "..") }) {
		return bad(`a pattern cannot leave the directory that is searched: name another one in "path"`)
	}
	if literal := literalBraces(p); literal != p && len(all) <= maxAlternatives/2 {
		all = expand(literal, 0, all)
	}
	return all, nil
}

// dotted reports whether a pattern contains a name that begins with a dot.
func dotted(pattern string) bool {
	p := strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") || strings.Contains(p, "{.") || strings.Contains(p, ",.")
}

// literalBraces returns a valid pattern with a backslash before each pair of braces that has no comma.
func literalBraces(pattern string) string {
	var b strings.Builder
	var open []int // where each open brace is in b
	commas := map[int]bool{}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
		case c == '[':
			end := closing(pattern, i+1, ']')
			b.WriteString(pattern[i:end])
			i = end
		case c == '{':
			open = append(open, b.Len())
		case c == ',' && len(open) > 0:
			commas[open[len(open)-1]] = true
		case c == '}' && len(open) > 0:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			if !commas[from] {
				inner := b.String()[from:]
				text := b.String()[:from] + "\\" + inner + "\\"
				b.Reset()
				b.WriteString(text)
			}
			delete(commas, from)
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// maxBracketNames bounds the names of one pattern whose brackets are taken both as a set and literally.
const maxBracketNames = 4

// literalBrackets appends the pattern in each spelling in which the brackets of some of its names are escaped; of many
// names only with those of all.
func literalBrackets(pattern string, out []string) []string {
	names := strings.Split(pattern, "/")
	var with []int
	for i, name := range names {
		if escaped(name) != name {
			with = append(with, i)
		}
	}
	if len(with) > maxBracketNames {
		return append(out, escaped(pattern))
	}
	for some := 1; some < 1<<len(with); some++ {
		spelt := slices.Clone(names)
		for bit, i := range with {
			if some>>bit&1 != 0 {
				spelt[i] = escaped(spelt[i])
			}
		}
		out = append(out, strings.Join(spelt, "/"))
	}
	return out
}

// escaped returns text with a backslash before each bracket that has none.
func escaped(text string) string {
	if !strings.ContainsAny(text, "[]") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			b.WriteByte(text[i])
			i++
		case text[i] == '[' || text[i] == ']':
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// expand appends the patterns that a valid pattern with braces, at or after from, expands to, as in bash. It stops
// when there are too many.
func expand(pattern string, from int, out []string) []string {
	for i := from; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i = closing(pattern, i+1, ']')
		case '{':
			end := closing(pattern, i+1, '}')
			for start := i + 1; start <= end && len(out) <= maxAlternatives; {
				comma := min(closing(pattern, start, ','), end)
				out = expand(pattern[:i]+pattern[start:comma]+pattern[end+1:], i, out)
				start = comma + 1
			}
			return out
		}
	}
	return append(out, pattern)
}

// closing returns the index of the first byte c at or after from that is neither escaped nor within further braces; the
// last index if there is none.
func closing(pattern string, from int, c byte) int {
	depth := 0
	for i := from; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\':
			i++
		case pattern[i] == c && depth == 0:
			return i
		case pattern[i] == '{' && c != ']':
			depth++
		case pattern[i] == '}' && c != ']':
			depth--
		}
	}
	return len(pattern) - 1
}

// match reports whether the file name in dir, a path below the search root that is empty or ends with a slash, matches.
func (g *glob) match(dir, name string) bool {
	if g.above != "" { // even an empty text takes time to join, for each of many files
		dir = g.above + dir
	}
	for i := range g.shapes {
		if g.shapes[i].match(dir, name) {
			return true
		}
	}
	return false
}
