package persist

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxInMemory bounds a payload with secrets that is opened as a file; of a larger one only pages can be read.
const maxInMemory = 64 << 20

// inMemory returns a file in memory with the content of r: a payload with its secrets is never a file on disk.
func inMemory(r *io.SectionReader) (*os.File, error) {
	if r.Size() > maxInMemory {
		return nil, tooLargeForMemory(r.Size())
	}
	fd, err := unix.MemfdCreate("toolhost-payload", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "payload")
	if _, err = io.Copy(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
