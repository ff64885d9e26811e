package sandbox

import (
	"time"

	"toolhost/permissions/protect"
)

// Options say what a session is for.
type Options struct {
	Roots []string // directories that commands of profile workspace may write; at least one, but at level None
	Named []string // names of roots that have links in them, as the user gave them: commands see these links, too
	Home  string   // "" for none

	// ConfigHome is XDG_CONFIG_HOME; "" for .config in the home directory.
	ConfigHome string

	Dir       string         // a directory of this session alone, which Close removes: the scratch is in it
	Fallbacks []string       // other directories of this session alone, the best first, where Dir cannot be made: its disk is full or read-only
	Program   string         // this program's path in commands' view, for ssh to granted hosts; "" for none
	Cache     string         // a directory for the caches of tools, kept from session to session
	Hidden    []string       // directories of toolhost that no command may see
	Show      []string       // directories that commands must see even below /tmp, such as those of PATH
	Beside    []string       // further directories that commands see as they are: the rest of the roots' repositories
	Readable  []string       // files and directories of the system and of tool chains: besides the roots all that ReadOnly commands see; nil: they see what others do
	Protected *protect.Cache // the protected names and secrets of the roots; the session closes it
	Runtime   string         // XDG_RUNTIME_DIR: sockets of the person's programs; "" for none

	UserCaches []UserCache // caches of the person that commands read below the workspace's own, at level Full
	Go         GoSettings

	// Changed receives the findings of the tripwire, while commands run and when they have ended, from several goroutines; may be nil.
	Changed func(Violation)

	// LetLive reports whether a user accepted the git directory of the path since a time; nil: never.
	LetLive func(path string, since time.Time) bool

	// Ready reports, when the session's directories are to be made, why they must not be yet; nil means that they may be.
	Ready func() error

	// NotMade is called when the sandbox of a command could not be made, and resources were not short: the machine may hold less than
	// the level; nil is not called.
	NotMade func()

	// Level is the level of the session's commands. "" is Full. In a session of level None only those that are Unconfined
	// can be started: of the other options it needs none, and it makes no file and no directory.
	Level Level

	// Bounds are the resources that the commands of the session may use. Linux only.
	Bounds Bounds

	// Limits are those of every command. To a confined one they replace the limits that it has otherwise; an Unconfined one has
	// no others. Linux only.
	Limits []Limit
}

// GoSettings are the person's settings of go that matter to its caches. The zero value has none.
type GoSettings struct {
	ModCache string // the module cache, which serves as a proxy where it has no layers
	Proxy    string // GOPROXY, or the further value of it
	Cache    string // the build cache, which commands read
}

// UserCache is a cache of the person.
type UserCache struct {
	Name string // the workspace's own, in the directory of caches: "npm/_cacache"
	Dir  string // the person's

	// Linked has commands see the workspace's own at Dir, too, where that is in a closed home directory: no variable tells the
	// tool another place for it. Dir need not exist.
	Linked bool
}

// Bounds are the resources that commands may use. A command that uses more is ended, with a message. The zero value of each
// field is the default, a negative one no bound.
type Bounds struct {
	Processes int   // of a session where the kernel counts them, else of each command, threads included; default: 512, and 256 for each processor
	Memory    int64 // bytes of a session where a control group counts them, else of each command; default: half of what this process may have
	Scratch   int64 // bytes of the session's scratch on disk; default: 16 GiB, and no more than half of the free space
}

// Limit is a limit of each process of a command, as setrlimit(2) takes it. It never raises one.
type Limit struct {
	Resource   int    // RLIMIT_
	Soft, Hard uint64 // in the resource's unit; RLIM_INFINITY for none
}
