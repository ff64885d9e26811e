package notify

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// connectVerbs are steps of the child. Each makes a socket, connects and closes it.
var connectVerbs = map[string]func(fds []int, words []string) error{
	"local": func(_ []int, w []string) error { return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, localRaw(w[0]+"\x00")) },
	"packets": func(_ []int, w []string) error {
		return dialRaw(unix.AF_UNIX, unix.SOCK_SEQPACKET, localRaw(w[0]+"\x00"))
	},
	"unended":  func(_ []int, w []string) error { return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, localRaw(w[0])) },
	"abstract": func(_ []int, w []string) error { return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, localRaw("\x00"+w[0])) },
	"prompt": func(_ []int, w []string) error {
		return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, localRaw(w[0]+"\x00"))
	},
	"patient":     func(_ []int, w []string) error { return dialPatient(w[0]) },
	"asplace":     func(_ []int, w []string) error { return dialPlace(w[0]) },
	"tcp":         func(_ []int, w []string) error { return dialTCP(w[0]) },
	"unspecified": func([]int, []string) error { return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, make([]byte, 16)) },
	"noname":      func([]int, []string) error { return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, localRaw("")) },
	"toolarge":    func([]int, []string) error { return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, make([]byte, 129)) },
	"nosocket":    func(fds []int, _ []string) error { return connectErr(fds[0], localRaw("x\x00")) },
	"nofd":        func([]int, []string) error { return connectErr(999, localRaw("x\x00")) },
	"nomemory":    func([]int, []string) error { return dialNowhere() },
	"netlink": func([]int, []string) error {
		return dialRaw(unix.AF_NETLINK, unix.SOCK_RAW, []byte{16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0})
	},
	"own":       func(_ []int, w []string) error { return dialOwnFiles(w[0]) },
	"racename":  func(_ []int, w []string) error { return raceName(w[0], w[1]) },
	"racefd":    func(_ []int, w []string) error { return raceDescriptor(w[0], w[1]) },
	"racelink":  func(_ []int, w []string) error { return raceLink(w[0], w[1]) },
	"spinlocal": func(_ []int, w []string) error { return spinConnect(w[0], unix.AF_UNIX, localRaw(w[1]+"\x00")) },
	"spintcp":   func(_ []int, w []string) error { return spinConnect(w[0], unix.AF_INET, inetRaw(w[1])) },
}

func localRaw(name string) []byte { return append([]byte{unix.AF_UNIX, 0}, name...) }

func inetRaw(port string) []byte {
	n, _ := strconv.Atoi(port)
	return []byte{unix.AF_INET, 0, byte(n >> 8), byte(n), 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
}

// connectErr is connectCall with an error as other steps have it.
func connectErr(fd int, address []byte) error {
	if errno := connectCall(fd, address); errno != 0 {
		return errno
	}
	return nil
}

func dialRaw(family, kind int, address []byte) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return connectErr(fd, address)
}

func dialTCP(port string) error { return dialRaw(unix.AF_INET, unix.SOCK_STREAM, inetRaw(port)) }

// dialPatient waits a moment at most where a backlog is full.
func dialPatient(name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &unix.Timeval{Usec: 50000}); err != nil {
		return err
	}
	return connectErr(fd, localRaw(name+"\x00"))
}

// dialPlace goes by a descriptor of the socket's name.
func dialPlace(name string) error {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, localRaw("/proc/self/fd/"+strconv.Itoa(fd)+"\x00"))
}

func dialNowhere() error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), 8, 16)
	return errno
}

// dialOwnFiles gives the thread descriptors of its own, and puts the socket where the process has none.
func dialOwnFiles(name string) error {
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const high = 700
	if err := unix.Dup3(fd, high, 0); err != nil {
		return err
	}
	defer unix.Close(high)
	return connectErr(high, localRaw(name+"\x00"))
}

// beside runs do again and again on another thread until the function that it returns is called.
func beside(do func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		for {
			select {
			case <-end:
				return
			default:
				do()
			}
		}
	}()
	return func() { close(end); <-ended }
}

const raceTimes = 2000

// raceName connects while another thread rewrites the address, its family too.
func raceName(allowed, refused string) error {
	buf := make([]byte, 64)
	first, second, third := localRaw(allowed+"\x00"), localRaw(refused+"\x00"), inetRaw("1")
	copy(buf, first)
	defer beside(func() { copy(buf, second); copy(buf, third); copy(buf, first) })()
	for range raceTimes {
		_ = dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, buf)
	}
	return nil
}

