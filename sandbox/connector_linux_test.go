package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// dialer is a program that connects to each of its operands and says what came of it. Bash runs it as "dial".
const dialer = `dial() { python3 - "$@" <<'E'
import errno, os, socket, sys
for name in sys.argv[1:]:
    kind, _, path = name.rpartition("=")
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET if kind == "packets" else socket.SOCK_STREAM)
    if kind == "place":
        path = "/proc/self/fd/%d" % os.open(path, os.O_PATH)
    try:
        s.connect("\0" + path[1:] if path[0] == "@" else path)
        print("connected")
    except OSError as e:
        print(errno.errorcode[e.errno])
E
}
`

func needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skip(err)
	}
}

// server is a program of the host that counts who comes.
type server struct {
	came atomic.Int32
}

// listen listens at path.
func (s *server) listen(t testing.TB, network, path string) {
	t.Helper()
	l, err := net.Listen(network, path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	t.Cleanup(func() { l.Close() })
	go s.serve(l) // ends with the listener
}

func (s *server) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.came.Add(1)
		c.Close()
	}
}

// connections returns how many came. It waits for want of them: a connection counts when the server's goroutine has it.
func (s *server) connections(want int32) int32 {
	for limit := time.Now().Add(hang); s.came.Load() < want && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	return s.came.Load()
}

// listenAs listens by another name than the path that the socket then has.
func (s *server) listenAs(t testing.TB, dir, name string) {
	t.Helper()
	at, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	s.listen(t, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", at.Fd(), name))
}

// Sockets of the host are out of reach, by whatever name they were bound, wherever they are and by whatever name they
// are asked for.
func TestHostSockets(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	var host server
	host.listen(t, "unix", b.out+"/plain")
	host.listen(t, "unixpacket", b.out+"/packets")
	host.listenAs(t, b.out, "relative")
	host.listen(t, "unix", b.out+"/first")
	host.listen(t, "unix", b.ws+"/inside")
	host.listenAs(t, b.ws, "within")
	host.listen(t, "unix", b.ws+"/first")
	for from, to := range map[string]string{b.out + "/first": b.out + "/moved", b.ws + "/first": b.ws + "/moved"} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, line, want, path string }{
		{"plain", `dial $HOME/../out/plain`, "EACCES", "out/plain"},
		{"packets", `dial packets=$HOME/../out/packets`, "EACCES", "out/packets"},
		{"bound by a relative name", `dial $HOME/../out/relative`, "EACCES", "out/relative"},
		{"moved", `dial $HOME/../out/moved`, "EACCES", "out/moved"},
		{"by a relative name", `cd $HOME/../out; dial plain`, "EACCES", "out/plain"},
		{"by a link", `ln -s $HOME/../out/plain l; dial l`, "EACCES", "out/plain"},
		{"by a descriptor", `dial place=$HOME/../out/plain`, "EACCES", "out/plain"},
		{"by the directory of a process", `cd $HOME/../out; dial /proc/self/cwd/plain`, "EACCES", "out/plain"},
		{"in the workspace", `dial inside`, "EACCES", "ws/inside"},
		{"there by a relative name", `dial within`, "EACCES", "ws/within"},
		{"there and moved", `dial moved`, "EACCES", "ws/moved"},
		{"moved by the command", `mv inside mine; dial mine`, "EACCES", "ws/mine"},
		{"linked by the command", `ln within hard; dial hard`, "EACCES", "ws/hard"},
		{"linked from outside", `ln $HOME/../out/plain hard2 2>&1 | grep -o 'cross-device'`, "cross-device", ""},
		{"no socket", `dial $PWD/..`, "ECONNREFUSED", ""},
		{"nothing", `dial $HOME/../out/none`, "ENOENT", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.run(t, Workspace, dialer+tt.line)
			if r.err != nil || r.out != tt.want {
				t.Errorf("%q, %v; want %q", r.out, r.err, tt.want)
			}
			path := filepath.Join(filepath.Dir(b.ws), tt.path)
			told := slices.ContainsFunc(r.violations, func(v Violation) bool {
				return v.Wall == FileSystem && v.Path == path && v.Call == "connect" && v.Grant == "socket:"+path && v.Certain
			})
			if told != (tt.path != "") {
				t.Errorf("violations %+v; want one of %q", r.violations, tt.path)
			}
		})
	}
	t.Run("made later", func(t *testing.T) {
		p := b.start(t, Profile{Access: Workspace}, dialer+`: > began; until [ -e $HOME/../out/late ]; do sleep .01; done; dial $HOME/../out/late > late.out; : > ended`)
		b.await(t, "began")
		host.listen(t, "unix", b.out+"/late")
		b.await(t, "ended")
		<-p.Gone()
		if out, _ := os.ReadFile(b.ws + "/late.out"); string(out) != "EACCES\n" {
			t.Errorf("%q", out)
		}
	})
	t.Run("read only", func(t *testing.T) {
		if r := b.run(t, ReadOnly, dialer+`dial $HOME/../out/plain 2>&1 | grep -o PermissionError | head -1`); r.out != "PermissionError" {
			t.Errorf("%q", r.out)
		}
	})
	if got := host.came.Load(); got != 0 {
		t.Errorf("%d connections came", got)
	}
}

