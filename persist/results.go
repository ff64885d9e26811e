package persist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// refsName is the file with the references of closed payloads, one per line: the fields of a Page that the payload's
// bytes do not give. It is one file, because creating a second one for each payload would cost as much as the
// payload.
const refsName = "refs.jsonl"

// create creates the file of a payload, after the session's opened record. The first waits until that is on the disk: payloads beside a log
// without records are what is left of a log that somebody emptied.
func (d *disk) create(file string) (sink, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.write(nil); err != nil {
		return nil, err
	}
	switch err := d.session.Mkdir(resultsDir, dirMode); {
	case err == nil:
		if d.sync.end == 0 {
			if err := d.log.f.Sync(); err != nil {
				return nil, payloadUnavailable(d.o.Dir, err)
			}
		}
		d.sync.names = false
	case !errors.Is(err, fs.ErrExist):
		return nil, payloadUnavailable(d.o.Dir, err)
	}
	if d.room == nil {
		d.room = new(atomic.Int64)
		d.room.Store(d.o.SessionLimit - d.payloadBytes())
	}
	if d.room.Load() <= 0 {
		return nil, sessionFull(d.full())
	}
	f, err := d.session.OpenFile(resultsDir+"/"+file, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, payloadExists(file)
	}
	if err != nil {
		return nil, payloadUnavailable(d.o.Dir, err)
	}
	return &diskSink{of: d, f: f, file: file, note: d.noteClosed}, nil
}

// payloadBytes returns the size of the payloads of earlier stores of the session.
func (d *files) payloadBytes() (total int64) {
	f, err := d.session.Open(resultsDir)
	if err != nil {
		return 0
	}
	defer f.Close()
	return folder{f}.bytes()
}

// full returns the reason why the session accepts no more payloads.
func (d *disk) full() noRoom {
	return noRoom(fmt.Sprintf("the outputs of one session may take %d MiB together", d.o.SessionLimit>>20))
}

// take reserves n bytes of the session's limit, or as many as are left.
func (d *disk) take(n int64) int64 {
	if left := d.room.Add(-n); left < 0 {
		back := min(n, -left)
		d.room.Add(back)
		return n - back
	}
	return n
}

// diskSink is a payload's file. It stays open while it is being written.
type diskSink struct {
	of   *disk
	f    *os.File
	file string
	note func(file string, ref []byte) // of a payload that is complete: see noteClosed
	line *appender                     // records writes, to notice a disk that stalls in one; nil: none
}

func (s *diskSink) Write(b []byte) (int, error) {
	if s.line != nil {
		defer s.line.enter()()
	}
	room := s.of.take(int64(len(b)))
	n, err := s.f.Write(b[:room])
	if err != nil {
		s.of.room.Add(room - int64(n))
		return n, payloadUnavailable(s.of.o.Dir, err)
	}
	if n < len(b) {
		return n, s.of.full()
	}
	return n, nil
}

// ReadAt opens a closed file again: payloads are many, and descriptors are few.
func (s *diskSink) ReadAt(b []byte, off int64) (int, error) {
	n, err := s.f.ReadAt(b, off)
	if !errors.Is(err, os.ErrClosed) {
		return n, err
	}
	s.of.mu.Lock()
	again, err := s.of.result(s.file)
	s.of.mu.Unlock()
	if err != nil {
		return 0, err
	}
	defer again.Close()
	return again.ReadAt(b, off)
}

// finish closes the file and stores its reference. A failure to store it is not an error of the payload: its pages
// then lack the digest, which the journal has.
func (s *diskSink) finish(ref agenttool.Ref) error {
	if err := s.close(); err != nil {
		return payloadUnavailable(s.of.o.Dir, err)
	}
	encoded, err := agenttool.Encode(ref)
	if err != nil {
		return err
	}
	s.note(s.file, append(encoded, '\n'))
	return nil
}

func (s *diskSink) close() error {
	if s.line != nil {
		defer s.line.enter()()
	}
	return s.f.Close()
}

// noteClosed has a payload synced with the next records, which may refer to it, and appends its reference to the file of references, after
// a line feed if a killed process left half a line.
func (d *disk) noteClosed(file string, line []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	d.sync.payloads = append(d.sync.payloads, file)
	d.syncSoon()
	if d.refs == nil {
		f, err := openRegular(d.session.OpenFile, refsName, os.O_RDWR|os.O_CREATE|os.O_APPEND)
		if err != nil {
			return
		}
		d.refs, d.sync.names = f, false
		line = append([]byte("\n"), line...)
	}
	_, _ = d.refs.Write(line)
}

// open opens a payload for reading. One that is still being written has no reference yet.
func (d *disk) open(file string) (source, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.result(file)
	if err != nil {
		return source{}, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return source{}, err
	}
	return source{r: f, close: f.Close, size: info.Size(), ref: d.readRef(file)}, nil
}

// result opens the file of a payload.
func (d *disk) result(file string) (*os.File, error) {
	if d.closed {
		return nil, ErrClosed
	}
	if d.session == nil {
		return nil, fs.ErrNotExist
	}
	return openResult(d.roots(), file)
}

// readRef returns the stored reference of file, or an empty one.
func (d *disk) readRef(file string) (ref agenttool.Ref) {
	for _, session := range d.roots() {
		if ref = readRef(session, file); ref.ID != "" {
			break
		}
	}
	return ref
}

func readRef(session *os.Root, file string) (ref agenttool.Ref) {
	f, err := openRegular(session.OpenFile, refsName, os.O_RDONLY)
	if err != nil {
		return ref
	}
	defer f.Close()
	begin := append(agenttool.AppendString([]byte(`{"id":`), file), ',')
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err == nil && bytes.HasPrefix(line, begin) && json.Unmarshal(line, &ref) == nil {
			return ref
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return agenttool.Ref{}
		}
	}
}
