package classify_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/classify"
)

// TestKernel runs every command of the corpora that would run unasked, and shows that it changes nothing.
//
// These are exactly the commands that may have been misjudged, so each runs behind walls: an empty root of its own with
// the system read-only in it, own pid, ipc, uts and network namespaces, an unprivileged user without capabilities,
// limits on processes, files, memory and time. What such a user could write (home, repository, /tmp) is an overlay, so
// that a write is seen even where the command hides it; beyond it writes are refused, which is seen on stderr. Before
// the first command, others that try to get out must fail, and others that write must be seen.
//
// Each command runs twice: in a usual repository, and in one whose files are named like options and whose
// configuration runs programs. Three things are settled in both, because the programs write without them, which a
// sandbox refuses and which they go on without: go counts no uses and switches to no other toolchain, and git diff does
// not refresh the index.
func TestKernel(t *testing.T) {
	if role := os.Getenv(kernelRole); role != "" {
		playKernelRole(t, role)
		return
	}
	start := time.Now()
	commands, skipped := kernelCommands(t)
	host := startKernelHost(t)
	outside := watchOutside(t, host.plan.Outside)
	outside.sentinels(t, host)
	kernelAudit(t, host)
	kernelWalls(t, host)
	if t.Failed() {
		t.Fatal("a wall does not hold or a write is not seen: no command was run")
	}
	results := host.run(t, kernelBatch(commands))
	outside.unharmed(t)
	missing := judgeKernelRuns(t, results)
	t.Logf("%d commands in two repositories, %d not run as skipped.tsv says, %d with a missing program, in %v",
		len(commands), skipped, len(missing), time.Since(start).Round(time.Millisecond))
	for _, m := range missing {
		t.Log("missing: " + m)
	}
	if all := len(commands) + skipped; 100*(len(missing)+skipped) > 15*all {
		t.Errorf("%d of %d commands did not run: install what is missing", len(missing)+skipped, all)
	}
}

// kernelCommands returns what the corpora hold of commands that would run unasked, and how many of them skipped.tsv
// takes out.
func kernelCommands(t *testing.T) (commands []kernelCommand, skipped int) {
	skip := map[string]bool{}
	for _, row := range kernelRows(t, "skipped.tsv") {
		if len(row) < 4 || row[3] == "" {
			t.Fatalf("skipped.tsv: %q has no reason", row[0])
		}
		skip[row[0]] = true
	}
	seen := map[string]bool{}
	for _, row := range append(kernelRows(t, "shell-readonly.tsv"), kernelRows(t, "own.tsv")...) {
		text := row[0]
		facts := classify.Command(text, classify.Context{Dir: kernelDir, Home: kernelHome})
		if seen[text] || facts.ReadOnly != agenttool.Yes || facts.OpenWorld != agenttool.No {
			continue
		}
		seen[text] = true
		if skip[text] {
			delete(skip, text)
			skipped++
			continue
		}
		c := kernelCommand{Text: text, Repository: kernelUsual, Limit: kernelTime}
		if facts.LongRunning != agenttool.No {
			c.Limit = kernelBrief
		}
		commands = append(commands, c)
	}
	for text := range skip {
		t.Errorf("skipped.tsv: %q would not run anyway", text)
	}
	return commands, skipped
}

// kernelRows returns the rows of a corpus: command, verdict, category, remark (in skipped.tsv, the reason). The command
// is unescaped. A corpus that is not there has none.
func kernelRows(t *testing.T, name string) [][]string {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "classify", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	escapes := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r")
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			continue
		}
		row := strings.Split(line, "\t")
		row[0] = escapes.Replace(row[0])
		rows = append(rows, row)
	}
	return rows
}

func kernelBatch(commands []kernelCommand) []kernelCommand {
	var batch []kernelCommand
	for _, c := range commands {
		batch = append(batch, c)
		c.Repository = kernelHostile
		batch = append(batch, c)
	}
	return batch
}

// outside is what a command would reach if a wall were missing. All of it belongs to the test.
type outside struct {
	dir      string
	child    *exec.Cmd
	listener net.Listener
	accepted chan struct{}
}

