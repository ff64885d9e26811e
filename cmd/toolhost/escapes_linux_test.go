package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// TestEscapes tries to get out of a sandbox in every way of testdata/escapes/rows.tsv, and in some of our own. What came of
// it is seen from the host: files, listeners, processes. An attempt is shown to do harm where there is no sandbox.
func TestEscapes(t *testing.T) {
	t.Parallel()
	if testing.Short() || underRace {
		t.Skip("the attempts are shown by the ordinary run: they are programs, with no race detector in them")
	}
	r := newRig(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *escapeTools)
	}{
		{"rows", checkRows}, {"attempts", tryAll}, {"terminal", tryTerminal}, {"network", tryNetwork}, {"proxy", tryProxy},
		{"processes", tryProcesses}, {"host-side", tryHostSide}, {"sessions", trySessions}, {"ghosts", tryGhosts},
		{"setup", trySetup}, {"race", tryRace}, {"volumes", tryVolumes}, {"hundred sessions", tryHundred},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t, r)
		})
	}
}

// attempt is one way out.
type attempt struct {
	name     string
	row      string                 // how its row begins; "" for one of our own
	at       []sandbox.Level        // where the wall stands; none: at full only
	readOnly bool                   // under profile read_only too, at the strongest level and the weakest
	shell    bool                   // through the shell tool too, at the strongest level
	needs    string                 // programs
	only     string                 // the account that it is for; "" for both
	set      func(a *escapeAttempt) // makes what is attacked
	stdin    string                 // a file of the attempt
	script   string
	changes  string // what may change: patterns of names in the attempt
	// harm says what else is harm, "" if nothing. A sandbox's own words are in said.
	harm  func(a *escapeAttempt, said string) string
	unfit string // why it is not tried without a sandbox

	finding string // what it found, while that is not mended
	spared  bool   // the ordinary form leaves out profile read_only and the shell tool: every other attempt has them
	turn    int    // whose turn it is of the confinements by profile read_only: the ordinary form has one of them
}

var (
	anywhere = []sandbox.Level{sandbox.Full, sandbox.LandlockNotify, sandbox.Landlock}
	watched  = []sandbox.Level{sandbox.Full, sandbox.LandlockNotify}
)

// allAttempts are those that are scripts.
func allAttempts() []attempt {
	return slices.Concat(fileAttempts, nameAttempts, argumentAttempts, keptAttempts, repositoryAttempts, secretAttempts, callAttempts,
		socketAttempts)
}

// elsewhere are the rows that take more than a script, and the tests that show them.
var elsewhere = map[string]string{
	"100 concurrent sandboxed commands":                    "TestHundredCommands, hundred sessions",
	"Bring .toolhost/settings.local.json":                  "TestSettingsOfArchives, TestSettingsLoosenedWhileACommandRuns",
	"Proxy checker":                                        "proxy",
	"Proxy: CONNECT":                                       "proxy",
	"Proxy: exfil":                                         "proxy: an allowed host is reached, which no sandbox can judge",
	"Host atomically re-writes a masked file":              "host-side",
	"Host creates .env after":                              "host-side",
	"Symlink swap race":                                    "race",
	"Symlink swap at sandbox SETUP":                        "race",
	"Ignore SIGTERM/SIGINT":                                "processes",
	"ptrace / read memory of a sibling":                    "processes",
	"ptrace attach / process_vm_writev":                    "processes",
	"Write to /dev/shm segment":                            "processes",
	"LD_PRELOAD / LD_AUDIT":                                "sessions",
	"Landlock absent or disabled":                          "setup",
	"Sandbox set-up failure":                               "setup",
	"List workspace inside sandbox":                        "ghosts",
	"SIGKILL the host":                                     "ghosts",
	"Loopback services of the host":                        "network",
	"TCP connect with network off":                         "network",
	"TCP through MSG_FASTOPEN":                             "network",
	"UDP, DNS, mDNS, QUIC":                                 "network",
	"bind+listen on loopback":                              "network",
	"TIOCSTI / TIOCLINUX":                                  "terminal",
	"Make decoys":                                          "TestDecoys, which needs a session",
	"Use up processes, memory, the scratch":                "TestBounds of package sandbox, with small bounds",
	"Write huge file":                                      "processes",
	"Protected path does not exist at start":               "attempts: names",
	"Shared /tmp":                                          "attempts: files",
	"stdin/stdout given as O_RDWR host file or tty":        "attempts: files",
	"Proxy: CONNECT permitted:443 then different SNI/Host": "proxy",
}

// checkRows finds a row that nothing shows.
func checkRows(t *testing.T, _ *escapeTools) {
	b, err := os.ReadFile("../../testdata/escapes/rows.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var begins []string
	for _, a := range allAttempts() {
		begins = append(begins, a.row)
	}
	for begin := range elsewhere {
		begins = append(begins, begin)
	}
	rows := strings.Split(strings.TrimSpace(string(b)), "\n")
	shows := func(row, begin string) bool { return begin != "" && strings.HasPrefix(row, begin) }
	for _, row := range rows {
		if !slices.ContainsFunc(begins, func(begin string) bool { return shows(row, begin) }) {
			t.Errorf("nothing shows: %s", row)
		}
	}
	for _, begin := range begins {
		if begin != "" && !slices.ContainsFunc(rows, func(row string) bool { return shows(row, begin) }) {
			t.Errorf("no row begins with %q", begin)
		}
	}
}

func tryAll(t *testing.T, r *escapeTools) {
	seen := map[string]bool{}
	for i, try := range allAttempts() {
		try.spared, try.turn = i%2 == 0, i/2
		if seen[try.name] {
			t.Errorf("two attempts are called %q", try.name)
		}
		seen[try.name] = true
		t.Run(try.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range strings.Fields(try.needs) {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed", program)
				}
			}
			known(t, try.finding)
			for _, who := range accounts(t) {
				if try.only == "" || try.only == who.name {
					try.as(t, r, who)
				}
			}
		})
	}
}

