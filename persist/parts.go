package persist

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// LogPart is one log of a session. A session has several if one was not left as it was written: see [Break]. Their numbers and hashes go on.
type LogPart struct {
	ID     agenttool.SessionID // the name of its directory
	Log    string              // the file that has what the session wrote; the one in its place if none has
	Length int64               // bytes that the session wrote there; -1: all of it
}

// Parts returns the logs of the session in dir that id names, the first one first. Every part's id names the session. A part whose directory
// is gone is left out.
func Parts(dir string, id agenttool.SessionID) (parts []LogPart) {
	first, _ := partOf(id)
	for n := 1; n <= maxParts; n++ {
		name := partNamed(first, n)
		path := filepath.Join(dir, string(name), LogName)
		if _, err := os.Lstat(filepath.Dir(path)); err != nil {
			if n == 1 {
				continue
			}
			break
		}
		b, continues := readBreak(path)
		if _, err := os.Lstat(path); err == nil && n > 1 && !continues && name != id {
			continue // another session with such a name, or what stands in the place of a log
		}
		for i := range parts {
			if continues && parts[i].ID == b.Session {
				if file := b.fileIn(filepath.Join(dir, string(b.Session))); file != "" {
					parts[i].Log, parts[i].Length = file, b.Length
				}
			}
		}
		parts = append(parts, LogPart{ID: name, Log: path, Length: -1})
	}
	if len(parts) == 0 {
		return []LogPart{{ID: id, Log: filepath.Join(dir, string(id), LogName), Length: -1}}
	}
	return parts
}

// OpenParts opens the records of several parts as one log. Parts that cannot be opened are left out; if all are, the error is that of the first.
func OpenParts(parts []LogPart) (io.ReadCloser, error) {
	var all partsReader
	var first error
	for _, p := range parts {
		f, err := openRegular(os.OpenFile, p.Log, os.O_RDONLY)
		if err != nil {
			first = cmp.Or(first, err)
			continue
		}
		all.files = append(all.files, f)
		all.readers = append(all.readers, p.reader(f))
	}
	if len(all.files) == 0 && first != nil {
		return nil, first
	}
	all.Reader = io.MultiReader(all.readers...)
	return &all, nil
}

// openBefore opens the records of the parts of a session before the part id, as far as they are there.
func openBefore(dir string, id agenttool.SessionID) io.ReadCloser {
	var before []LogPart
	if _, number := partOf(id); number > 1 {
		for _, p := range Parts(dir, id) {
			if p.ID == id {
				break
			}
			before = append(before, p)
		}
	}
	log, err := OpenParts(before)
	if err != nil {
		return io.NopCloser(strings.NewReader(""))
	}
	return log
}

// reader reads the records that the session wrote into the open log of a part.
func (p LogPart) reader(log io.ReaderAt) io.Reader {
	if p.Length < 0 {
		return io.NewSectionReader(log, 0, 1<<62)
	}
	return io.NewSectionReader(log, 0, p.Length)
}

// partsReader reads the logs of several parts one after the other.
type partsReader struct {
	io.Reader
	files   []*os.File
	readers []io.Reader
}

func (r *partsReader) Close() error {
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// partInfix stands in the name of a session that continues another one: ses_1, ses_1-part2, ses_1-part3.
const partInfix = "-part"

// maxParts bounds the logs of one session.
const maxParts = 1000

// partOf returns the id of a session's first part, and the number of this one.
func partOf(id agenttool.SessionID) (first string, number int) {
	first, after, is := strings.Cut(string(id), partInfix)
	if n, err := strconv.Atoi(after); is && err == nil {
		return first, n
	}
	return string(id), 1
}

// partNamed is the opposite of partOf.
func partNamed(first string, number int) agenttool.SessionID {
	if number == 1 {
		return agenttool.SessionID(first)
	}
	return agenttool.SessionID(first + partInfix + strconv.Itoa(number))
}

// continued finds the part in dir that continues the log of session id, and its first record.
func continued(dir string, id agenttool.SessionID) (part agenttool.SessionID, b Break, ok bool) {
	first, number := partOf(id)
	for n := number + 1; n <= maxParts; n++ {
		part = partNamed(first, n)
		path := filepath.Join(dir, string(part), LogName)
		if _, err := os.Lstat(filepath.Dir(path)); err != nil {
			break
		}
		if b, ok := readBreak(path); ok && b.Session == id { // else the log of this part is gone, and others may follow
			return part, b, true
		}
	}
	return "", b, false
}

// breakOf returns what an opened record says of the log that it continues.
func breakOf(e agenttool.Event) (b Break, ok bool) {
	var data struct {
		Continues *Break `json:"continues"`
	}
	if e.EventType != agenttool.EventSessionOpened || json.Unmarshal(e.Data, &data) != nil || data.Continues == nil {
		return b, false
	}
	return *data.Continues, true
}

// readBreak returns what the first record of the log at path says of the log that it continues.
func readBreak(path string) (b Break, ok bool) {
	f, err := openRegular(os.OpenFile, path, os.O_RDONLY)
	if err != nil {
		return b, false
	}
	defer f.Close()
	e, _ := firstEvent(f)
	return breakOf(e)
}

// fileIn returns the file in the directory of the broken log that has the lines which the session wrote there; "" if none has.
func (b Break) fileIn(dir string) string {
	names, _ := filepath.Glob(filepath.Join(dir, LogName+"*"))
	for _, path := range names {
		if head, err := HashOf(path, b.Count); err == nil && head == b.Head {
			return path
		}
	}
	return ""
}

// partsBefore returns the directories of a session's parts before the one in dir, the latest first.
func partsBefore(dir string) (dirs []string) {
	first, number := partOf(agenttool.SessionID(filepath.Base(dir)))
	for n := min(number, maxParts) - 1; n > 0; n-- {
		dirs = append(dirs, filepath.Join(filepath.Dir(dir), string(partNamed(first, n))))
	}
	return dirs
}
