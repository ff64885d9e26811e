package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/notify"
)

// Session is the sandbox of one host process: a scratch that its commands share, a loopback that they share, and the
// process that holds both. It is safe for concurrent use.
type Session struct {
	o     Options
	level Level
	abi   int // of Landlock

	view *view

	making sync.Mutex   // guards the next five
	laid   sync.RWMutex // held for reading while a command is started, which looks at them; both are held when they are made again
	made   bool
	closed bool
	dirs   dirs
	places []place // the emptied directories of the view, as the holder builds them
	layers layers

	configs  configs
	programs Programs
	goCache  sync.Once // makes the directories of go's build cache
	holders  holders
	filters  filters
	network  *network
	watch    watch
	scratch  scratchWatch
	reserved processReserve
	running  running
	shown    shownNames

	kills         kills
	killsBefore   atomic.Int64 // their count when the first command began, and one
	toldTemporary atomic.Bool  // a command's result said that it wrote in the session's /tmp what looks like the user's

	namesInUse sync.RWMutex // by the supervisors of its commands: see notify.Judges
	staging    staging
	room       notify.Room // for them
}

// Open checks the parts of a session's sandbox. It makes nothing, and starts no process: see [Session.Make].
func Open(o Options) (*Session, error) {
	s := &Session{o: o, level: o.Level, view: &view{}}
	s.staging.names = &s.namesInUse
	if s.level == None {
		return s, nil
	}
	s.reserved.groups = true
	s.o.Bounds = o.Bounds.withDefaults()
	if s.level == "" {
		s.level = Full
	}
	s.abi, s.network = landlockABI(), newNetwork()
	var err error
	if s.view, err = newView(o); err != nil {
		return nil, unavailable(err)
	}
	if o.Protected == nil {
		s.o.Protected = protect.NewCache(protect.Options{Roots: paths(s.view.roots), Home: o.Home}, 0)
	}
	return s, nil
}

// Make makes the session's directories where that was not done; of the level None it has only the
// stage, and none without [Options].Dir. Each confined command does so, too, and makes those again that another program has removed meanwhile. A failure
// is not kept: the next call tries again. Errors are of class setup_required.
func (s *Session) Make() error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.made && s.level != None && s.dirs.lock != nil {
		if err := s.makeAgain(); err != nil {
			return unavailable(err)
		}
		return nil
	}
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
	s.o.Bounds = s.o.Bounds.withScratch(s.o.Dir)
	if err := s.configs.start(s); err != nil {
		_ = s.dirs.remove()
		return unavailable(err)
	}
	views, err := s.configs.placements(s.view)
	if err != nil {
		_ = s.dirs.remove()
		return unavailable(err)
	}
	s.places = s.view.places(views, s.dirs.tmp, s.dirs.varTmp, s.dirs.cache)
	if err := s.view.makeMountPoints(&s.dirs); err != nil {
		_ = s.dirs.remove()
		return unavailable(err)
	}
	if s.level == Full {
		s.layers = newLayers(s.view, &s.dirs, s.o.UserCaches)
	}
	s.made = true
	return nil
}

// makeAgain makes directories of the session that are lost: a program that cleans up has removed them. Commands that run keep what they have.
// The caches are without layers from then on if commands run: the holder cannot mount them for those that come.
func (s *Session) makeAgain() error {
	if s.closed || !s.dirs.lost() && !s.configs.lost() {
		return nil
	}
	s.laid.Lock()
	defer s.laid.Unlock()
	if err := s.dirs.makeAgain(); err != nil {
		return err
	}
	s.layers.close()
	s.layers, s.goCache = layers{}, sync.Once{}
	s.configs.forget()
	if err := s.configs.start(s); err != nil {
		return err
	}
	now, err := s.configs.placements(s.view)
	if err != nil {
		return err
	}
	if s.running.count() == 0 && s.holders.retire() {
		s.places = s.view.places(now, s.dirs.tmp, s.dirs.varTmp, s.dirs.cache)
		if s.level == Full {
			s.layers = newLayers(s.view, &s.dirs, s.o.UserCaches)
		}
	}
	return s.view.makeMountPoints(&s.dirs)
}

func unavailable(err error) error {
	if e := shortage("the sandbox cannot be made: "+err.Error(), err); e != nil {
		return e
	}
	return agenttool.Failure(agenttool.SetupRequired, "sandbox_unavailable", "the sandbox cannot be made: "+err.Error()).Because(err)
}

