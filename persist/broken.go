package persist

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// Break is the data "continues" of the opened record of a log that continues another one, which was not left as the session wrote it. The
// sequence numbers and the chain go on: the first line has the number after Count, and Head as the hash of the line before.
type Break struct {
	Session agenttool.SessionID `json:"session_id"` // the directory of the log before
	File    string              `json:"file"`
	Device  uint64              `json:"device"`
	Inode   uint64              `json:"inode"`
	Length  int64               `json:"length"`         // of all lines that the session wrote there
	Count   int64               `json:"previous_count"` // sequence number of the last of them
	Head    string              `json:"previous_head"`  // hash of it, hexadecimal
	Seen    string              `json:"seen"`           // what became of the file, as a part of a sentence: "was renamed or removed"
}

// standing is where the open log of a session stands, and its status after the last change by this process.
type standing struct {
	path  string // empty: the log is no file on a disk, and nothing is compared
	mount uint64 // 0: the kernel does not say
	mode  uint32 // of its directory
	after unix.Stat_t

	lookAgain time.Time // changes of times alone are not looked into before
}

// stands records the status of the log.
func (d *disk) stands(path string) {
	if _, ok := d.log.f.(diskLog); !ok {
		return
	}
	d.at = standing{path: path}
	if named, err := statName(path); err == nil {
		d.at.mount = named.Mnt_id
	}
	if dir, err := statName(filepath.Dir(path)); err == nil {
		d.at.mode = uint32(dir.Mode)
	}
	d.wrote()
}

// statName returns the status of a name that is not followed.
func statName(path string) (st unix.Statx_t, err error) {
	err = unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &st)
	return st, err
}

// wrote records the status of the log after a change by this process.
func (d *disk) wrote() {
	if log, ok := d.log.f.(diskLog); ok && d.at.path != "" {
		d.at.after, _ = log.stat()
	}
}

// look compares the log with its status after the last change by this process, and with its name if that is asked for. It returns what
// became of it, "" if nothing did. The caller holds d.mu.
func (d *disk) look(name bool) (seen string) {
	log, ok := d.log.f.(diskLog)
	if !ok || d.at.path == "" || d.log.torn {
		return ""
	}
	now, err := log.stat()
	if err != nil {
		return "cannot be looked at: " + err.Error()
	}
	was := &d.at.after
	same := now.Size == was.Size && now.Nlink == was.Nlink && now.Mode == was.Mode && now.Uid == was.Uid && now.Ctim == was.Ctim
	if same && !name {
		return ""
	}
	if seen = d.lookAtName(&now); seen != "" || same {
		return seen
	}
	switch {
	case now.Size < d.log.end:
		return fmt.Sprintf("was cut to %d of its %d bytes", now.Size, d.log.end)
	case now.Size > d.log.end:
		return fmt.Sprintf("was written by another program, which added %d bytes", now.Size-d.log.end)
	case now.Nlink > 1:
		return "has a second name, by a hard link"
	case now.Mode != was.Mode:
		return fmt.Sprintf("had its permissions changed from %04o to %04o", was.Mode&0o7777, now.Mode&0o7777)
	case now.Uid != was.Uid:
		return fmt.Sprintf("was given to user %d", now.Uid)
	}
	return d.lookInside(now)
}

// lookAtName compares the file that has the log's name with the open file.
func (d *disk) lookAtName(open *unix.Stat_t) (seen string) {
	named, err := statName(d.at.path)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return "was renamed or removed, or its directory was"
	case err != nil:
		return "cannot be reached by its name: " + err.Error()
	case unix.Mkdev(named.Dev_major, named.Dev_minor) != uint64(open.Dev) || named.Ino != open.Ino:
		return "was renamed, removed or covered by a mount, and another file has its name"
	case named.Mnt_id != d.at.mount:
		return "was covered by a mount"
	}
	dir, err := statName(filepath.Dir(d.at.path))
	if err != nil || uint32(dir.Mode) != d.at.mode {
		return fmt.Sprintf("had the permissions of its directory changed to %04o", dir.Mode&0o7777)
	}
	return ""
}

