package protect

import (
	"path"
	"slices"
	"strings"
)

// Reaches reports whether names below the directory may be protected: the walk saw the directory, or [Map.Judge] knows names in it,
// or it is the beginning of a name of the table. A command that moves a tree to such a place, or makes a link there, could create
// names that Judge forbids to create. Below other directories nothing is protected.
func (m *Map) Reaches(dir string) bool {
	dir = path.Clean(dir)
	root := rootOf(m.inner, dir)
	if root == "" || granted(m.writes, dir) {
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
