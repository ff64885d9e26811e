// Package caller looks at the process at the other end of a socket: whether it can be the person, or is a command of a session.
package caller

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Suspect says why a process cannot act for the person: it is a command of a session, or runs in a sandbox. "" means that nothing
// was found.
func Suspect(pid int) string {
	if pid <= 0 {
		return "the process at the other end is not known"
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return "the process at the other end cannot be examined"
	}
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if bytes.HasPrefix(entry, []byte("TOOLHOST_JOB=")) {
			return "it is a command of a session, which cannot answer for you"
		}
	}
	theirs, err := confinementOf(pid)
	if err != nil {
		return "the process at the other end cannot be examined"
	}
	ours, err := confinementOf(os.Getpid())
	if err != nil || theirs.filters > ours.filters || theirs.noNewPrivileges && !ours.noNewPrivileges {
		return "it runs in a sandbox, where no process may answer for you"
	}
	return ""
}

// Filtered reports whether more system call filters hold a process than this one, as they do each command in a sandbox of toolhost, at every
// level, and none of its helpers. No process gets rid of them.
func Filtered(pid int) (bool, error) {
	theirs, err := confinementOf(pid)
	if err != nil {
		return false, err
	}
	ours, err := confinementOf(os.Getpid())
	return theirs.filters > ours.filters, err
}

// kernelLimits are limits of a process that it cannot remove, as the kernel shows them.
type kernelLimits struct {
	filters         int
	noNewPrivileges bool
}

func confinementOf(pid int) (k kernelLimits, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return k, err
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); name {
		case "Seccomp_filters":
			k.filters, _ = strconv.Atoi(value) // 0 where the kernel does not show it
		case "Seccomp":
			if value == "2" {
				k.filters = max(k.filters, 1)
			}
		case "NoNewPrivs":
			k.noNewPrivileges = value == "1"
		}
	}
	return k, nil
}

// Terminal names the controlling terminal of a process, such as pts/3; "" if it has none.
func Terminal(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	at := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[at+1:]))
	const terminal = 4 // state parent group session terminal
	if len(fields) <= terminal {
		return ""
	}
	device, err := strconv.ParseUint(fields[terminal], 10, 32)
	if err != nil || device == 0 {
		return ""
	}
	major, minor := device>>8&0xfff, device&0xff|device>>12&0xfff00
	switch {
	case major >= 136 && major <= 143: // pseudo-terminals
		return fmt.Sprintf("pts/%d", (major-136)<<20|minor)
	case major == 4 && minor < 64:
		return fmt.Sprintf("tty%d", minor)
	}
	return fmt.Sprintf("%d:%d", major, minor)
}