// How long a place for the session's directories may take to make them until the next one is tried, and the last place: a busy disk
// takes seconds.
const (
	makePatience     = 700 * time.Millisecond
	lastMakePatience = 10 * time.Second
)

// settle makes the session's directories in the first place that takes them.
func (s *Session) settle() error {
	var failed error
	places := append([]string{s.o.Dir}, s.o.Fallbacks...)
	for i, dir := range places {
		cache, patience := s.o.Cache, makePatience
		if i == len(places)-1 {
			patience = lastMakePatience
		}
		if i > 0 && cache != "" {
			cache = filepath.Join(dir, "cache")
		}
		made := make(chan error, 1)
		var d dirs
		go func() { // ends when the disk answers
			err := d.make(dir, cache)
			made <- err
		}()
		err := inTime(made, patience)
		if errors.Is(err, errStalled) {
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

// inTime returns an answer, or errStalled where none comes within patience. That is counted in steps: a machine that has no processor for this
// process meanwhile is no disk that does not answer.
func inTime(answer <-chan error, patience time.Duration) error {
	const step = 20 * time.Millisecond
	for range patience / step {
		select {
		case err := <-answer:
			return err
		case <-time.After(step):
		}
	}
	select {
	case err := <-answer:
		return err
	default:
		return errStalled
	}
}

// errStalled is why a place is given up that is neither full nor read-only. It is a shortage: it says nothing about the machine.
var errStalled = errors.New("its disk does not answer")

// Level is how much the sandbox of this session holds.
func (s *Session) Level() Level { return s.level }

// Scratch is the directory of the host that commands of the session see as /tmp, "" where they see the host's.
func (s *Session) Scratch() string {
	if s.level != Full {
		return ""
	}
	return s.dirs.tmp.path
}

// VarScratch is the one that they see as /var/tmp, "" where they see the host's.
func (s *Session) VarScratch() string {
	if s.level != Full {
		return ""
	}
	return s.dirs.varTmp.path
}

// Stage is a directory of the session that no confined command sees, once [Session.Make] has succeeded; "" if there is none. It is removed with
// the session's others: at its end, or by the next session. If that is the next session, the regular files of this user to which symbolic
// links in it lead are removed, too, where file and link have the same name.
func (s *Session) Stage() string {
	if s.dirs.own.path == "" {
		return ""
	}
	return filepath.Join(s.dirs.own.path, stageName)
}

// Shown are the host's places that commands see below /tmp, /var/tmp and emptied directories.
func (s *Session) Shown() []string { return slices.Concat(paths(s.view.shown), s.view.homes) }

// HoldsHome reports whether a path is a home directory that is closed to commands, or holds one.
func (s *Session) HoldsHome(path string) bool { return s.view.holdsHome(path) }

// Start starts a command, once the session's directories are made, and returns when it runs. Errors are of class setup_required when the sandbox or its profile
// cannot be made, dependency_unavailable (resource_exhausted) when the machine is short of something, and execution_failed when the program cannot be
// started: nothing ran then. Nothing runs either if ctx ends before the command has started; the error is its cause.
func (s *Session) Start(ctx context.Context, c *Command) (*Process, error) {
	p, err := s.start(ctx, c)
	if errors.Is(err, errHung) { // nothing ran
		p, err = s.start(ctx, c)
	}
	if err != nil && c.Keeps != nil {
		_ = c.Keeps.Close() // what it could not write is about nothing that was lost
	}
	if errors.Is(err, errHung) {
		err = shortage("the command did not run: "+err.Error(), fmt.Errorf("%w: %w", errNoAnswer, err))
	}
	return p, err
}

func (s *Session) start(ctx context.Context, c *Command) (*Process, error) {
	if err := s.check(c.Profile); err != nil {
		return nil, agenttool.Failure(agenttool.SetupRequired, "sandbox_profile", err.Error()).Because(err)
	}
	if c.Profile.confined() {
		if err := s.Make(); err != nil {
			return nil, err
		}
	}
	waiting, err := s.reserved.reserve(s.running.count(), s.o.Bounds)
	if err != nil {
		return nil, s.setupFailed(err)
	}
	s.room.Bound(waiting / 2) // the others are the host's
	s.laid.RLock()
	defer s.laid.RUnlock()
	if c.Profile.Access == ReadOnly && s.o.Go.Cache != "" {
		s.goCache.Do(func() { makeGoCache(s.dirs.cache.path) })
	}
	p := newProcess(c)
	p.killsBefore = s.kills.count(&s.reserved)
	s.killsBefore.CompareAndSwap(0, p.killsBefore+1)
	made := &plan{s: s, c: c, level: s.level}
	defer made.close()
	launch := func(made *plan) error { return p.launch(ctx, made) }
	steps := []func(*plan) error{p.guard, p.connect, (*plan).make, launch}
	if !c.Profile.confined() {
		made.level = None
		steps = []func(*plan) error{(*plan).makeUnconfined, launch}
	}
	p.helper.first = made.level == Full
	p.confinement = Confinement{Profile: c.Profile.Access, Level: made.level}
	for _, step := range steps {
		if ctx.Err() != nil { // a stalled disk may have held up the step before
			p.overWithin(killPatience)
			return nil, context.Cause(ctx)
		}
		if err := step(made); err != nil {
			p.overWithin(killPatience)
			if errors.Is(err, errHung) {
				return nil, err
			}
			return nil, s.startFailed(err)
		}
	}
	if p.helper.first {
		p.lost = s.holders.takeLost()
	}
	return p, nil
}

// hold returns the session's holder.
func (s *Session) hold() (*holder, error) {
	return s.holders.get(func() (*holder, error) { return startHolder(s) }, s.running.confined)
}

// isLayered reports whether commands see the user's cache below their own.
func isLayered(s *Session, name string) bool {
	if !slices.ContainsFunc(s.layers.all, func(l layer) bool { return l.name == name }) {
		return false
	}
	h, err := s.hold()
	return err == nil && !slices.ContainsFunc(h.failed, func(f failedLayer) bool { return f.name == name })
}

// HoldNames keeps the session's commands from changing names until release is called. It waits for a change that is under way.
func (s *Session) HoldNames() (release func()) {
	s.namesInUse.Lock()
	return s.namesInUse.Unlock
}

// startFailed is the error of a command that did not start.
func (s *Session) startFailed(err error) error {
	failure, ok := errors.AsType[*agenttool.Error](err)
	if !ok {
		failure, _ = errors.AsType[*agenttool.Error](s.setupFailed(err))
	}
	if failure.Code == sandboxFailed && s.o.NotMade != nil {
		s.o.NotMade()
	}
	return failure
}

// sandboxFailed is the code of the error for a command whose sandbox could not be made, although resources were not short.
const sandboxFailed = "sandbox_failed"

// setupFailed is the error of a command whose sandbox could not be made. A helper or a holder that ended without a word where few processes or
// little memory are left could not say that.
func (s *Session) setupFailed(err error) error {
	if errors.Is(err, errEnded) {
		switch {
		case s.kills.count(&s.reserved) >= s.killsBefore.Load():
			err = fmt.Errorf("%w (%w)", unix.ENOMEM, err)
		case s.reserved.isShort(s.running.count()):
			err = fmt.Errorf("%w (%w)", agenttool.ErrNoProcesses, err)
		}
	}
	if e := shortage("the command did not run: "+err.Error(), err); e != nil {
		return e
	}
	return agenttool.Failure(agenttool.SetupRequired, sandboxFailed,
		"the sandbox was not made, and the command did not run: "+err.Error()+"; see toolhost doctor").Because(err)
}

// shortage is agenttool.Shortage for errors of making a sandbox. EAGAIN is an answer of clone(2), and the kernel says ENOSPC for namespaces
// that it does not allow.
func shortage(doing string, err error) error {
	if without, ok := errors.AsType[noNamespaces](err); ok && without.forbidden() {
		return nil
	}
	if errors.Is(err, errStalled) || errors.Is(err, errNoAnswer) || errors.Is(err, os.ErrDeadlineExceeded) {
		return agenttool.Failure(agenttool.DependencyUnavailable, agenttool.ResourceExhausted, doing).Because(err)
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
	h := s.holders.close()
	s.running.close()
	s.staging.close()
	if h != nil {
		h.close()
	}
	if s.o.Protected != nil {
		s.o.Protected.Close()
	}
	s.making.Lock()
	defer s.making.Unlock()
	made := s.made
	s.made, s.closed = true, true // nothing is made any more
	if s.level != None {
		s.watch.close()
		s.scratch.close()
		_ = s.network.proxy.Close()
	}
	s.layers.close()
	s.reserved.close()
	if s.dirs.lock == nil || !made {
		return nil
	}
	return s.dirs.remove()
}
