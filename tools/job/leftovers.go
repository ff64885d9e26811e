package job

import (
	"toolhost/agenttool"
	"toolhost/tools/job/proc"
)

// reapLeftovers ends the jobs of hosts that are gone, and what their hooks left in the background. Their supervisors have done it
// already, except for those that were ended themselves. Who is ended is looked at three times: its mark must name a host process that is no more, that host's session
// must be one of ours that nobody holds, and the process must still be the same when the signal is sent.
func (js *Jobs) reapLeftovers() {
	if js.o.Abandoned == nil {
		return
	}
	abandoned := map[agenttool.SessionID]bool{}
	ours := func(value string) bool {
		m, ok := parseMark(value)
		if !ok || !m.orphaned() {
			return false
		}
		known, asked := abandoned[m.session]
		if !asked {
			known = js.o.Abandoned(m.session)
			abandoned[m.session] = known
		}
		return known
	}
	for _, name := range []string{MarkName, HookMarkName} {
		endAll(func() []proc.Process { return proc.Marked(name, ours) })
	}
}
