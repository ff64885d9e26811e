package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// controlGroup is a control group of the session's own, in which its commands are and no helper: a command that fills it ends no helper. The zero
// value is none.
type controlGroup struct {
	dir  string
	open *os.File // locked, so that no other session takes it for abandoned
}

// groupPrefix begins the names of our control groups.
const groupPrefix = "toolhost-"

// makeGroup makes a control group in parent, and removes the empty ones beside it that no process has locked: their hosts were
// killed. Another host may remove a group before it is locked; then makeGroup fails.
func makeGroup(parent string) (g controlGroup, err error) {
	if g.dir, err = os.MkdirTemp(parent, groupPrefix); err != nil {
		return controlGroup{}, err
	}
	if g.open, err = openLocked(g.dir); err != nil {
		_ = unix.Rmdir(g.dir)
		return controlGroup{}, err
	}
	beside, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	for _, dir := range beside {
		if dir == g.dir {
			continue
		}
		if abandoned, err := openLocked(dir); err == nil {
			_ = unix.Rmdir(dir)
			abandoned.Close()
		}
	}
	return g, nil
}

// bound changes how many processes the group may have.
func (g controlGroup) bound(processes int) {
	if g.dir != "" && processes > 0 {
		_ = os.WriteFile(filepath.Join(g.dir, "pids.max"), strconv.AppendInt(nil, int64(processes), 10), 0o600)
	}
}

// remove removes the group, and waits at most a second until the kernel has ended its processes.
func (g controlGroup) remove() {
	if g.dir == "" {
		return
	}
	defer g.open.Close()
	for range 50 {
		if unix.Rmdir(g.dir) != unix.EBUSY {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// group makes a control group of version 2 where this process may: the kernel counts and bounds its memory and processes.
func group(b Bounds, root, own string) controlGroup {
	parent := filepath.Join(root, filepath.Dir(own)) // our own holds processes, so it cannot give controllers to others
	given, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if err != nil {
		return controlGroup{}
	}
	controllers := strings.Fields(string(given))
	bounded := b.Memory > 0 && slices.Contains(controllers, "memory") || b.Processes > 0 && slices.Contains(controllers, "pids")
	if !bounded {
		return controlGroup{}
	}
	g, err := makeGroup(parent)
	if err != nil {
		return controlGroup{}
	}
	counts := false
	for _, c := range controllers {
		switch {
		case c == "memory" && b.Memory > 0:
			err = os.WriteFile(filepath.Join(g.dir, "memory.max"), strconv.AppendInt(nil, b.Memory, 10), 0o600)
		case c == "pids" && b.Processes > 0:
			err = os.WriteFile(filepath.Join(g.dir, "pids.max"), strconv.AppendInt(nil, int64(b.Processes), 10), 0o600)
		default:
			continue
		}
		counts = counts || err == nil
	}
	if counts {
		return g
	}
	g.remove()
	return controlGroup{}
}

// pidsGroup makes a control group of version 1 within our own, where this process may: its processes are bounded.
func pidsGroup(processes int, parent string) controlGroup {
	if _, limited := countIn(parent, "pids.current"); !limited || processes < 1 {
		return controlGroup{}
	}
	g, err := makeGroup(parent)
	if err != nil {
		return controlGroup{}
	}
	if os.WriteFile(filepath.Join(g.dir, "pids.max"), strconv.AppendInt(nil, int64(processes), 10), 0o600) != nil {
		g.remove()
		return controlGroup{}
	}
	return g
}

// newGroup makes the session's control group, if it can have one.
func newGroup(b Bounds) controlGroup {
	if root, own := ownGroup(); root != "" {
		return group(b, root, own)
	}
	if own, counted := ownPidsGroup(); counted {
		return pidsGroup(b.Processes, own)
	}
	return controlGroup{}
}

// ownPidsGroup is the directory of this process's control group in the hierarchy of version 1 that counts processes.
func ownPidsGroup() (dir string, counted bool) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if _, own, ok := strings.Cut(strings.TrimSpace(line), ":pids:"); ok {
			return filepath.Join(pidsMount, own), true
		}
	}
	return "", false
}

// ownGroup is the control group of this process in the hierarchy of version 2, and where that is mounted.
func ownGroup() (root, own string) {
	const mounted = "/sys/fs/cgroup"
	var fs unix.Statfs_t
	if unix.Statfs(mounted, &fs) != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC {
		return "", ""
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", ""
	}
	for line := range strings.Lines(string(text)) {
		if own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return mounted, own
		}
	}
	return "", ""
}
