package protect

import (
	"slices"

	"golang.org/x/sys/unix"
)

// stamp is what a protected place was like when a Map was made.
type stamp struct {
	path  string
	kind  Kind
	id    identity
	ctime unix.Timespec // of directories where new names matter, else zero
}

// maxStamps bounds what is looked at before each use of a Map. Only names that do not exist are left out.
const maxStamps = 1024

// stamp notes what the Map stands on.
func (b *builder) stamp() {
	for _, dir := range b.m.Watch[:min(len(b.m.Watch), maxStamps/2)] {
		b.m.stamps = append(b.m.stamps, b.tree.stampOf(dir, true))
	}
	for _, entry := range slices.Concat(b.m.Sealed, b.m.Secrets, b.m.Missing) {
		if len(b.m.stamps) < maxStamps && b.tree.root(entry.Path) != "" {
			b.m.stamps = append(b.m.stamps, b.tree.stampOf(entry.Path, false))
		}
	}
}

func (t *tree) stampOf(file string, whole bool) stamp {
	s := stamp{path: file}
	stat, err := t.lstat(file)
	if err != nil {
		return s
	}
	s.kind, s.id = kindOf(&stat), identityOf(&stat)
	if whole {
		s.ctime = stat.Ctim
	}
	return s
}

// current says whether all that the Map stands on is as it was: a few µs for each entry. What came into being deeper in
// the roots it cannot see.
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
