package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/job/proc"
)

// Input is what a job reads. It is safe for concurrent use.
type Input struct {
	job   string
	spec  *Spec
	group *group
	to    *os.File   // the host's end; nil: it reads nothing
	end   proc.Input // the command's end

	feeding sync.Mutex // one input at a time

	mu    sync.Mutex
	fed   time.Time // when it was given input
	typed typed
}

// last is when the job was given input.
func (i *Input) last() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fed
}

// inputLimit is how long a command may take to read what it is given.
const inputLimit = 2 * time.Second

// Write gives the job input. Errors are of class invalid_arguments when it reads nothing (code no_stdin) or has ended
// (job_ended), and dependency_unavailable (input_full) when it does not read what it is given: what it took is said then.
func (i *Input) Write(input string) error {
	if err := i.open(); err != nil {
		return err
	}
	i.mu.Lock()
	i.fed = time.Now()
	i.typed.wrote(input)
	i.mu.Unlock()
	_ = i.to.SetWriteDeadline(time.Now().Add(inputLimit)) // pipes and terminals have deadlines
	n, err := io.WriteString(i.to, input)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return agenttool.Failure(agenttool.DependencyUnavailable, "input_full", fmt.Sprintf(
			"job %s does not read its input: it took %d of %d bytes within %v; send the rest when it does", i.job, n, len(input), inputLimit))
	case errors.Is(err, os.ErrClosed):
		return i.noStdin("its stdin was closed")
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.EIO):
		return i.noStdin("nothing of it reads its input any more")
	}
	return fmt.Errorf("write to job %s: %w", i.job, err)
}

// Close ends the job's input: on a terminal with ctrl-d, which a program may read as it likes.
func (i *Input) Close() error {
	if i.spec.Stdin == Terminal {
		return i.Write("\x04")
	}
	if err := i.open(); err != nil {
		return err
	}
	i.mu.Lock()
	i.fed = time.Now() // a process that waited got its end
	i.mu.Unlock()
	return i.to.Close()
}

// Resize changes the size of the job's terminal. 0 leaves a side as it is.
func (i *Input) Resize(columns, rows uint16) error {
	if i.spec.Stdin != Terminal {
		e := agenttool.Failure(agenttool.InvalidArguments, "no_terminal", "job "+i.job+" has no terminal: start it with tty for one")
		e.Pointer = "/columns"
		return e
	}
	if setSize(i.to, columns, rows) != nil {
		return i.noStdin("its terminal is gone")
	}
	return nil
}

// HasTerminal reports whether the job runs on a terminal.
func (i *Input) HasTerminal() bool { return i.spec.Stdin == Terminal }

// open reports, as an error, why the job cannot be given input.
func (i *Input) open() error {
	switch {
	case i.group.over():
		return agenttool.Failure(agenttool.InvalidArguments, "job_ended", "job "+i.job+" has ended: start another one")
	case i.to == nil:
		return i.noStdin("its stdin is /dev/null. Start the command with tty, or with run_in_background, to answer it")
	}
	return nil
}

func (i *Input) noStdin(why string) error {
	return agenttool.Failure(agenttool.InvalidArguments, "no_stdin", fmt.Sprintf("job %s takes no input: %s", i.job, why))
}
