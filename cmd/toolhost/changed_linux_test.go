package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// fileChanges are the changed files in a record of a call.
type fileChanges []struct{ Path, Change, From string }

// in describes the changes, with names from a directory on.
func (c fileChanges) in(dir string) string {
	if c == nil {
		return "nothing saw them"
	}
	var lines []string
	for _, f := range c {
		lines = append(lines, strings.TrimSpace(f.Change+" "+strings.TrimPrefix(f.Path, dir+"/")+" "+strings.TrimPrefix(f.From, dir+"/")))
	}
	return strings.Join(lines, "\n")
}

// changer makes, writes, renames and removes files by programs, so that its words name none of them, and leaves no trace of others.
const changer = `set -e
printf x > made
echo more >> kept
echo '#' | tee replaced.tmp >/dev/null; mv replaced.tmp replaced
mv old new
rm gone
mkdir dir; printf y > dir/in; mv dir moved
printf t > passing; rm passing
cat kept > /dev/null; date > /tmp/of-the-sandbox
read line < kept
echo no > .git/hooks/pre-commit || true
`

// TestFilesOfCommands: the record of a command has the files that it changed, whatever its words say, and no others; the last record of a
// job has all that it changed while it ran.
func TestFilesOfCommands(t *testing.T) {
	t.Parallel()
	r := probedDesk(t)
	var attempts []*escapeAttempt
	for _, who := range accounts(t) {
		attempts = append(attempts, r.approvalsArena(t, who, sandbox.Full))
	}
	if slices.Contains(r.levels(t, self), sandbox.LandlockNotify) {
		attempts = append(attempts, r.approvalsArena(t, self, sandbox.LandlockNotify))
	}
	for _, a := range attempts {
		t.Run(a.who.name+" at "+string(a.level), func(t *testing.T) {
			a.t = t
			h := a.serving(false, "--allow", "Shell(bash *)").confinedBy()
			for _, name := range []string{"ws/kept", "ws/replaced", "ws/old", "ws/gone"} {
				a.write(name, "text\n")
			}
			a.write("ws/step.sh", changer)
			a.write("ws/passing.sh", "cat kept > passing; rm passing\n")
			a.write("ws/later.sh", "echo 1 > first\nuntil [ -e go ]; do sleep .01; done\nmv first second\n")
			r := h.shell("bash step.sh").result()
			none := h.shell("bash passing.sh").result()
			m := h.make("shell", fields{"command": "bash later.sh", "run_in_background": true})
			m.result()
			eventually(t, "the job has made its file", func() bool { return exists(a, "ws/first") })
			a.write("ws/go", "")
			found, last := map[string]fileChanges{}, fileChanges(nil)
			eventually(t, "the job's end is recorded", func() bool {
				for _, rec := range h.records() {
					if id := rec.Data.Result.Call; id != "" {
						found[id] = rec.Data.Result.Content.Changed
					}
					if rec.Data.Progress.Status == "completed" {
						last = rec.Data.Progress.Changed
					}
				}
				return last != nil
			})
			ws := a.path("ws")
			want := "written kept\ncreated made\ncreated moved\ncreated moved/in\nrenamed new old\nwritten replaced\nremoved gone"
			if got := found[r.Invocation.InvocationID].in(ws); !sameLines(got, want) {
				t.Errorf("the command changed\n%s\nwant\n%s\n%s", got, want, r.says())
			}
			if got := found[none.Invocation.InvocationID].in(ws); got != "" {
				t.Errorf("a command that changes nothing of the host changed\n%s", got)
			}
			if got := last.in(ws); got != "created second" {
				t.Errorf("the job changed\n%s", got)
			}
			said, _ := a.said(a.command(a.toolhost, "log", "show", h.met.Session, "--changed"))
			if want := "new (renamed from old)"; !strings.Contains(said, want) || strings.Contains(said, "may have changed") {
				t.Errorf("log show --changed does not say %q, or says more:\n%s", want, said)
			}
			said, _ = a.said(a.command(a.toolhost, "log", "show", h.met.Session, "--call", m.id))
			if want := fmt.Sprintf("created     %s/second", ws); !strings.Contains(said, want) {
				t.Errorf("log show --call does not say %q:\n%s", want, said)
			}
		})
	}
}

// sameLines reports whether two texts have the same lines.
func sameLines(a, b string) bool {
	lines := map[string]int{}
	for line := range strings.Lines(a + "\n") {
		lines[strings.TrimSpace(line)]++
	}
	for line := range strings.Lines(b + "\n") {
		lines[strings.TrimSpace(line)]--
	}
	for _, n := range lines {
		if n != 0 {
			return false
		}
	}
	return true
}
