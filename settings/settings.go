package settings

import (
	"time"

	"toolhost/agenttool"
)

// Options locate the settings files and provide checks for rules. Paths are absolute; an empty path means no file.
type Options struct {
	User    string // the person's own; a missing file is an empty layer, as for all but Flag
	Project string // WORKSPACE/.toolhost/settings.json
	Local   string // WORKSPACE/.toolhost/settings.local.json
	Flag    string // named on the command line: it must exist
	Managed string // of the machine's administrator

	Workspace string   // absolute, without links: base of relative directories, and key of the trust store
	Roots     []string // further roots of the session, absolute: a Flag file in a root is not trusted
	Home      string   // home directory for ~ in add_dirs; empty: ~ is an error
	Trust     string   // the trust store; empty: nothing is trusted

	// CheckRule returns an error for an invalid rule. Nil: every rule is valid.
	CheckRule func(text string, b agenttool.Behavior, o agenttool.Origin) error

	// CheckHook returns an error for an invalid hook. Nil: every hook is valid.
	CheckHook func(h Hook) error

	// CheckTool returns an error for a name that no tool has. Nil: every name is valid.
	CheckTool func(name string) error

	// CheckPattern returns an error for an invalid pattern of secrets, and CheckSecret for a name of no kind of secret. Nil: all are
	// valid.
	CheckPattern func(p SecretPattern) error
	CheckSecret  func(kind string) error

	// CheckExample reports whether a rule matches an example of itself. Nil: examples are not checked.
	CheckExample func(rule string, b agenttool.Behavior, example string) (matches bool, err error)

	Strict bool // a key that a newer version may know is an error, like a misspelt one

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

// Waits are the times that calls wait for a user.
type Waits struct {
	Wait            Value[string]        // approvals.wait
	ApprovalTimeout Value[time.Duration] // approvals.timeout
	WallWait        Value[time.Duration] // wall.wait
}

// Settings is a snapshot of all layers merged, read-only. A value that no layer sets is not Set.
type Settings struct {
	Rules   []Rule // of all layers, the weakest layer's first, in file order; deny precedes ask precedes allow, independently of the layer
	Mode    Value[string]
	AddDirs []Value[string] // absolute
	Require Value[string]   // sandbox.require

	Waits
	InBandScopes Value[string] // approvals.in_band_scopes

	Env
	CallbackHosts []Value[string] // http.callback_hosts: hosts besides this machine that may receive results

	Durability  Value[string] // files.durability: none, file or full
	SearchIndex Value[string] // search.index: off, strict or watched; not set: chosen by the tree's size

	Calls
	Jobs
	Retention
	Redaction

	Hooks []Hook // in the order of the layers and of their files, whatever the event

	Untrusted []Untrusted // values of the project that were left out because the user has not trusted them
	Problems  []Problem   // problems besides valid settings: a file that broke since it was last read, or changed since it was trusted
	Layers    []Layer     // weakest first; those without a file are left out

	trusted   bool   // workspace files count completely
	loosening []item // loosening items of workspace files, trusted or not; without rules that toolhost wrote for the user
}

// item is one loosening by a workspace layer, in a form for the user and a form to pin.
type item struct {
	Untrusted
	value any // encodes to JSON; equal meanings have equal encodings
}

// Jobs are the settings of commands that go on beside their calls.
type Jobs struct {
	MaxJobs    Value[int]
	JobTimeout Value[time.Duration]     // 0 is never
	JobOutput  Value[string]            // a size such as 1GiB
	JobLimits  map[string]Value[string] // resource → number or size, as --job-limit takes them
}

// Env are the settings of the variables of commands.
type Env struct {
	EnvPass []Value[string]
	EnvSet  map[string]Value[string]
}

// Calls are the settings that decide whether calls run.
type Calls struct {
	Disabled    []Value[string] // tools.disable: names of tools
	MaxParallel Value[int]
}

// Redaction are the settings about secrets in records.
type Redaction struct {
	RedactionPatterns []SecretPattern // the user's own kinds
	RedactionOff      []Value[string] // kinds that are stored as they are
	RedactionStrategy Value[string]   // record: only stored records lose their secrets; redact: the text for the model, too
}

// SecretPattern is a kind of secret that the user describes.
type SecretPattern struct {
	Kind   string
	Regexp string // valid; its first group is the secret, or all of the match
	Origin agenttool.Origin
}

// Retention are the settings of how long sessions are stored after their last use.
type Retention struct {
	SessionAge Value[time.Duration] // retention.sessions
	PayloadAge Value[time.Duration] // retention.payloads: of stored outputs, whose records stay
	StoredSize Value[string]        // retention.size: of all sessions together, such as 5GiB
}

// Value is one setting and its origin.
type Value[T any] struct {
	Set    bool
	V      T
	Origin agenttool.Origin
}

// Rule is one rule of permissions.
type Rule struct {
	Text     string // trimmed, otherwise as written
	Behavior agenttool.Behavior
	Origin   agenttool.Origin
	Note     string    // the user's reason
	Added    time.Time // zero: unknown
}

// Hook is a command that runs at an event of a call.
type Hook struct {
	Event   string // one of [Events]
	Matcher Matcher
	Command []string          // argv: no shell is involved; relative to the workspace
	Timeout time.Duration     // 0: not given
	Env     map[string]string // additional variables
	Origin  agenttool.Origin
}

// Matcher selects the calls for a hook. An empty field matches all.
type Matcher struct {
	Tool  string // a tool's name or alias, or *
	Input string // a rule that must match the call, such as Shell(git push *)
}

// Events are the events that have hooks.
var Events = []string{
	"pre_tool_use", "post_tool_use", "post_tool_use_failure", "permission_request", "permission_decision", "result_persistence",
}

// Untrusted is a value of a project's file that would loosen something.
type Untrusted struct {
	Key    string // the setting, such as permissions.allow
	Text   string // a sentence for a person. It contains text from the project: escape it for a terminal
	Origin agenttool.Origin
}

// Layer is one file of settings.
type Layer struct {
	Source   string `json:"source"` // one of agenttool's rule sources
	File     string `json:"file"`   // absolute
	Exists   bool   `json:"exists"`
	Digest   string `json:"-"`             // sha256:… of its content as it was read; "" if it could not be read
	Supplied bool   `json:"project"`       // it lies in the workspace, where other people or commands write: it cannot loosen anything by itself
	Why      string `json:"why,omitempty"` // why Supplied; else empty
	Trusted  bool   `json:"trusted"`       // it counts completely: it is the user's own, or trusted, or loosens nothing
}

// Default returns the defaults. Their source is "default".
func Default() *Settings {
	from := agenttool.Origin{Source: "default"}
	return &Settings{
		Mode:    Value[string]{true, defaultMode, from},
		Require: Value[string]{true, defaultRequire, from},
		Waits: Waits{
			Wait:            Value[string]{true, "attached", from},
			ApprovalTimeout: Value[time.Duration]{true, 10 * time.Minute, from},
			WallWait:        Value[time.Duration]{true, 2 * time.Minute, from},
		},
		InBandScopes: Value[string]{true, "session", from},
		Durability:   Value[string]{true, "file", from},
		Jobs: Jobs{
			MaxJobs:    Value[int]{true, 50, from},
			JobTimeout: Value[time.Duration]{true, 0, from},
			JobOutput:  Value[string]{true, "1GiB", from},
		},
		Calls: Calls{MaxParallel: Value[int]{true, 10, from}},
		Retention: Retention{
			SessionAge: Value[time.Duration]{true, 720 * time.Hour, from},
			PayloadAge: Value[time.Duration]{true, 720 * time.Hour, from},
			StoredSize: Value[string]{true, "5GiB", from},
		},
		Redaction: Redaction{RedactionStrategy: Value[string]{true, "record", from}},
	}
}

// Load reads all layers. If a file has a problem it returns no settings, and the error joins all [*Problem]s: see
// [Problems].
func Load(o Options) (*Settings, error) {
	read, problems := o.read(nil)
	if len(problems) > 0 {
		return nil, join(problems)
	}
	return merge(o, read), nil
}

// The defaults, for comparison with a project's values.
const (
	defaultMode    = "default"
	defaultRequire = "landlock"
)
