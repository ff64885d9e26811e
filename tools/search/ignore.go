package search

import (
	"io"
	"os"
	"strings"

	"toolhost/tools/workspace"
)

// maxIgnoreFile bounds what is read of one ignore file, in bytes.
const maxIgnoreFile = 1 << 20

// verdict is what ignore rules say of a name.
type verdict uint8

const (
	silent verdict = iota // no rule matches
	ignored
	included // a rule with ! matches
)

// rules are the ignore rules that hold in one directory. The zero value has none.
type rules struct {
	git   *ruleset // .gitignore and .git/info/exclude
	plain *ruleset // .ignore: decides before git's
}

// ignores reports whether path, spelt from the top directory that any rule came from, is left out.
func (r rules) ignores(path string, dir bool) bool {
	v := r.plain.match(path, dir)
	if v == silent {
		v = r.git.match(path, dir)
	}
	return v == ignored
}

// present says which of the files that matter here a directory holds.
type present struct{ git, gitignore, ignore bool }

// enter returns the rules that hold in dir, whose path from the top is at ("" for the top itself), given those of
// the directory above it.
func (r rules) enter(dir *workspace.Dir, at string, has present) rules {
	if at != "" {
		at += "/"
	}
	if has.git { // another repository: its files are its own business
		r.git = (*ruleset)(nil).add(at, readExclude(dir))
	}
	if has.gitignore {
		r.git = r.git.add(at, readIgnoreFile(dir, ".gitignore"))
	}
	if has.ignore {
		r.plain = r.plain.add(at, readIgnoreFile(dir, ".ignore"))
	}
	return r
}

// look finds out by opening what present says of dir.
func look(dir *workspace.Dir) present {
	exists := func(name string) bool {
		_, err := dir.Lstat(name)
		return err == nil
	}
	return present{git: exists(".git"), gitignore: exists(".gitignore"), ignore: exists(".ignore")}
}

// readExclude returns the text of .git/info/exclude below dir.
func readExclude(dir *workspace.Dir) string {
	git, err := dir.OpenDir(".git")
	if err != nil {
		return ""
	}
	defer git.Close()
	info, err := git.OpenDir("info")
	if err != nil {
		return ""
	}
	defer info.Close()
	return readIgnoreFile(info, "exclude")
}

// readIgnoreFile returns the text of an ignore file: whole lines of its first 1 MiB. A link is not followed, as in
// git; what cannot be read has no rules, so that it hides nothing.
func readIgnoreFile(dir *workspace.Dir, name string) string {
	f, err := openRegular(dir.Open(name, os.O_RDONLY, 0))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
	if err != nil {
		return ""
	}
	text := string(b)
	if len(text) > maxIgnoreFile {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	return text
}

// ruleset holds the rules of one ignore file, and those that they override.
type ruleset struct {
	above *ruleset
	skip  int // length of the directory's path with its slash: what match cuts from a path
	rules []rule
}

// add returns s with the rules of text over them; at is the directory's path from the top, with its slash.
func (s *ruleset) add(at, text string) *ruleset {
	if rules := parseIgnore(text); len(rules) > 0 {
		return &ruleset{above: s, skip: len(at), rules: rules}
	}
	return s
}

// match returns the verdict of the last rule that matches, the innermost file first.
func (s *ruleset) match(path string, dir bool) verdict {
	base := path[strings.LastIndexByte(path, '/')+1:]
	for ; s != nil; s = s.above {
		rel := path[s.skip:]
		for i := len(s.rules) - 1; i >= 0; i-- {
			r := &s.rules[i]
			if r.dirOnly && !dir || !r.match(rel, base) {
				continue
			}
			if r.negated {
				return included
			}
			return ignored
		}
	}
	return silent
}

// rule is one line of an ignore file.
type rule struct {
	pattern string // without !, leading slash and one trailing slash
	literal int    // length of the part before the first special character
	negated bool
	dirOnly bool
	path    bool // matched against the path from the file's directory, not the name
	suffix  bool // "*" and then no special character
}

// parseIgnore returns the rules of an ignore file's text, in its order.
func parseIgnore(text string) []rule {
	var out []rule
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.TrimSuffix(line, "\r")
		line, _, _ = strings.Cut(line, "\x00") // git reads C strings
		if r, ok := parseRule(trimSpaces(line)); ok {
			out = append(out, r)
		}
	}
	return out
}

// parseRule reads one pattern; ok is false for one that matches nothing.
func parseRule(line string) (r rule, ok bool) {
	r.pattern, r.negated = strings.CutPrefix(line, "!")
	r.pattern, r.dirOnly = strings.CutSuffix(r.pattern, "/")
	r.path = strings.Contains(r.pattern, "/")
	r.pattern = strings.TrimPrefix(r.pattern, "/")
	r.literal = strings.IndexAny(r.pattern, `*?[\`)
	if r.literal < 0 {
		r.literal = len(r.pattern)
	}
	r.suffix = !r.path && r.literal == 0 && r.pattern != "" && r.pattern[0] == '*' &&
		!strings.ContainsAny(r.pattern[1:], `*?[\`)
	return r, r.pattern != ""
}

// match reports whether the rule's pattern matches the path rel from the file's directory, whose last name is base.
func (r *rule) match(rel, base string) bool {
	if r.path {
		base = rel
	}
	switch {
	case r.literal == len(r.pattern):
		return base == r.pattern
	case r.suffix:
		return strings.HasSuffix(base, r.pattern[1:])
	case !strings.HasPrefix(base, r.pattern[:r.literal]):
		return false
	}
	// As in git, the part after the literal prefix is a pattern of its own: "a/b**/c" has a ** at its beginning.
	return wildmatch(r.pattern[r.literal:], base[r.literal:])
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
