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

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist/redact"
)

// ErrNotSound means that a log has problems, and a log that is written anew would hide them.
var ErrNotSound = agenttool.Failure(agenttool.ExecutionFailed, "log_not_sound",
	"the log has problems, which writing it anew would hide: see toolhost log verify")

// rewriting is the work of Rewrite in one session.
type rewriting struct {
	dir     string
	o       Options
	unseal  bool // sealed files are removed
	root    *os.Root
	digests map[string]string // of payloads: the old one, the new one
	renames [][2]string       // new files, and the names that they get
	done    Rewritten
}

// Rewrite takes the secrets that o.Redactor finds out of an ended session: of its records, its payloads, and the sealed files beside
// them. It chains the records anew and adds one that says so, with the head of the log as it was. The files change together at
// the end: an interrupted rewrite changes nothing, or whoever opens the session next finishes it. Signatures and indexes of the log as it was are removed.
//
// dropSealed has all sealed files removed, and not only the secrets that are found in them.
//
// It changes nothing if nothing is found. It fails with [ErrLocked] if a process writes the session, and with [ErrNotSound] if Verify
// finds a problem.
func Rewrite(o Options, dropSealed bool) (Rewritten, error) {
	o = o.withDefaults()
	w := rewriting{dir: filepath.Join(o.Dir, string(o.ID)), o: o, unseal: dropSealed, digests: map[string]string{}}
	var err error
	if w.root, err = os.OpenRoot(w.dir); err != nil {
		return Rewritten{}, err
	}
	defer w.root.Close()
	log, err := openRegular(w.root.OpenFile, LogName, os.O_RDWR)
	if err != nil {
		return Rewritten{}, err
	}
	defer func() { log.Close() }()
	if err := lock(log); err != nil {
		return Rewritten{}, err
	}
	replaced, err := settleRewrite(w.root)
	if err == nil && replaced { // an interrupted one was complete: go on with its result
		log.Close()
		if log, err = openRegular(w.root.OpenFile, LogName, os.O_RDWR); err == nil {
			err = lock(log)
		}
	}
	if err != nil {
		return Rewritten{}, err
	}
	defer w.drop()
	if err = w.check(log); err == nil {
		err = w.payloads()
	}
	if err == nil {
		err = w.records(log)
	}
	if err == nil {
		err = w.references()
	}
	if err == nil && w.done.Secrets > 0 {
		err = w.commit()
	}
	return w.done, err
}

// check reads the log as it is.
func (w *rewriting) check(log *os.File) error {
	if err := checkFormat(log); err != nil {
		return err
	}
	found, err := Verify(io.NewSectionReader(log, 0, 1<<62))
	if err != nil {
		return err
	}
	w.done.Count, w.done.Head = found.Last, found.Head
	if !found.OK() || found.Records == 0 {
		return ErrNotSound
	}
	for entry, err := range Read(io.NewSectionReader(log, 0, 1<<62)) { // payloads may have values that only records show to be secrets
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
		err = syncDir(dir)
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
	return to.Sync()
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
	return errors.Join(err, to.Sync())
}

// records writes the log anew.
func (w *rewriting) records(log *os.File) error {
	to, err := w.create(LogName)
	if err != nil {
		return err
	}
	defer to.Close()
	var next chain
	write := func(event []byte) error {
		_, err := to.Write(next.append(nil, event))
		return err
	}
	closed := false
	for entry, err := range Read(io.NewSectionReader(log, 0, 1<<62)) {
		if err != nil {
			return err
		}
		var event []byte
		if event, closed, err = w.record(entry.Event, next); err != nil {
			return err
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
	return to.Sync()
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
	return errors.Join(err, to.Sync())
}