// Local sockets that can be pointed at any name are not to be had; pairs are, and in read_only nothing else.
func TestKindsOfLocalSockets(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	const line = `python3 - <<'E'
import errno, socket
S = socket
for make in [S.socket, S.socketpair]:
    for kind in [S.SOCK_STREAM, S.SOCK_SEQPACKET, S.SOCK_DGRAM, S.SOCK_RAW]:
        try:
            make(S.AF_UNIX, kind)
            print(end="yes ")
        except OSError as e:
            print(end=errno.errorcode[e.errno] + " ")
E`
	for access, want := range map[Access]string{
		Workspace: "yes yes EACCES EACCES yes yes EACCES EACCES ",
		ReadOnly:  "EACCES EACCES EACCES EACCES yes yes EACCES EACCES ",
	} {
		if r := b.run(t, access, line); r.out != want {
			t.Errorf("%s: %q, want %q", access, r.out, want)
		}
	}
}

const echoServer = `import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()
open(sys.argv[2], "w").close()
while True:
    c, _ = s.accept(); c.close()
`

// Sockets of the session are reached, by the same command and by later ones, also moved; and what is left of them says
// that nobody is there.
func TestOwnSockets(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	b.write(t, "serve.py", echoServer)
	b.write(t, "data", "no socket")
	server := b.start(t, Profile{Access: Workspace}, `python3 serve.py /tmp/s up1 & python3 serve.py s up2 & mkdir d; cd d; python3 ../serve.py s ../up3`)
	for _, name := range []string{"up1", "up2", "up3"} {
		b.await(t, name)
	}
	for _, tt := range []struct{ name, line, want string }{
		{"in /tmp", `dial /tmp/s`, "connected"},
		{"in the workspace", `dial s; dial $PWD/s; dial ./d/s`, "connected\nconnected\nconnected"},
		{"by a descriptor and by a link", `dial place=s; ln -s s l; dial l`, "connected\nconnected"},
		{"moved", `mv s s2; dial s2; dial s; mv s2 s`, "connected\nENOENT"},
		{"linked", `ln s s3; dial s3; rm s3`, "connected"},
		{"of the same command", `python3 serve.py /dev/shm/s up4 & until [ -e up4 ]; do sleep .01; done; dial /dev/shm/s; kill $!`, "connected"},
		{"no socket", `dial data`, "ECONNREFUSED"},
		{"nobody at an abstract name", `dial @toolhost-nobody`, "ECONNREFUSED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := b.run(t, Workspace, dialer+tt.line); r.err != nil || r.out != tt.want || len(r.violations) > 0 {
				t.Errorf("%q, %v, %+v; want %q", r.out, r.err, r.violations, tt.want)
			}
		})
	}
	server.Kill()
	<-server.Gone()
	if r := b.run(t, Workspace, dialer+`dial s; dial /tmp/s`); r.out != "ECONNREFUSED\nECONNREFUSED" || len(r.violations) > 0 {
		t.Errorf("left behind: %q, %+v", r.out, r.violations)
	}
}

