package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/notify"
)

// TestWallOpensSockets: a connect to a socket of the host waits, and goes on when a user opens that socket, and no other.
func TestWallOpensSockets(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	for _, c := range []struct {
		name, line string
		want       string // of each connect
		asked      string // sockets from the attempt's directory
		came       int32
	}{
		{"one that shows", `dial $out/yes $out/yes $out/no $out/no`, "connected connected EACCES EACCES", "out/yes out/no", 2},
		{"one that does not show", `dial $HOME/agent $HOME/agent $HOME/no`, "connected connected ENOENT", "home/agent home/no", 2},
		{"of the host, in the workspace", `dial inside $PWD/inside`, "connected connected", "ws/inside", 2},
		{"another in its place", `dial inside; mv inside old; mv other inside; dial inside old`, "connected EACCES connected", "ws/inside", 2},
		{"by its other names", `dial $out/link; dial $HOME/agent /proc/self/root$HOME/agent $out/link`,
			"connected connected connected connected", "home/agent", 4},
		{"its own link to it", `ln -s $HOME/agent l; dial l; ln -s $out l2; dial l2/yes`, "ENOENT connected", "out/yes", 1},
		{"by a way around", `mkdir d; dial d/../../home/agent $HOME/x/../agent`, "ENOENT connected", "home/agent", 1},
		{"no socket, and none", `dial $HOME/file $HOME/none $out/none /run/none`, "ENOENT ENOENT ENOENT ENOENT", "", 0},
		{"its own", `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("mine")'; dial mine`, "ECONNREFUSED", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			var host server
			for _, path := range []string{b.out + "/yes", b.out + "/no", b.home + "/agent", b.home + "/no", b.ws + "/inside", b.ws + "/other"} {
				host.listen(t, "unix", path)
			}
			if err := os.Symlink(b.home+"/agent", b.out+"/link"); err != nil {
				t.Fatal(err)
			}
			b.user = &answers{say: func(v Violation) bool { return filepath.Base(v.Path) != "no" }}
			r := b.run(t, Workspace, "out="+b.out+"\n"+dialer+c.line)
			if got := strings.Join(strings.Fields(r.out), " "); got != c.want {
				t.Errorf("%q, want %q: %v", got, c.want, r)
			}
			if got := strings.Join(b.user.paths(filepath.Dir(b.ws)), " "); got != c.asked {
				t.Errorf("asked about %q and not %q", got, c.asked)
			}
			for _, v := range b.user.asked {
				if v.Grant != "socket:"+v.Path || v.Program == "" || v.Call != "connect" {
					t.Errorf("asked about %+v", v)
				}
			}
			if n := host.connections(c.came); n != c.came {
				t.Errorf("%d came, want %d", n, c.came)
			}
			b.user = &answers{say: func(Violation) bool { return false }}
			if next := b.run(t, Workspace, dialer+"dial "+b.out+"/yes "+b.home+"/agent "+b.ws+"/inside"); strings.Contains(next.out, "connected") {
				t.Errorf("what was opened to the command is open to the next one: %q", next.out)
			}
		})
	}
}

// TestAskedConnectIsNotSwapped: a caller that changes the name in its memory, or its socket, while a user is asked gains nothing by the yes.
func TestAskedConnectIsNotSwapped(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	const swaps = `python3 - $out/yes $out/no %q <<'E'
import ctypes, errno, os, socket, struct, sys, threading, time
yes, no, how = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
address = lambda path: struct.pack("H", socket.AF_UNIX) + path.encode().ljust(108, b"\0")
memory = ctypes.create_string_buffer(address(yes), 110)
s, other = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET)
def swap():
    while not os.path.exists("asked"): time.sleep(.01)
    if how == "name": ctypes.memmove(memory, address(no), 110)
    if how == "file": os.dup2(os.open("/dev/null", os.O_RDWR), s.fileno())
    if how == "closed": os.close(s.fileno())
    if how == "socket": os.dup2(other.fileno(), s.fileno())
    os.mkdir("swapped") # which takes no descriptor
threading.Thread(target=swap).start()
failed = libc.connect(s.fileno(), memory, 110)
print(errno.errorcode[ctypes.get_errno()] if failed else "connected", flush=True)
os._exit(0)
E
`
	for how, want := range map[string]string{
		"none": "connected", "name": "EACCES", "file": "ENOTSOCK", "closed": "EBADF", "socket": "EAFNOSUPPORT",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			var host server
			host.listen(t, "unix", b.out+"/yes")
			host.listen(t, "unix", b.out+"/no")
			b.user = &answers{say: func(Violation) bool { return true }, wait: func(context.Context) {
				b.write(t, "asked", "")
				b.await(t, "swapped")
			}}
			r := b.run(t, Workspace, "out="+b.out+"\n"+fmt.Sprintf(swaps, how))
			if strings.TrimSpace(r.out) != want || len(b.user.asked) != 1 {
				t.Errorf("%v, want %s; asked %d times", r, want, len(b.user.asked))
			}
			wanted := int32(0)
			if want == "connected" {
				wanted = 1
			}
			if came := host.connections(wanted); came != wanted {
				t.Errorf("%d came, want %d", came, wanted)
			}
		})
	}
}

