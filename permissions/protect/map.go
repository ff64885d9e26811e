package protect

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

func (k Kind) String() string {
	return [...]string{"absent", "file", "directory", "link", "other"}[k]
}

// Entry is one protected path, absolute and without links on the way; only its last component may be one.
type Entry struct {
	Path string
	Rule Rule
	Kind Kind
}

// GitDir is a git directory.
type GitDir struct {
	Path string // it may lie outside the roots, if a .git file inside points to it
	Top  string // the top of its work tree, "" where it has none or it is not known
}

// Gap is something that a Map does not cover, and why.
type Gap struct {
	Path   string // a directory, entry or pattern
	Reason string
	Bound  bool // commands can bring it about: a bound was met, or the user's own directory cannot be read now
	Blind  bool // names may be unknown; else they are known, and the mounts lack
}

// Describe says what some gaps leave open, "" for none: the first one, and how many more there are.
func Describe(gaps []Gap) string {
	if len(gaps) == 0 {
		return ""
	}
	why := gaps[0].Reason
	if gaps[0].Path != "" {
		why = gaps[0].Path + " is " + why
	}
	if len(gaps) > 1 {
		why += fmt.Sprintf(" (and %d more)", len(gaps)-1)
	}
	return why
}

// Map says of the writable directories, as they were at one moment, what is protected in them. It is read-only, and
// sorted by path.
type Map struct {
	Roots []string // those that were walked; a root inside another is part of that one

	// Sealed are the existing entries to bind read-only. Nothing can be bound over the name of a link: its target, if
	// that lies in a root, is an entry of its own; the name is held by Judge and the tripwire.
	Sealed []Entry
	// Pins are the directories between a root and a sealed or masked entry in it, the root excluded, parents first: bound onto
	// themselves they cannot be renamed, so that no command can put another tree in their place.
	Pins []string
	// Secrets are the existing entries to mask against reading. Those that the patterns name by an absolute path may lie
	// outside the roots.
	Secrets []Entry
	// Missing are the names that do not exist and must not come into being, in git directories and where configuration
	// points. Names of the table are not among them: they count in every directory that is known.
	Missing []Entry
	// Reported are the existing entries that commands may write, and whose change is put before the person.
	Reported []Entry
	// Watch are the directories where a new name of the table matters at once: the roots, the home directory and the tops
	// of work trees, those inside the roots.
	Watch []string
	// Git are the git directories that are known.
	Git []GitDir
	// Partial lists the places that the walk could not cover or the mounts cannot hold. Empty: everything is covered.
	Partial []Gap

	inner   []string            // all roots, those inside others first
	names   map[string]Rule     // folded paths of Sealed and Missing, and entries that did not fit into Sealed
	dirs    map[string]struct{} // folded paths of the directories that were seen
	blind   bool                // the walk missed directories: any may have existed
	listed  int                 // entries that the walk looked at
	deny    *denyList
	looked  []string          // files whose content decides, and that hold no secret
	secrets map[identity]Rule // files that must not be read under any name
	stamps  []stamp
	writes  []string // granted
	reads   []string // granted
	home    string   // of the user

	beside []*Map // of places outside the roots
}

// Judge returns the rule that forbids a command to write, create or remove the path, absolute and resolved. It is pure text: the
// name need not exist. Judge says nothing about paths outside the roots.
//
// Names of the table count in directories that the walk saw. A directory made since belongs to its maker, with all names in it, but for what
// git runs there: see [Judged]. Where the walk was cut short every directory counts as seen.
func (m *Map) Judge(file string) (Rule, bool) {
	file = path.Clean(file)
	root := rootOf(m.inner, file)
	if root == "" {
		return m.ofBeside(file).judge(file)
	}
	return m.judgeIn(root, file)
}

// ofBeside returns the map of a place outside the roots that holds a path, nil for none.
func (m *Map) ofBeside(file string) *Map {
	var best *Map
	for _, b := range m.beside {
		if agenttool.Within(b.Roots[0], file) && (best == nil || len(b.Roots[0]) > len(best.Roots[0])) {
			best = b
		}
	}
	return best
}

// judge is Judge of a map that may be nil, which holds nothing.
func (m *Map) judge(file string) (Rule, bool) {
	if m == nil {
		return "", false
	}
	return m.Judge(file)
}