// What a grant names is reached, also where the command has a directory of its own in its place; and nothing else is.
func TestGrantedSocket(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	hidden, err := os.MkdirTemp("/tmp", "toolhost-socket-") // commands have a /tmp of their own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(hidden) })
	var granted, other server
	granted.listen(t, "unix", b.out+"/granted")
	granted.listen(t, "unix", hidden+"/granted")
	granted.listen(t, "unix", b.ws+"/granted")
	other.listen(t, "unix", b.out+"/other")
	other.listen(t, "unix", hidden+"/other")
	if err := os.Symlink("granted", b.out+"/alias"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(b.out+"/other", b.ws+"/turned"); err != nil { // as if a command had
		t.Fatal(err)
	}
	profile := Profile{Access: Workspace, Reveal: []string{b.out + "/alias", hidden + "/granted", b.ws + "/granted", b.ws + "/turned"}}
	for line, want := range map[string]string{
		`dial $HOME/../out/granted $HOME/../out/alias ` + hidden + `/granted granted`: "connected\nconnected\nconnected\nconnected",
		`dial $HOME/../out/other turned ` + hidden + `/other`:                         "EACCES\nEACCES\nENOENT",
	} {
		if r := b.runProfile(t, profile, dialer+line); r.err != nil || r.out != want {
			t.Errorf("%s: %q, %v; want %q", line, r.out, r.err, want)
		}
	}
	if got, others := granted.connections(4), other.came.Load(); got != 4 || others != 0 {
		t.Errorf("%d connections, and %d where none was granted", got, others)
	}
}

// Programs that speak to themselves by sockets do so still.
func TestProgramsWithLocalSockets(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "pool.py", `import multiprocessing as m
def f(x): return x * x
if __name__ == "__main__":
    m.set_start_method("spawn")
    with m.Pool(3) as p: print(p.map(f, range(5)))
    with m.Manager() as g:
        d = g.dict(); q = [m.Process(target=d.__setitem__, args=(i, i)) for i in range(8)]
        [p.start() for p in q]; [p.join() for p in q]; print(sorted(d.keys()))
`)
	b.write(t, "loop.py", `import asyncio
async def main():
    async def hello(r, w): w.write(await r.readline()); w.close()
    for s, dial in [(await asyncio.start_unix_server(hello, "/tmp/loop"), lambda: asyncio.open_unix_connection("/tmp/loop")),
                    (await asyncio.start_server(hello, "127.0.0.1", 7001), lambda: asyncio.open_connection("127.0.0.1", 7001))]:
        async def one():
            r, w = await dial(); w.write(b"x\n"); return (await r.read()).decode().strip()
        print("".join(await asyncio.gather(*[one() for _ in range(60)])) == "x" * 60)
asyncio.run(main())
`)
	b.write(t, "main.js", `const net = require("net"), {fork, execSync} = require("child_process"), {Worker} = require("worker_threads");
if (process.send) { process.on("message", m => { process.send(m + 1); process.disconnect(); }); }
else {
  const s = net.createServer(c => c.end("hi")).listen("./node.sock", () => net.connect("./node.sock").on("data", d => {
    const c = fork(__filename); c.send(1); c.on("message", m => {
      new Worker("require('worker_threads').parentPort.postMessage(7)", {eval: true}).on("message", w => {
        console.log(String(d), m, w, String(execSync("echo out")).trim()); s.close(); }); }); }));
}
`)
	for _, tt := range []struct{ name, program, line, want string }{
		{"python pools and managers", "python3", `python3 pool.py`, "[0, 1, 4, 9, 16]\n[0, 1, 2, 3, 4, 5, 6, 7]"},
		{"asyncio", "python3", `python3 loop.py`, "True\nTrue"},
		{"node", "node", `node main.js`, "hi 2 7 out"},
		{"git", "git", `git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git clone -q "file://$PWD" ../c && git -C ../c log --format=%s`, "x"},
		{"script", "script", `script -qec 'echo hi' /dev/null | tr -d '\r'`, "hi"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			needs(t, tt.program)
			if r := b.run(t, Workspace, tt.line); r.err != nil || r.out != tt.want {
				t.Errorf("%q, %v, %+v; want %q", r.out, r.err, r.violations, tt.want)
			}
		})
	}
}

// Many connects at once, to a server that takes nobody, are bounded; they hold up neither other commands nor the end of
// their own, and leave nothing.
func TestConnectFlood(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	b.run(t, Workspace, "true") // starts the holder
	goroutines, fds := settled(), openFDs(t)
	b.write(t, "flood.py", `import errno, socket, threading
s = socket.socket(socket.AF_UNIX); s.bind("/tmp/full"); s.listen(0)
kinds = {}
def dial():
    c = socket.socket(socket.AF_UNIX)
    try: c.connect("/tmp/full"); r = "connected"
    except OSError as e: r = errno.errorcode[e.errno]
    kinds.setdefault(r, []).append(c)
for _ in range(700): threading.Thread(target=dial, daemon=True).start()
while not kinds.get("EAGAIN"): threading.Event().wait(.01)
open("flooded", "w").close()
threading.Event().wait()
`)
	p := b.start(t, Profile{Access: Workspace}, `python3 flood.py`)
	b.await(t, "flooded")
	if got := openFDs(t) - fds; got > 200 {
		t.Errorf("%d descriptors more", got)
	}
	if r := b.run(t, Workspace, dialer+`dial @nobody`); r.out != "ECONNREFUSED" {
		t.Errorf("beside it: %q", r.out)
	}
	began := time.Now()
	p.Kill()
	<-p.Gone()
	if took := time.Since(began); took > hang {
		t.Errorf("its end took %v", took)
	}
	left := func() bool { return openFDs(t) > fds || runtime.NumGoroutine() > goroutines }
	limit := time.Now().Add(hang) // others of the session come and go: what is protected is looked for again
	for left() && time.Now().Before(limit) {
		time.Sleep(time.Millisecond)
	}
	if left() {
		t.Errorf("%d descriptors and %d goroutines, %d and %d before", openFDs(t), runtime.NumGoroutine(), fds, goroutines)
	}
}

