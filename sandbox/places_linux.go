package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// place is a directory in which commands see only shown entries. The session's holder builds it once, for every
// command: making a file system in memory and mounting in it takes longer than all other steps of a command.
type place struct {
	dir   string
	trees []placement // shown in it, read-only
	roots []string    // names made for mounts of a command
	links []link
}

// places are those of the session, whose own directories lie in none of them, with the views of configuration.
func (v *view) places(views []placement, own ...identity) []place {
	var all []place
	for _, dir := range slices.Concat(v.emptied, v.apart) {
		at := place{dir: dir}
		for _, id := range v.shown {
			if agenttool.Within(dir, id.path) && !slices.Contains(own, id) && !v.inRoot(id.path) {
				at.trees = append(at.trees, placement{from: id, to: id.path, readOnly: true})
			}
		}
		for _, view := range views {
			if agenttool.Within(dir, view.to) {
				at.trees = append(at.trees, view)
			}
		}
		slices.SortFunc(at.trees, func(a, b placement) int { return strings.Compare(a.to, b.to) })
		for _, root := range v.roots {
			if agenttool.Within(dir, root.path) {
				at.roots = append(at.roots, root.path)
			}
		}
		if agenttool.Within(dir, "/var/tmp") {
			at.roots = append(at.roots, "/var/tmp")
		}
		if home := v.home.Dir; v.isClosed(home) && agenttool.Within(dir, home) {
			at.roots = append(at.roots, home)
		}
		for _, l := range v.links {
			if agenttool.Within(dir, l.path) && !slices.ContainsFunc(at.trees, func(tree placement) bool { return agenttool.Within(tree.to, l.path) }) {
				at.links = append(at.links, l)
			}
		}
		all = append(all, at)
	}
	return all
}

// placesPlan tells the holder how to build the places, and that of the caches behind them.
func placesPlan(places []place, caches *layers, cache identity) enter.Plan {
	var p enter.Plan
	caches.hold(&p, cache)
	p.Add(enter.Devices, strconv.Itoa(len(places)+1))
	for i, at := range places {
		built := enter.BuildPlace(i)
		in := func(path string) string { return built + path[len(at.dir):] }
		p.Add(enter.Memory, built, emptyPlace)
		for _, tree := range at.trees { // what is in two places is held for each
			p.Add(enter.Hold, tree.from.args()...)
			p.Add(enter.Place, tree.from.path, in(tree.to), "ro")
		}
		for _, root := range at.roots {
			p.Add(enter.Folder, in(root))
		}
		for _, l := range at.links {
			p.Add(enter.Link, in(l.path), l.target)
		}
		p.Add(enter.Lock, built)
	}
	caches.mount(&p, cache, len(places))
	p.Add(enter.Lock, "/dev")
	return p
}
