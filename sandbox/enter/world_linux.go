package enter

import (
	"strconv"
	"syscall"
	"unsafe"
)

// The names of the session's own in its /dev, from where each helper takes what its command is to have.
const (
	worldProc   = "/dev/.proc"   // the processes of the commands
	worldMemory = "/dev/.memory" // the /dev/shm that the commands of the session share
)

// SharedOptions are the options of a file system of that many bytes, which commands share by names.
func SharedOptions(bytes int64) string { return "mode=1777,size=" + strconv.FormatInt(bytes, 10) }

// world is what the holder has of the pid namespace in which the session's commands live, and neither it nor a helper.
type world struct {
	first  int // its first process
	reaper int // ... by a pidfd
	pids   int // the namespace
	shown  int // its processes
	proc   int // the processes of the holder's namespace, those of the commands and the helpers, writable, without a name
}

// makeWorld makes the session's world. Without one each command gets namespaces of its own.
func makeWorld() (w world, errno syscall.Errno) {
	if w.proc, errno = newMount("proc", "", attrNoSuid|attrNoDev|attrNoExec); errno != 0 {
		return w, errno
	}
	ours, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return w, err.(syscall.Errno)
	}
	defer syscall.Close(ours[0])
	w.first, err = syscall.ForkExec("/proc/self/exe", []string{ReaperName}, &syscall.ProcAttr{
		Env: append(HelperEnv(), entryOf(processesName)), Files: []uintptr{0, 1, 2, uintptr(ours[1])},
		Sys: &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Setsid: true, PidFD: &w.reaper},
	})
	syscall.Close(ours[1])
	if err != nil {
		return w, err.(syscall.Errno)
	}
	rights := make([]byte, syscall.CmsgSpace(2*4))
	_, m, flags, _, err := syscall.Recvmsg(ours[0], make([]byte, 16), rights, syscall.MSG_CMSG_CLOEXEC)
	for err == syscall.EINTR {
		_, m, flags, _, err = syscall.Recvmsg(ours[0], make([]byte, 16), rights, syscall.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return w, err.(syscall.Errno)
	}
	fds, errno := descriptors(rights[:m], flags)
	if errno != 0 {
		return w, errno
	}
	if len(fds) != 2 {
		return w, syscall.EBADMSG
	}
	w.shown, w.pids = fds[0], fds[1]
	at, errno := open(worldProc, oPath)
	if errno != 0 {
		return w, errno
	}
	defer syscall.Close(at)
	if errno := attach(w.shown, at); errno != 0 {
		return w, errno
	}
	return w, memory(worldMemory, SharedOptions(int64(number(entryOf(sharedName)[len(sharedName):]))))
}

// reapSession is the whole life of the first process of the world. It passes the holder two descriptors, of the processes that it sees and
// of its namespace, and then nothing reaches it: it ignores every signal, and the kernel reaps those that lost their parents.
func reapSession() {
	if errno := prctl(prSetDumpable, 0, 0); errno != 0 {
		syscall.Exit(ExitSetup)
	}
	boundProcesses()
	proc, errno := newMount("proc", "", attrReadOnly|attrNoSuid|attrNoDev|attrNoExec)
	if errno != 0 {
		syscall.Exit(ExitSetup)
	}
	pids, err := syscall.Openat(proc, "self/ns/pid", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		syscall.Exit(ExitSetup)
	}
	const last = 64
	for sig := syscall.Signal(1); sig <= last; sig++ {
		if sig != syscall.SIGKILL && sig != syscall.SIGSTOP {
			ignore(sig)
		}
	}
	if syscall.Sendmsg(controlFD, []byte{'0'}, syscall.UnixRights(proc, pids), nil, syscall.MSG_NOSIGNAL) != nil {
		syscall.Exit(ExitSetup)
	}
	_, _ = sys(sysCloseRange, 0, ^uintptr(0)>>32, 0)
	if dropPrivileges() == 0 {
		sleepForEver()
	}
	for {
		_, _ = sys(syscall.SYS_PPOLL, 0, 0, 0, 0)
	}
}

// sleepForEver makes this process one that has a page of memory and a single thread, and keeps ignoring signals. It returns where the machine
// executes no file in memory.
func sleepForEver() {
	fd, errno := executable("reaper")
	if errno != 0 {
		return
	}
	program := sleeper()
	if n, err := syscall.Pwrite(fd, program, 0); err != nil || n != len(program) {
		return
	}
	_ = syscall.Exec("/proc/self/fd/"+strconv.Itoa(fd), []string{ReaperName}, nil)
}