func watchOutside(t *testing.T, dir string) *outside {
	o := &outside{dir: dir, child: exec.Command("sleep", "300"), accepted: make(chan struct{}, 100)}
	if err := o.child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.child.Process.Kill(); o.child.Wait() })
	var err error
	if o.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := o.listener.Accept()
			if err != nil {
				return
			}
			c.Close()
			o.accepted <- struct{}{}
		}
	}()
	t.Cleanup(func() { o.listener.Close(); <-done })
	return o
}

// sentinels shows that what can be done from here to what belongs to the test cannot be done by a command.
func (o *outside) sentinels(t *testing.T, host *kernelHost) {
	port := o.listener.Addr().(*net.TCPAddr).Port
	sentinels := []struct {
		name, possible, walled string
		want                   *regexp.Regexp
	}{
		{"touch", "touch " + o.dir + "/possible", "touch " + o.dir + "/walled", regexp.MustCompile("Read-only file system")},
		{"signal", fmt.Sprintf("kill -0 %d", o.child.Process.Pid), fmt.Sprintf("kill -TERM %d", o.child.Process.Pid),
			regexp.MustCompile("No such process")},
		{"connect", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port), fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port),
			regexp.MustCompile("Network is unreachable|Connection refused")},
	}
	for _, s := range sentinels {
		if out, err := exec.Command("bash", "--noprofile", "--norc", "-c", "--", s.possible).CombinedOutput(); err != nil {
			t.Fatalf("%s: %q fails without walls: %v: %s", s.name, s.possible, err, out)
		}
		if s.name == "connect" {
			<-o.accepted
		}
		r := host.runOne(t, s.walled)
		if r.Exit == 0 || r.TimedOut || !s.want.MatchString(r.Stderr) {
			t.Fatalf("%s: %q must fail with %q: %+v", s.name, s.walled, s.want, r)
		}
	}
	o.unharmed(t)
}

