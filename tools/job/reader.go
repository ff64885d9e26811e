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

// Reads is what comes of a job's input.
type Reads uint8

// The kinds. The zero value is the most dangerous one.
const (
	ReadsCode     Reads = iota // somebody may run it, in whatever language, or nobody knows who reads it
	ReadsCommands              // a shell reads it, at its prompt, and nobody beside it
	ReadsAnswer                // a yes or no of it is that: who asks is blocked reading it now
	ReadsData                  // it is data, whatever it is
)

// Reader is what is known of who reads a job's input. Two that are equal say that nothing changed in between.
type Reader struct {
	Kind    Reads
	PID     int    // of who is blocked reading it; 0: nobody is, or several processes may
	Command string // its command line, or the job's
	Dir     string // where a shell is
	inputs  int    // that the job was given
}

// Reader looks who reads the job's input. Whoever is not blocked reading it now may have gone on to another program when it
// arrives, and what that makes of it is not known.
func (i *Input) Reader() Reader {
	r := Reader{Command: OneLine(i.spec.Line)}
	if i.to == nil || i.group.over() || i.spec.DataOnly {
		r.Kind = ReadsData // nobody takes it, or nobody can do harm with it
		return r
	}
	all, w, ok := i.waiter()
	if !ok || !alone(w.PID, all) {
		return r // somebody else may read next, or what the first one passes on
	}
	r.PID, r.Command = w.PID, w.Command
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

// How long it is waited for somebody who reads, and how often it is looked.
const (
	readerLimit = 300 * time.Millisecond
	readerEvery = 20 * time.Millisecond
)

// waiter returns the job's processes, and the one that is blocked reading the input. A program that was just started, or that works
// on its last input, has a moment until it reads.
func (i *Input) waiter() (all []proc.Process, w proc.Waiter, ok bool) {
	for over := time.Now().Add(readerLimit); ; {
		all = i.group.processes()
		if w, ok = proc.Waiting(all, i.end); ok {
			ok = i.hasTaken(w.PID)
		}
		if ok || time.Now().After(over) || i.group.over() {
			return all, w, ok
		}
		time.Sleep(readerEvery) // nothing tells when a process begins to read
	}
}

// alone reports whether nobody of the job but a process and its ancestors is there.
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

// program is what a process runs.
type program struct {
	name      string // of its file
	argv      []string
	dir       string
	installed bool // its file is where only an administrator puts programs
}

// programOf looks at a process. What it is called is what its file is called; its arguments are its own.
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

// programDirs are where programs are installed.
var programDirs = []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/lib/", "/usr/libexec/", "/nix/store/", "/opt/homebrew/"}

// shells read commands in the language that is classified.
var shells = map[string]bool{"bash": true, "sh": true, "dash": true}

// answers are the programs that ask whether they may.
var answers = map[string]bool{"apt": true, "apt-get": true, "cp": true, "dpkg": true, "gzip": true, "ln": true, "mv": true, "rm": true}

// IsShell reports whether a command line of one program starts a shell that reads commands, and nothing that changes how it does.
func IsShell(argv []string) bool {
	return len(argv) > 0 && shells[filepath.Base(argv[0])] && program{argv: argv}.interactive()
}

// interactive reports whether a shell was started to read commands, and nothing that changes how it does. A file or a text of
// commands as argument, an option that names a file: it is not known then what it does.
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
