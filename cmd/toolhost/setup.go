package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/sandbox"
	"toolhost/settings"
	"toolhost/tools/files"
	"toolhost/tools/job"
	"toolhost/tools/search"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/ignore"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
)

// setup is what the commands that run calls have in common.
type setup struct {
	workspace   string
	addDirs     []string
	settings    string
	rules       ruleFlags
	mode        string
	sandbox     string
	maxParallel int
	maxJobs     int
	jobTimeout  time.Duration
	jobOutput   byteSize
	jobLimits   []string
	reached     func(*session) // told when the session is to be reached from outside: of its first command or prompt; nil: nobody
	cmd         *cobra.Command // whose flags they are; nil: none were given
	own         []string       // files besides that no call may touch, absolute and without links
}

func (s *setup) addFlags(cmd *cobra.Command) {
	s.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&s.workspace, "workspace", ".", "`directory` that calls may read unasked, and where they start")
	f.StringArrayVar(&s.addDirs, "add-dir", nil, "further `directory` that belongs to the workspace; may be repeated")
	f.StringVar(&s.settings, "settings", "", "further `file` of settings, stronger than those of the person and the project")
	s.rules.addFlags(cmd)
	f.StringVar(&s.mode, "mode", string(permissions.Default), "what happens to calls that no rule allows: "+modeNames())
	f.StringVar(&s.sandbox, "sandbox", string(sandbox.Landlock), "`level` that commands run under at least: full, landlock+notify, landlock, or none to run them unconfined")
	f.IntVar(&s.maxParallel, "max-parallel", 10, "`number` of calls that run at once")
	f.IntVar(&s.maxJobs, "max-jobs", 50, "`number` of commands that run on beside their calls; those that a call waits for are not counted, and may be twice as many when it ends")
	f.DurationVar(&s.jobTimeout, "job-timeout", 0, "`time` after which every command is ended, whatever it does; 0 is never")
	s.jobOutput = 1 << 30
	f.Var(&s.jobOutput, "job-output", "`size` of the output that is kept of each command, such as 64MiB")
	f.StringArrayVar(&s.jobLimits, "job-limit", nil, "resource `limit` of every command, such as as=4GiB, nofile=512, nproc=200, fsize=1GiB or cpu=600 (seconds); may be repeated")
}

func modeNames() string {
	names := make([]string, len(permissions.Modes))
	for i, m := range permissions.Modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// session is a host with what it stands on.
type session struct {
	host   *host.Host
	store  *persist.Store
	roots  *workspace.Workspace
	scope  agenttool.Scope
	box    *confinement
	jobs   *job.Jobs
	live   *liveSettings // nil to describe tools only
	search *engine.Engine
	code   string // by which a person shows that they see this session, where a terminal alone does not show it

	unconfined atomic.Bool // a command runs, or ran, without a sandbox

	mu     sync.Mutex
	ended  bool
	closed []func() error // what is to be closed besides
}

// close ends the host and gives everything back.
func (s *session) close() error {
	defer s.roots.Close()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	err := s.host.Close()
	rest := make(chan error, 1)
	go func() {
		s.search.Close()
		var err error
		for _, do := range s.closed {
			err = errors.Join(err, do())
		}
		err = errors.Join(err, s.box.starter.Close())
		if s.box.letCache != nil {
			s.box.letCache()
		}
		rest <- err
	}()
	var limit <-chan time.Time
	switch { // on a disk that stalls the scratch stays: the next session removes it
	case errors.Is(err, persist.ErrPending):
		limit = time.After(stalledClose)
	case s.store.Path() == "": // nothing is known of the disk
		limit = time.After(unknownClose)
	}
	select {
	case closed := <-rest:
		return errors.Join(err, closed)
	case <-limit:
		return errors.Join(err, persist.ErrPending)
	}
}

// How long the end of a session waits for its scratch to be removed where its disk does not answer, or where no log says that it
// does.
const (
	stalledClose = 200 * time.Millisecond
	unknownClose = 1500 * time.Millisecond
)

// atClose has something closed with the session. It reports whether that is still to come.
func (s *session) atClose(do func() error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.closed = append(s.closed, do)
	}
	return !s.ended
}

// scope returns the workspace, opened, and where calls start.
func (s *setup) scope(state string, addDirs ...string) (*workspace.Workspace, agenttool.Scope, error) {
	if s.workspace == "" {
		return nil, agenttool.Scope{}, errors.New("--workspace is empty: name a directory")
	}
	all := slices.Concat([]string{s.workspace}, s.addDirs, addDirs)
	private := append(dirs.Sockets(), state)
	if dir := dirs.Config(); dir != "" {
		private = append(private, dir)
	}
	w, err := workspace.Open(all, append(private, s.own...)...)
	if err != nil {
		return nil, agenttool.Scope{}, err
	}
	home, _ := os.UserHomeDir() // without one, ~ means nothing
	roots := w.Roots()
	return w, agenttool.Scope{Dir: roots[0], Roots: roots, Home: home}, nil
}

// check reports what is wrong with the numbers of the command line.
func (s *setup) check() error {
	if s.maxJobs < 1 {
		return fmt.Errorf("--max-jobs %d: at least one command must be able to run", s.maxJobs)
	}
	if s.maxParallel < 1 {
		return fmt.Errorf("--max-parallel %d: at least one call must be able to run", s.maxParallel)
	}
	return nil
}

