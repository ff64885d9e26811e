package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// Session is the sandbox of one host process: a scratch that its commands share, a loopback that they share, and the
// process that holds both. It is safe for concurrent use.
type Session struct {
	o     Options
	level Level
	abi   int // of Landlock

	roots []identity
	dirs
	covers

	making sync.Mutex // of the directories
	made   bool

	mu        sync.Mutex
	holder    *holder
	filters   filters
	network   *network
	protected *protect.Cache
	watch     watch
	scratch   scratchWatch
	reserved  reserved
	closed    bool
	running   running

	namesInUse sync.RWMutex // by the supervisors of its commands: see notify.Judges
}

// covers is what is kept from the view of every command, and what is shown all the same.
type covers struct {
	shown   []identity // places below what is emptied that commands must see
	links   []link
	places  []place  // what is emptied, as the holder builds it
	emptied []string // directories of sockets, and those that are closed
	homes   []string // directories that are closed: the person's home, and those of others
	masked  []string // files of theirs that are mounted elsewhere, too
	home    protect.Home
}

// Open looks at what the sandbox of a session is made of. It makes nothing, and starts no process: see [Session.Make].
func Open(o Options) (*Session, error) {
	s := &Session{o: o, level: o.Level, protected: o.Protected}
	if s.level == None {
		return s, nil
	}
	if s.level == "" {
		s.level = Full
	}
	s.abi, s.network = landlockABI(), newNetwork()
	if err := s.identifyRoots(); err != nil {
		return nil, unavailable(err)
	}
	s.findCovered()
	if s.protected == nil {
		s.protected = protect.NewCache(protect.Options{Roots: paths(s.roots), Home: o.Home}, 0)
	}
	return s, nil
}

// Make makes the session's directories where that was not done; of the level None it has only the
// stage, and none without [Options].Dir. The first confined command does so, too. A failure is not kept: the next call tries again. Errors are of class setup_required.
func (s *Session) Make() error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.made || s.o.Dir == "" && s.level == None {
		return nil
	}
	if s.o.Ready != nil {
		if err := s.o.Ready(); err != nil {
			return err
		}
	}
	if err := s.settle(); err != nil {
		return unavailable(err)
	}
	if s.level == None {
		s.made = true
		return nil
	}
	s.o.Bounds = s.o.Bounds.withDefaults(s.o.Dir)
	s.places = s.placesOf()
	if err := s.makePlaces(); err != nil {
		_ = s.dirs.remove()
		return unavailable(err)
	}
	s.made = true
	return nil
}

func unavailable(err error) error {
	if e := shortage("the sandbox cannot be made: "+err.Error(), err); e != nil {
		return e
	}
	return agenttool.Failure(agenttool.SetupRequired, "sandbox_unavailable", "the sandbox cannot be made: "+err.Error()).Because(err)
}

// makePatience is how long a place for the session's directories may take to make them until the next one is tried.
const makePatience = 700 * time.Millisecond

// settle makes the session's directories in the first place that takes them.
func (s *Session) settle() error {
	var failed error
	for i, dir := range append([]string{s.o.Dir}, s.o.Fallbacks...) {
		cache := s.o.Cache
		if i > 0 && cache != "" {
			cache = filepath.Join(dir, "cache")
		}
		made := make(chan error, 1)
		var d dirs
		go func() { // ends when the disk answers
			err := d.make(dir, cache)
			made <- err
		}()
		var err error
		select {
		case err = <-made:
		case <-time.After(makePatience):
			err = errStalled
			go func() {
				if <-made == nil {
					d.remove()
				}
			}()
		}
		if err == nil {
			s.o.Dir, s.o.Cache, s.dirs = dir, cache, d
			return nil
		}
		failed = errors.Join(failed, fmt.Errorf("%s: %w", dir, err))
	}
	return failed
}

// errStalled is why a place is given up that is neither full nor read-only.
var errStalled = errors.New("its disk does not answer")

// Level is how much the sandbox of this session holds.
func (s *Session) Level() Level { return s.level }

