package files

import (
	"os"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/keep"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// Options configure the three tools. The zero value is ready.
type Options struct {
	// Overwrite lets write replace a file that was not read in this session, for a person at the command line.
	Overwrite bool

	// LockTimeout is how long a change waits for a file lock of another process. Zero means 10 s.
	LockTimeout time.Duration

	// Durability returns the durability of each change. Nil means [agenttool.FileSynced].
	Durability func() Durability

	// Memory is the memory limit of the process. It bounds the size of files that can be changed to an eighth, of images and
	// notebooks to a sixteenth, and what it takes to decode an image to a quarter. Zero means no bound by memory: then the
	// limits are 64 MiB, 5 MiB, 16 MiB and 128 MiB.
	Memory int64

	// Writing is called with the resolved path of each file before it is changed, and done after the change. After an error
	// the file is not changed. It may be nil.
	Writing func(path string) (done func(), err error)

	// Stage returns a directory of the session, or "" for none yet. A file that replaces another has a temporary name
	// there for a moment, or a link to that name. Other processes cannot reach the directory, and the next session clears
	// it. Nil means none.
	Stage func() string

	// Keep keeps what write and edit replace and remove. Nil means that nothing is kept.
	Keep *keep.Store

	// Payload opens a payload of the session by its reference, for read. Nil means that there are none.
	Payload func(ref string) (*os.File, error)

	// Seen records which text the session was shown; nil means a new record.
	Seen *seen.Ledger
}

// Durability is [agenttool.Durability].
type Durability = agenttool.Durability

// session holds the state that the three tools share.
type session struct {
	workspace *workspace.Workspace
	options   Options
	surveys   *surveys
	sync      func(*os.File) error
	decoding  chan struct{} // holds one value while an image or a notebook is decoded
}

// isPayload reports whether path refers to a payload of the session and not to a file.
func isPayload(path string) bool { return strings.HasPrefix(path, "toolhost://") }

// editTool replaces strings in a file.
type editTool struct{ *session }
