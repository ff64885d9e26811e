package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
	"toolhost/testdata/support/wiretest"
)

// replacements are what a host does beneath a command, and what the command tries then.
var replacements = []struct{ name, host, secrets, sealed, script string }{
	{
		name: "a secret that is renamed over",
		host: `cp .env .n; mv .n .env; cp tree/.env.local n; mv n tree/.env.local
			cp $H/.ssh/id_test $H/.ssh/n; mv $H/.ssh/n $H/.ssh/id_test`,
		secrets: `.env tree/.env.local $H/.ssh/id_test`,
		script:  `cat .env tree/.env.local $H/.ssh/id_test; cp .env x; cat x`,
	},
	{
		name:    "a secret that is removed and made again",
		host:    `cp .env n; rm .env; cat n > .env; rm n`,
		secrets: `.env`,
		script:  `cat .env; $P mmap .env`,
	},
	{
		name:    "a secret whose directory is replaced",
		host:    `cp -r tree t; rm -r tree; mv t tree; cp -r $H/.ssh $H/s; rm -r $H/.ssh; mv $H/s $H/.ssh`,
		secrets: `tree/.env.local $H/.ssh/id_test`,
		script:  `cat tree/.env.local $H/.ssh/id_test`,
	},
	{
		name:   "a sealed file that is renamed over",
		host:   `cp .bashrc n; mv n .bashrc; cp .vscode/tasks.json n; mv n .vscode/tasks.json`,
		sealed: `.bashrc .vscode/tasks.json`,
		script: `chmod 777 .bashrc; touch -d 1999-01-01 .bashrc; echo evil >> .bashrc
			$P swap-name Xbashrc .bashrc 1000; rm -f Xbashrc
			echo evil > .vscode/tasks.json; chmod 777 .vscode/tasks.json`,
	},
	{
		name:   "a sealed directory that is replaced",
		host:   `cp -r .vscode v; rm -r .vscode; mv v .vscode`,
		sealed: `.vscode .vscode/tasks.json`,
		script: `chmod 777 .vscode .vscode/tasks.json; echo evil > .vscode/tasks.json; touch .vscode/new; mv .vscode x`,
	},
	{
		name:    "a secret in place of a file that the command made",
		host:    `cp .env n; mv n .env.own`,
		secrets: `.env.own`,
		script:  `cat .env.own`,
	},
	{
		name:    "a secret that is made later",
		host:    `cp .env tree/.env; cp .env .env.production`,
		secrets: `tree/.env .env.production`,
		script:  `cat tree/.env .env.production`,
	},
}

// tryHostSide replaces and makes files on the host while a command runs.
func tryHostSide(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, c := range replacements {
			t.Run(who.name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				replaceBeneath(r.attempt(t, who, sandbox.Full), c.host, untilCovered(c.secrets, c.sealed)+c.script)
			})
		}
	}
}

// untilCovered waits until nothing can be read of secrets, and what is sealed cannot be written. What is replaced is covered again within
// milliseconds, on a machine that has the time.
func untilCovered(secrets, sealed string) string {
	looks := 3000
	if timed() {
		looks = 1
	}
	return fmt.Sprintf("open() { for f in %s; do grep -qs CANARY $f && return; done; for f in %s; do [ -w $f ] && return; done; false; }\n"+
		"for i in {1..%d}; do open || break; sleep .02; done\n", secrets, sealed, looks)
}

// replaceBeneath runs a script after the host has replaced something beneath the command that runs it.
func replaceBeneath(a *escapeAttempt, host, script string) {
	a.write("ws/.bashrc", "# pristine\n")
	a.write("ws/.vscode/tasks.json", "pristine\n")
	cmd := a.boxed(sandbox.Workspace, ": > .env.own; echo up > up; while [ ! -e go ]; do sleep .02; done; "+script)
	done := make(chan string, 1)
	go func() { said, _ := a.said(cmd); done <- said }()
	waitFor(a.t, func() bool { return exists(a, "ws/up") })
	a.host(host)
	time.Sleep(500 * time.Millisecond)
	before := a.look()
	a.write("ws/go", "")
	said := <-done
	if harm := changes(before, a.look(), "ws/go ws/x ws/Xbashrc"); len(harm) > 0 || strings.Contains(said, a.canary) {
		a.t.Errorf("%s\n%s", strings.Join(harm, "\n"), said)
	}
}

