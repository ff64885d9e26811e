package agenttool

import (
	"context"
	"encoding/json"
	"io"
)

// Tool is something that can be called: a description, and a way to turn raw input into a Call.
type Tool interface {
	// Describe returns the tool's records. It is called once, when the tool is registered.
	Describe() Description

	// Bind decodes input, which already satisfies the tool's model_input_schema, checks its values and computes
	// its facts. It is pure: it does no IO and the same arguments give the same Call. An error is an *Error,
	// usually of class invalid_arguments.
	Bind(scope Scope, input json.RawMessage) (Call, error)
}

// Call is one input, bound: decoded, checked, its facts known. Only a Call can run.
type Call interface {
	// Input returns the normalised input, which must encode to a JSON object. It is what rules see, what a
	// prompt shows and what runs.
	Input() any

	// Facts returns the call's facts. The host completes their paths (Resolved, Root) before it decides; Run acts
	// on the completed paths and on no others.
	Facts() *Facts

	// Run executes the call. When it fails it may return both an Output, for what was done or said until then, and
	// an error. It returns soon after ctx is done. What an error wraps decides its class; without one it is
	// execution_failed.
	Run(ctx context.Context, r Reporter) (Output, error)
}

// Preflighter is a Call that can find out by looking, before any side effect, that it cannot work.
type Preflighter interface {
	// Preflight does IO but changes nothing. It runs after permission.
	Preflight(ctx context.Context) error
}

// Refiner is a Call some of whose facts take the disk to know.
type Refiner interface {
	// Refine completes the facts before anybody decides about them, when their paths are located. It looks at the disk, changes
	// nothing there, and returns the paths that it has put in: they are located then. How long that takes changes nothing of what it
	// finds. When ctx is done it returns soon, and the call is not decided about.
	Refine(ctx context.Context) []*Path
}

// Confined is a Call that runs in a sandbox.
type Confined interface {
	// Confine widens the sandbox by what a decision granted: write:PATH, read:PATH, socket:PATH, host:NAME[:PORT] or
	// unconfined. It does no IO. A grant that it does not know is an error, and changes nothing. The last call counts.
	Confine(grants []string) error
}

// Profiled is a Call that can say what its sandbox lets it do: read_only, workspace or unconfined.
type Profiled interface {
	Profile() string
}

// JobTool is a Tool whose calls act on jobs: what they bring about is done by a job, which holds no lock and is not over when the
// call is, and they may wait for it for long. They take no lock and no slot, and wait in no line, so that a job can be ended
// whatever else is going on.
type JobTool interface {
	Tool
	ActsOnJobs()
}

// Mover is a Tool whose calls may move the session's directory. Later calls start only where it is then known to be.
type Mover interface {
	Tool
	// Moves reports whether a bound call of the tool may end with an Output.Dir.
	Moves(Call) bool
}

// Durable is a Call whose change may have to survive a crash of the machine. Then the record of it has to as well: it is on
// the disk before the call runs.
type Durable interface {
	Durable() bool
}

// Previewer is a Call that can show what it would change. Preview runs only when somebody is asked. The call keeps
// what the last preview was made from, and its Run fails with an error that wraps [ErrPreviewStale], having changed
// nothing, when that is no longer what is there.
type Previewer interface {
	Preview(ctx context.Context) (Preview, error)
}

// Preview is what a prompt shows of a change.
type Preview struct {
	Diff    string `json:"diff"`              // unified diff
	Partial bool   `json:"partial,omitempty"` // it does not show all of the change: that is too long, or no text
	Digest  string `json:"digest"`            // of the content it was made from; empty for a file that does not exist
}

// ErrPreviewStale is wrapped by the error of a Run whose approved preview no longer matches the disk.
var ErrPreviewStale = Failure(PolicyBlocked, "changed_since_approval", "the file changed since the change was approved")

// Description is the set of records that describe one tool.
type Description struct {
	Declaration Declaration
	Interface   Interface
	Execution   ExecutionProfile
	Permission  PermissionProfile
}

// Scope is where a call is made. It holds absolute, clean paths. No input ever changes it.
type Scope struct {
	Dir   string   // the session's working directory: relative paths start here
	Roots []string // workspace roots, the workspace itself first
	Home  string   // what ~ means; empty when there is none
}

// Reporter is how a running call speaks to the host. Its methods may be called from several goroutines.
type Reporter interface {
	// Progress records a step. The host fills ids, sequence and timestamp, and may drop steps that come too fast.
	Progress(p Progress)

	// Payload opens a payload of the session for output that is too large to keep: name is a word that is unique
	// within the call, such as "stdout".
	Payload(name, mediaType string) (Payload, error)

	// Invocation is the id of the call.
	Invocation() InvocationID
}

// Payload is an append-only file of the session.
type Payload interface {
	io.Writer

	// ReadAt reads what has been written so far, also while more is written and after Close, from any goroutine. Behind
	// the last byte that is kept there is io.EOF, or the reason why what was written there is not kept.
	io.ReaderAt

	// Close ends the payload and returns how it can be read again.
	Close() (Ref, error)
}

// Output is what a Run produced.
type Output struct {
	Content    []Content // what the model reads, in order; empty says that there was nothing to say
	Structured any       // conforms to the tool's output_schema; nil means none
	Summary    string    // one line for a person
	Resources  []Ref     // files and payloads that the output is about
	Artifacts  []Ref     // things that the call made
	Persisted  *Ref      // the payload that holds the whole of a cut output; nil when nothing was cut
	Bytes      int64     // size of the whole output when Persisted is set

	Wanted []string // grants that would have permitted what its sandbox kept it from, see [Confined]

	Job     Job    // what goes on after the call; nil: nothing. Its locks and its slot are given back all the same
	Yielded bool   // the call is answered before its work is done: the Job does the rest (AT-105, AT-251)
	Dir     string // context modifier: where the session's next calls start; "" leaves it (AT-136)
}
