package protect

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// State is the state of a path at one moment. The zero value means that nothing was there.
type State struct {
	Kind   Kind
	Mode   fs.FileMode // permission bits
	Size   int64
	Digest string // hexadecimal SHA-256 of a file's content up to 64 KiB, of a link's text; "" of others
	Target string // of a link

	id      identity
	changed unix.Timespec
}

// same says whether nothing has happened between the two. Only what has no digest is judged by its time, and a
// directory by neither: its entries are listed.
func (s State) same(other State) bool {
	if s.Kind != other.Kind || s.Mode != other.Mode || s.Digest != other.Digest || s.Target != other.Target {
		return false
	}
	undigested := s.Digest == "" && (s.Kind == File || s.Kind == Other)
	return s.Kind == Dir || s.Size == other.Size && (!undigested || s.id == other.id && s.changed == other.changed)
}

// Executable reports whether it is a file with any execute bit set.
func (s State) Executable() bool { return s.Kind == File && s.Mode&0o111 != 0 }

// Change is a protected path whose state changed.
type Change struct {
	Path          string
	Rule          Rule
	Before, After State
}

// Bounds of a snapshot.
const (
	maxDigest   = 64 << 10 // bytes of a file that are digested
	maxSnapped  = 4096     // names in all, existing or not
	maxInSealed = 64       // paths in one sealed directory
	sealedDepth = 3        // how deep sealed directories are looked into
	snapBuffer  = 16 << 10
	maxListed   = 4096 // names of a watched directory; of a larger one the table's are looked up one by one
)

// Snap is a snapshot of the protected names: the names that the Map seals, with the content of sealed directories; its Missing
// names; and the names of the table in the directories that it watches.
type Snap struct {
	m      *Map
	states map[string]snapshotEntry
	beside []*Snap // of the places outside the roots
	looked int     // names looked at
	buf    []byte  // to list directories
	tree   *tree   // while the snapshot is taken
	// Partial says that there was more than a snapshot looks at.
	Partial bool
}

type snapshotEntry struct {
	rule  Rule
	state State
}

// Take takes a snapshot. It costs some µs for each name. It fails if the machine is short of something: what cannot be opened for it would count as
// missing.
func Take(m *Map) (*Snap, error) {
	t, err := openTree(m.Roots)
	if err != nil {
		return nil, err
	}
	defer t.close()
	s := &Snap{m: m, tree: t, states: make(map[string]snapshotEntry), buf: make([]byte, snapBuffer)}
	byDir := make(map[string][]Entry)
	for _, entry := range slices.Concat(m.Sealed, m.Missing, m.Reported) {
		dir, _ := t.split(entry.Path)
		byDir[dir] = append(byDir[dir], entry)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		s.entries(t, dir, byDir[dir])
	}
	for _, dir := range m.Watch {
		s.watch(t, dir)
	}
	s.buf, s.tree = nil, nil
	if t.short != nil {
		return nil, t.short
	}
	for _, of := range m.beside {
		snap, err := Take(of)
		switch {
		case err == nil:
			s.beside = append(s.beside, snap)
		case agenttool.IsShortage(err):
			return nil, err
		} // else it is gone
	}
	return s, nil
}

// Knows reports whether a protected file of that base name had that content, wherever it was.
func (s *Snap) Knows(name string, content []byte) bool {
	if len(content) > maxDigest {
		return false
	}
	now := digest(content)
	for file, was := range s.states {
		if was.state.Digest == now && was.state.Kind == File && path.Base(file) == name {
			return true
		}
	}
	return false
}

// entries notes the entries of one directory, which is opened once for all of them.
func (s *Snap) entries(t *tree, dir string, entries []Entry) {
	fd, err := t.open(dir, searchOnly|unix.O_DIRECTORY)
	if err != nil {
		return // gone: its names are absent
	}
	defer unix.Close(fd)
	for _, entry := range entries {
		s.note(fd, entry, sealedDepth)
	}
}

// note looks at one entry of an open directory, and into it if it is a directory.
func (s *Snap) note(fd int, entry Entry, depth int) {
	name := path.Base(entry.Path)
	if _, known := s.states[entry.Path]; known {
		return
	}
	if s.looked++; s.looked > maxSnapped {
		s.Partial = true
		return
	}
	state, err := stateAt(fd, name)
	if s.tree.noted(err); state.Kind == Absent {
		return
	}
	s.states[entry.Path] = snapshotEntry{entry.Rule, state}
	if state.Kind != Dir {
		return
	}
	if depth == 0 {
		s.Partial = true
		return
	}
	sub, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if s.tree.noted(err) != nil {
		return
	}
	defer unix.Close(sub)
	for _, child := range s.children(sub, entry.Rule) {
		s.note(sub, Entry{agenttool.Join(entry.Path, child), entry.Rule, Absent}, depth-1)
	}
}

