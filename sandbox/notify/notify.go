// Package notify is the supervisor of a sandboxed command: it holds the listener of a seccomp filter, resolves the
// names in the calls that the filter hands over, lets a judge decide, and does the allowed calls itself.
//
// Arguments are read once. A name is resolved as the process sees it: from its directory and descriptors, in its mount
// namespace and root, by the kernel and never by the look of the text, up to a directory that is held open and one last
// component. The judge decides about this target, and the call is then done to it. A process that rewrites its memory,
// swaps a directory for a link or moves one gains nothing: no call is left to the kernel to read again. A name in memory
// that cannot be read gives the call EFAULT.
//
// Calls are done on threads that have the process's user and groups and no capability, with its umask, through
// descriptors of its mount namespace, so that mounts, owners and modes count as they do for it. Its Landlock domain does
// not count; the judge has to hold it: see [Attempt.Targets]. A new descriptor is put into the process, and the supervisor's
// own is closed before the process goes on.
//
// Renames of directories are done alone, while no other call of the session is under way, so that the directory moves as the
// judge saw it.
//
// Differences to the kernel: opening a terminal never makes it the controlling one (programs that use TIOCSCTTY, as
// login_tty does, are not affected); /dev/tty opens the terminal under the name that the process has for it; links in
// /proc to open files of other processes are refused; setxattrat and removexattrat do not exist.
//
// It relies on the filter of package seccomp, which refuses chroot, pivot_root, setns and new mount namespaces: all tasks of
// one filter share one root for good, so it is looked up once.
package notify

import (
	"context"
	"errors"
	"sync"
	"syscall"
)

// Attempt is a call that waits for a verdict. When that is Allow the listener does it, to Targets and nothing else.
type Attempt struct {
	PID  int    // of the calling thread, in the host's own PID namespace
	Call string // the call's name in the manual, like "renameat2"

	Flags int    // of a call that opens, else 0
	Mode  uint32 // of the file that an open makes
	How   uint   // the flags of renameat2
	Text  string // of the symbolic link that is made
	Size  int64  // of the file that truncate cuts

	Alone bool // no other call of the session is under way until this one is done

	Final bool // it has paused as often as a call may: [Pause] is no verdict

	// Paths are absolute and free of links but for their last component, which may be missing. A call that follows a
	// link there gives each link on the way and, last, where they lead; rename and link give the old name first. A
	// descriptor of something that has a path gives that. A removed place ends in " (deleted)".
	Paths []string

	// Targets are the files that the call is done to, in the order of its operands.
	Targets []Target

	// Moved are the directories that a rename takes along. While they are judged nothing else moves.
	Moved []Move

	// Linked is the path that becomes a symbolic link, "" if none does.
	Linked string
}

// Target is a file that a call is done to. It is valid as long as the judge has the attempt.
type Target struct {
	Path string // absolute, without links; "" if there is none, as for pipes
	t    *target
}

// Move is a directory and the path that it is to have.
type Move struct {
	To   string
	from *target
}

// Connection is a connect(2) that waits for a verdict. If that is Allow, the listener connects the caller's socket to the
// address that it read, or, if the address is a path, to the socket at Place. Changes that the caller makes meanwhile to its
// memory, its descriptors and the file system have no effect.
//
// The other end sees this process as its peer, with the same user as the caller. The kernel checks this
// process's permission to write Place. A connect that blocks is waited for, and given up when the caller has gone.
type Connection struct {
	PID    int // of the calling thread, in the host's own PID namespace
	Socket int // a duplicate of the caller's socket, for as long as the judge has the connection
	Family int // of the socket: AF_UNIX, or another one that the filter permits

	// Path is the path of a local socket, absolute and free of links, in the process's mount namespace; "" for an
	// address that is no path. With a Cause it is the path in the call, cleaned.
	Path string
	// Place is the file at Path, opened with O_PATH; -1 if there is none. A judge may set one where there is none; the
	// listener closes it.
	Place int
	// Cause says why there is no Place: the error number that the call itself would meet.
	Cause error

	Final bool // it has paused before: [Pause] is no verdict
	// Question is put while the connect waits, if the verdict is [Pause]. Then the connect is made and judged anew.
	Question Question
}

