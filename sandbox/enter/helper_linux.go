package enter

import (
	"runtime"
	"strconv"
	"syscall"
)

// helper makes the sandbox and starts the command in it. See the package.
type helper struct {
	view     view
	files    []uintptr // of the command
	environ  []string
	terminal bool
	nicer    bool // than the host
	limits
	ruleset  int
	listener int  // of the filter; -1: there is none
	notify   bool // the host serves the listener
	first    bool // the first process of a pid namespace
	pids     int  // the pid namespace of the session, in which the command lives; 0: in the helper's
	members  members
}

// limits are the limits of the command.
type limits struct {
	bounds []rlimit
	group  int // the list of processes of the command's control group; -1: it has none
	guard  bounds
	bind   func(pid int) // sets them for the command, on a thread that may
}

// help is the whole life of a helper.
func help() {
	h := &helper{
		view: view{held: map[string]int{}}, files: []uintptr{0, 1, 2}, ruleset: -1, listener: -1,
		first: syscall.Getpid() == 1, limits: limits{group: -1},
	}
	if errno := prctl(prSetDumpable, 0, 0); errno != 0 {
		h.fail(Step{Op: "memory-closed"}, errno)
	}
	plan, ok := readPlan()
	if !ok {
		h.fail(Step{Op: "plan"}, syscall.EBADMSG)
	}
	last := planFD
	if plan[0].Op == Note {
		last++
		h.files, plan = append(h.files, noteFD), plan[1:]
	}
	if plan[0].Op == Ruleset {
		last++
		h.ruleset, plan = last, plan[1:]
	}
	if plan[0].Op == Group {
		last++
		h.group, plan = last, plan[1:]
	}
	if plan[0].Op == World {
		h.pids, h.view.proc = last+1, last+2
		last += 2
		plan = plan[1:]
		var errno syscall.Errno
		h.members.proc = h.view.proc
		if h.members.mounts, errno = mountsOf(h.view.proc, "self"); errno != 0 {
			h.fail(Step{Op: World}, errno)
		}
	}
	closeAbove(last)
	if errno := prctl(prSetChildSubreaper, 1, 0); errno != 0 && !h.first {
		h.fail(Step{Op: "subreaper"}, errno)
	}
	ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGTERM, syscall.SIGSTKFLT,
		syscall.SIGXCPU, syscall.SIGXFSZ, syscall.SIGSYS)
	if plan.confines() {
		offer()
		h.confineThread(plan)
	} else {
		h.bind = h.setBounds
		go h.startAndReap(plan)
	}
	h.obey()
}

// confineThread makes the sandbox around a thread of its own and starts the command from it. The first thread stays outside,
// because the kernel decides by it which processes may signal the helper: the command cannot end its helper and live on.
func (h *helper) confineThread(plan Plan) {
	command, bound := make(chan int), make(chan struct{})
	h.bind = func(pid int) {
		command <- pid
		<-bound
	}
	go h.startAndReap(plan)
	h.setBounds(<-command)
	close(bound)
}

// startAndReap starts the command from a thread of its own, whose sandbox and priority the command inherits.
func (h *helper) startAndReap(plan Plan) {
	runtime.LockOSThread()
	if h.pids == 0 {
		reap(h.carryOut(plan))
		return
	}
	if errno := enterPIDs(h.pids); errno != 0 {
		h.fail(Step{Op: World}, errno)
	}
	syscall.Close(h.pids)
	go h.reapInWorld(h.carryOut(plan), syscall.Gettid()) // the thread ends here, and with it the last of us that has the filter
}

// closeAbove leaves nothing open above a descriptor, and nothing above the command's own three that another program gets.
func closeAbove(last int) {
	const onExec = 4 // CLOSE_RANGE_CLOEXEC
	_, closed := sys(sysCloseRange, uintptr(last+1), ^uintptr(0)>>32, 0)
	_, marked := sys(sysCloseRange, controlFD, ^uintptr(0)>>32, onExec)
	if closed == 0 && marked == 0 {
		return
	}
	for _, fd := range numbers("/proc/self/fd") { // a kernel before 5.11
		if fd > last {
			syscall.Close(fd)
		} else if fd >= controlFD {
			syscall.CloseOnExec(fd)
		}
	}
}

// carryOut takes the steps of a plan; the last one starts the command. It ends the helper if a step fails.
func (h *helper) carryOut(plan Plan) (command int) {
	for _, s := range plan {
		if s.Op == Run {
			return h.run(s)
		}
		if errno := h.do(s); errno != 0 {
			h.fail(s, errno)
		}
	}
	h.fail(Step{Op: "plan"}, syscall.ENOEXEC) // it has no Run
	return 0
}

// do carries out one step.
func (h *helper) do(s Step) syscall.Errno {
	switch s.Op {
	case Guard:
		h.guard = bounds{number(s.Args[0]), number(s.Args[1])}
		return 0
	case Nice:
		h.nicer = true
		return 0
	case Script:
		fd, errno := script(s.Args[0])
		h.files = append(h.files, uintptr(fd))
		return errno
	case Environ:
		h.environ = s.Args
		return 0
	case Terminal:
		h.terminal = true
		_, errno := sys(syscall.SYS_IOCTL, 0, syscall.TIOCSCTTY, 0)
		return errno
	}
	errno, ok := h.view.step(s)
	if !ok {
		errno, ok = h.confine(s)
	}
	if !ok {
		errno = syscall.ENOSYS
	}
	return errno
}

