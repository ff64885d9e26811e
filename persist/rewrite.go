package persist

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/filesystem"
	"toolhost/agenttool/json"
	"toolhost/persist/redact"
)

// ErrNotSound means that a log has problems, and a log that is written anew would hide them.
var ErrNotSound = agenttool.Failure(agenttool.ExecutionFailed, "log_not_sound",
	"the log has problems, which writing it anew would hide: see toolhost log verify")

// rewriting is the work of Rewrite in one log of a session.
type rewriting struct {
	dir     string
	o       Options
	unseal  bool // sealed files are removed
	root    *os.Root
	log     *os.File          // locked
	digests map[string]string // of payloads: the old one, the new one
	renames [][2]string       // new files, and the names that they get
	done    Rewritten

	found Report // on the log as it was
	start chain  // the record before the first one
	end   chain  // the last record as it is to be
	broke *Break // what the first record is to say of the log before; nil: what it says, or nothing
}

// Rewrite takes the secrets that o.Redactor finds out of an ended session: of its records, its payloads, and the sealed files beside
// them. It chains the records anew and adds one that says so, with the head of the log as it was. The files of a log change together at
// the end: an interrupted rewrite changes nothing, or whoever opens the session next finishes it. Signatures and indexes of the log as it was are removed.
// A session of several logs, see [Break], is rewritten from its first to its last, whichever of them o.ID names; after an interruption between two
// of them the next Rewrite goes on. The result has the sums, and the head of the last log.
//
// dropSealed has all sealed files removed, and not only the secrets that are found in them.
//
// It changes nothing if nothing is found. It fails with [ErrLocked] if a process writes the session, and with [ErrNotSound] if Verify
// finds a problem; of a session of several logs the others are rewritten, and the error says which is not.
func Rewrite(o Options, dropSealed bool) (Rewritten, error) {
	o = o.withDefaults()
	var all []*rewriting
	var failed []error
	defer func() {
		for _, w := range all {
			w.close()
		}
	}()
	parts := Parts(o.Dir, o.ID)
	for _, part := range parts { // values of one log may stand in another, so all are read before the first is written
		w := &rewriting{dir: filepath.Join(o.Dir, string(part.ID)), o: o, unseal: dropSealed, digests: map[string]string{}}
		w.o.ID = part.ID
		err := w.open()
		if err == nil {
			err = w.check()
		}
		switch {
		case err == nil:
			all = append(all, w)
			continue
		case len(parts) == 1, errors.Is(err, ErrLocked):
			w.close()
			return Rewritten{}, err
		}
		w.close()
		failed = append(failed, fmt.Errorf("%s: %w", part.ID, err))
	}
	var sum Rewritten
	for i, w := range all {
		if i > 0 {
			w.follow(all[i-1])
		}
		if err := w.rewrite(); err != nil {
			return sum, errors.Join(append(failed, err)...)
		}
		sum.Records += w.done.Records
		sum.Secrets += w.done.Secrets
		sum.Kinds = slices.Compact(slices.Sorted(slices.Values(append(sum.Kinds, w.done.Kinds...))))
		sum.Payloads = append(sum.Payloads, w.done.Payloads...)
		sum.Count, sum.Head = w.done.Count, w.done.Head
	}
	return sum, errors.Join(failed...)
}

// open opens and locks the log, and finishes an interrupted rewrite.
func (w *rewriting) open() (err error) {
	if w.root, err = os.OpenRoot(w.dir); err != nil {
		return err
	}
	if err = w.lock(); err != nil {
		return err
	}
	replaced, err := settleRewrite(w.root)
	if err == nil && replaced { // an interrupted one was complete: go on with its result
		w.log.Close()
		err = w.lock()
	}
	return err
}

func (w *rewriting) lock() (err error) {
	if w.log, err = openRegular(w.root.OpenFile, LogName, os.O_RDWR); err != nil {
		return err
	}
	return lock(w.log)
}

func (w *rewriting) close() {
	w.drop()
	if w.log != nil {
		w.log.Close()
	}
	if w.root != nil {
		w.root.Close()
	}
}

// follow has a log continue the one before it as that is now.
func (w *rewriting) follow(before *rewriting) {
	b := w.found.Continues
	if b == nil || b.Session != before.o.ID || !before.found.was(*b) {
		return // what lies between the two is for verify to say
	}
	now := *b
	now.Count, now.Head = int64(before.end.seq), hex.EncodeToString(before.end.head[:])
	if now == *b {
		return
	}
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(before.dir, LogName), &st); err == nil {
		now.Device, now.Inode, now.Length = uint64(st.Dev), st.Ino, st.Size
	}
	w.broke, w.start = &now, before.end
}

// rewrite writes the log and its payloads anew if anything is to be taken out of it, or if the log before it has another end now.
func (w *rewriting) rewrite() error {
	err := w.payloads()
	if err == nil {
		err = w.records()
	}
	if err == nil {
		err = w.references()
	}
	switch {
	case err != nil:
		return err
	case w.done.Secrets > 0, w.broke != nil:
		return w.commit()
	}
	w.end.seq = w.found.Last
	_, err = hex.Decode(w.end.head[:], []byte(w.found.Head))
	return err
}

