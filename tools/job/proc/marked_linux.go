package proc

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxEnviron bounds the searched part of an environment. The kernel gives a new process at most 6 MiB for it.
const maxEnviron = 8 << 20

// Marked returns the living processes of this user, except this one, that were started with the named variable and an
// accepted value. A process can change its recorded environment.
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

// owned reports whether a process belongs to this user and is accessible.
func owned(pid int) bool {
	var st unix.Stat_t
	return unix.Stat(processDir(pid), &st) == nil && int(st.Uid) == os.Geteuid()
}

// variable returns a variable in the environment of a process: the first of that name, as programs see it.
func variable(pid int, name string) (value string, ok bool) {
	environ, _ := within(pid, func() []byte {
		f, err := os.Open(processDir(pid) + "/environ")
		if err != nil {
			return nil
		}
		defer f.Close()
		b, _ := io.ReadAll(io.LimitReader(f, maxEnviron)) // bytes read before an error count
		return b
	})
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := strings.CutPrefix(string(entry), name+"="); ok {
			return value, true
		}
	}
	return "", false
}
