package enter

import (
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// The variables that tell a holder how many processes its session may have at once, and how many bytes its commands may share by names in /dev/shm.
const (
	processesName = "TOOLHOST_PROCESSES="
	sharedName    = "TOOLHOST_SHARED="
)

// HolderEnv is the environment of a holder whose session may have that many processes, 0 for no bound, and that many bytes in /dev/shm.
func HolderEnv(processes int, shared int64) []string {
	return append(HelperEnv(), processesName+strconv.Itoa(processes), sharedName+strconv.FormatInt(shared, 10))
}

// entryOf is the entry of a variable in our environment, "" if there is none.
func entryOf(name string) string {
	for _, entry := range syscall.Environ() {
		if len(entry) > len(name) && entry[:len(name)] == name {
			return entry
		}
	}
	return ""
}

// boundProcesses has the kernel refuse more processes in our pid namespace, with all below it. The kernel gives the numbers below 300 once
// only, so a namespace has that many numbers less than its largest. A kernel before 6.14 has one bound for the whole machine, which must stay:
// there each helper counts.
func boundProcesses() {
	const givenOnce = 300
	entry := entryOf(processesName)
	if entry == "" {
		return
	}
	if most := number(entry[len(processesName):]); most > 0 && kernelSince(6, 14) {
		writeFile("/proc/sys/kernel/pid_max", strconv.Itoa(most+givenOnce))
	}
}

// park makes threads that wait for work. The runtime ends a process that needs one more thread when the kernel starts none, so a process that must
// live while others use up all processes makes its threads before.
func park(threads int) {
	var made, ended sync.WaitGroup
	made.Add(threads)
	for range threads {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			made.Done()
			made.Wait()
		})
	}
	ended.Wait()
}

// kernelSince reports whether the kernel is of a version or a later one.
func kernelSince(major, minor int) bool {
	var name syscall.Utsname
	if syscall.Uname(&name) != nil {
		return false
	}
	var parts [2]int
	for i, at := 0, 0; at < len(name.Release) && i < len(parts); at++ {
		switch c := name.Release[at]; {
		case c >= '0' && c <= '9':
			parts[i] = 10*parts[i] + int(c-'0')
		default:
			i++
		}
	}
	return parts[0] > major || parts[0] == major && parts[1] >= minor
}

// offer makes the kernel end the helper and its command before other processes of the user when memory is short. The user may
// write the file only before the helper closes its memory.
func offer() {
	_ = prctl(prSetDumpable, 1, 0)
	writeFile("/proc/self/oom_score_adj", "900")
	if errno := prctl(prSetDumpable, 0, 0); errno != 0 {
		syscall.Exit(ExitSetup)
	}
}

// bounds are how much of the machine one command may use: processes at once, threads included, and bytes of memory that
// they share with no file. 0 is no bound. Where the kernel holds all commands of a session to that many processes, too, one never
// has more: it is ended when it stays there.
type bounds struct{ processes, memory int }

// Looking at a command takes about ten µs for each of its processes: the more it uses, the more often it is looked at, but the
// looks take at most a quarter of one processor.
const (
	calmly = 400 // ms
	often  = 40
	share  = 4
)

// threadTime returns how many ns the calling thread has run.
func threadTime() int64 {
	const thisThread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	_ = syscall.Getrusage(thisThread, &used)
	return used.Utime.Nano() + used.Stime.Nano()
}

// writeFile writes a setting of the session's own namespaces. Where it cannot be set, the filter holds it.
func writeFile(path, value string) {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = syscall.Write(fd, []byte(value))
	syscall.Close(fd)
}
