package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// The size of a terminal that nobody gave one.
const (
	defaultColumns = 120
	defaultRows    = 40
)

// ends are the command's ends of its streams.
type ends struct {
	streams [3]*os.File
	note    *os.File
	files   []*os.File // all of them, once
}

func (e *ends) close() {
	for _, f := range e.files {
		_ = f.Close()
	}
}

// open opens the streams of the job. What it returns is to be closed also after an error.
func (j *Job) open() (*ends, error) {
	e := &ends{}
	var err error
	if j.spec.Stdin == Terminal {
		err = j.openTerminal(e)
	} else {
		err = j.openPipes(e)
	}
	if err == nil && j.spec.Note {
		var ours *os.File
		if ours, e.note, err = e.pipe(); err == nil {
			j.note = takeNote(ours)
		}
	}
	return e, err
}

// pipe opens a pipe whose writing end is the command's.
func (e *ends) pipe() (ours, theirs *os.File, err error) {
	ours, theirs, err = os.Pipe()
	if err == nil {
		e.files = append(e.files, theirs)
	}
	return ours, theirs, err
}

func (j *Job) openTerminal(e *ends) error {
	opened, slave, err := pty.Open()
	if err != nil {
		return err
	}
	defer opened.Close()
	e.files, e.streams = []*os.File{slave}, [3]*os.File{slave, slave, slave}
	if j.reads, err = proc.InputOf(slave); err != nil {
		return err
	}
	if j.input, err = patient(opened); err != nil {
		return err
	}
	size := j.spec.Size
	if size.Cols == 0 {
		size.Cols = defaultColumns
	}
	if size.Rows == 0 {
		size.Rows = defaultRows
	}
	j.pump(output.Stdout, j.input)
	return setSize(j.input, size.Cols, size.Rows)
}

// patient returns a terminal that can be waited for with a deadline, which the one that was opened cannot.
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

// setSize sets the size of a terminal; 0 leaves a side as it is.
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

func (j *Job) openPipes(e *ends) error {
	if err := j.openStdin(e); err != nil {
		return err
	}
	for _, s := range []output.Stream{output.Stdout, output.Stderr} {
		ours, theirs, err := e.pipe()
		if err != nil {
			return err
		}
		e.streams[s+1] = theirs
		j.pump(s, ours)
	}
	return nil
}

// pump begins to read what the command says.
func (j *Job) pump(s output.Stream, from *os.File) {
	j.pipes = append(j.pipes, from)
	j.pumps = append(j.pumps, output.Pump(j.log, s, from))
}

func (j *Job) openStdin(e *ends) (err error) {
	var theirs *os.File
	if j.spec.Stdin == Open {
		if theirs, j.input, err = os.Pipe(); err == nil {
			j.reads, err = proc.InputOf(theirs)
		}
	} else {
		theirs, err = os.Open(os.DevNull)
	}
	if theirs != nil {
		e.files, e.streams[0] = append(e.files, theirs), theirs
	}
	return err
}

// noStreams is the error for streams that cannot be opened.
func noStreams(err error) error {
	if e := agenttool.Shortage("the command was not started", err); e != nil {
		return e
	}
	return agenttool.Failure(agenttool.DependencyUnavailable, "no_terminal",
		fmt.Sprintf("the command was not started: the system gives it no pipe or terminal (%v); try again later", err)).Because(err)
}

// inputLimit is how long a command may take to read what it is given.
const inputLimit = 2 * time.Second

// Write gives the job input. Errors are of class invalid_arguments when it reads nothing (code no_stdin) or has ended
// (job_ended), and dependency_unavailable (input_full) when it does not read what it is given: what it took is said then.
func (j *Job) Write(input string) error {
	if err := j.readsInput(); err != nil {
		return err
	}
	j.mu.Lock()
	j.fed = time.Now()
	j.typed.wrote(input)
	j.mu.Unlock()
	_ = j.input.SetWriteDeadline(time.Now().Add(inputLimit)) // pipes and terminals have deadlines
	n, err := io.WriteString(j.input, input)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return agenttool.Failure(agenttool.DependencyUnavailable, "input_full", fmt.Sprintf(
			"job %s does not read its input: it took %d of %d bytes within %v; send the rest when it does", j.id, n, len(input), inputLimit))
	case errors.Is(err, os.ErrClosed):
		return j.noStdin("its stdin was closed")
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.EIO):
		return j.noStdin("nothing of it reads its input any more")
	}
	return fmt.Errorf("write to job %s: %w", j.id, err)
}

// CloseInput ends the job's input: on a terminal with ctrl-d, which a program may read as it likes.
func (j *Job) CloseInput() error {
	if j.spec.Stdin == Terminal {
		return j.Write("\x04")
	}
	if err := j.readsInput(); err != nil {
		return err
	}
	j.mu.Lock()
	j.fed = time.Now() // who was seen waiting has got its end
	j.mu.Unlock()
	return j.input.Close()
}

// Resize changes the size of the job's terminal. 0 leaves a side as it is.
func (j *Job) Resize(columns, rows uint16) error {
	if j.spec.Stdin != Terminal {
		e := agenttool.Failure(agenttool.InvalidArguments, "no_terminal", "job "+j.id+" has no terminal: start it with tty for one")
		e.Pointer = "/columns"
		return e
	}
	if setSize(j.input, columns, rows) != nil {
		return j.noStdin("its terminal is gone")
	}
	return nil
}

// HasTerminal reports whether the job runs on a terminal.
func (j *Job) HasTerminal() bool { return j.spec.Stdin == Terminal }

// readsInput reports, as an error, why the job cannot be given input.
func (j *Job) readsInput() error {
	switch {
	case j.over():
		return agenttool.Failure(agenttool.InvalidArguments, "job_ended", "job "+j.id+" has ended: start another one")
	case j.input == nil:
		return j.noStdin("its stdin is /dev/null. Start the command with tty, or with run_in_background, to answer it")
	}
	return nil
}

func (j *Job) noStdin(why string) error {
	return agenttool.Failure(agenttool.InvalidArguments, "no_stdin", fmt.Sprintf("job %s takes no input: %s", j.id, why))
}
