package shell

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxHolders  = 8                      // that are named
	searchLimit = 500 * time.Millisecond // for going through what all processes have open
)

// holders names processes, other than this one, that can still write to one of the pipes. It looks first at those
// that are younger than the command, whose number is leader.
func holders(pipes []*os.File, leader int) []holder {
	links := map[string]bool{}
	for _, pipe := range pipes {
		if info, err := pipe.Stat(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				links["pipe:["+strconv.FormatUint(st.Ino, 10)+"]"] = true
			}
		}
	}
	var found []holder
	limit := time.Now().Add(searchLimit)
	all := pids()
	slices.Sort(all)
	young, _ := slices.BinarySearch(all, leader)
	for _, pid := range slices.Concat(all[young:], all[:young]) {
		if pid != os.Getpid() && holds(pid, links) {
			found = append(found, holder{PID: pid, Command: commandLine(pid)})
		}
		if len(found) == maxHolders || time.Now().After(limit) {
			break
		}
	}
	return found
}

// holds reports whether a process has one of the links open for writing. The reading end has the same link, and a
// process that the host is just starting has it for a moment.
func holds(pid int, links map[string]bool) bool {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return false // gone, or not ours to look at
	}
	for _, fd := range fds {
		link, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
		if err == nil && links[link] && writable(filepath.Join(dir, "fdinfo", fd.Name())) {
			return true
		}
	}
	return false
}

// writable reads the octal open flags of a descriptor.
func writable(fdinfo string) bool {
	b, err := os.ReadFile(fdinfo)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), "flags:")
	line, _, _ := strings.Cut(rest, "\n")
	flags, err := strconv.ParseUint(strings.TrimSpace(line), 8, 64)
	return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDONLY
}

// commandLine returns the argv of a process as one line without control characters.
func commandLine(pid int) string {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxLine)) // what was read before an error counts
	return oneLine(string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
}
