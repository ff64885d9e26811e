package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// handled are the rights of version abi that a command has only where a rule grants them: to write; to read, if there are no masks; and
// to use the network, if the command has none of its own.
func (p *plan) handled(abi int) landlock.RulesetAttr {
	attr := landlock.RulesetAttr{HandledAccessFS: rights(abi)}
	if abi >= 4 && (!p.workspace() && !p.c.Profile.Loopback || p.level != Full) {
		attr.HandledAccessNet = tcpRights
	}
	if abi >= 6 {
		attr.Scoped = allScopes
	}
	if p.level != Full {
		attr.HandledAccessFS |= landlock.AccessFSReadFile
	}
	return attr
}

// landlock makes the outer wall. The helper enters it: rules are about files, whatever names they have in its view.
func (p *plan) landlock() (err error) {
	if p.s.abi < 1 {
		return nil
	}
	wall := wall{attr: p.handled(p.s.abi), open: p.open()}
	if p.level != Full {
		wall.read = p.readable()
		p.ruleset, err = wall.ruleset()
		return err
	}
	h, err := p.s.hold()
	if err != nil {
		return err
	}
	wall.devices = h.devices
	p.ruleset, p.shared, err = h.walls.ruleset(wall)
	return err
}

// readable are the places that a command may read if no mounts hide the others: all of the system but home directories and
// secrets, and the shown places in those. Names can still be listed.
func (p *plan) readable() []string {
	hidden := slices.Concat(p.s.view.closed(p.c.Profile), p.s.view.masked, p.s.view.ownDirs())
	for _, e := range p.secrets() {
		if p.names.granted.Cut(e.Path) && protect.IsGitDir(filepath.Dir(e.Path)) {
			continue // git cannot do without it
		}
		if !p.workspace() || !p.s.view.inRoot(e.Path) { // in a directory that is written, new files must be readable
			hidden = append(hidden, e.Path)
		}
	}
	open := openings("/", hidden)
	for _, at := range p.layout.trees {
		if !at.memory && at.from.path == at.to {
			within := slices.DeleteFunc(slices.Clone(hidden), func(path string) bool { return path == at.to }) // closed, and opened by the decision
			open = append(open, openings(at.to, within)...)
		}
	}
	return append(open, p.s.configs.sources()...)
}

// openings are the places at or below a path that are, or hold, none of the hidden ones. Links lead to others.
func openings(path string, hidden []string) []string {
	holds := func(file string) bool { return agenttool.Within(path, file) }
	if !slices.ContainsFunc(hidden, holds) {
		return []string{path}
	}
	if slices.Contains(hidden, path) {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	var open []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			open = append(open, openings(filepath.Join(path, e.Name()), hidden)...)
		}
	}
	return open
}

// open are the places that the outer wall leaves open for writing, besides the sandbox's own /dev: where they are, and where the
// command sees them.
func (p *plan) open() []placement {
	s := p.s
	var open []placement
	add := func(to string, from identity) { open = append(open, placement{from: from, to: to}) }
	if p.level != Full {
		for _, path := range append(p.terminal(), "/dev/null", "/dev/zero", "/dev/full", "/dev/tty") {
			add(path, identity{path: path})
		}
		add(s.dirs.private.path, s.dirs.private)
	}
	if p.workspace() {
		if p.level == Full {
			add("/tmp", s.dirs.tmp)
			add("/var/tmp", s.dirs.varTmp)
		} else {
			add(s.dirs.tmp.path, s.dirs.tmp)
			add(s.dirs.varTmp.path, s.dirs.varTmp)
			add(s.dirs.cache.path, s.dirs.cache)
		}
		for _, root := range s.view.roots {
			add(root.path, root)
		}
	}
	for _, id := range p.opened.write {
		add(id.path, id)
	}
	return open
}

// writable returns the places that the Landlock ruleset lets the command write, under the paths by which the command sees them.
func (p *plan) writable() []string {
	var dirs []string
	if p.level == Full {
		dirs = append(dirs, "/dev")
	}
	for _, at := range p.open() {
		dirs = append(dirs, at.to)
	}
	for _, l := range p.opened.loans {
		dirs = append(dirs, l.path)
	}
	return dirs
}

// hostFiles are the places of the host that a command may write.
func (p *plan) hostFiles() []string {
	dirs := append(paths(p.s.view.roots), paths(p.opened.write)...)
	for _, l := range p.opened.loans {
		dirs = append(dirs, l.first)
	}
	return dirs
}

// terminal is the name of the command's terminal, which some programs open; nil if it has none.
func (p *plan) terminal() []string {
	if !p.c.Terminal {
		return nil
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", p.c.Streams[0].Fd()))
	if err != nil || !strings.HasPrefix(name, "/dev/pts/") {
		return nil
	}
	return []string{name}
}
