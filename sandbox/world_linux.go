package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/notify"
)

// world is the pid namespace in which the session's commands live. Neither the holder nor a helper has a number there. The zero value is none:
// each command has one of its own.
type world struct {
	processes *os.File // its /proc
	reaper    *os.File // a pidfd of its first process, to which those come that lose their parents
}

// signalScope is the version of Landlock since which a command's signals can be held.
const signalScope = 6

// takes reports whether a command can live in the world. Without Landlock it could read the memory of the others. What must
// signal nobody needs a kernel that holds signals, or a filter that refuses all.
func (w *world) takes(abi int, p Profile) bool {
	return w.processes != nil && abi >= 1 && (p.Access == Workspace || p.Observes || abi >= signalScope)
}

// answerWorld reads the holder's fourth and fifth answer. An errno in the first means that this machine makes no such world.
func (h *holder) answerWorld() (w world, err error) {
	w.processes, err = h.answer()
	if _, ok := err.(unix.Errno); ok {
		return world{}, nil
	}
	if err == nil {
		w.reaper, err = h.answer()
	}
	if err == nil && (w.processes == nil || w.reaper == nil) {
		err = errEnded
	}
	return w, err
}

func (w *world) close() {
	if w.processes != nil {
		w.processes.Close()
	}
	if w.reaper != nil {
		w.reaper.Close()
	}
}

// resident is a process of the world, held open: its number cannot become another's.
type resident struct{ fd int }

// open returns the process with a number in the world.
func (w *world) open(number int) (resident, error) {
	fd, err := unix.Openat(int(w.processes.Fd()), strconv.Itoa(number), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return resident{fd}, err
}

func (r resident) close() { _ = unix.Close(r.fd) }

// mounts is the name of its mount namespace, which says whose it is: the processes of a command have one of their own, and keep it.
func (r resident) mounts() string {
	var buffer [64]byte
	n, err := unix.Readlinkat(r.fd, "ns/mnt", buffer[:])
	if err != nil {
		return ""
	}
	return string(buffer[:n])
}

// group is its process group, 0 if it has ended.
func (r resident) group() int {
	fd, err := unix.Openat(r.fd, "stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var buffer [512]byte
	n, _ := unix.Read(fd, buffer[:])
	row := string(buffer[:max(n, 0)])
	var state string
	var parent, group int
	_, _ = fmt.Sscan(row[strings.LastIndexByte(row, ')')+1:], &state, &parent, &group)
	return group
}

// each calls visit for every process of the world but the first, until it returns false.
func (w *world) each(visit func(resident) bool) {
	dir, err := unix.Openat(int(w.processes.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	f := os.NewFile(uintptr(dir), "processes")
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		number, err := strconv.Atoi(name)
		if err != nil || number <= 1 {
			continue
		}
		r, err := w.open(number)
		if err != nil {
			continue
		}
		more := visit(r)
		r.close()
		if !more {
			return
		}
	}
}

// direct judges a call that acts on a process by its number. The command's own processes are its own, and the kernel does the call. Those of
// the session's other commands get a signal from here, so that it is known who has sent it; their limits and priorities stay as they are.
func (p *Process) direct(d notify.Directed) notify.Verdict {
	switch {
	case d.Call != "kill" && p.owns(d.Target):
		return notify.Continue
	case d.Call != "kill":
		return notify.Verdict(unix.EPERM)
	case d.Target == 0: // a group is of one command
		return notify.Continue
	case d.Target > 0:
		return p.signalOther(d)
	case d.Target == -1:
		p.world.each(func(r resident) bool {
			if other := p.session.running.inMounts(r.mounts()); other != nil && other != p {
				_ = p.signalResident(other, r, d.Signal)
			}
			return true
		})
		return notify.Continue // for its own processes
	}
	return p.signalGroup(d)
}

// directAlone is direct for a command in a pid namespace of its own, in which only its helper is another's.
func directAlone(d notify.Directed) notify.Verdict {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/proc/%d/status", d.PID, d.Target))
	_, rest, found := strings.Cut(string(status), "\nTgid:\t")
	process, _, _ := strings.Cut(rest, "\n")
	switch {
	case isNone(err), found && process != "1":
		return notify.Continue
	}
	return notify.Verdict(unix.EPERM)
}

// isNone reports whether an error of a look at a process says that there is none, which the kernel tells the caller.
func isNone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// owns reports whether a process with a number is the command's, or there is none.
func (p *Process) owns(number int) bool {
	r, err := p.world.open(number)
	if err != nil {
		return isNone(err)
	}
	defer r.close()
	return r.mounts() == p.mounts
}

// signalOther sends a signal to one process of another command.
func (p *Process) signalOther(d notify.Directed) notify.Verdict {
	r, err := p.world.open(d.Target)
	if isNone(err) {
		return notify.Continue
	}
	if err != nil {
		return notify.Verdict(unix.EPERM)
	}
	defer r.close()
	other := p.session.running.inMounts(r.mounts())
	if other == nil || other == p {
		return notify.Continue // the kernel says whether the command may
	}
	return p.signalResident(other, r, d.Signal)
}

// signalGroup sends a signal to the processes of a group, which are all of one command.
func (p *Process) signalGroup(d notify.Directed) notify.Verdict {
	verdict := notify.Verdict(unix.ESRCH)
	own := false
	p.world.each(func(r resident) bool {
		if r.group() != -d.Target {
			return true
		}
		other := p.session.running.inMounts(r.mounts())
		if own = other == p; own || other == nil {
			return !own
		}
		if said := p.signalResident(other, r, d.Signal); verdict != notify.Done {
			verdict = said
		}
		return true
	})
	if own {
		return notify.Continue
	}
	return verdict
}

// signalResident sends a signal to a process of another command, and tells that command.
func (p *Process) signalResident(other *Process, r resident, number int) notify.Verdict {
	name := r.name()
	err := unix.PidfdSendSignal(r.fd, syscall.Signal(number), nil, 0)
	if errno, ok := err.(syscall.Errno); ok {
		return notify.Verdict(errno)
	}
	if number != 0 && other.signaled != nil {
		other.signaled(Signaled{By: p.name, Signal: syscall.Signal(number), Program: name})
	}
	return notify.Done
}

// name is the name of its program, at most 15 bytes that the process chooses.
func (r resident) name() string {
	fd, err := unix.Openat(r.fd, "comm", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	var buffer [32]byte
	n, _ := unix.Read(fd, buffer[:])
	return strings.TrimSuffix(string(buffer[:max(n, 0)]), "\n")
}

// orphans are the processes that the command has started and that have lost their parents, by their numbers in the host's namespace; nil where
// they stay below its helper.
func (p *Process) orphans() (pids []int) {
	if p.world == nil || p.world.reaper == nil {
		return nil
	}
	reaper := strconv.Itoa(pidOf(int(p.world.reaper.Fd())))
	children, err := os.ReadFile("/proc/" + reaper + "/task/" + reaper + "/children")
	if err != nil {
		return nil
	}
	for child := range strings.FieldsSeq(string(children)) {
		mounts, err := os.Readlink("/proc/" + child + "/ns/mnt")
		if pid, _ := strconv.Atoi(child); err == nil && mounts == p.mounts {
			pids = append(pids, pid)
		}
	}
	return pids
}
