package search

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// maxTargets bounds the directories and files that the patterns of one call name. If there are more, they only select
// files, and ignore rules apply to all of them.
const maxTargets = 16

// selection is what a call searches: its directory, the patterns for files in it, and their types.
type selection struct {
	base    agenttool.Path // the directory to which patterns are relative
	targets []target       // where files are looked for, in path order

	patterns []string // that say which files are wanted, relative to the base
	negated  []string // that begin with !, without it
	except   []glob
	types    []shape // of names
	dotted   bool    // a pattern contains a name that begins with a dot

	slashIsAbsolute bool // a pattern that begins with a slash is absolute
}

// target is a directory or a file that is searched because a pattern names it: the part of a pattern before its first
// wildcard counts like a path that the caller gives. No ignore rule leaves it out, and links on the way are followed.
type target struct {
	dir  string // below the base, "" or with a trailing slash
	name string // only this file in dir, or all below this directory; "": all files below dir that only selects
	only *glob  // selects files by their path below dir; nil: all

	dirRead  int // index of dir in the call's Reads
	pathRead int // index of path in the call's Reads, if there is a name
}

// path returns the path of the target below the base.
func (t *target) path() string { return t.dir + t.name }

// parsePatterns parses the patterns of a call in the directory that path names; "" is the workspace. A pattern may be a
// list with commas, absolute, or begin with !, which leaves files out. Without a pattern that does not, all files are
// wanted. If slashIsAbsolute is set, every pattern that begins with a slash is absolute, see absolute.
func parsePatterns(scope agenttool.Scope, dir string, patterns []string, slashIsAbsolute bool) (s selection, err error) {
	s.slashIsAbsolute = slashIsAbsolute
	var lists []string
	for _, p := range patterns {
		lists = append(lists, list(p)...)
	}
	for i, p := range lists {
		if rest, home := strings.CutPrefix(p, "~/"); home && scope.Home != "" {
			lists[i] = scope.Home + "/" + rest
		}
	}
	if dir == "" {
		dir = s.absoluteBase(scope, lists)
	}
	if s.base, err = rootPath(scope, dir); err != nil {
		return s, err
	}
	var wanted []splitPattern
	for _, p := range lists {
		p, negated := strings.CutPrefix(p, "!")
		p, above, err := s.relative(scope, p)
		if err != nil {
			return s, err
		}
		if !negated {
			s.patterns = append(s.patterns, p)
			s.dotted = s.dotted || dotted(p)
		}
		if negated || above != "" {
			g, err := parseGlob(p)
			if err != nil {
				return s, err
			}
			g.above = above
			if negated {
				s.negated = append(s.negated, p)
				s.except = append(s.except, g)
			} else {
				s.targets = append(s.targets, target{only: &g})
			}
			continue
		}
		all, err := alternatives(p)
		if err != nil {
			return s, err
		}
		for _, text := range all {
			n := split(text, !strings.Contains(p, "/"))
			wanted = append(wanted, n)
			if itself := split(escaped(text), n.anyDepth); n.name == "" && itself.name != "" { // a file or directory with brackets in its path
				wanted = append(wanted, itself)
			}
		}
	}
	s.add(wanted)
	if len(s.targets) == 0 {
		s.targets = []target{{}}
	}
	return s, nil
}

// list returns the patterns in a list with commas. A name may hold commas, too: without a wildcard the whole text is one
// more pattern.
func list(text string) (patterns []string) {
	from, depth := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			if p := strings.TrimSpace(text[from:i]); p != "" {
				patterns = append(patterns, p)
			}
			from = i + 1
		case text[i] == '\\':
			i = min(i+1, len(text)-1)
		case text[i] == '[':
			if end := closing(text, i+1, ']'); text[end] == ']' {
				i = end
			}
		case text[i] == '{':
			depth++
		case text[i] == '}':
			depth--
		}
	}
	if len(patterns) > 1 && !strings.ContainsAny(text, "*?") || len(patterns) == 0 {
		patterns = append(patterns, text)
	}
	if len(patterns) == 1 {
		patterns[0] = text // blanks around it may be part of a name
	}
	return patterns
}

// absolute reports whether a pattern is absolute. For grep, as for ripgrep, one that begins with a slash is relative to
// the search root unless it names a directory of the scope or the home directory.
func (s *selection) absolute(scope agenttool.Scope, pattern string) bool {
	below := func(root string) bool {
		return strings.Trim(root, "/") != "" && (pattern == root || strings.HasPrefix(pattern, root+"/"))
	}
	return strings.HasPrefix(pattern, "/") && (s.slashIsAbsolute || slices.ContainsFunc(scope.Roots, below) || below(scope.Home))
}