// sleeper is an executable file: the headers of ELF, and a loop around one system call, [sleeps].
func sleeper() []byte {
	const base, align, headers = 0x400000, 0x10000, 64 + 56
	size := uint64(headers + len(sleeps))
	var b []byte
	number := func(n uint64, bytes int) {
		for range bytes {
			b = append(b, byte(n))
			n >>= 8
		}
	}
	b = append(b, "\x7fELF\x02\x01\x01"...) // of 64 bits, little-endian
	number(0, 9)
	number(2, 2) // it is executed
	number(machine, 2)
	number(1, 4)
	number(base+headers, 8) // where it begins
	number(64, 8)           // where the header of its only part is
	number(0, 8)
	number(0, 4)
	number(64, 2)
	number(56, 2)
	number(1, 2)
	number(0, 6)
	number(1, 4) // the part is loaded,
	number(5, 4) // and read and executed
	number(0, 8)
	number(base, 8)
	number(base, 8)
	number(size, 8)
	number(size, 8)
	number(align, 8)
	return append(b, sleeps...)
}

// answerWorld passes the host the processes of the world, and then its first one.
func answerWorld(w world, errno syscall.Errno) {
	if errno != 0 {
		answer(errno, -1)
		return
	}
	answer(0, w.shown)
	answer(0, w.reaper)
	syscall.Close(w.shown)
	syscall.Close(w.reaper)
}

// enterPIDs has what the calling thread starts from then on live in a pid namespace. The thread stays outside.
func enterPIDs(namespace int) syscall.Errno {
	_, errno := sys(sysSetns, uintptr(namespace), syscall.CLONE_NEWPID)
	return errno
}

// members are the processes of one command. They have a mount namespace of their own, which they cannot leave, whatever session, group or
// parent they choose. Their helper has it, too, and is none.
type members struct {
	proc   int    // the processes of the holder's namespace
	mounts string // the name of the mount namespace
}

// mountsOf returns the name of a process's mount namespace.
func mountsOf(proc int, pid string) (string, syscall.Errno) {
	name := cString(pid + "/ns/mnt")
	var buffer [64]byte
	n, _, errno := syscall.Syscall6(syscall.SYS_READLINKAT, uintptr(proc), uintptr(unsafe.Pointer(name)),
		uintptr(unsafe.Pointer(&buffer)), uintptr(len(buffer)), 0, 0)
	if errno != 0 {
		return "", errno
	}
	return string(buffer[:n]), 0
}

// mounts is a mount namespace. As long as it is held no other one gets its name.
type mounts struct {
	name string
	held int
}

// holdMounts holds the mount namespace of a process.
func holdMounts(proc, pid int) mounts {
	number := strconv.Itoa(pid)
	held, err := syscall.Openat(proc, number+"/ns/mnt", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return mounts{held: -1} // it has ended
	}
	name, _ := mountsOf(proc, number)
	return mounts{name, held}
}

// each calls visit for every member, and hidden for each process of the session's commands of which the kernel does not tell: that runs a
// program which this user may not read, for example.
func (m members) each(visit, hidden func(pid int)) {
	self := syscall.Getpid()
	for _, pid := range numbersAt(m.proc) {
		switch mounts, errno := mountsOf(m.proc, strconv.Itoa(pid)); {
		case pid == self || pid == 1:
		case mounts == m.mounts && errno == 0:
			visit(pid)
		case errno == syscall.EACCES || errno == syscall.EPERM:
			hidden(pid)
		}
	}
}

// eachOf calls visit for every member, and returns the sums of what weigh says of the processes of each other command, by their mount namespaces.
func (m members) eachOf(visit func(pid int), weigh func(pid int) int) map[string]int {
	others := map[string]int{}
	for _, pid := range numbersAt(m.proc) {
		if pid == 1 || pid == syscall.Getpid() {
			continue
		}
		switch mounts, errno := mountsOf(m.proc, strconv.Itoa(pid)); {
		case errno != 0:
		case mounts == m.mounts:
			visit(pid)
		default:
			others[mounts] += weigh(pid)
		}
	}
	return others
}

