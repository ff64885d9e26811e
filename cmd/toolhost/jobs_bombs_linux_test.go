package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
)

// bomb is bounded in number and time: chains of processes that each start the next, in a session of its own, and end; and some that sleep without
// parents. All ignore what they may. Its first argument is a mark, and the second a file that it makes.
const bomb = `
use POSIX; my $end = time + 30; $SIG{$_} = 'IGNORE' for qw(TERM HUP INT);
for (1 .. 5) { my $pid = fork; if (defined $pid && !$pid) {
	while (time < $end) { my $next = fork; exit if $next; setsid if defined $next } exit } }
for (1 .. 10) { my $pid = fork; if (defined $pid && !$pid) { setsid; my $inner = fork; exit if $inner; sleep 30; exit } }
open my $f, '>', $ARGV[1]; close $f; sleep 30;
`

// TestBombsEndWithTheirCalls: shell_kill, the deadline of a call and a cancel leave nothing of a job that forks for its life, and touch no other
// job. The long form has 200 rounds of each.
func TestBombsEndWithTheirCalls(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip(err)
	}
	r := jobTools(t)
	rounds := 2
	if long() {
		rounds = 200
	}
	for _, who := range accounts(t) {
		for _, level := range r.levels(t, who) {
			if level != sandbox.Full {
				continue // TestEscapes has those that do not want to end there
			}
			t.Run(who.name, func(t *testing.T) {
				a := r.jobArena(t, who, level)
				h := a.jobHost()
				a.write("ws/bomb.pl", bomb)
				other := newMark(t)
				h.background("setsid sleep " + other + " & wait")
				h.until("the other job sleeps", func() bool { return sleeping(other) })
				for i := range rounds {
					mark, lit := newMark(t), fmt.Sprint("lit", i)
					line := "perl bomb.pl " + mark + " "
					isLit := func(name string) func() bool {
						return func() bool { _, err := os.Stat(filepath.Join(a.ws, name)); return err == nil }
					}
					job := h.background(line + lit + "kill").Job
					h.until("the bomb is lit", isLit(lit+"kill"))
					h.call("shell_kill", fields{"job": job, "grace_ms": 50})
					gone(t, "killed", mark)

					call := h.start("shell", fields{"command": line + lit + "cancel"})
					h.until("the bomb is lit", isLit(lit+"cancel"))
					h.request("agenttool/cancel", fields{"id": call.id}, &struct{}{})
					call.result()
					gone(t, "canceled", mark)

					call = h.start("shell", fields{"command": line + lit + "late"}, fields{"timeout_ms": 2000})
					if got := call.result(); got.Result.Status != "timed_out" {
						t.Errorf("past its deadline: %s", got.Result.Status)
					}
					gone(t, "past its deadline", mark)
					if !sleeping(other) {
						t.Fatalf("round %d ended another job", i)
					}
				}
			})
		}
	}
}

// TestBombIsToldOf: the answer to a command that leaves processes behind, which outgrow what the session may have, says that they were ended and why,
// and so does the job. The processes are bounded in number and time, and become too many when the command has ended.
func TestBombIsToldOf(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip(err)
	}
	d := newDoor(t, frontHome(t), "--mode", "sandboxed", "--allow", "Shell", "--job-limit", "processes=150")
	bomb := `$SIG{CHLD} = "IGNORE"; my $shell = getppid;
sub many { for (1 .. $_[0]) { my $pid = fork; if (defined $pid && !$pid) { sleep 120; exit } } }
many(100); open my $f, ">", "many"; close $f; select undef, undef, undef, .01 while getppid == $shell; many(300); sleep 120`
	if err := os.WriteFile(filepath.Join(d.ws, "bomb.pl"), []byte(bomb), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start()
	c := listenTo(d)
	said := func(id, tool, input string) string {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/invoke","params":{"id":%[1]q,"tool":%q,"input":%s}}`, id, tool, input))
		return c.nativeAnswer(strconv.Quote(id)).text
	}
	const why = "all commands together may have 150"
	if got := said("bomb", "shell", `{"command":"perl bomb.pl & until [ -e many ]; do :; done"}`); !strings.Contains(got, `"status":"failed"`) ||
		!strings.Contains(got, "ended what it left running") || !strings.Contains(got, why) {
		t.Errorf("the answer: %s", got[max(0, strings.Index(got, `"result":{"schema`)):])
	}
	if got := said("read", "shell_output", `{"job":"j1","wait_ms":60000,"until":"exit"}`); !strings.Contains(got, why) {
		t.Errorf("the job: %s", cut.Characters(got, 2000))
	}
	if got := said("after", "shell", `{"command":"echo after"}`); !strings.Contains(got, `"status":"succeeded"`) {
		t.Errorf("then: %s", cut.Characters(got, 600))
	}
}