// raceDescriptor connects a number that is now a socket of one kind and now of another.
func raceDescriptor(port, refused string) error {
	inet, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(inet)
	local, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(local)
	const high = 700
	if err := unix.Dup3(inet, high, 0); err != nil {
		return err
	}
	defer unix.Close(high)
	buf := make([]byte, 64)
	first, second := inetRaw(port), localRaw(refused+"\x00")
	defer beside(func() {
		copy(buf, first)
		_ = unix.Dup3(inet, high, 0)
		copy(buf, second)
		_ = unix.Dup3(local, high, 0)
	})()
	for range raceTimes {
		_ = connectErr(high, buf)
	}
	return nil
}

// raceLink connects by a link that another thread keeps turning.
func raceLink(allowed, refused string) error {
	for _, name := range []string{"one", "two"} {
		if err := unix.Symlink(map[string]string{"one": allowed, "two": refused}[name], name); err != nil {
			return err
		}
	}
	defer beside(func() { _ = exchange("one", "two") })()
	for range raceTimes {
		_ = dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, localRaw("one\x00"))
	}
	return nil
}

func spinConnect(times string, family int, address []byte) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	for range n {
		if err := dialRaw(family, unix.SOCK_STREAM, address); err != nil {
			return err
		}
	}
	return nil
}

// doors are servers of the host in the workspace of a child: "open", which the judge lets through, and "shut".
type doors struct {
	*supervised
	mu    sync.Mutex
	asked []string
	open  *door
	shut  *door
	port  string
}

// door is a listener that counts who comes.
type door struct {
	net.Listener
	mu   sync.Mutex
	came int
}

func (d *door) serve() {
	for {
		c, err := d.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		d.came++
		d.mu.Unlock()
		c.Close()
	}
}

func (d *door) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.came
}

func startDoors(t testing.TB) *doors {
	t.Helper()
	d := &doors{}
	d.supervised = startWith(t, separate, continues, d.judge)
	real := filepath.Join(filepath.Dir(d.dir), "real")
	listen := func(network, address string) *door {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		at := &door{Listener: l}
		go at.serve() // ends with the listener
		t.Cleanup(func() { l.Close() })
		return at
	}
	d.open, d.shut = listen("unix", real+"/sub/open"), listen("unix", real+"/shut")
	listen("unixpacket", real+"/packets")
	_, d.port, _ = net.SplitHostPort(listen("tcp", "127.0.0.1:0").Addr().String())
	must(t, os.Symlink("sub/open", real+"/door"))
	must(t, os.Symlink(d.dir+"/door", real+"/sub/door"))
	return d
}

func (d *doors) judge(n *Connection) Verdict {
	d.mu.Lock()
	d.asked = append(d.asked, n.Path)
	d.mu.Unlock()
	switch {
	case n.Cause != nil:
		return Verdict(n.Cause.(unix.Errno))
	case n.Family == unix.AF_NETLINK || strings.HasSuffix(n.Path, "/shut"):
		return Verdict(unix.EPERM)
	}
	return Allow
}

// connectTests are connects: the step, its error, and the path that the judge was asked about; "-" if it was not.
var connectTests = []struct {
	name, step string
	errno      unix.Errno
	path       string
}{
	{"relative", "local sub/open", 0, "$/sub/open"},
	{"absolute", "local $/sub/open", 0, "$/sub/open"},
	{"dots", "local .git/../sub/./open", 0, "$/sub/open"},
	{"a link", "local door", 0, "$/sub/open"},
	{"links", "local sub/door", 0, "$/sub/open"},
	{"own directory", "local /proc/self/cwd/sub/open", 0, "$/sub/open"},
	{"a descriptor", "asplace sub/open", 0, "$/sub/open"},
	{"a name without an end", "unended sub/open", 0, "$/sub/open"},
	{"packets", "packets packets", 0, "$/packets"},
	{"not to be blocked", "prompt sub/open", 0, "$/sub/open"},
	{"refused", "local shut", unix.EPERM, "$/shut"},
	{"refused by a descriptor", "asplace shut", unix.EPERM, "$/shut"},
	{"another kind", "local packets", unix.EPROTOTYPE, "$/packets"},
	{"no socket", "local file", unix.ECONNREFUSED, "$/file"},
	{"a directory", "local sub/", unix.ECONNREFUSED, "$/sub"},
	{"missing", "local sub/none", unix.ENOENT, "sub/none"},
	{"no such directory", "local ./none/x", unix.ENOENT, "none/x"},
	{"links in a ring", "local loop", unix.ELOOP, "loop"},
	{"nobody at an abstract name", "abstract nobody", unix.ECONNREFUSED, ""},
	{"no name", "noname", unix.EINVAL, ""},
	{"no family", "unspecified", unix.EINVAL, ""},
	{"another family", "netlink", unix.EPERM, ""},
	{"too large an address", "toolarge", unix.EINVAL, "-"},
	{"no memory there", "nomemory", unix.EFAULT, "-"},
	{"a file", "nosocket @file", unix.ENOTSOCK, "-"},
	{"no descriptor", "nofd", unix.EBADF, "-"},
	{"descriptors of the thread alone", "own sub/open", 0, "$/sub/open"}, // the last: they stay its own
}

