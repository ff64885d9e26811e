package search

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

// maxAlternatives bounds the patterns that the braces of one glob stand for.
const maxAlternatives = 256

// glob is a checked pattern. One without a slash matches names at any depth, any other the path below the search root.
type glob struct {
	patterns []string // without braces: with them doublestar's time is exponential in their number
	deep     bool     // matches names at any depth
	base     string   // the directory that holds all that can match; "" for any
	dotted   bool     // spells a name that begins with a dot
}

// parseGlob checks a doublestar pattern. "./x" and "/x" are x in the search root only, "x/" is everything below x.
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
	g := glob{patterns: expand(p, 0, nil), deep: !strings.Contains(pattern, "/")}
	g.dotted = p[0] == '.' || strings.Contains(p, "/.") || strings.Contains(p, "{.") || strings.Contains(p, ",.")
	if base, _ := doublestar.SplitPattern(p); base != "." && !g.deep {
		g.base = base
	}
	return g, nil
}

// expand appends to out the patterns that the braces of a valid pattern, at or after from, stand for: what bash makes
// of them. It stops when they are too many.
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

// match reports whether the path below the search root matches.
func (g glob) match(name string) bool {
	if g.deep {
		name = path.Base(name)
	}
	return slices.ContainsFunc(g.patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, name) })
}

// mayHold reports whether something below the directory can match.
func (g glob) mayHold(dir string) bool {
	return g.base == "" || agenttool.Within(g.base, dir) || agenttool.Within(dir, g.base)
}

// filter says which files a grep is about. The zero value wants every file.
type filter struct {
	only   *glob
	except *glob
	types  []string // patterns for names
}

// parseFilter checks grep's glob and type.
func parseFilter(pattern, language string) (f filter, err error) {
	if rest, negated := strings.CutPrefix(pattern, "!"); pattern != "" {
		g, err := parseGlob(rest)
		if err != nil {
			return f, err
		}
		if negated {
			f.except = &g
		} else {
			f.only = &g
		}
	}
	if language != "" {
		if f.types = fileTypes[language]; f.types == nil {
			return f, unknownType(language)
		}
	}
	return f, nil
}

// wants reports whether the file is one to search.
func (f filter) wants(name string) bool {
	if f.only != nil && !f.only.match(name) || f.except != nil && f.except.match(name) {
		return false
	}
	if f.types == nil {
		return true
	}
	base := path.Base(name)
	for _, pattern := range f.types {
		if ok, _ := path.Match(pattern, base); ok {
			return true
		}
	}
	return false
}

// enters reports whether the directory may hold a file to search.
func (f filter) enters(dir string) bool {
	return (f.only == nil || f.only.mayHold(dir)) && (f.except == nil || !f.except.match(dir))
}
