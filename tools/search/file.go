package search

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// errSpecial says that a file is no regular one.
var errSpecial = errors.New("not a regular file")

// regular is an open regular file. Reading it never waits for data: some files of /proc are regular and block.
type regular struct {
	f   *os.File
	raw syscall.RawConn
}

// openRegular takes over a file that was opened without blocking. It closes one that is not regular.
func openRegular(f *os.File, err error) (*regular, error) {
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, err
	}
	var st unix.Stat_t
	var statErr error
	if err = raw.Control(func(fd uintptr) { statErr = unix.Fstat(int(fd), &st) }); err == nil {
		err = statErr
	}
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = errSpecial
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &regular{f: f, raw: raw}, nil
}

// Read reads what there is.
func (r *regular) Read(b []byte) (n int, err error) {
	done := r.raw.Read(func(fd uintptr) bool {
		for {
			if n, err = unix.Read(int(fd), b); !errors.Is(err, syscall.EINTR) {
				return true
			}
		}
	})
	switch {
	case done != nil:
		return 0, done
	case err != nil:
		return 0, err
	case n == 0 && len(b) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Close closes the file.
func (r *regular) Close() { r.f.Close() }
