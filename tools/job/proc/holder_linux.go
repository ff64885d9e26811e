package proc

import (
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	maxHolders  = 8                      // maximum number of holders in a result
	searchLimit = 500 * time.Millisecond // for searching the descriptors of processes
)

// Holders returns processes, other than this one, that can write to one of the pipes: from among or, if that is nil,
// from all accessible processes, the highest numbers first. It returns at most eight, takes at most half a second and
// examines 4096 descriptors per process.
func Holders(among []Process, pipes []*os.File) []Holder {
	inodes := map[uint64]bool{}
	for _, pipe := range pipes {
		if info, err := pipe.Stat(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode()&os.ModeNamedPipe != 0 {
				inodes[st.Ino] = true
			}
		}
	}
	if among == nil {
		among = slices.Collect(All())
		slices.Reverse(among)
	}
	var found []Holder
	for _, p := range atMost(searchLimit, among) {
		held, _ := within(p.PID, func() bool { return holds(p.PID, inodes) })
		if held && p.PID != os.Getpid() {
			found = append(found, Holder{PID: p.PID, Command: CommandLine(p.PID)})
		}
		if len(found) == maxHolders {
			break
		}
	}
	return found
}

// holds reports whether a process has one of the pipes open for writing. The reading end has the same inode, and a
// process that is being started has it open for a moment.
func holds(pid int, inodes map[uint64]bool) bool {
	dir := processDir(pid)
	all, _ := descriptors(dir)
	return slices.ContainsFunc(all, func(d descriptor) bool {
		n, ok := inode(d.link, "pipe")
		return ok && inodes[n] && writes(dir, d.number)
	})
}

// atMost yields the processes until the time is over.
func atMost(limit time.Duration, among []Process) func(yield func(int, Process) bool) {
	return func(yield func(int, Process) bool) {
		over := time.Now().Add(limit)
		for i, p := range among {
			if time.Now().After(over) || !yield(i, p) {
				return
			}
		}
	}
}
