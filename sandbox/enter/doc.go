// Package enter is the inside of a sandbox. toolhost starts itself again to make a sandbox and to start a command in it.
//
// A process whose argv[0] is [HolderName] or [HelperName] never reaches main: this package takes over when it is initialised,
// before packages that take time. It therefore imports next to nothing (a test lists the imports), and makes its
// system calls itself.
//
// The holder is the first process of a session's namespaces (user, network, pid, IPC, mount). It decides nothing: it carries out
// the plan of the session, which builds the common view of all commands, and for each message of the host it starts one helper in
// a mount namespace of its own, and passes back a descriptor of that process. When its socket closes it exits, and the kernel ends
// everything that lives in the session.
//
// The commands of a session live in a second pid namespace, below the holder's: the world. Its first process (argv[0] is [ReaperName]) does nothing
// but to be there. Holder and helpers are not in it, so that no number that a command can name means one of them.
//
// The helper carries out a [Plan] and starts the command. It then passes on signals, tells the host how the command ended, and stays until all
// processes of the command have ended, which the filter's listener tells. When the control socket closes it ends them: all that have the command's mount
// namespace, which a command cannot leave, until none is left; the holder does that for a helper that was killed. Where the session has no world,
// the helper is the first process of a pid namespace, or without one the subreaper of the command's processes, and reaps
// them. It ends them through the kernel, or by killing its descendants until none is left.
//
// Of a command that is confined, only the thread that starts the command is restricted, and the command inherits that. The
// first thread is not: Landlock keeps the command from signalling processes outside. The host makes the ruleset, with
// go-landlock; to enter it is one call. (To import go-landlock here would cost each start a millisecond: it is initialised
// after packages that take time.) The helper's memory is closed to the command (PR_SET_DUMPABLE), so that the command cannot
// reach the other threads.
package enter

// argv[0] of our own processes.
const (
	HolderName = "toolhost-holder"
	HelperName = "toolhost-sandbox"
	ReaperName = "toolhost-session"
	ProbeName  = "toolhost-probe" // a command that tries to read ProbeSecret and to create a file where it starts
)

// HelperEnv is the environment of a helper. It hardly computes: more than one thread that does would cost more to start than
// it is worth.
func HelperEnv() []string { return []string{"GODEBUG=", "GOMAXPROCS=1"} }

// ProbeSecret is the file that a probe must not be able to read where secrets are masked.
const ProbeSecret = "secret"

// The exit statuses of a probe.
const (
	ProbeWritten = 10 // and removed again
	ProbeDenied  = 11
	ProbeRead    = 12 // the secret
)

// ExitSetup is the exit status of a helper that could not make the sandbox. The command did not run then.
const ExitSetup = 125

// The messages of a helper to the host, by their first byte.
const (
	SaysFailed   = 'F' // op NUL argument NUL errno: the sandbox was not made
	SaysMounts   = 'W' // name: of the command's mount namespace, by which its processes are known in the session's world
	SaysListener = 'L' // with the descriptor of the filter's listener
	SaysStarting = 'B' // the command may run from here on
	SaysStarted  = 'S' // the command runs
	SaysEnded    = 'E' // wait status, whether others are left: decimal, NUL between
	SaysBounded  = 'M' // resource NUL used NUL bound: the command used more than it may, and is ended
	SaysBound    = 'N' // errno: the result of SayBind
	SaysLent     = 'O' // errno: the result of SayLend, SayReturn and SayShow
	SaysSealed   = 'R' // path NUL errno: the result of SaySeal, 0 if it is covered again
)

// The messages of the host to a helper, by their first byte.
const (
	SayBind   = 'b' // umask NUL name, with the descriptors of a socket and of the directory where the name begins: bind(2)
	SayLend   = 'l' // path: the host has made it in a lent directory, and the command is to see it
	SayReturn = 'u' // path, or path NUL place as of SayShow: the host has removed it, and the command is to see it no more
	SayShow   = 'v' // path NUL place, with a tree of the holder: mount it at path, for whose name place, if there is one, has room
	SaySignal = 's' // the number: to every process of the sandbox
	SaySeal   = 'r' // op NUL path: do this step again, because what it covers was replaced from outside
)

// The holder begins with three messages: "0", with a listener on the loopback if it has one, "0" with a NETLINK_SOCK_DIAG
// socket, and "0" with the /dev of the session, behind which ERRNO=PLACE stands for each overlay that could not be mounted. Any other number is the errno of a failed step, named behind a space, and its
// last word. The messages of the host to it are one byte of flags, with the descriptors control, plan, stdin, stdout, stderr,
// and those of Note and Ruleset where the plan has them. The holder answers with the decimal errno, "0" with a descriptor of
// the helper's process.
const (
	OwnNetwork  = 1 << iota // the helper gets the empty network namespace
	OwnWorld                // the helper is the first process of a pid namespace of its own, and has an IPC namespace of its own
	OwnMessages             // it has an IPC namespace of its own
	MakeSocket              // no helper, and no descriptors: the answer has a TCP socket in the session's network, which does not block
	SocketSix               // of IPv6
	CloneTree               // no helper; path NUL dev NUL ino follow: the answer has a detached, writable copy of the mount there
	DropName                // no helper; place NUL name follow: remove what SayShow has made there
)
