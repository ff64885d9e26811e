package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// maxShown bounds what is shown in directories that are closed: each is a mount of every command.
const maxShown = 64

// link is a symbolic link in a directory that is closed, to what is shown elsewhere.
type link struct{ path, target string }

// closeHomes finds the home directories, under every name that they have, that commands see empty but for what is listed. A
// workspace that is one, or holds it, shows it.
func (s *Session) closeHomes() {
	s.home = protect.NewHome(s.o.Home)
	dirs := s.home.Closed()
	dirs = append(dirs, protect.OtherNames(dirs)...)
	for _, dir := range dirs {
		switch {
		case s.inRoot(dir) || s.covered(dir) && !underScratch(dir):
		case isDir(dir):
			s.homes = append(s.homes, dir)
		default:
			s.masked = append(s.masked, dir)
		}
	}
	s.emptied = append(s.emptied, s.homes...)
}

func underScratch(dir string) bool {
	return agenttool.Within("/tmp", dir) || agenttool.Within("/var/tmp", dir)
}

// isClosed reports whether a path lies in a directory that is closed.
func (s *Session) isClosed(path string) bool {
	return slices.ContainsFunc(s.homes, func(dir string) bool { return agenttool.Within(dir, path) })
}

// HoldsHome reports whether a path is a directory that is closed to commands, or holds one.
func (s *Session) HoldsHome(path string) bool {
	return slices.ContainsFunc(s.homes, func(dir string) bool { return agenttool.Within(path, dir) })
}

// show has a path seen although it lies where the sandbox has something of its own.
func (s *Session) show(path string) {
	id, err := identify(path)
	path = filepath.Clean(path)
	if err != nil || len(s.shown) >= maxShown || s.isHidden(id.path) || s.isClosed(id.path) && !s.home.Harmless(path) {
		return
	}
	if slices.ContainsFunc(s.homes, func(dir string) bool { return agenttool.Within(id.path, dir) }) {
		return // it holds all of a home directory
	}
	inside := func(at identity) bool { return agenttool.Within(at.path, id.path) }
	if s.covered(id.path) && !s.inRoot(id.path) && !slices.ContainsFunc(s.shown, inside) {
		s.shown = slices.DeleteFunc(s.shown, func(at identity) bool { return agenttool.Within(id.path, at.path) })
		s.shown = append(s.shown, id)
	}
	if path != id.path && s.isClosed(path) && !s.inRoot(path) {
		s.links = append(s.links, link{path, id.path})
	}
}

// showPrograms shows a directory of PATH. What the programs of one below a closed directory need lies beside it, and some of them
// are links to where they were installed.
func (s *Session) showPrograms(dir string) {
	s.show(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !s.isClosed(real) {
		return
	}
	s.showPrefix(real)
	entries, err := os.ReadDir(real)
	if err != nil {
		return
	}
	const most = 256
	for _, e := range entries[:min(len(entries), most)] {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		target, err := filepath.EvalSymlinks(filepath.Join(real, e.Name()))
		if err != nil || !s.isClosed(target) || agenttool.Within(real, target) {
			continue
		}
		if s.show(target); filepath.Base(filepath.Dir(target)) == "bin" {
			s.show(filepath.Dir(target))
			s.showPrefix(filepath.Dir(target))
		}
	}
}

// showPrefix shows what lies beside a directory of programs and belongs to them.
func (s *Session) showPrefix(bin string) {
	if filepath.Base(bin) != "bin" {
		return
	}
	for _, name := range []string{"lib", "lib64", "libexec", "include", "jre", "pyvenv.cfg"} {
		s.show(filepath.Join(filepath.Dir(bin), name))
	}
}

// reads are the places in closed directories that a profile opens for reading. What is not there opens nothing.
func (s *Session) reads(p Profile) []identity {
	var places []identity
	for _, path := range slices.Concat(p.Reveal, p.Read) {
		id, err := identify(path)
		if err != nil {
			continue
		}
		if s.isClosed(id.path) {
			places = append(places, id)
			continue
		}
		for _, dir := range s.homes { // what holds a home directory shows all of it
			if whole, err := identify(dir); err == nil && agenttool.Within(id.path, dir) {
				places = append(places, whole)
			}
		}
	}
	return places
}

// visible reports whether the command sees what the host has at a path.
func (p *plan) visible(path string) bool {
	seen := true
	for _, at := range p.places { // what lies deeper comes later
		if agenttool.Within(at.to, path) {
			seen = !at.memory
		}
	}
	return seen
}

// secrets are those of the protected entries that must not be read and that the command would see.
func (p *plan) secrets() []protect.Entry {
	return slices.DeleteFunc(slices.Clone(p.names.granted.Secrets), func(e protect.Entry) bool { return !p.visible(e.Path) })
}
