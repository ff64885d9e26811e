package sandbox

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The defaults of [Bounds].
const (
	leastProcesses   = 512
	processesPerCore = 256
	defaultScratch   = 16 << 30
)

// UsualBounds are the bounds on processes and memory of a session that has no others.
func UsualBounds() Bounds {
	b := Bounds{}.withDefaults()
	room, _ := roomHere()
	b.Processes = tighter(b.Processes, commandRoom(room, ofHolder+2*ofHelper+ofHost))
	return b
}

// withDefaults replaces zero fields by their defaults, but for Scratch.
func (b Bounds) withDefaults() Bounds {
	if b.Processes == 0 {
		b.Processes = leastProcesses + processesPerCore*runtime.NumCPU()
	}
	if b.Memory == 0 {
		b.Memory = memoryHere() / 2
	}
	return b
}

// shared is how many bytes the commands of a session may have in /dev/shm, which the kernel does not give back when it ends a process.
func (b Bounds) shared() int64 {
	const usual = 256 << 20
	if b.Memory > 0 {
		return min(usual, b.Memory/4)
	}
	return usual
}

// withScratch is withDefaults for Scratch; dir is on its disk.
func (b Bounds) withScratch(dir string) Bounds {
	if b.Scratch == 0 {
		b.Scratch = defaultScratch
		var disk unix.Statfs_t
		if unix.Statfs(filepath.Dir(filepath.Dir(dir)), &disk) == nil {
			b.Scratch = min(b.Scratch, int64(disk.Bavail)*disk.Bsize/2)
		}
	}
	return b
}

// memoryHere is how many bytes of memory this process and its children may use: the machine's memory or the least limit of a control group; 0:
// not known.
func memoryHere() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return memoryIn(readText("/proc/self/cgroup"), unifiedMount, memoryMount, int64(info.Totalram)*int64(info.Unit))
}

// boundOf reads SaysBounded: the helper ended the command because it used too much.
func (s *Session) boundOf(parts []string) (v Violation, ok bool) {
	if len(parts) != 3 {
		return Violation{}, false
	}
	used, _ := strconv.ParseInt(parts[1], 10, 64)
	most, _ := strconv.ParseInt(parts[2], 10, 64)
	more := "set jobs.limits.processes for more"
	if most < int64(s.o.Bounds.Processes) {
		more = "the limit of this user or of the control group leaves no more"
	}
	detail := fmt.Sprintf("it had %d processes and threads, and all commands together may have %d: %s", used, most, more)
	if parts[0] == "memory" {
		detail = fmt.Sprintf("it used %s of memory, and may use %s: set jobs.limits.memory for more", mebibytes(used), mebibytes(most))
	}
	return Violation{Wall: Bound, Rule: parts[0], Detail: detail, Certain: true}, true
}

// kills are how many processes the kernel has ended for want of memory: in the control group of this process and in that of the session's
// commands, and on the whole machine where no group counts them.
type kills struct {
	once sync.Once
	file string
}

// count is the number up to now.
func (k *kills) count(r *processReserve) int64 {
	k.once.Do(func() { k.file = killsFile(readText("/proc/self/cgroup"), unifiedMount, memoryMount) })
	r.mu.Lock()
	group := r.group.dir
	r.mu.Unlock()
	n := max(countOf(k.file, killsName), 0)
	if group != "" {
		n += max(countOf(filepath.Join(group, "memory.events"), killsName), 0)
	}
	return n
}

// killsFile is the file that counts for the groups named in /proc/self/cgroup: that of the lowest group that has one, or of the machine.
func killsFile(groups, unified, memory string) (found string) {
	above(groups, "memory", unified, memory, func(dir string) {
		for _, name := range []string{"memory.events", "memory.oom_control"} {
			if file := filepath.Join(dir, name); found == "" && countOf(file, killsName) >= 0 {
				found = file
			}
		}
	})
	return cmp.Or(found, "/proc/vmstat")
}

