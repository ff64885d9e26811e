package engine

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// A descriptor may have had no name at all.
func TestWriteByADescriptorWithoutName(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		fd, err := unix.Open(p.at("d"), unix.O_TMPFILE|unix.O_RDWR, 0o644)
		if err != nil {
			t.Skip("no file without a name can be made:", err)
		}
		defer unix.Close(fd)
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, p.at("d/e/named"), unix.AT_SYMLINK_FOLLOW)
		if err != nil {
			t.Skip("it gets no name:", err)
		}
		p.warm(t, e)
		if _, err := unix.Write(fd, []byte("needle\n")); err != nil {
			t.Fatal(err)
		}
		p.same(t, e, storing(t, "needle"))
	})
}
