package agenttool

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"
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
	// Input returns the normalised input, which must encode to a JSON object. Rules match it, prompts show it and
	// Run executes it.
	Input() any

	// Facts returns the call's facts. The host completes their paths (Resolved, Root) before it decides; Run acts
	// on the completed paths and on no others.
	Facts() *Facts

	// Run executes the call. When it fails it may return, with the error, the Output so far. It returns soon after
	// ctx is done. The class of an error is that of the error that it wraps, else execution_failed.
	Run(ctx context.Context, r Reporter) (Output, error)
}

// Preflighter is a Call that can find out by looking, before any side effect, that it cannot work.
type Preflighter interface {
	// Preflight does IO but changes nothing. It runs after permission.
	Preflight(ctx context.Context) error
}

// Refiner is a Call some of whose facts take the disk to know.
type Refiner interface {
	// Refine completes the facts after the host has located their paths and before it decides about the call. It reads the disk and
	// changes nothing there. It returns the paths that it added, which the host then locates. Its findings do not depend on the time
	// that it takes. When ctx is done it returns soon, and the host makes no decision.
	Refine(ctx context.Context) []*Path
}

// Confined is a Call that runs in a sandbox.
type Confined interface {
	// Confine widens the sandbox by the grants of a decision: write:PATH, read:PATH, socket:PATH, host:NAME[:PORT] or
	// unconfined. It does no IO. A grant that it does not know is an error, and changes nothing. The last call counts.
	Confine(grants []string) error
	// Unseal lets the call change protected names that a person has agreed to. Without it no grant opens one. The last call counts.
	Unseal(agreed Protected)
}

// Warranted is a Call that is more careful as long as only the mode lets it run.
type Warranted interface {
	// Warranted tells the call that a person or a rule let it run as it is.
	Warranted()
}

// Profiled is a Call that can say what its sandbox lets it do: read_only, workspace or unconfined.
type Profiled interface {
	Profile() string
}

// JobTool is a Tool whose calls act on jobs. The job does the work: it holds no lock, it goes on after the call, and the call may wait
// for it for a long time. Such calls take no lock and no slot and are never queued, so that a job can always be ended.
type JobTool interface {
	Tool
	ActsOnJobs()
}

// Unready is a Tool that can find no call of it working as things are: a program or the sandbox that it needs is missing.
type Unready interface {
	Tool
	// Unready says what is missing; nil means nothing.
	Unready() error
}

// Mover is a Tool whose calls may move the session's directory. Later calls wait until the new directory is known.
type Mover interface {
	Tool
	// Moves reports whether a bound call of the tool may end with an Output.Dir.
	Moves(Call) bool
}

// Durable is a Call whose change may have to survive a crash of the machine. If Durable returns true, the record of the call is on
// disk before the call runs.
type Durable interface {
	Durable() bool
}

// Bounded is a Call that says how long it may take by itself, where its caller named no deadline. A call that takes longer is
// ended, since a file system that it needs may never answer. The time counts from the moment at which the call is bound, without that which it
// waits for other calls, hooks or a person, or for what it runs: see [Beginner].
//
// Calls of the kind file_operation that do not implement it have a minute. Others are not bounded.
type Bounded interface {
	OwnTime() time.Duration
}

// Previewer is a Call that can show its change before it runs. Preview runs only for a prompt. The call remembers the
// content under its last preview. If the disk holds other content by then, Run changes nothing and fails with an error
// that wraps [ErrPreviewStale].
type Previewer interface {
	Preview(ctx context.Context) (Preview, error)
}

// Preview is a change as a prompt shows it.
type Preview struct {
	Diff    string `json:"diff"`              // unified diff
	Partial bool   `json:"partial,omitempty"` // Diff does not show all of the change: it is too long, or not text
	Digest  string `json:"digest"`            // of the content it was made from; empty for a file that does not exist
}

// ErrSecret is wrapped by the error of a Run that did not read a file because rules keep it from being read, as they are now. The rules
// under which the call was decided may have said otherwise.
var ErrSecret = errors.New("the file is kept from being read")

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
	Old   string   // where the session was before it moved to Dir; "" if it never moved
	Roots []string // workspace roots, the workspace itself first
	Home  string   // the home directory, for ~; empty when there is none

	Capacity Capacity // of the caller
}

// Reporter is how a running call speaks to the host. Its methods may be called from several goroutines.
type Reporter interface {
	// Progress records a step. The host fills ids, sequence and timestamp, and may drop steps that come too fast.
	Progress(p Progress)

	// Payload opens a payload of the session for output that is too large for a result. name is a word that is unique
	// within the call, such as "stdout".
	Payload(name, mediaType string) (Payload, error)

	// Invocation is the id of the call.
	Invocation() InvocationID
}

// Beginner is a Reporter that wants to know when a [Bounded] call has begun what it runs, and only waits for that until it calls over. The call
// has a minute then for what it does afterwards.
type Beginner interface {
	Begun() (over func())
}

// Asker is a Reporter that can ask for more while the call runs.
type Asker interface {
	// Ask reports whether a user allows the call what its sandbox refused. It waits for the answer, and not for long if no user can give one.
	// It may be called from several goroutines.
	Ask(ctx context.Context, w Wish) bool

	// MayAsk reports whether Ask would put a question about a wish, and has no answer yet. It does not wait.
	MayAsk(w Wish) bool
}

// Wish is an access that the sandbox of a running call does not grant.
type Wish struct {
	Grant  string // that would permit it, as for [Confined]
	Object string // the path, or NAME:PORT
	Detail string // the attempt, and why it is refused

	Program string // the program that wants it, by the name that it gives itself; "": unknown
	Rule    string // of a path: the rule that protects it, since other programs run or obey it; "": it is not protected
}

// Payload is an append-only file of the session.
type Payload interface {
	io.Writer

	// ReadAt reads the bytes written so far. Any goroutine may call it, also during writes and after Close. Behind the
	// last stored byte it returns io.EOF, or the reason why later bytes were not stored.
	io.ReaderAt

	// Close ends the payload and returns how it can be read again.
	Close() (Ref, error)
}

// Output is the product of a Run.
type Output struct {
	Content    []Content // the model reads it, in order; empty: the call has no output
	Mapping    any       // native ids of the call that ran, for external_mappings; nil: none
	Structured any       // conforms to the tool's output_schema; nil means none
	Summary    string    // one line for a person
	Resources  []Ref     // files and payloads that the output is about
	Artifacts  []Ref     // things that the call made
	Persisted  *Ref      // the payload that holds the whole of a cut output; nil when nothing was cut
	Bytes      int64     // size of the output so far that Content shows, cut or whole, and of the payload if Persisted is set

	Wanted []string // grants for the accesses that the sandbox blocked, see [Confined]

	Job     Job  // work that goes on after the call; nil: none. The call's locks and its slot are released all the same
	Yielded bool // the call is answered before its work is done: the Job does the rest (AT-105, AT-251)

	NeedsInput bool // the Job of a yielded call waits for input (AT-102)

	Dir string // context modifier: where the session's next calls start; "" leaves it (AT-136)

	// Shown is called once with the content of the result as its caller gets it: hooks, storage and redaction may have
	// changed what Content says. It is not called for a canceled call. Nil: nobody needs to know.
	Shown func(content []Content) `json:"-"`
}
