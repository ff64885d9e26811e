package main

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// relay gives a command pipes where its streams are files or sockets: whoever has a descriptor of a file can change more of it than
// its content, whatever the sandbox says of its name.
type relay struct {
	streams [3]*os.File
	theirs  []*os.File // to be closed when the command has them
	out     sync.WaitGroup
}

// newRelay returns streams for a command that stand for those of this process.
func newRelay() (*relay, error) {
	r := &relay{}
	for fd, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			err = fmt.Errorf("it is a directory: give it a file, a pipe or a terminal")
		}
		if err == nil {
			err = r.add(fd, f, info.Mode())
		}
		if err != nil {
			r.started()
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return r, nil
}

func (r *relay) add(fd int, f *os.File, mode os.FileMode) error {
	if mode&(os.ModeNamedPipe|os.ModeCharDevice) != 0 {
		if own, err := blocking(fd, f); err == nil {
			r.streams[fd] = own
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
		r.streams[fd] = reader
		r.theirs = append(r.theirs, reader)
		go func() { // ends when all is read, or nobody reads any more
			_, _ = io.Copy(writer, f)
			_ = writer.Close()
		}()
		return nil
	}
	r.streams[fd] = writer
	r.theirs = append(r.theirs, writer)
	r.out.Go(func() {
		_, _ = io.Copy(f, reader)
		_ = reader.Close() // when f is full, the command gets SIGPIPE
	})
	return nil
}

// started gives back what the command has now.
func (r *relay) started() {
	for _, f := range r.theirs {
		_ = f.Close()
	}
}

// wait returns when everything that was said is written.
func (r *relay) wait() { r.out.Wait() }