func TestConnect(t *testing.T) {
	d := startDoors(t)
	defer d.end()
	for _, test := range connectTests {
		t.Run(test.name, func(t *testing.T) {
			d.mu.Lock()
			d.asked = nil
			d.mu.Unlock()
			errno, _ := d.do(test.step)
			if errno != test.errno {
				t.Errorf("got error %d (%v), want %d", errno, errno, test.errno)
			}
			want := []string{strings.ReplaceAll(test.path, "$", d.dir)}
			if test.path == "-" {
				want = nil
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if fmt.Sprint(d.asked) != fmt.Sprint(want) {
				t.Errorf("asked about %q, want %q", d.asked, want)
			}
		})
	}
	t.Run("TCP", func(t *testing.T) {
		if errno, _ := d.do("tcp " + d.port); errno != 0 {
			t.Errorf("got %v", errno)
		}
		if errno, _ := d.do("tcp 1"); errno != unix.ECONNREFUSED {
			t.Errorf("nobody there: got %v", errno)
		}
	})
	if d.shut.count() > 0 {
		t.Error("somebody came where nobody was let")
	}
}

// Nothing that the caller changes after it was read changes where it is connected.
func TestConnectIsNotRaced(t *testing.T) {
	d := startDoors(t)
	defer d.end()
	for _, step := range []string{"racename sub/open shut", "racefd " + d.port + " shut", "racelink sub/open shut"} {
		if errno, _ := d.do(step); errno != 0 {
			t.Errorf("%s: %v", step, errno)
		}
	}
	if got := d.shut.count(); got > 0 {
		t.Errorf("%d came where nobody was let", got)
	}
	for limit := time.Now().Add(time.Minute); d.open.count() == 0; time.Sleep(time.Millisecond) { // who came may not be taken yet
		if time.Now().After(limit) {
			t.Fatal("nobody came where everybody was let")
		}
	}
}

// A judge may give a place where the caller sees none.
func TestConnectElsewhere(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", elsewhere)
	must(t, err)
	defer l.Close()
	s := startWith(t, separate, continues, func(n *Connection) Verdict {
		var err error
		if n.Place, err = unix.Open(elsewhere, placeOnly, 0); err != nil {
			return Verdict(unix.EPERM)
		}
		return Allow
	})
	defer s.end()
	if errno, _ := s.do("local /run/there/s"); errno != 0 {
		t.Errorf("got %v", errno)
	}
}

func TestConnectWithoutJudge(t *testing.T) {
	s := startWith(t, separate, continues, nil)
	defer s.end()
	if errno, _ := s.do("tcp 1"); errno != unix.EACCES {
		t.Errorf("got %v, want EACCES", errno)
	}
}

// full is a server that takes one and accepts nobody.
func full(t *testing.T, s *supervised) (server int) {
	t.Helper()
	server, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	path := filepath.Join(filepath.Dir(s.dir), "real", "full")
	must(t, unix.Bind(server, &unix.SockaddrUnix{Name: path}))
	must(t, unix.Listen(server, 0))
	if errno, _ := s.do("local full"); errno != 0 {
		t.Fatalf("the first: %v", errno)
	}
	return server
}

// blocked waits until the listener has a connect under way that does not end.
func blocked(t *testing.T, l *Listener) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		l.connects.mu.Lock()
		n := len(l.connects.running)
		l.connects.mu.Unlock()
		if n == 1 {
			return
		}
	}
	t.Fatal("no connect is under way")
}

