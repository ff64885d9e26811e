package proc

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxDepth   = 2  // of descriptors that wait for descriptors
	maxHolding = 64 // processes that are asked whether they hold something too
)

// private reports whether nobody but the process itself makes a descriptor ready, and when time will: a timer, an eventfd
// and a pipe that no other process of the job holds, the process's signals, and what waits for such.
//
// Not so while the process has children at work: their end is a signal, and the descriptor may be there to tell of it.
func (v view) private(t thread, number, depth int) (limit time.Duration, ok bool) {
	link, anonymous := linkOf(t.dir, number)
	if !anonymous || depth == 0 || v.parent() || v.late() {
		return 0, false
	}
	var buf [1024]byte
	switch kind, _ := strings.CutPrefix(link, "anon_inode:"); kind {
	case "[timerfd]":
		return remaining(info(t.dir, number, buf[:]))
	case "[signalfd]":
		return forever, true
	case "[eventfd]":
		id := infoField(info(t.dir, number, buf[:]), "eventfd-id")
		return forever, id != "" && !v.elsewhere(func(dir string, d descriptor) bool {
			return v.late() || d.link == link && infoField(info(dir, d.number, buf[:]), "eventfd-id") == id
		})
	case "[eventpoll]":
		return v.allPrivate(t, number, depth)
	}
	if _, pipe := inode(link, "pipe"); !pipe {
		return 0, false
	}
	return forever, v.feeds(t, link) && !v.elsewhere(func(_ string, d descriptor) bool { return d.link == link })
}

// allPrivate looks at what a descriptor waits for that is itself waited for.
func (v view) allPrivate(t thread, number, depth int) (limit time.Duration, ok bool) {
	events, ok := t.registered(number)
	limit = forever
	for _, e := range events {
		is, exists := statOf(t.dir, e.number)
		if !exists || !e.names(is) {
			return 0, false
		}
		soon, private := v.private(t, e.number, depth-1)
		if !private {
			return 0, false
		}
		limit = min(limit, soon)
	}
	return limit, ok
}

// isParent reports whether the process has a child that can do anything. It asks again: the process may have had none when
// it was listed.
func (v view) isParent() bool {
	kids, _ := children(v.Process)
	for _, kid := range kids {
		if p, ok := Read(kid); ok && !p.Dead && !p.Stopped {
			return true
		}
	}
	return slices.ContainsFunc(v.among, func(p Process) bool {
		return p.Parent == v.PID && !p.Dead && !p.Stopped && !gone(p)
	})
}

// feeds reports whether the process has the writing end of a pipe.
func (v view) feeds(t thread, link string) bool {
	all, _ := v.holding(v.PID)
	return slices.ContainsFunc(all, func(d descriptor) bool { return d.link == link && writes(t.dir, d.number) })
}

// elsewhere reports whether another process of the job has such a descriptor, or may have. Ancestors that may not be looked
// at are taken to have none: they are those that set the job up, and what a process waits for it has made itself since.
func (v view) elsewhere(is func(dir string, d descriptor) bool) bool {
	if len(v.among) > maxHolding {
		return true
	}
	for _, p := range v.among {
		if p.PID == v.PID || p.Dead {
			continue
		}
		all, whole := v.holding(p.PID)
		if v.late() {
			return true
		}
		if !whole && !gone(p) && !(hidden(p.PID) && v.isAncestor(p.PID)) {
			return true
		}
		if slices.ContainsFunc(all, func(d descriptor) bool { return is(processDir(p.PID), d) }) {
			return true
		}
	}
	return false
}

// isAncestor reports whether the process descends from pid.
func (v view) isAncestor(pid int) bool {
	parents := map[int]int{}
	for _, p := range v.among {
		parents[p.PID] = p.Parent
	}
	above := v.Parent
	for range v.among { // a ring, of numbers that were reused, has an end
		if above == pid {
			return true
		}
		above = parents[above]
	}
	return false
}

// hidden reports whether the descriptors of a process are not for us to see.
func hidden(pid int) bool {
	fd, err := openRead(processDir(pid) + "/fd")
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.EACCES || err == unix.EPERM
}

// holding lists what a process has open, once for each look.
func (v view) holding(pid int) (all []descriptor, whole bool) {
	all, seen := v.held[pid]
	if !seen {
		if all, whole = descriptors(processDir(pid)); !whole {
			return all, false
		}
		v.held[pid] = all
	}
	return all, true
}

// remaining reads how long a timer has to run, forever for one that is not set.
func remaining(info []byte) (time.Duration, bool) {
	var seconds, nanoseconds int64
	if _, err := fmt.Sscanf(infoField(info, "it_value"), "(%d, %d)", &seconds, &nanoseconds); err != nil {
		return 0, false
	}
	if seconds == 0 && nanoseconds == 0 {
		return forever, true
	}
	return duration(seconds, nanoseconds, time.Nanosecond), true
}
