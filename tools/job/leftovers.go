package job

import (
	"toolhost/agenttool"
	"toolhost/tools/job/proc"
)

// reapLeftovers ends the jobs of ended hosts, and the background processes of their hooks. Usually the supervisors
// have done that already, unless they were killed too. A process is ended only if three conditions hold: its mark
// names a host process that has ended; that host's session belongs to this user's toolhost and no process holds it;
// and the process is still the same when the signal is sent.
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
