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

// Input is the standard input of a job. It is safe for concurrent use.
type Input struct {
	job   string
	spec  *Spec
	group *group
	pipe

	feeding sync.Mutex // one input at a time

	mu    sync.Mutex
	fed   time.Time // time of the last input
	typed inputHistory
}

// pipe has both ends of an input.
type pipe struct {
	to  *os.File   // the host's end; nil: no input
	end proc.Input // the command's end
}

// last returns the time of the last input.
func (i *Input) last() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fed
}

// inputLimit is how long a command may take to read its input.
const inputLimit = 2 * time.Second

// Write writes to the job's input. Errors are of class invalid_arguments if the job has no input (code no_stdin) or
// has ended (job_ended), and dependency_unavailable (input_full) if it does not read; the message then includes the
// number of accepted bytes.
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

// Close ends the job's input. On a terminal it sends ctrl-d, which a program may interpret freely.
func (i *Input) Close() error {
	if i.spec.Stdin == Terminal {
		return i.Write("\x04")
	}
	if err := i.open(); err != nil {
		return err
	}
	i.mu.Lock()
	i.fed = time.Now() // a process that waited has now reached the end
	i.mu.Unlock()
	return i.to.Close()
}

// Resize changes the size of the job's terminal. 0 leaves a dimension unchanged.
func (i *Input) Resize(columns, rows uint16) error {
	if i.spec.Stdin != Terminal {
		return agenttool.Failure(agenttool.InvalidArguments, "no_terminal", "job "+i.job+" has no terminal: start it with tty for one").In("/columns")
	}
	if setSize(i.to, columns, rows) != nil {
		return i.noStdin("its terminal was closed")
	}
	return nil
}

// HasTerminal reports whether the job runs on a terminal.
func (i *Input) HasTerminal() bool { return i.spec.Stdin == Terminal }

// open returns an error if the job cannot receive input.
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
