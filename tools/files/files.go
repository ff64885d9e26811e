package files

import (
	"os"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// Options are the settings of the three tools. The zero value is ready.
type Options struct {
	// Overwrite lets write replace a file that was not read in this session: a person at the command line.
	Overwrite bool

	// LockTimeout is how long a change waits for another process that holds the file's lock. Zero means 10 s.
	LockTimeout time.Duration

	// Durability says, for each change, what of it has to be on the disk. Nil means [FileSynced].
	Durability func() Durability

	// Memory is how much memory the process may have, which bounds the files that can be changed, to an eighth of it, and the images
	// that are shown, to a sixteenth. Zero means that it bounds nothing: then 64 MiB and 5 MiB are the limits.
	Memory int64

	// Writing is told of each file before it is changed, by its resolved path, and done when that is over. Nil means nobody.
	Writing func(path string) (done func())

	// Stage names a directory of the session's own, "" for none yet, where a file that replaces another has its name for a moment, or a link to it.
	// Nobody else reaches it, and the next session clears it. Nil means none.
	Stage func() string

	// Payload opens a payload of the session by its reference, for read. Nil means that there are none.
	Payload func(ref string) (*os.File, error)

	// Ledger is the session's memory of file contents; nil means a new one.
	Ledger *Ledger
}

// New returns the tools read, write and edit, in this order.
func New(w *workspace.Workspace, o Options) []agenttool.Tool {
	if o.LockTimeout <= 0 {
		o.LockTimeout = 10 * time.Second
	}
	if o.Ledger == nil {
		o.Ledger = &Ledger{}
	}
	s := &session{workspace: w, options: o, surveys: newSurveys(), sync: (*os.File).Sync}
	return []agenttool.Tool{readTool{s}, writeTool{s}, editTool{s}}
}

// session is what the three tools share.
type session struct {
	workspace *workspace.Workspace
	options   Options
	surveys   *surveys
	sync      func(*os.File) error
}

// isPayload reports whether path is a reference to a payload of the session rather than a path.
func isPayload(path string) bool { return strings.HasPrefix(path, "toolhost://") }
