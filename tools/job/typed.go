package job

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// typed is what is known of the commands that a shell was given.
type typed struct {
	inputs  int    // so many
	reader  int    // the process that was blocked reading when the last one was written; 0: nobody
	reads   uint64 // that it had done before
	begun   bool   // a line was begun and not ended
	unclear bool   // something was given of which it is not known where it leaves the shell
}

// wrote takes note of input.
func (t *typed) wrote(input string) {
	if input != "" {
		t.begun = !strings.HasSuffix(input, "\n") && !strings.HasSuffix(input, "\r")
	}
}

// AtPrompt reports whether a shell that reads the job's input is at its prompt, as it was when it began: each line that it was
// given was whole, and left nothing behind in the shell.
func (i *Input) AtPrompt() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return !i.typed.begun && !i.typed.unclear
}

// Unclear says that the job was given something that may leave a shell in another state.
func (i *Input) Unclear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.typed.unclear = true
}

// given is how often the job was given input.
func (i *Input) given() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.typed.inputs
}

// giving notes who is to read what is written next.
func (i *Input) giving(reader int) {
	reads, _ := readsOf(reader)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.typed.inputs++
	i.typed.reader, i.typed.reads = reader, reads
}

// hasTaken reports whether a process that is blocked reading has read the last input before, and is not just being woken by it.
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

// readsOf is how many reading calls a process has completed.
func readsOf(pid int) (uint64, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	_, rest, found := strings.Cut(string(b), "\nsyscr: ")
	line, _, _ := strings.Cut(rest, "\n")
	n, parseErr := strconv.ParseUint(line, 10, 64)
	return n, err == nil && found && parseErr == nil
}

// Feed gives the job input, one at a time: if who reads it is still as judged says, write does it. It reports whether it was.
func (i *Input) Feed(judged Reader, write func() error) (same bool, err error) {
	i.feeding.Lock()
	defer i.feeding.Unlock()
	if judged.Kind != ReadsCode && judged.Kind != ReadsData && i.Reader() != judged {
		return false, nil
	}
	i.giving(judged.PID)
	return true, write()
}
