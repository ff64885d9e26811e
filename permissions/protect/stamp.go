package protect

import (
	"slices"

	"golang.org/x/sys/unix"
)

// stamp is the state of a protected place when a Map was made.
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