// settled is the number of goroutines when it has not changed for a while.
func settled() int {
	n := runtime.NumGoroutine()
	for same := 0; same < 20; same++ {
		time.Sleep(5 * time.Millisecond)
		if now := runtime.NumGoroutine(); now != n {
			n, same = now, 0
		}
	}
	return n
}

func openFDs(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Streams that are sockets of a network, or that can be pointed elsewhere, are none for a command.
func TestStreamsThatAreSockets(t *testing.T) {
	b := newBench(t, nil)
	for _, tt := range []struct {
		name         string
		family, kind int
		pair, ok     bool
	}{
		{"a pair", unix.AF_UNIX, unix.SOCK_STREAM, true, true},
		{"a pair that sends to any name", unix.AF_UNIX, unix.SOCK_DGRAM, true, false},
		{"not connected", unix.AF_UNIX, unix.SOCK_STREAM, false, false},
		{"TCP", unix.AF_INET, unix.SOCK_STREAM, false, false},
		{"UDP", unix.AF_INET, unix.SOCK_DGRAM, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var fds [2]int
			var err error
			if tt.pair {
				fds, err = unix.Socketpair(tt.family, tt.kind|unix.SOCK_CLOEXEC, 0)
				defer unix.Close(fds[1])
			} else {
				fds[0], err = unix.Socket(tt.family, tt.kind|unix.SOCK_CLOEXEC, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			f := os.NewFile(uintptr(fds[0]), "stream")
			defer f.Close()
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer null.Close()
			p, err := b.begin(t, Profile{Access: ReadOnly}, "true", [3]*os.File{f, null, null})
			if err == nil {
				<-p.Gone()
			}
			if (err == nil) != tt.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

// What the kernel says of its sockets is read as it is, and anything else is nothing.
func FuzzListing(f *testing.F) {
	s := sockets{sequence: 7}
	wanted := boundName{42, 0x00800003}
	message := func(kind uint16, sequence byte, body ...byte) []byte {
		header := []byte{byte(len(body) + sizeHeader), 0, 0, 0, byte(kind), 0, 0, 0, sequence, 0, 0, 0, 0, 0, 0, 0}
		return append(header, body...)
	}
	attribute := []byte{12, 0, attributeVFS, 0, 42, 0, 0, 0, 3, 0, 0x80, 0}
	socket := slices.Concat(make([]byte, sizeMessage), []byte{5, 0, 0, 0, 'x', 0, 0, 0}, attribute)
	f.Add(slices.Concat(message(sockDiagByFamily, 7, socket...), message(unix.NLMSG_DONE, 7, 0, 0, 0, 0)))
	f.Add(message(sockDiagByFamily, 6, socket...))
	f.Add(message(unix.NLMSG_ERROR, 7, 0xfe, 0xff, 0xff, 0xff))
	f.Add([]byte(strings.Repeat("\xff", 64)))
	found, done, err := s.part(slices.Concat(message(sockDiagByFamily, 7, socket...), message(unix.NLMSG_DONE, 7)), wanted)
	if !found || !done || err != nil {
		f.Errorf("got %v, %v, %v", found, done, err)
	}
	if found, _, err := s.part(message(sockDiagByFamily, 6, socket...), wanted); found || err != nil {
		f.Errorf("of an older listing: %v, %v", found, err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		found, done, err := s.part(b, wanted)
		if found && (err != nil || !strings.Contains(string(b), string(attribute[4:]))) {
			t.Errorf("found in %q: %v, %v", b, done, err)
		}
	})
}

// BenchmarkListing is what asking the kernel costs for each connect to a local socket, with as many of them listening.
func BenchmarkListing(b *testing.B) {
	for _, n := range []int{0, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				l, err := net.Listen("unix", fmt.Sprintf("%s/%d", dir, i))
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
			}
			s, err := hostSockets()
			if err != nil {
				b.Fatal(err)
			}
			defer s.close()
			for b.Loop() {
				if found, err := s.listens(boundName{1, 1}); found || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
}
