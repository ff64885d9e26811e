package sandbox

import (
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// maxShown bounds what is shown in directories that are closed: each is a mount of every command.
const maxShown = 128

// link is a symbolic link in a closed directory, to a place that is shown elsewhere.
type link struct{ path, target string }

// closeHomes finds the home directories, under all their names. Commands see only listed places in them. A
// workspace that is a home, or holds it, shows it.
func (v *view) closeHomes(home string) error {
	v.home = protect.NewHome(home)
	dirs, err := v.home.Closed()
	if err != nil {
		return err
	}
	others, err := protect.OtherNames(dirs)
	if err != nil {
		return err
	}
	for _, dir := range append(dirs, others...) {
		switch {
		case v.inRoot(dir) || v.covered(dir) && !underScratch(dir):
		case isDir(dir):
			v.homes = append(v.homes, dir)
		default:
			v.masked = append(v.masked, dir)
		}
	}
	v.emptied = append(v.emptied, v.homes...)
	return nil
}

// showBeside shows a whole directory that a root lies in.
func (v *view) showBeside(dir string) {
	id, err := identify(dir)
	if err == nil && id.path == dir && (v.covered(dir) || v.isApart(dir)) && !v.inRoot(dir) && !v.holdsHome(dir) && !v.isHidden(dir) {
		v.shown = append(slices.DeleteFunc(v.shown, func(at identity) bool { return agenttool.Within(dir, at.path) }), id)
	}
}

func underScratch(dir string) bool {
	return agenttool.Within("/tmp", dir) || agenttool.Within("/var/tmp", dir)
}

// isClosed reports whether a path lies in a directory that is closed.
func (v *view) isClosed(path string) bool {
	return slices.ContainsFunc(v.homes, func(dir string) bool { return agenttool.Within(dir, path) })
}

// holdsHome reports whether a path is a closed directory or holds one.
func (v *view) holdsHome(path string) bool {
	return slices.ContainsFunc(v.homes, func(dir string) bool { return agenttool.Within(path, dir) })
}

// show has a path seen although it lies where the sandbox has something of its own.
func (v *view) show(path string) {
	id, err := identify(path)
	path = filepath.Clean(path)
	if err != nil || len(v.shown) >= maxShown || v.isHidden(id.path) || v.isClosed(id.path) && !v.home.Harmless(path) {
		return
	}
	if v.holdsHome(id.path) {
		return
	}
	inside := func(at identity) bool { return agenttool.Within(at.path, id.path) }
	if (v.covered(id.path) || v.isApart(id.path)) && !v.inRoot(id.path) && !slices.ContainsFunc(v.shown, inside) {
		v.shown = slices.DeleteFunc(v.shown, func(at identity) bool { return agenttool.Within(id.path, at.path) })
		v.shown = append(v.shown, id)
	}
	if path != id.path && (v.isClosed(path) || v.isApart(path)) && !v.inRoot(path) {
		v.links = append(v.links, link{path, id.path})
	}
}

// showPrograms shows a directory of PATH. Programs in a directory below a closed one need files beside it, and some are links
// to their place of installation.
func (v *view) showPrograms(dir string) {
	v.show(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !v.isClosed(real) && !v.isApart(real) {
		return
	}
	v.showPrefix(real)
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
		if err != nil || !v.isClosed(target) && !v.isApart(target) || agenttool.Within(real, target) {
			continue
		}
		if v.show(target); filepath.Base(filepath.Dir(target)) == "bin" {
			v.show(filepath.Dir(target))
			v.showPrefix(filepath.Dir(target))
		}
	}
}

// showPrefix shows what lies beside a directory of programs and belongs to them.
func (v *view) showPrefix(bin string) {
	if filepath.Base(bin) != "bin" {
		return
	}
	for _, name := range []string{"lib", "lib64", "libexec", "include", "jre", "pyvenv.cfg"} {
		v.show(filepath.Join(filepath.Dir(bin), name))
	}
}

// closed are the directories of which a command with a profile sees only what is shown.
func (v *view) closed(p Profile) []string {
	if p.Access == ReadOnly && !p.Elsewhere {
		return slices.Concat(v.homes, v.apart)
	}
	return v.homes
}

// readable are the places in closed directories that a profile opens for reading. Missing places open nothing.
func (v *view) readable(p Profile) []identity {
	var places []identity
	closed := v.closed(p)
	for _, path := range slices.Concat(p.Reveal, p.Read) {
		id, err := identify(path)
		if err != nil {
			continue
		}
		if inAny(closed, id.path) {
			places = append(places, id)
			continue
		}
		for _, dir := range closed { // a directory that contains a closed one shows all of it
			if whole, err := identify(dir); err == nil && agenttool.Within(id.path, dir) {
				places = append(places, whole)
			}
		}
	}
	return places
}
