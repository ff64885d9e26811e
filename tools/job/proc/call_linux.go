package proc

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// call is the content of /proc/PID/syscall for a thread that is blocked in a system call.
type call struct {
	number    int64
	arguments [6]uint64
	stack, at uint64 // stack and instruction pointer
}

// compat is the limit of 32-bit addresses: stacks of 64-bit programs lie above it. 32-bit programs use other call
// numbers.
const compat = 1 << 32

// callOf reads the call of a thread. ok is false if the thread runs, is not blocked in a call, or is inaccessible.
func callOf(dir string) (c call, ok bool) {
	var buf [256]byte
	line, ok := readFile(dir+"/syscall", buf[:])
	if !ok {
		return call{}, false
	}
	return parseCall(string(line))
}

// parseCall parses the number in decimal, and six arguments and two registers in hexadecimal. A thread that runs, or
// is blocked outside of a call (-1), has fewer fields. See proc_pid_syscall(5).
func parseCall(line string) (c call, ok bool) {
	fields := strings.Fields(line)
	if len(fields) != 9 {
		return call{}, false
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || number < 0 {
		return call{}, false
	}
	var values [8]uint64
	for i, field := range fields[1:] {
		digits, hex := strings.CutPrefix(field, "0x")
		if values[i], err = strconv.ParseUint(digits, 16, 64); err != nil || !hex {
			return call{}, false
		}
	}
	c = call{number: number, arguments: [6]uint64(values[:6]), stack: values[6], at: values[7]}
	return c, c.stack >= compat
}

// kind is a family of waiting calls with the same form of arguments.
type kind int

const (
	other      kind = iota
	reading         // (fd, …)
	polling         // (pollfd *, count, milliseconds)
	ppolling        // (pollfd *, count, timespec *)
	selecting       // (count, in *, out *, exceptional *, timeval *)
	pselecting      // (count, in *, out *, exceptional *, timespec *)
	epolling        // (epfd, events *, count, milliseconds)
	epolling2       // (epfd, events *, count, timespec *)
	locking         // futex(word *, operation, value, timespec *)
	signaling       // rt_sigtimedwait(set *, info *, timespec *, size)
)

// kindOf returns the family of a call in this machine's own numbering.
func kindOf(number int64) kind {
	switch number {
	case unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_PREADV, unix.SYS_PREADV2:
		return reading
	case unix.SYS_PPOLL:
		return ppolling
	case unix.SYS_PSELECT6:
		return pselecting
	case unix.SYS_EPOLL_PWAIT:
		return epolling
	case unix.SYS_EPOLL_PWAIT2:
		return epolling2
	case unix.SYS_FUTEX:
		return locking
	case unix.SYS_RT_SIGTIMEDWAIT:
		return signaling
	}
	return oldKindOf(number)
}
