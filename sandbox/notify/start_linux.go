package notify

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/seccomp"
)

// A program that starts is judged twice. The call is judged by what it names, so that it can fail. The kernel reads names and arguments from
// memory once more, which other tasks can change meanwhile; so the caller is traced over the call, and the new image is judged before its first
// instruction, by the file and the arguments that the kernel took. One that the rules deny is killed. Nobody else has this memory then.

// startCalls returns the calls that start a program, by number.
func startCalls(arch string) map[int32]call {
	byNumber := map[int32]call{}
	for _, c := range []call{
		{name: "execve", operands: []operand{name(0, always)}},
		{name: "execveat", operands: []operand{nameAt(0, unlessNoFollow).with(4)}},
	} {
		if number, ok := seccomp.Number(arch, c.name); ok {
			byNumber[int32(number)] = c
		}
	}
	return byNumber
}

// maxWords is how many arguments of a call are read before the program starts. The new image is judged by all of them.
const maxWords = 256

// start judges a call that starts a program, and does not return before the program has begun or the call has failed.
func (l *Listener) start(w *worker, n *notification, c call) error {
	if !l.begun.Swap(true) { // the command's own program: whoever made the sandbox starts it
		return l.proceed(n)
	}
	if l.judges.Start == nil || w.err != nil {
		return l.answer(n, Verdict(unix.EACCES))
	}
	r := newRequest(l, w, n, c)
	defer r.leave()
	s, errno := r.starting()
	if !l.valid(n.id) {
		return nil
	}
	if errno != 0 {
		return l.answer(n, Verdict(errno))
	}
	if verdict := l.judges.Start(s); verdict != Allow {
		return l.answer(n, verdict)
	}
	task := int(n.pid)
	process, err := r.from.leader() // while the task has its number: a thread that starts a program takes that of its process
	if err != nil {
		return l.answer(n, Verdict(shortOr(err, unix.EACCES)))
	}
	switch err := seize(task); {
	case err == unix.ESRCH:
		return nil
	case err != nil && isTraced(task): // by another process of the command, which can change what it does in any case
		return l.proceed(n)
	case err != nil:
		return l.answer(n, Verdict(unix.EACCES))
	}
	_, _ = ptrace(unix.PTRACE_INTERRUPT, task, 0) // the call is not interrupted; it stops the task where the call fails
	err = l.proceed(n)
	l.follow(task, process)
	return err
}

// proceed lets the kernel do the call.
func (l *Listener) proceed(n *notification) error {
	const flagContinue = 1
	return l.send(response{id: n.id, flags: flagContinue})
}

