// Package notify is the supervisor of a sandboxed command: it holds the listener of a seccomp filter, resolves the
// names in the calls that the filter hands over, lets a judge decide, and does the allowed calls itself.
//
// Arguments are read once. A name is resolved as the process sees it: from its directory and descriptors, in its mount
// namespace and root, by the kernel and never by the look of the text, up to a directory that is held open and one last
// component. That is what the judge is asked about, and what the call is then done to. A process that rewrites its memory,
// swaps a directory for a link or moves one gains nothing: no call is left to the kernel to read again. A name in memory
// that cannot be read is the error number which that has (EFAULT).
//
// Calls are done on threads that have the process's user and groups and no capability, with its umask, through
// descriptors of its mount namespace, so that mounts, owners and modes count as they do for it. Its Landlock domain does
// not, and is the judge's business: see [Attempt.Targets]. A new descriptor is put into the process, and the supervisor's
// own is closed before the process goes on.
//
// Renames of directories are done alone: no other call of the session is under way, so that what was looked at below them
// is what moves.
//
// Differences to the kernel: opening a terminal never makes it the controlling one (programs that use TIOCSCTTY, as
// login_tty does, are not affected); /dev/tty opens the terminal under the name by which the process has it; links in
// /proc to what another process has open are refused; setxattrat and removexattrat do not exist.
//
// It relies on what the filter of package seccomp refuses: since chroot, pivot_root, setns and new mount namespaces
// are, all tasks of one filter share one root for good, and it is looked up once.
package notify

import (
	"errors"
	"sync"
	"syscall"
)

// Attempt is a call that waits for a verdict. When that is Allow the listener does it, to Targets and nothing else.
type Attempt struct {
	PID  int    // of the calling thread, in the host's own PID namespace
	Call string // the call's name in the manual, like "renameat2"

	// Paths are absolute and free of links but for their last component, which may be missing. A call that follows a
	// link there gives each link on the way and, last, where they lead; rename and link give the old name first. A
	// descriptor of something that has a path gives that. A removed place ends in " (deleted)".
	Paths []string

	// Targets are what the call is done to, in the order of its operands.
	Targets []Target

	// Moved are the directories that a rename takes along. While they are judged nothing else moves.
	Moved []Move

	// Linked is the path that becomes a symbolic link, "" if none does.
	Linked string
}

// Target is what a call is done to. It may be looked at for as long as the judge has the attempt.
type Target struct {
	Path string // absolute, without links; "" for what has no path, as pipes
	t    *target
}

// Move is a directory and the path that it is to have.
type Move struct {
	Dir int // open as a place (O_PATH), for as long as the judge has the attempt
	To  string
}

// Connection is a connect(2) that waits for a verdict. When that is Allow the listener connects the caller's socket to
// the address that it read, or, of a local socket that has a path, to what is at Place and nothing else: whatever the
// caller does to its memory, its descriptors and the file system meanwhile.
//
// The other end sees this process as its peer, with the same user as the caller. A permission to write Place is asked of
// this process. A connect that blocks is waited for; it is given up when the caller is gone.
type Connection struct {
	PID    int // of the calling thread, in the host's own PID namespace
	Socket int // a duplicate of the caller's socket, for as long as the judge has the connection
	Family int // of the socket: AF_UNIX, or what else the filter lets a command have

	// Path is that of a local socket, absolute and free of links, in the process's mount namespace; "" for an
	// address that is no path. With a Cause it is what the caller gave, cleaned.
	Path string
	// Place is what is at Path, opened as a place only (O_PATH); -1 if there is nothing. A judge may set another where
	// there is none, which becomes the listener's.
	Place int
	// Cause says why there is no Place: the error number that the call itself would meet.
	Cause error
}

// Judges decide about the calls that a filter hands over.
type Judges struct {
	// Name judges a call that may write. It is asked by several goroutines at once, on threads without capabilities; it
	// must not block.
	Name func(Attempt) Verdict
	// Connect judges a connect, and is asked by several goroutines at once. Without it all fail with EACCES.
	Connect func(*Connection) Verdict
	// Bind gives a local socket the name, which was judged, in the caller's view. Without it all fail with EACCES.
	Bind func(Binding) error
	// Named is called when a call has given a file a name, with the path and the number of the inode, while Names is held. nil: not.
	Named func(path string, inode uint64)
	// Names is held while names are judged and used, for writing while directories move. Listeners of commands that
	// write the same places share one; nil stands for one of the listener's own.
	Names *sync.RWMutex
}

// Binding is a bind(2) of a local socket to a name in the file system, which the listener cannot do: the kernel keeps
// the address as it was given, and others find the socket by it.
type Binding struct {
	Socket int // a duplicate of the caller's
	Dir    int // the caller's working directory, as a place
	Umask  int
	Name   string
}

// Verdict is Allow, or the error number with which the call fails.
type Verdict syscall.Errno

// Allow has the listener do the call.
const Allow Verdict = 0

// errTooFar ends the resolution of a name whose links multiply its components beyond bounds.
var errTooFar = errors.New("the name has too many components")
