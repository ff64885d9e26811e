package shell

import (
	"fmt"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/job"
	"toolhost/tools/job/proc"
)

// notes are remarks about a command besides its output, one per line.
type notes []string

func (n *notes) add(format string, args ...any) {
	*n = append(*n, "["+fmt.Sprintf(format, args...)+"]")
}

// addPorts adds the ports that a job listens on, and how the user reaches them if they are the session's own.
func (n *notes) addPorts(j *job.Job, ports []agenttool.JobPort) {
	var at []string
	for _, p := range ports {
		at = append(at, p.Address+":"+strconv.Itoa(p.Port))
	}
	switch {
	case len(at) == 0:
	case j.OwnLoopback():
		n.add("it listens on %s in the sandbox; the user can open that in a browser with: toolhost jobs forward %s", someOf(at), j.ID())
	default:
		n.add("it listens on %s", someOf(at))
	}
}

// maxNames is the number of names in a note.
const maxNames = 5

// someOf lists the first names.
func someOf(names []string) string {
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func describe(holders []proc.Holder) string {
	names := make([]string, len(holders))
	for i, h := range holders {
		names[i] = fmt.Sprintf("%d %s", h.PID, h.Command)
	}
	return someOf(names)
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
