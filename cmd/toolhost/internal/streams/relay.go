package streams

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Relay gives a command pipes where the streams of this process are files or sockets: the descriptor of a file allows changes beyond
// its content, whatever the sandbox says about its name.
type Relay struct {
	// Streams are for the command.
	Streams [3]*os.File

	theirs []*os.File // ours until the command has them
	out    sync.WaitGroup
}

// NewRelay returns streams for a command that are joined to those of this process.
func NewRelay() (*Relay, error) {
	r := &Relay{}
	for fd, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("it is a directory: give it a file, a pipe or a terminal")
		}
		if err == nil {
			err = r.add(fd, f, info.Mode())
		}
		if err != nil {
			r.Started()
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return r, nil
}

func (r *Relay) add(fd int, f *os.File, mode os.FileMode) error {
	if mode&(os.ModeNamedPipe|os.ModeCharDevice) != 0 {
		if own, err := blocking(fd, f); err == nil {
			r.Streams[fd] = own
			if own != f {
				r.theirs = append(r.theirs, own)
			}
			return nil
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	if fd == 0 {
		r.Streams[fd] = reader
		r.theirs = append(r.theirs, reader)
		go func() { // ends with the input, or when the command closes its end
			_, _ = io.Copy(writer, f)
			_ = writer.Close()
		}()
		return nil
	}
	r.Streams[fd] = writer
	r.theirs = append(r.theirs, writer)
	r.out.Go(func() {
		_, _ = io.Copy(f, reader)
		_ = reader.Close() // when f is full, the command gets SIGPIPE
	})
	return nil
}

// Started closes the ends that the command has inherited.
func (r *Relay) Started() {
	for _, f := range r.theirs {
		_ = f.Close()
	}
}

// Wait returns when all output of the command is written.
func (r *Relay) Wait() { r.out.Wait() }

// blocking returns a stream of this process as a file in blocking mode: f itself, or f opened anew where the process that
// gave it to us made it non-blocking, as node does. The flag belongs to all that share the open file, so it is not taken
// away.
func blocking(fd int, f *os.File) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK == 0 {
		return f, err
	}
	return os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), flags&unix.O_ACCMODE|unix.O_NOCTTY, 0)
}
