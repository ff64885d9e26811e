// Package session puts a session together: the settings in force and their reload, the policy made from them, the sandbox, the tools,
// the host that runs calls, and the socket for the person.
//
// [New] makes a session from [Options]; [Session.Close] ends it. A [Checker] decides about calls and runs none.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/filesystem"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/code"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/permissions/protect"
	"toolhost/persist"
	"toolhost/sandbox"
	"toolhost/settings"
	"toolhost/tools/files"
	"toolhost/tools/job"
	"toolhost/tools/search/engine"
	"toolhost/tools/search/ignore"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// Session is a host and the parts that it works with.
type Session struct {
	Host    *host.Host
	Store   *persist.Store
	Scope   agenttool.Scope
	Sandbox *confine.Confinement
	Jobs    *job.Jobs

	o      Options
	roots  *workspace.Workspace
	live   *live
	search *engine.Engine
	code   string // see [Session.Code]

	unconfined atomic.Bool            // a command runs, or ran, without a sandbox
	client     atomic.Pointer[string] // see [Session.Met]
	listening  sync.Once

	mu      sync.Mutex
	ended   bool
	closers []func() error // called at the end
	closing closing
	pair    func(end bool) (native.Pairing, error) // nil: no page is served
}

// closing is the end of a session beside its log.
type closing struct {
	once sync.Once
	done chan struct{} // closed when all is released
	err  error         // valid then
}

// New makes a session.
func New(o Options) (*Session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.CheckHome(); err != nil {
		return nil, err
	}
	l, w, err := o.openSettings()
	if err != nil {
		return nil, err
	}
	if warning := homeWarning(l.scope.Dir); warning != "" {
		l.reports = append(l.reports, warning)
		o.Log(warning)
	}
	for _, warning := range l.warnings {
		o.Log(visible.Text(warning))
	}
	read := l.now.Settings
	limits, bounds, err := o.limits(read)
	if err != nil {
		return nil, err
	}
	redactor, err := newRedactor(l.now)
	if err != nil {
		return nil, err
	}
	store, err := o.Store(l.scope.Dir, redactor)
	if err != nil {
		return nil, err
	}
	s := &Session{o: o, Store: store, Scope: l.scope, roots: w, live: l, code: code.New(), closing: closing{done: make(chan struct{})}}
	s.Sandbox, err = confine.New(confine.Options{
		Required: policy.Choose(o.Policy, "sandbox", read.Require, o.Sandbox), Name: string(store.ID()),
		Limits: limits, Bounds: bounds, Secrets: l.now.Secrets, Sealed: l.now.Sealed(), Changed: s.tripped,
	}, w, l.scope)
	if err != nil {
		return nil, err
	}
	search := engine.Options{Index: indexMode(read), Git: ignore.Environment{Home: l.scope.Home, ConfigHome: dirs.ConfigHome()}}
	if o.Memory > 0 {
		search.IndexBytes, search.TextBytes = o.Memory/4, o.Memory/8
	}
	s.search = engine.New(search)
	s.Jobs = job.New(job.Options{
		Session: s.Sandbox.Starter, Owner: store.ID(), Max: policy.Choose(o.Policy, "max-jobs", read.MaxJobs, o.MaxJobs),
		Limit: policy.Choose(o.Policy, "job-timeout", read.JobTimeout, o.JobTimeout), Abandoned: abandoned(store.ID()),
		Began: s.Listen,
	})
	store.Describe(func() json.RawMessage { return describe(s) })
	return s, s.openHost(read)
}

