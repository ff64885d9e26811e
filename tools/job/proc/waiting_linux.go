package proc

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxThreads = 256                    // of a process that can be said to wait
	waitSearch = 200 * time.Millisecond // for going through a job's processes

	// Who reads with a limit shorter than tick does something else in between, and does not wait for its input.
	tick = time.Second
	// Another thread that wakes up by itself earlier than this is at work. The runtime of Go has one that looks for
	// garbage every minute.
	rest = 30 * time.Second
)

// Waiting returns a process of a job that is blocked reading the job's input. among are all processes of the job: what one
// that was left out holds is taken for held by nobody.
//
// It is told from the state of the kernel alone, and false when that is not certain. A process waits when one of its
// threads is in a call that comes back when the input can be read, and that and the other threads wait for nothing else
// that anybody but the process itself could make happen:
//
//   - the thread is in read(2) or one of its kin on the input, or in poll, select or epoll_wait on it and on nothing but
//     [thread.private] descriptors, with a limit of a second at least;
//   - the other threads wait for each other, for signals or on private descriptors, with a limit of half a minute at
//     least;
//   - a terminal is the controlling terminal of another session, or the process is in the foreground of it. /dev/tty is the
//     job's terminal in those sessions that have it open by its own name too.
//
// Nothing is known of processes that may not be traced: of another user, not dumpable, kept off by Yama; of those with 32-bit
// calls; and of those that use splice or io_uring.
func Waiting(among []Process, in Input) (Waiter, bool) {
	if in == (Input{}) {
		return Waiter{}, false
	}
	among = slices.Clone(among) // a look that was given up goes on with it
	for _, p := range atMost(waitSearch, among) {
		if waits, _ := within(p.PID, func() bool { return waits(p, among, in) }); waits {
			w := Waiter{PID: p.PID, Command: CommandLine(p.PID), On: OnStdin}
			if in.rdev != 0 {
				w.On = OnTerminal
			}
			return w, true
		}
	}
	return Waiter{}, false
}

// view is a look at one process of a job.
type view struct {
	Process
	among []Process
	in    Input

	until  time.Time            // when nobody waits for the answer any more
	held   map[int][]descriptor // what was found that processes hold, by pid
	parent func() bool          // whether it has children at work, asked once
}

// thread is one of the process.
type thread struct {
	id  int
	dir string
}

// waits reports whether p waits for the input.
func waits(p Process, among []Process, in Input) bool {
	now, ok := Read(p.PID)
	if !ok || !now.Same(p) || now.Dead || !now.sleeping {
		return false
	}
	v := view{Process: now, among: among, in: in, until: time.Now().Add(patience), held: map[int][]descriptor{}}
	v.parent = sync.OnceValue(v.isParent)
	threads, ok := v.tasks()
	if !ok {
		return false
	}
	var reader thread
	var blocked call // of the reader
	for _, t := range threads {
		c, ok := callOf(t.dir)
		if !ok {
			return false
		}
		wakes, reads := v.idle(t, c)
		if wakes {
			return false
		}
		if reads {
			reader, blocked = t, c
		}
	}
	if reader.id == 0 || !v.mayRead() {
		return false
	}
	again, ok := callOf(reader.dir) // what was looked at in between belongs to this call
	return ok && again == blocked
}

// late reports whether the look has taken too long: a job may have much to look at.
func (v view) late() bool { return time.Now().After(v.until) }

// tasks are the threads of the process.
func (v view) tasks() (threads []thread, ok bool) {
	dir := processDir(v.PID) + "/task"
	ids, whole := []int{v.PID}, true
	if v.threads != 1 {
		ids, whole = numbers(dir, maxThreads)
	}
	for _, id := range ids {
		threads = append(threads, thread{id, dir + "/" + strconv.Itoa(id)})
	}
	return threads, whole && len(ids) > 0
}

// idle looks at what a thread is blocked in. wakes means that it may go on without input and without the others of the
// process, reads that it will with input.
func (v view) idle(t thread, c call) (wakes, reads bool) {
	w, ok := t.waitOf(c)
	if !ok || w.signals && v.parent() {
		return true, false
	}
	for _, e := range w.events {
		is, ok := statOf(t.dir, e.number)
		if !ok || !e.names(is) {
			return true, false
		}
		if v.isInput(is) {
			reads = reads || e.read
			continue
		}
		limit, private := v.private(t, e.number, maxDepth)
		if !private {
			return true, false
		}
		w.limit = min(w.limit, limit)
	}
	if reads {
		return w.limit < tick, true
	}
	return w.limit < rest, false
}

// isInput reports whether a descriptor is the job's input.
func (v view) isInput(is Input) bool {
	return is == v.in || is.rdev == ownTerminal && v.in.rdev != 0 && v.terminal == v.in.rdev && v.ownsTerminal()
}

// ownTerminal is the device number of /dev/tty.
var ownTerminal = unix.Mkdev(5, 0)

// ownsTerminal reports whether the controlling terminal of the process's session, which has the number of the input, is the
// input: terminals of other instances of devpts have the same numbers. A process of the session that has it open tells.
func (v view) ownsTerminal() bool {
	for i, p := range v.among {
		if i == maxHolding {
			return false
		}
		if p.Session != v.Session || p.terminal != v.in.rdev {
			continue
		}
		for number := range 3 {
			if is, ok := statOf(processDir(p.PID), number); ok && is == v.in {
				return true
			}
		}
	}
	return false
}

// mayRead reports whether the input would be given to the process: of a terminal, only those in the foreground get any.
// Others are stopped when they try; who has become one while it waited stays blocked.
func (v view) mayRead() bool {
	now, ok := Read(v.PID)
	if !ok || !now.Same(v.Process) || !now.sleeping {
		return false
	}
	return v.in.rdev == 0 || now.terminal != v.in.rdev || now.Group == now.Foreground
}

// names reports whether a descriptor is still what was entered under its number.
func (e event) names(is Input) bool {
	return e.inode == 0 || e.inode == is.ino && e.device == kernelDevice(is.dev)
}

// kernelDevice is a device number as the kernel has it inside, and shows it in fdinfo.
func kernelDevice(dev uint64) uint64 { return uint64(unix.Major(dev))<<20 | uint64(unix.Minor(dev)) }
