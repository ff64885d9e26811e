package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/notify"
)

// connector decides whom a command connects to. With everything but local sockets its network is the wall. Of local
// sockets it reaches those that commands of its session made, by the kernel's word and where they may make them, and those
// that were granted by name.
type connector struct {
	session *sockets
	made    []string          // below which commands of the session make sockets, as they see it
	shown   []string          // the host's own files below that, which must not be written
	granted map[string]string // from the name that a grant has to the place that it leads to
	report  func(Violation)
	asker   asker
}

func newConnector(p *plan, session *sockets, report func(Violation)) *connector {
	c := &connector{session: session, made: p.writes, shown: p.s.Shown(), granted: map[string]string{}, report: report}
	c.asker.v, c.asker.mayMake = p.s.view, c.mayMake
	for _, name := range p.c.Profile.Reveal {
		c.granted[name] = name
		if real, err := filepath.EvalSymlinks(name); err == nil && !c.mayMake(name) { // the target of a command's own link was never checked
			c.granted[name], c.granted[real] = real, real
		}
	}
	return c
}

// judge decides about one connect.
func (c *connector) judge(n *notify.Connection) notify.Verdict {
	network, err := networkOf(n.Socket)
	if err != nil || network != c.session.network {
		return notify.Verdict(syscall.EACCES) // one that was inherited
	}
	switch {
	case n.Family == unix.AF_INET, n.Family == unix.AF_INET6, n.Family == unix.AF_UNIX && n.Path == "":
		return notify.Allow
	case n.Family != unix.AF_UNIX:
		return notify.Verdict(syscall.EACCES) // our privileges would permit what its own do not
	case n.Place < 0:
		return c.absent(n)
	case !isSocket(n.Place):
		return notify.Verdict(syscall.ECONNREFUSED)
	case c.granted[n.Path] == n.Path, c.asker.opened(n.Place):
		return notify.Allow
	}
	return c.local(n)
}

// absent decides about a name that does not exist in the command's view. A grant may name a file in a directory of the
// command's own.
func (c *connector) absent(n *notify.Connection) notify.Verdict {
	if place, ok := c.granted[n.Path]; ok && n.Cause == unix.ENOENT {
		if fd := openSocket(place); fd >= 0 {
			n.Place = fd
			return notify.Allow
		}
	}
	if n.Cause == unix.ENOENT {
		if verdict, ok := c.asker.onHost(n); ok {
			return verdict
		}
	}
	if errno, ok := n.Cause.(syscall.Errno); ok && expected(errno) {
		return notify.Verdict(errno)
	}
	return notify.Verdict(syscall.EACCES)
}

// local decides about a socket that has a name and no grant.
func (c *connector) local(n *notify.Connection) notify.Verdict {
	if !c.mayMake(n.Path) {
		return c.refuse(n, "")
	}
	ours, err := listens(c.session, n)
	switch {
	case err != nil:
		return c.refuse(n, err.Error())
	case ours:
		return notify.Allow
	}
	host, err := hostSockets()
	if err != nil {
		return c.refuse(n, err.Error())
	}
	defer host.close()
	if theirs, err := listens(host, n); theirs || err != nil {
		return c.refuse(n, "a program of the host listens there")
	}
	return notify.Verdict(syscall.ECONNREFUSED) // a name that was left behind
}

// refuse reports a connect that a grant would permit, unless a prompt offers that grant.
func (c *connector) refuse(n *notify.Connection, detail string) notify.Verdict {
	v := socketViolation(n.Path, detail)
	if c.asker.ask(n, v, n.Place) {
		return notify.Pause
	}
	c.report(v)
	return notify.Verdict(syscall.EACCES)
}

// mayMake reports whether commands of the session can have made the entry at path: the deepest place decides.
func (c *connector) mayMake(path string) bool {
	made := deepest(c.made, path)
	return made >= 0 && made >= deepest(c.shown, path)
}

// deepest is the length of the longest of dirs that path is in, -1 if it is in none.
func deepest(dirs []string, path string) int {
	longest := -1
	for _, dir := range dirs {
		if agenttool.Within(dir, path) {
			longest = max(longest, len(dir))
		}
	}
	return longest
}

// listens reports whether one of the sockets listens at the place of a connection.
func listens(s *sockets, n *notify.Connection) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(n.Place, &st); err != nil {
		return false, err
	}
	name := boundName{uint32(st.Ino), unix.Major(st.Dev)<<20 | unix.Minor(st.Dev)}
	found, err := s.listens(name)
	if found || err != nil {
		return found, err
	}
	inner, err := innerName(n)
	if err != nil || inner == name {
		return false, err
	}
	return s.listens(inner)
}

// innerName is the name's inode by the kernel's own numbers. Some file systems, such as btrfs and overlayfs, show others.
func innerName(n *notify.Connection) (boundName, error) {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(n.Place))
	if err != nil {
		return boundName{}, err
	}
	var mount string
	var ino uint64
	for line := range strings.Lines(string(info)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); key {
		case "mnt_id":
			mount = value
		case "ino":
			ino, err = strconv.ParseUint(value, 10, 64)
		}
	}
	if err != nil || mount == "" {
		return boundName{}, errListing
	}
	device, err := deviceOf(n.PID, mount)
	return boundName{uint32(ino), device}, err
}

// deviceOf returns the number of the file system that is mounted as mount in the namespace of a process.
func deviceOf(pid int, mount string) (uint32, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[0] != mount {
			continue
		}
		var major, minor uint32
		if _, err := fmt.Sscanf(fields[2], "%d:%d", &major, &minor); err != nil {
			return 0, err
		}
		return major<<20 | minor, nil
	}
	return 0, errListing
}