// talking is a toolhost serve of an attempt.
type talking struct {
	*wiretest.Process
	a *escapeAttempt
}

func (a *escapeAttempt) serve(flags ...string) *talking {
	a.t.Helper()
	p, err := wiretest.Start(a.confined(append([]string{"serve", "--workspace", a.ws, "--sandbox", string(a.level)}, flags...)...), wiretest.Options{})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = p.End(limitOfOne()) })
	return &talking{p, a}
}

// call makes one call and returns its whole answer.
func (s *talking) call(id int, tool, input string) string {
	s.a.t.Helper()
	return s.answer(s.invoke(id, tool, input))
}

// invoke begins a call.
func (s *talking) invoke(id int, tool, input string) wiretest.Pending {
	return s.Send("agenttool/invoke", fields{"id": fmt.Sprint("c", id), "tool": tool, "input": json.RawMessage(input)})
}

func (s *talking) answer(p wiretest.Pending) string {
	s.a.t.Helper()
	m, err := p.Message(limitOfOne())
	if err != nil {
		s.a.t.Fatal(err)
	}
	return string(m.Line)
}

func (s *talking) shell(id int, script string) string {
	s.a.t.Helper()
	return s.call(id, "shell", `{"command":`+asJSON(script)+`}`)
}

// trySessions leaves things for later commands.
func trySessions(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, level := range watched {
			t.Run(who.name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				leaveBehind(r.attempt(t, who, level))
			})
		}
		t.Run(who.name+" file tools", func(t *testing.T) { t.Parallel(); askFileTools(r.attempt(t, who, sandbox.Full)) })
		t.Run(who.name+" file tools in the scratch", func(t *testing.T) { t.Parallel(); askScratch(r.attempt(t, who, sandbox.Full)) })
	}
}

// leaveBehind sets in one call what would make a later one run something.
func leaveBehind(a *escapeAttempt) {
	a.stateAt(a.path("state")) // where nothing is kept of the level
	a.host("git init -q")
	evil := a.path("ws/evil.sh")
	for _, name := range strings.Fields(`BASH_ENV ENV PYTHONSTARTUP GIT_EXTERNAL_DIFF GIT_PAGER PAGER
		GIT_SSH_COMMAND LESSOPEN PROMPT_COMMAND EDITOR GIT_CONFIG_GLOBAL`) {
		a.env = append(a.env, name+"="+evil) // the host's own are not passed on either
	}
	a.env = append(a.env, "LD_AUDIT=", "NODE_OPTIONS=--require "+evil, "PERL5OPT=-Mevil",
		"BASH_FUNC_ls%%=() { touch "+a.path("ws/ran")+"; }")
	s := a.serve("--allow", "Shell")
	a.write("ws/set.sh", `cat > evil.sh <<'X'
touch `+a.path("ws/ran")+`
X
chmod 755 evil.sh; for n in ls git cat env bash sh python3 true; do cp evil.sh $n; cp evil.sh tree/$n
			mkdir -p /tmp/bin; cp evil.sh /tmp/bin/$n; done
export LD_PRELOAD=$PWD/evil.so LD_AUDIT=$PWD/evil.so BASH_ENV=$PWD/evil.sh PYTHONSTARTUP=$PWD/evil.sh NODE_OPTIONS=x GIT_DIR=x PATH=$PWD:/tmp/bin:$PATH
ls() { touch ran; }; export -f ls; alias ls='touch ran'; umask 000; cd tree; ulimit -n 7
			echo 'touch ran' >> ~/.bashrc; git config --global alias.status '!touch ran'`)
	s.shell(1, ". ./set.sh")
	s.shell(2, "bash set.sh")
	for _, name := range []string{"ws/ran", "ws/tree/ran"} { // by its own doing, in its own sandbox
		_ = os.Remove(a.path(name))
	}
	said := s.shell(3,
		"ls; git status --short; env; pwd; umask; ulimit -n; cat file; python3 -c 1; bash -c true; sh -c true") + s.shell(4,
		"env") + s.shell(5, "ls")
	for _, bad := range []string{"evil.", "LD_PRELOAD", "BASH_ENV", "PYTHONSTARTUP", "NODE_OPTIONS", "GIT_DIR",
		"BASH_FUNC", "PERL5OPT", "0000\\n", a.ws + "/tree\\n"} {
		// The names of files are listed; what counts are variables.
		if strings.Contains(strings.ReplaceAll(said, "evil.sh\\n", ""), bad) && !strings.Contains(bad, "evil") {
			a.t.Errorf("%q is in\n%s", bad, said)
		}
	}
	if exists(a, "ws/ran") || exists(a, "ws/tree/ran") || strings.Contains(a.read("home/.bashrc"), "ran") {
		a.t.Errorf("something ran:\n%s", said)
	}
}