// check reads the log as it is.
func (w *rewriting) check() error {
	if err := checkFormat(w.log); err != nil {
		return err
	}
	found, err := Verify(io.NewSectionReader(w.log, 0, 1<<62))
	if err != nil {
		return err
	}
	w.found, w.done.Count, w.done.Head = found, found.Last, found.Head
	if !found.OK() || found.Records == 0 {
		return ErrNotSound
	}
	if b := found.Continues; b != nil {
		w.start.seq = b.Count
		_, _ = hex.Decode(w.start.head[:], []byte(b.Head)) // Verify compared it with the first line
	}
	for entry, err := range Read(io.NewSectionReader(w.log, 0, 1<<62)) { // payloads may have values that only records show to be secrets
		if err != nil {
			return err
		}
		_, _, _ = w.o.Redactor.Record(entry.Event)
	}
	return nil
}

const rewriteEnd = ".redacting"

// create makes the new file of a name.
func (w *rewriting) create(name string) (*os.File, error) {
	w.renames = append(w.renames, [2]string{name + rewriteEnd, name})
	return w.root.OpenFile(name+rewriteEnd, os.O_RDWR|os.O_CREATE|os.O_TRUNC, fileMode)
}

// drop removes the new files that have no name yet.
func (w *rewriting) drop() {
	for _, r := range w.renames {
		_ = w.root.Remove(r[0])
	}
}

// keepOld forgets the last new file.
func (w *rewriting) keepOld() {
	last := w.renames[len(w.renames)-1]
	_, w.renames = w.root.Remove(last[0]), w.renames[:len(w.renames)-1]
}

// rewrittenName is the new log once all new files are complete. Its name decides: before it, an interrupted rewrite changed nothing, and after
// it, whoever opens the session next finishes it.
const rewrittenName = LogName + ".redacted"

// commit gives the new files their names.
func (w *rewriting) commit() error {
	if err := syncRoots(w.root, ".", resultsDir); err != nil {
		return err
	}
	w.renames = nil
	if err := w.root.Rename(LogName+rewriteEnd, rewrittenName); err != nil {
		return err
	}
	_, err := settleRewrite(w.root)
	return err
}

// isInterrupted reports whether a complete rewrite of a session was interrupted before all files had their names.
func isInterrupted(session *os.Root) bool {
	_, err := session.Lstat(rewrittenName)
	return err == nil
}

// errInterrupted means that a reader of a session has to wait for who may write it.
var errInterrupted = errors.New("its secrets were being taken out when that was interrupted: run toolhost log redact again, which finishes it")

