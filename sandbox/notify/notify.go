// Package notify is the supervisor of a sandboxed command: it holds the listener of a seccomp filter, resolves the
// names in the calls that the filter hands over, and lets a judge say whether each may go on.
//
// Names are resolved as the process sees them: from its directory and descriptors, in its mount namespace and root, by
// the kernel and never by the look of the text, links at the end included where the call follows them. A name reported
// is the place's path in the process's mount namespace.
//
// This is a reporter, and a guard against accidents. It is no wall: the kernel reads the name again after the verdict,
// and a process that wants to can change its memory, or swap a directory for a link, in between. What must hold is
// held by mounts and Landlock; notify adds what those cannot say, names that do not exist yet, and tells which was
// meant.
//
// Connects are different: the supervisor does them itself, on a duplicate of the caller's socket, to the very thing that
// the judge was asked about. That is a wall.
//
// It relies on what the filter of package seccomp refuses: since chroot, pivot_root, setns and new mount namespaces
// are, all tasks of one filter share one root for good, and it is looked up once.
package notify

import (
	"errors"
	"syscall"
)

// Attempt is a call that waits for a verdict.
type Attempt struct {
	PID  int    // of the calling thread, in the host's own PID namespace
	Call string // the call's name in the manual, like "renameat2"

	// Paths are absolute and free of links but for their last component, which may be missing. A call that follows a
	// link there gives each link on the way and, last, where they lead; rename and link give the old name first. A
	// descriptor of something that has a path gives that. A removed place ends in " (deleted)".
	//
	// Moving a directory moves what is below it: a judge of names has to look at ancestors too.
	Paths []string

	// Cause says why a name is not among Paths. Where it is an error number that the call itself will meet (ENOENT of
	// a directory on the way, ENOTDIR, ELOOP, ENAMETOOLONG, EFAULT), nothing is lost by going on; anything else means
	// that the process could not be read.
	Cause error
}

// Connection is a connect(2) that waits for a verdict. When that is Continue the listener connects the caller's socket to
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
	// Name judges a call that may write. It is asked by one goroutine; while it thinks the caller waits, and so do all
	// other calls of the filter: it must not block.
	Name func(Attempt) Verdict
	// Connect judges a connect, and is asked by several goroutines at once. Without it all fail with EACCES.
	Connect func(*Connection) Verdict
}

// Verdict is Continue, or the error number with which the call fails.
type Verdict syscall.Errno

// Continue lets the kernel do the call, as if nobody had looked.
const Continue Verdict = 0

// errTooFar ends the resolution of a name whose links multiply its components beyond bounds.
var errTooFar = errors.New("the name has too many components")