// openHost makes the host, with settings.
func (s *Session) openHost(read *settings.Settings) (err error) {
	copies := s.live.copies(s.Store.Path() != "")
	tools := builtin.Tools(s.roots, builtin.Options{
		Environ: s.live.environ, Search: s.search,
		Shell: shell.Session{
			Jobs: s.Jobs, Sandbox: s.Sandbox.Session, Refuse: s.Sandbox.Refusal, Keep: watched(copies, s.Sandbox.Level),
			Unconfined: func() { s.unconfined.Store(true) },
			Shown:      func() []string { return s.Host.Policy().Shown() }, Made: func() []string { return s.Host.Made() },
			Denied: func() sandbox.Denied { return deniedBy(s.Host.Policy()) },
		},
		Files: files.Options{
			Keep:      copies,
			Overwrite: s.o.Overwrite, Memory: s.o.Memory, Durability: s.live.durability, Writing: s.writing, Stage: s.Sandbox.Stage,
			Payload: func(ref string) (*os.File, error) { return s.Store.OpenPayload(ref) },
		},
	})
	if s.o.Tools != nil {
		tools = s.o.Tools(tools)
	}
	s.Host, err = host.New(host.Options{
		Tools: tools, Scope: s.Scope, Locate: s.locate, Store: s.Store, Policy: s.policy(), Parser: policy.Parser(s.Scope.Dir, s.Scope.Home),
		Session: s.Store.ID(), Jobs: s.Jobs, Approvals: s.approvals(read), Level: string(s.Sandbox.Level), Private: dirs.Own(),
		Hooks: s.live.snapshot().Hooks, HookMatch: policy.HookMatch(s.Scope), HookEnviron: append([]string{s.Jobs.HookMark()}, os.Environ()...),
		MaxParallel: policy.Choose(s.o.Policy, "max-parallel", read.MaxParallel, s.o.MaxParallel),
		Memory:      s.o.Memory,
		PanicLog:    func(m string) { fmt.Fprintln(output.Stderr(), m) },
		First: func() {
			go sockets.Sweep()
			s.tellState()
			if err := s.Sandbox.Prepare(); err != nil {
				s.o.Log("commands do not run: " + err.Error())
			}
		},
	})
	return err
}

// locate finds a path as the workspace does. If it is one of a known secret, the log keeps no value of that file, whether the call
// may read it or not.
func (s *Session) locate(path *agenttool.Path) error {
	err := s.roots.Locate(path)
	if err == nil && !path.Names && (s.live.snapshot().Known(path.Spelling) || s.live.snapshot().Known(path.Resolved)) {
		learnFile(s.Store.Redactor(), path.Resolved)
	}
	return err
}

// Met notes the name of the client. The first one that is known when the log begins stands there; every call names its own.
func (s *Session) Met(client string) { s.client.CompareAndSwap(nil, &client) }

// ID is the id of the session.
func (s *Session) ID() agenttool.SessionID { return s.Store.ID() }

// Retention is how long ended sessions are stored, as the settings say now.
func (s *Session) Retention() persist.Retention { return policy.Retention(s.live.snapshot().Settings) }

// Memory is how many bytes the process may have where that is less than usual, and else 0.
func (s *Session) Memory() int64 { return s.o.Memory }

// TrimCaches trims the caches of searches to a number of bytes.
func (s *Session) TrimCaches(keep int64) { s.search.Trim(keep) }

// Close ends the host and releases everything.
func (s *Session) Close() error {
	defer s.roots.Close()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	err := s.Host.Close()
	rest := &s.closing
	go rest.once.Do(func() {
		defer close(rest.done)
		s.search.Close()
		for _, do := range s.closers {
			rest.err = errors.Join(rest.err, do())
		}
		rest.err = errors.Join(rest.err, s.Sandbox.Close())
	})
	var limit <-chan time.Time
	switch { // on a disk that stalls the scratch stays: the next session removes it
	case errors.Is(err, persist.ErrPending):
		limit = time.After(stalledClose)
	case s.Store.Path() == "": // nothing is known of the disk
		limit = time.After(unknownClose)
	}
	select {
	case <-rest.done:
		return errors.Join(err, rest.err)
	case <-limit:
		return errors.Join(err, persist.ErrPending)
	}
}

// Linger has the disk take what a Close left that failed with [persist.ErrPending], or has not ended: the last records, and the removal of the
// scratch, until over. err is the error of Close; Linger returns it as it is now. Clients should have their answers before.
func (s *Session) Linger(err error, over time.Time) error {
	if !errors.Is(err, persist.ErrPending) {
		return err
	}
	limit := time.After(time.Until(over))
	logged := s.Store.Settle(time.Until(over))
	select {
	case <-s.closing.done:
		return errors.Join(logged, s.closing.err)
	case <-limit:
		return errors.Join(logged, persist.ErrPending)
	}
}

