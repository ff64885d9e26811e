package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
	"toolhost/sandbox/proxy"
)

// check reports a profile that cannot be.
func (s *Session) check(p Profile) error {
	if err := p.check(); err != nil || !p.confined() {
		return err
	}
	if s.level == None {
		return withoutSandbox(p)
	}
	if _, err := s.view.writable(p); err != nil {
		return err
	}
	if len(p.Hosts) > 0 && s.level != Full {
		return fmt.Errorf("hosts are reached through a network of the session's own, which level %s has not", s.level)
	}
	return nil
}

// guard finds the protected names and keeps them.
func (p *Process) guard(plan *plan) (err error) {
	view := plan.s.view
	if plan.opened.write, err = view.writable(plan.c.Profile); err != nil {
		return err
	}
	loans, removals := loansIn(view, plan.c.Profile), removalsIn(view, plan.c.Profile)
	plan.opened.loans = loans
	p.atEnd(func() {
		for _, l := range loans {
			l.close()
		}
		for _, r := range removals {
			r.dir.Close()
		}
	})
	if plan.names, err = findNames(plan.s.o.Protected, view, plan.c.Profile); err != nil {
		return err
	}
	plan.opened.read = view.readable(plan.c.Profile)
	plan.writes = plan.writable()
	p.unseen = hiddenFiles{
		secrets: plan.names.granted.Secrets, denied: plan.c.Profile.Denied.Programs, home: view.home.Dir,
		hides: func(path string) bool {
			return inAny(view.closed(plan.c.Profile), path) && !plan.layout.visible(path) && !view.isHidden(path)
		},
		replaced:      func(path string) bool { return isReplaced(view, path) && !view.sees(path) && !view.isHidden(path) },
		replacedByGit: plan.s.configs.replacedByGit,
	}
	p.toldTemporary = &plan.s.toldTemporary
	p.confinement = Confinement{plan.c.Profile.Access, plan.s.level, partial(plan.names.all)}
	if !plan.workspace() {
		return nil
	}
	p.judge = &judge{
		protection: protection{names: plan.names.granted, namesInUse: &plan.s.namesInUse, room: &plan.s.room},
		writable:   writable{open: plan.writes, mounts: plan.s.level == Full, gits: plan.opened.gits(), caches: plan.s.layers.mounted()},
		decision:   decision{approved: plan.c.Profile.Unseal, removed: plan.c.Profile.Remove},
		lending:    lending{loans: loans, removals: removals},
		ownSecrets: ownSecrets{own: map[string]uint64{}},
		reports:    reports{report: p.violations.add, allow: func(path string) { plan.s.o.Protected.Allow(path) }},
		opening:    opening{p: p, plan: plan},
	}
	p.judge.changes.in, p.judge.changes.opening = plan.hostFiles(), &p.judge.opening
	p.judge.keeping.keeper, p.judge.keeping.mayLose = plan.c.Keeps, plan.c.MayLose
	p.judge.keeping.in, p.judge.keeping.p = &p.judge.changes, p
	if keeper := plan.c.Keeps; keeper != nil {
		p.atEnd(func() {
			if p.starting.Load() { // else it is of the next attempt
				_ = keeper.Close()
			}
		})
	}
	p.atEnd(p.judge.opening.close)
	p.judge.arm(plan)
	fresh := func() bool { return plan.s.level == Landlock || p.judge.fresh.Load() } // without a filter new names are not noticed
	if p.tripwire, err = newTripwire(plan.names, plan.c.Profile.Unseal, plan.s.o.Protected, fresh); err == nil {
		done := make(chan struct{})
		p.tripwire.allowed.letLive = plan.s.o.LetLive
		p.violations.changed = plan.s.o.Changed
		go p.tripwire.watch(done, p.violations.add)
		p.tripwire.settle, p.tripwire.asides, p.tripwire.judged = p.judge.settleNow, p.judge.arming.tell, plan.s.level != Landlock
		p.judge.arming.judged.Known = p.tripwire.known
		p.atEnd(p.inspectLast)
		p.atEnd(func() { p.judge.arming.end(p.judge) })
		p.atEnd(func() { close(done) })
	}
	return err
}