// TestWallOpensNoLaterSocket: a yes to a socket opens none that the host makes under its name later, though its inode would have the same number.
func TestWallOpensNoLaterSocket(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	for _, dir := range []string{"ws", "home"} { // one that shows, and one that does not
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			path := filepath.Join(filepath.Dir(b.ws), dir, "agent")
			b.user = &answers{say: func(Violation) bool { return true }}
			first, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer first.Close()
			was := inodeOf(t, path)
			b.start(t, Profile{Access: Workspace}, dialer+"dial "+path+" > first; : > began; until [ -e go ]; do sleep .01; done; dial "+path+" > second; : > ended")
			b.await(t, "began")
			first.Close()
			var host server
			for i := range 100 { // file systems give numbers anew
				host.listen(t, "unix", path)
				if inodeOf(t, path) == was {
					t.Error("a socket that a user opened has lost its inode while the command runs")
				}
				if i < 99 {
					os.Remove(path)
				}
			}
			b.write(t, "go", "")
			b.await(t, "ended")
			for name, opened := range map[string]bool{"first": true, "second": false} {
				if said, _ := os.ReadFile(filepath.Join(b.ws, name)); (string(said) == "connected\n") != opened {
					t.Errorf("the %s: %q", name, said)
				}
			}
			if n := host.came.Load(); n != 0 {
				t.Errorf("%d came to the later one", n)
			}
		})
	}
}

func inodeOf(t *testing.T, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}

// TestAskedSocketsAreGivenUp: the sockets that a command asked about cost a bounded number of descriptors, and none when it has ended.
func TestAskedSocketsAreGivenUp(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	var host server
	for i := range 2 * maxHostSockets {
		host.listen(t, "unix", fmt.Sprintf("%s/%d", b.out, i))
	}
	b.run(t, Workspace, "true")
	before := descriptors(t)
	b.user = &answers{say: func(v Violation) bool { return strings.HasSuffix(v.Path, "1") }}
	r := b.run(t, Workspace, "out="+b.out+"\n"+dialer+"for i in 1 2 3 4; do dial $out/{0..127}; done | sort | uniq -c")
	if len(b.user.asked) != maxHostSockets || !strings.Contains(r.out, "connected") {
		t.Errorf("asked about %d sockets: %v", len(b.user.asked), r)
	}
	for limit := time.Now().Add(hang); descriptors(t) > before && time.Now().Before(limit); {
		time.Sleep(10 * time.Millisecond) // connections of the host's end
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, and %d before", after, before)
	}
}

// TestSocketsOfLibrariesAreNotAsked: that holds for those that commands see, too, such as those of SSSD.
func TestSocketsOfLibrariesAreNotAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.user = &answers{say: func(Violation) bool { return true }}
	var host server
	host.listen(t, "unix", b.out+"/s")
	place := openSocket(b.out + "/s")
	defer unix.Close(place)
	p := b.start(t, Profile{Access: Workspace}, ": > began; sleep 100")
	defer p.Kill()
	b.await(t, "began")
	for path, asks := range map[string]bool{"/var/lib/sss/pipes/nss": false, b.out + "/s": true} {
		n := &notify.Connection{PID: os.Getpid(), Path: path, Place: place}
		if got := p.connector.asker.ask(n, socketViolation(path, ""), place); got != asks || (n.Question != nil) != asks {
			t.Errorf("%s: asks %v", path, got)
		}
	}
}

// TestSocketsOfLibraries: sockets that libraries try by themselves are not asked about.
func TestSocketsOfLibraries(t *testing.T) {
	for path, want := range map[string]bool{
		"/run/nscd/socket": true, "/run/systemd/journal/socket": true, "/run/dbus/system_bus_socket": true, "/dev/log": true,
		"/run/user/1000/bus": true, "/run/user/1000/wayland-0": true, "/run/user/1000/pulse/native": true, "/tmp/.X11-unix/X0": true,
		"/run/docker.sock": false, "/run/user/1000/podman/podman.sock": false, "/run/user/1000/gnupg/S.gpg-agent": false,
		"/run/postgresql/.s.PGSQL.5432": false, "/run/user/1000": false, "/run/user/1000/keyring/ssh": false,
	} {
		if got := ofLibraries(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