// Scratch is the directory of the host that commands of the session see as /tmp, "" where they see the host's.
func (s *Session) Scratch() string {
	if s.level != Full {
		return ""
	}
	return s.tmp.path
}

// Stage is a directory of the session that no confined command sees, once [Session.Make] has succeeded; "" if there is none. It is removed with
// the session's others: at its end, or by the next session. If that is the next session, the regular files of this user to which symbolic
// links in it lead are removed, too, where file and link have the same name.
func (s *Session) Stage() string {
	if s.own.path == "" {
		return ""
	}
	return filepath.Join(s.own.path, stageName)
}

// Shown are the places below the scratch that are no part of it.
func (s *Session) Shown() []string { return slices.Concat(paths(s.shown), s.homes) }

// paths are those of identities.
func paths(ids []identity) []string {
	var all []string
	for _, id := range ids {
		all = append(all, id.path)
	}
	return all
}

// taken are the directories of which a sandbox has its own, or that hold them.
var taken = []string{"/", "/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/dev/shm", "/proc", "/sys"}

func (s *Session) identifyRoots() error {
	if len(s.o.Roots) == 0 {
		return errors.New("there is no workspace")
	}
	for _, root := range s.o.Roots {
		id, err := identify(root)
		if err != nil {
			return fmt.Errorf("the workspace: %w", err)
		}
		if slices.Contains(taken, id.path) {
			return fmt.Errorf("the workspace is %s, of which every sandbox has its own: name a directory in it", id.path)
		}
		s.roots = append(s.roots, id)
	}
	return nil
}

// findCovered finds what commands must see although it lies where the sandbox has something of its own.
func (s *Session) findCovered() {
	for _, dir := range []string{"/run", "/var/run"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil && real == dir {
			s.emptied = append(s.emptied, dir)
		}
	}
	if runtime := s.o.Runtime; runtime != "" && !s.covered(runtime) {
		if real, err := filepath.EvalSymlinks(runtime); err == nil && real != "/" {
			s.emptied = append(s.emptied, real)
		}
	}
	s.closeHomes()
	for _, path := range slices.Concat([]string{"/run/current-system", "/run/opengl-driver", "/run/wrappers", "/home/linuxbrew/.linuxbrew", s.o.GoModCache}, s.home.Shown()) {
		s.show(path)
	}
	for _, dir := range s.o.Show {
		s.showPrograms(dir)
	}
	if home := filepath.Clean(s.o.Home); s.home.Dir != "" && home != s.home.Dir && s.isClosed(home) {
		s.links = append(s.links, link{home, s.home.Dir})
	}
}

// makePlaces makes names in the scratch for what findCovered found below it.
func (s *Session) makePlaces() error {
	for _, path := range slices.Concat(paths(s.roots), paths(s.shown), s.homes) {
		place := ""
		if rel, ok := strings.CutPrefix(path, "/tmp/"); ok {
			place = filepath.Join(s.tmp.path, rel)
		} else if rel, ok := strings.CutPrefix(path, "/var/tmp/"); ok {
			place = filepath.Join(s.varTmp.path, rel)
		}
		if place == "" || s.isClosed(path) && !slices.Contains(s.homes, path) {
			continue
		}
		if err := makePlace(place, isDir(path)); err != nil {
			return err
		}
	}
	return nil
}

