package persist

import (
	"bytes"
	"io"
	"os"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// format is the version of the log's format, in the opened record. A log without one has format 1.
const format = 1

// ErrNewer means that a newer version of toolhost wrote a session, in a format that this version does not know.
var ErrNewer = agenttool.Failure(agenttool.DependencyUnavailable, "session_newer",
	"a newer version of toolhost wrote this session, in a format that this version does not know: it is left alone; use that version to read it")

// checkFormat fails with ErrNewer if the journal begins with an opened record of a newer format. It ignores other
// problems.
func checkFormat(log io.ReaderAt) error {
	if first, ok := firstEvent(log); ok && isNewer(first) {
		return ErrNewer
	}
	b := make([]byte, 2<<10)
	n, _ := log.ReadAt(b, 0)
	if line, _, whole := bytes.Cut(b[:n], []byte("\n")); whole && saysNewer(line) {
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

// era distinguishes the lines of a log that a newer version wrote. A log may have several eras: each version that
// resumes a session begins with an opened record, which names its format.
type era struct{ newer bool }

// next reports whether the next line of a log is of a later format. l is the parsed line, err the reason why it could not be parsed.
func (e *era) next(b []byte, l line, err error) bool {
	if err != nil {
		return e.newer || saysNewer(b)
	}
	if aboutSession(l.event) && bytes.Contains(l.event, []byte(agenttool.EventSessionOpened)) {
		var event agenttool.Event
		if json.Unmarshal(l.event, &event) == nil && event.EventType == agenttool.EventSessionOpened {
			e.newer = isNewer(event)
		}
	}
	return e.newer
}

// saysNewer reports whether a line that is not a record claims a later format. Such a line begins {"format":N.
func saysNewer(b []byte) bool {
	var said struct {
		Format int `json:"format"`
	}
	return bytes.HasPrefix(b, []byte(`{"format":`)) && json.Unmarshal(b, &said) == nil && said.Format > format
}

// CheckFormat fails with [ErrNewer] if a newer version began the log at path.
func CheckFormat(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return checkFormat(f)
}

// firstEvent reads the first record of a journal. One with many rules is long.
func firstEvent(f io.ReaderAt) (e agenttool.Event, ok bool) {
	for size := 2 << 10; size <= 2<<20; size *= 32 {
		b := make([]byte, size)
		n, err := f.ReadAt(b, 0)
		if end := bytes.IndexByte(b[:n], '\n'); end >= 0 {
			l, err := parseLine(b[:end])
			return e, err == nil && json.Unmarshal(l.event, &e) == nil
		}
		if err != nil {
			break
		}
	}
	return e, false
}

// aboutSession reports whether an event may be about the session itself. Its letters are searched for, since few lines have them: those of a
// whole type begin like those of every other type, which takes several times as long.
func aboutSession(event []byte) bool { return bytes.Contains(event, []byte(".x.session.")) }
