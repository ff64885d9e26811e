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

// HookMarkName is the variable that every process of a hook has: who runs a hook is the person, and no job.
const HookMarkName = "TOOLHOST_HOOK"

// HookMark is the entry of the environment of hooks of this process by which what they leave in the background is found.
func (js *Jobs) HookMark() string { return HookMarkName + "=" + ownMark(js.o.Owner, "hook").String() }

// mark says whose a process is: the session and the job, and the host process that started it.
//
//	TOOLHOST_JOB=ses_01J…/j7/4711.8812345
type mark struct {
	session agenttool.SessionID
	job     string
	host    int    // its pid
	born    uint64 // when that process started, see [proc.Process]
}

func (m mark) String() string {
	return string(m.session) + "/" + m.job + "/" + strconv.Itoa(m.host) + "." + strconv.FormatUint(m.born, 10)
}

// parseMark reads what String wrote. Whatever a process has there is what its maker chose.
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

// ownMark is the mark of a job of this process.
func ownMark(session agenttool.SessionID, job string) mark {
	self, _ := proc.Read(os.Getpid())
	return mark{session, job, os.Getpid(), self.Born}
}

// orphaned reports whether the host that started the process is gone.
func (m mark) orphaned() bool {
	host, ok := proc.Read(m.host)
	return !ok || host.Born != m.born
}
