package proc

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxEnviron is how much of an environment is searched. The kernel gives a new process 6 MiB for it at most.
const maxEnviron = 8 << 20

// Marked returns the living processes of this user, but for this one, that were started with a variable of that name
// whose value accept accepts. A process can change what it says it was started with.
func Marked(name string, accept func(value string) bool) []Process {
	var marked []Process
	for p := range table() {
		if p.Dead || p.PID == os.Getpid() || !owned(p.PID) {
			continue
		}
		value, ok := variable(p.PID, name)
		if ok && !gone(p) && accept(value) {
			marked = append(marked, p)
		}
	}
	return marked
}

// owned reports whether a process is of this user and may be looked at.
func owned(pid int) bool {
	var st unix.Stat_t
	return unix.Stat(processDir(pid), &st) == nil && int(st.Uid) == os.Geteuid()
}

// variable finds a variable in the environment of a process: the first of that name, which is the one that programs see.
func variable(pid int, name string) (value string, ok bool) {
	environ, _ := within(pid, func() []byte {
		f, err := os.Open(processDir(pid) + "/environ")
		if err != nil {
			return nil
		}
		defer f.Close()
		b, _ := io.ReadAll(io.LimitReader(f, maxEnviron)) // what was read before an error counts
		return b
	})
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := strings.CutPrefix(string(entry), name+"="); ok {
			return value, true
		}
	}
	return "", false
}