// signal sends a signal to every member. It returns how many got it, and the processes of which it is not known whose they are.
func (m members) signal(sig syscall.Signal) (sent int, unknown []int) {
	m.each(func(pid int) {
		handle, errno := sys(sysPidfdOpen, uintptr(pid), 0)
		if errno != 0 {
			return
		}
		defer syscall.Close(handle)
		if mounts, errno := mountsOf(m.proc, strconv.Itoa(pid)); errno != 0 || mounts != m.mounts {
			return // the number is another one's by now
		}
		if _, errno = sys(sysPidfdSendSignal, uintptr(handle), uintptr(sig), 0, 0); errno == 0 {
			sent++
		}
	}, func(pid int) { unknown = append(unknown, pid) })
	return sent, unknown
}

// end kills the members until gone says that none is left. Dead ones fork no more, so a round misses only what was born in it. Who hides from
// us what it is, and has no parent of whom we know, is ended when nothing else is left.
func (m members) end(gone func() bool) {
	const longest, rounds = 100, 3
	for pause, empty := 1, 0; !gone(); {
		sent, unknown := m.signal(syscall.SIGKILL)
		if sent > 0 {
			pause, empty = 1, 0
			continue // a process that forks is hit between two forks: without a pause
		}
		if empty++; empty > rounds {
			for _, pid := range unknown {
				if inWorld(m.proc, pid) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
		wait := syscall.NsecToTimespec(int64(pause) * 1e6)
		_ = syscall.Nanosleep(&wait, nil)
		pause = min(2*pause, longest)
	}
}

// awaitEnd waits until members that run no more, and have no filter any more, have given up what they held.
func (m members) awaitEnd() {
	const looks, pause = 5000, 1e6 / 2 // ns; a process that is stuck in the kernel ends later
	for range looks {
		found := 0
		m.each(func(int) { found++ }, func(int) {})
		if found == 0 {
			return
		}
		wait := syscall.NsecToTimespec(pause)
		_ = syscall.Nanosleep(&wait, nil)
	}
}

// maxUnattached is how many bytes of System V memory to which no process is attached a session keeps: as much as /dev/shm may have.
const maxUnattached = 256 << 20

// trimShared removes the System V memory of the session to which no process is attached, if there is too much of it. It would outlive every
// process that made it, so that ending processes would not give it back.
func trimShared() {
	const fields, id, attached, resident = 16, 1, 6, 14
	var ids []int
	unattached := 0
	text := readAll("/proc/sysvipc/shm")
	for text != "" {
		end := index(text, '\n')
		row := text[:end]
		text = text[min(end+1, len(text)):]
		var words [fields]string
		for i := range words {
			for row != "" && row[0] == ' ' {
				row = row[1:]
			}
			end := index(row, ' ')
			words[i], row = row[:end], row[end:]
		}
		if words[attached] == "0" {
			ids = append(ids, number(words[id]))
			unattached += number(words[resident])
		}
	}
	if unattached <= maxUnattached {
		return
	}
	for _, id := range ids {
		_, _ = sys(syscall.SYS_SHMCTL, uintptr(id), 0, 0) // IPC_RMID
	}
}

// inWorld reports whether a process has a number in the namespace of the commands, too.
func inWorld(proc, pid int) bool {
	text := readAllAt(proc, strconv.Itoa(pid)+"/status")
	const key = "\nNSpid:\t"
	for i := 0; i+len(key) < len(text); i++ {
		if text[i:i+len(key)] == key {
			line := text[i+len(key):]
			line = line[:index(line, '\n')]
			return index(line, '\t') < len(line)
		}
	}
	return false
}

// hungUp reports whether no process has the filter of a listener any more. It waits so many ms for that, for ever if wait is negative.
func hungUp(listener, wait int) bool {
	const hup = 0x10
	event := struct {
		fd              int32
		events, returns int16
	}{fd: int32(listener)}
	for {
		var timeout *syscall.Timespec
		if wait >= 0 {
			t := syscall.NsecToTimespec(int64(wait) * 1e6)
			timeout = &t
		}
		_, errno := sys(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&event)), 1, uintptr(unsafe.Pointer(timeout)), 0)
		if errno == syscall.EINTR || errno == 0 && wait < 0 && event.returns&hup == 0 {
			continue
		}
		return event.returns&hup != 0
	}
}
