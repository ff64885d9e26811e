package ignore

import (
	"bytes"
	"iter"
	"strings"
)

// rule is one line of an ignore file. It matches texts that begin with prefix, end with suffix, and match pattern
// after the prefix.
type rule struct {
	texts
	rank    rank
	negated bool
	dirOnly bool
	path    bool // matched against the path from the file's directory, not the name
	fold    bool // targets are in lower case
	star    bool // pattern is a star and suffix
}

// texts are the parts of a pattern.
type texts struct {
	prefix  string  // the part before the first special character
	pattern string  // the rest, matched separately, as in git ("a/b**/c" has a ** at its beginning)
	suffix  string  // the part after the last special character of pattern
	inner   []byte  // a part between special characters that a matching name contains; nil for a path
	need    byteSet // bytes that the last name of a matching path contains
}

// lines yields the lines of an ignore file that may hold a pattern, as git reads them.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			line = strings.TrimSuffix(line, "\r")
			line, _, _ = strings.Cut(line, "\x00") // git reads C strings
			if !yield(trimSpaces(line)) {
				return
			}
		}
	}
}

// trimSpaces removes trailing spaces that no backslash protects.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:min(end, len(line))]
}

// parseRule parses one pattern; ok is false for a pattern that matches nothing.
func parseRule(line string, fold bool) (r rule, ok bool) {
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.path = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if name, ok := anywhere(line); ok && r.path {
		line, r.path = name, false
	}
	if line == "" {
		return r, false
	}
	first := strings.IndexAny(line, `*?[\`)
	if first < 0 {
		first = len(line)
	}
	r.fold = fold
	r.prefix, r.pattern = line[:first], line[first:]
	if strings.HasPrefix(r.pattern, "**") {
		line = r.pattern // the pattern may match slashes: the prefix need not be in the last name
	}
	if r.need, ok = needed(line); !ok {
		return r, false
	}
	r.suffix = r.pattern[strings.LastIndexAny(r.pattern, `*?[]\`)+1:]
	r.star = r.pattern == "*"+r.suffix
	if !r.star {
		r.suffix = strings.TrimPrefix(r.suffix, "/") // "**/x" matches "x" too
	}
	if !r.star && !r.path {
		r.inner = inner(r.pattern)
	}
	if fold {
		r.prefix, r.suffix = lowerText(r.prefix), lowerText(r.suffix)
		lower(r.inner)
	}
	return r, true
}

// inner returns the longest part between stars and question marks that comes before any set or backslash.
func inner(pattern string) []byte {
	if end := strings.IndexAny(pattern, `[\`); end >= 0 {
		pattern = pattern[:end]
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(pattern, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return []byte(longest)
}

// needed returns the literal bytes of the pattern after its last slash; ok is false for a pattern with a malformed set.
func needed(pattern string) (set byteSet, ok bool) {
	for i := 0; i < len(pattern); {
		c, width := pattern[i], 1
		switch {
		case c == '*' || c == '?':
			i++
			continue
		case c == '[':
			if _, width = matchSet(pattern[i:], 0, false); width == 0 {
				return 0, false
			}
			i += width
			continue
		case c == '\\' && i+1 < len(pattern):
			c, width = pattern[i+1], 2
		}
		set = set.with(c)
		if c == '/' {
			set = 0
		}
		i += width
	}
	return set, true
}

// anywhere returns the condition on the last name of a pattern that begins with **/, if that is its only condition.
func anywhere(pattern string) (name string, ok bool) {
	for strings.HasPrefix(pattern, "**/") {
		pattern, ok = pattern[3:], true
	}
	return pattern, ok && !strings.Contains(pattern, "/")
}

func lowerText(s string) string {
	b := []byte(s)
	lower(b)
	return string(b)
}

// literal reports whether the rule matches exactly its prefix.
func (r *texts) literal() bool { return r.pattern == "" }

// extension reports whether the rule matches the names that end with suffix, which begins with a dot.
func (r *rule) extension() bool {
	return r.star && !r.path && r.prefix == "" && strings.HasPrefix(r.suffix, ".")
}

// match reports whether the rule matches t, which contains the needed bytes.
func (r *rule) match(t *target) bool {
	if r.dirOnly && !t.dir {
		return false
	}
	text := t.name
	if r.path {
		text = t.rel
	}
	if !t.left.take(tryCost + len(text)/longCost) {
		return false
	}
	if len(text) < len(r.prefix) || string(text[:len(r.prefix)]) != r.prefix {
		return false
	}
	text = text[len(r.prefix):]
	if len(text) < len(r.suffix) || string(text[len(text)-len(r.suffix):]) != r.suffix {
		return false
	}
	if r.star {
		return bytes.IndexByte(text[:len(text)-len(r.suffix)], '/') < 0
	}
	return bytes.Contains(text, r.inner) && t.left.wildmatch(r.pattern, text, r.fold)
}
