package proc

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// programs are real ones, and whether they wait for their input once they have started.
var programs = []struct {
	name string
	tty  bool
	argv []string
	want bool
}{
	{"bash read, pipe", false, []string{"bash", "-c", "read -p Password: x"}, true},
	{"bash read, terminal", true, []string{"bash", "-c", "read -p Password: x"}, true},
	{"bash read -s, terminal", true, []string{"bash", "-c", "read -s -p Password: x"}, true},
	{"bash read with a long limit", true, []string{"bash", "-c", "read -t 60 x"}, true},
	{"bash script from stdin", false, []string{"bash"}, true},
	{"bash prompt", true, []string{"bash", "--norc", "-i"}, true},
	{"bash prompt with a job in the background", true, []string{"bash", "--norc", "-i", "-c", "sleep 300 & read x"}, true},
	{"sh", true, []string{"sh"}, true},
	{"cat, pipe", false, []string{"cat"}, true},
	{"cat, terminal", true, []string{"cat"}, true},
	{"cat in a pipeline", false, []string{"sh", "-c", "cat | tail -n 1"}, true},
	{"child of a child", false, []string{"bash", "-c", "bash -c 'bash -c \"read x; true\"; true'; true"}, true},
	{"another session", true, []string{"setsid", "--wait", "cat"}, true},
	{"python prompt, terminal", true, []string{"python3", "-q"}, true},
	{"python prompt, pipe", false, []string{"python3", "-i"}, true},
	{"python input()", true, []string{"python3", "-c", "input('name: ')"}, true},
	{"node prompt, terminal", true, []string{"node"}, true},
	{"node prompt, pipe", false, []string{"node", "-i"}, true},
	{"node readline", false, []string{"node", "-e", "require('readline').createInterface(process.stdin).on('line', () => {})"}, true},
	{"less", true, []string{"less", "/etc/services"}, true},
	{"less of a pipe", true, []string{"sh", "-c", "seq 1000 | less"}, true},
	{"vim", true, []string{"vim", "-u", "NONE", "-i", "NONE", "-n"}, true},
	{"reader of /dev/tty", true, []string{"sh", "-c", "exec 3</dev/tty; read x <&3"}, true},
	{"reader of /dev/tty, stdin elsewhere", true, []string{"bash", "-c", "cat </dev/tty >/dev/null; true"}, true},

	{"sleep", false, []string{"sleep", "300"}, false},
	{"sleep, terminal", true, []string{"sleep", "300"}, false},
	{"at work", false, []string{"sh", "-c", "while :; do :; done"}, false},
	{"tail -f", true, []string{"tail", "-f", "/etc/hostname"}, false},
	{"bash waits for a child", true, []string{"bash", "-c", "sleep 300 & wait"}, false},
	{"bash with a child in the foreground", false, []string{"bash", "-c", "sleep 300; true"}, false},
	{"reader of something else", false, []string{"sh", "-c", "sleep 300 | cat"}, false},
	{"stdin of /dev/null", false, []string{"sh", "-c", "sleep 300 < /dev/null"}, false},
	{"reader in the background", true, []string{"bash", "-c", "set -m; cat & sleep 300"}, false},
	{"reader that was stopped", true, []string{"sh", "-c", "kill -STOP $$; read x"}, false},
	{"nested terminal", true, []string{"script", "-qc", "cat /dev/tty", "/dev/null"}, false},
	{"node server", false, []string{"node", "-e", "require('net').createServer().listen(0, '127.0.0.1')"}, false},
	{"node server with a prompt", false,
		[]string{"node", "-e", "require('net').createServer().listen(0, '127.0.0.1'); process.stdin.resume()"}, false},
	{"node watcher with a prompt", false,
		[]string{"node", "-e", "require('fs').watch('/tmp', () => {}); process.stdin.resume()"}, false},
	{"node that ticks, with a prompt", false,
		[]string{"node", "-e", "setInterval(() => {}, 80); process.stdin.resume()"}, false},
	{"node with a child and a prompt", false,
		[]string{"node", "-e", "require('child_process').spawn('sleep', ['300']); process.stdin.resume()"}, false},
}

