package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

// trySetup makes the sandbox impossible. The command must not run then, and the words must say why.
func trySetup(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		if long() || !who.root() { // they are refused before it matters who asks
			t.Run(who.name+" requests", func(t *testing.T) { t.Parallel(); badRequests(r.attempt(t, who, sandbox.Full)) })
		}
		t.Run(who.name+" calls", func(t *testing.T) { t.Parallel(); missingCalls(r.attempt(t, who, sandbox.Full)) })
		t.Run(who.name+" descriptors", func(t *testing.T) { t.Parallel(); fewDescriptors(r.attempt(t, who, sandbox.Full)) })
		t.Run(who.name+" disk", func(t *testing.T) { t.Parallel(); noDisk(r.attempt(t, who, sandbox.Full)) })
		for _, level := range watched {
			t.Run(who.name+" processes "+string(level), func(t *testing.T) { fewProcesses(r.attempt(t, who, level)) }) // one at a time: they count each other's
		}
		t.Run(who.name+" levels", func(t *testing.T) { t.Parallel(); lowLevels(r.attempt(t, who, sandbox.Full)) })
	}
}

// badRequests are refused before anything runs, and with words that name what is wrong. Code -1 is any but 0.
func badRequests(a *escapeAttempt) {
	a.write("ws/plain", "no program\n")
	a.host("mkdir -p gone; chmod 644 plain")
	for _, c := range []struct {
		name string
		args string
		code int
		says string
	}{
		{"missing program", "-- no-such-program-here x", 127, "not found"},
		{"missing program by its path", "-- ./none", 127, "not found"},
		{"program that is none", "-- ./plain", 126, "cannot be executed"},
		{"directory as program", "-- ./tree", 127, ""},
		{"missing workspace", "--workspace /no-such-name-of-toolhost/ws -- touch MARK", 125, "/no-such-name-of-toolhost"},
		{"relative missing workspace", "--workspace nowhere -- touch MARK", 125, "nowhere"},
		{"file as workspace", "--workspace file -- touch MARK", 125, "file"},
		{"missing further root", "--rw /no-such-name-of-toolhost -- touch MARK", 125, "/no-such-name-of-toolhost"},
		{"relative further root", "--rw ../../../../../../../../../../no-such-name-of-toolhost -- touch MARK", 125, "/no-such-name-of-toolhost"},
		{"profile that is none", "--profile nonsense -- touch MARK", 125, "nonsense"},
		{"empty profile", "--profile= -- touch MARK", 125, "profile"},
		{"unconfined", "--profile unconfined -- touch MARK", 125, "unconfined"},
		{"reading and writing", "--profile read_only --rw tree -- touch MARK", 125, "read_only"},
		{"reading and reaching", "--profile read_only --allow-host example.com -- touch MARK", 125, "read_only"},
		{"host that is none", "--allow-host a..b -- touch MARK", 125, "a..b"},
		{"empty host", "--allow-host= -- touch MARK", 125, "host"},
		{"level that is none", "--level nonsense -- touch MARK", -1, "nonsense"},
		{"no level", "--level none -- touch MARK", -1, "none"},
		{"no command", "", -1, ""},
		{"flag that is none", "--nonsense -- touch MARK", -1, "nonsense"},
		{"the command's own code", "-- bash -c", 2, ""},
	} {
		args := append([]string{"sandbox"}, strings.Fields(strings.ReplaceAll(c.args, "MARK", a.path("ws/mark")))...)
		said, code := a.said(a.confined(args...))
		if exists(a, "ws/mark") || code == 0 || c.code > 0 && code != c.code || !strings.Contains(said, c.says) {
			a.t.Errorf("%s: exit %d, want %d with %q; ran: %v\n%s", c.name, code, c.code, c.says, exists(a, "ws/mark"), said)
		}
		_ = os.Remove(a.path("ws/mark"))
	}
	for want, script := range map[int]string{0: "true", 3: "exit 3", 137: "kill -9 $$", 143: "kill $$", 1: "false", 127: "none-such"} {
		if said, code := a.said(a.boxed(sandbox.Workspace, script, "--quiet")); code != want {
			a.t.Errorf("%s: exit %d, want %d\n%s", script, code, want, said)
		}
	}
}

