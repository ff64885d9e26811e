package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// visits are what came to the listeners of an attempt.
type visits struct {
	expected bool // somebody comes
	mu       sync.Mutex
	all      []string
}

func (v *visits) add(where string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, where)
}

func (v *visits) list() string {
	for end := time.Now().Add(time.Minute); ; {
		time.Sleep(20 * time.Millisecond) // what was sent is on its way
		v.mu.Lock()
		all := strings.Join(v.all, " ")
		v.mu.Unlock()
		if all != "" || !v.expected || time.Now().After(end) {
			return all
		}
	}
}

// listen takes note of who comes to a listener until the test ends.
func (v *visits) listen(a *escapeAttempt, l net.Listener) {
	a.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			v.add(l.Addr().String())
			c.Close()
		}
	}()
}

// receive takes note of what comes to a socket that takes packets.
func (v *visits) receive(a *escapeAttempt, c net.PacketConn) {
	a.t.Cleanup(func() { c.Close() })
	go func() {
		for b := make([]byte, 64); ; {
			if _, _, err := c.ReadFrom(b); err != nil {
				return
			}
			v.add(c.LocalAddr().String())
		}
	}()
}

// local listens at a local socket of the attempt, which its account may use.
func (v *visits) local(a *escapeAttempt, kind, path string) {
	a.t.Helper()
	if kind == "unixgram" {
		c, err := net.ListenUnixgram(kind, &net.UnixAddr{Name: path, Net: kind})
		if err != nil {
			a.t.Fatal(err)
		}
		v.receive(a, c)
	} else {
		l, err := net.ListenUnix(kind, &net.UnixAddr{Name: path, Net: kind})
		if err != nil {
			a.t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		v.listen(a, l)
	}
	if path[0] != '@' {
		_ = os.Chmod(path, 0o777)
	}
}

// reached is a harm: somebody came.
func reached(a *escapeAttempt, _ string) string {
	if who, ok := a.visits(); ok && who.list() != "" {
		return "reached: " + who.list()
	}
	return ""
}

// guests are the visits of each attempt.
var guests sync.Map

func (a *escapeAttempt) visits() (*visits, bool) {
	v, ok := guests.Load(a)
	if !ok {
		return nil, false
	}
	return v.(*visits), true
}

// host makes the visits of an attempt.
func hostVisits(a *escapeAttempt) *visits {
	v := &visits{expected: a.harms}
	guests.Store(a, v)
	a.t.Cleanup(func() { guests.Delete(a) })
	return v
}

// relative binds a socket by a name that says nothing of where it is.
func relative(a *escapeAttempt, path string) *os.File {
	a.t.Helper()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		a.t.Fatal(err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		a.t.Fatal(err)
	}
	defer dir.Close()
	// The name in the kernel's list is the one that bind was given.
	name := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}); err != nil {
		a.t.Fatal(err)
	}
	if err := syscall.Listen(fd, 8); err != nil {
		a.t.Fatal(err)
	}
	_ = os.Chmod(path, 0o777)
	return os.NewFile(uintptr(fd), name)
}

