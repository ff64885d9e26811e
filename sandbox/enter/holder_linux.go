package enter

import (
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// holderThreads is how many threads a holder has at most, so that commands which use up all processes cannot end it.
const holderThreads = 8

// hold is the whole life of a holder.
func hold() {
	if errno := prctl(prSetDumpable, 0, 0); errno != 0 {
		exitHolder(errno)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		exitHolder(err.(syscall.Errno))
	}
	if errno := loopback(); errno != 0 {
		exitHolder(errno)
	}
	failed := buildPlaces()
	offer()
	park(holderThreads)
	writeFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")
	writeFile("/proc/sys/user/max_user_namespaces", "0") // the filter forbids them too
	listener := listen()
	answer(0, listener)
	syscall.Close(listener)
	answerSockets()
	answerDevices(failed)
	h := holder{lonely: make(chan lonelyStart), helpers: map[int]mounts{}}
	w, errno := makeWorld()
	if errno != 0 {
		boundProcesses() // of all pid namespaces below, and of ours
	}
	answerWorld(w, errno)
	h.world = w
	h.changed = sync.NewCond(&h.mu)
	go h.reap()
	go h.cutOff()
	h.serve()
}

// buildPlaces carries out the plan of the session. A tree that was replaced or went away since it was made is not shown. An overlay that
// cannot be mounted is left out: the result names the errno and the place of each.
func buildPlaces() (failed string) {
	plan, ok := readPlan()
	if !ok {
		exitHolder(syscall.EBADMSG)
	}
	v := view{held: map[string]int{}}
	for _, s := range plan {
		if s.Op == Place {
			if _, held := v.held[s.Args[0]]; !held {
				continue
			}
		}
		errno, ok := v.step(s)
		if !ok {
			errno = syscall.ENOSYS
		}
		if s.Op == Overlay && errno != 0 {
			failed += " " + strconv.Itoa(int(errno)) + "=" + s.Args[0]
			errno = 0
		}
		if s.Op == Hold && (errno == syscall.ENOENT || errno == syscall.ESTALE || errno == syscall.EACCES) {
			errno = 0
		}
		if errno != 0 {
			exitHolder(errno, " ", string(s.Op), " ", s.Args[0])
		}
	}
	return failed
}

// holder starts helpers and reaps them.
type holder struct {
	mu          sync.Mutex
	changed     *sync.Cond
	startResult int            // how many helpers so far
	helpers     map[int]mounts // of those whose commands are in the world, by their numbers
	world       world

	lonely chan lonelyStart // served by a thread whose network is empty
}

// lonelyStart is a helper to be started without a network.
type lonelyStart struct {
	flags byte
	fds   []int
	done  chan started
}

type started struct {
	process int
	errno   syscall.Errno
}

// cutOff starts the helpers that must have no network, from a thread in a network namespace with only a loopback that is
// down. They share it: nothing can be sent in it, and local sockets of one are closed to the other by Landlock.
// Making one for each helper would take as long as all the rest.
func (h *holder) cutOff() {
	runtime.LockOSThread()
	_, errno := sys(syscall.SYS_UNSHARE, syscall.CLONE_NEWNET)
	for s := range h.lonely {
		if errno != 0 {
			s.done <- started{-1, errno}
			continue
		}
		process, errno := h.start(s.flags, s.fds)
		s.done <- started{process, errno}
	}
}

// startLonely has the thread without a network start a helper.
func (h *holder) startLonely(flags byte, fds []int) (int, syscall.Errno) {
	done := make(chan started)
	h.lonely <- lonelyStart{flags, fds, done}
	s := <-done
	return s.process, s.errno
}

// serve starts a helper for each message, until the host has gone.
func (h *holder) serve() {
	b := make([]byte, 8<<10)
	rights := make([]byte, syscall.CmsgSpace(8*4))
	for {
		n, m, flags, _, err := syscall.Recvmsg(controlFD, b, rights, syscall.MSG_CMSG_CLOEXEC)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil || n == 0:
			syscall.Exit(0) // and the kernel ends the session
		}
		fds, errno := descriptors(rights[:m], flags)
		if errno != 0 {
			answer(errno, -1)
		} else if len(fds) == 0 {
			carryOut(b[0], string(b[1:n]))
		} else if len(fds) >= 5 && len(fds) <= 8 {
			start := h.start
			if b[0]&OwnNetwork != 0 {
				start = h.startLonely
			}
			process, errno := start(b[0], fds)
			answer(errno, process)
			if process >= 0 {
				syscall.Close(process)
			}
		} else {
			answer(syscall.EBADMSG, -1)
		}
		for _, fd := range fds {
			syscall.Close(fd)
		}
	}
}

