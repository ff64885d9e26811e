package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// processReserve are processes that a session keeps back for the host if the kernel bounds their number: a command that starts processes until the
// kernel refuses more leaves none for the host either, and a Go program that cannot start a thread ends.
type processReserve struct {
	own    bool // the commands are this program's probes, which start no processes: no threads are kept back from them
	groups bool // a control group is made for the commands

	mu       sync.Mutex
	provided int          // threads that were wanted when threads were last started
	existing int          // threads that there were then
	measured bool         // the fields below are set
	most     int          // processes that all commands together may have, threads included; 0: nothing bounds the host's
	ofUser   int          // processes that the user may have while commands start more, with those that are not the session's; 0: as many as the kernel lets
	group    controlGroup // of the commands, if the session can have one
	closed   bool
}

// The threads of a host at rest, those that it has beyond the ones that wait inside the kernel, and those that do so for one command.
const (
	threadsOfHost    = 12
	spareThreads     = 48
	threadsOfCommand = 3
)

// reserve starts the threads that the host may need while commands take all that is left, and sees how many processes they may
// have, as long as none runs. Threads that exist are used again, so that most calls only count them. It returns how many threads may wait inside
// the kernel for commands. It fails if so few processes are left that one more command would take those of the host.
func (r *processReserve) reserve(commands int, b Bounds) (waiting int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	threads := countThreads()
	if !r.own {
		threads = r.provide(commands)
	}
	if !r.measured || commands == 0 && r.most > 0 {
		r.measure(b)
	}
	if r.most == 0 || r.own {
		return threads - threadsOfHost, nil
	}
	if room, _ := roomHere(); room < ofHelper+ofHost {
		return 0, fewLeft(room)
	}
	return threads - threadsOfHost, nil
}

// provide starts the threads that are missing, and returns about how many there are. To start them wakes those that exist, which costs a command a
// tenth of its time, so it happens only if more are wanted than before or if some have ended since.
func (r *processReserve) provide(commands int) (threads int) {
	threads = countThreads()
	wanted := threadsOfHost + runtime.GOMAXPROCS(0) + spareThreads + threadsOfCommand*commands
	if threads < wanted && (wanted > r.provided || threads < r.existing) {
		if room, _ := roomHere(); room < unlimited {
			wanted = min(wanted, (threads+room)/3)
		}
		if threads < wanted {
			startThreads(wanted - threadsOfHost) // the others are busy
		}
		r.provided, r.existing = max(r.provided, wanted), countThreads()
	}
	return max(threads, min(wanted, r.provided))
}

// What is kept of the processes that are left: for the session's holder with its reaper, for each helper, and for the host.
const (
	ofHolder = 9
	ofHelper = 7
	ofHost   = 8
)

// fewLeft is the error of a command for which too few processes are left.
type fewLeft int

func (n fewLeft) Error() string {
	return fmt.Sprintf("%d more processes and threads may be started here", int(n))
}
func (n fewLeft) Unwrap() error { return agenttool.ErrNoProcesses }

// roomHere is how many more processes and threads may be started here, and how many the user has where that is limited.
func roomHere() (room, used int) {
	room, used = roomOfUser()
	return min(room, processRoom()), used
}

// measure sees how many processes commands may have, and bounds the control group by that.
func (r *processReserve) measure(b Bounds) {
	room, used := roomHere()
	kept, before := ofHelper*2+ofHost, r.most
	if !r.measured {
		kept += ofHolder
	}
	r.most, r.ofUser = commandRoom(room, kept), 0
	if used > 0 && r.most > 0 {
		r.ofUser = used + r.most + ofHelper
	}
	b.Processes = tighter(b.Processes, r.most)
	switch {
	case r.own || r.closed || !r.groups:
	case !r.measured:
		r.group = newGroup(b)
	case r.most != before:
		r.group.bound(b.Processes)
	}
	r.measured = true
}

// close removes the control group. Its processes have ended.
func (r *processReserve) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.group.remove()
	r.group = controlGroup{}
}

