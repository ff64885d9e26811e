package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool/visible"
)

// Violation is an access that the sandbox refused to a command, or a change that the command made and the tripwire found.
type Violation struct {
	Wall    Wall   `json:"wall"`
	Path    string `json:"path,omitempty"`  // as the command sees it
	Host    string `json:"host,omitempty"`  // NAME:PORT
	Call    string `json:"call,omitempty"`  // the system call that was refused
	Rule    string `json:"rule,omitempty"`  // the rule for the path or host
	Grant   string `json:"grant,omitempty"` // the grant that would permit it; "" if there is none
	Detail  string `json:"detail,omitempty"`
	Certain bool   `json:"certain"` // false: guessed from the command's output, and only likely

	Program string `json:"-"` // the name that the program has, of an access that is asked about

	harmless bool // of the tripwire: nothing runs because of it, and the person need not hear
}

// Wall is the wall that refused.
type Wall string

// The walls.
const (
	ProtectedName Wall = "protected_name" // writing a name that other programs run or obey
	Egress        Wall = "egress"         // reaching a host
	Changed       Wall = "tripwire"       // a protected name had changed when the command ended
	FileSystem    Wall = "file_system"    // a place that is read-only or masked
	NoNetwork     Wall = "network"        // there is no network
	Bound         Wall = "bound"          // a bound on processes, memory or scratch
	DeniedCommand Wall = "denied_command" // starting a program that a rule denies
	History       Wall = "history"        // printing a secret that git holds as an object
	Loss          Wall = "loss"           // changing a file of which no copy could be kept
)

// replacedByGit is the rule of a violation at a configuration file of git in the home directory.
const replacedByGit = "replaced by git"

// kernelMemory is the rule of a violation for a process that the kernel ended for want of memory.
const kernelMemory = "kernel_memory"

// maxViolations bounds what is kept of one command, which may try the same thing for ever.
const maxViolations = 50

// violations are those of one command.
type violations struct {
	mu      sync.Mutex
	list    []Violation
	heard   func(Violation)
	changed func(Violation) // told of those of the tripwire besides
}

// add keeps a violation that is not known yet, and tells of it.
func (v *violations) add(found Violation) {
	v.mu.Lock()
	keep := len(v.list) < maxViolations && !slices.Contains(v.list, found)
	if keep {
		v.list = append(v.list, found)
	}
	v.mu.Unlock()
	if keep && v.heard != nil {
		v.heard(found)
	}
	if keep && v.changed != nil && found.Wall == Changed && !found.harmless {
		v.changed(found)
	}
}

// addAny is add if there is one.
func (v *violations) addAny(found Violation, ok bool) {
	if ok {
		v.add(found)
	}
}

// all returns the violations.
func (v *violations) all() []Violation {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.list)
}

// deed is what the command was about to do with a file.
func (v Violation) deed() string {
	kind, _, _ := strings.Cut(v.Grant, ":")
	switch {
	case kind == "read":
		return "reading"
	case kind == "socket", v.Call == "connect":
		return "connecting to"
	}
	return "writing"
}

// String describes the refusal, its object, and the grant that would permit it, in one line: a name that the command chose ends no line of ours, and moves no
// cursor.
func (v Violation) String() string {
	what := v.Path + v.Host
	var b strings.Builder
	switch v.Wall {
	case ProtectedName:
		fmt.Fprintf(&b, "the sandbox kept the command from writing %s, which other programs run or obey (%s)", what, v.Rule)
	case Egress:
		fmt.Fprintf(&b, "the sandbox kept the command from reaching %s", what)
	case Changed:
		fmt.Fprintf(&b, "%s, which other programs run or obey, %s", what, v.Detail)
	case Bound:
		who := "the sandbox ended the command"
		if v.Rule == kernelMemory {
			who = "the kernel ended a process of the command"
		}
		fmt.Fprintf(&b, "%s: %s", who, v.Detail)
	case DeniedCommand:
		fmt.Fprintf(&b, "the sandbox kept the command from running %s, which is denied by %s", what, v.Rule)
	case History:
		fmt.Fprintf(&b, "the sandbox kept the command from running %s: %s", what, v.Rule)
	case Loss:
		fmt.Fprintf(&b, "the sandbox kept the command from changing or removing %s, which would be lost: %s", what, v.Detail)
	case NoNetwork:
		b.WriteString("the sandbox has no network of its own")
		if what != "" {
			fmt.Fprintf(&b, " that leads to %s", what)
		}
	case FileSystem:
		if what == "" {
			what = "something"
		}
		fmt.Fprintf(&b, "the sandbox kept the command from %s %s", v.deed(), what)
		if v.Rule == replacedByGit {
			b.WriteString(": git puts another file in its place, for which no grant makes room. The file is as it was: change it with the edit tool, or have the user do it")
		}
	default:
		fmt.Fprintf(&b, "the sandbox kept the command from %s", what)
	}
	if !v.Certain {
		b.WriteString(" (likely, by the command's output)")
	}
	if v.Grant != "" {
		fmt.Fprintf(&b, "; grant %s would permit it", v.Grant)
	}
	return visible.Text(b.String())
}
