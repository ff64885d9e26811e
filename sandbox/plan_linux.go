package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/seccomp"
)

// plan is a plan being made for one command.
type plan struct {
	enter.Plan
	s     *Session
	c     *Command
	level Level // None for a command that is not confined, else the session's
	names names
	space
	world   *world     // in which the command lives; nil: in a pid namespace of its own, or none
	network []string   // variables that lead to the proxy
	denied  []covering // of programs that rules deny whole

	masked    []string // configurations in the home's caches of which there is no view
	masksLike bool     // a file of the workspace is masked by one of its size and time
	starts    *starts  // judges the programs that it starts; nil: nothing does
	outerWall
}

// outerWall is the ruleset around a command.
type outerWall struct {
	ruleset *os.File // nil where the kernel has none
	shared  bool     // the ruleset is other commands', too
	group   *os.File // the list of processes of its control group; nil: it has none
}

// space has the places that the command may open and write.
type space struct {
	opened openPlaces
	writes []string // the places that it may write, as it sees them
	layout layout
}

// make fills the plan. The order is that of package enter: trees are held before everything becomes read-only, inner
// places follow outer ones, privileges go last.
func (p *plan) make() error {
	if p.level == Full {
		h, err := p.s.hold()
		if err != nil {
			return err
		}
		if h.world.takes(p.s.abi, p.c.Profile) {
			p.world = &h.world
		}
	}
	views, err := p.s.configs.placements(p.s.view)
	if err != nil {
		return err
	}
	if p.level == Full {
		views = append(views, p.s.configs.cuts(p.names.granted)...)
		var caches []placement
		caches, p.masked = p.s.configs.cachesOf(p.s.view)
		views = append(views, caches...)
	}
	p.layout = newLayout(p.s, p.placements(views), p.opened.loanDirs())
	p.layout.links = slices.DeleteFunc(slices.Clone(p.layout.links), func(l link) bool { // a directory above it would not be missing any more
		return slices.ContainsFunc(p.opened.loans, func(loan loan) bool { return agenttool.Within(loan.first, l.path) })
	})
	if err := p.landlock(); err != nil {
		return err
	}
	p.descriptors()
	p.findDenied()
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
	if p.level != None {
		p.group = p.s.reserved.processes()
	}
	if p.group != nil {
		p.Add(enter.Group)
	}
	if p.world != nil {
		p.Add(enter.World)
	}
	if p.c.Terminal {
		p.Add(enter.Terminal)
	}
}

func (p *plan) run(env []string) {
	if p.c.Background {
		p.Add(enter.Nice)
	}
	if p.c.Script != "" {
		p.Add(enter.Script, p.c.Script)
	}
	p.Add(enter.Environ, env...)
	p.Add(enter.Run, append([]string{p.c.Path}, p.c.Args...)...)
}

// files are the descriptors that the helper gets behind the control socket and the plan.
func (p *plan) files() []*os.File {
	files := p.c.files()
	if p.ruleset != nil {
		files = append(files, p.ruleset)
	}
	if p.group != nil {
		files = append(files, p.group)
	}
	return files
}

// close gives up what only the helper needs.
func (p *outerWall) close() {
	if p.group != nil {
		p.group.Close()
	}
	if p.ruleset != nil && !p.shared {
		p.ruleset.Close()
	}
}

// workspace reports whether the command may write.
func (p *plan) workspace() bool { return p.c.Profile.Access == Workspace }

// view makes the command's view of the file system.
func (p *plan) view() {
	p.layout.hold(&p.Plan)
	p.opened.holdLoans(&p.Plan)
	p.Add(enter.ReadOnly)
	p.Add(enter.Terminals)
	if len(p.opened.loans) > 0 {
		p.Add(enter.LendUp)
	}
	if p.world != nil && p.workspace() {
		p.Add(enter.Share)
	} else {
		p.Add(enter.Withhold, "memory")
		p.Add(enter.Memory, "/dev/shm", enter.SharedOptions(p.s.o.Bounds.shared()))
	}
	p.Add(enter.Proc)
	if p.world == nil {
		p.Add(enter.Withhold, "processes")
	}
	p.layout.mount(&p.Plan)
	p.pinHidden()
	p.protect()
	p.hideDenied()
	for _, path := range slices.Concat(p.s.view.ownDirs(), p.s.view.masked, p.masked) {
		if p.layout.visible(path) {
			p.mask(path)
		}
	}
}