// processes opens the list of the control group's processes, to which a command is added; nil if there is no group.
func (r *processReserve) processes() *os.File {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.group.dir == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(r.group.dir, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return f
}

// ofSession is how many processes all commands of the session may have, of the given bound; 0 is no bound.
func (r *processReserve) ofSession(bound int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return tighter(bound, r.most)
}

// isShort reports whether the kernel bounds processes, and leaves so few that a helper may have ended for want of them.
func (r *processReserve) isShort(commands int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	room, _ := roomHere()
	return r.most > 0 && (commands > 1 || room < ofHolder+2*ofHelper+ofHost)
}

// tighter is the smaller of two bounds; a bound below 1 is none.
func tighter(a, b int) int {
	if a < 1 || b < 1 {
		return max(a, b, 0)
	}
	return min(a, b)
}

// commandRoom is how many of the processes that the machine leaves commands may have; 0: any number. A quarter of them, and kept more, stay for
// the host and its helpers, but commands get a fifth at least.
func commandRoom(room, kept int) int {
	if room >= unlimited {
		return 0
	}
	return max(room-max(room/4, kept), room/5, 1)
}

// processLimit is RLIMIT_NPROC of a command. Within a user namespace the kernel counts the processes of the session alone since Linux 5.14, and
// otherwise all of the user.
func (r *processReserve) processLimit(level Level, bound int) int {
	if level == Full && countsByNamespace() {
		if most := r.ofSession(bound); most > 0 {
			return most + ofHolder + ofHelper // which it counts, too
		}
		return maxProcesses
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return tighter(maxProcesses, r.ofUser)
}

// countsByNamespace reports whether the kernel is Linux 5.14 or later.
var countsByNamespace = sync.OnceValue(func() bool {
	var name unix.Utsname
	var major, minor int
	_ = unix.Uname(&name)
	_, _ = fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return major > 5 || major == 5 && minor >= 14
})

// countThreads returns how many threads this process has.
func countThreads() int {
	sample := []metrics.Sample{{Name: "/sched/threads/total:threads"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// startThreads makes sure that n threads exist that wait for nothing inside the kernel: n goroutines have one each at the same moment.
func startThreads(n int) {
	if n < 1 {
		return
	}
	var started, ended sync.WaitGroup
	started.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait()
		})
	}
	ended.Wait()
}

// The hierarchies of control groups that count processes and memory, as they are usually mounted.
const (
	unifiedMount = "/sys/fs/cgroup"
	pidsMount    = "/sys/fs/cgroup/pids" // version 1, as is the next
	memoryMount  = "/sys/fs/cgroup/memory"
)

// unlimited is more processes than a machine has.
const unlimited = 1 << 30

// farLimit is so many processes that nothing here comes near them.
const farLimit = 16384

// roomOfUser returns how many more processes and threads the limit of the user leaves, and how many there are. A limit that is far above what commands
// may have is none, and so is one of root, whom the kernel does not hold to it.
func roomOfUser() (room, used int) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur > farLimit || isExempt() {
		return unlimited, 0
	}
	used = tasksOf(os.Getuid())
	return max(int(limit.Cur)-used, 0), used
}

// isExempt reports whether the process has root's number outside of every user namespace. A host changes neither.
var isExempt = sync.OnceValue(func() bool {
	return os.Getuid() == 0 && slices.Equal(strings.Fields(readText("/proc/self/uid_map")), []string{"0", "0", "4294967295"})
})

// tasksOf counts the processes and threads of a user, as far as they show here.
func tasksOf(uid int) (tasks int) {
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		status, _ := os.ReadFile("/proc/" + p.Name() + "/status") // the owner of the directory is root for one that cannot be read
		_, rest, _ := strings.Cut(string(status), "\nUid:\t")
		id, rest, _ := strings.Cut(rest, "\t")
		_, rest, _ = strings.Cut(rest, "\nThreads:\t")
		threads, _, _ := strings.Cut(rest, "\n")
		if n, err := strconv.Atoi(threads); err == nil && id == strconv.Itoa(uid) {
			tasks += n
		}
	}
	return tasks
}

// processRoom returns how many more processes and threads the control groups above this process leave, of either version.
func processRoom() int {
	return roomIn(readText("/proc/self/cgroup"), unifiedMount, pidsMount)
}

// roomIn is processRoom for the groups that /proc/self/cgroup names.
func roomIn(groups, unified, pids string) int {
	room := unlimited
	above(groups, "pids", unified, pids, func(dir string) {
		most, limited := countIn(dir, "pids.max")
		used, counted := countIn(dir, "pids.current")
		if limited && counted {
			room = min(room, max(most-used, 0))
		}
	})
	return room
}

// memoryIn returns the least memory that the control groups named in /proc/self/cgroup may have, and at most the given.
func memoryIn(groups, unified, memory string, least int64) int64 {
	above(groups, "memory", unified, memory, func(dir string) {
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			if most, limited := countIn(dir, name); limited && most > 0 {
				least = min(least, int64(most))
			}
		}
	})
	return least
}

// above calls visit for the group of each line of /proc/self/cgroup that may have a controller, of version 2 or 1, and for those above it.
func above(groups, controller, unified, elder string, visit func(dir string)) {
	for line := range strings.Lines(groups) {
		_, named, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, own, _ := strings.Cut(named, ":")
		mount := unified
		switch {
		case controllers == "":
		case slices.Contains(strings.Split(controllers, ","), controller):
			mount = elder
		default:
			continue
		}
		for dir := filepath.Join(mount, own); ; dir = filepath.Dir(dir) {
			visit(dir)
			if len(dir) <= len(mount) {
				break
			}
		}
	}
}

// countIn reads a number of a control group; "max" is none.
func countIn(dir, name string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(readText(filepath.Join(dir, name))))
	return n, err == nil
}

// readText returns what a file of the kernel holds, "" if it cannot be read. Several are read for each command, and [os.ReadFile] makes ten system
// calls for one.
func readText(file string) string {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var text []byte
	buffer := make([]byte, 4<<10)
	for {
		n, err := unix.Read(fd, buffer)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return ""
		case n == 0:
			return string(text)
		default:
			text = append(text, buffer[:n]...)
		}
	}
}

const (
	maxProcesses = 4096 // of a user, where the kernel counts all of the user
	maxFile      = 16 << 30
	maxFiles     = 65536
)