// askFileTools asks the tools that are no commands for what nobody reads or writes.
func askFileTools(a *escapeAttempt) {
	a.host("ln -s .env link; ln .env hard; ln -s ../home/.ssh keys; ln -s ../outside out")
	s := a.serve("--allow", "Read", "--allow", "Grep", "--allow", "Glob", "--allow", "Write(out/**)", "--mode", "default")
	before := a.look()
	for i, c := range [][2]string{
		{"read", `{"path":".env"}`}, {"read", `{"path":"link"}`}, {"read", `{"path":"hard"}`}, {"read",
			`{"path":"tree/../.env"}`}, {"read", `{"path":"tree/.env.local"}`},
		{"read", `{"path":"keys/id_test"}`}, {"read", `{"path":"~/.ssh/id_test"}`}, {"read",
			`{"path":` + asJSON(a.path("home/.ssh/id_test")) + `}`},
		{"grep", `{"pattern":"CANARY","path":"."}`}, {"grep", `{"pattern":"CANARY","path":".env"}`}, {"grep",
			`{"pattern":"KEY","glob":".env*"}`},
		{"grep", `{"pattern":"CANARY","path":"keys"}`}, {"grep",
			`{"pattern":"CANARY","path":` + asJSON(a.home) + `}`}, {"grep", `{"pattern":"CANARY","path":"link"}`},
		{"read", `{"path":"/proc/self/environ"}`}, {"read", `{"path":"/proc/self/cwd/.env"}`}, {"read",
			`{"path":"/proc/self/root` + a.ws + `/.env"}`},
		{"write", `{"path":"out/file","content":"evil"}`}, {"write", `{"path":"../outside/file","content":"evil"}`},
		{"write", `{"path":".git/hooks/pre-commit","content":"evil"}`},
		{"write", `{"path":".envrc","content":"evil"}`}, {"edit",
			`{"path":"out/file","old_string":"pristine","new_string":"evil"}`}, {"write",
			`{"path":".vscode/tasks.json","content":"evil"}`},
	} {
		if said := s.call(i, c[0], c[1]); strings.Contains(said, a.canary) {
			a.t.Errorf("%s %s: %s", c[0], c[1], cut.Characters(said, 2000))
		}
	}
	if harm := changes(before, a.look(), ""); len(harm) > 0 {
		a.t.Errorf("%s", strings.Join(harm, "\n"))
	}
}

