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

// Verdict is Continue, or the error number with which the call fails.
type Verdict syscall.Errno

// Continue lets the kernel do the call, as if nobody had looked.
const Continue Verdict = 0

// errTooFar ends the resolution of a name whose links multiply its components beyond bounds.
var errTooFar = errors.New("the name has too many components")