func (m *Map) judgeIn(root, file string) (Rule, bool) {
	if granted(m.writes, file) {
		return "", false
	}
	folded, base := fold(file), fold(root)
	for at := folded; len(at) >= len(base) && at != "/"; at = path.Dir(at) {
		if rule, ok := m.names[at]; ok {
			return rule, true
		}
	}
	components := strings.Split(below(base, folded), "/")
	return match(components, func(n Name, at, _ int) bool {
		return n.Hold == Seals && !slices.Contains(components[:at], nodeModules) && m.seen(path.Join(base,
			path.Join(components[:at]...)))
	})
}

// Asks returns the rule that makes writing the path, absolute and resolved, need the user's approval: whatever Judge holds, every name of the
// table below root, sealed or not, the names of the home directory, and the last part of a git directory that needs no name. It is the one
// question of rules and modes. A nil Map knows the table alone.
func (m *Map) Asks(file, root string) (Rule, bool) {
	if rule, ok := Asks(file, root); ok {
		return rule, true
	}
	if m == nil {
		return "", false
	}
	if AsksAtHome(file, m.home) {
		return ShellStartup, true
	}
	if rule, ok := m.Judge(file); ok {
		return rule, true
	}
	return VCSConfig, arms(file)
}

// Opens returns the protected names that a change of the path as a whole concerns, folded and sorted: the path itself if it is held, and
// all names that are known below it. A directory without any may be moved, replaced and removed.
func (m *Map) Opens(file string) []string {
	file = path.Clean(file)
	if m == nil {
		return nil
	}
	if rootOf(m.inner, file) == "" {
		return m.ofBeside(file).Opens(file)
	}
	folded := fold(file)
	var names []string
	if _, held := m.Judge(file); held {
		names = append(names, folded)
	}
	for name := range m.names {
		if name != folded && agenttool.Within(folded, name) {
			names = append(names, name)
		}
	}
	for _, git := range m.Git {
		if at := fold(git.Path); agenttool.Within(folded, at) {
			names = append(names, at)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasDir reports whether the walk saw a directory at the path, absolute and resolved.
func (m *Map) HasDir(file string) bool {
	if m == nil {
		return false
	}
	if rootOf(m.inner, path.Clean(file)) == "" {
		return m.ofBeside(path.Clean(file)).HasDir(file)
	}
	_, ok := m.dirs[fold(path.Clean(file))]
	return ok
}

// Fold returns a path as the names of [Map.Opens] are spelled.
func Fold(file string) string { return fold(path.Clean(file)) }

// Unknown returns the gaps in which there may be names, and pointers to names elsewhere, that the Map does not know, although the user's
// programs may obey them: a call that writes files must not run unasked then.
func (m *Map) Unknown() []Gap {
	return slices.DeleteFunc(m.Uncovered(), func(g Gap) bool { return !g.Blind })
}

// Reports returns the rule that reports a change of the path to the user although commands may write it. A granted path is
// not reported.
func (m *Map) Reports(file string) (Rule, bool) {
	file = path.Clean(file)
	root := rootOf(m.inner, file)
	if root == "" || granted(m.writes, file) {
		return "", false
	}
	components := strings.Split(below(fold(root), fold(file)), "/")
	return match(components, func(n Name, at, end int) bool {
		return n.Hold == Reports && (n.Dir || end == len(components)) && !slices.Contains(components[:at], nodeModules)
	})
}

func (m *Map) seen(folded string) bool {
	_, ok := m.dirs[folded]
	return ok || m.blind
}

// Pinned returns the rule of an entry below the directory if that forbids renaming or removing the directory: a tree in its place
// would be unprotected. It replaces Pins where there are no mounts.
func (m *Map) Pinned(dir string) (Rule, bool) {
	dir = path.Clean(dir)
	root := rootOf(m.Roots, dir)
	if root == "" {
		if b := m.ofBeside(dir); b != nil {
			return b.Pinned(dir)
		}
		return "", false
	}
	if granted(m.writes, dir) {
		return "", false
	}
	folded := fold(dir)
	for _, entry := range concat2(m.Sealed, m.Secrets) {
		if at := fold(entry.Path); at != folded && agenttool.Within(folded, at) && m.placed(entry) {
			return entry.Rule, true
		}
	}
	for _, git := range m.Git {
		if agenttool.Within(root, git.Path) && agenttool.Within(folded, fold(git.Path)) {
			return VCSConfig, true
		}
	}
	return "", false
}

// placed reports whether the directories above the entry are part of its protection. A secret may be one at any place: its mask
// moves with it, and its new path is again that of a secret.
func (m *Map) placed(entry Entry) bool {
	if entry.Rule != Secret {
		return true
	}
	return m.deny.denied(fold(entry.Path), fold(rootOf(m.Roots, entry.Path))).byPlace
}

// SameSecrets reports whether Secret says the same of every file.
func (m *Map) SameSecrets(o *Map) bool {
	same := func(a, b Entry) bool { return a.Path == b.Path && a.Rule == b.Rule }
	return slices.Equal(m.Roots, o.Roots) && slices.Equal(m.reads, o.reads) && slices.EqualFunc(m.Secrets, o.Secrets, same) &&
		maps.Equal(m.secrets, o.secrets) && m.deny.same(o.deny)
}

func concat2(a, b []Entry) []Entry { return append(slices.Clip(a), b...) }

// Secret says whether the file must not be read: by its path, absolute and resolved, existing or not, or because
// (dev, ino), as fstat has them of the opened file, is a secret under another name. Zeros stand for no file.
func (m *Map) Secret(file string, dev, ino uint64) (Rule, bool) {
	file = path.Clean(file)
	if granted(m.reads, file) {
		return "", false
	}
	if m.deny.covers(fold(file), fold(rootOf(m.Roots, file)), func(c contents) bool { return c.at(file) }) {
		return Secret, true
	}
	for _, entry := range m.Secrets {
		if agenttool.Within(entry.Path, file) {
			return entry.Rule, true
		}
	}
	if m.isCloneConfig(file) {
		return Secret, true
	}
	rule, ok := m.secrets[identity{dev, ino}]
	return rule, ok && ino != 0
}

// Names says whether a file of that name may be a secret, whatever it holds now: the path alone is judged, as [Map.Secret] judges it where
// content does not decide.
func (m *Map) Names(file string) bool {
	file = path.Clean(file)
	return !granted(m.reads, file) && m.deny.covers(fold(file), fold(rootOf(m.Roots, file)), anyContent)
}

// Holds reports whether a file of that path and with that content is a secret: one that is stored elsewhere than there.
func (m *Map) Holds(file string, content []byte) bool {
	file = path.Clean(file)
	return !granted(m.reads, file) && m.deny.covers(fold(file), fold(rootOf(m.Roots, file)), func(c contents) bool { return c.in(content[:min(len(content), maxHead)]) })
}

// MayBecome reports whether a name that was just made is a secret, or will be one once its content is written.
func (m *Map) MayBecome(file string) bool {
	if _, secret := m.Secret(file, 0, 0); secret || !m.Names(file) {
		return secret
	}
	var stat unix.Stat_t
	return unix.Lstat(file, &stat) == nil && kindOf(&stat) == File && stat.Size == 0
}

func granted(grants []string, file string) bool {
	return slices.ContainsFunc(grants, func(grant string) bool { return agenttool.Within(grant, file) })
}

// Granted returns a copy for a call that may write, or read, the given paths, absolute and resolved, with all below
// them. A directory that is bound as a whole is unbound for one path in it: take the tripwire's snapshot of the Map
// without grants, and judge its changes by them.
func (m *Map) Granted(writes, reads []string) *Map {
	g := *m
	g.writes = append(slices.Clip(g.writes), writes...)
	g.reads = append(slices.Clip(g.reads), reads...)
	opened := func(grants []string) func(Entry) bool {
		return func(e Entry) bool {
			return slices.ContainsFunc(grants, func(grant string) bool {
				return agenttool.Within(grant, e.Path) || agenttool.Within(e.Path, grant)
			})
		}
	}
	g.Sealed = slices.DeleteFunc(slices.Clone(m.Sealed), opened(g.writes))
	g.Missing = slices.DeleteFunc(slices.Clone(m.Missing), opened(g.writes))
	g.Secrets = slices.DeleteFunc(slices.Clone(m.Secrets), opened(g.reads))
	g.Pins = pins(&g, concat2(g.Sealed, g.Secrets))
	g.beside = nil
	for _, b := range m.beside {
		g.beside = append(g.beside, b.Granted(writes, nil))
	}
	return &g
}

// Beside returns the maps of the places outside the roots, each of one directory.
func (m *Map) Beside() []*Map { return m.beside }

// Uncovering returns a copy for a call that may remove the given paths with all below them, but not write what is protected there: nothing
// can be removed that is mounted over. Judge says the same as before.
func (m *Map) Uncovering(removes []string) *Map {
	if len(removes) == 0 {
		return m
	}
	g := *m
	in := func(e Entry) bool { return granted(removes, e.Path) }
	g.Sealed = slices.DeleteFunc(slices.Clone(m.Sealed), in)
	g.Pins = pins(&g, concat2(g.Sealed, g.Secrets))
	g.beside = nil
	for _, b := range m.beside {
		g.beside = append(g.beside, b.Uncovering(removes))
	}
	return &g
}

// Since returns the git directories, and the sealed and reported entries, that this Map has and an older one does not.
func (m *Map) Since(older *Map) (repositories []GitDir, entries []Entry) {
	for _, git := range m.Git {
		if !slices.ContainsFunc(older.Git, func(o GitDir) bool { return o.Path == git.Path }) {
			repositories = append(repositories, git)
		}
	}
	for _, entry := range m.Sealed {
		if _, known := older.names[fold(entry.Path)]; !known {
			entries = append(entries, entry)
		}
	}
	for _, entry := range m.Reported {
		if _, known := slices.BinarySearchFunc(older.Reported, entry, byPath); !known && !older.watches(entry.Path) {
			entries = append(entries, entry)
		}
	}
	return repositories, entries
}

// watches says whether snapshots of the map look for new names of the table in the entry's directory.
func (m *Map) watches(file string) bool { return slices.Contains(m.Watch, path.Dir(file)) }

func byPath(a, b Entry) int { return cmp.Compare(a.Path, b.Path) }

// Uncovered returns the gaps due to a bound, on names or on mounts: commands could use these places although they should be
// covered. A command that relies on the cover must not run unasked then.
func (m *Map) Uncovered() []Gap {
	all := slices.Clone(m.Partial)
	for _, b := range m.beside {
		all = append(all, b.Partial...)
	}
	return slices.DeleteFunc(all, func(g Gap) bool { return !g.Bound })
}

// Reaches reports whether names below the directory may be protected: the walk saw the directory, or [Map.Judge] knows names in it,
// or it is the beginning of a name of the table. A command that moves a tree to such a place, or makes a link there, could create
// names that Judge forbids to create. Below other directories nothing is protected.
func (m *Map) Reaches(dir string) bool {
	dir = path.Clean(dir)
	root := rootOf(m.inner, dir)
	if root == "" {
		b := m.ofBeside(dir)
		return b != nil && b.Reaches(dir)
	}
	if granted(m.writes, dir) {
		return false
	}
	folded, base := fold(dir), fold(root)
	for name := range m.names {
		if strings.HasPrefix(name, folded+"/") {
			return true
		}
	}
	components := strings.Split(below(base, folded), "/")
	if slices.Contains(components, nodeModules) {
		return false
	}
	if m.seen(folded) {
		return true
	}
	var open []tail
	for i, component := range components {
		open = advance(open, component)
		if i < len(components)-1 {
			continue
		}
		for _, t := range open {
			at := i + 1 - strings.Count(t.name.Path, "/") + strings.Count(t.rest, "/")
			if t.rest != "" && t.name.Hold == Seals && at >= 0 && m.seen(path.Join(base, path.Join(components[:at]...))) {
				return true
			}
		}
	}
	return false
}

// current reports whether every place that the Map depends on is unchanged: a few µs for each entry. It does not see new names
// deeper in the roots.
func (m *Map) current() bool {
	t, err := openTree(m.Roots)
	if err != nil {
		return false
	}
	defer t.close()
	for _, s := range m.stamps {
		if t.stampOf(s.path, s.ctime != unix.Timespec{}) != s {
			return false
		}
	}
	return true
}

const (
	nodeModules = "node_modules"
	listBuffer  = 32 << 10
)
