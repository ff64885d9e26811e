package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

// tryProcesses reaches for processes of the host, their memory, and for more than a command's share of the machine.
func tryProcesses(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, level := range anywhere {
			each := func(name string, try func(*escapeAttempt)) {
				t.Run(who.name+" "+string(level)+" "+name, func(t *testing.T) {
					t.Parallel()
					try(r.attempt(t, who, level))
				})
			}
			each("a process of the host", pokeHost)
			each("memory of the host", touchMemory)
			each("a toolhost that is killed", orphan)
		}
		t.Run(who.name+" a command of another session", func(t *testing.T) {
			t.Parallel()
			pokeSibling(r.attempt(t, who, sandbox.Full))
		})
		t.Run(who.name+" commands that do not want to end", func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup // they wait more than they work
			for _, level := range anywhere {
				a := r.attempt(t, who, level)
				all.Go(func() { outlive(a) })
			}
			all.Wait()
		})
		t.Run(who.name+" exhaustion", func(t *testing.T) { t.Parallel(); exhaust(r.attempt(t, who, sandbox.Full)) })
	}
}

// victim is a process to be attacked.
type victim struct {
	cmd     *exec.Cmd
	pid     int
	nice    int // as the kernel has it, which the test run's own decides
	address string
}

func newVictim(a *escapeAttempt) *victim {
	a.t.Helper()
	v := &victim{cmd: a.command(a.probe, "victim", a.dir)}
	out, err := v.cmd.StdoutPipe()
	if err == nil {
		err = v.cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = v.cmd.Process.Kill(); _ = v.cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	if _, err := fmt.Sscan(line, &v.pid, &v.address); err != nil {
		a.t.Fatalf("%q: %v", line, err)
	}
	return v.watched()
}

// watched takes down what an attack could change.
func (v *victim) watched() *victim {
	v.nice, _ = unix.Getpriority(unix.PRIO_PROCESS, v.pid)
	return v
}

// hurt says what became of the victim, "" if nothing.
func (v *victim) hurt() string {
	time.Sleep(30 * time.Millisecond) // it looks after itself every 10
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.pid))
	if err != nil || strings.Contains(string(stat), ") Z ") {
		return "it is dead"
	}
	if nice, _ := unix.Getpriority(unix.PRIO_PROCESS, v.pid); nice != v.nice {
		return "its priority changed"
	}
	var limit unix.Rlimit
	if err := unix.Prlimit(v.pid, unix.RLIMIT_NOFILE, nil, &limit); err == nil && limit.Cur == 64 {
		return "its limits changed"
	}
	return ""
}

func pokeHost(a *escapeAttempt) {
	script := func(v *victim) string {
		return fmt.Sprintf("$P poke %d %s; kill %[1]d; kill -- -%[1]d; renice 19 -p %[1]d; cat /proc/%[1]d/environ /proc/%[1]d/mem; gdb -p %[1]d -batch; true",
			v.pid, v.address)
	}
	if a.level == sandbox.Full {
		v := newVictim(a)
		if a.said(a.alone(script(v))); v.hurt() == "" {
			a.t.Error("no harm without a sandbox")
		}
	}
	for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
		v := newVictim(a)
		said, _ := a.said(a.boxed(profile, script(v)))
		if harm := v.hurt(); harm != "" || strings.Contains(said, "ESCAPED") || strings.Contains(said, a.home) {
			a.t.Errorf("%s: %s\n%s", profile, harm, said)
		}
	}
}

// pokeSibling attacks a command that another session runs, by the number that the host knows it by.
func pokeSibling(a *escapeAttempt) {
	first := a.boxed(sandbox.Workspace, "$P victim $DIR > said & wait $!; echo $? > ended")
	if err := first.Start(); err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = first.Process.Signal(syscall.SIGTERM); _ = first.Wait() }()
	waitFor(a.t, func() bool { return strings.Contains(a.read("ws/said"), "\n") })
	_, address, _ := strings.Cut(strings.TrimSpace(a.read("ws/said")), " ")
	pid := findProcess(a.probe + "\x00victim\x00" + a.dir + "\x00")
	if pid == 0 {
		a.t.Fatal("no victim")
	}
	v := (&victim{pid: pid}).watched()
	for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
		said, _ := a.said(a.boxed(profile, fmt.Sprintf("$P poke %d %s; cat /proc/%[1]d/environ; ls /proc", pid, address)))
		if harm := v.hurt(); harm != "" || a.read("ws/ended") != "" || strings.Contains(said, "ESCAPED") {
			a.t.Errorf("%s: %s\n%s", profile, harm, said)
		}
	}
}

