// Package memory keeps the memory of a process that serves small: it bounds what the collector lets grow, and gives memory back after
// a burst.
package memory

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// shortPercent has most commands end without a collection, which begins at 16 MiB.
	shortPercent = 400

	// startPercent has the start go on to the first reply without a collection: it leaves 4 MiB behind.
	startPercent = 200

	// gcPercent is from the first collection on: a host lives on some 2 MiB, and each call leaves 75 KB behind.
	gcPercent = 100

	// memoryLimit is from where on memory is collected more often: results that many clients do not read are mostly garbage.
	memoryLimit = 512 << 20

	// firstArena is the address space that the heap has from the start, and leastRoom what a process needs beyond that.
	firstArena, leastRoom = 64 << 20, 96 << 20
)

// Start has the process collect nothing until most commands have ended. One that goes on collects as usual from its first collection on.
func Start() {
	debug.SetGCPercent(shortPercent)
	runtime.AddCleanup(&collection{}, func(percent int) { debug.SetGCPercent(percent) }, gcPercent)
}

// Limit sets the memory limit of the garbage collector. In a control group with a limit it is five eighths of that: the
// rest is for helpers, kernel memory, and memory that the collector has freed but not yet returned. It is likewise of what a limit on the address
// space (ulimit -v) leaves, which counts much that is no memory. The error says that this is too little: a process that runs out of it ends at once.
func Limit() error {
	debug.SetGCPercent(startPercent)
	room := addressRoom(os.DirFS("/"), addressLimit())
	if room < leastRoom {
		return fmt.Errorf("the address space of this process is limited (ulimit -v), and %d MiB of it are left, where %d are needed: raise the limit",
			room>>20, leastRoom>>20)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(min(memoryLimit, min(groupMemory(os.DirFS("/")), min(room, math.MaxInt64-firstArena)+firstArena)/8*5))
	}
	return nil
}

// addressLimit is the limit on the address space of this process, or else the largest number.
func addressLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) != nil {
		return math.MaxUint64
	}
	return limit.Cur
}

// addressRoom is how much a limit leaves of the address space, or else the largest number.
func addressRoom(root fs.FS, limit uint64) int64 {
	text, _ := fs.ReadFile(root, "proc/self/statm") // the first number is the size in pages
	size, _, _ := strings.Cut(string(text), " ")
	pages, err := strconv.ParseInt(size, 10, 64)
	if err != nil || limit >= math.MaxInt64 {
		return math.MaxInt64
	}
	return max(int64(limit)-pages*int64(os.Getpagesize()), 0)
}

// Bound is how much memory this process may have where that is less than usual, and else 0.
func Bound() int64 {
	if n := debug.SetMemoryLimit(-1); n < memoryLimit {
		return n
	}
	return 0
}

// groupMemory is the least limit in bytes of the control groups (version 1 or 2) of this process, or else the largest number. If a
// container does not see the directory of its group, the root that it sees counts.
func groupMemory(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // missing: there are none
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, dir, _ := strings.Cut(rest, ":")
		at, file := "sys/fs/cgroup", "memory.max"
		switch {
		case controllers == "memory":
			at, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case controllers != "":
			continue
		}
		for dir = path.Join("/", dir); ; dir = path.Dir(dir) {
			text, _ := fs.ReadFile(root, path.Join(at, dir, file)) // missing in groups without a limit
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
				least = min(least, n)
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}

const (
	startOver  = 300 * time.Millisecond // until the first replies have been given
	quietAfter = 5 * time.Second        // between two looks at the allocations
	quietBytes = 4 << 20                // an interval with less is quiet
	keptBytes  = 24 << 20               // memory that is worth to be given back
)

// trimmer gives the memory of a burst back to the system once the process is quiet. Without it the collector keeps the memory of a burst
// as long as nothing allocates. It looks at the process once after the start, and then only after a collection: one that had none since has
// nothing to give back.
type trimmer struct {
	drop func(keep int64) // trims caches; called before memory is given back

	mu        sync.Mutex
	timer     *time.Timer // of the next look; it may have run
	allocated uint64      // at the last look
	ended     bool

	first sync.Once // collection, which ends the start
}

// StartTrimmer has memory given back to the system whenever the process is quiet, until stop is called. Before that it calls drop to
// trim caches to keep bytes.
func StartTrimmer(drop func(keep int64)) (stop func()) {
	t := &trimmer{drop: drop, timer: time.AfterFunc(startOver, ForgetProgram)}
	t.await()
	return t.stop
}

// collection is unused from its start: its cleanup runs after the next collection.
type collection struct{ *trimmer }

// await has the next collection arm the timer.
func (t *trimmer) await() { runtime.AddCleanup(&collection{t}, (*trimmer).collected, t) }

func (t *trimmer) collected() {
	t.first.Do(ForgetProgram)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.timer = time.AfterFunc(quietAfter, t.look)
	}
}

func (t *trimmer) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.timer.Stop()
}

// look gives memory back, that of the heap if little was allocated since the last look; else it looks again.
func (t *trimmer) look() {
	now := memoryStats()
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		return
	}
	quiet := now.allocated-t.allocated < quietBytes
	t.allocated = now.allocated
	if !quiet {
		t.timer = time.AfterFunc(quietAfter, t.look)
	}
	t.mu.Unlock()
	ForgetProgram()
	if !quiet {
		return
	}
	if now.resident > keptBytes {
		t.drop(keptBytes)
		runtime.GC() // objects in pools survive one collection
		debug.FreeOSMemory()
	}
	t.await()
}

// memoryUse is the memory of this process in bytes, as the runtime counts it.
type memoryUse struct{ allocated, resident uint64 }

func memoryStats() memoryUse {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return memoryUse{allocated: s[0].Value.Uint64(), resident: s[1].Value.Uint64() - s[2].Value.Uint64()}
}
