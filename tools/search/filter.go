package search

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

// maxAlternatives bounds the patterns that one glob with braces expands to.
const maxAlternatives = 256

// glob is a validated pattern. A pattern without a slash matches names at any depth, any other the path below the
// search root.
type glob struct {
	shapes []shape // without braces: doublestar's time is exponential in their number
	dotted bool    // the pattern contains a name that begins with a dot
}

// shape is a pattern without braces, with a quick test that rejects most files.
type shape struct {
	pattern string
	name    bool   // matches only the name
	tail    string // every matching name ends with it
	whole   bool   // every name that ends with tail matches
}

// newShape returns the shape of a valid pattern; deep: the pattern is for names.
func newShape(pattern string, deep bool) shape {
	s := shape{pattern: pattern, name: deep}
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
	p := strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
	if strings.HasSuffix(p, "/") {
		p += "**"
	}
	bad := func(why string) (glob, error) {
		message := fmt.Sprintf("glob %q: %s", pattern, why)
		return glob{}, agenttool.Failure(agenttool.InvalidArguments, "bad_glob", message)
	}
	switch {
	case p == "" || !doublestar.ValidatePattern(p):
		return bad(`not a valid pattern: close every [ and {, and write \[ or \{ for the character itself`)
	case len(expand(p, 0, nil)) > maxAlternatives:
		return bad(fmt.Sprintf("its braces stand for more than %d patterns: use fewer of them", maxAlternatives))
	case p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."):
		return bad(`a pattern cannot leave the directory that is searched: name another one in "path"`)
	}
	var g glob
	for _, alternative := range expand(p, 0, nil) {
		g.shapes = append(g.shapes, newShape(alternative, !strings.Contains(pattern, "/")))
	}
	g.dotted = p[0] == '.' || strings.Contains(p, "/.") || strings.Contains(p, "{.") || strings.Contains(p, ",.")
	return g, nil
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
	for i := range g.shapes {
		if g.shapes[i].match(dir, name) {
			return true
		}
	}
	return false
}

// filter selects the files of a grep. The zero value selects every file.
type filter struct {
	only   *glob
	except *glob
	types  []shape // of names
	last   atomic.Pointer[verdict]
}

// verdict caches a filter's decision on a directory.
type verdict struct {
	dir      string
	excepted bool
	above    *verdict // of the directory above; nil for the root's
}

// parseFilter parses grep's glob and type.
func parseFilter(pattern, language string) (*filter, error) {
	f := &filter{}
	if rest, negated := strings.CutPrefix(pattern, "!"); pattern != "" {
		g, err := parseGlob(agenttool.ParsePath(rest))
		if err != nil {
			return nil, err
		}
		if negated {
			f.except = &g
		} else {
			f.only = &g
		}
	}
	if language == "" {
		return f, nil
	}
	known := fileTypes()[language]
	if known == nil {
		return nil, unknownType(language)
	}
	for _, pattern := range known {
		f.types = append(f.types, newShape(pattern, true))
	}
	return f, nil
}

// want returns the method wants, or nil if the filter selects every file.
func (f *filter) want() func(dir, name string) bool {
	if f.only == nil && f.except == nil && f.types == nil {
		return nil
	}
	return f.wants
}

// wants reports whether the filter selects the file. It is safe for concurrent use.
func (f *filter) wants(dir, name string) bool {
	if f.only != nil && !f.only.match(dir, name) {
		return false
	}
	if f.except != nil && (f.except.match(dir, name) || f.excepts(dir)) {
		return false
	}
	return f.types == nil || slices.ContainsFunc(f.types, func(s shape) bool { return s.match(dir, name) })
}

// excepts reports whether a directory or one above it is excluded with all its content. Files come in path order, so
// the last verdict concerns a directory nearby.
func (f *filter) excepts(dir string) bool {
	v := f.last.Load()
	for v != nil && !strings.HasPrefix(dir, v.dir) {
		v = v.above
	}
	at := 0
	if v != nil {
		at = len(v.dir)
	}
	for at < len(dir) {
		end := at + strings.IndexByte(dir[at:], '/')
		v = &verdict{dir[:end+1], v != nil && v.excepted || f.except.match(dir[:at], dir[at:end]), v}
		at = end + 1
	}
	f.last.Store(v)
	return v != nil && v.excepted
}
