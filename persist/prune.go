package persist

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/filesystem"
	"toolhost/agenttool/json"
)

// Retention configures Prune.
type Retention struct {
	MaxAge time.Duration // of a session since its last record; 0: 30 days; below 0: no limit
	// MaxPayloadAge is the age of a session after which its payloads are removed and its log stays; 0 and less: that of
	// the session.
	MaxPayloadAge time.Duration

	MaxBytes int64                 // of all sessions that have ended; 0: 5 GiB; below 0: no limit
	Keep     []agenttool.SessionID // sessions to keep; live sessions are kept too
	Dry      bool                  // change nothing, and return the removals

	// Unasked means that no person requested the run. Then, for a day after the clock jumps ahead, no session is
	// removed because of its age.
	Unasked bool
}

const (
	defaultMaxAge   = 30 * 24 * time.Hour
	defaultMaxBytes = 5 << 30
)

func (o Retention) withDefaults() Retention {
	o.MaxAge = cmp.Or(o.MaxAge, defaultMaxAge)
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
	return o
}

// PruneReport lists the removals of Prune, done or planned, and the rest.
type PruneReport struct {
	Removed   []Removal             `json:"removed"`
	Sessions  int                   `json:"sessions"`        // ended sessions that are left
	Bytes     int64                 `json:"bytes"`           // of these sessions
	Over      int64                 `json:"over,omitempty"`  // bytes above the limit, all of them logs, which stay until they are too old
	Live      int                   `json:"live"`            // sessions that a process writes, or that Keep lists
	LiveBytes int64                 `json:"live_bytes"`      // of these sessions
	Newer     []agenttool.SessionID `json:"newer,omitempty"` // sessions of a newer version of toolhost, which are left unchanged

	ClockDoubted bool `json:"clock_doubted,omitempty"` // the clock may have jumped ahead: age removed nothing
}

// Removal is a session or one of its payloads.
type Removal struct {
	Session agenttool.SessionID `json:"session_id"`
	Payload string              `json:"payload,omitempty"` // its file; empty: the whole session
	Bytes   int64               `json:"bytes"`
	Changed time.Time           `json:"changed"`
	Expired bool                `json:"expired,omitempty"` // a payload that was too old
}

// Why says why a payload was removed.
func (r Removal) Why() string {
	if r.Expired {
		return "it was older than the settings keep outputs (retention.payloads)"
	}
	return "it was removed to save space (retention.size)"
}

// prunedPrefix begins the name of a session that is being removed. No session has such a name.
const prunedPrefix = ".pruned-"

// Prune removes the sessions in dir that are too old. If the rest is too large it removes payloads, the largest and
// oldest first, and lists them beside the log; logs stay until they are too old. It follows no links, ignores other
// files, and finishes an earlier Prune that was killed. It returns its removals even if some failed.
func Prune(dir string, o Retention, now time.Time) (PruneReport, error) {
	all, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return PruneReport{}, nil
	}
	if err != nil {
		return PruneReport{}, err
	}
	defer all.Close()
	p := pruning{o: o.withDefaults(), all: all, now: now, clock: readClock(all)}
	if o.Unasked && p.clock.jumped(now) {
		p.o.MaxAge, p.o.MaxPayloadAge, p.done.ClockDoubted = -1, -1, true
	}
	if o.Unasked {
		defer p.clock.write(all)
	}
	if !o.Dry {
		p.failed(sweep(all))
	}
	sessions, err := p.measure()
	if err != nil {
		return PruneReport{}, err
	}
	p.shrink(p.expire(p.removeOld(sessions)))
	return p.done, errors.Join(p.errs...)
}

// pruning is one run of Prune.
type pruning struct {
	o     Retention
	all   *os.Root
	now   time.Time
	clock clock
	done  PruneReport
	errs  []error
}

// endedSession is a session on disk that no process writes.
type endedSession struct {
	RecentSession
	bytes    int64 // of all files
	payloads []Removal

	rewritten bool // it has files of an interrupted rewrite
}

