package enter

import (
	"runtime"
	"strconv"
	"syscall"
)

// The descriptors that a helper is started with, above the command's own three.
const (
	controlFD = 3
	planFD    = 4
)

// helper makes the sandbox and starts the command in it. See the package.
type helper struct {
	view     view
	environ  []string
	ruleset  int
	listener int
	first    bool          // the first process of a pid namespace
	running  chan struct{} // closed when the command runs
}

// help is the whole life of a helper.
func help() {
	h := &helper{view: view{held: map[string]int{}}, ruleset: -1, listener: -1, first: syscall.Getpid() == 1, running: make(chan struct{})}
	if errno := prctl(prSetDumpable, 0, 0); errno != 0 {
		h.fail(Step{Op: "memory-closed"}, errno)
	}
	_, _ = sys(sysCloseRange, planFD+1, ^uintptr(0)>>32, 0)
	_, _ = sys(sysCloseRange, controlFD, ^uintptr(0)>>32, 4) // CLOSE_RANGE_CLOEXEC
	if !h.first {
		_ = prctl(prSetChildSubreaper, 1, 0)
	}
	go h.carryOut()
	<-h.running
	h.obey()
}

// carryOut makes the sandbox around a thread of its own and starts the command from it. The first thread, by which the kernel
// judges who may signal this process, stays outside: the command cannot end its helper and live on.
func (h *helper) carryOut() {
	runtime.LockOSThread()
	plan, ok := readPlan()
	if !ok {
		h.fail(Step{Op: "plan"}, syscall.EBADMSG)
	}
	for _, s := range plan {
		h.do(s)
	}
	h.fail(Step{Op: "plan"}, syscall.ENOEXEC) // it has no Run
}

// do carries out one step or ends the helper.
func (h *helper) do(s Step) {
	switch s.Op {
	case Environ:
		h.environ = s.Args
		return
	case Run:
		h.run(s)
	}
	errno, ok := h.view.step(s)
	if !ok {
		errno, ok = h.confine(s)
	}
	if !ok {
		errno = syscall.ENOSYS
	}
	if errno != 0 {
		h.fail(s, errno)
	}
}

// fail tells the host which step failed, and ends.
func (h *helper) fail(s Step, errno syscall.Errno) {
	argument := ""
	if len(s.Args) > 0 && s.Op != Filter {
		argument = s.Args[0]
	}
	say(SaysFailed, -1, string(s.Op), argument, strconv.Itoa(int(errno)))
	syscall.Exit(ExitSetup)
}

// run starts the command and stays until nothing is left of it.
func (h *helper) run(s Step) {
	if errno := h.restrict(); errno != 0 {
		h.fail(Step{Op: Ruleset}, errno)
	}
	if h.listener >= 0 {
		say(SaysListener, h.listener)
		syscall.Close(h.listener)
	}
	pid, err := syscall.ForkExec(s.Args[0], s.Args[1:], &syscall.ProcAttr{
		Env: h.environ, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		errno, _ := err.(syscall.Errno)
		h.fail(s, errno)
	}
	say(SaysStarted, -1)
	leaveStreams()
	close(h.running)
	h.reap(pid)
}

// leaveStreams gives the command's streams back, so that their other ends see when nobody has them any more.
func leaveStreams() {
	null, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	for fd := range 3 {
		_ = syscall.Dup3(null, fd, 0)
	}
	syscall.Close(null)
}

// reap waits for every process that becomes ours, tells the host how the command ended, and exits when none is left.
func (h *helper) reap(command int) {
	for {
		var status syscall.WaitStatus
		var used syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, 0, &used)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			syscall.Exit(0)
		case pid == command:
			say(SaysEnded, -1, strconv.Itoa(int(status)), micros(used.Utime), micros(used.Stime), strconv.FormatInt(used.Maxrss, 10), strconv.Itoa(others()))
		}
	}
}

// others is 1 if somebody is left that the command started, else 0.
func others() int {
	for {
		switch pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); {
		case err == syscall.ECHILD:
			return 0
		case err == nil && pid == 0:
			return 1
		}
	}
}

func micros(t syscall.Timeval) string { return strconv.FormatInt(int64(t.Sec)*1e6+int64(t.Usec), 10) }

// obey does what the host says, on the first thread, which is not restricted. When the host is gone, so is all that runs here.
func (h *helper) obey() {
	buffer := make([]byte, 8<<10)
	for {
		n, err := syscall.Read(controlFD, buffer)
		switch {
		case err == syscall.EINTR:
		case err != nil || n == 0:
			h.end()
		case buffer[0] == SaySignal:
			h.signal(syscall.Signal(number(string(buffer[1:n]))))
		case buffer[0] == SaySeal:
			h.again(string(buffer[1:n]))
		}
	}
}

// again repeats a step after what it covered was replaced by the host.
func (h *helper) again(message string) {
	end := index(message, 0)
	s := Step{Op(message[:end]), []string{message[min(len(message), end+1):], ""}}
	if errno, ok := h.view.step(s); !ok || errno != 0 {
		say(SaysSealed, -1, s.Args[0], strconv.Itoa(int(errno)))
		return
	}
	say(SaysSealed, -1, s.Args[0], "0")
}

// end ends everything. The kernel does it for the first process of a pid namespace; others look for their descendants
// until none is left.
func (h *helper) end() {
	for !h.first && h.signal(syscall.SIGKILL) {
	}
	syscall.Exit(ExitSetup)
}

// signal sends a signal to all that the command started, and reports whether there was any.
func (h *helper) signal(sig syscall.Signal) bool {
	if h.first {
		return syscall.Kill(-1, sig) == nil // all but this one, in this pid namespace
	}
	found := false
	for _, pid := range descendants(syscall.Getpid()) {
		found = syscall.Kill(pid, sig) == nil || found
	}
	return found
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
func say(what byte, fd int, parts ...string) {
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
	for syscall.Sendmsg(controlFD, message, rights, nil, syscall.MSG_NOSIGNAL) == syscall.EINTR {
	}
}
