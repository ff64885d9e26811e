package enter

import (
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// reap waits for every process that becomes ours, tells the host how the command ended, and exits when none is left.
func reap(command int) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			syscall.Exit(0)
		case pid == command && !status.Stopped(): // it may have asked to be traced by us
			say(SaysEnded, -1, strconv.Itoa(int(status)), strconv.Itoa(others()))
		}
	}
}

// reapInWorld is reap for a command of the session's world. Processes that lose their parents there become the session's, so that the filter,
// which nobody can leave, tells when the last one has ended.
func (h *helper) reapInWorld(command, thread int) {
	var status syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(command, &status, 0, nil)
		if err == nil && pid == command && !status.Stopped() || err != nil && err != syscall.EINTR {
			break
		}
	}
	for syscall.Tgkill(syscall.Getpid(), thread, 0) == nil {
		runtime.Gosched()
	}
	left := "1"
	if hungUp(h.listener, 0) {
		left = "0"
	}
	say(SaysEnded, -1, strconv.Itoa(int(status)), left)
	hungUp(h.listener, -1)
	h.members.awaitEnd()
	trimShared()
	syscall.Exit(0)
}

// others is 1 if a process of the command is left, else 0.
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

// obey carries out the host's messages, on the first thread, which is not restricted. When the host has gone it ends everything.
func (h *helper) obey() {
	buffer, rights := make([]byte, 8<<10), make([]byte, syscall.CmsgSpace(2*4))
	for {
		n, m, flags, _, err := syscall.Recvmsg(controlFD, buffer, rights, syscall.MSG_CMSG_CLOEXEC)
		switch {
		case err == syscall.EINTR:
		case err != nil || n == 0:
			h.end()
		case buffer[0] == SaySignal:
			h.signal(syscall.Signal(number(string(buffer[1:n]))))
		case buffer[0] == SaySeal:
			h.again(string(buffer[1:n]))
		case buffer[0] == SayLend:
			h.view.lend(string(buffer[1:n]))
		case buffer[0] == SayReturn:
			h.view.takeBack(string(buffer[1:n]))
		case buffer[0] == SayShow:
			fds, errno := descriptors(rights[:m], flags)
			showTree(string(buffer[1:n]), fds, errno)
		case buffer[0] == SayBind:
			fds, errno := descriptors(rights[:m], flags)
			bind(string(buffer[1:n]), fds, errno)
		}
	}
}

// again repeats a step after the host replaced the covered entry.
func (h *helper) again(message string) {
	end := index(message, 0)
	s := Step{Op(message[:end]), []string{message[min(len(message), end+1):], ""}}
	if errno, ok := h.view.step(s); !ok || errno != 0 {
		say(SaysSealed, -1, s.Args[0], strconv.Itoa(int(errno)))
		return
	}
	say(SaysSealed, -1, s.Args[0], "0")
}

// end ends all processes of the command. For the first process of a pid namespace the kernel does it. Any other helper kills its
// descendants again and again: [reap] exits as soon as none is left. Processes that changed their user, which the helper must not
// signal, are left. Most rounds come in bursts, because a process that keeps forking is hit only between two forks; processes
// that die slowly get fewer and fewer rounds.
func (h *helper) end() {
	const burst, longest, hopeless = 32, 1000, 3
	if h.first {
		syscall.Exit(ExitSetup)
	}
	if h.pids != 0 {
		h.members.end(func() bool { return h.listener >= 0 && hungUp(h.listener, 0) })
		return // reapInWorld ends us
	}
	for pause, untouchable := 1, 0; untouchable < hopeless; pause = min(2*pause, longest) {
		sent, refused := 0, 0
		for range burst {
			sent, refused = signalBelow(syscall.SIGKILL)
			runtime.Gosched() // reap has a turn
		}
		if untouchable++; sent > 0 || refused == 0 {
			untouchable = 0
		}
		wait := syscall.NsecToTimespec(int64(pause) * 1e6)
		_ = syscall.Nanosleep(&wait, nil)
	}
	syscall.Exit(ExitSetup)
}

// signal sends a signal to all that the command started.
func (h *helper) signal(sig syscall.Signal) {
	if h.first {
		_ = syscall.Kill(-1, sig) // all but this one, in this pid namespace
		return
	}
	if h.pids != 0 {
		h.members.signal(sig)
		return
	}
	signalBelow(sig)
}

// ignore ignores signals, which a command may send to every process that it can reach. A started process inherits none of this
// for signals that the runtime handles.
func ignore(signals ...syscall.Signal) {
	action := struct{ handler, flags, restorer, mask uint64 }{handler: 1} // struct sigaction with SIG_IGN
	for _, sig := range signals {
		_, _ = sys(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8)
	}
}

// setBounds sets the limits that are the command's alone: with those of its helper changed, the helper itself could run into
// them. The same holds for the control group.
func (h *limits) setBounds(pid int) {
	if h.group >= 0 {
		_, _ = syscall.Write(h.group, strconv.AppendInt(nil, int64(pid), 10))
		syscall.Close(h.group)
	}
	for _, l := range h.bounds {
		_ = l.set(pid) // it fails for a process that changed its user or has ended
	}
}

