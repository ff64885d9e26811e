package sandbox

import (
	"slices"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// placement is a tree and the path where a command sees it, or an empty directory in memory.
type placement struct {
	from     identity
	to       string
	readOnly bool
	memory   bool
	view     bool   // of a file of the host, in its place
	built    string // where the session's holder has built the tree; "" where it is the host's alone
}

// layout is the arrangement of the trees that a command sees.
type layout struct {
	trees  []placement // parents first
	places []place     // of the session
	links  []link      // of the session
	used   []bool      // for each place: the command has it
	fits   []bool      // for each place: the command has it, and mounts nothing else in it
	loans  []string    // directories in which names will be made
}

func newLayout(s *Session, trees []placement, loans []identity) layout {
	l := layout{trees: trees, places: s.places, links: s.view.links, loans: paths(loans)}
	for _, at := range s.places {
		shown := slices.ContainsFunc(trees, func(tree placement) bool { return tree.memory && tree.to == at.dir })
		lends := slices.ContainsFunc(l.loans, func(dir string) bool { return agenttool.Within(at.dir, dir) })
		l.used = append(l.used, shown)
		l.fits = append(l.fits, shown && !lends && !slices.ContainsFunc(trees, at.isChangedBy))
	}
	return l
}

// isChangedBy reports whether a command that has a tree needs another place.
func (b place) isChangedBy(at placement) bool {
	if at.memory || !agenttool.Within(b.dir, at.to) {
		return false
	}
	return at.to == b.dir || !b.holds(at) && !slices.Contains(b.roots, at.to)
}

// holds reports whether a tree is in a place already.
func (b place) holds(at placement) bool {
	return slices.Contains(b.trees, at)
}

// isBuilt reports whether a tree is in a place that fits.
func (l *layout) isBuilt(at placement) bool {
	for i, b := range l.places {
		if l.fits[i] && b.holds(at) {
			return true
		}
	}
	return false
}

// visible reports whether the command sees the host's file at a path.
func (l *layout) visible(path string) bool {
	seen := true
	for _, at := range l.trees {
		if agenttool.Within(at.to, path) {
			seen = !at.memory && !at.view
		}
	}
	return seen
}

// viewed reports whether the command sees a view of the host's file at a path.
func (l *layout) viewed(path string) bool {
	return slices.ContainsFunc(l.trees, func(at placement) bool { return at.view && at.to == path })
}

// placeOf is the number of the place that a path, which the command does not see, lies in.
func (l *layout) placeOf(path string) int {
	deepest := 0
	for i, b := range l.places {
		if l.used[i] && agenttool.Within(b.dir, path) && len(b.dir) >= len(l.places[deepest].dir) {
			deepest = i
		}
	}
	return deepest
}

// hold opens the trees before everything becomes read-only.
func (l *layout) hold(p *enter.Plan) {
	for _, at := range l.trees {
		if !at.memory && at.built == "" && !l.isBuilt(at) {
			p.Add(enter.Hold, at.from.args()...)
		}
	}
}

// mount mounts the trees.
func (l *layout) mount(p *enter.Plan) {
	for _, at := range l.trees {
		switch {
		case at.memory:
			l.show(p, at)
		case at.built != "":
			p.Add(enter.Show, at.built, at.to)
			if !at.readOnly {
				p.Add(enter.Open, at.to)
			}
		case l.isBuilt(at):
		case at.readOnly:
			p.Add(enter.Place, at.from.path, at.to, "ro")
		default:
			p.Add(enter.Place, at.from.path, at.to, "")
		}
	}
	l.finish(p)
}

// show moves a place of the session to its path in the command's view. An empty directory covers one that does not fit.
func (l *layout) show(p *enter.Plan, at placement) {
	number := slices.IndexFunc(l.places, func(b place) bool { return b.dir == at.to })
	p.Add(enter.Show, enter.BuildPlace(number), at.to)
	if !l.fits[number] {
		p.Add(enter.Memory, at.to, emptyPlace)
	}
}

// finish makes the names in places that do not fit, and makes these places read-only.
func (l *layout) finish(p *enter.Plan) {
	for i, b := range l.places {
		if l.fits[i] || !l.used[i] {
			continue
		}
		for _, root := range b.roots {
			if !l.visible(root) {
				p.Add(enter.Folder, root)
			}
		}
		for _, link := range l.links {
			if agenttool.Within(b.dir, link.path) && !l.visible(link.path) {
				p.Add(enter.Link, link.path, link.target)
			}
		}
		for _, dir := range l.loans {
			if agenttool.Within(b.dir, dir) && !l.visible(dir) {
				p.Add(enter.Folder, dir)
				p.Add(enter.LendAt, dir)
			}
		}
		p.Add(enter.Lock, b.dir)
	}
}
