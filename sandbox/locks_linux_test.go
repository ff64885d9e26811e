package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// takesLocks takes every lock that it can have on a file, and prints which it was refused.
const takesLocks = `import fcntl, os, struct, sys, time
def attempt(name, do):
    try: do()
    except OSError as e: print(name, e.strerror)
def record(kind): return struct.pack("hhqqi4x", kind, 0, 0, 0, 0)
path = sys.argv[1]
f, g, h, d = (os.open(path, os.O_RDONLY) for _ in range(4))
attempt("flock", lambda: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt("waits", lambda: fcntl.flock(f, fcntl.LOCK_SH))
attempt("process", lambda: fcntl.fcntl(g, fcntl.F_SETLK, record(fcntl.F_RDLCK)))
attempt("process waits", lambda: fcntl.fcntl(g, fcntl.F_SETLKW, record(fcntl.F_RDLCK)))
attempt("open file", lambda: fcntl.fcntl(h, 37, record(fcntl.F_RDLCK)))
attempt("open file waits", lambda: fcntl.fcntl(h, 38, record(fcntl.F_RDLCK)))
attempt("lease", lambda: fcntl.fcntl(d, fcntl.F_SETLEASE, fcntl.F_RDLCK))
open("up", "w").close() if len(sys.argv) < 3 else print("up", flush=True)
time.sleep(20)
`

// TestLocksOutsideArePrivate: a command holds nobody up by a lock on a file that it only reads, and does not notice.
func TestLocksOutsideArePrivate(t *testing.T) {
	needs(t, "/usr/bin/python3")
	for _, level := range []Level{Full, LandlockNotify} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			outside := filepath.Join(b.out, "shared.lock")
			must(t, os.WriteFile(outside, []byte("x"), 0o644))
			b.write(t, "locks.py", takesLocks)
			p := b.start(t, Profile{Access: Workspace}, `/usr/bin/python3 locks.py `+outside+` > said 2>&1`)
			defer p.Kill()
			b.await(t, "up")
			if said, _ := os.ReadFile(filepath.Join(b.ws, "said")); string(said) != "lease Operation not permitted\n" && len(said) > 0 {
				t.Errorf("it was refused: %s", said)
			}
			f, err := os.OpenFile(outside, os.O_RDWR, 0)
			must(t, err)
			defer f.Close()
			if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
				t.Errorf("a lock of the user: %v", err)
			}
			if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
				t.Errorf("a lock of the user's program: %v", err)
			}
			read := b.run(t, ReadOnly, `timeout 1 /usr/bin/python3 locks.py `+outside+` print`)
			if f.Truncate(0); read.out != "lease Operation not permitted\nup" {
				t.Errorf("a reader: %q, %v", read.out, read.err)
			}
		})
	}
}

// TestLocksOfTheWorkspace: locks on files of the command's own are as everywhere: they wait, time out, are interrupted and are seen from outside.
func TestLocksOfTheWorkspace(t *testing.T) {
	for _, program := range []string{"flock", "/usr/bin/python3", "sqlite3", "timeout"} {
		needs(t, program)
	}
	for _, level := range []Level{Full, LandlockNotify} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			b.write(t, "posix.py", `import fcntl, os, signal, sys, time
f = open("p.lock", "w")
fcntl.lockf(f, fcntl.LOCK_EX)
pid = os.fork()
if pid == 0:
    g = open("p.lock", "r+")
    try: fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB); print("both")
    except OSError: print("held")
    class Alarm(Exception): pass
    def ring(*_): raise Alarm
    signal.signal(signal.SIGALRM, ring); signal.alarm(1)
    try: fcntl.flock(os.open("f.lock", os.O_RDONLY), fcntl.LOCK_EX); print("flock both")
    except Alarm: print("interrupted")
    sys.stdout.flush(); os._exit(0)
os.waitpid(pid, 0)`)
			for _, tt := range []struct{ line, want string }{
				{"(flock 9; touch up1; sleep 0.5; echo first) 9> f.lock & while [ ! -e up1 ]; do sleep 0.01; done; flock f.lock echo second; wait", "first\nsecond"},
				{"(flock 9; touch up2; sleep 3) 9> f.lock & while [ ! -e up2 ]; do sleep 0.01; done; flock -n f.lock true; echo $?; flock -w 0.3 f.lock true; echo $?; kill %1; wait 2>/dev/null", "1\n1"},
				{"exec 9< f.lock; flock -s 9; flock -s f.lock echo shared; flock -n f.lock true; echo $?; flock -u 9; flock -n f.lock echo free", "shared\n1\nfree"},
				{"(flock 9; touch up3; sleep 3) 9> f.lock & while [ ! -e up3 ]; do sleep 0.01; done; /usr/bin/python3 posix.py; kill %1; wait 2>/dev/null", "held\ninterrupted"},
				{"for i in 1 2 3 4; do sqlite3 -cmd '.timeout 20000' x.db 'create table if not exists t(a); insert into t values(1);' & done; wait; sqlite3 x.db 'select count(*) from t'", "4"},
				{"timeout 1 flock f.lock true; echo $?; flock $TMPDIR/l echo scratch; flock . echo directory", "0\nscratch\ndirectory"},
			} {
				if r := b.run(t, Workspace, tt.line); r.out != tt.want || r.err != nil {
					t.Errorf("%s\nprinted %q, want %q; %v", tt.line, r.out, tt.want, r.err)
				}
			}
		})
	}
}