// children lists a sealed directory.
func (s *Snap) children(fd int, rule Rule) []string {
	var names []string
	_ = list(fd, s.buf, func(raw []byte, _ Kind) bool {
		if rule == VCSHooks && bytes.HasSuffix(raw, []byte(".sample")) {
			return true // git never runs those, and puts a dozen into each repository
		}
		if len(names) == maxInSealed {
			s.Partial = true
			return false
		}
		names = append(names, string(raw))
		return true
	})
	return names
}

// watch notes the names of the table that a directory holds, however they are spelled.
func (s *Snap) watch(t *tree, dir string) {
	fd, err := t.open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	var hits []string
	left := maxListed
	_ = list(fd, s.buf, func(raw []byte, _ Kind) bool {
		left--
		if len(table().first(string(raw))) > 0 || raw[0] >= 'A' && raw[0] <= 'Z' || raw[0] == '.' || raw[0] >= 0x80 {
			hits = append(hits, string(raw))
		}
		return left > 0
	})
	if left <= 0 {
		s.Partial = true
		hits = append(hits, slices.Collect(maps.Keys(table().exact))...)
	}
	for _, name := range hits {
		s.below(fd, agenttool.Join(dir, name), advance(nil, fold(name)))
	}
}

// below notes the entry of an open directory if the table seals or reports it, and goes on into it where the table has longer names.
func (s *Snap) below(fd int, file string, tails []tail) {
	for _, t := range tails {
		if t.name.Hold == OnlyAsks {
			continue
		}
		if t.rest == "" {
			s.note(fd, Entry{file, t.name.Rule, Absent}, sealedDepth)
			continue
		}
		whole := agenttool.Join(file, t.rest)
		parent := path.Dir(agenttool.Join(path.Base(file), t.rest))
		sub, err := openBeneath(fd, parent, searchOnly|unix.O_DIRECTORY|unix.O_CLOEXEC)
		if s.tree.noted(err) == nil {
			s.note(sub, Entry{whole, t.name.Rule, Absent}, sealedDepth)
			unix.Close(sub)
		}
	}
}

// stateAt looks at one name of an open directory. A file that cannot be read has no digest, and the error says why.
func stateAt(fd int, name string) (state State, err error) {
	var stat unix.Stat_t
	if err = statAt(fd, name, &stat); err != nil {
		return State{}, err
	}
	state = State{
		Kind: kindOf(&stat), Mode: fs.FileMode(stat.Mode & 0o7777), Size: stat.Size,
		id: identityOf(&stat), changed: stat.Ctim,
	}
	switch {
	case state.Kind == Symlink:
		state.Target, err = readlinkAt(fd, name)
		state.Digest = digest([]byte(state.Target))
	case state.Kind == File && stat.Size <= maxDigest:
		state.Digest, err = digestAt(fd, name)
	}
	return state, err
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// digestAt digests a regular file.
func digestAt(dir int, name string) (string, error) {
	flags := unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, name, flags, 0)
	if err != nil {
		return "", err
	}
	content, err := readRegular(fd, maxDigest)
	if err != nil {
		return "", err
	}
	return digest(content), nil
}

// Changes takes another snapshot and returns the differences, sorted by path. A root that no longer exists is an error.
func (s *Snap) Changes() ([]Change, error) {
	now, err := Take(s.m)
	if err != nil {
		return nil, err
	}
	s.Partial = s.Partial || now.Partial
	var changes []Change
	for file, before := range s.states {
		if after := now.states[file]; !before.state.same(after.state) {
			changes = append(changes, Change{file, before.rule, before.state, after.state})
		}
	}
	for file, after := range now.states {
		if _, known := s.states[file]; !known {
			changes = append(changes, Change{file, after.rule, State{}, after.state})
		}
	}
	for _, of := range s.beside {
		more, err := of.Changes()
		if agenttool.IsShortage(err) {
			return nil, err
		}
		if err != nil {
			continue // it is gone
		}
		changes = append(changes, more...)
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}