func (p *pruning) failed(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

// measure returns the ended sessions, and counts the others separately.
func (p *pruning) measure() ([]endedSession, error) {
	f, err := p.all.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := folder{f}.sessions()
	if err != nil {
		return nil, err
	}
	changed, live := map[string]time.Time{}, map[string]bool{} // of the parts of a session: they go together
	for _, u := range list {
		first, _ := partOf(u.ID)
		if u.Changed.After(changed[first]) {
			changed[first] = u.Changed
		}
		if slices.Contains(p.o.Keep, u.ID) || p.isLive(u.ID) {
			live[first] = true
		}
	}
	var ended []endedSession
	for _, u := range list {
		first, _ := partOf(u.ID)
		u.Changed = changed[first]
		s := endedSession{RecentSession: u}
		if d, err := (folder{f}).open(string(u.ID)); err == nil {
			s.measure(d)
			d.close()
		}
		if live[first] {
			p.done.Live++
			p.done.LiveBytes += s.bytes
			continue
		}
		if s.Changed.After(p.now.Add(clockSlack)) { // its age counts from today
			s.Changed = p.now
			if !p.o.Dry {
				_ = p.all.Chtimes(string(u.ID)+"/"+LogName, p.now, p.now)
			}
		}
		if s.rewritten && !p.o.Dry {
			p.failed(p.settle(u.ID))
		}
		ended = append(ended, s)
	}
	return ended, nil
}

// settle finishes an interrupted rewrite.
func (p *pruning) settle(id agenttool.SessionID) error {
	log, err := p.hold(id)
	if errors.Is(err, errKeep) || errors.Is(err, ErrNewer) {
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	session, err := p.all.OpenRoot(string(id))
	if err != nil {
		return err
	}
	defer session.Close()
	_, err = settleRewrite(session)
	return err
}

// measure measures the files of the session in d.
func (s *endedSession) measure(d folder) {
	s.bytes = d.bytes()
	defer func() { s.rewritten = isRewritten(d, s.payloads) }()
	results, err := d.open(resultsDir)
	if err != nil {
		return // it has none
	}
	defer results.close()
	results.regular(func(name string, st unix.Stat_t) {
		s.payloads = append(s.payloads, Removal{Session: s.ID, Payload: name, Bytes: st.Size, Changed: modified(st)})
	})
	s.payloads = withSealed(s.payloads)
}

// withSealed counts sealed files as parts of their payloads. One without its payload is listed alone.
func withSealed(files []Removal) []Removal {
	size := map[string]int64{}
	for _, r := range files {
		size[r.Payload] = r.Bytes
	}
	for i := range files {
		files[i].Bytes += size[files[i].Payload+sealedEnd]
	}
	return slices.DeleteFunc(files, func(r Removal) bool {
		of, is := strings.CutSuffix(r.Payload, sealedEnd)
		_, there := size[of]
		return is && there
	})
}

func (p *pruning) isLive(id agenttool.SessionID) bool {
	f, err := openRegular(p.all.OpenFile, string(id)+"/"+LogName, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, unix.LOCK_SH), ErrLocked) // released when f is closed
}

// removeOld removes the sessions that are too old and returns the others.
func (p *pruning) removeOld(sessions []endedSession) (left []endedSession) {
	slices.SortFunc(sessions, func(a, b endedSession) int { return cmp.Or(a.Changed.Compare(b.Changed), cmp.Compare(a.ID, b.ID)) })
	for _, s := range sessions {
		age := p.clock.age(s.RecentSession, p.now)
		old := p.o.MaxAge > 0 && age > p.o.MaxAge
		if old && p.remove(Removal{Session: s.ID, Bytes: s.bytes, Changed: s.Changed}, p.removeSession) {
			continue
		}
		left = append(left, s)
		p.done.Sessions++
		p.done.Bytes += s.bytes
	}
	p.clock.forget(left)
	return left
}

// remove removes r and reports whether it succeeded.
func (p *pruning) remove(r Removal, do func(Removal) error) bool {
	err := do(r)
	switch {
	case err == nil:
		p.done.Removed = append(p.done.Removed, r)
		return true
	case errors.Is(err, ErrNewer):
		if !slices.Contains(p.done.Newer, r.Session) {
			p.done.Newer = append(p.done.Newer, r.Session)
		}
	case !errors.Is(err, errKeep):
		p.failed(fmt.Errorf("prune %s: %w", r.Session, err))
	}
	return false
}

// expire removes the payloads of sessions that are too old for them, and returns the sessions.
func (p *pruning) expire(sessions []endedSession) []endedSession {
	if p.o.MaxPayloadAge <= 0 {
		return sessions
	}
	for i := range sessions {
		s := &sessions[i]
		if p.clock.age(s.RecentSession, p.now) <= p.o.MaxPayloadAge {
			continue
		}
		s.payloads = slices.DeleteFunc(s.payloads, func(r Removal) bool {
			r.Expired = true
			if !p.remove(r, p.removePayload) {
				return false
			}
			p.done.Bytes -= r.Bytes
			return true
		})
	}
	return sessions
}

// shrink removes payloads until the sessions are within the limit.
func (p *pruning) shrink(sessions []endedSession) {
	if p.o.MaxBytes < 0 || p.done.Bytes <= p.o.MaxBytes {
		return
	}
	var payloads []Removal
	for _, s := range sessions {
		payloads = append(payloads, s.payloads...)
	}
	weight := func(r Removal) float64 { // a month of age counts as much as doubling the size
		return float64(r.Bytes) * (1 + max(0, p.now.Sub(r.Changed).Hours()/(30*24)))
	}
	slices.SortFunc(payloads, func(a, b Removal) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Payload, b.Payload))
	})
	for _, r := range payloads {
		if p.done.Bytes <= p.o.MaxBytes || r.Bytes == 0 {
			break
		}
		if p.remove(r, p.removePayload) {
			p.done.Bytes -= r.Bytes
		}
	}
	p.done.Over = max(0, p.done.Bytes-p.o.MaxBytes)
}

