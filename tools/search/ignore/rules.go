package ignore

// Rules are the rules that apply in one directory. They are immutable; nil omits nothing. Directories are named by
// their paths below one top directory, the same for all calls: "" for the top, else with a trailing slash.
type Rules struct {
	plain *set // the innermost .ignore file
	git   *set // the innermost .gitignore, info/exclude or core.excludesFile
	fold  bool // core.ignoreCase of the repository
}

// Enter returns the rules in the directory at, where a repository begins: git rules from above end, those of .ignore
// files continue.
func (r *Rules) Enter(at string, repo Repository) *Rules {
	var in Rules
	if r != nil {
		in.plain = r.plain
	}
	in.fold = repo.Fold
	in.git = newSet(nil, at, repo.Global, repo.Fold)
	in.git = newSet(in.git, at, repo.Exclude, repo.Fold)
	switch {
	case r != nil && *r == in:
		return r
	case in == Rules{}:
		return nil
	}
	return &in
}

// AddGit returns the rules in the directory at, whose .gitignore holds text. It keeps no part of text. Without rules
// in text the result is r.
func (r *Rules) AddGit(at string, text []byte) *Rules {
	var in Rules
	if r != nil {
		in = *r
	}
	in.git = newSet(in.git, at, text, in.fold)
	return r.become(in)
}

// AddPlain returns the rules in the directory at, whose .ignore holds text. They take precedence over git's, and are
// always case-sensitive. It keeps no part of text. Without rules in text the result is r.
func (r *Rules) AddPlain(at string, text []byte) *Rules {
	var in Rules
	if r != nil {
		in = *r
	}
	in.plain = newSet(in.plain, at, text, false)
	return r.become(in)
}

// become returns r itself if in is equal, so that most directories share the rules of the one above.
func (r *Rules) become(in Rules) *Rules {
	if r != nil && *r == in || r == nil && in == (Rules{}) {
		return r
	}
	return &in
}

// IgnoresPlain reports whether a .ignore file omits the name. Unlike git's rules, such a file also omits files that
// git tracks.
func (r *Rules) IgnoresPlain(at, name string, dir bool) bool {
	if r == nil || r.plain == nil {
		return false
	}
	path := []byte(at + name)
	t := target{path: path, name: path[len(at):], bytes: setOf(path[len(at):]), dir: dir, left: maxSteps}
	return r.plain.decide(&t).ignores()
}

// Everything reports whether text, of a .gitignore, ignores all names in its directory, as those of caches and virtual
// environments do. It may bring itself back, or a file that only keeps the directory.
func Everything(text []byte) bool {
	all := false
	for line := range lines(string(text)) {
		switch line {
		case "*", "/*", "**", "/**":
			all = true
		case "!.gitignore", "!/.gitignore", "!.gitkeep", "!/.gitkeep", "!.keep", "!/.keep":
		default:
			if line[:min(1, len(line))] == "!" {
				return false
			}
		}
	}
	return all
}

const (
	shortPath = 512  // bytes of a path that fits the small buffer on the stack
	longPath  = 4608 // the longest path that a system opens, plus one name
)

// Ignores reports whether name in the directory at is omitted; dir: it is a directory. The rules must be those of the
// directory at, and no directory above it may be ignored: everything below an ignored directory is ignored. Ignores
// allocates nothing.
func (r *Rules) Ignores(at, name string, dir bool) bool {
	if r == nil {
		return false
	}
	if len(at)+len(name) > shortPath {
		return r.ignoresLong(at, name, dir)
	}
	var room [shortPath]byte
	return r.ignores(append(append(room[:0], at...), name...), len(at), dir)
}

func (r *Rules) ignoresLong(at, name string, dir bool) bool {
	var room [longPath]byte
	return r.ignores(append(append(room[:0], at...), name...), len(at), dir)
}

// ignores is Ignores for a path whose last name begins at base. It may change path.
func (r *Rules) ignores(path []byte, base int, dir bool) bool {
	t := target{path: path, name: path[base:], bytes: setOf(path[base:]), dir: dir, left: maxSteps}
	if found := r.plain.decide(&t); found != none {
		return found.ignores()
	}
	if r.fold {
		lower(path)
	}
	return r.git.decide(&t).ignores()
}

// lower makes the ASCII letters of b lower case.
func lower(b []byte) {
	for i, c := range b {
		b[i] = lowerByte(c)
	}
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
