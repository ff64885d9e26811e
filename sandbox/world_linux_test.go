package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inWorld skips a test where commands do not share a pid namespace.
func inWorld(t *testing.T, b *bench) *world {
	t.Helper()
	if err := b.Make(); err != nil {
		t.Fatal(err)
	}
	h, err := b.hold()
	if err != nil {
		t.Fatal(err)
	}
	if h.world.processes == nil || b.abi < signalScope {
		t.Skip("the kernel makes no process world for a session, or does not hold signals")
	}
	return &h.world
}

// The calls of a session see one process world, as lines typed one after the other into a terminal do.
func TestOneWorld(t *testing.T) {
	for _, program := range []string{"ps", "pkill", "python3", "setsid"} {
		needs(t, program)
	}
	b := newBench(t, nil)
	inWorld(t, b)
	run := func(access Access, line, want string) {
		t.Helper()
		if r := b.run(t, access, line); r.out != want || r.err != nil {
			t.Errorf("%s: %s\nprinted %q, want %q; exit %d, %v", access, line, r.out, want, r.exit, r.err)
		}
	}
	start := func(line string) *Process {
		t.Helper()
		os.Remove(filepath.Join(b.ws, "p"))
		p := b.start(t, Profile{Access: Workspace}, line)
		b.await(t, "p")
		return p
	}
	gone := func(p *Process) {
		t.Helper()
		select {
		case <-p.Gone():
		case <-time.After(hang):
			t.Error("it lives")
			p.Kill()
		}
	}

	for _, signal := range []string{"kill $(cat p)", "kill -9 $(cat p)", "pkill -f 'sleep 7[7]001'", "kill -- -$(ps -o pgid= $(cat p) | tr -d ' ')",
		`python3 -c "import os,signal; os.kill(int(open('p').read()), signal.SIGTERM)"`} {
		p := start("sleep 77001 & until grep -q sleep /proc/$!/comm; do :; done; echo $! > p.tmp; mv p.tmp p; wait $!")
		run(Workspace, `kill -0 $(cat p) && cat /proc/$(cat p)/comm`, "sleep")
		run(ReadOnly, `cat /proc/$(cat p)/comm`, "sleep")
		run(Workspace, "touch made; "+signal, "")
		gone(p)
		run(Workspace, `kill -0 $(cat p) 2>/dev/null || echo gone`, "gone")
	}

	p := start("(setsid sleep 77002 & echo $! > p.tmp; mv p.tmp p) & wait; sleep 77003")
	run(Workspace, "pkill -f 'sleep 7[7]002'; pkill -f 'sleep 7[7]003'", "")
	gone(p)

	for _, access := range []Access{Workspace, ReadOnly} {
		first, second := b.run(t, access, "echo $$"), b.run(t, access, "echo $$")
		n, _ := strconv.Atoi(first.out)
		if m, _ := strconv.Atoi(second.out); m <= n || n == 0 {
			t.Errorf("%s: numbers %q and %q", access, first.out, second.out)
		}
	}
	run(Workspace, "touch made; echo kept > /dev/shm/f", "")
	run(Workspace, "touch made; cat /dev/shm/f", "kept")
	run(ReadOnly, "ls -A /dev/shm /dev/.memory", "/dev/.memory:\n\n/dev/shm:")
	const get = `python3 -c "
import ctypes; c = ctypes.CDLL(None); print(c.shmget(0x5157, 4096, %s) >= 0, c.semget(0x5157, 1, %[1]s) >= 0)"`
	run(Workspace, fmt.Sprintf(get, "0o1600"), "True True")
	run(Workspace, fmt.Sprintf(get, "0o600"), "True True")
	run(ReadOnly, fmt.Sprintf(get, "0o600"), "False False")
}

// System V memory outlives the command that made it, and is bounded.
func TestSharedMemoryIsBounded(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	inWorld(t, b)
	fill := func(mib int) string {
		return fmt.Sprintf(`touch made; python3 -c "
import ctypes; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p
at = c.shmat(c.shmget(0, %d << 20, 0o1600), None, 0); ctypes.memset(at, 1, %[1]d << 20)"`, mib)
	}
	const count = `touch made; tail -n +2 /proc/sysvipc/shm | wc -l`
	for _, tt := range []struct {
		mib  int
		want string
	}{{1, "1"}, {2, "2"}, {300, "0"}, {1, "1"}} {
		if r := b.run(t, Workspace, fill(tt.mib)); r.err != nil || r.exit != 0 {
			t.Fatalf("%d MiB: %+v", tt.mib, r)
		}
		if r := b.run(t, Workspace, count); r.out != tt.want {
			t.Errorf("after %d MiB: %s segments, want %s", tt.mib, r.out, tt.want)
		}
	}
}

