package job

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolhost/tools/job/proc"
)

// Reads classifies the effect of a job's input.
type Reads uint8

// The kinds. The zero value is the most dangerous one.
const (
	ReadsCode     Reads = iota // a process may run it in any language, or the reader is unknown
	ReadsCommands              // a shell reads it at its prompt, and no other process does
	ReadsAnswer                // yes or no is only an answer: the asking program is blocked reading it now
	ReadsData                  // it is only data
)

// Reader describes the process that reads a job's input. If two are equal, nothing has changed in between.
type Reader struct {
	Kind    Reads
	PID     int    // of the process that is blocked reading it; 0: none, or perhaps several
	Command string // its command line, or the job's
	Dir     string // the current directory of a shell
	inputs  int    // number of inputs so far
}

// Reader finds the process that reads the job's input. A process that is not blocked reading now may run another
// program when the input arrives, so the effect is unknown.
func (i *Input) Reader() Reader {
	r := Reader{Command: OneLine(i.spec.Line)}
	if i.to == nil || i.group.over() || i.spec.DataOnly {
		r.Kind = ReadsData // no process reads it, or it can do no harm
		return r
	}
	all, w, ok := i.waiter()
	if !ok || !alone(w.PID, all) {
		return r // another process may read next, or get the input passed on
	}
	r.PID, r.Command = w.PID, i.group.shown(w.Command)
	r.inputs = i.given()
	p := programOf(w.PID)
	switch {
	case p.installed && answers[p.name]:
		r.Kind = ReadsAnswer
	case i.spec.Shell && p.installed && shells[p.name] && p.interactive():
		r.Kind, r.Dir = ReadsCommands, p.dir
	}
	return r
}

// The time to wait for a reader, and the interval between checks.
const (
	readerLimit = 300 * time.Millisecond
	readerEvery = 20 * time.Millisecond
)

// waiter returns the job's processes, and the one that is blocked reading the input. It waits a moment for a program
// that was just started or still processes its last input.
func (i *Input) waiter() (all []proc.Process, w proc.Waiter, ok bool) {
	for over := time.Now().Add(readerLimit); ; {
		all = i.group.processes()
		if w, ok = proc.Waiting(all, i.end); ok {
			ok = i.hasTaken(w.PID)
		}
		if ok || time.Now().After(over) || i.group.over() {
			return all, w, ok
		}
		time.Sleep(readerEvery) // there is no event for the start of a read
	}
}

// alone reports whether the job consists only of a process and its ancestors.
func alone(pid int, all []proc.Process) bool {
	parents := map[int]int{}
	for _, p := range all {
		parents[p.PID] = p.Parent
	}
	for at, known := pid, true; known; {
		parent, ok := parents[at]
		delete(parents, at)
		at, known = parent, ok
	}
	return len(parents) == 0
}

// program describes the program that a process runs.
type program struct {
	name      string // name of its executable file
	argv      []string
	dir       string
	installed bool // the file is in a directory that only an administrator can write
}

// programOf returns the program of a process. The name comes from the executable file; the process chooses its
// arguments.
func programOf(pid int) program {
	dir := "/proc/" + strconv.Itoa(pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return program{}
	}
	p := program{name: filepath.Base(exe), installed: slices.ContainsFunc(programDirs, func(d string) bool { return strings.HasPrefix(exe, d) })}
	p.dir, _ = os.Readlink(dir + "/cwd")
	if b, err := os.ReadFile(dir + "/cmdline"); err == nil && len(b) > 0 {
		p.argv = strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	}
	return p
}

// programDirs are the directories of installed programs.
var programDirs = []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/lib/", "/usr/libexec/", "/nix/store/", "/opt/homebrew/"}

// shells read commands in the language that is classified.
var shells = map[string]bool{"bash": true, "sh": true, "dash": true}

// answers are the programs that ask for permission with a yes/no question.
var answers = map[string]bool{"apt": true, "apt-get": true, "cp": true, "dpkg": true, "gzip": true, "ln": true, "mv": true, "rm": true}

// IsShell reports whether a command line of one program starts a shell that reads commands, without options that
// change how.
func IsShell(argv []string) bool {
	return len(argv) > 0 && shells[filepath.Base(argv[0])] && program{argv: argv}.interactive()
}

// interactive reports whether a shell was started to read commands. With a file or a text of commands as argument, or
// an option that names a file, its behaviour is unknown.
func (p program) interactive() bool {
	for _, arg := range p.argv[min(len(p.argv), 1):] {
		switch arg {
		case "-i", "-l", "--norc", "--noprofile", "--login", "--noediting", "--posix":
		default:
			return false
		}
	}
	return len(p.argv) > 0
}
