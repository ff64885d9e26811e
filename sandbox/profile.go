package sandbox

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Access is the kind of a profile.
type Access string

// The profiles.
const (
	// ReadOnly writes nothing but a private directory in memory, TMPDIR, and has no network, but see Loopback and Observes.
	ReadOnly Access = "read_only"
	// Workspace writes the roots, minus what is protected in them, the session's scratch, and the caches. It shares
	// a loopback with the other commands of the session, and reaches the hosts that it was granted.
	Workspace Access = "workspace"
	// Unconfined runs as the user does, in a session of any level, without any restriction.
	// It still has a helper, so that all its processes can be signalled, and end with the host.
	Unconfined Access = "unconfined"
)

// Profile says what a command may do. The zero value allows nothing and is refused. To Unconfined nothing can be added.
type Profile struct {
	Access Access
	Write  []string // files and directories besides the session's roots, missing or not; of Workspace only
	Real   []string // those of Write that have no links in them: one that has become a link is refused
	Reveal []string // secrets that this command may read, and sockets that it may use
	Read   []string // places in a home directory that the decision showed as read, without the secrets in them
	Unseal []string // protected paths that this command may write: the decision named them, and a person agreed
	Known  []string // the protected names below them that the decision knew, as [protect.Map.Opens] has them: where there are others, a path stays sealed
	Remove []string // paths that the decision showed as destroyed: protected names in them, except roots, may be removed, and not written
	Hosts  []string // whom it may reach, as rules of Network name them; of Workspace only
	Public []string // the same, but for private addresses to which they lead

	Denied Denied // programs that rules keep this command from running

	// Git says why a git that the command starts, itself or by any other program, is refused. It is asked before git begins, and with what the
	// kernel took, and may take seconds. It counts where [Session.JudgesStarts]. nil: no git is refused.
	Git func(GitStart) (why string, refused bool)

	// Elsewhere shows a ReadOnly command what a Workspace command sees, for one that reads more than its decision could name.
	Elsewhere bool

	// Loopback gives a ReadOnly command the network of the session, with the servers of other commands and no hosts. It
	// counts at level Full only.
	Loopback bool
	// Observes shows a ReadOnly command the processes and the sockets of the session. It connects to none and signals nobody. It counts at level
	// Full only, and not beside Loopback.
	Observes bool
}

// GitStart is git as a process starts it.
type GitStart struct {
	Argv    []string // the name of git or of a program of it first: git, /usr/lib/git-core/git-show
	Dir     string   // where it starts, as the process sees it
	Environ []string // the variables that it gets whose names begin with GIT_
}

// confined reports whether there is a sandbox.
func (p Profile) confined() bool { return p.Access != Unconfined }

// check reports an invalid profile, or a path that does not exist.
func (p Profile) check() error {
	switch {
	case p.Access != ReadOnly && p.Access != Workspace && p.Access != Unconfined:
		return fmt.Errorf("the profile %q allows nothing: it is %s, %s or %s", p.Access, ReadOnly, Workspace, Unconfined)
	case p.Access == ReadOnly && len(p.Write)+len(p.Unseal)+len(p.Remove)+len(p.Hosts)+len(p.Public) > 0:
		return fmt.Errorf("the profile %s writes nothing and reaches nobody, and cannot be granted more: use %s", ReadOnly, Workspace)
	}
	return nil
}

// withoutSandbox is why a profile cannot be had in a session of level None.
func withoutSandbox(p Profile) error {
	return fmt.Errorf("the profile %s needs a sandbox, and this session has none: only the profile %s runs in it", p.Access, Unconfined)
}

// Command is a command to run.
type Command struct {
	Path    string   // absolute
	Args    []string // with argv[0]
	Script  string   // what the command reads from the descriptor behind its streams and Note; "": there is no such descriptor
	Env     []string // NAME=value; the sandbox replaces and adds some
	Dir     string   // the working directory, absolute and without links
	At      *os.File // the same, open: it must still be this one
	Streams [3]*os.File

	// Terminal says that Streams[0] is a terminal, which becomes the command's controlling one. It hangs up when no process
	// of the command is left. Closing its other end before sends SIGHUP, too.
	Terminal bool
	// Background says that no call waits for the command: beside other work it gets less of the machine than the host does.
	Background bool
	Note       *os.File // the writing end of a pipe, which the command gets as descriptor 3; nil for none

	Name     string         // by which results of other commands call it
	Signaled func(Signaled) // told when another command of the session has sent a process of this one a signal; may be nil

	Report func(Violation) // told of each when it happens, from several goroutines; may be nil

	// Ask reports whether the command, which waits meanwhile, may have an access that no grant permits: that of the violation. It is called
	// from several goroutines; ctx ends with the command. nil: it may not.
	Ask func(ctx context.Context, v Violation) bool
	// MayAsk reports whether Ask would put a question, or has its answer. It does not block. nil: for paths, it would not.
	MayAsk  func(v Violation) bool
	Profile Profile

	// Keeps keeps what the command changes in places of the host, so that it can be put back. It counts at the levels that judge calls.
	// nil: nothing is kept.
	Keeps Keeper
	// MayLose lets changes go on that Keeps cannot keep: a person allowed the command as it is.
	MayLose bool
}

// Keeper keeps what a command changes before it is changed. Its methods may be called from several goroutines.
type Keeper interface {
	// Begin begins a change that may lose something.
	Begin() KeepStep
	// Made takes notice of a file that the command made, which is open; -1 for a further name of a file.
	Made(path string, file int)
	// Close is called when no process of the command is left.
	Close() error
}

// KeepStep is one change. No other one of the session is under way before it ends. Files are given as places (O_PATH).
type KeepStep interface {
	Overwriting(path string, place int) error // before the content of a file changes
	Emptying(path string, place int) error    // before the content of a file goes all at once
	Removing(path string, place int) error    // before a name goes to another file
	Unlinking(path string, place int) error   // before a name is removed
	Altering(path string, place int) error    // before its mode, owner or an extended attribute changes
	Touching(path string, place int) error    // before its times are set
	Moving(path, to string)
	Exchanging(path, other string)
	End(done bool)
}

// files are the command's files, in the order of their numbers.
func (c *Command) files() []*os.File {
	files := c.Streams[:]
	if c.Note != nil {
		files = append(files, c.Note)
	}
	return files
}

// setEnv returns env with NAME=value entries replaced or added.
func setEnv(env []string, entries ...string) []string {
	env = slices.Clone(env)
	for _, entry := range entries {
		name := entry[:strings.IndexByte(entry, '=')+1]
		env = append(slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name) }), entry)
	}
	return env
}
