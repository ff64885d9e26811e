package settings

import (
	"time"

	"toolhost/agenttool"
)

// Options say where settings are and who understands their rules. Paths are absolute; an empty path is no file.
type Options struct {
	User    string // the person's own; a missing file is an empty layer, as for all but Flag
	Project string // WORKSPACE/.toolhost/settings.json
	Local   string // WORKSPACE/.toolhost/settings.local.json
	Flag    string // named on the command line: it must exist
	Managed string // of the machine's administrator

	Workspace string   // absolute, without links: where relative directories start, and the key of what was trusted
	Roots     []string // further roots of the session, absolute: Flag is believed in none of them
	Home      string   // what ~ means in add_dirs; empty: ~ is an error
	Trust     string   // the store of what was trusted; empty: nothing is

	// CheckRule says what is wrong with a rule. Nil: nothing is.
	CheckRule func(text string, b agenttool.Behavior, o agenttool.Origin) error

	// CheckHook says what is wrong with a hook. Nil: nothing is.
	CheckHook func(h Hook) error

	// CheckExample reports whether a rule matches an example of itself. Nil: examples are not checked.
	CheckExample func(rule string, b agenttool.Behavior, example string) (matches bool, err error)

	Strict bool // a key that a newer version may know is an error, as a misspelt one is

	Now func() time.Time // nil: time.Now

	steps steps // of tests
}

// now returns the time.
func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Settings is what all layers together say: one snapshot, read-only. A value that no layer gives is not Set.
type Settings struct {
	Rules   []Rule // of all layers, the weakest layer's first, in the order of its file; deny, then ask, then allow count, wherever they come from
	Mode    Value[string]
	AddDirs []Value[string] // absolute
	Require Value[string]   // sandbox.require

	Wait            Value[string]        // approvals.wait
	ApprovalTimeout Value[time.Duration] // approvals.timeout
	InBandScopes    Value[string]        // approvals.in_band_scopes

	EnvPass []Value[string]
	EnvSet  map[string]Value[string]

	CallbackHosts []Value[string] // http.callback_hosts: where results may be sent besides this machine

	Durability  Value[string] // files.durability: none, file or full
	SearchIndex Value[string] // search.index: off, strict or watched; not set: the tree's size decides

	MaxJobs     Value[int]
	JobTimeout  Value[time.Duration]     // 0 is never
	JobOutput   Value[string]            // a size such as 1GiB
	JobLimits   map[string]Value[string] // resource → number or size, as --job-limit takes them
	MaxParallel Value[int]

	Hooks []Hook // in the order of the layers and of their files, whatever the event

	Untrusted []Untrusted // what was left out, because the project brought it and nobody trusted it
	Problems  []Problem   // what is wrong although there are settings: a file broken since it was read last, changed since it was trusted
	Layers    []Layer     // weakest first; those without a file are left out

	trusted   bool   // all that files in the workspace say counts
	loosening []item // what they loosen, whether trusted or not; without what toolhost wrote for the person
}

// Value is one setting and where it comes from.
type Value[T any] struct {
	Set    bool
	V      T
	Origin agenttool.Origin
}

// Rule is one rule of permissions.
type Rule struct {
	Text     string // trimmed, else as written
	Behavior agenttool.Behavior
	Origin   agenttool.Origin
	Note     string    // why, in the person's words
	Added    time.Time // zero: not known
}

// Hook is one command that is run at an event of a call.
type Hook struct {
	Event   string // one of [Events]
	Matcher Matcher
	Command []string          // argv: no shell reads it; relative to the workspace
	Timeout time.Duration     // 0: not given
	Env     map[string]string // further variables of it
	Origin  agenttool.Origin
}

// Matcher says which calls a hook is for. What is empty matches all.
type Matcher struct {
	Tool  string // a tool's name or alias, or *
	Input string // a rule that must match the call, such as Shell(git push *)
}

// Events are the events that have hooks.
var Events = []string{
	"pre_tool_use", "post_tool_use", "post_tool_use_failure", "permission_request", "permission_decision", "result_persistence",
}

// Untrusted is one thing that a project's file would loosen.
type Untrusted struct {
	Key    string // the setting, such as permissions.allow
	Text   string // a sentence for a person. It holds what a stranger wrote: escape it before a terminal sees it
	Origin agenttool.Origin
}

// Layer is one file of settings.
type Layer struct {
	Source   string // one of agenttool's rule sources
	File     string // absolute
	Exists   bool
	Supplied bool   // it lies in the workspace, where others write: nothing of it loosens anything by itself
	Why      string // why Supplied; else empty
	Trusted  bool   // all of it counts: it is the person's own, or trusted, or loosens nothing
}

// Default returns what holds where no layer says anything. Its source is "default".
func Default() *Settings {
	from := agenttool.Origin{Source: "default"}
	return &Settings{
		Mode:            Value[string]{true, defaultMode, from},
		Require:         Value[string]{true, defaultRequire, from},
		Wait:            Value[string]{true, "attached", from},
		ApprovalTimeout: Value[time.Duration]{true, 10 * time.Minute, from},
		InBandScopes:    Value[string]{true, "session", from},
		Durability:      Value[string]{true, "file", from},
		MaxJobs:         Value[int]{true, 50, from},
		JobTimeout:      Value[time.Duration]{true, 0, from},
		JobOutput:       Value[string]{true, "1GiB", from},
		MaxParallel:     Value[int]{true, 10, from},
	}
}

// Load reads all layers. If anything is wrong with one of them there are no settings, and the error joins every
// [*Problem] that was found: see [Problems].
func Load(o Options) (*Settings, error) {
	read, problems := o.read(nil)
	if len(problems) > 0 {
		return nil, join(problems)
	}
	return o.merge(read), nil
}
