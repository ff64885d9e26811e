package sandbox

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	defaultProcesses = 8192
	defaultScratch   = 16 << 30
)

// withDefaults replaces zero fields by their defaults; dir is on the disk of the scratch.
func (b Bounds) withDefaults(dir string) Bounds {
	if b.Processes == 0 {
		b.Processes = defaultProcesses
	}
	var info unix.Sysinfo_t
	if b.Memory == 0 && unix.Sysinfo(&info) == nil {
		b.Memory = int64(info.Totalram) * int64(info.Unit) / 4 * 3
	}
	if b.Scratch == 0 {
		b.Scratch = defaultScratch
		var disk unix.Statfs_t
		if unix.Statfs(filepath.Dir(filepath.Dir(dir)), &disk) == nil {
			b.Scratch = min(b.Scratch, int64(disk.Bavail)*disk.Bsize/2)
		}
	}
	return b
}

// boundOf reads SaysBounded: the helper ended the command because it used too much.
func boundOf(parts []string) (v Violation, ok bool) {
	if len(parts) != 3 {
		return Violation{}, false
	}
	used, _ := strconv.ParseInt(parts[1], 10, 64)
	most, _ := strconv.ParseInt(parts[2], 10, 64)
	detail := fmt.Sprintf("it had %d processes at once, and may have %d", used, most)
	if parts[0] == "memory" {
		detail = fmt.Sprintf("it used %s of memory, and may use %s", mebibytes(used), mebibytes(most))
	}
	return Violation{Wall: Bound, Rule: parts[0], Detail: detail, Certain: true}, true
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
