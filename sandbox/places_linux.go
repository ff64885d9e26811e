package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// emptyPlace are the options of a directory that is empty but for what is shown in it.
const emptyPlace = "mode=755,size=1m"

// place is a directory that commands see empty but for what is shown in it. The session's holder builds it once, for every
// command: to make a file system in memory and to mount in it take longer than all else that a command needs.
type place struct {
	dir   string
	trees []identity // shown in it
	roots []string   // names made for what a command has mounted there
	links []link
}

// placesOf are those of the session.
func (s *Session) placesOf() []place {
	var all []place
	for _, dir := range s.emptied {
		at := place{dir: dir}
		for _, id := range s.shown {
			own := slices.Contains([]identity{s.tmp, s.varTmp, s.cache}, id)
			if agenttool.Within(dir, id.path) && !own && !s.inRoot(id.path) {
				at.trees = append(at.trees, id)
			}
		}
		slices.SortFunc(at.trees, func(a, b identity) int { return strings.Compare(a.path, b.path) })
		for _, root := range s.roots {
			if agenttool.Within(dir, root.path) {
				at.roots = append(at.roots, root.path)
			}
		}
		if home := s.home.Dir; s.isClosed(home) && agenttool.Within(dir, home) {
			at.roots = append(at.roots, home)
		}
		for _, l := range s.links {
			if agenttool.Within(dir, l.path) && !slices.ContainsFunc(at.trees, func(id identity) bool { return agenttool.Within(id.path, l.path) }) {
				at.links = append(at.links, l)
			}
		}
		all = append(all, at)
	}
	return all
}

// building is the plan by which the holder makes what all commands of the session see alike.
func (s *Session) building() enter.Plan {
	var p enter.Plan
	for _, at := range s.places {
		for _, id := range at.trees {
			p.Add(enter.Hold, id.args()...)
		}
	}
	p.Add(enter.Devices, strconv.Itoa(len(s.places)))
	for i, at := range s.places {
		built := enter.BuildPlace(i)
		in := func(path string) string { return built + path[len(at.dir):] }
		p.Add(enter.Memory, built, emptyPlace)
		for _, id := range at.trees {
			p.Add(enter.Place, id.path, in(id.path), "ro")
		}
		for _, root := range at.roots {
			p.Add(enter.Folder, in(root))
		}
		for _, l := range at.links {
			p.Add(enter.Link, in(l.path), l.target)
		}
		p.Add(enter.Lock, built)
	}
	p.Add(enter.Lock, "/dev")
	return p
}

// fits reports whether a place that was built is what a command is to see there: nothing else is mounted in it.
func (p *plan) fits(built place) bool {
	return !slices.ContainsFunc(p.places, func(at placement) bool {
		if at.memory || !agenttool.Within(built.dir, at.to) {
			return false
		}
		return at.to == built.dir || !built.holds(at) && !slices.Contains(built.roots, at.to)
	})
}

// holds reports whether a tree is in a place already.
func (b place) holds(at placement) bool {
	return at.readOnly && at.from.path == at.to && slices.Contains(b.trees, at.from)
}

// built reports whether a tree is in a place of the session that the command is to see.
func (p *plan) built(at placement) bool {
	for i, b := range p.s.places {
		if p.fitting[i] && b.holds(at) {
			return true
		}
	}
	return false
}

// show has the places of the session moved to where the command sees them. One that does not fit is covered, and made anew.
func (p *plan) show(at placement) {
	number := slices.IndexFunc(p.s.places, func(b place) bool { return b.dir == at.to })
	p.Add(enter.Show, enter.BuildPlace(number), at.to)
	if !p.fitting[number] {
		p.Add(enter.Memory, at.to, emptyPlace)
	}
}

// finish makes the names in the places that the session did not build, and closes them.
func (p *plan) finish() {
	for i, b := range p.s.places {
		if p.fitting[i] {
			continue
		}
		for _, root := range b.roots {
			if !p.visible(root) {
				p.Add(enter.Folder, root)
			}
		}
		for _, l := range p.s.links {
			if agenttool.Within(b.dir, l.path) && !p.visible(l.path) {
				p.Add(enter.Link, l.path, l.target)
			}
		}
		p.Add(enter.Lock, b.dir)
	}
}