// A signal that one command sends to a process of another is told to the other.
func TestSignalsAreTold(t *testing.T) {
	b := newBench(t, nil)
	inWorld(t, b)
	var mu sync.Mutex
	var told []Signaled
	b.name, b.signaled = "j7", func(s Signaled) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, s)
	}
	p := b.start(t, Profile{Access: Workspace}, "sleep 1000 & echo $! > p.tmp; mv p.tmp p; wait")
	b.await(t, "p")
	b.name, b.signaled = "j8", nil
	b.run(t, Workspace, "kill -0 $(cat p); kill -CONT $(cat p); kill -TERM $(cat p); touch made")
	<-p.Gone()
	mu.Lock()
	defer mu.Unlock()
	want := []Signaled{{"j8", syscall.SIGCONT, "sleep"}, {"j8", syscall.SIGTERM, "sleep"}}
	if !slices.Equal(told, want) {
		t.Errorf("told %+v, want %+v", told, want)
	}
}

// What one command may not do to a process of another, although it knows its number.
func TestWorldHasWalls(t *testing.T) {
	for _, program := range []string{"python3", "prlimit", "renice", "taskset", "ionice", "chrt"} {
		needs(t, program)
	}
	b := newBench(t, nil)
	inWorld(t, b)
	b.write(t, "secret", "hidden")
	victim := b.start(t, Profile{Access: Workspace}, "export SECRET=hidden; exec 9<secret; sleep 1000 & echo $! > p.tmp; mv p.tmp p; wait")
	defer victim.Kill()
	b.await(t, "p")
	call := func(expression string) string {
		return `python3 - "$(cat p)" <<'E'
import ctypes, os, sys
pid = int(sys.argv[1]); libc = ctypes.CDLL(None, use_errno=True)
class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
buf = ctypes.create_string_buffer(8); v = iovec(ctypes.addressof(buf), 8)
print("done" if libc.` + expression + ` >= 0 else "refused")
E`
	}
	for _, tt := range []struct{ name, line string }{
		{"memory", "head -c 1 /proc/$(cat p)/mem"},
		{"environment", "tr '\\0' '\\n' < /proc/$(cat p)/environ | grep SECRET"},
		{"root", "ls /proc/$(cat p)/root/"},
		{"directory", "ls /proc/$(cat p)/cwd/"},
		{"what a descriptor is", "readlink /proc/$(cat p)/fd/9"},
		{"a descriptor", "cat /proc/$(cat p)/fd/9"},
		{"memory map", "cat /proc/$(cat p)/maps | grep ."},
		{"namespaces", "readlink /proc/$(cat p)/ns/mnt"},
		{"program", "readlink /proc/$(cat p)/exe"},
		{"ptrace attach", call("ptrace(16, pid, 0, 0)")},
		{"ptrace seize", call("ptrace(0x4206, pid, 0, 0)")},
		{"process_vm_readv", call("process_vm_readv(pid, ctypes.byref(v), 1, ctypes.byref(v), 1, 0)")},
		{"process_vm_writev", call("process_vm_writev(pid, ctypes.byref(v), 1, ctypes.byref(v), 1, 0)")},
		{"pidfd_getfd", call("syscall(438, libc.syscall(434, pid, 0), 0, 0)")},
		{"process_madvise", call("syscall(440, libc.syscall(434, pid, 0), ctypes.byref(v), 1, 20, 0)")},
		{"kcmp", call("syscall(312, pid, os.getpid(), 1, 0, 0)")},
		{"setns", call("setns(libc.syscall(434, pid, 0), 0x20000000)")},
		{"limits", "prlimit --pid $(cat p) --nofile=64 && echo done"},
		{"priority", "renice 19 -p $(cat p) && echo done"},
		{"priority of the group", "renice 19 -g $(cat p) && echo done"},
		{"priority of the user", "renice 19 -u $(id -u) && echo done"},
		{"processors", "taskset -p 1 $(cat p) | grep new && echo done"},
		{"priority of input and output", "ionice -c 3 -p $(cat p) && echo done"},
		{"scheduler", "chrt -b -p 0 $(cat p) && echo done"},
		{"oom score", "echo 1000 > /proc/$(cat p)/oom_score_adj && echo done"},
		{"the reaper's limits", "prlimit --pid 1 --nofile=64 && echo done"},
		{"the reaper's environment", "cat /proc/1/environ | grep ."},
		{"the reaper's root", "ls /proc/1/root/"},
	} {
		for _, access := range []Access{Workspace, ReadOnly} {
			r := b.run(t, access, "{ "+tt.line+"\n} 2>/dev/null")
			if r.err != nil || r.out != "" && r.out != "refused" {
				t.Errorf("%s %s: %q, %v", access, tt.name, r.out, r.err)
			}
		}
	}
	tgkill, pidfd := call("syscall(234, pid, pid, 15)"), call("syscall(424, libc.syscall(434, pid, 0), 15, 0, 0)")
	for _, line := range []string{"kill $(cat p)", "kill -0 $(cat p)", "kill -STOP $(cat p)", tgkill, pidfd} {
		for _, profile := range []Profile{{Access: ReadOnly}, {Access: ReadOnly, Observes: true}} {
			r := b.runProfile(t, profile, "{ "+line+"\n} 2>/dev/null && echo passed")
			if r.err != nil || r.out != "" && r.out != "refused\npassed" {
				t.Errorf("read-only, %s: %q, %v", line, r.out, r.err)
			}
		}
	}
	for _, line := range []string{tgkill, pidfd} { // of which nobody would be told
		if r := b.run(t, Workspace, line); r.out != "refused" {
			t.Errorf("another command: %s: %q", line, r.out)
		}
	}
	if victim.Ended() != nil {
		t.Error("the victim has ended")
	}
	const own = `sleep 30 & exec 2>&1; try() { "$@" > out || { echo "$@: $?"; cat out; }; }
try renice 18 -p $!; try taskset -p 1 $!; try prlimit --pid $! --nofile=64; try ionice -c 3 -p $!; try renice 18 -p $$; try python3 -c "
import os, threading; os.sched_setaffinity(threading.get_native_id(), {0}); os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)"
kill $!; wait $!; echo $?`
	if r := b.run(t, Workspace, own); r.out != "143" {
		t.Errorf("its own processes: %q", r.out)
	}
}