// heldOrNothing runs an attempt that shows by itself whether the sandbox is whole, and fails if it ran in less.
func heldOrNothing(a *escapeAttempt, name string, under []string, level string) (said string, code int) {
	a.t.Helper()
	_ = os.Remove(a.path("ws/mark"))
	a.under = under
	before := a.look()
	said, code = a.said(a.confined("sandbox", "--workspace", a.ws, "--level", level, "--", "/bin/bash", "-c",
		a.prelude()+`cat .env $H/.ssh/id_test; echo x > $OUT/file; echo evil > .envrc; touch mark`))
	a.under = nil
	if harm := changes(before, a.look(), "ws/mark ws/.envrc.quarantined*"); len(harm) > 0 {
		a.t.Errorf("%s: exit %d: %s\n%s", name, code, strings.Join(harm, "\n"), said)
	}
	ran := exists(a, "ws/mark")
	if level == "full" && strings.Contains(said, a.canary) || ran != (code == 0) || code == 0 && strings.Contains(said, "ESCAPED") {
		a.t.Errorf("%s: exit %d, ran: %v\n%s", name, code, ran, said)
	}
	return said, code
}

// missingCalls takes one call after the other from toolhost itself.
func missingCalls(a *escapeAttempt) {
	a.stateAt(a.state + "-calls") // in that of others each would put the level anew, for a machine without a call
	for _, c := range []struct {
		name   string
		number int
		full   bool // it works without
	}{
		{"open_tree", unix.SYS_OPEN_TREE, false}, {"move_mount", unix.SYS_MOVE_MOUNT, false}, {"fsopen", unix.SYS_FSOPEN, false},
		{"fsconfig", unix.SYS_FSCONFIG, false}, {"fsmount", unix.SYS_FSMOUNT, false}, {"mount_setattr", unix.SYS_MOUNT_SETATTR, false},
		{"mount", unix.SYS_MOUNT, false}, {"seccomp", unix.SYS_SECCOMP, false}, {"capset", unix.SYS_CAPSET, false},
		{"fchdir", unix.SYS_FCHDIR, false},
		{"landlock_restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, false}, {"landlock_add_rule", unix.SYS_LANDLOCK_ADD_RULE, false},
		{"openat2", unix.SYS_OPENAT2, false}, {"memfd_create", unix.SYS_MEMFD_CREATE, false}, {"setsid", unix.SYS_SETSID, false},
		{"close_range", unix.SYS_CLOSE_RANGE, true}, {"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, true},
		{"socketpair", unix.SYS_SOCKETPAIR, false},
	} {
		under := []string{a.probe, "without", strconv.Itoa(c.number)}
		levels := []string{"full", "landlock"}
		if !long() && a.who.root() {
			levels = levels[:1]
		} else if !long() && os.Getuid() == 0 {
			levels = levels[1:]
		}
		for _, level := range levels {
			said, code := heldOrNothing(a, c.name+" "+level, under, level)
			if code == 0 && level == "full" && !c.full {
				a.t.Logf("%s: full without it\n%s", c.name, said)
			}
		}
	}
}

// fewDescriptors runs out of them at every step.
func fewDescriptors(a *escapeAttempt) {
	a.stateAt(a.state + "-few")
	for _, known := range []bool{false, true} { // whether the level was found before
		if !long() && os.Getuid() == 0 && known == a.who.root() { // root finds it, in the ordinary form, and the user knows it
			continue
		}
		for _, n := range []int{3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 28, 32} {
			if !known {
				_ = os.Remove(a.state + "/toolhost/sandbox-level.json")
			}
			heldOrNothing(a, fmt.Sprintf("%d descriptors", n), []string{"/bin/bash", "-c", fmt.Sprintf(`ulimit -n %d
			exec "$@"`, n), "bash"}, "full")
		}
		if said, code := heldOrNothing(a, "again enough", nil, "full"); code != 0 {
			a.t.Errorf("a shortage that is over is remembered: exit %d\n%s", code, said)
		}
	}
}

// noDisk has no room for what a session keeps.
func noDisk(a *escapeAttempt) {
	for _, limit := range []string{"ulimit -f 0", "ulimit -u 1", "ulimit -v 100000"} {
		if limit == "ulimit -u 1" && a.who.root() {
			continue // it does not bind root
		}
		heldOrNothing(a, limit, []string{"/bin/bash", "-c", limit + `; exec "$@"`, "bash"}, "full")
	}
	for _, options := range []string{"size=4k,nr_inodes=2", "size=4k,nr_inodes=6", "size=4k,nr_inodes=12",
		"size=0,nr_inodes=100", "ro"} {
		mount := fmt.Sprintf(`mount -t tmpfs -o %s none "$XDG_STATE_HOME" || exit 99; exec "$@"`, options)
		_, code := heldOrNothing(a, "a state of "+options, []string{"unshare", "-Urm", "/bin/bash", "-c", mount, "bash"}, "full")
		if code == 99 {
			a.t.Skip("no user namespaces, or no mounts in them")
		}
	}
}

// lowLevels asks for more than the machine holds, and for what it holds.
func lowLevels(a *escapeAttempt) {
	for _, c := range []struct{ lack, level, says string }{
		{"userns", "full", "full"}, {"userns,notify", "landlock+notify", "landlock"}, {"userns,landlock", "landlock",
			"none"}, {"userns,landlock", "full", "none"},
	} {
		said, code := heldOrNothing(a, c.lack+" for "+c.level, []string{a.probe, "without", c.lack}, c.level)
		if code != exitSetup || !strings.Contains(said, c.says) {
			a.t.Errorf("without %s, level %s: exit %d\n%s", c.lack, c.level, code, said)
		}
	}
	for lack, word := range map[string]string{"userns": "landlock+notify", "userns,notify": "sandbox: landlock",
		"userns,landlock": "sandbox: none", "landlock": "landlock"} {
		a.under = []string{a.probe, "without", lack}
		said, _ := a.said(a.confined("doctor"))
		a.under = nil
		if !strings.Contains(said,
			word) || lack == "landlock" && !strings.Contains(strings.ReplaceAll(strings.ToLower(said),
			"sandbox: full", ""), "landlock") {
			a.t.Errorf("without %s, doctor says\n%s", lack, said)
		}
	}
	call, code := a.said(a.command(a.probe, "without", "userns,landlock", a.toolhost, "call", "shell",
		`{"command":"touch mark"}`, "--workspace", a.ws, "--allow", "Shell"))
	if code == 0 || exists(a, "ws/mark") {
		a.t.Errorf("without a sandbox the shell tool ran:\n%s", call)
	}
}

// fewProcesses starts processes until the kernel refuses more, where the user may have few. The host needs some itself: it answers, and the next call runs.
func fewProcesses(a *escapeAttempt) {
	if a.who.root() {
		a.t.Skip("the kernel holds root to no limit")
	}
	a.who = account{name: "few", id: &syscall.Credential{Uid: escapeUser + 1, Gid: escapeUser + 1}} // whose processes no other test counts
	for _, path := range []string{a.dir, a.ws, a.home, a.run, a.path("ws/file")} {
		a.own(path)
	}
	a.stateAt(a.path("state"))
	a.under = []string{"bash", "-c", `ulimit -u 300; exec "$@"`, "bash"}
	bomb := `perl -e '$SIG{CHLD} = "IGNORE"; for (1 .. 800) { my $p = fork; if (!defined $p) { $refused++; select undef, undef, undef, .005 }
		elsif (!$p) { sleep 4; exit } } print "refused ", $refused > 0 ? "some" : "none", "\n"'; echo well`
	h := approvalsTalker{a.serving(false, "--allow", "Shell(bash bomb.sh)", "--allow", "Shell(echo *)").confinedBy()}
	a.write("ws/bomb.sh", bomb)
	bounded := func(said string) bool { // by the kernel, by the sandbox, or for the next call
		return slices.ContainsFunc([]string{"refused some", "ended by SIGKILL", "no more processes may be started"}, func(word string) bool { return strings.Contains(said, word) })
	}
	for range 3 {
		if said := h.says("bash bomb.sh"); !bounded(said) || strings.Contains(said, "sandbox was not made") {
			a.t.Fatalf("%s: %s", a.level, said)
		}
	}
	said := ""
	for limit := time.Now().Add(20 * time.Second); !strings.Contains(said, "after") && time.Now().Before(limit); {
		if said = h.says("echo after"); strings.Contains(said, "sandbox was not made") {
			a.t.Errorf("%s: a shortage is not called one: %s", a.level, said)
		}
	}
	if !strings.Contains(said, "after") {
		a.t.Errorf("%s: %s", a.level, said)
	}
}

// approvalsTalker makes calls of which only what they say matters.
type approvalsTalker struct{ *approvalsHost }

func (h approvalsTalker) says(command string) string {
	r := h.shell(command).result()
	return r.says() + r.view().Stdout
}