// killsName is the name of the count in its files.
const killsName = "oom_kill"

// countOf reads the number behind a name that begins a line of a file, -1 if there is none.
func countOf(file, name string) int64 {
	for line := range strings.Lines(readText(file)) {
		if count, found := strings.CutPrefix(line, name+" "); found {
			if n, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// noteKilled takes note that the kernel ended a process for want of memory while a command ran that failed, unless the host ended it.
func (p *Process) noteKilled(e *ExitState) {
	failed := e.Status.Signaled() && e.Status.Signal() == syscall.SIGKILL || e.Status.ExitStatus() > 0
	if !failed || p.endedHere.Load() || p.Bounded() || p.session.kills.count(&p.session.reserved) <= p.killsBefore {
		return
	}
	p.violations.add(Violation{Wall: Bound, Rule: kernelMemory, Certain: true, Detail: fmt.Sprintf(
		"no more memory was left of the %s that toolhost and its commands may have", mebibytes(memoryHere()))})
}

// MostProcesses is how many processes and threads all commands of the session together may have; 0: nothing ends a command that has more.
func (p *Process) MostProcesses() int {
	if p.confinement.Level == None {
		return 0
	}
	return p.session.reserved.ofSession(p.session.o.Bounds.Processes)
}

// Bounded reports whether a bound of ours has ended the command, or ends what is left of it.
func (p *Process) Bounded() bool {
	for _, v := range p.violations.all() {
		if v.Wall == Bound && v.Rule != kernelMemory {
			return true
		}
	}
	return false
}

func mebibytes(bytes int64) string { return strconv.FormatInt(bytes>>20, 10) + " MiB" }

// scratchWatch keeps the session's scratch from filling the disk: while commands run it is measured, and those that run when it
// is too large are ended. The zero value watches nothing.
type scratchWatch struct {
	mu     sync.Mutex
	stop   chan struct{} // nil: it does not run
	closed bool
	ended  sync.WaitGroup
}

// start has the scratch measured from now on.
func (w *scratchWatch) start(s *Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil || w.closed || s.o.Bounds.Scratch < 0 {
		return
	}
	stop := make(chan struct{})
	w.stop = stop
	w.ended.Add(1)
	go func() {
		defer w.ended.Done()
		follow(s, stop)
	}()
}

// follow measures the scratch again and again. To do so takes at most a fiftieth of the time.
func follow(s *Session, stop <-chan struct{}) {
	const least, share = 500 * time.Millisecond, 50
	pause := least
	for {
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
		if s.running.count() == 0 {
			pause = least
			continue
		}
		begun := time.Now()
		if used := sizeOf(s.dirs.own.path, s.o.Bounds.Scratch); used > s.o.Bounds.Scratch {
			s.running.end(Violation{Wall: Bound, Rule: "scratch", Certain: true, Detail: fmt.Sprintf(
				"the session's scratch holds more than %s, which is shown as /tmp: remove what is not needed", mebibytes(s.o.Bounds.Scratch))})
		}
		pause = max(least, share*time.Since(begun))
	}
}

func (w *scratchWatch) close() {
	w.mu.Lock()
	if w.stop != nil && !w.closed {
		close(w.stop)
	}
	w.closed = true
	w.mu.Unlock()
	w.ended.Wait()
}

// sizeOf returns how much of the disk a directory takes, with all below it; beyond enough it looks no further.
func sizeOf(dir string, enough int64) (used int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it went away, or is closed to us
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				used += st.Blocks*512 + 512 // and its name
			}
		}
		if used > enough {
			return fs.SkipAll
		}
		return nil
	})
	return used
}

// end ends the processes that can write the scratch, and tells each why.
func (r *running) end(why Violation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range r.all {
		if p.confinement.Profile == Workspace {
			p.violations.add(why)
			p.Kill()
		}
	}
}