// watch gives the session of a command that is nicer its priority, and ends a command that uses more than its bounds. One that ends at once
// costs neither.
func (h *helper) watch(command int, b bounds) {
	nice, at := !h.nicer, fullness{}
	for pause := int64(often); !nice || b != (bounds{}); {
		wait := syscall.NsecToTimespec(pause * 1e6)
		_ = syscall.Nanosleep(&wait, nil)
		nice = nice || h.view.setSessionPriority(command)
		runtime.LockOSThread() // whose time is taken
		begun := threadTime()
		pause = h.look(b, &at)
		pause = max(pause, (share-1)*(threadTime()-begun)/1e6)
		runtime.UnlockOSThread()
	}
}

// fullness is how long a command has had about as many processes as the kernel allows. One that is refused more again and again falls below that
// between two attempts, which takes off half of the time that it lasts.
type fullness struct{ last, lasted int64 } // ns

// lasting is how long a command may stay there. Other commands and the command itself are refused more.
const lasting = 1e9 // ns

// lasts takes note whether there are that many now, and reports whether there have been for too long.
func (f *fullness) lasts(full bool) bool {
	var t syscall.Timespec
	_, _ = sys(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&t))) // CLOCK_MONOTONIC
	now := t.Nano()
	if f.last == 0 {
		f.last = now
	}
	if since := now - f.last; full {
		f.lasted += since
	} else {
		f.lasted = max(f.lasted-since/2, 0)
	}
	f.last = now
	return full && f.lasted > lasting
}

// look ends a command that exceeds its bounds, or stays at them for a second. It returns the milliseconds until the next look.
func (h *helper) look(b bounds, at *fullness) (pause int64) {
	if b == (bounds{}) {
		return calmly
	}
	if h.pids != 0 {
		trimShared()
	}
	u := h.used(rough)
	if b.memory > 0 && u.memory > b.memory {
		u = h.used(exact)
	}
	full := b.processes > 0 && u.session > b.processes-max(b.processes/8, 1) && u.processes >= u.largest
	what, used, most := "", 0, 0
	switch lasts := at.lasts(full); {
	case b.processes > 0 && u.processes > b.processes, lasts:
		what, used, most = "processes", u.processes, b.processes
	case b.memory > 0 && u.memory > b.memory:
		what, used, most = "memory", u.memory, b.memory
	}
	if what != "" {
		say(SaysBounded, -1, what, strconv.Itoa(used), strconv.Itoa(most))
		if h.first {
			h.signal(syscall.SIGKILL)
		} else {
			h.end()
		}
	}
	if b.processes > 0 && u.session > b.processes/8 || b.memory > 0 && u.memory > b.memory/16 || what != "" {
		return often
	}
	return calmly
}

// helperThreads is about how many threads a helper has.
const helperThreads = 6

// usage is what a command uses.
type usage struct {
	processes, memory int // its own, threads included, and bytes that are no file's
	session           int // processes of all commands of the session, as far as they show here
	largest           int // of the other command that has most
}

// rough is the memory of a process that it shares with no file. Processes that were forked share some with each other, which counts for each.
func rough(proc int, of string) int {
	text := readAllAt(proc, of+"/statm") // size resident shared …
	var fields [3]string
	for i := range fields {
		end := index(text, ' ')
		fields[i], text = text[:end], text[min(end+1, len(text)):]
	}
	return max(number(fields[1])-number(fields[2]), 0) * syscall.Getpagesize()
}

// exact is rough with shared memory counted once. The kernel looks at every page for it.
func exact(proc int, of string) int {
	const key = "\nPss_Anon:"
	text := readAllAt(proc, of+"/smaps_rollup")
	for i := 0; i+len(key) < len(text); i++ {
		if text[i:i+len(key)] != key {
			continue
		}
		rest := text[i+len(key):]
		for rest != "" && rest[0] == ' ' {
			rest = rest[1:]
		}
		return number(rest[:index(rest, ' ')]) << 10
	}
	return rough(proc, of) // a kernel before 5.9, or it may not be read
}

// used counts the processes of the command, and the bytes of memory that are theirs.
func (h *helper) used(memory func(proc int, of string) int) (u usage) {
	proc := atFDCWD
	place := func(pid int) string {
		if proc == atFDCWD {
			return "/proc/" + strconv.Itoa(pid)
		}
		return strconv.Itoa(pid)
	}
	count := func(pid int) {
		of := place(pid)
		u.processes += threadsOf(proc, of)
		u.memory += memory(proc, of)
	}
	switch {
	case h.first:
		for _, pid := range numbers("/proc") {
			if pid != 1 {
				count(pid)
			}
		}
	case h.pids != 0:
		proc = h.members.proc
		others := h.members.eachOf(count, func(pid int) int { return threadsOf(proc, place(pid)) })
		u.session = u.processes
		for _, n := range others {
			n -= helperThreads
			u.session += n
			u.largest = max(u.largest, n)
		}
		if h.group < 0 { // the kernel counts helpers and the holder, too
			u.session += helperThreads*(len(others)+1) + holderThreads
		}
		return u
	default:
		eachBelow(func(c child) bool {
			count(c.pid)
			return u.processes < maxTree
		})
	}
	u.session = u.processes
	return u
}

// threadsOf is how many threads a process has, 1 if it does not say.
func threadsOf(proc int, dir string) int {
	var st syscall.Stat_t
	if _, errno := at(sysFstatat, proc, dir+"/task", uintptr(unsafe.Pointer(&st))); errno != 0 {
		return 1
	}
	return max(int(st.Nlink)-2, 1)
}