// A connect that blocks holds nobody up, is done when it can be, and otherwise ends with its caller or its listener.
func TestConnectThatBlocks(t *testing.T) {
	always := func(*Connection) Verdict { return Allow }
	startWith(t, separate, continues, always).end()
	goroutines, fds := runtime.NumGoroutine(), openFDs(t)
	for _, test := range []struct {
		name string
		end  func(t *testing.T, s *supervised, server int)
	}{
		{"until there is room", func(t *testing.T, s *supervised, server int) {
			fd, _, err := unix.Accept(server)
			must(t, err)
			defer unix.Close(fd)
			if got := s.result(); got != 0 {
				t.Errorf("got %v", got)
			}
			s.end()
		}},
		{"until the server goes", func(t *testing.T, s *supervised, server int) {
			null, err := os.Open(os.DevNull)
			must(t, err)
			defer null.Close()
			must(t, unix.Dup3(int(null.Fd()), server, unix.O_CLOEXEC)) // which closes it
			if got := s.result(); got != unix.ECONNREFUSED {
				t.Errorf("got %v", got)
			}
			s.end()
		}},
		{"until the caller is killed", func(t *testing.T, s *supervised, _ int) {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
			<-s.listener.done
			if err := s.listener.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			unix.Close(s.socket)
		}},
		{"until the listener is closed", func(t *testing.T, s *supervised, _ int) {
			if err := s.listener.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			if got := s.result(); got != unix.ENOSYS {
				t.Errorf("got %v", got)
			}
			s.end()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := startWith(t, separate, continues, always)
			server := full(t, s)
			defer unix.Close(server)
			for _, step := range []string{"prompt full", "patient full"} {
				if got, _ := s.do(step); got != unix.EAGAIN {
					t.Errorf("%s: got %v, want EAGAIN", step, got)
				}
			}
			s.send("local full")
			blocked(t, s.listener)
			test.end(t, s, server)
		})
	}
	nothingMore(t, goroutines, fds)
}

// A caller that goes while its listener stays, as other tasks of the filter do, is not waited for.
func TestDialIsGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	server, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(server)
	must(t, unix.Bind(server, &unix.SockaddrUnix{Name: path}))
	must(t, unix.Listen(server, 0))
	address := localRaw(path + "\x00")
	must(t, dialRaw(unix.AF_UNIX, unix.SOCK_STREAM, address))
	var pipe [2]int
	must(t, unix.Pipe2(pipe[:], unix.O_CLOEXEC))
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	file, err := os.Open(os.DevNull) // of which no caller is ever valid
	must(t, err)
	defer file.Close()
	conn, err := file.SyscallConn()
	must(t, err)
	c := connects{l: &Listener{conn: conn}, running: map[*dial]struct{}{}}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(socket)
	got := c.dial(&notification{}, &caller{socket: socket, handle: pipe[0]}, address)
	if got != Verdict(unix.ENOTSOCK) || len(c.running) != 0 {
		t.Errorf("got %d, %d running", got, len(c.running))
	}
}

// The names in addresses are found where the kernel finds them, and nothing else is taken for one.
func FuzzLocalName(f *testing.F) {
	for _, seed := range [][]byte{nil, {1}, {1, 0}, localRaw("x"), localRaw("x\x00y"), localRaw("\x00x"), inetRaw("80")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address []byte) {
		name, ok := localName(address)
		if !ok {
			if name != "" {
				t.Errorf("%q and not", name)
			}
			return
		}
		if name == "" || strings.ContainsRune(name, 0) || !strings.HasPrefix(string(address[2:]), name) {
			t.Errorf("%q of %q", name, address)
		}
		again := localRaw(name + "\x00")
		if back, ok := localName(again); !ok || back != name {
			t.Errorf("%q became %q", name, back)
		}
	})
}

func TestLocalAddressIsShort(t *testing.T) {
	var kernel unix.RawSockaddrUnix
	if got := len(localAddress(1 << 30)); got > int(unsafe.Sizeof(kernel)) {
		t.Errorf("%d bytes", got)
	}
}

func BenchmarkConnect(b *testing.B) {
	for _, mode := range []string{native, separate} {
		for _, verb := range []string{"spintcp", "spinlocal"} {
			b.Run(verb+"/"+mode, func(b *testing.B) {
				s := startWith(b, mode, continues, func(*Connection) Verdict { return Allow })
				defer s.end()
				at := &door{}
				var err error
				operand := "s"
				if verb == "spintcp" {
					at.Listener, err = net.Listen("tcp", "127.0.0.1:0")
					must(b, err)
					_, operand, _ = net.SplitHostPort(at.Addr().String())
				} else {
					dir := s.dir
					if mode == separate {
						dir = filepath.Join(filepath.Dir(dir), "real")
					}
					at.Listener, err = net.Listen("unix", dir+"/s")
					must(b, err)
				}
				defer at.Close()
				go at.serve()
				b.ResetTimer()
				if errno, _ := s.do(fmt.Sprintf("%s %d %s", verb, b.N, operand)); errno != 0 {
					b.Fatal(errno)
				}
				b.StopTimer()
			})
		}
	}
}