// lookInside reads the log after its times changed and nothing else did. It spends a hundredth of the time on that, since some file systems change
// times by themselves.
func (d *disk) lookInside(now unix.Stat_t) (seen string) {
	began := time.Now()
	if began.Before(d.at.lookAgain) {
		return ""
	}
	r, err := Verify(io.NewSectionReader(d.log.f, 0, d.log.end))
	d.at.lookAgain = time.Now().Add(100 * time.Since(began))
	switch {
	case err != nil:
		return "cannot be read: " + err.Error()
	case !r.OK():
		return fmt.Sprintf("was changed by another program, in line %d", r.Problems[0].Seq)
	case r.Last != d.log.chain.seq || r.Head != hex.EncodeToString(d.log.chain.head[:]):
		return "was changed by another program, in its last line"
	}
	d.at.after = now
	return ""
}

// keepWhole makes sure that records go into a log that nobody else has touched. If somebody has, it begins the next part of the session, which
// says so, and keeps an error for the next call that changes something. The caller holds d.mu.
func (d *disk) keepWhole(name bool) error {
	seen := d.look(name)
	if seen == "" {
		return nil
	}
	was := d.at.path
	err := d.goOn(seen)
	if err != nil {
		return agenttool.Failure(agenttool.DependencyUnavailable, "journal_broken", fmt.Sprintf(
			"the session log %s %s, and no new one can be begun: %v; %s", was, seen, err, help(d.o.Dir, err))).Because(err)
	}
	d.unsaid = agenttool.Failure(agenttool.DependencyUnavailable, "journal_broken", fmt.Sprintf(
		"the session log %s %s, so this call did not run. The session goes on in %s, whose first record says this: make the call again",
		was, seen, d.at.path))
	return nil
}

// goOn leaves the log as it is and begins the next part of the session in a directory of its own.
func (d *disk) goOn(seen string) error {
	old, c := d.log, Break{
		Session: agenttool.SessionID(filepath.Base(filepath.Dir(d.at.path))), File: d.at.path, Device: uint64(d.at.after.Dev), Inode: d.at.after.Ino,
		Length: d.log.end, Count: d.log.chain.seq, Head: hex.EncodeToString(d.log.chain.head[:]), Seen: seen,
	}
	session, log, path, err := openPart(d.o.Dir, c.Session)
	if err != nil {
		return err
	}
	next := &journal{f: log, chain: old.chain, first: old.chain.seq}
	opened, err := recorder{d.o}.opened(&c)
	if err == nil {
		_, err = next.append([][]byte{opened})
	}
	if err != nil {
		_ = session.Remove(LogName)
		_ = os.Remove(filepath.Dir(path))
		return errors.Join(err, session.Close(), log.Close())
	}
	if old.reserved > 0 {
		_ = next.reserve() // a failure shows at the next Reserve
	}
	_ = old.f.Sync() // its records are as durable as they can be
	if d.refs != nil {
		d.refs.Close()
	}
	d.before = append(d.before, files{session: d.session, log: old})
	d.session, d.log, d.refs, d.opened = session, next, nil, true
	d.sync.end, d.sync.names = 0, false
	d.stands(path)
	d.syncSoon()
	return nil
}

// openPart makes the directory and the log of the part after id, and locks it. No name is used twice, also if its directory is gone.
func openPart(dir string, id agenttool.SessionID) (session *os.Root, log diskLog, path string, err error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, log, "", err
	}
	first, number := partOf(id)
	for n := number + 1; n <= maxParts; n++ {
		name := string(partNamed(first, n))
		path = filepath.Join(dir, name, LogName)
		switch err := os.Mkdir(filepath.Dir(path), dirMode); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return nil, log, "", err
		}
		if session, err = openSession(dir, agenttool.SessionID(name)); err != nil {
			return nil, log, "", err
		}
		if log, err = openLog(session, path); err != nil {
			session.Close()
		}
		return session, log, path, err
	}
	return nil, log, "", fmt.Errorf("this session has %d parts", maxParts)
}

