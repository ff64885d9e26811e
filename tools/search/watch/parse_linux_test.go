package watch

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// put appends an event as the system writes it, its name padded to a multiple of 16.
func put(b []byte, wd int32, mask uint32, name string) []byte {
	size := 0
	if name != "" {
		size = (len(name) + 16) &^ 15
	}
	for _, n := range []uint32{uint32(wd), mask, 7, uint32(size)} {
		b = binary.NativeEndian.AppendUint32(b, n)
	}
	return append(append(b, name...), make([]byte, size-len(name))...)
}

func collect(b []byte) (all []Event, overflow bool) {
	overflow = parse(b, func(e Event) { all = append(all, e) })
	return all, overflow
}

func TestParse(t *testing.T) {
	b := put(nil, 1, unix.IN_MODIFY, "fifteen bytes..")
	b = put(b, 2, unix.IN_UNMOUNT, "")
	b = put(b, 2, unix.IN_IGNORED, "")
	b = put(b, 1, unix.IN_MOVE_SELF, "")
	whole := len(b)
	b = put(b, -1, unix.IN_Q_OVERFLOW, "")
	b = put(b, 3, unix.IN_ATTRIB|unix.IN_ISDIR, "sixteen bytes...")
	want := []Event{
		{Dir: 1, Name: "fifteen bytes..", Move: 7}, {Dir: 2, Gone: true, Move: 7}, {Dir: 1, Gone: true, Move: 7},
		{Dir: 3, Name: "sixteen bytes...", Names: true, Move: 7},
	}
	if got, overflow := collect(b); !overflow || !slices.Equal(got, want) {
		t.Errorf("got %+v, %t", got, overflow)
	}
	if got, overflow := collect(b[:whole]); overflow || !slices.Equal(got, want[:3]) {
		t.Errorf("without the overflow: %+v, %t", got, overflow)
	}
}

// Whatever the bytes, cutting off the end loses no event in silence.
func FuzzParse(f *testing.F) {
	f.Add(put(put(nil, 1, unix.IN_CREATE, "a"), 2, unix.IN_IGNORED, ""), 20)
	f.Add(put(nil, 1, unix.IN_Q_OVERFLOW, "a"), 0)
	f.Add(bytes.Repeat([]byte{0xff}, 40), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		all, _ := collect(b)
		if cut < 0 || cut > len(b) {
			return
		}
		some, lost := collect(b[:cut])
		if len(some) > len(all) || !slices.Equal(some, all[:len(some)]) {
			t.Errorf("other events: %+v, of all: %+v", some, all)
		}
		if len(some) < len(all) && !lost {
			rest, _ := collect(b[cut:])
			if !slices.Equal(rest, all[len(some):]) {
				t.Errorf("events were lost in silence")
			}
		}
	})
}