// as tries one attempt as one account: without a sandbox, through the shell tool, and at every level by every profile that is meant for it.
// Where two accounts try it, the ordinary form divides that between them, and tries the strongest level and one of the others by profile workspace.
func (try attempt) as(t *testing.T, r *escapeTools, who account) {
	ordinary := !long()
	half := ordinary && try.only == "" && os.Getuid() == 0
	if try.unfit == "" && !(half && who.root()) {
		t.Run(who.name+" alone", func(t *testing.T) {
			for tries := 1; ; tries++ { // a race that is lost by chance is run again
				a := r.attempt(t, who, sandbox.Full)
				a.harms = true
				said, harm := try.once(a, func() *exec.Cmd { return a.alone(try.script) })
				if len(harm) > 0 {
					return
				}
				if tries == 10 {
					t.Fatalf("does no harm even without a sandbox in %d tries, and so shows nothing:\n%s", tries, said)
				}
			}
		})
	}
	ways := try.ways(who)
	for _, w := range ways {
		if half && w.taken(ways, who) || ordinary && !try.hasTurn(w, ways) {
			continue
		}
		t.Run(who.name+" "+string(w.level)+" "+string(w.profile), func(t *testing.T) {
			a := r.attempt(t, who, w.level)
			try := try
			if w.profile == sandbox.ReadOnly { // nothing of its own may change either
				try.changes = strings.Join(slices.DeleteFunc(strings.Fields(try.changes), inWorkspace), " ")
			}
			try.inside(a, func() *exec.Cmd { return a.boxed(w.profile, try.script) })
		})
	}
	if try.shell && !(half && who.root() || ordinary && try.spared) {
		t.Run(who.name+" "+string(ways[0].level)+" shell", func(t *testing.T) {
			a := r.attempt(t, who, ways[0].level)
			try.inside(a, func() *exec.Cmd { return a.called(try.script) })
		})
	}
}

// confinement is a level and a profile.
type confinement struct {
	level   sandbox.Level
	profile sandbox.Access
}

// ways are the confinements that an attempt is tried in, the strongest first.
func (try attempt) ways(who account) (ways []confinement) {
	levels := try.at
	if levels == nil {
		levels = []sandbox.Level{sandbox.Full}
	}
	for i, level := range levels {
		ways = append(ways, confinement{level, sandbox.Workspace})
		if try.readOnly && (i == 0 || i == len(levels)-1 && who.name == "user") {
			ways = append(ways, confinement{level, sandbox.ReadOnly})
		}
	}
	return ways
}

// taken reports whether the other account tries this confinement. Root, whose privileges are the most to hold, writes at the strongest level
// and at the weakest; the user does the rest. What has one confinement only is tried by both.
func (w confinement) taken(ways []confinement, who account) bool {
	strongest, weakest := ways[0].level, ways[len(ways)-1].level
	roots := w.profile != sandbox.ReadOnly && (w.level == strongest || w.level == weakest)
	return len(ways) > 1 && roots != who.root()
}

// hasTurn reports whether the ordinary form tries this confinement: by profile workspace the strongest level and one of the others, and by profile
// read_only one of its levels.
func (try attempt) hasTurn(w confinement, ways []confinement) bool {
	if w == ways[0] {
		return true
	}
	all := slices.DeleteFunc(slices.Clone(ways[1:]), func(other confinement) bool { return w.profile != other.profile })
	return !(w.profile == sandbox.ReadOnly && try.spared) && w == all[try.turn%len(all)]
}

func inWorkspace(pattern string) bool { return strings.HasPrefix(pattern, "ws/") }

// inside tries it where it must do no harm.
func (try attempt) inside(a *escapeAttempt, command func() *exec.Cmd) {
	a.t.Helper()
	said, harm := try.once(a, command)
	if strings.Contains(said, "toolhost: the sandbox was not made") || strings.Contains(said, "this machine holds") {
		a.t.Fatalf("nothing ran:\n%s", said)
	}
	if len(harm) > 0 {
		a.t.Errorf("%s\n%s", strings.Join(harm, "\n"), said)
	}
}

// once makes the attempt and returns what harm it did.
func (try attempt) once(a *escapeAttempt, command func() *exec.Cmd) (said string, harm []string) {
	a.t.Helper()
	if try.set != nil {
		try.set(a)
	}
	cmd := command()
	if try.stdin != "" {
		f, err := os.Open(a.path(try.stdin))
		if err != nil {
			a.t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	}
	before := a.look()
	said, _ = a.said(cmd)
	harm = changes(before, a.look(), try.changes)
	for line := range strings.Lines(said) {
		if strings.Contains(line, "ESCAPED") || strings.Contains(line, a.canary) {
			harm = append(harm, "it said: "+strings.TrimSpace(line))
		}
	}
	if try.harm != nil {
		if text := try.harm(a, said); text != "" {
			harm = append(harm, text)
		}
	}
	return said, harm
}

// known skips what is known to fail, if anything, unless TOOLHOST_ESCAPES_FINDINGS asks for it.
func known(t testing.TB, finding string) {
	t.Helper()
	if finding != "" && os.Getenv("TOOLHOST_ESCAPES_FINDINGS") == "" {
		t.Skip("known: " + finding)
	}
}
