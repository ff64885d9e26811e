package proc

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxThreads = 256                    // maximum number of threads of a process that Waiting examines
	waitSearch = 200 * time.Millisecond // for searching a job's processes

	// A process that reads with a shorter limit than tick works in between, and does not wait for its input.
	tick = time.Second
	// Another thread that wakes up by itself earlier than this is working. The Go runtime has one that runs the
	// garbage collector every minute.
	rest = 30 * time.Second
)

// Waiting returns a process of a job that is blocked reading the job's input. among must be all processes of the job:
// descriptors of missing processes are overlooked.
//
// It uses only the state of the kernel, and returns false unless that is conclusive. A process waits if one of its
// threads is in a call that returns when the input can be read, and if this and all other threads wait for nothing
// else that another process could cause:
//
//   - the thread is in read(2) or a similar call on the input, or in poll, select or epoll_wait on the input and otherwise
//     only [thread.private] descriptors, with a limit of at least a second;
//   - the other threads wait for each other, for signals or on private descriptors, with a limit of at least half a
//     minute;
//   - if the input is a terminal, it is the controlling terminal of another session, or the process is in its foreground.
//     /dev/tty is the job's terminal in sessions that also have it open by its own name.
//
// Some processes cannot be examined: those that must not be traced (of another user, not dumpable, restricted by
// Yama), those with 32-bit calls, and those that use splice or io_uring.
func Waiting(among []Process, in Input) (Waiter, bool) {
	if in == (Input{}) {
		return Waiter{}, false
	}
	among = slices.Clone(among) // an abandoned look may still use it
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

// view is one examination of a process of a job.
type view struct {
	Process
	among []Process
	in    Input

	until  time.Time            // when the caller stops waiting for the answer
	held   map[int][]descriptor // cache of the open descriptors of processes, by pid
	parent func() bool          // reports whether it has running children; computed once
}

// thread is a thread of the process.
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
	again, ok := callOf(reader.dir) // if so, the facts examined in between belong to this call
	return ok && again == blocked
}

// late reports whether the examination has taken too long: a job may have many processes.
func (v view) late() bool { return time.Now().After(v.until) }

// tasks returns the threads of the process.
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

// idle classifies the call that a thread is blocked in. wakes: it may continue without input and without the other
// threads of the process. reads: it continues when there is input.
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

// ownsTerminal reports whether the controlling terminal of the process's session, which has the device number of the
// input, is the input: terminals of other devpts instances have the same numbers. It is, if a process of the session
// has the input open by its own name.
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

// mayRead reports whether the process would receive the input: on a terminal only foreground processes do. Others are
// stopped when they read; a process that moved to the background while waiting stays blocked.
func (v view) mayRead() bool {
	now, ok := Read(v.PID)
	if !ok || !now.Same(v.Process) || !now.sleeping {
		return false
	}
	return v.in.rdev == 0 || now.terminal != v.in.rdev || now.Group == now.Foreground
}

// names reports whether a descriptor is still the file that was registered under its number.
func (e event) names(is Input) bool {
	return e.inode == 0 || e.inode == is.ino && e.device == kernelDevice(is.dev)
}

// kernelDevice converts a device number to the kernel's internal form, used in fdinfo.
func kernelDevice(dev uint64) uint64 { return uint64(unix.Major(dev))<<20 | uint64(unix.Minor(dev)) }
