package job

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// The default size of a terminal.
const (
	defaultColumns = 120
	defaultRows    = 40
)

// ends are the command's ends of its streams.
type ends struct {
	streams [3]*os.File
	note    *os.File
	files   []*os.File // all of them, without duplicates
}

func (e *ends) close() {
	for _, f := range e.files {
		_ = f.Close()
	}
}

// streams are the host's ends of a job's output.
type streams struct {
	log   *output.Log
	pumps []*output.Pumping
	pipes []*os.File // read by the pumps
	note  *note      // of descriptor 3; nil: not open
	input *Input
}

// open opens the streams of a job, and its input. The returned ends must be closed even after an error.
func (s *streams) open(spec *Spec, input *Input) (*ends, error) {
	e := &ends{}
	s.input = input
	var err error
	if spec.Stdin == Terminal {
		err = s.openTerminal(e, spec.Size)
	} else {
		err = s.openPipes(e, spec.Stdin)
	}
	if err == nil && spec.Note {
		var ours *os.File
		if ours, e.note, err = e.pipe(); err == nil {
			s.note = takeNote(ours)
		}
	}
	return e, err
}

// pipe opens a pipe; the command gets the writing end.
func (e *ends) pipe() (ours, theirs *os.File, err error) {
	ours, theirs, err = os.Pipe()
	if err == nil {
		e.files = append(e.files, theirs)
	}
	return ours, theirs, err
}

func (s *streams) openTerminal(e *ends, size pty.Winsize) error {
	opened, slave, err := pty.Open()
	if err != nil {
		return err
	}
	defer opened.Close()
	e.files, e.streams = []*os.File{slave}, [3]*os.File{slave, slave, slave}
	if s.input.end, err = proc.InputOf(slave); err != nil {
		return err
	}
	if s.input.to, err = patient(opened); err != nil {
		return err
	}
	size.Cols = cmp.Or(size.Cols, defaultColumns)
	size.Rows = cmp.Or(size.Rows, defaultRows)
	s.pump(output.Stdout, s.input.to)
	return setSize(s.input.to, size.Cols, size.Rows)
}

// patient returns a duplicate of a terminal that supports deadlines, which the original does not.
func patient(opened *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(opened.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), opened.Name()), nil
}

// setSize sets the size of a terminal; 0 leaves a dimension unchanged.
func setSize(terminal *os.File, columns, rows uint16) error {
	raw, err := terminal.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		var size *unix.Winsize
		if size, err = unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err != nil {
			return
		}
		if columns > 0 {
			size.Col = columns
		}
		if rows > 0 {
			size.Row = rows
		}
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size)
	})
	return errors.Join(failed, err)
}

func (s *streams) openPipes(e *ends, stdin Stdin) error {
	if err := s.openStdin(e, stdin); err != nil {
		return err
	}
	for _, of := range []output.Stream{output.Stdout, output.Stderr} {
		ours, theirs, err := e.pipe()
		if err != nil {
			return err
		}
		e.streams[of+1] = theirs
		s.pump(of, ours)
	}
	return nil
}

// pump starts reading one output stream of the command.
func (s *streams) pump(of output.Stream, from *os.File) {
	s.pipes = append(s.pipes, from)
	s.pumps = append(s.pumps, output.Pump(s.log, of, from))
}

func (s *streams) openStdin(e *ends, stdin Stdin) (err error) {
	var theirs *os.File
	if stdin == Open {
		if theirs, s.input.to, err = os.Pipe(); err == nil {
			s.input.end, err = proc.InputOf(theirs)
		}
	} else {
		theirs, err = os.Open(os.DevNull)
	}
	if theirs != nil {
		e.files, e.streams[0] = append(e.files, theirs), theirs
	}
	return err
}

// drain continues reading after the command has exited, until no process can write any more, or none has written for
// a while. It reports whether a process still can.
func (s *streams) drain(limit time.Duration) (open bool) {
	const slice = 3 // silence for a third of the limit suffices
	for range slice {
		before := s.log.Stats().Bytes
		open = output.Drain(limit/slice, s.pumps...)
		if !open || s.log.Stats().Bytes == before {
			break
		}
	}
	return open
}

// held returns the pipes that a process can still write to.
func (s *streams) held() []*os.File {
	var open []*os.File
	for i, p := range s.pumps {
		if p.Open() {
			open = append(open, s.pipes[i])
		}
	}
	return open
}

// finish closes the files and drops the pumps with their buffers.
func (s *streams) finish() {
	s.close()
	s.pumps, s.pipes = nil, nil
}

func (s *streams) close() {
	for _, f := range append(s.pipes, s.input.to) {
		if f != nil {
			_ = f.Close() // a terminal serves as both, and is closed twice
		}
	}
	s.note.close()
}

// noStreams is the error for streams that cannot be opened.
func noStreams(err error) error {
	if e := agenttool.SystemFailure("the command was not started", err); e != nil {
		return e
	}
	return agenttool.Failure(agenttool.DependencyUnavailable, "no_terminal",
		fmt.Sprintf("the command was not started: the system gives it no pipe or terminal (%v); try again later", err)).Because(err)
}