// calls are the ways to wait, as a program in Python makes them: what it does before, and the call.
var calls = []struct {
	name, before, call string
	want               bool
}{
	{"poll", "p=select.poll(); p.register(0, select.POLLIN)", "p.poll()", true},
	{"poll for hanging up", "p=select.poll(); p.register(0, 0)", "p.poll()", false},
	{"poll with a long limit", "p=select.poll(); p.register(0, select.POLLIN)", "p.poll(60000)", true},
	{"poll that ticks", "p=select.poll(); p.register(0, select.POLLIN)", "\nwhile 1: p.poll(100)", false},
	{"poll of a closed pipe", "r,w=os.pipe(); os.close(0); os.dup(r); p=select.poll(); p.register(0, select.POLLIN)", "p.poll()", false},
	{"select", "", "select.select([0], [], [])", true},
	{"select with an own pipe", "r,w=os.pipe()", "select.select([0,r], [], [])", true},
	{"select to write", "r,w=os.pipe(); fill(w)", "select.select([0], [w], [])", false},
	{"select with a socket", "s=server()", "select.select([0,s], [], [])", false},
	{"select with a pipe that a child has", "r,w=os.pipe(); child(w)", "select.select([0,r], [], [])", false},
	{"select with an own pipe and a child", "r,w=os.pipe(); child()", "select.select([0,r], [], [])", false},
	{"select with a pipe that an orphan has", "r,w=os.pipe(); orphan(w)", "select.select([0,r], [], [])", false},
	{"select with an own pipe and an orphan", "r,w=os.pipe(); orphan()", "select.select([0,r], [], [])", true},
	{"poll with a pipe after too many descriptors",
		"many(); r,w=os.pipe(); p=select.poll(); p.register(0, 1); p.register(r, 1)", "p.poll()", false},
	{"read with many descriptors", "many()", "os.read(0,1)", true},
	{"readv", "", "os.readv(0, [bytearray(8)])", true},
	{"read of a copy", "os.dup2(0, 77); os.close(0)", "os.read(77, 1)", true},
	{"read of something else", "r,w=os.pipe()", "os.read(r, 1)", false},
	{"read with a child", "child()", "os.read(0, 1)", true},
	{"epoll", "e=epoll(0)", "e.poll()", true},
	{"epoll of changes", "e=select.epoll(); e.register(0, select.EPOLLIN|select.EPOLLET)", "e.poll()", false},
	{"epoll after its one shot", "e=select.epoll(); e.register(0, select.EPOLLONESHOT)", "e.poll()", false},
	{"epoll of an epoll", "i=epoll(eventfd()); e=epoll(0, i)", "e.poll()", true},
	{"epoll of an epoll of a socket", "s=server(); i=epoll(s); e=epoll(0, i)", "e.poll()", false},
	{"epoll of an epoll of the input", "i=epoll(0); e=epoll(i)", "e.poll()", false},
	{"epoll with inotify", "e=epoll(0, libc.inotify_init())", "e.poll()", false},
	{"epoll with an own eventfd", "e=epoll(0, eventfd())", "e.poll()", true},
	{"epoll with an eventfd that an orphan has", "v=eventfd(); orphan(v); e=epoll(0, v)", "e.poll()", false},
	{"epoll with an eventfd when an orphan has another", "orphan(eventfd()); e=epoll(0, eventfd())", "e.poll()", true},
	{"epoll with what was closed", "r,w=os.pipe(); x=os.dup(r); e=epoll(0, r); os.dup2(eventfd(), r)", "e.poll()", false},
	{"epoll with a timer that is not set", "t=timer(0); e=epoll(0, t)", "e.poll()", true},
	{"epoll with a timer that is soon", "t=timer(0.5); e=epoll(0, t)", "\nwhile 1: e.poll(); os.read(t, 8)", false},
	{"epoll with a timer that is late", "t=timer(60); e=epoll(0, t)", "e.poll()", true},
	{"another thread that listens", "s=server(); thread(s.accept)", "os.read(0,1)", false},
	{"another thread that waits for this one", "thread(threading.Event().wait)", "os.read(0,1)", true},
	{"another thread that waits for a signal", "thread(lambda: signal.sigwait([signal.SIGUSR1]))", "os.read(0,1)", true},
	{"another thread that waits for a signal, and a child", "child(); thread(lambda: signal.sigwait([17]))", "os.read(0,1)", false},
	{"another thread that reads", "thread(lambda: os.read(0,1))", "threading.Event().wait()", true},
	{"another thread that sleeps", "thread(lambda: time.sleep(300))", "os.read(0,1)", false},
	{"another thread that works", "thread(spin)", "os.read(0,1)", false},
	{"another thread that waits for a child", "thread(lambda: os.system('sleep 300'))", "os.read(0,1)", false},
	{"first thread that has ended", "thread(lambda: (time.sleep(0.1), os.read(0,1)))", "libc.syscall(60, 0)", false},
	{"not dumpable", "libc.prctl(4,0,0,0,0)", "os.read(0,1)", os.Geteuid() == 0},
}