// starting reads what a call is to start. An error number is what the call would meet.
func (r *request) starting() (Start, unix.Errno) {
	s := Start{PID: r.from.pid}
	if errno := r.read(); errno != 0 {
		return s, errno
	}
	name := r.names[0]
	s.Names = append(s.Names, name)
	argv := 1
	if r.call.name == "execveat" {
		argv = 2
	}
	s.Argv = r.words(r.arg(argv), maxWords, "")
	s.Environ = func(prefix string) []string { return r.words(r.arg(argv+1), maxVariables, prefix) }
	t, _, err := r.resolve(r.operands[0], name)
	fd := -1
	if t != nil {
		r.targets = append(r.targets, t)
	}
	if err == nil {
		fd, err = t.object()
	}
	if err != nil {
		if known := errnoOf(err); (known == unix.ENOENT || known == unix.ENOTDIR) && !strings.HasPrefix(name, "/proc/") && !strings.HasPrefix(name, "/dev/") {
			return s, known
		}
		return s, 0 // the kernel knows better; the new image is judged
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil {
		s.Dev, s.Ino = uint64(st.Dev), st.Ino
	}
	if t.path != "" {
		s.Names = append(s.Names, t.path)
	}
	return s, 0
}

// maxVariables is how many variables of a call are read.
const maxVariables = 4096

// words reads the arguments or the variables of a program that begin with a prefix: among the first ones, and nothing of those that are too long.
func (r *request) words(address uint64, most int, prefix string) (words []string) {
	for n := 0; address != 0 && n < most; address, n = address+8, n+1 {
		var pointer [8]byte
		if _, err := r.from.read(pointer[:], address); err != nil {
			break
		}
		at := binary.NativeEndian.Uint64(pointer[:])
		if at == 0 {
			break
		}
		word, err := r.from.text(at)
		if err != nil && err != unix.ENAMETOOLONG {
			break
		}
		if strings.HasPrefix(word, prefix) {
			words = append(words, word)
		}
	}
	return words
}

// follow waits until the program has begun, which is judged then, or the call has failed, and gives the task free.
func (l *Listener) follow(task, process int) {
	for {
		pid, status, err := waitFor(task, process)
		if err != nil {
			return // it has ended
		}
		switch {
		case !status.Stopped():
			return
		case status.StopSignal() == unix.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_EXEC:
			if s, err := begun(pid); err != nil || l.judges.Start(s) != Allow {
				_ = unix.Kill(pid, unix.SIGKILL)
				continue // until it has ended
			}
			_, _ = ptrace(unix.PTRACE_DETACH, pid, 0)
			return
		case uint32(status)>>16 == unix.PTRACE_EVENT_STOP:
			_, _ = ptrace(unix.PTRACE_DETACH, pid, 0)
			return
		default: // a signal that was on its way
			_, _ = ptrace(unix.PTRACE_DETACH, pid, uintptr(status.StopSignal()))
			return
		}
	}
}

// waitFor waits for a stop of a task of a process, or its end. A thread that starts a program gets the number of its process.
func waitFor(task, process int) (pid int, status unix.WaitStatus, err error) {
	if process == task {
		for {
			pid, err = unix.Wait4(task, &status, unix.WALL, nil)
			if err != unix.EINTR {
				return pid, status, err
			}
		}
	}
	pause := unix.Timespec{Nsec: 50_000}
	for {
		gone := 0
		for _, id := range []int{task, process} {
			pid, err = unix.Wait4(id, &status, unix.WALL|unix.WNOHANG, nil)
			if err == nil && pid > 0 {
				return pid, status, nil
			}
			if err == unix.ECHILD {
				gone++
			}
		}
		if gone == 2 {
			return 0, 0, unix.ECHILD
		}
		_ = unix.Nanosleep(&pause, nil)
		pause.Nsec = min(2*pause.Nsec, 5_000_000)
	}
}

// begun reads what has begun in a process that stands at the first instruction of its new program.
func begun(pid int) (Start, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	s := Start{PID: pid, Began: true, Environ: func(prefix string) []string {
		text, err := os.ReadFile(dir + "/environ")
		if err != nil {
			return nil
		}
		all := strings.Split(string(text), "\x00")
		return slices.DeleteFunc(all, func(entry string) bool { return entry == "" || !strings.HasPrefix(entry, prefix) })
	}}
	var st unix.Stat_t
	if err := unix.Stat(dir+"/exe", &st); err != nil {
		return s, err
	}
	s.Dev, s.Ino = uint64(st.Dev), st.Ino
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return s, err
	}
	line, err := os.ReadFile(dir + "/cmdline")
	if err != nil {
		return s, err
	}
	s.Argv = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	s.Names = append(s.Names, strings.TrimSuffix(exe, " (deleted)"))
	named, err := namedAs(pid)
	if err != nil {
		return s, err
	}
	at := slices.Index(s.Argv[min(1, len(s.Argv)):], named) + 1
	if at == 0 {
		s.Names = append(s.Names, named)
		return s, nil
	}
	s.Scripts = at // the program is the interpreter of a script, or stands before its own name
	if number, found := strings.CutPrefix(named, "/dev/fd/"); found {
		number, rest, _ := strings.Cut(number, "/")
		if path, err := os.Readlink(dir + "/fd/" + number); err == nil {
			s.Argv[at] = filepath.Join(strings.TrimSuffix(path, " (deleted)"), rest)
		}
	}
	return s, nil
}

// namedAs is the name by which the program of a process was started: the script's, where that is one.
func namedAs(pid int) (string, error) {
	const execName = 31 // AT_EXECFN
	auxiliary, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/auxv")
	if err != nil {
		return "", err
	}
	for ; len(auxiliary) >= 16; auxiliary = auxiliary[16:] {
		if binary.NativeEndian.Uint64(auxiliary) == execName {
			return (&process{pid: pid}).text(binary.NativeEndian.Uint64(auxiliary[8:]))
		}
	}
	return "", errors.New("the process has no name of its program")
}

// seize begins to trace a task without stopping it. If this thread ends, the task does.
func seize(task int) error {
	_, err := ptrace(unix.PTRACE_SEIZE, task, unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_EXITKILL)
	return err
}

func ptrace(request, task int, data uintptr) (uintptr, error) {
	r, _, errno := syscall.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(task), 0, data, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return r, nil
}

// isTraced reports whether another process traces a task.
func isTraced(task int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(task) + "/status")
	_, rest, found := strings.Cut(string(text), "\nTracerPid:\t")
	return err == nil && found && !strings.HasPrefix(rest, "0\n")
}

// JudgesStarts reports whether a listener can judge programs that start: the kernel lets only deadly signals interrupt a call that is judged
// (Linux 5.19), else a call that fails could not be told from one that goes on.
func JudgesStarts() bool {
	const setModeFilter, newListener, waitKillable = 1, 1 << 3, 1 << 5
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, newListener|waitKillable, uintptr(unsafe.Pointer(nil)))
	return errno == unix.EFAULT
}