// askScratch has a command leave links and pipes in its /tmp, and the file tools go there.
func askScratch(a *escapeAttempt) {
	s := a.serve("--allow", "Shell", "--allow", "Read", "--allow", "Write(/tmp/**)", "--allow", "Edit(/tmp/**)")
	a.write("ws/attempt.sh", a.prelude()+`ln -s $H/.ssh/id_test /tmp/key; ln -s $H /tmp/home; ln -s $OUT/file /tmp/out
			ln -s $OUT /tmp/dir; mkfifo /tmp/pipe
ln -s /dev/zero /tmp/zero; echo plain > /tmp/plain; ln -s $WS/.env /tmp/env; ln -s /proc/self/environ /tmp/environ
			ln -s plain /tmp/good`)
	s.shell(0, "bash attempt.sh")
	before := a.look()
	for i, c := range [][2]string{
		{"read", "key"}, {"read", "home/.ssh/id_test"}, {"read", "env"}, {"read", "pipe"}, {"read", "zero"}, {"read",
			"environ"}, {"grep", ""}, {"grep", "home"},
		{"write", "out"}, {"write", "dir/new"}, {"write", "dir/file"}, {"edit", "out"}, {"edit", "dir/file"},
		{"write", "pipe"}, {"write", "home/.bashrc"},
	} {
		input := fmt.Sprintf(`{"path":%s,"content":"evil"}`, asJSON("/tmp/"+c[1]))
		switch c[0] {
		case "read":
			input = fmt.Sprintf(`{"path":%s}`, asJSON("/tmp/"+c[1]))
		case "edit":
			input = fmt.Sprintf(`{"path":%s,"old_string":"pristine","new_string":"evil"}`, asJSON("/tmp/"+c[1]))
		case "grep":
			input = fmt.Sprintf(`{"pattern":"CANARY","path":%s}`, asJSON("/tmp/"+c[1]))
		}
		if said := s.call(i+1, c[0], input); strings.Contains(said, a.canary) {
			a.t.Errorf("%s /tmp/%s: %s", c[0], c[1], cut.Characters(said, 2000))
		}
	}
	if harm := changes(before, a.look(), ""); len(harm) > 0 {
		a.t.Errorf("%s", strings.Join(harm, "\n"))
	}
	if said := s.call(99, "read", `{"path":"/tmp/plain"}`); !strings.Contains(said,
		"plain") || !strings.Contains(said, `"succeeded"`) {
		a.t.Errorf("what a command left is not read: %s", cut.Characters(said, 1000))
	}
}

// tryGhosts looks at the workspace and the home around a command.
func tryGhosts(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, level := range anywhere {
			t.Run(who.name+" "+string(level), func(t *testing.T) { t.Parallel(); lookAround(r.attempt(t, who, level)) })
		}
		t.Run(who.name+" killed", func(t *testing.T) { t.Parallel(); killAtRandom(r.attempt(t, who, sandbox.Full)) })
	}
}

// lookAround compares what the host and the command see, before, during and after.
func lookAround(a *escapeAttempt) {
	repository(a)
	a.host("git add file; git commit -qm two")
	const list = `cd $WS; git status --porcelain --ignored
			find . -path ./.git/worktrees -prune -o -print | LC_ALL=C sort; cd $H; echo "== home"
			find . -print 2>/dev/null | grep -v '^./.ssh/' | LC_ALL=C sort`
	status := a.host(list)
	before := a.look()
	for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
		cmd := a.boxed(profile, "exec 8<>/dev/null; read -t 30 line; "+strings.ReplaceAll(list, "git status",
			"git --no-optional-locks status")+"; find $WS $H ! -type f ! -type d ! -type l")
		in, err := cmd.StdinPipe()
		if err != nil {
			a.t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			a.t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond)
		if harm := changes(before, a.look(), ""); len(harm) > 0 {
			a.t.Errorf("%s, during: %s", profile, strings.Join(harm, "\n"))
		}
		if got := a.host(strings.ReplaceAll(list, "git status", "git --no-optional-locks status")); got != status {
			a.t.Errorf("%s, during, the host sees\n%s\nand saw\n%s", profile, got, status)
		}
		_, _ = io.WriteString(in, "go\n")
		said, _ := io.ReadAll(out)
		_ = cmd.Wait()
		if a.level == sandbox.Full {
			sameOrLess(a, profile, string(said), status)
		}
		if harm := changes(before, a.look(), ""); len(harm) > 0 {
			a.t.Errorf("%s, after: %s", profile, strings.Join(harm, "\n"))
		}
	}
}

// ownInHome are the names that a command sees in a closed home and that are the workspace's: go keeps its notes on checksums nowhere else.
var ownInHome = []string{"./go\n", "./go/pkg\n", "./go/pkg/sumdb\n"}

