package enter

import "strconv"

// Plan is the list of steps that a helper takes, in order, before the command runs. The host makes it, and decides; the helper
// only carries it out: each step does one thing or ends the helper.
type Plan []Step

// Step is one operation with its arguments.
type Step struct {
	Op   Op
	Args []string
}

// Op names an operation. The name stands in the message when it fails.
type Op string

// The operations, in the order of a plan.
const (
	Note       Op = "note"       // the command gets another descriptor, 3, which came behind the plan
	Ruleset    Op = "landlock"   // the command is restricted by the Landlock ruleset whose descriptor came last
	Group      Op = "group"      // the command is counted in the control group whose list of processes is the next descriptor
	World      Op = "world"      // the command lives in the session's pid namespace: its descriptor, and one of a /proc, come last
	Terminal   Op = "terminal"   // stdin becomes the controlling terminal
	Hold       Op = "hold"       // path, dev, ino: keep the tree at path as it is now, for Place
	ReadOnly   Op = "read-only"  // everything that is mounted
	Terminals  Op = "terminals"  // pseudo-terminals that only this sandbox has
	Show       Op = "show"       // a place that the session has built, path: move it there, read-only
	Memory     Op = "memory"     // path, options: an empty file system in memory
	Folder     Op = "folder"     // path: make a directory, in a file system of the sandbox's own
	Link       Op = "link"       // path, target: make a symbolic link there
	Place      Op = "place"      // path, at, read-only ("ro") or not: mount the tree that was held
	Overlay    Op = "overlay"    // at, upper, work, and path, dev, ino of each lower directory, the first above the others: mount them as one there
	Pin        Op = "pin"        // path: neither rename nor remove the directory
	Seal       Op = "seal"       // path: neither write nor rename nor remove what is there
	Mask       Op = "mask"       // path, "fixed" or "": the entry there cannot be read; fixed: the command cannot make it reachable
	MaskAs     Op = "mask-as"    // the same for a file: it keeps its size and its time, so that git takes it for unchanged
	Open       Op = "open"       // path: the mounts at and below it can be written again
	Lend       Op = "lend"       // path, dev, ino: keep the tree at path as it is now: names will be made in it
	LendUp     Op = "lend-up"    // mount the lent trees where Memory covers them
	LendAt     Op = "lend-at"    // path: where the command sees them, in a file system of the sandbox's own
	Lock       Op = "lock"       // path: the mount there becomes read-only, those below it stay
	Proc       Op = "proc"       // show the processes of the sandbox only, or of the session
	Share      Op = "share"      // show the memory that the session's commands share
	Withhold   Op = "withhold"   // "memory" or "processes": do not show the session's
	Loopback   Op = "loopback"   // bring lo up
	Streams    Op = "streams"    // be sure that they are no way around the mounts
	Directory  Op = "directory"  // path, dev, ino: the working directory
	Limit      Op = "limit"      // resource, soft, hard: of the helper, too
	Bound      Op = "bound"      // resource, soft, hard: of the command alone
	Guard      Op = "guard"      // processes, bytes of memory: end the command that uses more, or stays at what the kernel allows; 0 is no bound
	Privileges Op = "privileges" // give up all of them
	Filter     Op = "seccomp"    // program, "notify" or ""
	Nice       Op = "nice"       // the command is nicer than its host: nobody waits for it
	Script     Op = "script"     // text: the command reads it from its next descriptor
	Environ    Op = "environ"    // NAME=value of the command
	Run        Op = "run"        // path, argv
)

// Devices is an operation of the plan of a session, which its holder carries out once, and whose mounts each helper gets:
// a /dev with the harmless devices, and that many places for [Show]. The rest of such a plan fills the places and closes them.
const Devices Op = "devices"

// places is the directory of the session's own trees.
const places = "/dev/.places"

// BuildPlace returns where a session builds a place for [Show].
func BuildPlace(number int) string { return places + "/" + strconv.Itoa(number) }

// Add appends a step.
func (p *Plan) Add(op Op, args ...string) { *p = append(*p, Step{op, args}) }

// confines reports whether the command is kept from anything.
func (p Plan) confines() bool {
	for _, s := range p {
		if s.Op == Privileges {
			return true
		}
	}
	return false
}

// Encode returns the plan as the helper reads it.
func (p Plan) Encode() []byte {
	var b []byte
	for _, s := range p {
		b = appendNumber(b, len(s.Args))
		b = appendText(b, string(s.Op))
		for _, a := range s.Args {
			b = appendText(b, a)
		}
	}
	return b
}

func appendNumber(b []byte, n int) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func appendText(b []byte, s string) []byte { return append(appendNumber(b, len(s)), s...) }

// Decode reads the output of Encode. It reports whether b is a whole plan.
func Decode(b []byte) (Plan, bool) {
	var p Plan
	for len(b) > 0 {
		n, rest, ok := cutNumber(b)
		if !ok || n > len(rest) {
			return nil, false
		}
		var op string
		if op, b, ok = cutText(rest); !ok {
			return nil, false
		}
		args := make([]string, n)
		for i := range args {
			if args[i], b, ok = cutText(b); !ok {
				return nil, false
			}
		}
		p.Add(Op(op), args...)
	}
	return p, true
}

func cutNumber(b []byte) (n int, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24, b[4:], true
}

func cutText(b []byte) (s string, rest []byte, ok bool) {
	n, b, ok := cutNumber(b)
	if !ok || n > len(b) {
		return "", nil, false
	}
	return string(b[:n]), b[n:], true
}