// Judges decide about the calls that a filter hands over.
type Judges struct {
	// Name judges a call that names a file and may write it. Several goroutines call it at once; it must not block, and has no
	// capability, since its thread has none.
	Name func(Attempt) Verdict
	// Connect judges a connect. Several goroutines call it at once. Without it every connect fails with EACCES.
	Connect func(*Connection) Verdict
	// Bind gives a local socket the name, which was judged, in the caller's view. Without it all fail with EACCES.
	Bind func(Binding) error
	// Losing is called with a call that was allowed, before it is done. If its verdict is Allow too, settle, which may be nil, is told how the
	// call ended. nil: not.
	Losing func(Attempt) (settle func(Outcome), verdict Verdict)
	// Named is called when a call has given a file a name, with the path and the number of the inode, while Names is held. nil: not.
	Named func(path string, inode uint64)
	// Changed is called when a call has changed names or opened a file for writing, before the caller goes on. nil: not.
	Changed func(Change)
	// ReadOnly is called with the path of a call that was allowed and that failed since its mount is read-only. nil: not.
	ReadOnly func(path string)
	// Ask is called, while Names is held, for a call that was allowed and that failed since a mount is read-only, and for one whose verdict is
	// Pause. Its question is put while the call waits, and then the call is made and judged anew. nil: the call fails, as it does where Ask is nil.
	Ask func(Attempt) Question
	// Direct judges a call that names a process or thread by its number. Several goroutines call it at once; it must not
	// block. Without it all fail with EPERM.
	Direct func(Directed) Verdict
	// Locks reports whether a command may lock a file that it has opened for reading only, by its path and whether its mount is read-only. Several
	// goroutines call it at once; it must not block. Without it such locks are private: they succeed, and nothing is locked.
	Locks func(path string, readOnly bool) bool
	// Start judges a call that starts a program, and the program once it has begun, before its first instruction: one that is refused then is
	// killed. Several goroutines call it at once; it must not block. Without it all but the first fail with EACCES: that one is the command's own
	// program, which is not judged.
	Start func(Start) Verdict
	// Short is called with EMFILE or ENFILE, before a call of the command fails with it: it is the supervisor that has no descriptors left. nil: not.
	Short func(error)
	// Lost is called when serving ends although tasks of the filter are left. Their calls wait for ever where somebody else holds the listener, too,
	// so they have to be ended. It must not call Close. nil: not.
	Lost func(error)
	// Names is held while names are judged and used, for writing while directories move. Listeners of commands that
	// write the same places share one; nil stands for one of the listener's own.
	Names *sync.RWMutex
	// Room bounds threads and waiting calls. Listeners of one session share one; nil stands for one of the listener's own.
	Room *Room
}

// Start is a program that a process starts.
type Start struct {
	PID      int      // of the calling thread, or of the process, in the host's own PID namespace
	Names    []string // by which the program is started, and the path of its file
	Argv     []string // of a call, at most the first 256 words
	Dev, Ino uint64   // of the file; 0: not known
	Began    bool     // it has begun: all of this is what the kernel took

	// Environ returns the variables that the program gets whose names have a prefix. It is to be called before the judge returns.
	Environ func(prefix string) []string

	// Scripts is where in the arguments the script stands that was started, if the program is its interpreter; words before it may name further
	// scripts. 0: there is none.
	Scripts int
}

// Directed is a call that acts on a process or thread that it names by a number of the caller's pid namespace. All that the verdict
// depends on is in registers, so a verdict of [Continue] holds for what the kernel then does.
type Directed struct {
	PID    int    // of the calling thread, in the host's own PID namespace
	Call   string // the call's name in the manual, like "kill"
	Target int    // as the call gives it: kill(2) knows 0, -1 and groups, too
	Signal int    // of kill
}

// Outcome says how a call ended that [Judges.Losing] was called with.
type Outcome struct {
	Done bool
	Made int // the file that the call made, open until settle returns; -1 if it made none
}

// Change is an effect of a call on the file system, under the names that the process sees.
type Change struct {
	Kind     ChangeKind
	Path     string
	To       string // of [Linked] and [Renamed]: the new name; of [Exchanged]: the other name
	Replaced bool   // of Renamed: To was the name of another file
	Tree     bool   // of Renamed and Exchanged: a directory moved, with the names below it
}

// ChangeKind says how a name changes.
type ChangeKind uint8

// The kinds.
const (
	Created ChangeKind = iota
	Written            // a regular file was opened for writing
	Removed
	Linked
	Renamed
	Exchanged
)

// Question asks somebody about a paused call, and returns when that is settled, or when ctx is over: the caller has gone, or the listener
// ends. It may take long, and there may be many at once.
type Question func(ctx context.Context)

// Binding is a bind(2) of a local socket to a name in the file system, which the listener cannot do: the kernel keeps
// the address as it was given, and others find the socket by it.
type Binding struct {
	Socket int // a duplicate of the caller's
	Dir    int // the caller's working directory, as a place
	Umask  int
	Name   string
}

// Verdict is Allow, Done, Pause, Again, Continue, or the error number of the failed call.
type Verdict syscall.Errno

// Allow has the listener do the call. Done tells the caller that the call succeeded: the judge has done it. Pause has the call wait for the
// question of Ask. Again has the call resolved and judged anew, with [Attempt.Alone]. Continue, for a call that is [Directed], lets the kernel do it.
const (
	Allow Verdict = 0
	Done  Verdict = 1<<16 + iota // no error number
	Pause
	Continue
	Again
)

// errTooFar ends the resolution of a name whose links multiply its components beyond bounds.
var errTooFar = errors.New("the name has too many components")