// socketAttempts reach local sockets of the host.
var socketAttempts = []attempt{
	{
		name: "local sockets", at: anywhere, readOnly: true, shell: true, changes: "ws/attempt.sh ws/l",
		set: func(a *escapeAttempt) {
			v := hostVisits(a)
			v.local(a, "unix", a.path("outside/s"))
			v.local(a, "unixpacket", a.path("outside/p"))
			v.local(a, "unix", a.path("ws/s"))
			v.local(a, "unix", a.path("home/s"))
			v.local(a, "unix", a.path("run/s"))
		},
		script: `for s in $OUT/s $WS/s $H/s $RUN/s; do $P local stream $s; done; $P local seqpacket $OUT/p
			ln -s $OUT/s l; $P local stream l; cd $OUT; $P local stream s; true`, harm: reached,
	},
	{
		name: "sockets that are not in the kernel's list by their path", at: anywhere, readOnly: true,
		set: func(a *escapeAttempt) {
			v := hostVisits(a)
			for _, name := range []string{"outside/rel", "ws/rel"} {
				f := relative(a, a.path(name))
				l, err := net.FileListener(f)
				if err != nil {
					a.t.Fatal(err)
				}
				f.Close()
				v.listen(a, l)
			}
			v.local(a, "unix", a.path("outside/tmp"))
			a.host("mv $OUT/tmp $OUT/moved; mkdir $OUT/m")
			v.local(a, "unix", a.path("outside/m/s"))
			a.host("mv $OUT/m $OUT/m2")
		},
		script: `$P local stream $OUT/rel; $P local stream $WS/rel; $P local stream $OUT/moved
			$P local stream $OUT/m2/s; true`, harm: reached,
	},
	{
		name: "sockets that take packets", at: anywhere, readOnly: true,
		set:    func(a *escapeAttempt) { hostVisits(a).local(a, "unixgram", a.path("outside/d")) },
		script: `$P local dgram $OUT/d; true`, harm: reached,
	},
	{
		name: "a socket that is made later", readOnly: true,
		set: func(a *escapeAttempt) {
			v := hostVisits(a)
			go func() {
				time.Sleep(500 * time.Millisecond) // the command runs
				l, err := net.Listen("unix", a.path("outside/late"))
				if err == nil {
					_ = os.Chmod(a.path("outside/late"), 0o777)
					v.listen(a, l)
				}
			}()
		},
		changes: "outside/late",
		script: `for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do [ -w $OUT/late ] && break; sleep .2; done
			$P local stream $OUT/late; true`, harm: reached,
	},
	{
		name: "abstract sockets and displays", row: "X11/Wayland/PipeWire sockets", at: anywhere, readOnly: true,
		set: func(a *escapeAttempt) {
			v := hostVisits(a)
			v.local(a, "unix", "@/tmp/.X11-unix/X-"+filepath.Base(a.dir))
			v.local(a, "unixgram", "@/tmp/.X11-dgram/X-"+filepath.Base(a.dir))
			v.local(a, "unix", a.path("run/wayland-0"))
			v.local(a, "unix", a.path("run/pipewire-0"))
			temporary(a, "/tmp")
			v.local(a, "unix", "/tmp/"+filepath.Base(a.dir)+"/X0")
		},
		script: `N=$(basename $DIR); $P local stream @/tmp/.X11-unix/X-$N; $P local dgram @/tmp/.X11-dgram/X-$N
			$P local stream $RUN/wayland-0; $P local stream $RUN/pipewire-0; $P local stream /tmp/$N/X0; true`,
		harm: reached,
	},
	{
		name: "the terminal of another", row: "tmux/screen/VSCode/JetBrains", at: anywhere, needs: "tmux",
		set: func(a *escapeAttempt) {
			a.host(`tmux -S $OUT/tmux -f /dev/null new -d "cat > $OUT/typed"; chmod 777 $OUT/tmux`)
			a.t.Cleanup(func() { a.host("tmux -S $OUT/tmux kill-server") })
			waitFor(a.t, func() bool { return exists(a, "outside/typed") })
		},
		script: `tmux -S $OUT/tmux send-keys 'echo evil' Enter; tmux -S $OUT/tmux new-window "touch $OUT/ran"
			tmux -S $OUT/tmux run-shell "touch $OUT/ran"; sleep .3`,
	},
	{
		name: "a connection that changes after it was judged", readOnly: true,
		set: func(a *escapeAttempt) {
			v := hostVisits(a)
			v.local(a, "unix", a.path("ws/mnt/s12345"))
			v.local(a, "unixgram", a.path("ws/mnt/d12345"))
		},
		script: `ln -s $WS/mnt/s12345 /dev/shm/l12345; $P swap-local /dev/shm/o12345 /dev/shm/l12345 $ROUNDS
			rm /dev/shm/l12345; ln -s $WS/mnt/d12345 /dev/shm/l12345
			$P swap-local /dev/shm/o12346 /dev/shm/l12345 $ROUNDS; true`,
		harm: reached, unfit: "it leaves links in the machine's memory",
	},
}