// settleRewrite finishes an interrupted rewrite of a session that the caller has locked: either all its files get their names, the log last,
// and it reports true, or they are removed.
func settleRewrite(session *os.Root) (replaced bool, err error) {
	if replaced = isInterrupted(session); replaced {
		if err := syncRoots(session, "."); err != nil {
			return false, err
		}
	}
	for _, dir := range []string{".", resultsDir} {
		entries, err := fs.ReadDir(session.FS(), dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		for _, e := range entries {
			name, is := strings.CutSuffix(path.Join(dir, e.Name()), rewriteEnd)
			if !is {
				continue
			}
			if replaced {
				err = session.Rename(name+rewriteEnd, name)
			} else {
				err = session.Remove(name + rewriteEnd)
			}
			if err != nil {
				return false, err
			}
		}
	}
	if !replaced {
		return false, nil
	}
	for _, name := range []string{"log.sig", indexName} {
		if err := session.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	if err := syncRoots(session, ".", resultsDir); err != nil {
		return false, err
	}
	return true, errors.Join(session.Rename(rewrittenName, LogName), syncRoots(session, "."))
}

// isRewritten reports whether a session's directory has files of an interrupted rewrite. payloads are the names in its results.
func isRewritten(d folder, payloads []Removal) bool {
	for _, name := range []string{rewrittenName, LogName + rewriteEnd} {
		if _, err := d.stat(name); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(payloads, func(r Removal) bool { return strings.HasSuffix(r.Payload, rewriteEnd) })
}

// syncRoots syncs directories of a session that exist.
func syncRoots(session *os.Root, dirs ...string) error {
	for _, name := range dirs {
		dir, err := session.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = filesystem.Sync(dir)
		dir.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// note counts secrets.
func (w *rewriting) note(kinds ...string) {
	w.done.Secrets += len(kinds)
	w.done.Kinds = append(w.done.Kinds, kinds...)
	slices.Sort(w.done.Kinds)
	w.done.Kinds = slices.Compact(w.done.Kinds)
}

// payloads takes secrets out of all payloads.
func (w *rewriting) payloads() error {
	entries, err := fs.ReadDir(w.root.FS(), resultsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name := resultsDir + "/" + e.Name()
		switch {
		case !e.Type().IsRegular() || strings.HasSuffix(name, rewriteEnd):
			continue
		case strings.HasSuffix(name, sealedEnd):
			err = w.sealed(name)
		default:
			err = w.payload(name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// payload takes secrets out of one payload, and remembers its digests.
func (w *rewriting) payload(name string) error {
	from, err := openRegular(w.root.OpenFile, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := w.create(name)
	if err != nil {
		return err
	}
	defer to.Close()
	before, after := sha256.New(), sha256.New()
	found, buf := 0, make([]byte, 256<<10)
	search := redact.NewStream(w.o.Redactor)
	for last := false; !last; {
		n, err := from.Read(buf)
		if last = errors.Is(err, io.EOF); err != nil && !last {
			return err
		}
		before.Write(buf[:n])
		text, spans := search.Next(buf[:n], last)
		w.o.Redactor.Cover(text, spans)
		for found += len(spans); len(spans) > 0; spans = spans[1:] {
			w.note(spans[0].Kind)
		}
		after.Write(text)
		if _, err := to.Write(text); err != nil {
			return err
		}
	}
	if found == 0 {
		w.keepOld()
		return nil
	}
	w.done.Payloads = append(w.done.Payloads, filepath.Base(name))
	w.digests[hex.EncodeToString(before.Sum(nil))] = hex.EncodeToString(after.Sum(nil))
	return filesystem.Sync(to)
}

// sealed takes the secrets that the redactor finds out of a sealed file. One that this user cannot open is removed.
func (w *rewriting) sealed(name string) error {
	from, err := openRegular(w.root.OpenFile, name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	all := readPatches(w.o.Redactor, source{r: from, size: info.Size()})
	rest := slices.DeleteFunc(slices.Clone(all), func(p patch) bool { return w.unseal || len(w.o.Redactor.Find(p.text)) > 0 })
	if len(rest) == len(all) && len(all) > 0 {
		return nil
	}
	to, err := w.create(name)
	if err != nil {
		return err
	}
	defer to.Close()
	w.note(slices.Repeat([]string{"sealed"}, max(1, len(all)-len(rest)))...)
	_, err = to.Write(frames(w.o.Redactor, rest))
	return errors.Join(err, filesystem.Sync(to))
}

// records writes the log anew.
func (w *rewriting) records() error {
	to, err := w.create(LogName)
	if err != nil {
		return err
	}
	defer to.Close()
	next := w.start
	write := func(event []byte) error {
		_, err := to.Write(next.append(nil, event))
		return err
	}
	closed := false
	for entry, err := range Read(io.NewSectionReader(w.log, 0, 1<<62)) {
		if err != nil {
			return err
		}
		var event []byte
		if event, closed, err = w.record(entry.Event, next); err != nil {
			return err
		}
		if w.broke != nil && next == w.start {
			if event, err = withBreak(event, *w.broke); err != nil {
				return err
			}
		}
		if err := write(event); err != nil {
			return err
		}
	}
	said, err := recorder{w.o}.event(agenttool.EventSessionRedacted, w.done)
	if err != nil {
		return err
	}
	if err := write(said); err != nil {
		return err
	}
	if closed {
		last, err := recorder{w.o}.closed(next, true)
		if err != nil {
			return err
		}
		if err := write(last); err != nil {
			return err
		}
	}
	w.end = next
	return filesystem.Sync(to)
}

// withBreak returns a log's first record with what it is to say of the log before.
func withBreak(opened []byte, b Break) ([]byte, error) {
	var e struct {
		Data struct {
			Continues json.RawMessage `json:"continues"`
		} `json:"data"`
	}
	if err := json.Unmarshal(opened, &e); err != nil {
		return nil, err
	}
	encoded, err := agenttool.Encode(b)
	return bytes.Replace(opened, e.Data.Continues, encoded, 1), err
}

// record returns an event without secrets, with the digests of changed payloads, and, if it closes the log, with the new head.
func (w *rewriting) record(event []byte, before chain) (out []byte, closes bool, err error) {
	out, found, err := w.o.Redactor.Record(event)
	if err != nil {
		out, found.Kinds = withheld(event), []string{"withheld"}
	}
	w.note(found.Kinds...)
	out = w.redigest(out)
	if !bytes.Equal(out, event) {
		w.done.Records++
	}
	if _, closes = readClosing(out); !closes {
		return out, false, nil
	}
	var e agenttool.Event
	if err := json.Unmarshal(out, &e); err != nil {
		return nil, false, err
	}
	if e.Data, err = agenttool.Encode(closing{Count: before.seq, Head: hex.EncodeToString(before.head[:])}); err != nil {
		return nil, false, err
	}
	out, err = e.MarshalJSON()
	return out, true, err
}

// redigest replaces the digests of changed payloads.
func (w *rewriting) redigest(record []byte) []byte {
	for before, after := range w.digests {
		record = bytes.ReplaceAll(record, []byte(before), []byte(after))
	}
	return record
}

// references writes the file of references anew.
func (w *rewriting) references() error {
	b, err := w.root.ReadFile(refsName)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(w.digests) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	to, err := w.create(refsName)
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = to.Write(w.redigest(b))
	return errors.Join(err, filesystem.Sync(to))
}