// placements are the trees of the command, those that lie in others after them. A file that the command may read or write is the person's
// own, and no view of it.
func (p *plan) placements(views []placement) []placement {
	s, readOnly := p.s, !p.workspace()
	var apart []string // closed to this command, besides what is to all
	if readOnly && !p.c.Profile.Elsewhere {
		apart = s.view.apart
	}
	covered := func(path string) bool { return s.view.covered(path) || inAny(apart, path) }
	places := []placement{{from: s.dirs.tmp, to: "/tmp", readOnly: readOnly}, {from: s.dirs.varTmp, to: "/var/tmp", readOnly: readOnly}}
	for _, dir := range s.view.emptied {
		if !inAny(apart, dir) || agenttool.Within("/var/tmp", dir) { // the session's own /var/tmp covers /var
			places = append(places, placement{to: dir, memory: true})
		}
	}
	for _, dir := range apart {
		places = append(places, placement{to: dir, memory: true})
	}
	for _, root := range s.view.roots {
		if !readOnly || covered(root.path) {
			places = append(places, placement{from: root, to: root.path, readOnly: readOnly})
		}
	}
	places = append(places, placement{from: s.dirs.cache, to: cachePlace, readOnly: readOnly, built: s.layers.place(len(s.places))})
	known := func(id identity) bool {
		return slices.ContainsFunc(places, func(at placement) bool { return at.from == id })
	}
	if p.workspace() {
		for _, id := range p.opened.write {
			if !known(id) {
				places = append(places, placement{from: id, to: id.path})
			}
		}
	}
	for _, id := range slices.Concat(s.view.shown, p.opened.read) {
		if !known(id) && !s.view.inRoot(id.path) && (covered(id.path) || !s.view.isApart(id.path)) {
			places = append(places, placement{from: id, to: id.path, readOnly: true})
		}
	}
	for _, view := range views {
		if !p.opens(view.to) {
			places = append(places, view)
		}
	}
	slices.SortStableFunc(places, func(a, b placement) int { return strings.Compare(a.to, b.to) })
	return places
}

// opens reports whether the command was granted a file of the host, or was lent its name.
func (p *plan) opens(path string) bool {
	holds := func(id identity) bool { return agenttool.Within(id.path, path) }
	return slices.ContainsFunc(p.opened.read, holds) || slices.ContainsFunc(p.opened.write, holds) ||
		slices.ContainsFunc(p.opened.loans, func(l loan) bool { return l.path == path })
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
// too, which can live with them, but for that of processes: a helper that gets no thread ends.
func (p *plan) limits() {
	b, other := p.s.o.Bounds, func(l Limit) bool {
		return slices.ContainsFunc(p.s.o.Limits, func(other Limit) bool { return other.Resource == l.Resource })
	}
	p.limit(enter.Limit, slices.DeleteFunc([]Limit{
		{unix.RLIMIT_CORE, 0, 0},
		{unix.RLIMIT_FSIZE, maxFile, maxFile},
		{unix.RLIMIT_NOFILE, 1024, maxFiles},
	}, other))
	most, op := uint64(p.s.reserved.processLimit(p.level, b.Processes)), enter.Bound
	if isExempt() {
		op = enter.Limit // the kernel does not hold the helper to it, and nothing waits for a command's start
	}
	p.limit(op, slices.DeleteFunc([]Limit{{unix.RLIMIT_NPROC, most, most}}, other))
	p.limit(enter.Bound, p.s.o.Limits)
	p.Add(enter.Guard, strconv.Itoa(p.s.reserved.ofSession(b.Processes)), strconv.FormatInt(max(b.Memory, 0), 10))
}

func (p *plan) limit(op enter.Op, limits []Limit) {
	for _, l := range limits {
		p.Add(op, strconv.Itoa(l.Resource), strconv.FormatUint(l.Soft, 10), strconv.FormatUint(l.Hard, 10))
	}
}

// environ is the command's environment, changed for the sandbox.
func (p *plan) environ() []string {
	full, d := p.s.level == Full, &p.s.dirs
	caches, temp := d.cache.path, d.private.path
	switch {
	case full && p.workspace():
		caches, temp = cachePlace, "/tmp"
	case full:
		caches, temp = cachePlace, "/dev/shm"
	case p.workspace():
		temp = d.tmp.path
	}
	base := p.c.Env
	if p.masksLike {
		base = withGitSetting(base, "core.checkStat", "minimal") // the mask is another file
	}
	return setEnv(base, slices.Concat(p.network, cacheEnv(caches, &p.s.o, isLayered(p.s, goModules)), goCacheProgram(p.s.view, caches, &p.s.o), p.s.configs.env(p), []string{"TMPDIR=" + temp})...)
}

// withGitSetting returns variables that add a setting of git to those that env brings.
func withGitSetting(env []string, key, value string) []string {
	const count = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range env {
		if text, found := strings.CutPrefix(entry, count); found {
			n, _ = strconv.Atoi(text)
		}
	}
	at := strconv.Itoa(n)
	return setEnv(env, count+strconv.Itoa(n+1), "GIT_CONFIG_KEY_"+at+"="+key, "GIT_CONFIG_VALUE_"+at+"="+value)
}

// filter adds the system call filter. The supervisor sees the writes of a command, if the level has one.
func (p *plan) filter() error {
	notify, writes := "", p.workspace() && p.s.level != Landlock
	if writes || p.starts != nil {
		notify = "notify"
	}
	program, err := p.s.filters.program(seccomp.Options{
		Namespaces: p.s.level == Full, Writable: p.workspace(), Notify: writes, Starts: p.starts != nil, Shared: p.world != nil,
		Observes: p.world != nil && p.c.Profile.Observes && !p.c.Profile.Loopback,
		Mute:     p.world != nil && !p.workspace() && p.s.abi < signalScope,
	})
	if err != nil {
		return err
	}
	p.Add(enter.Filter, program, notify)
	return nil
}

// planFile is a file in memory that holds the plan.
func planFile(encoded []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("plan", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "plan")
	if _, err := f.Write(encoded); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
