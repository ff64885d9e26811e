package notify

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/seccomp"
)

// The test binary, run again with modeEnv, confines one thread of itself and does there what the test asks for over a
// socket: the name of a step goes in, its error number comes out.
const (
	modeEnv = "NOTIFY_TEST_MODE"
	dirEnv  = "NOTIFY_TEST_DIR"
)

// Modes of a child. The filter is Standard's with supervisor; shared is without namespaces, so attributes are watched.
const (
	shared   = "shared"
	separate = "separate" // own user, mount and PID namespaces, with the workspace bound to another place
	native   = "native"   // no filter
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeEnv); mode != "" {
		if err := runChild(mode); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const childSocket = 3

func runChild(mode string) error {
	runtime.LockOSThread()
	dir := os.Getenv(dirEnv)
	if mode == separate {
		if err := bindElsewhere(dir); err != nil {
			return fmt.Errorf("namespaces: %w", err)
		}
	}
	if err := os.Chdir(filepath.Join(dir, "seen")); err != nil {
		return err
	}
	if mode != native {
		if err := confine(mode); err != nil {
			return err
		}
	}
	c := &child{dir: filepath.Join(dir, "seen")}
	var buf [256]byte
	for {
		n, err := unix.Read(childSocket, buf[:])
		if n <= 0 || err != nil {
			return err
		}
		var errno unix.Errno
		if err := c.do(string(buf[:n])); err != nil && !errors.As(err, &errno) {
			return err
		}
		if _, err := unix.Write(childSocket, fmt.Appendf(nil, "%d", errno)); err != nil {
			return err
		}
	}
}

// bindElsewhere shows the workspace, which the host has at dir/real, at dir/seen.
func bindElsewhere(dir string) error {
	return errors.Join(
		unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(dir+"/real", dir+"/seen", "", unix.MS_BIND, ""),
		unix.Mount("proc", "/proc", "proc", 0, ""))
}

// confine installs the filter on this thread and sends its listener to the test.
func confine(mode string) error {
	o := seccomp.Options{Namespaces: mode == separate, Writable: true, Notify: true}
	program, err := seccomp.Standard(o).Assemble(runtime.GOARCH)
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	var none [2]unix.CapUserData // as a command has them
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return err
	}
	fprog := unix.SockFprog{
		Len: uint16(len(program) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0])),
	}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	defer unix.Close(int(fd))
	return unix.Sendmsg(childSocket, []byte("listener"), unix.UnixRights(int(fd)), nil, 0)
}

// supervised is a child with its listener, and the attempts that it made.
type supervised struct {
	t        testing.TB
	cmd      *exec.Cmd
	socket   int
	listener *Listener
	dir      string // the workspace as the child sees it
	connect  func(*Connection) Verdict

	mu       sync.Mutex
	attempts []Attempt
	changes  []Change
}

// start makes a workspace and a child in it whose attempts judge decides.
func start(t testing.TB, mode string, judge func(Attempt) Verdict) *supervised {
	t.Helper()
	return startWith(t, mode, judge, nil)
}

// startWith is start with a judge of connects.
func startWith(t testing.TB, mode string, judge func(Attempt) Verdict, connect func(*Connection) Verdict) *supervised {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	layout(t, base, mode)
	ours, theirs := socketPair(t)
	s := &supervised{t: t, socket: ours, dir: base + "/seen", connect: connect}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self)
	s.cmd.Env = append(os.Environ(), modeEnv+"="+mode, dirEnv+"="+base, "GORACE=atexit_sleep_ms=0")
	s.cmd.Stderr = os.Stderr
	s.cmd.ExtraFiles = []*os.File{theirs}
	if mode == separate {
		s.cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	err = s.cmd.Start()
	theirs.Close()
	if err != nil {
		unix.Close(ours)
		if mode == separate {
			t.Skipf("no user namespaces here: %v", err)
		}
		t.Fatal(err)
	}
	if mode != native {
		s.listen(judge)
	}
	return s
}

func socketPair(t testing.TB) (ours int, theirs *os.File) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return pair[0], os.NewFile(uintptr(pair[1]), "socket")
}

// listen serves the listener that the child sends.
func (s *supervised) listen(judge func(Attempt) Verdict) {
	s.t.Helper()
	var data [16]byte
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(s.socket, data[:], control, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		_ = s.cmd.Wait()
		unix.Close(s.socket)
		s.t.Skipf("the child could not confine itself (%v); see above", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		s.t.Fatal(err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		s.t.Fatal(err)
	}
	s.listener, err = Serve(fds[0], Judges{Connect: s.connect, Name: func(a Attempt) Verdict {
		s.mu.Lock()
		s.attempts = append(s.attempts, a)
		s.mu.Unlock()
		return judge(a)
	}, Changed: func(c Change) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changes = append(s.changes, c)
	}})
	if err != nil {
		s.t.Fatal(err)
	}
}

// do has the child do a step, and returns its error and the attempts that it made.
func (s *supervised) do(step string) (unix.Errno, []Attempt) {
	s.t.Helper()
	s.mu.Lock()
	s.attempts = nil
	s.mu.Unlock()
	s.send(step)
	errno := s.result()
	s.mu.Lock()
	defer s.mu.Unlock()
	return errno, s.attempts
}

func (s *supervised) send(step string) {
	s.t.Helper()
	if _, err := unix.Write(s.socket, []byte(step)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *supervised) result() (errno unix.Errno) {
	s.t.Helper()
	var buf [16]byte
	n, err := unix.Read(s.socket, buf[:])
	if n <= 0 || err != nil {
		s.t.Fatalf("the child is gone: %v", err)
	}
	if _, err := fmt.Sscan(string(buf[:n]), &errno); err != nil {
		s.t.Fatal(err)
	}
	return errno
}

// end lets the child end and waits for it and for the listener.
func (s *supervised) end() {
	s.t.Helper()
	unix.Close(s.socket)
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("child: %v", err)
	}
	if s.listener == nil {
		return
	}
	<-s.listener.done // without Close: the last task is gone
	if err := s.listener.Close(); err != nil {
		s.t.Errorf("listener: %v", err)
	}
}

// layout makes the workspace: at base/seen as the child sees it.
func layout(t testing.TB, base, mode string) {
	t.Helper()
	real, seen := base+"/real", base+"/seen"
	if mode != separate {
		real = seen
	}
	for _, dir := range []string{seen, real, real + "/.git/hooks", real + "/sub/deep"} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	must(t, os.WriteFile(real+"/.git/config", []byte("[core]\n"), 0o644))
	must(t, os.WriteFile(real+"/file", []byte("x\n"), 0o644))
	for name, target := range map[string]string{
		"hooks":     ".git/hooks",
		"absolute":  seen + "/.git/hooks",
		"sub/up":    "../.git",
		"alias":     ".git/hooks/pre-commit",
		"chain":     "sub/middle",
		"loop":      "loop",
		"nowhere":   "no/such/dir",
		"sub/slash": "../.husky/",
		"out":       "/proc/self/cwd/.git/hooks",
	} {
		must(t, os.Symlink(target, real+"/"+name))
	}
	must(t, os.Symlink(seen+"/alias", real+"/sub/middle"))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// guard refuses the names in a workspace that the tests protect, and what is below them.
func guard(dir func() string) func(Attempt) Verdict {
	return func(a Attempt) Verdict {
		for _, path := range a.Paths {
			for _, name := range []string{"/.git/hooks/pre-commit", "/.git/config", "/.husky"} {
				if path == dir()+name || strings.HasPrefix(path, dir()+name+"/") {
					return Verdict(unix.EPERM)
				}
			}
		}
		return Allow
	}
}