// prelude is what the scripts have in common. No child keeps the input.
const prelude = `
import ctypes, os, resource, select, signal, socket, threading, time
libc = ctypes.CDLL(None)
libc.prctl(36, 1, 0, 0, 0) # adopts orphans, as who runs a job does
if os.fork() > 0:
    os.close(0)
    libc.prctl(4, 0, 0, 0, 0) # nor may it be looked at by its own user
    while 1: os.wait()
def eventfd(): return libc.eventfd(0, 0o2000000)
def thread(f): threading.Thread(target=f, daemon=True).start(); time.sleep(0.05)
def server(): return socket.create_server(('127.0.0.1', 0))
def epoll(*fds):
    e = select.epoll()
    for fd in fds: e.register(fd, select.EPOLLIN)
    return e
def fill(w):
    os.set_blocking(w, False)
    try:
        while 1: os.write(w, b'x'*4096)
    except BlockingIOError: pass
def alone(keep):
    for fd in range(0, 5000):
        if fd not in keep:
            try: os.close(fd)
            except OSError: pass
    while 1: signal.pause()
def child(*keep):
    if os.fork() == 0: alone(keep)
def orphan(*keep):
    pid = os.fork()
    if pid == 0:
        if os.fork() == 0: alone(keep)
        os._exit(0)
    os.waitpid(pid, 0)
    time.sleep(0.1)
def timer(seconds):
    t, n = libc.timerfd_create(1, 0o2000000), int(seconds * 1e9)
    libc.timerfd_settime(t, 0, (ctypes.c_long * 4)(n // 10**9, n % 10**9, n // 10**9, n % 10**9), None)
    return t
def spin():
    while 1: pass
def many():
    limit = max(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    try: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    except (ValueError, OSError): os._exit(77)
    for i in range(20000-16): os.dup(0)
`

func TestWaitingPrograms(t *testing.T) {
	for _, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			need(t, c.argv[0])
			cmd := exec.Command(c.argv[0], c.argv[1:]...)
			cmd.Env = append(os.Environ(), "TERM=xterm", "LESS=", "LESSOPEN=", "HOME="+t.TempDir()) // they keep histories there
			check(t, start(t, c.tty, cmd), c.want, 600*time.Millisecond)
		})
	}
}

func TestWaitingCalls(t *testing.T) {
	need(t, "python3")
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("python3", "-c", prelude+c.before+"\nprint('ready', flush=True)\n"+c.call)
			j := start(t, false, cmd)
			if !eventually(hang, func() bool { return strings.Contains(j.output.String(), "ready") }) {
				t.Skipf("cannot be done here: %s", j.output)
			}
			check(t, j, c.want, 300*time.Millisecond)
		})
	}
}