// sameOrLess checks what a command sees: in the workspace what the host sees, in the closed home nothing that the host does
// not see.
func sameOrLess(a *escapeAttempt, profile sandbox.Access, said, host string) {
	theirs, theirHome, _ := strings.Cut(said, "== home\n")
	ours, ourHome, ok := strings.Cut(host, "== home\n")
	if theirs != ours || !ok {
		a.t.Errorf("%s: in the workspace the command sees\n%s\nthe host\n%s", profile, theirs, ours)
	}
	for line := range strings.Lines(theirHome) {
		if !strings.Contains("\n"+ourHome, "\n"+line) && !slices.Contains(ownInHome, line) {
			a.t.Errorf("%s: in the home the command sees %s, the host does not", profile, line)
		}
	}
}

// killAtRandom kills toolhost at moments from its start to the middle of a command.
func killAtRandom(a *escapeAttempt) {
	own := a.path("toolhost") // its processes can be told from those of other tests
	if err := copyFile(a.toolhost, own); err != nil {
		a.t.Fatal(err)
	}
	a.stateAt(a.state + "-killed") // others leave things in theirs meanwhile
	rigged := *a.escapeTools
	rigged.toolhost = own
	a.escapeTools = &rigged
	a.said(a.boxed(sandbox.Workspace, "true"))
	before, scratch := a.look(), filepath.Join(a.state, "toolhost", "scratch")
	for range 25 {
		cmd := a.boxed(sandbox.Workspace, "sleep 30 & sleep 30")
		if err := cmd.Start(); err != nil {
			a.t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for end := time.Now().Add(time.Minute); len(running(own)) > 0; time.Sleep(2 * time.Millisecond) {
			if time.Now().After(end) {
				a.t.Fatalf("still running: %v", running(own))
			}
		}
		if harm := changes(before, a.look(), ""); len(harm) > 0 {
			a.t.Fatal(strings.Join(harm, "\n"))
		}
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), a.dir) {
		a.t.Errorf("a mount is left:\n%s", b)
	}
	clears := a.boxed(sandbox.Workspace, "while [ ! -e go ]; do sleep .02; done") // clears away what the killed ones left
	done := make(chan bool, 1)
	go func() { a.said(clears); done <- true }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if list, _ := os.ReadDir(scratch); len(list) <= 2 { // its own, and one more
			break
		}
	}
	a.write("ws/go", "")
	<-done
	if list, err := os.ReadDir(scratch); err == nil {
		held := slices.DeleteFunc(list, func(d os.DirEntry) bool { return !abandoned(filepath.Join(scratch, d.Name())) })
		if len(held) > 1 {
			a.t.Errorf("left: %v", held)
		}
	}
}

