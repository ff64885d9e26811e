package job

import (
	"os"
	"strconv"
	"strings"
	"time"
)

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
