package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// processReserve are processes that a session keeps back for the host if the kernel bounds their number: a command that starts processes until the
// kernel refuses more leaves none for the host either, and a Go program that cannot start a thread ends.
type processReserve struct {
	own bool // the commands are this program's probes, which start no processes: no threads are kept back from them

	mu       sync.Mutex
	measured bool // the fields below are set
	most     int  // processes that all commands together may have, threads included; 0: nothing bounds the host's
	ofUser   int  // processes that the user may have while commands start more, with those that are not the session's; 0: as many as the kernel lets
}

// The threads of a host at rest, those that it has beyond the ones that wait inside the kernel, and those that do so for one command.
const (
	threadsOfHost    = 12
	spareThreads     = 48
	threadsOfCommand = 3
)

// reserve starts the threads that the host may need while commands take all that is left, and sees how many processes they may
// have. Threads that exist are used again, so that most calls only count them.
func (r *processReserve) reserve(commands int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wanted := threadsOfHost + spareThreads + threadsOfCommand*commands; !r.own && countThreads() < wanted {
		startThreads(min(wanted, processRoom()/3))
	}
	if !r.measured {
		r.measured = true
		room, used := roomOfUser()
		r.most = commandRoom(min(processRoom(), room))
		if room < unlimited {
			r.ofUser = used + r.most
		}
	}
}

// ofSession is how many processes all commands of the session may have, of the given bound; 0 is no bound.
func (r *processReserve) ofSession(bound int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return tighter(bound, r.most)
}

// ofCommand is how many processes one command may have, of the given bound; 0 is no bound. It leaves some for other commands.
func (r *processReserve) ofCommand(bound int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return tighter(bound, r.most-r.most/4)
}

// tighter is the smaller of two bounds; a bound below 1 is none.
func tighter(a, b int) int {
	if a < 1 || b < 1 {
		return max(a, b, 0)
	}
	return min(a, b)
}

// commandRoom is how many processes commands may have, so that some are left for the host; 0 is no bound.
func commandRoom(room int) int {
	const kept = 16
	if room >= unlimited {
		return 0
	}
	return max(room-max(room/4, min(room/3, kept)), 1)
}

// processLimit is RLIMIT_NPROC of a command. Within namespaces of its own, the kernel counts the processes of the session alone, and without them all
// of the user.
func (r *processReserve) processLimit(level Level, bound int) Limit {
	most := maxProcesses
	if level == Full {
		most = tighter(most, r.ofSession(bound))
	} else {
		r.mu.Lock()
		most = tighter(most, r.ofUser)
		r.mu.Unlock()
	}
	return Limit{unix.RLIMIT_NPROC, uint64(most), uint64(most)}
}

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

// The hierarchies of control groups that count processes, as they are usually mounted.
const (
	unifiedMount = "/sys/fs/cgroup"
	pidsMount    = "/sys/fs/cgroup/pids" // version 1
)

// unlimited is more processes than a machine has.
const unlimited = 1 << 30

// roomOfUser returns how many more processes and threads the limit of the user leaves, and how many there are. A limit that is far above what commands
// may have is none, and so is one of root, whom the kernel does not hold to it.
func roomOfUser() (room, used int) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur > 2*defaultProcesses || isExempt() {
		return unlimited, 0
	}
	used = tasksOf(os.Getuid())
	return max(int(limit.Cur)-used, 0), used
}

// isExempt reports whether the process has root's number outside of every user namespace.
func isExempt() bool {
	uids, err := os.ReadFile("/proc/self/uid_map")
	return os.Getuid() == 0 && err == nil && slices.Equal(strings.Fields(string(uids)), []string{"0", "0", "4294967295"})
}

// tasksOf counts the processes and threads of a user, as far as they show here.
func tasksOf(uid int) (tasks int) {
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes {
		var st unix.Stat_t
		dir := "/proc/" + p.Name()
		if _, err := strconv.Atoi(p.Name()); err != nil || unix.Stat(dir+"/task", &st) != nil || int(st.Uid) != uid {
			continue
		}
		tasks += max(int(st.Nlink)-2, 1) // a directory for each thread
	}
	return tasks
}

// processRoom returns how many more processes and threads the control groups above this process leave, of either version.
func processRoom() int {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return unlimited
	}
	return roomIn(string(text), unifiedMount, pidsMount)
}

// roomIn is processRoom for the groups that /proc/self/cgroup names.
func roomIn(groups, unified, pids string) int {
	room := unlimited
	for line := range strings.Lines(groups) {
		_, named, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, own, _ := strings.Cut(named, ":")
		switch controllers {
		case "":
			room = min(room, roomBelow(unified, own))
		case "pids":
			room = min(room, roomBelow(pids, own))
		}
	}
	return room
}

// roomBelow is the least room that a group or one above it has.
func roomBelow(mount, own string) int {
	room := unlimited
	for dir := filepath.Join(mount, own); ; dir = filepath.Dir(dir) {
		most, limited := countIn(dir, "pids.max")
		used, counted := countIn(dir, "pids.current")
		if limited && counted {
			room = min(room, max(most-used, 0))
		}
		if len(dir) <= len(mount) {
			return room
		}
	}
}

// countIn reads a number of a control group; "max" is none.
func countIn(dir, name string) (int, bool) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	n, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil && bad == nil
}

const (
	maxProcesses = 4096
	maxFile      = 16 << 30
	maxFiles     = 65536
)