// errKeep means that a session must not be removed.
var errKeep = errors.New("in use, or not a session")

// hold locks a session that no process writes, so that no process starts to. It fails with errKeep if there is no log
// to lock.
func (p *pruning) hold(id agenttool.SessionID) (*os.File, error) {
	info, err := p.all.Lstat(string(id) + "/" + LogName)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errKeep
	}
	f, err := openRegular(p.all.OpenFile, string(id)+"/"+LogName, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if err = flock(f, unix.LOCK_EX); errors.Is(err, ErrLocked) {
		err = errKeep
	}
	if err == nil {
		err = checkFormat(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeSession deletes a session. It renames the directory first, so that a half-deleted session is never visible.
func (p *pruning) removeSession(r Removal) error {
	name := string(r.Session)
	log, err := p.hold(r.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return p.removeEmpty(name)
	}
	if err != nil {
		return err
	}
	defer log.Close()
	if p.o.Dry {
		return nil
	}
	if err := p.all.Rename(name, prunedPrefix+name); err != nil {
		return err
	}
	return p.all.RemoveAll(prunedPrefix + name)
}

// removeEmpty removes the directory of a process that was killed before its first record. A directory with other
// files is not touched.
func (p *pruning) removeEmpty(name string) error {
	if p.o.Dry {
		if entries, err := fs.ReadDir(p.all.FS(), name); err != nil || len(entries) > 0 {
			return errKeep
		}
		return nil
	}
	if p.all.Remove(name) != nil {
		return errKeep
	}
	return nil
}

// prunedName is the file that lists the payloads that Prune removed from a session, one [Removal] per line.
const prunedName = "pruned.jsonl"

// removePayload deletes a payload and its sealed file after listing it, so that verify does not report it as lost.
func (p *pruning) removePayload(r Removal) error {
	name := string(r.Session)
	log, err := p.hold(r.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return errKeep
	}
	if err != nil {
		return err
	}
	defer log.Close()
	if p.o.Dry {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	note, err := p.all.OpenFile(name+"/"+prunedName, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return err
	}
	_, err = note.Write(append(line, '\n'))
	if err = errors.Join(err, filesystem.Sync(note), note.Close()); err != nil { // a power cut may not leave the removal without its note
		return err
	}
	for _, end := range []string{sealedEnd, ""} {
		if err := p.all.Remove(name + "/" + resultsDir + "/" + r.Payload + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sweep finishes interrupted removals of sessions.
func sweep(all *os.Root) error {
	entries, err := fs.ReadDir(all.FS(), ".")
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.Name(), prunedPrefix)
		if ok && e.IsDir() && validID(agenttool.SessionID(id)) {
			errs = append(errs, all.RemoveAll(e.Name()))
		}
	}
	return errors.Join(errs...)
}
