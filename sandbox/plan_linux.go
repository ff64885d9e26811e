package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
)

// identity is a file by path and numbers. A path that leads somewhere else by the time the sandbox is made fails.
type identity struct {
	path     string
	dev, ino uint64
}

func (id identity) args() []string {
	return []string{id.path, strconv.FormatUint(id.dev, 10), strconv.FormatUint(id.ino, 10)}
}

// identify looks at an absolute path without links.
func identify(path string) (identity, error) {
	if !filepath.IsAbs(path) {
		return identity{}, fmt.Errorf("%s is not absolute", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return identity{}, err
	}
	info, err := os.Lstat(real)
	if err != nil {
		return identity{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return identity{path: real, dev: uint64(st.Dev), ino: st.Ino}, nil
}

// plan is a plan being made for one command.
type plan struct {
	enter.Plan
	s       *Session
	c       *Command
	level   Level // None for a command that is not confined, else the session's
	names   names
	further []identity // what the profile adds to the roots
	reads   []identity // what it opens for reading
	writes  []string   // where it may write, as it sees it
	places  []placement
	fitting []bool   // of the session's places: they are what the command is to see
	network []string // variables that lead to the proxy
	ruleset *os.File // the outer wall; nil where the kernel has none
	shared  bool     // the ruleset is other commands', too
}

// make fills the plan. The order is that of package enter: trees are held before everything becomes read-only, what lies
// deeper comes after what it lies in, privileges go last.
func (p *plan) make() error {
	p.places = p.placements()
	if err := p.landlock(); err != nil {
		return err
	}
	p.descriptors()
	if p.level == Full {
		p.view()
	}
	p.Add(enter.Streams)
	if err := p.directory(); err != nil {
		return err
	}
	p.limits()
	p.Add(enter.Privileges)
	if err := p.filter(); err != nil {
		return err
	}
	p.run(p.environ())
	return nil
}

// makeUnconfined fills the plan of a command that runs as the person does.
func (p *plan) makeUnconfined() error {
	p.descriptors()
	if err := p.directory(); err != nil {
		return err
	}
	p.limit(enter.Bound, p.s.o.Limits)
	p.run(p.c.Env)
	return nil
}

// descriptors says what the command gets besides its streams.
func (p *plan) descriptors() {
	if p.c.Note != nil {
		p.Add(enter.Note)
	}
	if p.ruleset != nil {
		p.Add(enter.Ruleset)
	}
	if p.c.Terminal {
		p.Add(enter.Terminal)
	}
}

func (p *plan) run(env []string) {
	p.Add(enter.Environ, env...)
	p.Add(enter.Run, append([]string{p.c.Path}, p.c.Args...)...)
}

// files are the descriptors that the helper gets behind the control socket and the plan.
func (p *plan) files() []*os.File {
	files := p.c.files()
	if p.ruleset != nil {
		files = append(files, p.ruleset)
	}
	return files
}

// close gives up what only the helper needs.
func (p *plan) close() {
	if p.ruleset != nil && !p.shared {
		p.ruleset.Close()
	}
}

// workspace reports whether the command may write.
func (p *plan) workspace() bool { return p.c.Profile.Access == Workspace }

// placement is a tree and where it is shown, or an empty one in memory.
type placement struct {
	from     identity
	to       string
	readOnly bool
	memory   bool
}

// view makes what the command sees of the file system.
func (p *plan) view() {
	for _, b := range p.s.places {
		p.fitting = append(p.fitting, p.fits(b))
	}
	for _, at := range p.places {
		if !at.memory && !p.built(at) {
			p.Add(enter.Hold, at.from.args()...)
		}
	}
	p.Add(enter.ReadOnly)
	p.Add(enter.Terminals)
	p.Add(enter.Memory, "/dev/shm", "mode=1777,size=256m")
	p.Add(enter.Proc)
	for _, at := range p.places {
		switch {
		case at.memory:
			p.show(at)
		case p.built(at):
		case at.readOnly:
			p.Add(enter.Place, at.from.path, at.to, "ro")
		default:
			p.Add(enter.Place, at.from.path, at.to, "")
		}
	}
	p.finish()
	p.pinHidden()
	p.protect()
	for _, path := range append(p.s.hidden(), p.s.masked...) {
		if p.visible(path) {
			p.mask(path)
		}
	}
}

// placements are the trees of the command, those that lie in others after them.
func (p *plan) placements() []placement {
	s, readOnly := p.s, !p.workspace()
	places := []placement{{from: s.tmp, to: "/tmp", readOnly: readOnly}, {from: s.varTmp, to: "/var/tmp", readOnly: readOnly}}
	for _, dir := range s.emptied {
		places = append(places, placement{to: dir, memory: true})
	}
	for _, root := range s.roots {
		if !readOnly || s.covered(root.path) {
			places = append(places, placement{from: root, to: root.path, readOnly: readOnly})
		}
	}
	places = append(places, placement{from: s.cache, to: cachePlace, readOnly: readOnly})
	known := func(id identity) bool {
		return slices.ContainsFunc(places, func(at placement) bool { return at.from == id })
	}
	if p.workspace() {
		for _, id := range p.further {
			if !known(id) {
				places = append(places, placement{from: id, to: id.path})
			}
		}
	}
	for _, id := range slices.Concat(s.shown, p.reads) {
		if !known(id) && !s.inRoot(id.path) {
			places = append(places, placement{from: id, to: id.path, readOnly: true})
		}
	}
	slices.SortStableFunc(places, func(a, b placement) int { return strings.Compare(a.to, b.to) })
	return places
}

// directory enters the working directory.
func (p *plan) directory() error {
	var st unix.Stat_t
	if err := unix.Fstat(int(p.c.At.Fd()), &st); err != nil {
		return fmt.Errorf("the working directory %s: %w", p.c.Dir, err)
	}
	p.Add(enter.Directory, identity{p.c.Dir, uint64(st.Dev), st.Ino}.args()...)
	return nil
}

// limits bounds what one confined command can use up. Those that a sandbox has by itself hold before it starts, for its helper,
// too, which can live with them.
func (p *plan) limits() {
	p.limit(enter.Limit, slices.DeleteFunc([]Limit{
		{unix.RLIMIT_CORE, 0, 0},
		p.s.processLimit(p.level),
		{unix.RLIMIT_FSIZE, maxFile, maxFile},
		{unix.RLIMIT_NOFILE, 1024, maxFiles},
	}, func(l Limit) bool {
		return slices.ContainsFunc(p.s.o.Limits, func(other Limit) bool { return other.Resource == l.Resource })
	}))
	p.limit(enter.Bound, p.s.o.Limits)
	b := p.s.o.Bounds
	p.Add(enter.Guard, strconv.Itoa(p.s.reserved.ofCommand(b.Processes)), strconv.FormatInt(max(b.Memory, 0), 10))
}

func (p *plan) limit(op enter.Op, limits []Limit) {
	for _, l := range limits {
		p.Add(op, strconv.Itoa(l.Resource), strconv.FormatUint(l.Soft, 10), strconv.FormatUint(l.Hard, 10))
	}
}

const (
	maxProcesses = 4096
	maxFile      = 16 << 30
	maxFiles     = 65536
)

// environ is the command's environment with what the sandbox makes of it.
func (p *plan) environ() []string {
	full := p.s.level == Full
	switch {
	case p.workspace() && full:
		return setEnv(p.c.Env, slices.Concat(p.network, p.s.cacheEnv(), []string{"TMPDIR=/tmp"})...)
	case p.workspace():
		return setEnv(p.c.Env, append(p.s.cacheEnv(), "TMPDIR="+p.s.tmp.path)...)
	case full:
		return setEnv(p.c.Env, append(p.s.cacheEnv(), "TMPDIR=/dev/shm")...)
	}
	return setEnv(p.c.Env, append(p.s.cacheEnv(), "TMPDIR="+p.s.private.path)...)
}
