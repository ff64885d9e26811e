package job

import (
	"os"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/job/proc"
)

// MarkName is the variable that every process of a job has in its environment.
const MarkName = "TOOLHOST_JOB"

// HookMarkName is the variable in the environment of every process of a hook. Hooks run with the user's rights and
// are not jobs.
const HookMarkName = "TOOLHOST_HOOK"

// mark identifies the owner of a process: the session, the job, and the host process that started it.
//
//	TOOLHOST_JOB=ses_01J…/j7/4711.8812345
type mark struct {
	session agenttool.SessionID
	job     string
	host    int    // its pid
	born    uint64 // start time of that process, see [proc.Process]
}

func (m mark) String() string {
	return string(m.session) + "/" + m.job + "/" + strconv.Itoa(m.host) + "." + strconv.FormatUint(m.born, 10)
}

// parseMark parses the output of String. A process may have any text there.
func parseMark(s string) (m mark, ok bool) {
	session, rest, _ := strings.Cut(s, "/")
	job, rest, _ := strings.Cut(rest, "/")
	pid, born, _ := strings.Cut(rest, ".")
	host, err := strconv.Atoi(pid)
	if err != nil || host <= 0 {
		return m, false
	}
	start, err := strconv.ParseUint(born, 10, 64)
	m = mark{agenttool.SessionID(session), job, host, start}
	return m, err == nil && m.String() == s && session != "" && job != ""
}

// ownMark returns the mark of a job of this process.
func ownMark(session agenttool.SessionID, job string) mark {
	self, _ := proc.Read(os.Getpid())
	return mark{session, job, os.Getpid(), self.Born}
}

// orphaned reports whether the host that started the process has ended.
func (m mark) orphaned() bool {
	host, ok := proc.Read(m.host)
	return !ok || host.Born != m.born
}
