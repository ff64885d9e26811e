package literal

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// edge returns a buffer between two pages that must not be read.
func edge(t *testing.T) []byte {
	t.Helper()
	page := unix.Getpagesize()
	all, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[2*page:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[page : 2*page]
}

// TestNothingIsReadOutside would crash.
func TestNothingIsReadOutside(t *testing.T) {
	buffer := edge(t)
	c := Clause{}
	for _, text := range []string{"q", "zq", "mutex", "q_lockqx", strings.Repeat("-", 63) + "qz", strings.Repeat("q", 300)} {
		c = append(c, New([]byte(text), true), New([]byte(text), false))
	}
	for length := range 450 {
		for _, b := range [][]byte{buffer[len(buffer)-length:], buffer[:length]} {
			for i := range c {
				for name, wide := range scans() {
					checkEdge(t, name, &c[i], b, wide)
				}
			}
			for _, f := range append(each(c[2:6]), each(c[4:8])...) {
				checkFinder(t, f, b, 1)
			}
		}
	}
}

// checkEdge looks for n in b when it is not there, when it is at the end, and when all but its end is.
func checkEdge(t *testing.T, name string, n *Needle, b []byte, wide bool) {
	t.Helper()
	clear(b)
	if got := n.search(b, wide); got != -1 {
		t.Fatalf("%s: %q in %d zeros: got %d", name, n.text, len(b), got)
	}
	if len(b) < len(n.text) {
		return
	}
	want := len(b) - len(n.text)
	copy(b[want:], n.text)
	if got := n.search(b, wide); got != want {
		t.Fatalf("%s: %q at the end of %d: got %d", name, n.text, len(b), got)
	}
	clear(b)
	copy(b[want+1:], n.text)
	if got := n.search(b, wide); got != -1 {
		t.Fatalf("%s: %q beyond the end of %d: got %d", name, n.text, len(b), got)
	}
}