// check looks at a job until it waits, or for as long as enough says to see that it does not.
func check(t *testing.T, j job, want bool, enough time.Duration) {
	t.Helper()
	limit := enough
	if want {
		limit = hang
	}
	got := eventually(limit, j.waits)
	if got == want {
		return
	}
	for _, p := range j.all() {
		c, _ := os.ReadFile(processDir(p.PID) + "/syscall")
		t.Logf("%+v %s in %s", p, CommandLine(p.PID), c)
	}
	t.Fatalf("waits is %v, want %v; it said %q", got, want, j.output)
}

func TestWaiterIsNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		tty  bool
		on   string
	}{{"pipe", false, OnStdin}, {"terminal", true, OnTerminal}} {
		t.Run(c.name, func(t *testing.T) {
			j := start(t, c.tty, exec.Command("sh", "-c", "cat; true"))
			var w Waiter
			eventually(hang, func() (ok bool) { w, ok = Waiting(j.all(), j.input); return ok })
			kids := Below(j.pid)
			if len(kids) != 1 || w != (Waiter{kids[0].PID, "cat", c.on}) {
				t.Errorf("got %+v, want cat, among %+v", w, kids)
			}
		})
	}
}

func TestWaitingEndsWithInput(t *testing.T) {
	j := start(t, false, exec.Command("sh", "-c", "read x; exec sleep 300"))
	if !eventually(hang, j.waits) {
		t.Fatal("does not wait")
	}
	if _, err := j.feed.WriteString("y\n"); err != nil {
		t.Fatal(err)
	}
	if !eventually(hang, func() bool { return !j.waits() }) {
		t.Fatal("still waits")
	}
}

// Another job's input is not this one's.
func TestWaitingForAnotherInput(t *testing.T) {
	for _, tty := range []bool{false, true} {
		j, k := start(t, tty, exec.Command("cat")), start(t, tty, exec.Command("cat"))
		if !eventually(hang, j.waits) || !eventually(hang, k.waits) {
			t.Fatal("do not wait")
		}
		if w, ok := Waiting(j.all(), k.input); ok {
			t.Errorf("tty %v: %+v waits for the other's input", tty, w)
		}
		if w, ok := Waiting(j.all(), Input{}); ok {
			t.Errorf("tty %v: %+v waits for nothing", tty, w)
		}
	}
}

func TestInputOfWhatIsNone(t *testing.T) {
	for _, path := range []string{os.DevNull, os.Args[0], "/"} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if in, err := InputOf(f); err != nil || in != (Input{}) {
			t.Errorf("%s: %+v, %v", path, in, err)
		}
	}
}

// Who has much to look at is looked at for a bounded time.
func TestWaitingIsBounded(t *testing.T) {
	need(t, "python3")
	const script = prelude + `
limit = min(4000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
orphan(0, *[eventfd() for i in range(limit - 64)])
os.closerange(3, limit)
e = epoll(0, *[eventfd() for i in range(250)])
print('ready', flush=True)
e.poll()
`
	j := start(t, false, exec.Command("python3", "-c", script))
	if !eventually(hang, func() bool { return strings.Contains(j.output.String(), "ready") }) {
		t.Skipf("cannot be done here: %s", j.output)
	}
	all := j.all()
	began := computed(t)
	Waiting(all, j.input)
	if took := computed(t) - began; took > 4*waitSearch { // by two looks at a time, of which one was given up
		t.Errorf("took %v", took)
	}
	if !eventually(hang, func() bool { _, ok := within(all[len(all)-1].PID, func() bool { return true }); return ok }) {
		t.Error("the look has not ended")
	}
}

// computed is the processor time that this process has used: a busy machine makes it no longer.
func computed(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