// abandoned reports whether nobody holds the lock of a session's directory.
func abandoned(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// running are the processes of a program.
func running(program string) []string {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	return slices.DeleteFunc(all, func(link string) bool {
		target, err := os.Readlink(link)
		return err != nil || target != program
	})
}

const many = 100

// TestHundredCommands: the commands of one session share their process ids, and read nothing of each other's processes; and the host gives
// everything back. It counts what this process has open, so nothing runs beside it.
func TestHundredCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("one hundred commands at once")
	}
	a := jobTools(t).attempt(t, accounts(t)[0], sandbox.Full)
	s, err := sandbox.Open(sandbox.Options{
		Roots: []string{a.ws}, Home: a.home, Dir: a.path("state/scratch/s"), Cache: a.path("state/cache"),
		Hidden: []string{a.path("state")},
	})
	if err != nil {
		a.t.Skip(err)
	}
	defer s.Close()
	a.startOne(s, "true") // starts what stays for the session
	waitFor(a.t, func() bool { return descendantsOf(os.Getpid()) <= 2 })
	files, goroutines, children := openFiles(os.Getpid()), runtime.NumGoroutine(), descendantsOf(os.Getpid())
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			p := a.startOne(s, fmt.Sprintf(`echo x > own-%[1]d
				env MARK=%[1]d sleep 600 &
				for i in $(seq 1000); do grep -qs "^MARK=" /proc/$!/environ && break; sleep .05; done; sleep .5
				cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep '^MARK=' > marks-%[1]d
				grep -qx MARK=%[1]d marks-%[1]d || echo its own does not show > hit-%[1]d
				grep -vx MARK=%[1]d marks-%[1]d >> hit-%[1]d
				kill $!`, n))
			if p != nil {
				<-p.Gone()
			}
		})
	}
	all.Wait()
	for n := range many {
		if a.read(fmt.Sprintf("ws/own-%d", n)) == "" {
			a.t.Errorf("command %d did not run", n)
		}
	}
	for name := range a.look() {
		if strings.HasPrefix(name, "ws/hit-") && a.read(name) != "" {
			a.t.Errorf("%s: %s", name, a.read(name))
		}
	}
	back := func() bool {
		return openFiles(os.Getpid()) <= files && runtime.NumGoroutine() <= goroutines && descendantsOf(os.Getpid()) <= children
	}
	for range 6000 {
		if back() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	a.t.Errorf("%d descriptors, %d goroutines, %d processes, from %d, %d and %d", openFiles(os.Getpid()), runtime.NumGoroutine(),
		descendantsOf(os.Getpid()), files, goroutines, children)
}

// startOne runs a script in a session of this process and waits until it has ended.
func (a *escapeAttempt) startOne(s *sandbox.Session, script string) *sandbox.Process {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		a.t.Error(err)
		return nil
	}
	defer null.Close()
	dir, err := os.Open(a.ws)
	if err != nil {
		a.t.Error(err)
		return nil
	}
	defer dir.Close()
	p, err := s.Start(context.Background(), &sandbox.Command{
		Path: "/bin/bash", Args: []string{"bash", "--norc", "-c", script}, Env: a.env, Dir: a.ws, At: dir,
		Streams: [3]*os.File{null, null, null}, Profile: sandbox.Profile{Access: sandbox.Workspace},
	})
	if err != nil {
		a.t.Error(err)
		return nil
	}
	<-p.Exited()
	return p
}

func openFiles(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

// descendantsOf counts the processes below one.
func descendantsOf(pid int) int {
	n := 0
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range threads {
		b, _ := os.ReadFile(path)
		for _, child := range strings.Fields(string(b)) {
			var number int
			if _, err := fmt.Sscan(child, &number); err == nil {
				n += 1 + descendantsOf(number)
			}
		}
	}
	return n
}

// tryHundred runs many sessions at once, in the long form one hundred: each has a /tmp, processes and a loopback of its own, and takes away nothing of the others.
func tryHundred(t *testing.T, r *escapeTools) {
	all := accounts(t)
	a := r.attempt(t, all[len(all)-1], sandbox.Full)
	sessions := count(16, many)
	results := make(chan error, sessions)
	for n := range sessions {
		cmd := a.boxed(sandbox.Workspace, fmt.Sprintf(`touch /tmp/own-%d; [ "$(cd /tmp; ls -d own-*)" = own-%[1]d ] || exit 4
			$P serve 127.0.0.1 4000 /dev/null & sleep .3
			[ "$(cd /tmp; ls -d own-*)" = own-%[1]d ] || exit 5; [ $(ls /proc | grep -c '^[0-9]') -lt 8 ] || exit 6
			kill $! || exit 7; echo x > s-%[1]d`, n), "--quiet")
		go func() {
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = fmt.Errorf("exit %d: %s", exit.ExitCode(), out)
			} else if errors.Is(err, exec.ErrWaitDelay) { // it succeeded; the kernel takes longer to end what it left, as in said
				err = nil
			}
			results <- err
		}()
	}
	for range sessions {
		if err := <-results; err != nil {
			a.t.Error(err)
		}
	}
	for n := range sessions {
		if !exists(a, "ws/.env") || a.read(fmt.Sprintf("ws/s-%d", n)) == "" {
			a.t.Errorf("session %d did not come to its end", n)
		}
	}
}
