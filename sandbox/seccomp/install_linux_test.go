package seccomp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// insideEnv names, for the test binary run again, what it shall try under the filter.
const insideEnv = "SECCOMP_TEST_INSIDE"

func TestMain(m *testing.M) {
	if inside := os.Getenv(insideEnv); inside != "" {
		runInside(inside)
		return
	}
	os.Exit(m.Run())
}

// runInside confines the thread and prints one line for each attempt: its name and error number.
func runInside(level string) {
	runtime.LockOSThread()
	program, err := Standard(Options{Namespaces: level == "namespaces"}).Assemble(runtime.GOARCH)
	if err == nil {
		err = install(program)
	}
	if err != nil {
		fmt.Println("install:", err)
		return
	}
	for _, a := range attempts {
		fmt.Printf("%s: %d\n", a.name, a.try())
	}
}

// install puts the filter on the calling thread alone.
func install(program []byte) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fprog := unix.SockFprog{
		Len:    uint16(len(program) / instructionSize),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&program[0])),
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// attempts do nothing when they succeed.
var attempts = []struct {
	name           string
	try            func() unix.Errno
	inside, shared unix.Errno // what they meet with namespaces, and without
}{
	{"getpid", func() unix.Errno { return call(unix.SYS_GETPID) }, 0, 0},
	{"clone3", func() unix.Errno { return call(unix.SYS_CLONE3) }, unix.ENOSYS, unix.ENOSYS},
	{"newer", func() unix.Errno { return call(newest + 1) }, unix.ENOSYS, unix.ENOSYS},
	{"io_uring", func() unix.Errno { return call(unix.SYS_IO_URING_SETUP) }, unix.ENOSYS, unix.ENOSYS},
	{"keyctl", func() unix.Errno { return call(unix.SYS_KEYCTL) }, unix.EPERM, unix.EPERM},
	{"unshare", func() unix.Errno { return errnoOf(unix.Unshare(unix.CLONE_NEWUSER)) }, unix.EPERM, unix.EPERM},
	{"TIOCSTI", func() unix.Errno { return tiocsti(0) }, unix.ENOTTY, unix.ENOTTY},
	{"TIOCSTI high", func() unix.Errno { return tiocsti(1 << 32) }, unix.ENOTTY, unix.ENOTTY},
	{"vsock", func() unix.Errno { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }, unix.EAFNOSUPPORT, unix.EAFNOSUPPORT},
	{"mptcp", func() unix.Errno { return socket(unix.AF_INET, unix.SOCK_STREAM, 262) }, unix.EPROTONOSUPPORT, unix.EACCES},
	{"tcp", func() unix.Errno { return socket(unix.AF_INET, unix.SOCK_STREAM, 0) }, 0, unix.EACCES},
	{"unix", func() unix.Errno { return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) }, unix.EACCES, unix.EACCES},
	{"netlink", func() unix.Errno { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0) }, 0, 0},
	{"fchmod", func() unix.Errno { return errnoOf(unix.Fchmod(-1, 0o600)) }, unix.EBADF, unix.EPERM},
	{"fchmod suid", func() unix.Errno { return errnoOf(unix.Fchmod(-1, 0o4600)) }, unix.EPERM, unix.EPERM},
	{"fork", func() unix.Errno { return errnoOf(exec.Command("/bin/true").Run()) }, 0, 0},
}

func call(number uintptr) unix.Errno {
	_, _, errno := unix.RawSyscall(number, 0, 0, 0)
	return errno
}

// tiocsti goes to a descriptor that is not open, so that nothing is typed when the filter fails.
func tiocsti(upper uint64) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, ^uintptr(0), uintptr(upper|0x5412), 0)
	return errno
}

func socket(family, kind, protocol int) unix.Errno {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		_ = unix.Close(fd)
	}
	return errnoOf(err)
}

func errnoOf(err error) unix.Errno {
	var errno unix.Errno
	if err != nil && !errors.As(err, &errno) {
		return unix.ENOTRECOVERABLE
	}
	return errno
}

func TestInstalled(t *testing.T) {
	for _, level := range []string{"namespaces", "landlock"} {
		t.Run(level, func(t *testing.T) {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), insideEnv+"="+level)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(lines) != len(attempts) {
				t.Fatalf("got %q", out)
			}
			for i, a := range attempts {
				want := a.inside
				if level == "landlock" {
					want = a.shared
				}
				if got := lines[i]; got != fmt.Sprintf("%s: %d", a.name, want) {
					t.Errorf("got %q, want error %d (%v)", got, want, want)
				}
			}
		})
	}
}
