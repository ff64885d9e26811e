package enter

import (
	"strconv"
	"syscall"
)

// maxTree bounds one look at the descendants; processes that fork faster are found by the next look.
const maxTree = 1 << 16

// signalBelow sends a signal to every descendant. It returns how many got it, and how many this process may not signal. SIGKILL
// goes to a parent before its children are listed: after that it forks no more, and its earlier children are still below it, or
// below this process. Other signals are sent when all are found, because children of a process that ends would be missed.
func signalBelow(sig syscall.Signal) (sent, refused int) {
	send := func(c child) bool {
		errno := signalChild(c.pid, c.parent, sig)
		switch errno {
		case 0:
			sent++
		case syscall.EPERM:
			refused++
		}
		return errno != syscall.ESRCH
	}
	if sig == syscall.SIGKILL {
		eachBelow(send)
		return sent, refused
	}
	var all []child
	eachBelow(func(c child) bool {
		all = append(all, c)
		return true
	})
	for _, c := range all {
		send(c)
	}
	return sent, refused
}

// child is a process and the one that it is a child of.
type child struct{ pid, parent int }

// eachBelow calls visit for every process below this one, parents first, and descends where it returns true.
func eachBelow(visit func(child) bool) {
	below := family()
	queue := []int{syscall.Getpid()}
	for i := 0; i < len(queue) && i < maxTree; i++ {
		for _, pid := range below(queue[i]) {
			if visit(child{pid, queue[i]}) {
				queue = append(queue, pid)
			}
		}
	}
}

// signalChild sends a signal to pid if that is a child of parent or of this process. The number may have been reused
// since it was read, so the process behind the handle is compared. SIGKILL goes to the whole group at once, so that
// no process can fork out of it. Groups are of one session, and no session of the command's has others in it.
func signalChild(pid, parent int, sig syscall.Signal) syscall.Errno {
	self := syscall.Getpid()
	handle, errno := sys(sysPidfdOpen, uintptr(pid), 0)
	if errno == syscall.ESRCH {
		return errno
	}
	if errno == 0 {
		defer syscall.Close(handle)
	}
	t, ok := readTask(pid)
	if !ok || t.dead || t.parent != parent && t.parent != self {
		return syscall.ESRCH
	}
	if sig == syscall.SIGKILL && t.group > 1 && t.group != self {
		_ = syscall.Kill(-t.group, sig)
	}
	if errno == 0 {
		_, errno = sys(sysPidfdSendSignal, uintptr(handle), uintptr(sig), 0, 0)
		return errno
	}
	err, _ := syscall.Kill(pid, sig).(syscall.Errno) // a kernel before 5.3
	return err
}

// family returns a function that lists the children of a process. It may miss children forked meanwhile: callers ask again.
func family() func(pid int) []int {
	self := "/proc/" + strconv.Itoa(syscall.Getpid())
	if syscall.Access(self+"/task"+self[len("/proc"):]+"/children", 0) == nil {
		return children
	}
	byParent := map[int][]int{} // a kernel without CONFIG_PROC_CHILDREN
	for _, pid := range numbers("/proc") {
		if t, ok := readTask(pid); ok {
			byParent[t.parent] = append(byParent[t.parent], pid)
		}
	}
	return func(pid int) []int { return byParent[pid] }
}

// children are those that the threads of a process have.
func children(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	var found []int
	for _, thread := range numbers(dir) {
		list := readAll(dir + "/" + strconv.Itoa(thread) + "/children")
		for list != "" {
			end := index(list, ' ')
			if child, err := strconv.Atoi(list[:end]); err == nil {
				found = append(found, child)
			}
			list = list[min(end+1, len(list)):]
		}
	}
	return found
}

// task describes a process.
type task struct {
	parent, group int
	dead          bool
}

// readTask reads pid (name) state parent group … with the number of threads as 20th. The name may hold anything. A zombie
// that has other threads is alive: only its first one has ended.
func readTask(pid int) (task, bool) {
	row := readAll("/proc/" + strconv.Itoa(pid) + "/stat")
	end := len(row)
	for end > 0 && row[end-1] != ')' {
		end--
	}
	if end == 0 || end+1 >= len(row) {
		return task{}, false
	}
	const state, parent, group, threads, last = 0, 1, 2, 17, 18
	var fields [last]string
	rest := row[end+1:]
	for i := range fields {
		end := index(rest, ' ')
		fields[i], rest = rest[:end], rest[min(end+1, len(rest)):]
	}
	var t task
	var err error
	if t.parent, err = strconv.Atoi(fields[parent]); err != nil {
		return task{}, false
	}
	t.group = number(fields[group])
	t.dead = fields[state] == "X" || fields[state] == "Z" && number(fields[threads]) < 2
	return t, true
}

// readAll reads a file of /proc, "" if it cannot.
func readAll(path string) string { return readAllAt(atFDCWD, path) }

// readAllAt is readAll for a path that begins in a directory.
func readAllAt(dir int, path string) string {
	fd, err := syscall.Openat(dir, path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	var all []byte
	var buffer [4 << 10]byte
	for {
		n, err := syscall.Read(fd, buffer[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return string(all)
		}
		all = append(all, buffer[:n]...)
	}
}

// numbers lists the names in a directory that are numbers.
func numbers(dir string) []int {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	return numbersAt(fd)
}

// numbersAt is numbers for an open directory, which may be one that was opened as a place.
func numbersAt(dir int) []int {
	fd, err := syscall.Openat(dir, ".", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	var found []int
	var buffer [4 << 10]byte
	for {
		n, err := syscall.ReadDirent(fd, buffer[:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return found
		}
		_, _, names := syscall.ParseDirent(buffer[:n], -1, nil)
		for _, name := range names {
			if p, err := strconv.Atoi(name); err == nil {
				found = append(found, p)
			}
		}
	}
}