// carryOut answers the messages that need no helper.
func carryOut(flags byte, message string) {
	switch {
	case flags&MakeSocket != 0:
		answerSocket(flags&SocketSix != 0)
	case flags&CloneTree != 0:
		answerTree(message)
	case flags&DropName != 0:
		dropName(message)
	default:
		answer(syscall.EBADMSG, -1)
	}
}

// start clones a helper. The descriptors are control, plan, stdin, stdout, stderr, and where the plan wants it another.
func (h *holder) start(flags byte, fds []int) (process int, errno syscall.Errno) {
	process = -1
	clone := uintptr(syscall.CLONE_NEWNS)
	if flags&OwnMessages != 0 {
		clone |= syscall.CLONE_NEWIPC
	}
	if flags&OwnWorld != 0 {
		clone |= syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	files := []uintptr{uintptr(fds[2]), uintptr(fds[3]), uintptr(fds[4]), uintptr(fds[0]), uintptr(fds[1])}
	for _, fd := range fds[5:] {
		files = append(files, uintptr(fd))
	}
	if flags&OwnWorld == 0 {
		files = append(files, uintptr(h.world.pids), uintptr(h.world.proc))
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{HelperName}, &syscall.ProcAttr{
		Env:   HelperEnv(),
		Files: files,
		Sys:   &syscall.SysProcAttr{Cloneflags: clone, Setsid: true, PidFD: &process, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		errno, _ = err.(syscall.Errno)
		return -1, errno
	}
	if flags&OwnWorld == 0 {
		h.helpers[pid] = holdMounts(h.world.proc, pid)
	}
	h.startResult++
	h.changed.Signal()
	return process, 0
}

// reap reaps every child. Where there is none, it waits until one was started since it looked.
func (h *holder) reap() {
	for {
		h.mu.Lock()
		seen := h.startResult
		h.mu.Unlock()
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == nil {
			h.ended(pid, status)
		}
		if err != syscall.ECHILD {
			continue
		}
		h.mu.Lock()
		for h.startResult == seen {
			h.changed.Wait()
		}
		h.mu.Unlock()
	}
}

// ended forgets a helper. One that was killed has left its command, which ends with it.
func (h *holder) ended(pid int, status syscall.WaitStatus) {
	if pid == h.world.first {
		syscall.Exit(0) // and with it all that lived there
	}
	h.mu.Lock()
	of, ok := h.helpers[pid]
	delete(h.helpers, pid)
	h.mu.Unlock()
	if !ok {
		return
	}
	if !status.Signaled() {
		syscall.Close(of.held)
		return
	}
	left, looks := members{h.world.proc, of.name}, 0
	go func() { // ends when two looks have found nobody
		left.end(func() bool {
			found := 0
			left.each(func(int) { found++ }, func(int) {})
			if looks++; found > 0 {
				looks = 0
			}
			return looks > 2
		})
		syscall.Close(of.held)
	}()
}

func exitHolder(errno syscall.Errno, of ...string) {
	answer(errno, -1, of...)
	syscall.Exit(ExitSetup)
}

// descriptors are those that a message brought: all of them, or none and EMFILE if there was no room for all.
func descriptors(rights []byte, flags int) ([]int, syscall.Errno) {
	messages, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return nil, syscall.EBADMSG
	}
	var fds []int
	for i := range messages {
		got, _ := syscall.ParseUnixRights(&messages[i])
		fds = append(fds, got...)
	}
	if flags&syscall.MSG_CTRUNC == 0 {
		return fds, 0
	}
	for _, fd := range fds {
		syscall.Close(fd)
	}
	return nil, syscall.EMFILE
}

// answerSocket passes the host a TCP socket of the session's network.
func answerSocket(six bool) {
	family := syscall.AF_INET
	if six {
		family = syscall.AF_INET6
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		answer(err.(syscall.Errno), -1)
		return
	}
	answer(0, fd)
	syscall.Close(fd)
}

// answerSockets passes the host a socket for listing the sockets of the session's network.
func answerSockets() {
	const sockDiag = 4
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, sockDiag)
	if err != nil {
		exitHolder(err.(syscall.Errno))
	}
	answer(0, fd)
	syscall.Close(fd)
}

// answerDevices passes the host the /dev of the session's commands, which has no name outside, and the layers that buildPlaces left out.
func answerDevices(failed string) {
	fd, errno := open("/dev", oPath)
	if errno != 0 {
		exitHolder(errno, " open /dev")
	}
	answer(0, fd, failed)
	syscall.Close(fd)
}

// listen makes the socket on the session's loopback for the host's proxy, -1 if it cannot be made.
func listen() int {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	address := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}
	if syscall.Bind(fd, address) != nil || syscall.Listen(fd, 128) != nil {
		syscall.Close(fd)
		return -1
	}
	return fd
}