// session completes the report of the log at path by what the other parts of its session say.
func (r *Report) session(path string) {
	sessions, id := filepath.Dir(filepath.Dir(path)), agenttool.SessionID(filepath.Base(filepath.Dir(path)))
	if r.Continues != nil {
		defer r.findBefore(filepath.Join(sessions, string(r.Continues.Session)))
	}
	part, b, ok := continued(sessions, id)
	if !ok { // the directory may have another name now
		id = r.id
		if r.Continues != nil {
			first, number := partOf(r.Continues.Session)
			id = partNamed(first, number+1)
		}
		if part, b, ok = continued(sessions, id); !ok || string(part) == filepath.Base(filepath.Dir(path)) {
			return
		}
	}
	r.ContinuedIn, r.Broken = part, &b
	r.compare(path, b)
}

// compare compares a log with what the next part of the session says of it.
func (r *Report) compare(path string, b Break) {
	for i := range r.Problems {
		if p := &r.Problems[i]; p.Kind == Unwritten { // the session ran on
			p.Kind, p.Detail = Changed, "it was overwritten with NUL while the session ran"
		}
	}
	head, err := HashOf(path, b.Count)
	switch {
	case (err != nil || head != b.Head) && r.was(b):
		r.halfRedacted = true
	case r.Last < b.Count:
		p := Problem{Kind: Missing, Seq: r.Last + 1, Detail: fmt.Sprintf("line %d is not there, and the session had written it", b.Count)}
		if p.Seq < b.Count {
			p.To, p.Detail = b.Count, fmt.Sprintf("lines %d to %d are not there, and the session had written them", p.Seq, b.Count)
		}
		r.add(p)
	case r.OK() && (err != nil || head != b.Head):
		r.add(Problem{Kind: Changed, Seq: b.Count, Detail: fmt.Sprintf("line %d is not the one that the session wrote", b.Count)})
	case r.Last > b.Count:
		r.add(Problem{Kind: Added, Seq: b.Count + 1, To: r.Last, Detail: fmt.Sprintf("the session wrote nothing here after line %d", b.Count)})
	}
	if r.TornBytes > 0 {
		r.add(Problem{Kind: Added, Seq: r.Last + 1, Detail: fmt.Sprintf("the session wrote no %d bytes after its last line", r.TornBytes)})
		r.TornBytes = 0
	}
	if st, err := statName(path); err == nil && (st.Ino != b.Inode || unix.Mkdev(st.Dev_major, st.Dev_minor) != b.Device) {
		r.Copy = true
	}
}

// findBefore finds the lines of the part before in the directory that it had.
func (r *Report) findBefore(dir string) {
	b := r.Continues
	if r.Before = b.fileIn(dir); r.Before != "" {
		return
	}
	if f, err := openRegular(os.OpenFile, filepath.Join(dir, LogName), os.O_RDONLY); err == nil {
		defer f.Close()
		if before, err := Verify(f); err == nil && before.was(*b) {
			r.Before, r.halfRedacted = f.Name(), true
			return
		}
	}
	r.add(Problem{Kind: Missing, Seq: 1, To: b.Count, Detail: fmt.Sprintf("lines 1 to %d are in no log in %s: it %s", b.Count, dir, b.Seen)})
}

// about returns lines on the other parts of the session.
func (r Report) about() (lines []string) {
	if b := r.Continues; b != nil {
		lines = append(lines, fmt.Sprintf("it continues %s after record %d: that log %s", b.Session, b.Count, b.Seen))
	}
	if r.Before != "" {
		lines = append(lines, "the lines before are in "+r.Before)
	}
	if r.Broken != nil {
		lines = append(lines, fmt.Sprintf("the session went on in %s after record %d: this log %s", r.ContinuedIn, r.Broken.Count, r.Broken.Seen))
	}
	if r.halfRedacted {
		lines = append(lines, "secrets were taken out of one of these two logs, and that was interrupted: run toolhost log redact again, which goes on")
	}
	if r.Copy {
		lines = append(lines, "this is another file than the session wrote: a copy, or one that was put in its place")
	}
	return lines
}
