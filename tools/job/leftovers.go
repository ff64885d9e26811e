package job

import (
	"toolhost/agenttool"
	"toolhost/tools/job/proc"
)

// reapLeftovers ends the jobs of hosts that are gone, and the background processes of their hooks. The supervisors have done that
// already, unless they were killed too. A process is ended only if three things hold: its mark names a host process that has ended,
// that host's session is one of ours and no process holds it, and the process is still the same when the signal is sent.
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
