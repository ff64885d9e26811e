package agenttool

import (
	"encoding/json"
	"fmt"
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

// MarshalJSON writes "unknown", "yes" or "no".
func (f Fact) MarshalJSON() ([]byte, error) { return []byte(`"` + f.String() + `"`), nil }

// UnmarshalJSON reads what MarshalJSON writes; null is unknown. After an error the fact is unknown, whatever it was.
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

// Facts is what is known of one input before it runs. They decide whether it may run unasked, beside what, and in
// which sandbox.
//
// Agent Tool v0.2.0, "Per-call facts" (AT-190 … AT-196, AT-210); the three values are ours.
type Facts struct {
	ReadOnly        Fact `json:"read_only"`
	Destructive     Fact `json:"destructive"`
	OpenWorld       Fact `json:"open_world"` // reaches beyond this machine, or may
	ConcurrencySafe Fact `json:"concurrency_safe"`
	Interactive     Fact `json:"interactive"`    // would wait for a terminal
	LongRunning     Fact `json:"long_running"`   // servers, watchers
	ObservesHost    Fact `json:"observes_host"`  // looks at processes, memory or sockets of the machine
	PathsComplete   Fact `json:"paths_complete"` // Reads and Writes name every path that the call touches

	Dir      *Path      `json:"dir,omitempty"` // where its commands start; nil if it runs none
	Reads    []Path     `json:"reads,omitempty"`
	Writes   []Path     `json:"writes,omitempty"`
	Hosts    []string   `json:"hosts,omitempty"`
	Commands [][]string `json:"commands,omitempty"` // normalised argv of each simple command, for rules; nil is unknown
	Locks    []Lock     `json:"resource_locks,omitempty"`
	Reasons  []Reason   `json:"reasons,omitempty"`
	Inferred []string   `json:"inferred_facts,omitempty"` // the facts above that were derived, not declared
}

// Path is one path that a call names.
type Path struct {
	Spelling string `json:"spelling"`           // as the input says it
	Absolute string `json:"absolute"`           // joined with the directory that it is relative to, not cleaned
	Resolved string `json:"resolved,omitempty"` // all links followed; empty until the host has located it
	Root     string `json:"root,omitempty"`     // the workspace root that holds Resolved; empty when none does
	Private  bool   `json:"private,omitempty"`  // Resolved is toolhost's own state, which no call may touch
}

// Within reports whether path is dir or lies below it, by whole components. Both are absolute and clean.
func Within(dir, path string) bool {
	if dir == "/" || dir == path {
		return true
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// Lock is a resource that a call needs while it runs. A path covers everything below it.
type Lock struct {
	Path  string `json:"path"`
	Write bool   `json:"write"` // a write lock excludes all others on the same, a higher or a lower path
}

// Reason says why a fact is what it is.
type Reason struct {
	Fact   string `json:"fact,omitempty"`
	Text   string `json:"text"`
	Line   int    `json:"line,omitempty"`   // 1-based, in the input's command
	Column int    `json:"column,omitempty"` // 1-based, in bytes
}
