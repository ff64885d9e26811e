package agenttool

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says what happens to a call that no rule decides.
type Mode string

// The modes, loosest first.
const (
	ModeBypass      Mode = "bypass"       // every call runs unless a rule denies it or asks, or it touches a protected path
	ModeSandboxed   Mode = "sandboxed"    // as accept_edits, and every call that the full sandbox confines runs
	ModeAcceptEdits Mode = "accept_edits" // as default, and files of the workspace may be edited, by programs that do nothing else too
	ModeDefault     Mode = "default"      // calls that only read run, the others ask
	ModeDontAsk     Mode = "dont_ask"     // as default, but a call that would ask is denied
	ModePlan        Mode = "plan"         // calls that only read run, all others are denied, even if a rule allows them
)

// Modes lists the modes, loosest first.
var Modes = []Mode{ModeBypass, ModeSandboxed, ModeAcceptEdits, ModeDefault, ModeDontAsk, ModePlan}

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	if m := Mode(name); slices.Contains(Modes, m) {
		return m, nil
	}
	return "", fmt.Errorf("mode %q is not one of %s", name, strings.Join(Names(Modes), ", "))
}

// Within reports whether m allows nothing that limit does not.
func (m Mode) Within(limit Mode) bool {
	return slices.Index(Modes, m) >= slices.Index(Modes, limit)
}

// Asks reports whether a call that no rule allows asks the person.
func (m Mode) Asks() bool { return m != ModeDontAsk && m != ModePlan && m != ModeBypass }

// Level is the strength of the sandbox that the machine offers.
type Level string

// The levels.
const (
	LevelFull           Level = "full"            // namespaces, mounts, Landlock, system call filter
	LevelLandlockNotify Level = "landlock+notify" // no namespaces; the filter asks about system calls that Landlock does not cover
	LevelLandlock       Level = "landlock"        // Landlock and a filter that cannot ask
	LevelNone           Level = "none"
)

// Levels are all levels, strongest first.
var Levels = []Level{LevelFull, LevelLandlockNotify, LevelLandlock, LevelNone}

// AtLeast reports whether l is as strong as least.
func (l Level) AtLeast(least Level) bool {
	return slices.Index(Levels, l) >= 0 && slices.Index(Levels, l) <= slices.Index(Levels, least)
}

// ParseLevel reads the name of a level.
func ParseLevel(name string) (Level, error) {
	if slices.Contains(Levels, Level(name)) {
		return Level(name), nil
	}
	return "", fmt.Errorf("%q is no level: it is one of %s", name, strings.Join(Names(Levels), ", "))
}

// Durability selects the parts of a change that are on disk before a call ends. A replaced file always has its old or
// its new content, whatever happens to this process. A file that is rewritten in place, as the result then says,
// holds a mixture of both if this process or the machine ends meanwhile.
type Durability string

const (
	// NotSynced leaves the time of the write to the system. After a crash of the machine a new file can be empty: XFS
	// and ext4 may lose its new content, and XFS its old one too.
	NotSynced Durability = "none"

	// FileSynced writes the content to disk before the file gets its name: after a crash of the machine a replaced
	// file has its old or its new content. A file rewritten in place is on disk when the call ends.
	FileSynced Durability = "file"

	// FullySynced also writes the name to disk: a reported change survives a crash of the machine.
	FullySynced Durability = "full"
)

// Durabilities lists the values of Durability, weakest first.
var Durabilities = []Durability{NotSynced, FileSynced, FullySynced}

// Names returns words of a type as strings.
func Names[W ~string](words []W) []string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = string(w)
	}
	return names
}