// connect gives a command that has a network its way out.
func (p *Process) connect(plan *plan) error {
	if plan.s.level != Full || !plan.workspace() {
		return nil
	}
	h, err := plan.s.hold()
	if err != nil {
		return err
	}
	p.connector = newConnector(plan, h.sockets, p.violations.add)
	p.atEnd(p.connector.asker.close)
	if h.proxy == nil {
		return nil
	}
	env, leave, err := plan.s.network.admit(h.proxy.Addr(), plan.c.Profile, p)
	if err == nil {
		plan.network = env
		if exe := plan.s.o.Program; exe != "" {
			plan.network = append(plan.network, "GIT_SSH_COMMAND="+proxy.GitSSHCommand(exe))
		}
		p.atEnd(leave)
	}
	return err
}

// launch has a helper started and waits until it has started the command.
func (p *Process) launch(ctx context.Context, plan *plan) error {
	encoded, err := planFile(plan.Encode())
	if err != nil {
		return err
	}
	defer encoded.Close()
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	p.helper.control, p.helper.inWorld = ours, plan.world != nil
	p.session, p.world = plan.s, plan.world
	if p.starts = plan.starts; p.starts != nil {
		p.starts.report = p.violations.add
	}
	leave, err := plan.s.running.join(p)
	if err != nil {
		ours.Close()
		theirs.Close()
		return err
	}
	p.atEnd(leave)
	if plan.level != None {
		plan.s.scratch.start(plan.s)
	}
	if plan.level == Full { // before anything is covered: names that are replaced from now on are covered again
		p.atEnd(plan.s.watch.add(p, plan.names, plan.replaceable(), plan.denied))
	}
	files := slices.Concat([]*os.File{theirs, encoded}, plan.files())
	handle, err := p.startPlanned(plan, files)
	theirs.Close()
	if err != nil {
		ours.Close()
		return err
	}
	p.helper.setProcess(handle)
	go p.listen()
	if err = p.awaitStart(ctx); err != nil {
		if errors.Is(err, errNoAnswer) {
			p.helper.signal(unix.SIGKILL) // it hangs before its command
		}
		p.Kill() // it does not begin any more, and ends what it has begun
		p.await(killPatience)
	}
	return err
}

// killPatience is how long is waited for a process that was killed before its command ran: only the kernel can hold it.
const killPatience = 500 * time.Millisecond

// awaitStart waits until the helper has started the command, has failed, or hangs.
func (p *Process) awaitStart(ctx context.Context) error {
	pulse := p.helper.pulse()
	looks := time.NewTicker(silentFor)
	defer looks.Stop()
	for limit := time.Now().Add(patience); ; {
		select {
		case err := <-p.started:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-looks.C:
			if p.starting.Load() { // the command was faster, and has stopped its helper
				return nil
			}
			if pulse.hangs() || time.Now().After(limit) {
				return errNoAnswer
			}
		}
	}
}

// startPlanned starts the helper, in the namespaces of the session where it has to be. The files are control, plan, and those of the
// command.
func (p *Process) startPlanned(plan *plan, files []*os.File) (*os.File, error) {
	if plan.level != Full {
		return startHelper(files)
	}
	h, err := plan.s.hold()
	if err != nil {
		return nil, err
	}
	p.holder = h
	flags := byte(0)
	if plan.c.Profile.Access == ReadOnly && !plan.c.Profile.Loopback && !(plan.c.Profile.Observes && plan.world != nil) {
		flags |= enter.OwnNetwork
	}
	if !plan.workspace() {
		flags |= enter.OwnMessages
	}
	if plan.world == nil {
		flags |= enter.OwnWorld
	}
	process, err := h.clone(flags, files)
	if errors.Is(err, errHung) {
		return nil, err
	}
	if err != nil {
		return nil, noNamespaces{err}
	}
	return process, nil
}

// startHelper starts a helper without namespaces. It is our child, so it has to be waited for. It gets no signal when
// we die, but sees that its control socket is closed, and then ends the command's processes.
func startHelper(files []*os.File) (*os.File, error) {
	var fds []uintptr
	for _, f := range slices.Concat(files[2:5], files[:2], files[5:]) {
		fds = append(fds, f.Fd())
	}
	pidfd := -1
	pid, _, err := syscall.StartProcess("/proc/self/exe", []string{enter.HelperName}, &syscall.ProcAttr{
		Files: fds, Env: enter.HelperEnv(), Dir: "/", Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd},
	})
	runtime.KeepAlive(files)
	if err != nil {
		return nil, err
	}
	go func() { // ends with the helper
		for {
			if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
				return
			}
		}
	}()
	return os.NewFile(uintptr(pidfd), "helper"), nil
}
