package proc

import (
	"bytes"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// maxEnviron bounds the searched part of an environment. The kernel gives a new process at most 6 MiB for it.
const maxEnviron = 8 << 20

// Marked returns the living processes of this user, except this one, that were started with a variable of one of the names and an
// accepted value. A process can change its recorded environment.
func Marked(accept func(value string) bool, names ...string) []Process {
	var marked []Process
	pids, _ := numbers("/proc", math.MaxInt)
	for _, pid := range pids {
		if pid == os.Getpid() || !owned(pid) || len(variables(pid, names)) == 0 { // as of nearly all: to read more of a process takes longer
			continue
		}
		p, ok := Read(pid)
		if !ok || p.Dead {
			continue
		}
		values := variables(pid, names) // of p, and of no process that had its number before
		if len(values) > 0 && !gone(p) && slices.ContainsFunc(values, accept) {
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

// variables returns the values of variables in the environment of a process: the first of each name, as programs see it.
func variables(pid int, names []string) (values []string) {
	environ, _ := within(pid, func() []byte {
		f, err := os.Open(processDir(pid) + "/environ")
		if err != nil {
			return nil
		}
		defer f.Close()
		b, _ := io.ReadAll(io.LimitReader(f, maxEnviron)) // bytes read before an error count
		return b
	})
	for _, name := range names {
		begin := []byte(name + "=")
		for entry := range bytes.SplitSeq(environ, []byte{0}) {
			if value, ok := bytes.CutPrefix(entry, begin); ok {
				values = append(values, string(value))
				break
			}
		}
	}
	return values
}