// How long the end of a session waits for its scratch to be removed where its disk does not answer, or where no log shows that it
// does.
const (
	stalledClose = 200 * time.Millisecond
	unknownClose = 1500 * time.Millisecond
)

// atClose has do called when the session ends. It returns false if it has ended.
func (s *Session) atClose(do func() error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.closers = append(s.closers, do)
	}
	return !s.ended
}

// abandoned returns a function that reports whether no process runs a session of this user: it is own, or one on disk.
func abandoned(own agenttool.SessionID) func(agenttool.SessionID) bool {
	return func(id agenttool.SessionID) bool {
		dir, err := dirs.Sessions()
		return id == own || err == nil && persist.Abandoned(dir, id)
	}
}

// indexMode is how searches keep an index between calls.
func indexMode(read *settings.Settings) engine.Mode {
	mode, err := engine.ParseMode(read.SearchIndex.V)
	if err != nil { // it is not set: settings allow no other words
		return engine.Auto
	}
	return mode
}

// policy is the policy in force.
func (s *Session) policy() permissions.Policy {
	p := s.live.snapshot().Policy
	p.Confines, p.Names = s.Sandbox.Level == sandbox.Full, confine.Named(s.Sandbox.Names)
	p.Holds = func(program string) bool {
		return s.Sandbox.Session != nil && s.Sandbox.Session.Holds(program, append(os.Environ(), s.live.environ()...))
	}
	return p
}

// deniedBy are the programs that the rules of a policy keep every command from running.
func deniedBy(p permissions.Policy) (denied sandbox.Denied) {
	commands := p.DeniedCommands()
	for i := range commands {
		if program := commands[i].Program; program != "" {
			denied.Programs = append(denied.Programs, sandbox.DeniedProgram{Name: program, Rule: commands[i].Rule})
		} else {
			denied.Arguments = true
		}
	}
	if len(commands) > 0 {
		denied.Denies = func(argv []string) (rule string, is bool) {
			i := slices.IndexFunc(commands, func(d permissions.DeniedCommand) bool { return d.Denies(argv) })
			if i < 0 {
				return "", false
			}
			return commands[i].Rule, true
		}
	}
	return denied
}

// personTools are the tools that a person can call at the socket.
var personTools = []string{"shell_output", "shell_kill"}

// Listen opens the socket of a reachable session, once. A person sees its jobs and answers its prompts there.
func (s *Session) Listen() {
	if s.o.Reachable {
		s.listening.Do(s.listen)
	}
}

func (s *Session) listen() {
	kept := sockets.Keep(s.ID(), s.serve, func(err error) {
		s.o.Log("this session cannot be reached with toolhost jobs and toolhost approve: " + err.Error())
	})
	if !s.atClose(kept.Close) {
		_ = kept.Close()
	}
}

// serve serves a connection of the socket until it ends.
func (s *Session) serve(conn net.Conn) {
	w := stdio.NewWriter(conn)
	family := native.New(native.Options{
		Host: s.Host, Writer: w, Session: s.ID(), Version: s.o.Version, Sandbox: s.Sandbox.Describe(),
		Person: &native.Person{Tools: personTools, Vet: s.vet(conn), Warnings: s.live.all, Reload: s.Reload, Loosens: s.loosens(), Forward: s.forward, Pair: s.pairs},
	})
	_ = stdio.Serve(context.Background(), conn, w, family) // ends with the connection
	family.Leave()
	_ = conn.Close()
	_ = w.Close()
}

