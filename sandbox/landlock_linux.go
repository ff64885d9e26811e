package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// What a Landlock domain handles, by the ABI version that brought it. Executing is not handled, and reading only where no
// mounts mask what must not be read.
const (
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM // 1
	neverGranted = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	tcpRights    = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	allScopes    = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// rights are those on files that version abi handles.
func rights(abi int) uint64 {
	r := uint64(writeRights)
	for _, since := range []struct {
		abi   int
		right uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
	} {
		if abi >= since.abi {
			r |= since.right
		}
	}
	return r
}

// landlockABI is the version that the kernel has, 0 for none.
func landlockABI() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlock adds the outer wall: where anything may be written at all, and, without a network of its own, that nobody is
// reached.
func (p *plan) landlock() {
	abi := p.s.abi
	if abi < 1 {
		return
	}
	network, scopes := 0, 0
	if abi >= 4 && (!p.workspace() && !p.c.Profile.Loopback || p.s.level != Full) {
		network = tcpRights
	}
	if abi >= 6 {
		scopes = allScopes
	}
	all := rights(abi)
	if p.s.level != Full {
		all |= unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	p.Add(enter.Ruleset, strconv.FormatUint(all, 10), strconv.Itoa(network), strconv.Itoa(scopes))
	for _, dir := range p.writable() {
		p.Add(enter.Allow, dir, strconv.FormatUint(all&^neverGranted, 10))
	}
	if p.s.level != Full {
		for _, path := range p.readable() {
			p.Add(enter.Allow, path, strconv.Itoa(unix.LANDLOCK_ACCESS_FS_READ_FILE), "found")
		}
	}
}

// readable are the places whose files the outer wall lets a command read, where no mounts hide the others: all of the system but
// home directories and secrets, and what is shown in those. Names can still be listed.
func (p *plan) readable() []string {
	hidden := slices.Concat(p.s.homes, p.s.masked, p.s.hidden())
	for _, e := range p.secrets() {
		if !p.workspace() || !p.s.inRoot(e.Path) { // in a directory that is written, new files must be readable
			hidden = append(hidden, e.Path)
		}
	}
	open := openings("/", hidden)
	for _, at := range p.places {
		if !at.memory && at.from.path == at.to {
			open = append(open, openings(at.to, hidden)...)
		}
	}
	return open
}

// openings are the places at or below a path that are, or hold, none of the hidden ones. Links lead to others.
func openings(path string, hidden []string) []string {
	holds := func(file string) bool { return agenttool.Within(path, file) }
	if !slices.ContainsFunc(hidden, holds) {
		return []string{path}
	}
	if slices.Contains(hidden, path) {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	var open []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			open = append(open, openings(filepath.Join(path, e.Name()), hidden)...)
		}
	}
	return open
}

// writable are the places, as the command sees them, that the outer wall leaves open.
func (p *plan) writable() []string {
	s := p.s
	if s.level != Full {
		dirs := append(p.terminal(), "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", s.private.path)
		if p.workspace() {
			dirs = append(dirs, s.tmp.path, s.varTmp.path, s.cache.path)
			for _, root := range s.roots {
				dirs = append(dirs, root.path)
			}
		}
		return append(dirs, paths(p.further)...)
	}
	dirs := []string{"/dev"}
	if p.workspace() {
		dirs = append(dirs, "/tmp", "/var/tmp")
		for _, root := range s.roots {
			dirs = append(dirs, root.path)
		}
	}
	return append(dirs, paths(p.further)...)
}

// terminal is the name of the command's terminal, by which some programs open it, unless it has none.
func (p *plan) terminal() []string {
	if !p.c.Terminal {
		return nil
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", p.c.Streams[0].Fd()))
	if err != nil || !strings.HasPrefix(name, "/dev/pts/") {
		return nil
	}
	return []string{name}
}
