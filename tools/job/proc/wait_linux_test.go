package proc

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestParseCall(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       call
		ok         bool
	}{
		{"read", "0 0x3 0x7fe53464c000 0x20000 0x1 0xffffffff 0x0 0x7fff78cc4a18 0x7fe5347c82ad\n",
			call{0, [6]uint64{3, 0x7fe53464c000, 0x20000, 1, 0xffffffff, 0}, 0x7fff78cc4a18, 0x7fe5347c82ad}, true},
		{"at work", "running\n", call{}, false},
		{"blocked elsewhere", "-1 0x7fff78cc4a18 0x7fe5347c82ad\n", call{}, false},
		{"nothing", "", call{}, false},
		{"not a number", "0 0x3 0xg 0x0 0x0 0x0 0x0 0x7fff78cc4a18 0x7fe5347c82ad\n", call{}, false},
		{"not hexadecimal", "0 3 0x0 0x0 0x0 0x0 0x0 0x7fff78cc4a18 0x7fe5347c82ad\n", call{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := parseCall(c.line); ok != c.ok || ok && got != c.want {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
	// The numbers of 32-bit programs are others: 3 is read there and close here.
	if _, ok := parseCall("3 0x0 0xffc0 0x1 0x0 0x0 0x0 0xffd4a1b0 0xf7f5c579\n"); ok {
		t.Error("a call of a 32-bit program is taken for one of ours")
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		seconds, fractions int64
		fraction           time.Duration
		want               time.Duration
	}{
		{1, 500_000_000, time.Nanosecond, 1500 * time.Millisecond},
		{1, 500_000, time.Microsecond, 1500 * time.Millisecond},
		{0, 0, time.Nanosecond, 0},
		{math.MaxInt64, 0, time.Nanosecond, forever},
		{-1, 0, time.Nanosecond, 0},
		{0, -1, time.Nanosecond, 0},
		{0, 1_000_000_000, time.Nanosecond, 0},
		{0, 1_000_000, time.Microsecond, 0},
	} {
		if got := duration(c.seconds, c.fractions, c.fraction); got != c.want {
			t.Errorf("%d, %d of %v: %v, want %v", c.seconds, c.fractions, c.fraction, got, c.want)
		}
	}
	if got := []time.Duration{milliseconds(0), milliseconds(math.MaxUint64), milliseconds(1500)}; !slices.Equal(got,
		[]time.Duration{0, forever, 1500 * time.Millisecond}) {
		t.Errorf("milliseconds are %v", got)
	}
}

func TestTimerRemaining(t *testing.T) {
	for _, c := range []struct {
		info string
		want time.Duration
		ok   bool
	}{
		{"clockid: 1\nticks: 0\nsettime flags: 00\nit_value: (0, 499998512)\nit_interval: (1, 0)\n", 499998512, true},
		{"it_value: (0, 0)\n", forever, true},
		{"it_value: (9223372036854775807, 0)\n", forever, true},
		{"it_value: x\n", 0, false},
		{"", 0, false},
	} {
		if got, ok := remaining([]byte(c.info)); got != c.want || ok != c.ok {
			t.Errorf("%q: %v, %v", c.info, got, ok)
		}
	}
}

// What is too much, or does not answer, is not known.
func TestWaitOfTooMuch(t *testing.T) {
	self := thread{os.Getpid(), processDir(os.Getpid())}
	for _, c := range []struct {
		name string
		call call
	}{
		{"descriptors of poll", call{number: unix.SYS_PPOLL, arguments: [6]uint64{0, math.MaxUint64}}},
		{"memory that is none", call{number: unix.SYS_PPOLL, arguments: [6]uint64{8, 1}}},
		{"descriptors of select", call{number: unix.SYS_PSELECT6, arguments: [6]uint64{math.MaxInt32}}},
		{"a negative number", call{number: unix.SYS_PSELECT6, arguments: [6]uint64{math.MaxUint64}}},
		{"what is no epoll", call{number: unix.SYS_EPOLL_PWAIT, arguments: [6]uint64{1 << 30}}},
		{"a lock that others hold", call{number: unix.SYS_FUTEX, arguments: [6]uint64{0, futexWait}}},
		{"a limit that is a date",
			call{number: unix.SYS_FUTEX, arguments: [6]uint64{0, futexPrivate | futexWaitBitset, 0, 8}}},
		{"another call", call{number: unix.SYS_WAIT4}},
	} {
		if w, ok := self.waitOf(c.call); ok {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func FuzzRegistered(f *testing.F) {
	f.Add("pos:\t0\nflags:\t02\nmnt_id:\t15\nino:\t1057\n"+
		"tfd:        0 events:       19 data:                0  pos:0 ino:3 sdev:16\n",
		5, uint32(unix.EPOLLIN), uint64(7), uint64(9))
	f.Add("tfd: 1 events: 5 data: 0 pos:0 ino:3 sdev:16\n", 0, uint32(unix.EPOLLOUT), uint64(1), uint64(1))
	f.Add("tfd: -1 events: 1 pos ino\ntfd:\ntfd: 1", 1<<20, uint32(unix.EPOLLONESHOT), uint64(1<<63), uint64(1))
	f.Fuzz(func(t *testing.T, info string, number int, mask uint32, inode, device uint64) {
		events, ok := parseRegistered(info)
		if !ok && events != nil || len(events) > maxEvents {
			t.Errorf("%q is %+v, %v", info, events, ok)
		}
		for _, e := range events {
			if e.number < 0 || e.inode == 0 {
				t.Errorf("%q has %+v", info, e)
			}
		}
		if number < 0 || inode == 0 {
			return
		}
		made := fmt.Sprintf("pos:\t0\ntfd: %8d events: %8x data: %16x  pos:%d ino:%x sdev:%x\n", number, mask, 77, -1, inode, device)
		events, ok = parseRegistered(made)
		want := event{number: number, read: mask&readable != 0 && mask&unix.EPOLLET == 0, inode: inode, device: device}
		switch {
		case mask&^uint32(modes) == 0:
			if !ok || len(events) != 0 {
				t.Errorf("%q is %+v, %v", made, events, ok)
			}
		case mask&writable != 0:
			if ok {
				t.Errorf("%q is %+v", made, events)
			}
		case !ok || !slices.Equal(events, []event{want}):
			t.Errorf("%q is %+v, %v, want %+v", made, events, ok, want)
		}
	})
}

func FuzzCall(f *testing.F) {
	f.Add("running", int64(0), uint64(3), uint64(1<<40))
	f.Add("-1 0x1 0x2", int64(-1), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, line string, number int64, argument, stack uint64) {
		if c, ok := parseCall(line); ok && (c.number < 0 || c.stack < compat || !strings.Contains(line, "0x")) {
			t.Errorf("%q is %+v", line, c)
		}
		made := fmt.Sprintf("%d 0x%x 0x1 0x2 0x3 0x4 0x5 0x%x 0x6\n", number, argument, stack)
		c, ok := parseCall(made)
		want := call{number, [6]uint64{argument, 1, 2, 3, 4, 5}, stack, 6}
		if ok != (number >= 0 && stack >= compat) || ok && c != want {
			t.Errorf("%q is %+v, %v", made, c, ok)
		}
	})
}
