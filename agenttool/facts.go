package agenttool

import (
	"fmt"

	"toolhost/agenttool/json"
)

// Fact is a three-valued statement about one input. The zero value is Unknown, and unknown is unsafe: it never
// counts as read-only, as safe beside others, or as closed to the outside.
type Fact uint8

// The three values.
const (
	Unknown Fact = iota
	Yes
	No
)

var factNames = [...]string{Unknown: "unknown", Yes: "yes", No: "no"}

// String returns "unknown", "yes" or "no". A value that is none of the three is unknown.
func (f Fact) String() string {
	if int(f) >= len(factNames) {
		f = Unknown
	}
	return factNames[f]
}

// Known returns Yes or No.
func Known(b bool) Fact {
	if b {
		return Yes
	}
	return No
}

// MarshalText writes "unknown", "yes" or "no".
func (f Fact) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalJSON reads the form of MarshalText; null is unknown. An error sets the fact to unknown.
func (f *Fact) UnmarshalJSON(b []byte) error {
	*f = Unknown
	if string(b) == "null" {
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	for v, name := range factNames {
		if s == name {
			*f = Fact(v)
			return nil
		}
	}
	return fmt.Errorf("fact %q: want unknown, yes or no", s)
}

// Facts describes one input before it runs. The host uses it to decide whether the call may run without approval, which
// other calls may run at the same time, and how tight the sandbox is.
//
// Agent Tool v0.2.0, "Per-call facts" (AT-190 … AT-196, AT-210); the three values are ours.
type Facts struct {
	Verdicts

	Dir      *Path      `json:"dir,omitempty"` // where its commands start; nil if it runs none
	Reads    []Path     `json:"reads,omitempty"`
	Writes   []Path     `json:"writes,omitempty"`
	Hosts    []string   `json:"hosts,omitempty"`
	Commands [][]string `json:"commands,omitempty"` // normalised argv of each simple command; nil if one of them is not known
	Parts    []Part     `json:"parts,omitempty"`    // the simple commands, as far as they are known

	// Globs are patterns of paths that the call reads. They are set only if their matches are all that PathsComplete lacks to be
	// Yes, here and in all Parts: a caller that has looked them up on disk may then set it. Only commands that read have any.
	Globs []Glob `json:"-"`

	// Git are the places where its commands run git and, by their text, only read. The repository and the programs that its
	// configuration names are known only from the disk: see classify.Context.
	Git []GitRun `json:"-"`

	// Remotes are repositories that git reaches by the names of its configuration. They are set only if their hosts are all that
	// HostsComplete lacks to be Yes.
	Remotes []GitRemote `json:"-"`

	PartsComplete Fact       `json:"parts_complete,omitzero"` // Parts holds every command that runs
	Mentions      [][]string `json:"-"`                       // argv of all that may be a command, anywhere, for rules that forbid; see [Unread]
	Unmentioned   bool       `json:"-"`                       // there may be commands that Mentions does not hold
	Settings      []string   `json:"-"`                       // NAME=VALUE of each variable that may be set for a command, anywhere; see [Unread]

	// MayRun says why more may run than Mentions holds, because the input names a program or code that nothing is known of. Code of the
	// project, which a build or a test runs, does not count. Empty: all that the input itself names is in Mentions.
	MayRun string `json:"may_run,omitempty"`

	// Unwalked says why it is not known which secrets git prints out of the objects of a repository. "": it is.
	Unwalked string `json:"-"`

	Locks    []Lock   `json:"resource_locks,omitempty"`
	Reasons  []Reason `json:"reasons,omitempty"`
	Inferred []string `json:"inferred_facts,omitempty"` // the facts above that were derived, not declared
}

// Verdicts are the answers of Facts to the questions that rules and the scheduler ask.
type Verdicts struct {
	ReadOnly        Fact `json:"read_only"`
	Destructive     Fact `json:"destructive"`
	OpenWorld       Fact `json:"open_world"` // reaches beyond this machine, or may
	ConcurrencySafe Fact `json:"concurrency_safe"`
	Interactive     Fact `json:"interactive"`       // would wait for a terminal
	LongRunning     Fact `json:"long_running"`      // servers, watchers
	ObservesHost    Fact `json:"observes_host"`     // looks at processes, memory or sockets of the machine
	PathsComplete   Fact `json:"paths_complete"`    // Reads and Writes name every path that the call touches
	HostsComplete   Fact `json:"hosts_complete"`    // Hosts names every host that the call may reach
	OwnJobs         Fact `json:"own_jobs,omitzero"` // acts on nothing but the jobs of this session
}

// Part is one simple command of a command line, with its own facts. A program that runs another one is a part, and so is
// the one that it runs.
type Part struct {
	Argv      []string `json:"argv"`           // the words; one that is not known to its end ends in …
	Exact     bool     `json:"exact"`          // all words are known
	Dirs      []string `json:"dirs,omitempty"` // absolute: where it may start, if that is not where the call does; "…" is anywhere
	Line      int      `json:"line"`           // where it stands, both from 1
	Column    int      `json:"column"`
	WrappedBy int      `json:"wrapped_by"` // the index of the part that runs it; -1: the shell does

	ReadOnly    Fact `json:"read_only"`
	Destructive Fact `json:"destructive"`
	Copied      bool `json:"copied,omitempty"` // toolhost copies what it destroys before it runs
	OpenWorld   Fact `json:"open_world"`

	MayRun string `json:"may_run,omitempty"` // as in Facts, of this command alone

	PathsComplete Fact     `json:"paths_complete"` // Reads and Writes name every path that this command itself touches
	Reasons       []Reason `json:"reasons,omitempty"`

	// Variables are those that the line sets for this command: before it, or by env. One that is set twice is there twice.
	Variables []Variable `json:"-"`

	// Passes says that all it does is to run the parts that it wraps, with another limit of time, another priority, buffering, session or
	// environment: a rule that covers those covers it.
	Passes bool `json:"-"`

	// Means are the words without the options of git before its command, if these change nothing but where git runs and what it shows;
	// nil: there are none, or they change more. MeansIn are the directories where it then runs, absolute, as Reads spell them.
	Means   []string `json:"-"`
	MeansIn []string `json:"-"`

	// Loose says of a part that is not Exact that each word which is not known to its end is one word, no option, and names no path, host
	// or code: it is text.
	Loose bool `json:"-"`
}

// Variable is a variable of the environment that a command line sets for a command.
type Variable struct {
	Name      string
	Value     string // as far as it is known from the beginning
	Known     bool   // Value is all of it
	Influence Influence
}

// Influence is how far a variable changes what a command does. The zero value is the widest.
type Influence uint8

// The influences.
const (
	RunsOther   Influence = iota // its value is code, or names a program, a file with code or options: which ones is not known
	FindsCode                    // as RunsOther, but this value is known to name nothing outside the project: PYTHONPATH=.
	ActsOnOther                  // it says with what, or on what, the command acts: DATABASE_URL, RAILS_ENV
	ShowsOther                   // it changes what is shown, how fast the command is or where it listens: CI, PORT, GOMAXPROCS
)

// Glob is a pattern of paths that a command reads.
type Glob struct {
	// Pattern is absolute. Slashes separate its components. In a component * stands for any bytes, and \ makes the next byte
	// literal. Only a component that begins with a dot matches names that begin with one. A component ** is followed by exactly
	// one more: the pattern then matches its names, also those with a dot, in the directory before ** and in all directories
	// below that. It follows no links.
	Pattern string
	By      int    // the simple command that reads them, as in Path; 0 for the shell itself
	Names   bool   // as in Path
	First   string // the facts hold only if no name at the start of a path begins with one of these bytes
	Without string // ... and only if no name holds one of these bytes
	Flat    bool   // ... and only if none of the matches is a directory, or a link that may lead to one
	Index   bool   // the names are those of git's index as well, whether the files are there or not
}

// GitRun is one place where git runs as a reader.
type GitRun struct {
	Dir    string // where it runs, as cd and -C moved it: absolute, not cleaned
	GitDir string // the value of --git-dir: absolute, not cleaned; "" if git looks for it, from Dir upward
	Verb   string // its subcommand; "ls-remote" for every one that reaches another repository
}

// GitRemote is a repository by the name that the configuration of another one gives it.
type GitRemote struct {
	Dir  string // where git runs: absolute, not cleaned
	Name string // "": the one that the branch follows
	Push bool   // something is sent there
}

// Unread stands in a word of Mentions for text that is not known: of any length, also none.
const Unread = "\x00"

// Path is one path that a call names.
type Path struct {
	Spelling string `json:"spelling"`           // as the input says it
	Absolute string `json:"absolute"`           // joined with the directory that it is relative to, not cleaned
	Resolved string `json:"resolved,omitempty"` // all links followed; empty until the host has located it
	Root     string `json:"root,omitempty"`     // the workspace root that holds Resolved; empty when none does
	Private  bool   `json:"private,omitempty"`  // Resolved is toolhost's own state, which no call may touch
	Names    bool   `json:"names,omitempty"`    // the call reads only its name and attributes, not its content
	Seen     string `json:"-"`                  // Resolved as commands name it, where that is another name: in the session's own /tmp
	Follows  bool   `json:"follows,omitempty"`  // git only notes there which branches its branches follow, in a configuration of its own
	Makes    bool   `json:"-"`                  // a directory is made there
	Own      bool   `json:"-"`                  // it tells a command about itself, as /proc/self/status does: Resolved is about another process
	Upstream bool   `json:"-"`                  // a repository of the user from which this one fetches, or to which it pushes and has fetched from before
	Cloned   bool   `json:"-"`                  // of an Upstream: the two have object files in common, as git clone leaves them and no archive can
	Package  bool   `json:"-"`                  // a package in a directory outside of the workspace, which the command names to install it
	Loose    bool   `json:"-"`                  // other files may be there, or a link on the way, once another command of the line has run
	Top      bool   `json:"-"`                  // git takes it as relative to the top of the work tree, wherever it runs
	Stored   bool   `json:"-"`                  // git holds a secret of that path among its objects, and the command prints it
	By       int    `json:"by,omitempty"`       // the simple command that touches it, as an index of Parts plus 1; 0: the shell, or no command
}

// Within reports whether path is dir or lies below it, by whole components. Both are absolute and clean.
func Within(dir, path string) bool {
	if dir == "/" || dir == path {
		return true
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// Join is filepath.Join for a clean directory and a clean path below it, without looking at either.
func Join(dir, below string) string {
	if dir == "/" {
		return dir + below
	}
	return dir + "/" + below
}

// Lock is a resource that a call needs while it runs. A path covers everything below it.
type Lock struct {
	Path  string `json:"path"`
	Write bool   `json:"write"` // a write lock excludes all others on the same, a higher or a lower path
}

// Reason explains the value of a fact.
type Reason struct {
	Fact   string `json:"fact,omitempty"`
	Text   string `json:"text"`
	Line   int    `json:"line,omitempty"`   // 1-based, in the input's command
	Column int    `json:"column,omitempty"` // 1-based, in bytes
}