// A command in a pid namespace of its own lowers no limit of its helper, which covers secrets again that were replaced.
func TestHelperIsNotDirected(t *testing.T) {
	for _, program := range []string{"prlimit", "renice", "taskset", "ionice", "chrt"} {
		needs(t, program)
	}
	b := newBench(t, nil)
	b.abi = 0 // as where there is no Landlock
	for _, access := range []Access{Workspace, ReadOnly} {
		const attack = `exec 2> /dev/null; ls /proc/1/task | while read n; do for c in "prlimit --pid $n --nofile=4" "prlimit --pid $n --cpu=1" \
"renice 19 -p $n" "taskset -p 1 $n" "ionice -c 3 -p $n" "chrt -b -p 0 $n"; do $c > /dev/null && echo "REACHED $c"; done; done
(echo 1000 > /proc/1/oom_score_adj) && echo REACHED oom; grep -c . /proc/1/limits`
		if r := b.run(t, access, attack); r.err != nil || r.out != "17" {
			t.Errorf("%s: %q, %v", access, r.out, r.err)
		}
	}
	const own = `sleep 30 & exec 2>&1; try() { "$@" > out || { echo "$@: $?"; cat out; }; }
try renice 18 -p $!; try taskset -p 1 $!; try prlimit --pid $! --nofile=64; try ionice -c 3 -p $!; kill $!; wait $!; echo $?`
	if r := b.run(t, Workspace, own); r.out != "143" {
		t.Errorf("its own processes: %q", r.out)
	}
}