// findProcess finds a process by its command line.
func findProcess(line string) int {
	for _, pid := range processes() {
		if string(lineOf(pid)) == line {
			return pid
		}
	}
	return 0
}

// touchMemory writes to System V memory, a message queue and a file in /dev/shm of the host.
func touchMemory(a *escapeAttempt) {
	key, queue := strconv.Itoa(0x7457_0000+(os.Getpid()<<8+int(marks.Add(1)))&0xffff), "/toolhost-escape-"+filepath.Base(a.dir)
	keep := func(attack *exec.Cmd) (kept, said string) {
		cmd := a.command(a.probe, "keeper", key, queue)
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
		keeper := bufio.NewReader(out)
		if line, _ := keeper.ReadString('\n'); line != "ready\n" {
			err := cmd.Wait()
			if !strings.HasPrefix(line, "cannot keep: ") {
				a.t.Fatalf("who keeps the memory said %q: %v", line, err)
			}
			a.t.Skip(line)
		}
		said, _ = a.said(attack)
		in.Close()
		b, _ := io.ReadAll(keeper)
		_ = cmd.Wait()
		return string(b), said
	}
	script := fmt.Sprintf("$P memory %s %s", key, queue)
	if kept, said := keep(a.alone(script)); strings.Contains(kept, "pristine 0") {
		a.t.Errorf("no harm without a sandbox: %s\n%s", kept, said)
	}
	for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
		if kept, said := keep(a.boxed(profile, script)); !strings.Contains(kept, "pristine 0") || strings.Contains(said, "ESCAPED") {
			a.t.Errorf("%s: %s\n%s", profile, kept, said)
		}
	}
}

// outlive ignores every signal that it may, in a session and group of its own, and must be gone with the call.
func outlive(a *escapeAttempt) {
	a.stateAt(a.path("state")) // where nothing is kept of the level
	mark := newMark(a.t)
	script := `trap '' TERM INT HUP QUIT; (trap '' TERM INT HUP
			setsid bash -c "trap '' TERM INT HUP; (sleep ` + mark + ` & sleep ` + mark + `)" &); setsid sleep ` + mark + ` & (sleep ` + mark + ` &) 
			sleep ` + mark
	a.write("ws/attempt.sh", script)
	start := time.Now()
	said, _ := a.said(a.confined("call", "shell", `{"command":"bash attempt.sh"}`, "--workspace", a.ws, "--sandbox",
		string(a.level), "--allow", "Shell", "--timeout", "500ms"))
	if took := time.Since(start); took > time.Minute {
		a.t.Errorf("it took %v\n%s", took, said)
	}
	waitGone(a, "sleep\x00"+mark+"\x00", 3*time.Second)
}

