package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
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

// inputHistory records the input that a shell received.
type inputHistory struct {
	inputs  int    // number of inputs
	reader  int    // the process that was blocked reading at the last write; 0: none
	reads   uint64 // number of its completed reads before that
	begun   bool   // the last line is incomplete
	unclear bool   // some input may have left the shell in an unknown state
}

// wrote records input.
func (t *inputHistory) wrote(input string) {
	if input != "" {
		t.begun = !strings.HasSuffix(input, "\n") && !strings.HasSuffix(input, "\r")
	}
}

// AtPrompt reports whether a shell that reads the job's input is at its prompt, in the same state as at its start:
// each input was a complete line, and left no state in the shell.
func (i *Input) AtPrompt() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.typed.begun && !i.typed.unclear
}

// Unclear records that some input may leave a shell in another state.
func (i *Input) Unclear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.typed.unclear = true
}

// given returns the number of inputs.
func (i *Input) given() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.typed.inputs
}

// giving records the process that should read the next input.
func (i *Input) giving(reader int) {
	reads, _ := readsOf(reader)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.typed.inputs++
	i.typed.reader, i.typed.reads = reader, reads
}

// hasTaken reports whether a process that is blocked reading has already read the last input, and is not just being
// woken by it.
func (i *Input) hasTaken(pid int) bool {
	i.mu.Lock()
	t, fed := i.typed, i.fed
	i.mu.Unlock()
	if t.inputs == 0 || t.reader != pid && time.Since(fed) > quiet {
		return true
	}
	reads, ok := readsOf(pid)
	return ok && t.reader == pid && reads > t.reads || !ok && time.Since(fed) > quiet
}

// readsOf returns the number of completed read calls of a process.
func readsOf(pid int) (uint64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	_, rest, found := strings.Cut(string(b), "\nsyscr: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, parseErr := strconv.ParseUint(line, 10, 64)
	return n, err == nil && found && parseErr == nil
}

// Feed sends input to the job, one input at a time: it calls write if the reader is still the one that was judged,
// and reports whether it is.
func (i *Input) Feed(judged Reader, write func() error) (same bool, err error) {
	i.feeding.Lock()
	defer i.feeding.Unlock()
	if judged.Kind != ReadsCode && judged.Kind != ReadsData && i.Reader() != judged {
		return false, nil
	}
	i.giving(judged.PID)
	return true, write()
}
