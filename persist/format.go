package persist

import (
	"encoding/json"
	"io"
	"os"

	"toolhost/agenttool"
)

// format is the number of the log's format, in the opened record. A log without one has format 1.
const format = 1

// ErrNewer says that a newer version of toolhost wrote a session, in a format that this one does not know.
var ErrNewer = agenttool.Failure(agenttool.DependencyUnavailable, "session_newer",
	"a newer version of toolhost wrote this session, in a format that this version does not know: it is left alone; use that version to read it")

// checkFormat fails with ErrNewer if the journal begins with an opened record of a newer format. What else may be wrong
// with it others find.
func checkFormat(log io.ReaderAt) error {
	if first, ok := firstEvent(log); ok && isNewer(first) {
		return ErrNewer
	}
	return nil
}

// isNewer reports whether first is the opened record of a newer format.
func isNewer(first agenttool.Event) bool {
	var data struct {
		Format int `json:"format"`
	}
	return first.EventType == agenttool.EventSessionOpened && json.Unmarshal(first.Data, &data) == nil && data.Format > format
}

// CheckFormat fails with [ErrNewer] if the log at path was written by a newer version.
func CheckFormat(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return checkFormat(f)
}