// fail tells the host which step failed, and ends.
func (h *helper) fail(s Step, errno syscall.Errno) {
	argument := ""
	if len(s.Args) > 0 && s.Op != Filter && s.Op != Script {
		argument = s.Args[0]
	}
	say(SaysFailed, -1, string(s.Op), argument, strconv.Itoa(int(errno)))
	syscall.Exit(ExitSetup)
}

// run starts the command.
func (h *helper) run(s Step) (command int) {
	if errno := h.restrict(); errno != 0 {
		h.fail(Step{Op: Ruleset}, errno)
	}
	if h.pids != 0 {
		say(SaysMounts, -1, h.members.mounts)
	}
	if h.listener >= 0 && h.notify {
		say(SaysListener, h.listener)
	}
	if h.listener >= 0 && h.pids == 0 {
		syscall.Close(h.listener)
	}
	if say(SaysStarting, -1) == syscall.EPIPE { // the call has ended meanwhile
		syscall.Exit(ExitSetup)
	}
	pid, err := h.begin(s)
	if err != nil {
		errno, _ := err.(syscall.Errno)
		h.fail(s, errno)
	}
	say(SaysStarted, -1)
	go h.watch(pid, h.guard) // ends with the helper
	h.leaveStreams()
	return pid
}

// begin starts the command in a session of its own. With a terminal it shares ours, in the foreground: when the leader of
// a session ends, its terminal hangs up on all that still have it, and we end after them. Should we be killed, at least the
// command itself is, too. One that has bounds is held at its first instruction until they are set, where that is allowed, so
// that nothing of it escapes them.
func (h *helper) begin(s Step) (int, error) {
	if h.nicer {
		lowerPriority()
	}
	attr := &syscall.ProcAttr{Env: h.environ, Files: h.files, Sys: &syscall.SysProcAttr{
		Setsid: !h.terminal, Foreground: h.terminal, Ctty: 0, Pdeathsig: syscall.SIGKILL, Ptrace: len(h.bounds) > 0 || h.group >= 0,
	}}
	if h.pids != 0 {
		attr.Sys.Pdeathsig = 0 // it would come when this thread ends; the holder sees to it
	}
	pid, err := syscall.ForkExec(s.Args[0], s.Args[1:], attr)
	if attr.Sys.Ptrace && err == syscall.EPERM { // the filter, or the machine
		attr.Sys.Ptrace = false
		pid, err = syscall.ForkExec(s.Args[0], s.Args[1:], attr)
	}
	if err != nil {
		return 0, err
	}
	for attr.Sys.Ptrace {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			break
		}
	}
	h.bind(pid)
	if attr.Sys.Ptrace {
		_ = syscall.PtraceDetach(pid)
	}
	ignore(syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU) // now: these a started process would inherit
	return pid, nil
}

// leaveStreams gives the command's descriptors back, so that their other ends notice when the command has closed them.
func (h *helper) leaveStreams() {
	for _, fd := range h.files[3:] {
		syscall.Close(int(fd))
	}
	null, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	for fd := range 3 {
		if err == nil {
			_ = syscall.Dup3(null, fd, syscall.O_CLOEXEC)
		} else {
			syscall.Close(fd)
		}
	}
	syscall.Close(null)
}

// script returns a descriptor of a file in memory, at the beginning of its text.
func script(text string) (int, syscall.Errno) {
	fd, errno := memoryFile("script")
	for done := 0; errno == 0 && done < len(text); {
		n, err := syscall.Pwrite(fd, []byte(text[done:]), int64(done))
		if err != syscall.EINTR {
			errno, _ = err.(syscall.Errno)
			done += n
		}
	}
	return fd, errno
}

// readPlan reads the plan from its file, whose offset is at its end.
func readPlan() (Plan, bool) {
	var st syscall.Stat_t
	if syscall.Fstat(planFD, &st) != nil || st.Size == 0 || st.Size > 64<<20 {
		return nil, false
	}
	b := make([]byte, st.Size)
	for done := 0; done < len(b); {
		n, err := syscall.Pread(planFD, b[done:], int64(done))
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return nil, false
		}
		done += n
	}
	syscall.Close(planFD)
	return Decode(b)
}

// say sends a message to the host, with a descriptor if fd is one.
func say(what byte, fd int, parts ...string) syscall.Errno {
	message := []byte{what}
	for i, p := range parts {
		if i > 0 {
			message = append(message, 0)
		}
		message = append(message, p...)
	}
	var rights []byte
	if fd >= 0 {
		rights = syscall.UnixRights(fd)
	}
	for {
		err := syscall.Sendmsg(controlFD, message, rights, nil, syscall.MSG_NOSIGNAL)
		if errno, _ := err.(syscall.Errno); errno != syscall.EINTR {
			return errno
		}
	}
}

// answer tells the host whether its message succeeded, and which step failed.
func answer(errno syscall.Errno, fd int, of ...string) {
	var rights []byte
	if fd >= 0 {
		rights = syscall.UnixRights(fd)
	}
	message := []byte(strconv.Itoa(int(errno)))
	for _, part := range of {
		message = append(message, part...)
	}
	for syscall.Sendmsg(controlFD, message, rights, nil, syscall.MSG_NOSIGNAL) == syscall.EINTR {
	}
}
