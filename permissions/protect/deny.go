package protect

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
)

// Secrets is a read-deny list that judges paths. It looks into a file only where the list says that its content decides.
type Secrets struct {
	list  *denyList
	roots []string // folded
}

// CompileSecrets reads a read-deny list, in the words of DefaultReadDeny. Roots and home are absolute, clean and without links. A
// malformed pattern is an error.
func CompileSecrets(patterns, roots []string, home string) (*Secrets, error) {
	list, err := compileDeny(patterns, tops{roots, home})
	if err != nil {
		return nil, err
	}
	s := &Secrets{list: list}
	for _, root := range roots {
		s.roots = append(s.roots, fold(root))
	}
	return s, nil
}

// Denies reports whether the list denies an absolute, clean path, or one of its parent directories.
func (s *Secrets) Denies(file string) bool {
	folded := fold(file)
	return s.list.covers(folded, rootOf(s.roots, folded), func(c contents) bool { return c.at(file) })
}

// Names reports whether the list denies a path whatever a file there holds: the text alone is judged, and a name whose content decides
// counts.
func (s *Secrets) Names(file string) bool {
	folded := fold(file)
	return s.list.covers(folded, rootOf(s.roots, folded), anyContent)
}

// DefaultReadDeny returns the secrets that no call reads by default: keys and tokens in the home directory, those of the machine,
// and the environment files of projects, but not their examples.
//
// A pattern is a doublestar glob: "~/x" is in the home directory, "/x" absolute, anything else below each root ("**/x" at any
// depth, "x" at its top). A match is denied with everything below it. A pattern that begins with "!" is an exception from earlier
// ones; the last match decides.
//
// A pattern "**/x=KIND" is one of projects: it does not count below directories of dependencies, tests and examples. KIND says what the
// file's content must hold: "private_key", "token" for a secret of any kind, "lines" for one in a file that
// commands see without the lines that hold secrets, "any" for whatever it is.
func DefaultReadDeny() []string {
	var all []string
	for pattern := range wordsOf(secretsList) {
		all = append(all, strings.ReplaceAll(pattern, "%20", " "))
	}
	return all
}

// denyRule is one compiled pattern. Exactly one of base and glob is set.
type denyRule struct {
	allow bool
	base  string // a name, or glob of one, at any depth below a root
	plain bool   // base or glob holds no wildcards
	glob  string // absolute, folded
	path  string // glob as it was spelled

	above   string   // of base: how the directory of such a name must end, "" for any: "/.aws"
	project bool     // of base: it does not count below dependencies, tests and examples
	content contents // what a file of that name must hold; 0: it may hold anything
}

// denial is what a list says of one name.
type denial struct {
	denied  bool
	byPlace bool     // the names above it are needed: renaming one of them would take the secret out of the list
	content contents // it is denied only if it is a file that holds this; 0 for no condition
}

// same reports whether two lists deny the same.
func (l *denyList) same(o *denyList) bool {
	return l == o || l.excepted == o.excepted && slices.Equal(l.rules, o.rules)
}

// denyList is a read-deny list, compiled.
type denyList struct {
	rules    []denyRule
	names    nameHints // of the bases
	excepted int

	// The rules by how a path can meet them, so that a long list of plain paths costs one look: indexes into rules.
	plainAt map[string][]int // by path
	plainIn map[string][]int // by the directory of the path
	named   map[string][]int // those of a base without wildcards, by it
	wild    []int            // those of a base with wildcards
	others  []int            // those of a path with wildcards
	takers  []int            // that take back a place
}

// index files the last rule.
func (l *denyList) index() {
	i := len(l.rules) - 1
	r := l.rules[i]
	if r.allow && r.glob != "" {
		l.takers = append(l.takers, i)
	}
	switch {
	case r.glob == "" && r.plain:
		l.named[r.base] = append(l.named[r.base], i)
		return
	case r.glob == "":
		l.wild = append(l.wild, i)
		return
	case !r.plain:
		l.others = append(l.others, i)
		return
	}
	l.plainAt[r.glob] = append(l.plainAt[r.glob], i)
	dir := path.Dir(r.glob)
	l.plainIn[dir] = append(l.plainIn[dir], i)
}

// compileDeny reads a read-deny list. A malformed pattern is an error, since it would deny nothing.
func compileDeny(patterns []string, where tops) (*denyList, error) {
	list := &denyList{plainAt: make(map[string][]int), plainIn: make(map[string][]int), named: make(map[string][]int)}
	for _, pattern := range patterns {
		text, allow := strings.CutPrefix(pattern, "!")
		if !doublestar.ValidatePattern(text) || text == "" {
			return nil, fmt.Errorf("read-deny pattern %q is malformed", pattern)
		}
		list.add(text, allow, where)
	}
	list.names = hintsOf(list.rules)
	return list, nil
}