// makePlace makes a directory or a file for something else to be mounted over.
func makePlace(place string, dir bool) error {
	if dir {
		return os.MkdirAll(place, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(place, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// covered reports whether path lies in a directory of which the sandbox has one of its own.
func (s *Session) covered(path string) bool {
	return slices.ContainsFunc(append([]string{"/tmp", "/var/tmp"}, s.emptied...), func(dir string) bool {
		return path != dir && agenttool.Within(dir, path)
	})
}

// isHidden reports whether path is toolhost's own.
func (s *Session) isHidden(path string) bool {
	return slices.ContainsFunc(s.o.Hidden, func(dir string) bool { return agenttool.Within(dir, path) })
}

// hidden are the directories of toolhost that exist.
func (s *Session) hidden() []string {
	var found []string
	for _, dir := range s.o.Hidden {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			found = append(found, real)
		}
	}
	return found
}

// Start starts a command, once the session's directories are made, and returns when it runs. Errors are of class setup_required when the sandbox or its profile
// cannot be made, dependency_unavailable (resource_exhausted) when the machine is short of something, and execution_failed when the program cannot be
// started: nothing ran then.
func (s *Session) Start(c *Command) (*Process, error) {
	if err := s.check(c.Profile); err != nil {
		return nil, agenttool.Failure(agenttool.SetupRequired, "sandbox_profile", err.Error()).Because(err)
	}
	s.reserve()
	if c.Profile.confined() {
		if err := s.Make(); err != nil {
			return nil, err
		}
	}
	p := newProcess(c)
	made := &plan{s: s, c: c, level: s.level}
	defer made.close()
	steps := []func(*plan) error{p.guard, p.connect, (*plan).make, p.launch}
	if !c.Profile.confined() {
		made.level = None
		steps = []func(*plan) error{(*plan).makeUnconfined, p.launch}
	}
	p.first = made.level == Full
	p.confinement = Confinement{Profile: c.Profile.Access, Level: made.level}
	for _, step := range steps {
		if err := step(made); err != nil {
			p.over()
			return nil, p.startError(err)
		}
	}
	return p, nil
}

// check reports a profile that cannot be.
func (s *Session) check(p Profile) error {
	if err := p.check(); err != nil || !p.confined() {
		return err
	}
	if s.level == None {
		return withoutSandbox(p)
	}
	if _, err := s.further(p); err != nil {
		return err
	}
	if len(p.Hosts) > 0 && s.level != Full {
		return fmt.Errorf("hosts are reached through a network of the session's own, which level %s has not", s.level)
	}
	return nil
}

// further are the places outside the roots that a profile lets a command write. In the roots it may write anyway: there a
// path only unseals.
func (s *Session) further(p Profile) ([]identity, error) {
	var places []identity
	for _, path := range p.Write {
		if filepath.IsAbs(path) && s.inRoot(filepath.Clean(path)) {
			continue
		}
		id, err := identify(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("write:%s: it does not exist: grant the directory in which it is to be made", path)
		}
		if err != nil {
			return nil, fmt.Errorf("write:%s: %w", path, err)
		}
		if slices.Contains(taken, id.path) {
			return nil, fmt.Errorf("write:%s: of that every sandbox has its own: grant what is meant in it", path)
		}
		if !s.inRoot(id.path) {
			places = append(places, id)
		}
	}
	return places, nil
}

func setupFailed(err error) error {
	if e := shortage("the command did not run: "+err.Error(), err); e != nil {
		return e
	}
	return agenttool.Failure(agenttool.SetupRequired, "sandbox_failed",
		"the sandbox was not made, and the command did not run: "+err.Error()+"; see toolhost doctor").Because(err)
}

// shortage is agenttool.Shortage for what makes a sandbox. EAGAIN is an answer of clone(2), and the kernel says ENOSPC for namespaces
// that it does not allow.
func shortage(doing string, err error) error {
	var without noNamespaces
	if errors.As(err, &without) && without.forbidden() {
		return nil
	}
	if errors.Is(err, unix.EAGAIN) {
		err = fmt.Errorf("%w (%w)", agenttool.ErrNoProcesses, err)
	}
	if e := agenttool.SystemFailure(doing, err); e != nil {
		return e
	}
	return nil
}

// Close ends every command of the session, with all that it started, and removes the session's scratch.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	h := s.holder
	s.holder = nil
	s.mu.Unlock()
	s.running.close()
	if h != nil {
		h.close()
	}
	if s.protected != nil {
		s.protected.Close()
	}
	s.making.Lock()
	defer s.making.Unlock()
	made := s.made
	s.made = true // nothing is made any more
	if s.level != None {
		s.watch.close()
		s.scratch.close()
		_ = s.network.proxy.Close()
	}
	if s.lock == nil || !made {
		return nil
	}
	return s.dirs.remove()
}
