package proc

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// wait is the condition that a thread is blocked on: one of the events, or the end of the limit.
type wait struct {
	events  []event
	signals bool
	limit   time.Duration // as passed to the call; forever without one
}

// event means that a descriptor becomes readable, fails or is hung up.
type event struct {
	number int
	read   bool // the thread waits for readability, now and every time
	device uint64
	inode  uint64 // identity, with device, of the file that was registered under the number; 0: unknown
}

const (
	forever   = time.Duration(math.MaxInt64)
	maxEvents = 256  // descriptors that one call waits for
	maxSelect = 4096 // the highest descriptor of a select
)

// waitOf returns the condition that a thread waits for. ok is false if it is not completely known, or if the thread
// waits for anything but its descriptors: to write, for a lock shared with other processes, for a child, or to sleep.
func (t thread) waitOf(c call) (w wait, ok bool) {
	a := c.arguments
	switch kindOf(c.number) {
	case reading:
		return wait{events: []event{{number: descriptorIn(a[0]), read: true}}, limit: forever}, true
	case polling:
		w.limit = milliseconds(a[2])
		w.events, ok = t.polled(a[0], a[1])
	case ppolling:
		w.limit = t.timespec(a[2], time.Nanosecond)
		w.events, ok = t.polled(a[0], a[1])
	case selecting:
		w.limit = t.timespec(a[4], time.Microsecond)
		w.events, ok = t.selected(a)
	case pselecting:
		w.limit = t.timespec(a[4], time.Nanosecond)
		w.events, ok = t.selected(a)
	case epolling:
		w.limit = milliseconds(a[3])
		w.events, ok = t.registered(descriptorIn(a[0]))
	case epolling2:
		w.limit = t.timespec(a[3], time.Nanosecond)
		w.events, ok = t.registered(descriptorIn(a[0]))
	case locking:
		w.limit, ok = t.locked(a)
	case signaling:
		w.signals, w.limit, ok = true, t.timespec(a[2], time.Nanosecond), true
	}
	return w, ok
}

// descriptorIn returns the int in a register.
func descriptorIn(argument uint64) int { return int(int32(argument)) }

// milliseconds returns a time limit given as an int; negative: none.
func milliseconds(argument uint64) time.Duration {
	if ms := int32(argument); ms >= 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return forever
}

// timespec reads a time limit of seconds and fractions at an address; 0: none. An unreadable limit counts as expired.
func (t thread) timespec(address uint64, fraction time.Duration) time.Duration {
	if address == 0 {
		return forever
	}
	var b [16]byte
	if !t.peek(address, b[:]) {
		return 0
	}
	return duration(int64(binary.NativeEndian.Uint64(b[:])), int64(binary.NativeEndian.Uint64(b[8:])), fraction)
}

// duration converts a limit; it returns forever for too large values, and 0 for invalid ones.
func duration(seconds, fractions int64, fraction time.Duration) time.Duration {
	const most = 1 << 31
	switch {
	case seconds < 0 || fractions < 0 || fractions >= int64(time.Second/fraction):
		return 0
	case seconds > most:
		return forever
	}
	return time.Duration(seconds)*time.Second + time.Duration(fractions)*fraction
}

// Events of poll and epoll besides reading.
const (
	writable = unix.POLLOUT | 0x300 // POLLWRNORM, POLLWRBAND
	readable = unix.POLLIN | 0x040  // POLLRDNORM
	modes    = unix.EPOLLET | unix.EPOLLONESHOT | unix.EPOLLWAKEUP | unix.EPOLLEXCLUSIVE
)

// polled reads an array of struct pollfd {int fd; short events, revents}. It skips negative fds.
func (t thread) polled(address, count uint64) (events []event, ok bool) {
	if count > maxEvents {
		return nil, false
	}
	b := make([]byte, 8*count)
	if !t.peek(address, b) {
		return nil, false
	}
	for ; len(b) > 0; b = b[8:] {
		number, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint16(b[4:])
		switch {
		case number < 0:
		case mask&writable != 0:
			return nil, false
		default:
			events = append(events, event{number: int(number), read: mask&readable != 0})
		}
	}
	return events, true
}

// selected reads the three sets of a select.
func (t thread) selected(arguments [6]uint64) (events []event, ok bool) {
	count := descriptorIn(arguments[0])
	if count < 0 || count > maxSelect {
		return nil, false
	}
	for i, address := range arguments[1:4] {
		if address == 0 || count == 0 {
			continue
		}
		b := make([]byte, (count+63)/64*8)
		if !t.peek(address, b) {
			return nil, false
		}
		for number := range count {
			word := binary.NativeEndian.Uint64(b[number/64*8:])
			switch set := word>>(number%64)&1 != 0; {
			case set && (i == 1 || len(events) == maxEvents):
				return nil, false
			case set:
				events = append(events, event{number: number, read: i == 0})
			}
		}
	}
	return events, true
}

// registered reads the descriptors that an epoll descriptor waits for.
func (t thread) registered(number int) (events []event, ok bool) {
	buf := make([]byte, 128*maxEvents)
	b := info(t.dir, number, buf)
	if len(b) == 0 || len(b) == len(buf) {
		return nil, false
	}
	return parseRegistered(string(b))
}

// parseRegistered parses the lines of the form
//
//	tfd:        0 events:       19 data:                0  pos:0 ino:3 sdev:16
//
// where all fields but tfd and pos are hexadecimal. A used-up one-shot entry waits for nothing. An edge-triggered
// entry may be registered without being waited for.
func parseRegistered(info string) (events []event, ok bool) {
	for line := range strings.Lines(info) {
		if !strings.HasPrefix(line, "tfd:") {
			continue
		}
		values := map[string]uint64{}
		f := strings.Fields(strings.ReplaceAll(line, ":", " "))
		for i := 0; i+1 < len(f); i += 2 {
			base := 16
			if f[i] == "tfd" {
				base = 10
			}
			if f[i] != "pos" {
				n, err := strconv.ParseUint(f[i+1], base, 64)
				if err != nil {
					return nil, false
				}
				values[f[i]] = n
			}
		}
		mask := values["events"]
		e := event{number: int(values["tfd"]), inode: values["ino"], device: values["sdev"]}
		e.read = mask&readable != 0 && mask&unix.EPOLLET == 0
		switch {
		case mask&^modes == 0:
		case mask&writable != 0 || e.inode == 0 || e.number < 0 || len(events) == maxEvents:
			return nil, false
		default:
			events = append(events, e)
		}
	}
	return events, true
}

// Operations of futex(2).
const (
	futexWait       = 0
	futexWaitBitset = 9
	futexPrivate    = 128
	futexClock      = 256
)

// locked returns the limit of a wait for another thread of the same process. It does not understand absolute limits.
func (t thread) locked(arguments [6]uint64) (limit time.Duration, ok bool) {
	operation := uint32(arguments[1])
	if operation&futexPrivate == 0 {
		return 0, false
	}
	switch operation &^ (futexPrivate | futexClock) {
	case futexWait:
		return t.timespec(arguments[3], time.Nanosecond), true
	case futexWaitBitset:
		return forever, arguments[3] == 0
	}
	return 0, false
}

// peek reads b from the memory of the process.
func (t thread) peek(address uint64, b []byte) bool {
	if len(b) == 0 {
		return true
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(b)}}
	n, err := unix.ProcessVMReadv(t.id, local, remote, 0)
	return err == nil && n == len(b)
}