// add appends the rules of one pattern. A trailing "/**" is dropped: denying a directory denies everything below it.
func (l *denyList) add(text string, allow bool, where tops) {
	text = strings.TrimRight(strings.TrimSuffix(text, "/**"), "/")
	if name, anywhere := strings.CutPrefix(text, "**/"); anywhere {
		r := denyRule{allow: allow}
		if last := strings.LastIndexByte(name, '='); last > 0 {
			if content, known := contentOf(name[last+1:]); known {
				r.project, r.content, name = true, content, name[:last]
			}
		}
		if dir, base := path.Split(name); dir == "" || r.project {
			r.base, r.plain = fold(base), isPlain(base)
			if dir != "" {
				r.above = "/" + fold(strings.TrimSuffix(dir, "/"))
			}
			l.rules = append(l.rules, r)
			l.index()
			return
		}
	}
	below := where.roots
	switch rest, inHome := strings.CutPrefix(text, "~/"); {
	case path.IsAbs(text):
		below = []string{"/"}
	case inHome && where.home == "":
		return
	case inHome:
		text, below = rest, []string{where.home}
	}
	for _, top := range below {
		r := denyRule{allow: allow, plain: isPlain(text)}
		if r.plain {
			r.path = path.Join(top, text)
			r.glob = fold(r.path)
		} else {
			r.path = path.Join(QuoteGlob(top), text)
			r.glob = path.Join(QuoteGlob(fold(top)), fold(text))
			r.plain = isPlain(r.glob) // of "/*/.." no wildcard is left
		}
		l.rules = append(l.rules, r)
		l.index()
	}
}

// tops are the directories that patterns are relative to.
type tops struct {
	roots []string
	home  string
}