// misread returns a remark on a pattern that begins with ! although the base has a file or directory of that name, "" if there is none.
// located is the base.
func (s *selection) misread(w *workspace.Workspace, located agenttool.Path) string {
	if s.patterns != nil || s.negated == nil {
		return ""
	}
	base, err := w.OpenDir(located)
	if err != nil {
		return ""
	}
	defer base.Close()
	for _, p := range s.negated {
		name, _, _ := strings.Cut(p, "/")
		if _, err := base.Lstat("!" + name); err == nil {
			return fmt.Sprintf(`a pattern with ! leaves files out: to name %s, write \%s`, agenttool.PrintPath("!"+name), agenttool.PrintPath("!"+name))
		}
	}
	return ""
}

// absoluteBase returns the directory that all absolute patterns of a list name; "" if there are none that say what is
// wanted.
func (s *selection) absoluteBase(scope agenttool.Scope, patterns []string) (base string) {
	for _, p := range patterns {
		if !s.absolute(scope, p) {
			continue
		}
		dir, _ := doublestar.SplitPattern(p)
		if base == "" {
			base = dir
		}
		for !agenttool.Within(base, dir) {
			base = path.Dir(base)
		}
	}
	if base == "" {
		return ""
	}
	return agenttool.SpellPath(base)
}

// relative returns a pattern relative to the base. A pattern that is absolute may have wildcards in the part that
// matches the base: then it stays absolute, and above is the base as glob.above has it.
func (s *selection) relative(scope agenttool.Scope, pattern string) (relative, above string, err error) {
	base := strings.TrimSuffix(s.base.Absolute, "/")
	if !s.absolute(scope, pattern) {
		return pattern, "", nil
	}
	if rest, below := strings.CutPrefix(pattern, base+"/"); below {
		return "./" + cmp.Or(rest, "**"), "", nil
	}
	dir, rest := doublestar.SplitPattern(pattern)
	if !agenttool.Within(dir, s.base.Absolute) || rest == "" {
		return "", "", agenttool.Failure(agenttool.InvalidArguments, "bad_glob",
			fmt.Sprintf("glob %q: it is absolute and not below %s: make it relative, or leave out \"path\"", pattern, s.base.Spelling))
	}
	return pattern, base[1:] + "/", nil
}

// splitPattern is a pattern without braces, split behind its literal beginning, which is a path.
type splitPattern struct {
	dir      string // the literal beginning, "" or with a trailing slash
	name     string // the literal last name, if all of the pattern is literal; else ""
	rest     string // relative to dir
	full     string // the whole pattern
	anyDepth bool   // the pattern matches names at any depth
}

// split splits a pattern without braces. anyDepth says that it matches names at any depth: then it names no path.
func split(pattern string, anyDepth bool) splitPattern {
	n := splitPattern{full: pattern, rest: pattern, anyDepth: anyDepth}
	for !anyDepth {
		first, more, found := strings.Cut(n.rest, "/")
		name, ok := literal(first)
		if !ok {
			break
		}
		if !found {
			n.name = name
			return n
		}
		n.dir += name + "/"
		n.rest = more
	}
	return n
}

// literal returns the only name that a pattern without a slash matches, if there is just one.
func literal(pattern string) (name string, ok bool) {
	if pattern == "" || strings.Contains(pattern, "\uFFFD") { // which stands for any byte that is not UTF-8
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[', 0:
			return "", false
		case '\\':
			if i++; i == len(pattern) {
				return "", false
			}
		}
		b.WriteByte(pattern[i])
	}
	name = b.String()
	return name, name != "." && name != ".." && !strings.Contains(name, "/")
}

// add adds targets for the patterns.
func (s *selection) add(patterns []splitPattern) {
	var targets []target
	find := func(dir, name string) *target {
		at := slices.IndexFunc(targets, func(t target) bool { return t.dir == dir && t.name == name })
		if at < 0 {
			at = len(targets)
			targets = append(targets, target{dir: dir, name: name})
		}
		return &targets[at]
	}
	for _, p := range patterns {
		t := find(p.dir, p.name)
		if p.name != "" {
			continue
		}
		if t.only == nil {
			t.only = &glob{}
		}
		t.only.add(p.rest, p.anyDepth)
	}
	if len(targets) > maxTargets {
		all := &glob{}
		for _, p := range patterns {
			all.add(p.full, p.anyDepth)
		}
		targets = []target{{only: all}}
	}
	s.targets = append(s.targets, targets...)
	slices.SortStableFunc(s.targets, func(a, b target) int { return strings.Compare(a.path(), b.path()) })
}