// Who observes sees the processes and the sockets of the session, and has no way to use them; also where the kernel does not hold signals.
func TestObservers(t *testing.T) {
	needs(t, "python3")
	for _, abi := range []int{0, 5} {
		t.Run(fmt.Sprint("Landlock ", abi), func(t *testing.T) {
			b := newBench(t, nil)
			inWorld(t, b)
			if abi > 0 {
				b.abi = abi
			}
			b.write(t, "serve.py", `import socket, signal
s = socket.create_server(("127.0.0.1", 8125)); u = socket.socket(socket.AF_UNIX); u.bind("s"); u.listen(); open("up", "w").close(); signal.pause()`)
			server := b.start(t, Profile{Access: Workspace}, "python3 serve.py & echo $! > p; wait")
			defer server.Kill()
			b.await(t, "up")
			const line = `cat /proc/$(cat p)/comm; grep -c :1FBD /proc/net/tcp; kill -9 $(cat p) 2>/dev/null && echo killed
python3 - <<'E'
import errno, socket, os, signal
S = socket
def attempt(name, do):
    try: do(); print(name)
    except OSError as e: pass
attempt("netlink route", lambda: S.socket(S.AF_NETLINK, S.SOCK_RAW, 0))
attempt("netlink sockets", lambda: S.socket(S.AF_NETLINK, S.SOCK_RAW, 4))
attempt("netlink audit", lambda: S.socket(S.AF_NETLINK, S.SOCK_RAW, 9))
for family in (S.AF_INET, S.AF_INET6, S.AF_UNIX, S.AF_PACKET):
    for kind in (S.SOCK_STREAM, S.SOCK_DGRAM, S.SOCK_RAW, S.SOCK_SEQPACKET):
        attempt("socket", lambda: S.socket(family, kind))
pid = int(open("p").read())
attempt("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), 9))
attempt("group", lambda: os.killpg(os.getpgid(pid), 9))
attempt("write", lambda: open("new", "w"))
E`
			r := b.runProfile(t, Profile{Access: ReadOnly, Observes: true}, line)
			if want := "python3\n1\nnetlink route\nnetlink sockets"; r.out != want || r.err != nil {
				t.Errorf("%q, want %q; %v", r.out, want, r.err)
			}
			if server.Ended() != nil {
				t.Error("the server has ended")
			}
			plain := b.runProfile(t, Profile{Access: ReadOnly}, `grep -c :1FBD /proc/self/net/tcp; sleep 1000 & kill $!; wait $!; echo $?`)
			if plain.out != "0\n143" {
				t.Errorf("who only reads: %q", plain.out)
			}
			if r := b.run(t, Workspace, `kill $(cat p); touch made; echo $?`); r.out != "0" {
				t.Errorf("another command: %q", r.out)
			}
			<-server.Gone()
		})
	}
}

// insideName says that a test runs in a pid namespace that it made for itself.
const insideName = "TOOLHOST_TEST_INSIDE"

// TestKillAll: what signals all processes reaches no helper, no holder and no host. It runs in a pid namespace of its own, so that nothing
// else is harmed where that does not hold.
func TestKillAll(t *testing.T) {
	for _, program := range []string{"unshare", "python3", "ps"} {
		needs(t, program)
	}
	if os.Getenv(insideName) == "" {
		args := []string{"--pid", "--fork", "--mount-proc", "--kill-child", os.Args[0], "-test.run=^TestKillAll$", "-test.v"}
		if os.Getuid() != 0 {
			args = append([]string{"--user", "--map-current-user"}, args...)
		}
		c := exec.Command("unshare", args...)
		c.Env = append(os.Environ(), insideName+"=1")
		out, err := c.CombinedOutput()
		if err != nil && strings.HasPrefix(string(out), "unshare:") {
			t.Skip(string(out))
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	b := newBench(t, nil)
	w := inWorld(t, b)
	attacks := []string{
		"kill -STOP -1; kill -CONT -1", "kill -9 -1", "kill -9 1; kill -STOP 1; kill -SEGV 1; kill -TERM 1", "kill -9 -- -1 -2 -3 -4 -5",
		`python3 -c "import os; os.setpriority(os.PRIO_USER, os.getuid(), 19)"`, `python3 -c "import os; os.setpriority(os.PRIO_PROCESS, 1, 19)"`,
		`python3 -c "
import os, signal
for pid in range(2, 400):
    if pid != os.getpid():
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass"`,
	}
	self := strconv.Itoa(os.Getpid())
	ours := func() (all []string) { // the host, the holder and the reaper; helpers come and go
		out, _ := exec.Command("ps", "-e", "-o", "pid=,nice=,stat=,args=").Output()
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) > 3 && (f[3] == "toolhost-holder" || f[3] == "toolhost-session" || f[0] == self) {
				all = append(all, fmt.Sprint(f[0], " ", f[1], " stopped ", strings.HasPrefix(f[2], "T")))
			}
		}
		return all
	}
	before := ours()
	own, _ := unix.Getpriority(unix.PRIO_PROCESS, 0)
	for _, attack := range attacks {
		bystander := b.start(t, Profile{Access: Workspace}, "touch up; trap '' TERM; sleep 1000 & wait; sleep 1000")
		b.await(t, "up")
		helper := bystander.PID()
		b.run(t, Workspace, "{ "+attack+"; } 2>/dev/null; touch made")
		if nice, _ := unix.Getpriority(unix.PRIO_PROCESS, helper); bystander.Ended() == nil && nice != own {
			t.Errorf("%s: the helper has niceness %d, and not %d", attack, 20-nice, 20-own)
		}
		if after := ours(); !slices.Equal(before, after) || len(after) != 3 {
			t.Errorf("%s: there were %v, there are %v", attack, before, after)
		}
		bystander.Kill()
		<-bystander.Gone()
		if r := b.run(t, Workspace, "touch made; echo well"); r.out != "well" {
			t.Errorf("%s: then nothing runs: %+v", attack, r)
		}
	}
	if pidOf(int(w.reaper.Fd())) == 0 {
		t.Error("the reaper has ended")
	}
}

