package protect

import (
	"path"
	"slices"
	"strings"
)

// Reaches reports whether names below the directory may be protected: it is one that the walk saw, or one of whose names
// [Map.Judge] knows some, or the beginning of a name of the table. Who moves a tree to such a place, or makes a link there,
// makes what Judge would forbid to make by name. Below others nothing is protected whatever lies there.
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