func isPlain(pattern string) bool { return !strings.ContainsAny(pattern, `*?[{\`) }

// QuoteGlob returns a pattern that matches the path itself.
func QuoteGlob(literal string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(literal)
}

// denied says what the list says of exactly this folded path, in a folded root ("" for none).
func (l *denyList) denied(folded, root string) (d denial) {
	base := path.Base(folded)
	lists := [4][]int{l.plainAt[folded], l.others}
	if root != "" {
		lists[2], lists[3] = l.named[base], l.wild
	}
	for {
		first := -1
		for i := range lists {
			if len(lists[i]) > 0 && (first < 0 || lists[i][0] < lists[first][0]) {
				first = i
			}
		}
		if first < 0 {
			return d
		}
		r := &l.rules[lists[first][0]]
		lists[first] = lists[first][1:]
		switch {
		case r.allow && !d.denied, !r.allow && d.denied && d.content == 0, !r.matches(folded, base, root):
		case r.allow:
			d = denial{}
		case d.denied && r.content != 0: // either content makes it a secret
			d.content |= r.content
		default:
			d = denial{true, r.glob != "" || r.project, r.content}
		}
	}
}

// matches reports whether the rule means a folded path with that base, in a root ("" for none).
func (r *denyRule) matches(folded, base, root string) bool {
	if r.glob != "" {
		if r.plain {
			return folded == r.glob
		}
		ok, _ := doublestar.Match(r.glob, folded)
		return ok
	}
	switch {
	case root == "", r.plain && base != r.base:
		return false
	case !r.plain:
		if endsDiffer(r.base, base) {
			return false
		}
		if ok, _ := doublestar.Match(r.base, base); !ok {
			return false
		}
	}
	return strings.HasSuffix(path.Dir(folded), r.above) && !(r.project && besideProject(folded, root))
}

// endsDiffer reports whether a folded pattern cannot match a name, as they begin or end otherwise. It is a fast test that excludes most
// names.
func endsDiffer(pattern, name string) bool {
	if name == "" || pattern == "" {
		return false
	}
	end, last := pattern[len(pattern)-1], name[len(name)-1]
	return !opaque(rune(pattern[0])) && pattern[0] != name[0] || !opaque(rune(end)) && end != last
}

// taken says whether the list takes back, by its place, what it denies of exactly this path.
func (l *denyList) taken(folded string) bool {
	return slices.ContainsFunc(l.takers, func(i int) bool { return l.rules[i].matches(folded, "", "") })
}

// covers reports whether the list denies the folded path or one of its parent directories, unless an exception matches nearer to
// the path. root is the folded root that holds the path, "" for none; holds says whether the file at the path has a content.
func (l *denyList) covers(folded, root string, holds func(contents) bool) bool {
	for at := folded; len(at) > max(len(root), 1); at = path.Dir(at) {
		d := l.denied(at, root)
		if d.denied && (d.content == 0 || at == folded && holds(d.content)) {
			return true
		}
		if l.taken(at) {
			return false
		}
	}
	return false
}

// elsewhere splits the absolute rules for places that no walk of the roots visits: the paths that plain rules name, and
// the patterns that cannot become masks there.
func (l *denyList) elsewhere(roots []string) (plain, wild []string) {
	for _, r := range l.rules {
		switch {
		case r.glob == "" || r.allow:
		case r.plain:
			plain = append(plain, r.path)
		case !startsInside(r.glob, roots):
			wild = append(wild, r.path)
		}
	}
	return plain, wild
}

// startsInside says whether all that the pattern can match lies in one root.
func startsInside(pattern string, roots []string) bool {
	base, _ := doublestar.SplitPattern(pattern)
	return slices.ContainsFunc(roots, func(root string) bool { return agenttool.Within(fold(root), base) })
}

// touches says whether an entry of the folded directory may match a rule other than by its base name.
func (l *denyList) touches(dir string) bool {
	if slices.ContainsFunc(l.plainIn[dir], func(i int) bool { return !l.rules[i].allow }) {
		return true
	}
	return slices.ContainsFunc(l.others, func(i int) bool {
		r := &l.rules[i]
		if r.glob == "" || r.allow {
			return false
		}
		literal := r.glob[:strings.IndexAny(r.glob, wildcards)]
		return strings.HasPrefix(literal, dir+"/") || strings.HasPrefix(dir+"/", literal) || strings.HasPrefix(literal, dir) && dir == "/"
	})
}

// plainBases returns the base names that are denied as they stand.
func (l *denyList) plainBases() []string {
	var bases []string
	for _, r := range l.rules {
		if r.base != "" && r.plain && !r.allow {
			bases = append(bases, r.base)
		}
	}
	return bases
}

// copied returns a list that can be added to.
func (l *denyList) copied() *denyList {
	c := *l
	c.rules, c.others, c.wild, c.takers = slices.Clone(l.rules), slices.Clone(l.others), slices.Clone(l.wild), slices.Clone(l.takers)
	c.plainAt, c.plainIn, c.named = maps.Clone(l.plainAt), maps.Clone(l.plainIn), maps.Clone(l.named)
	for _, m := range []map[string][]int{c.plainAt, c.plainIn, c.named} {
		for key, at := range m {
			m[key] = slices.Clip(at)
		}
	}
	return &c
}

// maxExcepted bounds the exceptions that a walk may find.
const maxExcepted = 32

// except takes one folded path back, and says whether it could.
func (l *denyList) except(folded string) bool {
	if l.excepted++; l.excepted > maxExcepted {
		return false
	}
	l.rules = append(l.rules, denyRule{allow: true, plain: true, glob: folded, path: folded})
	l.index()
	return true
}

// hint is a prefix and a suffix, folded: a pattern can only match names that have both.
type hint struct{ prefix, suffix string }

// hintOf returns the hint for names that match a folded pattern.
func hintOf(pattern string) hint {
	h := hint{pattern, pattern}
	if at := strings.IndexFunc(pattern, opaque); at >= 0 {
		h.prefix = pattern[:at]
	}
	if at := strings.LastIndexFunc(pattern, opaque); at >= 0 {
		_, size := utf8.DecodeRuneInString(pattern[at:])
		h.suffix = pattern[at+size:]
	}
	return h
}

// nameHints are the hints for names in any directory below a root, by the first letter of the name.
type nameHints struct {
	by  ['z' + 1][]hint
	any []hint // of patterns whose first letter is not known
}

// hintsOf returns the hints of all bases. Exceptions are left out: they matter only where another rule denied the name.
func hintsOf(rules []denyRule) (n nameHints) {
	for _, r := range rules {
		if r.base == "" || r.allow {
			continue
		}
		if h := hintOf(r.base); h.prefix != "" && h.prefix[0] <= 'z' {
			n.by[h.prefix[0]] = append(n.by[h.prefix[0]], h)
		} else {
			n.any = append(n.any, h)
		}
	}
	return n
}

// mean reports whether a base may mean the name. It is a fast test that excludes most names.
func (n *nameHints) mean(name string) bool {
	if name == "" {
		return false
	}
	c := lower(name[0])
	if c >= utf8.RuneSelf {
		return true
	}
	for i := range n.any {
		if n.any[i].means(name) {
			return true
		}
	}
	if c > 'z' {
		return false
	}
	for i := range n.by[c] {
		if n.by[c][i].means(name) {
			return true
		}
	}
	return false
}

// wildcards begin the part of a pattern that is not literal.
const wildcards = `*?[{\`

// opaque says whether a pattern's character does not stand for itself, and one ASCII letter, in a name.
func opaque(r rune) bool { return r >= utf8.RuneSelf || strings.ContainsRune(wildcards+"]}", r) }