// bomb is bounded: six chains of processes that each start the next, in a session of its own, and end; and twenty that sleep, without parents.
const bomb = `
use POSIX; my $end = time + 30; $SIG{$_} = 'IGNORE' for qw(TERM HUP INT);
for (1 .. 6) { my $pid = fork; if (defined $pid && !$pid) {
	while (time < $end) { my $next = fork; exit if $next; setsid if defined $next } exit } }
for (1 .. 20) { my $pid = fork; if (defined $pid && !$pid) { setsid; my $inner = fork; exit if $inner; sleep 30; exit } }
open my $f, '>', 'lit'; close $f; sleep 30;
`

// A command ends whole: processes that start others faster than one can look, in sessions of their own and without parents, are gone when it is,
// and those of another command live. The long form has 200 rounds of each way.
func TestBombsEnd(t *testing.T) {
	for _, program := range []string{"perl", "setsid"} {
		needs(t, program)
	}
	rounds := 3
	if os.Getenv("TOOLHOST_LONG") != "" {
		rounds = 200
	}
	b := newBench(t, nil)
	w := inWorld(t, b)
	b.write(t, "bomb.pl", bomb)
	bystander := b.start(t, Profile{Access: Workspace}, "setsid sleep 1000 & touch up; wait")
	b.await(t, "up")
	defer bystander.Kill()
	count := func(p *Process) (n int) {
		w.each(func(r resident) bool {
			if p.livesIn(r.mounts()) {
				n++
			}
			return true
		})
		return n
	}
	const alive = 2 // bash and sleep
	for limit := time.Now().Add(hang); count(bystander) != alive && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	longest := time.Duration(0)
	for i := range rounds {
		for name, end := range map[string]func(*Process){
			"killed":               func(p *Process) { p.Kill() },
			"asked, and killed":    func(p *Process) { p.Signal(syscall.SIGTERM); p.Signal(syscall.SIGCONT); p.Kill() },
			"its helper is killed": func(p *Process) { p.helper.signal(unix.SIGKILL) },
		} {
			os.Remove(filepath.Join(b.ws, "lit"))
			p := b.start(t, Profile{Access: Workspace}, "perl bomb.pl")
			b.await(t, "lit")
			begun := time.Now()
			end(p)
			select {
			case <-p.Gone():
			case <-time.After(hang):
				t.Fatalf("%d, %s: %d live after %v", i, name, count(p), time.Since(begun))
			}
			for limit := time.Now().Add(hang); count(p) > 0 && name == "its helper is killed" && time.Now().Before(limit); { // the holder's turn
				time.Sleep(time.Millisecond)
			}
			longest = max(longest, time.Since(begun))
			if n := count(p); n > 0 {
				t.Errorf("%d, %s: %d live", i, name, n)
			}
			if n := count(bystander); n != alive {
				t.Fatalf("%d, %s: of %d processes of another command %d live", i, name, alive, n)
			}
		}
	}
	t.Logf("%d rounds of each way, the longest end took %v", rounds, longest)
}