// orphan kills toolhost, which takes everything with it.
func orphan(a *escapeAttempt) {
	mark := newMark(a.t)
	cmd := a.boxed(sandbox.Workspace, `trap '' TERM INT HUP
			setsid bash -c "trap '' TERM; sleep `+mark+` & sleep `+mark+`" & echo up > up; sleep `+mark)
	if err := cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	waitFor(a.t, func() bool { return exists(a, "ws/up") && findProcess("sleep\x00"+mark+"\x00") != 0 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	waitGone(a, "sleep\x00"+mark+"\x00", 3*time.Second)
}

// waitGone waits until no process has a command line. budget is how long that takes where times are compared.
func waitGone(a *escapeAttempt, line string, budget time.Duration) {
	a.t.Helper()
	begun := time.Now()
	if !comesAbout(patience, func() bool { return findProcess(line) == 0 }) {
		a.t.Errorf("still there: %q", line)
		if pid := findProcess(line); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // ours: no other has such a line
		}
		return
	}
	if took := time.Since(begun); took > time.Second {
		within(a.t, fmt.Sprintf("the end of %q", line), took, budget, patience)
	}
}

// exhaust asks for bounded amounts of everything, and looks whether it is given back.
func exhaust(a *escapeAttempt) {
	if a.who.root() {
		a.t.Skip("root is bounded by a cgroup only, and the test makes none")
	}
	// The limit counts all threads of the user; other tests have some.
	a.under = []string{"/usr/bin/env", "bash", "-c", `ulimit -u $((400 + $(ps -L -u $UID -o lwp= | wc -l))); exec "$@"`, "bash"}
	said := ""
	for begun := time.Now(); ; time.Sleep(time.Second) {
		said, _ = a.said(a.boxed(sandbox.Workspace, `$P exhaust processes; $P exhaust files; $P exhaust shm
			$P exhaust disk $WS/big; $P exhaust disk /tmp/big; ulimit -f; true`))
		short := strings.Contains(said, "the command did not run") || strings.Contains(said, "processes at once")
		if !short || time.Since(begun) > patience { // others may start more than that at once, and leave less for a command
			break
		}
	}
	for _, want := range []string{"descriptors", "MiB", "write behind the limit: File too large"} {
		if !strings.Contains(said, want) {
			a.t.Errorf("%q is not in\n%s", want, said)
		}
	}
	var n int
	if _, err := fmt.Sscanf(said[max(strings.Index(said, "MiB"), 0):], "MiB %d", &n); err != nil || n > 256 {
		a.t.Errorf("memory: %d MiB\n%s", n, said)
	}
	if strings.Contains(said, "processes 0") {
		a.t.Errorf("no process at all:\n%s", said)
	}
	waitGone(a, a.probe+"\x00exhaust\x00processes\x00", 5*time.Second)
}

// tryTerminal types into the terminal that toolhost was started at.
func tryTerminal(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, level := range anywhere {
			t.Run(who.name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				a := r.attempt(t, who, level)
				if level == sandbox.Full && who.root() { // others may not, on newer kernels
					if _, typed := typing(a, func(script string) *exec.Cmd { return a.alone(script) },
						"$P types 0x5412 0"); typed == "" {
						t.Error("nothing is typed without a sandbox")
					}
				}
				const all = `for r in 0x5412 0x100005412 0xffffffff00005412 0x8000000000005412 0x541c 0x10000541c 0x5423 0x100005423
			do for f in 0 1 2; do $P types $r $f; done; done
					(exec 9<>/dev/tty && echo ESCAPED tty && $P types 0x5412 9); (exec 9<>/proc/self/fd/0
			$P types 0x5412 9); echo x > /dev/tty`
				for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
					said, typed := typing(a, func(script string) *exec.Cmd { return a.boxed(profile, script) }, all)
					if typed != "" || strings.Contains(said, "ESCAPED") || strings.Contains(said, "done") {
						t.Errorf("%s: typed %q\n%s", profile, typed, said)
					}
				}
				said, typed := typing(a, func(script string) *exec.Cmd { return a.called(script) },
					all+"\nls -l /proc/$$/fd | grep /dev/pts | sed 's/^/ESCAPED /'")
				if typed != "" || strings.Contains(said, "ESCAPED") {
					t.Errorf("shell: typed %q\n%s", typed, said)
				}
			})
			t.Run(who.name+" "+string(level)+" that it was not started at", func(t *testing.T) {
				t.Parallel()
				if level != sandbox.Full {
					known(t, "14: below full, terminals of the same user are open")
				}
				otherTerminal(r.attempt(t, who, level))
			})
		}
	}
}

// pseudoTerminal makes a pseudo-terminal of the attempt's account.
func pseudoTerminal(a *escapeAttempt) (master, slave *os.File) {
	a.t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		a.t.Skip(err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	path := fmt.Sprintf("/dev/pts/%d", n)
	a.own(path)
	if slave, err = os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		a.t.Fatal(err)
	}
	state, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		a.t.Fatal(err)
	}
	state.Lflag &^= unix.ICANON | unix.ECHO // what is typed can be read at once, and is not what is written
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, state); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { master.Close(); slave.Close() })
	return master, slave
}

// typing runs a script at a terminal and returns what it said there, and what was typed.
func typing(a *escapeAttempt, start func(script string) *exec.Cmd, script string) (said, typed string) {
	a.t.Helper()
	master, slave := pseudoTerminal(a)
	cmd := start(script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr.Setctty = true
	var out bytes.Buffer
	copied := make(chan struct{})
	go func() { _, _ = io.Copy(&out, master); close(copied) }()
	_ = cmd.Run()
	_ = master.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	var n int32
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, slave.Fd(), unix.TIOCINQ, uintptr(unsafe.Pointer(&n))); errno == 0 && n > 0 {
		typed = fmt.Sprintf("%d bytes", n)
	}
	<-copied
	return out.String(), typed
}

// otherTerminal writes to a terminal of the host by its name, and reads what is typed there.
func otherTerminal(a *escapeAttempt) {
	master, slave := pseudoTerminal(a)
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", slave.Fd()))
	if _, err := master.WriteString("typed"); err != nil {
		a.t.Fatal(err)
	}
	said, _ := a.said(a.boxed(sandbox.Workspace, "echo ESCAPE > "+name+"; timeout 1 head -c5 "+name))
	got := make([]byte, 64)
	_ = master.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, _ := master.Read(got); n > 0 || strings.Contains(said, "typed") {
		a.t.Errorf("the terminal shows %q\n%s", got[:max(n, 0)], said)
	}
}