// reads returns the paths that the call opens, the base first, and notes in the targets where theirs are.
func (s *selection) reads(scope agenttool.Scope) (paths []agenttool.Path, err error) {
	paths = []agenttool.Path{s.base}
	index := func(below string) int {
		if err != nil || below == "" {
			return 0
		}
		var p agenttool.Path
		p, err = workspace.Path(scope, agenttool.SpellPath(strings.TrimSuffix(s.base.Absolute, "/")+"/"+strings.TrimSuffix(below, "/")))
		p.Spelling = agenttool.SpellPath(path.Join(agenttool.ParsePath(s.base.Spelling), below))
		at := slices.IndexFunc(paths, func(o agenttool.Path) bool { return o.Absolute == p.Absolute })
		if at < 0 {
			at = len(paths)
			paths = append(paths, p)
		}
		return at
	}
	for i := range s.targets {
		t := &s.targets[i]
		t.dirRead = index(t.dir)
		if t.name != "" {
			t.pathRead = index(t.path())
		}
	}
	return paths, err
}

// overlap reports whether two targets may lead to the same file.
func (s *selection) overlap() bool {
	for i, t := range s.targets {
		for _, o := range s.targets[:i] {
			if o.name == "" && strings.HasPrefix(t.dir, o.dir) || o.name != "" && strings.HasPrefix(t.path()+"/", o.path()+"/") {
				return true
			}
		}
	}
	return false
}

// isMissing reports whether an error says that a path does not exist.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// filter selects the files of one directory.
type filter struct {
	*selection
	only    *glob  // nil: all
	at      string // path of the directory below the base, "" or with a trailing slash
	leftOut bool   // a pattern with ! leaves out the directory, or one above it
	last    atomic.Pointer[verdict]
}

// verdict caches a filter's decision on a directory.
type verdict struct {
	dir      string
	excepted bool
	above    *verdict // of the directory above; nil for the root's
}

// filter returns the filter for the files below the directory at, which only selects.
func (s *selection) filter(at string, only *glob) *filter {
	f := &filter{selection: s, only: only, at: at}
	for end := 0; end < len(at) && !f.leftOut; {
		from := end
		end += strings.IndexByte(at[from:], '/') + 1
		f.leftOut = s.leavesOut(at[:from], at[from:end-1])
	}
	return f
}

// leavesOut reports whether a pattern with ! matches the name in dir, a path below the base.
func (s *selection) leavesOut(dir, name string) bool {
	for i := range s.except {
		if s.except[i].match(dir, name) {
			return true
		}
	}
	return false
}

// want returns the function that selects files, nil if the filter selects every file.
func (f *filter) want() func(dir, name string) bool {
	switch {
	case f.except != nil || f.types != nil:
		return f.wants
	case f.only == nil:
		return nil
	}
	return f.only.match
}

// wants reports whether the filter selects the file name in dir, a path below the filter's directory. It is safe for concurrent use.
func (f *filter) wants(dir, name string) bool {
	if f.leftOut || f.only != nil && !f.only.match(dir, name) {
		return false
	}
	if f.except != nil && (f.leavesOut(f.at+dir, name) || f.excepts(dir)) {
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
		v = &verdict{dir[:end+1], v != nil && v.excepted || f.leavesOut(f.at+dir[:at], dir[at:end]), v}
		at = end + 1
	}
	f.last.Store(v)
	return v != nil && v.excepted
}

// typeShapes returns the patterns of a file type; nil for "".
func typeShapes(language string) (shapes []shape, err error) {
	if language == "" {
		return nil, nil
	}
	known := patternsOf(language)
	if known == nil {
		return nil, unknownType(language)
	}
	for _, pattern := range known {
		shapes = append(shapes, newShape(pattern, true))
	}
	return shapes, nil
}

// once lets each file pass for one target only.
type once struct{ target map[string]int } // by path; nil: targets do not overlap

func newOnce(s *selection) once {
	if !s.overlap() {
		return once{}
	}
	return once{map[string]int{}}
}

// first reports whether no target before this one had the file.
func (o once) first(target int, path string) bool {
	if o.target == nil {
		return true
	}
	had, there := o.target[path]
	if !there {
		o.target[path] = target
	}
	return !there || had == target
}
