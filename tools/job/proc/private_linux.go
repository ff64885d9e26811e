package proc

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxDepth   = 2  // nesting depth of descriptors that wait for descriptors
	maxHolding = 64 // processes whose descriptors are compared
)

// private reports whether only the process itself, or time, can make a descriptor ready, and after which time. This
// holds for a timer, an eventfd or a pipe that no other process of the job has open, the process's signals, and an
// epoll descriptor of only such descriptors.
//
// It does not hold while the process has running children: their end sends a signal, which the descriptor may report.
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

// allPrivate checks the descriptors that an epoll descriptor waits for.
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

// isParent reports whether the process has a running child. It reads the children again, because the process may have
// had none when it was listed.
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

// feeds reports whether the process has the writing end of a pipe open.
func (v view) feeds(t thread, link string) bool {
	all, _ := v.holding(v.PID)
	return slices.ContainsFunc(all, func(d descriptor) bool { return d.link == link && writes(t.dir, d.number) })
}

// elsewhere reports whether another process of the job has such a descriptor open, or may have. Inaccessible
// ancestors count as having none: they set up the job, and the descriptors that the process waits for were created
// later.
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

// isAncestor reports whether the process is a descendant of pid.
func (v view) isAncestor(pid int) bool {
	parents := map[int]int{}
	for _, p := range v.among {
		parents[p.PID] = p.Parent
	}
	above := v.Parent
	for range v.among { // bounded, in case reused numbers form a loop
		if above == pid {
			return true
		}
		above = parents[above]
	}
	return false
}

// hidden reports whether the descriptors of a process are inaccessible.
func hidden(pid int) bool {
	fd, err := openRead(processDir(pid) + "/fd")
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.EACCES || err == unix.EPERM
}

// holding lists the open descriptors of a process, cached for one look.
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

// remaining returns the remaining time of a timer, or forever if it is not set.
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