// unharmed fails the test if anything outside was reached.
func (o *outside) unharmed(t *testing.T) {
	entries, err := os.ReadDir(o.dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "possible" {
		t.Fatalf("a command wrote outside: %v, %v", entries, err)
	}
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(o.child.Process.Pid, &status, syscall.WNOHANG, nil); pid != 0 || err != nil {
		t.Fatalf("a command ended a process outside: %v, %v", status, err)
	}
	select {
	case <-o.accepted:
		t.Fatal("a command connected to a listener outside")
	default:
	}
}

// kernelAudit shows that what writes is seen, also where it hides its errors.
func kernelAudit(t *testing.T, host *kernelHost) {
	tests := []struct{ name, text, changed, refused string }{
		{name: "create", text: "touch new", changed: "home/dev/work/new"},
		{name: "remove", text: "rm f", changed: "home/dev/work/f"},
		{name: "open", text: "cat <>f >&2", changed: "home/dev/work/f"},
		{name: "mode", text: "chmod 600 f", changed: "home/dev/work/f"},
		{name: "home", text: "echo x >>~/.gitconfig", changed: "home/dev/.gitconfig"},
		{name: "temporary", text: "mktemp >/dev/null 2>&1 && rmdir sub/empty", changed: "tmp"},
		{name: "repository", text: "git branch new", changed: "home/dev/work/.git/refs/heads/new"},
		{name: "background", text: "(sleep 0.1; touch late) & wait", changed: "home/dev/work/late"},
		{name: "system", text: "touch /usr/bin/new", refused: "touch: cannot touch '/usr/bin/new': Read-only file system"},
		{name: "system file", text: "echo >>/etc/passwd", refused: "/etc/passwd: Permission denied"},
		{name: "privilege", text: "mknod device b 8 0", refused: "Operation not permitted"},
	}
	for _, test := range tests {
		r := host.runOne(t, test.text)
		offence := r.offence()
		if offence == "" || !strings.Contains(offence, test.changed) || !strings.Contains(offence, test.refused) {
			t.Errorf("%s: %q was not seen: %+v", test.name, test.text, r)
		}
	}
}

// kernelWalls shows what a command is given, as it sees it itself.
func kernelWalls(t *testing.T, host *kernelHost) {
	tests := []struct{ name, text, want string }{
		{"user", "id -u; id -g", "65534\n65534\n"},
		{"capabilities", `grep -cE '^(Cap(Prm|Eff|Bnd|Amb):.0{16}|NoNewPrivs:.1)$' /proc/self/status`, "5\n"},
		{"limits", "ulimit -u; ulimit -f; ulimit -t; ulimit -n; ulimit -c", "64\n1024\n2\n256\n0\n"},
		{"alone", "echo /proc/[0-9]*", "/proc/1\n"},
		{"no network", "tail -n +3 /proc/net/dev | grep -cv lo:", "0\n"},
		{"mounts",
			"while read -r _ _ _ _ at how _; do [[ $at = / || $how = ro* ]] || echo $at; done </proc/self/mountinfo", ""},
		{"devices", "cd /dev && echo *", "fd full null random shm stderr stdin stdout urandom zero\n"},
		{"descriptors", "echo /proc/self/fd/*", "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"},
		{"environment", "compgen -e | tr '\\n' ' '",
			"GIT_OPTIONAL_LOCKS GOMAXPROCS GOTOOLCHAIN HOME LC_ALL PAGER PATH PWD SHLVL TERM USER "},
		{"repository", "git status --short -uno; git log --oneline | wc -l; git stash list | wc -l",
			" M README.md\nM  b\n5\n1\n"},
	}
	for _, test := range tests {
		r := host.runOne(t, test.text)
		if r.Stdout != test.want {
			t.Errorf("%s: %q: want %q, got %+v", test.name, test.text, test.want, r)
		}
	}
	r := host.run(t, []kernelCommand{{"sleep 60", kernelUsual, 200 * time.Millisecond}})[0]
	if !r.TimedOut {
		t.Errorf("a command outlives its limit: %+v", r)
	}
}

var (
	kernelRefusal = regexp.MustCompile(`(?im)^.*(read-only file system|operation not permitted|\b(EROFS|EPERM)\b).*$`)
	kernelDenial  = regexp.MustCompile(`(?im)^.*?(/[^'"’:\s]*).*(permission denied|\bEACCES\b).*$`)
	kernelMissing = regexp.MustCompile(`(?m)(\S+): (command not found|No such file or directory)$`)
)

// offence returns what a command changed or tried to change, empty if nothing.
func (r kernelResult) offence() string {
	refused := kernelRefusal.FindAllString(r.Stderr, -1)
	for _, denial := range kernelDenial.FindAllStringSubmatch(r.Stderr, -1) {
		// What anybody may read was denied for another reason.
		if info, err := os.Stat(denial[1]); err == nil && info.Mode()&0o4 != 0 {
			refused = append(refused, denial[0])
		}
	}
	if len(r.Changed)+len(refused) == 0 {
		return ""
	}
	changed := slices.Clone(r.Changed)
	for i := len(changed) - 2; i >= 0; i-- { // a directory stands before what is in it
		if strings.HasPrefix(changed[i+1], changed[i]+"/") {
			changed = slices.Delete(changed, i, i+1)
		}
	}
	return fmt.Sprintf("changed %q, refused %q", changed, refused)
}

// judgeKernelRuns reports every command that changed something, and returns those whose program is not installed.
func judgeKernelRuns(t *testing.T, results []kernelResult) (missing []string) {
	for _, r := range results {
		if offence := r.offence(); offence != "" {
			t.Errorf("%q is called read-only and in the %s repository %s", r.Command.Text, r.Command.Repository, offence)
		}
		found := kernelMissing.FindStringSubmatch(r.Stderr)
		if found == nil || r.Command.Repository == kernelHostile {
			continue
		}
		if r.Exit == 126 || r.Exit == 127 || found[2] == "command not found" {
			missing = append(missing, fmt.Sprintf("%s, for %q", found[1], r.Command.Text))
		}
	}
	slices.Sort(missing)
	return missing
}