// SetPair says how a browser is paired with the page of the session.
func (s *Session) SetPair(pair func(end bool) (native.Pairing, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pair = pair
}

// pairs pairs a browser for the person.
func (s *Session) pairs(end bool) (native.Pairing, error) {
	s.mu.Lock()
	pair := s.pair
	s.mu.Unlock()
	if pair == nil {
		return native.Pairing{}, errors.New("this session has no page: start it with toolhost serve --http ADDR")
	}
	return pair(end)
}

// forward makes a port of a job reachable for the person.
func (s *Session) forward(id string, port, as int) (native.Forward, error) {
	j, err := s.Jobs.Find(id)
	if err != nil {
		return nil, err
	}
	f, err := job.NewForward(j, port, as)
	if err != nil {
		return nil, err
	}
	s.Host.Warn(fmt.Sprintf("port %d of job %s is reachable at %s of this machine, by toolhost jobs forward", f.Port(), id, f.Address()))
	return f, nil
}

// tripped reports a protected name that was changed: to the clients of now, to those that connect later, and in the log.
func (s *Session) tripped(v sandbox.Violation) {
	message := v.String()
	s.live.report(message)
	s.Host.Tripped(message)
}

// writing records that a tool is about to change a file. If the change completes a git directory, the programs in it are put aside first,
// but not the file itself, which the decision showed; no command changes names until the file is written.
func (s *Session) writing(path string) (done func(), err error) {
	s.Sandbox.Names.Allow(path)
	dir, completes := protect.Completes(path)
	if !completes {
		return func() {}, nil
	}
	release := func() {}
	if s.Sandbox.Session != nil {
		release = s.Sandbox.Session.HoldNames()
	}
	if err := s.putAside(dir, path); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// putAside puts the programs aside that are in a directory which becomes a git directory, except for one file, and reports it.
func (s *Session) putAside(dir, shown string) error {
	at, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer at.Close()
	roots := s.Scope.Roots
	judged := protect.Judged{
		Known: func(file string, _ []byte) bool { return file == shown },
		Within: func(_, target string) bool {
			return slices.ContainsFunc(roots, func(root string) bool { return agenttool.Within(root, target) })
		},
	}
	done, err := judged.Disarm(int(at.Fd()), dir)
	v := sandbox.Violation{
		Wall: sandbox.Changed, Path: dir, Rule: string(protect.VCSConfig), Certain: true, Detail: "is a repository that a call made by writing " + filepath.Base(shown),
	}
	if !done.Empty() {
		v.Detail += ": " + done.String() + " are out of use until a person allows them with toolhost trust"
	}
	s.tripped(v)
	return err
}

// describe describes a session as it is now.
func describe(s *Session) json.RawMessage {
	now, p := s.live.snapshot(), s.policy()
	a := about{Mode: p.Mode, Sandbox: s.Sandbox.Describe(), Roots: s.Scope.Roots, User: UserName(), Flags: s.o.Given}
	if s.Host != nil {
		a.Mode = s.Host.Mode()
	}
	if client := s.client.Load(); client != nil {
		a.Client = *client
	}
	for _, l := range now.Settings.Layers {
		if l.Exists {
			a.Settings = append(a.Settings, aboutSettings{l.Source, l.File, l.Digest, l.Trusted})
		}
	}
	a.add(p.Rules(), now.Hooks)
	encoded, _ := agenttool.Encode(a) // texts and numbers
	return encoded
}

// Ending returns the signals that end a session in order: its calls are answered, and its log is closed. SIGHUP says that the terminal is
// gone, but not to a process that was started to outlive it, as nohup does.
func Ending() []os.Signal {
	ending := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	return ending
}

// tellState says what is weaker in this session because of the file system that the state lies on. Most kinds of file
// systems lack nothing, which one system call tells; the others are tried beside the first call.
func (s *Session) tellState() {
	state, err := dirs.State()
	if err != nil || s.Store.Path() == "" || filesystem.Complete(state) {
		return
	}
	done := make(chan struct{})
	if !s.atClose(func() error { <-done; return nil }) {
		return
	}
	go func() { // ends when the disk answers; the end of the session waits for that as for all of the disk
		defer close(done)
		can, err := filesystem.Probe(state)
		if err != nil {
			return // the log says more
		}
		for _, words := range can.Weaker() {
			message := state + " is on " + can.Kind + ": " + words
			s.live.report(message)
			s.Host.Warn(message)
			s.o.Log(message)
		}
	}()
}