// open makes a host over a store. overwrite lets write replace files that this session has not read.
func (s *setup) open(newStore func(root string) (*persist.Store, error), overwrite bool) (*session, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if root, err := filepath.Abs(s.workspace); err == nil {
		if err := s.checkHome(dirs.Real(root)); err != nil {
			return nil, err
		}
	}
	l, w, err := s.openSettings()
	if err != nil {
		return nil, err
	}
	if warning := homeWarning(l.scope.Dir); warning != "" {
		l.reports = append(l.reports, warning)
		fmt.Fprintln(os.Stderr, "toolhost:", warning)
	}
	for _, warning := range l.warnings {
		fmt.Fprintln(os.Stderr, "toolhost:", visible.Text(warning))
	}
	read := l.now.settings
	limits, err := s.limits(read)
	if err != nil {
		return nil, err
	}
	store, err := newStore(l.scope.Dir)
	if err != nil {
		return nil, err
	}
	var opened *session
	box, err := confine(confinementOptions{
		required: chosen(read.Require, s.sandbox, s.changed("sandbox")), name: string(store.ID()),
		limits: limits, secrets: l.now.secrets, sealed: l.now.sealed(),
		changed: func(v sandbox.Violation) { opened.tripped(v) },
	}, w, l.scope)
	if err != nil {
		return nil, err
	}
	opened = &session{store: store, roots: w, scope: l.scope, box: box, live: l, code: newCode()}
	l.names, l.confines, l.uncovered = box.names, box.level == sandbox.Full, box.uncovered
	opened.search = searching(read, l.scope)
	opened.jobs = job.New(job.Options{
		Session: box.starter, Owner: store.ID(), Max: chosen(read.MaxJobs, s.maxJobs, s.changed("max-jobs")),
		Limit: chosen(read.JobTimeout, s.jobTimeout, s.changed("job-timeout")), Abandoned: heldByNobody(store.ID()),
		Began: func() { s.reach(opened) },
	})
	tools := builtins(w, opened, files.Options{
		Overwrite: overwrite, Memory: boundMemory(), Durability: l.durability, Writing: opened.writing, Payload: func(ref string) (*os.File, error) { return store.OpenPayload(ref) },
	})
	opened.host, err = host.New(host.Options{
		Tools: tools, Scope: l.scope, Locate: w.Locate, Store: store, Policy: l.policy(), Parser: ruleParser(l.scope.Dir, l.scope.Home),
		Session: store.ID(), Jobs: opened.jobs, Approvals: s.approvals(read, opened), Level: string(box.level), Private: dirs.Own(),
		Hooks: l.now.hooks, HookMatch: hookMatch(l.scope), HookEnviron: os.Environ(),
		Memory:      boundMemory(),
		MaxParallel: chosen(read.MaxParallel, s.maxParallel, s.changed("max-parallel")),
		PanicLog:    func(m string) { fmt.Fprintln(os.Stderr, m) },
		First: func() {
			if err := box.prepare(); err != nil {
				fmt.Fprintln(os.Stderr, "toolhost: commands do not run:", err)
			}
		},
	})
	return opened, err
}

// reach has the session reached from outside, if it is to be.
func (s *setup) reach(opened *session) {
	if s.reached != nil {
		s.reached(opened)
	}
}

// askedFirst has the session reached when its first prompt opens, and tells whoever reads stderr, once, where it can be answered.
func (s *setup) askedFirst(opened *session) {
	s.reach(opened)
	if s.reached != nil && presence.Recent() {
		fmt.Fprintln(os.Stderr, "toolhost: a call asks: answer with toolhost approve in a terminal")
	}
}

// limits are those of every command, of the settings and of the command line, which come later and so count.
func (s *setup) limits(read *settings.Settings) ([]sandbox.Limit, error) {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(read.JobLimits)) {
		texts = append(texts, name+"="+read.JobLimits[name].V)
	}
	limits, err := parseLimits(append(texts, s.jobLimits...))
	if err != nil {
		return nil, fmt.Errorf("--job-limit: %w", err)
	}
	return limits, nil
}

// heldByNobody returns who knows whether a session is one of ours that no process holds any more: this one, or one on disk.
func heldByNobody(own agenttool.SessionID) func(agenttool.SessionID) bool {
	return func(id agenttool.SessionID) bool {
		dir, err := dirs.Sessions()
		return id == own || err == nil && persist.Abandoned(dir, id)
	}
}

// builtins are the tools that toolhost brings. w may be nil, and the session empty, to describe them.
func builtins(w *workspace.Workspace, s *session, o files.Options) []agenttool.Tool {
	tools := shell.New(w, shell.Options{
		Environ: os.Environ(), Added: s.live.environ, Jobs: s.jobs, Sandbox: s.box.session, Refuse: s.box.refusal,
		Unconfined: func() { s.unconfined.Store(true) },
	})
	tools = append(tools, files.New(w, o)...)
	return append(tools, search.New(w, s.search)...)
}

// searching returns what searches the workspace, and what else calls name.
func searching(read *settings.Settings, scope agenttool.Scope) *engine.Engine {
	config, _ := os.UserConfigDir() // without one, git has none there
	o := engine.Options{Index: indexMode(read), Git: ignore.Environment{Home: scope.Home, ConfigHome: config}}
	if memory := boundMemory(); memory > 0 {
		o.IndexBytes, o.TextBytes = memory/4, memory/8
	}
	return engine.New(o)
}

// indexMode is what searches keep between calls.
func indexMode(read *settings.Settings) engine.Mode {
	mode, err := engine.ParseMode(read.SearchIndex.V)
	if err != nil { // it is not set: settings know no other words
		return engine.Auto
	}
	return mode
}

// meta is what a session log says of how it was made.
func meta(root string) []byte {
	encoded, err := agenttool.Encode(map[string]any{"workspace": root, "version": version(), "pid": os.Getpid()})
	if err != nil {
		return nil // a string and a number: it cannot fail
	}
	return encoded
}
