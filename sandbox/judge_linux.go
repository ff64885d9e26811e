package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/notify"
)

// judge decides about the calls that a filter hands over: a command must not write a protected name, existing or not, and
// must not change files outside. The supervisor does the calls, so the command's Landlock domain does not apply to them: the judge
// holds the same rules.
type judge struct {
	protection
	writable
	decision
	lending
	ownSecrets
	findings
	reports
	opening opening // of more, while the command runs
	arming  arming
	keeping keeping // of what it changes
}

// writable are the places where writing is allowed.
type writable struct {
	open   []string // below which writing is allowed, as the command sees it
	mounts bool     // other places are read-only
	gits   []string // git directories outside of the roots that are open
	caches []string // places of caches that have layers
}

// decision has the paths that the decision about the command named.
type decision struct {
	approved []string // paths that the decision named
	removed  []string // ... as destroyed: protected names below them are removed, and not written
}

// lending is about places that come and go while the command runs.
type lending struct {
	loans    []loan    // missing places where writing is allowed; they are in open, too
	removals []removal // existing ones

	lentNow   sync.Mutex
	lentFiles map[string]fileID // what the command has made under the first names of loans
}

// ownSecrets are the secrets that the command itself made.
type ownSecrets struct {
	mu  sync.Mutex
	own map[string]uint64 // names of secrets that the command itself made, with their inodes; nil: too many
}

// reports has the listeners of a judge.
type reports struct {
	report func(Violation)
	allow  func(path string) // notes that a protected name is changed on purpose
}

// protection is about the protected names.
type protection struct {
	names      *protect.Map
	namesInUse *sync.RWMutex // by the supervisors of the session's commands
	room       *notify.Room  // of the session
}

// findings are traces of the command.
type findings struct {
	changes hostChanges
	kept    refusedPaths // where the kernel let it write nothing
	fresh   atomic.Bool  // a name was written that would be protected had its directory been there before
}

// moves are the calls that take a whole directory away from its name.
var moves = []string{"rename", "renameat", "renameat2", "rmdir", "unlinkat"}

// attempt judges one call.
func (j *judge) attempt(a notify.Attempt) notify.Verdict {
	if j.mounts && slices.Contains(attributeCalls, a.Call) {
		return notify.Allow // it is handed over to be kept, and the mounts that it is done in hold it
	}
	if verdict := j.settled(a); verdict != notify.Allow {
		return verdict
	}
	for _, path := range a.Paths {
		path = strings.TrimSuffix(path, " (deleted)")
		if _, named := protect.Asks(path, ""); named || filepath.Base(path) == "HEAD" {
			j.fresh.Store(true)
		}
	}
	for _, t := range a.Targets {
		verdict, ok := j.opening.onCall(a, t)
		if !ok {
			verdict, ok = j.onLoan(a.Call, t)
		}
		if !ok {
			verdict, ok = j.onCache(a.Call, t)
		}
		if !ok && !j.onRemoval(a.Call, t) {
			verdict = j.outside(a.Call, t)
		}
		if verdict != notify.Allow {
			return verdict
		}
	}
	for _, path := range a.Paths {
		path = strings.TrimSuffix(path, " (deleted)")
		rule, held := j.holds(a.Call, path)
		if !held && slices.Contains(moves, a.Call) && !j.mayRemove(a.Call, path) && !occupied(a.Call, path) {
			rule, held = j.names.Pinned(path)
			held = held && !j.shut(path)
		}
		switch {
		case held && notesUpstreams(a):
			j.allow(path)
			return notify.Done
		case held && j.opening.asks && j.opening.ask(a) != nil:
			return notify.Pause
		case held:
			return j.refuse(Violation{Wall: ProtectedName, Path: path, Call: a.Call, Rule: string(rule)})
		}
	}
	for _, m := range a.Moved {
		if v := j.carries(m); v != nil {
			v.Call = a.Call
			return j.refuse(*v)
		}
	}
	if a.Linked != "" && j.names.Reaches(a.Linked) {
		return j.refuse(Violation{Wall: FileSystem, Path: a.Linked, Call: a.Call, Detail: "a link in place of a directory in which names are protected"})
	}
	return j.arms(a)
}

// holds returns the rule that protects a path from a call, if one does. A name that a user has opened to the command is not held.
func (j *judge) holds(call, path string) (rule protect.Rule, held bool) {
	rule, held = j.names.Judge(path)
	held = held && !j.shut(path)
	for _, git := range j.gits {
		if !held && !approvedIn(git, path, j.approved) {
			rule, held = protect.GitHolds(git, path)
		}
	}
	held = held && !j.mayRemove(call, path)
	if held && slices.Contains(opens, call) {
		_, open := j.opening.find(path)
		held = !open
	}
	return rule, held
}

// shut reports whether a path lies outside the roots where nothing is open for writing. It is refused like all its neighbours, see outside: that
// its name is a protected one changes nothing, and is nothing to ask about.
func (j *judge) shut(path string) bool {
	lent := slices.ContainsFunc(j.loans, func(l loan) bool { return agenttool.Within(l.first, path) })
	return !lent && !inAny(j.names.Roots, path) && !j.within(path) && !j.opening.within(path)
}

// mayRemove reports whether a call takes away a name that the decision showed as destroyed, or one below it: nothing comes in its place.
func (j *judge) mayRemove(call, path string) bool {
	return slices.Contains(removes, call) && inAny(j.removed, path)
}

// opens reports whether a user has opened a name to the command, which may replace it.
func (j *judge) opens(path string) bool {
	if j == nil {
		return false
	}
	_, open := j.opening.find(path)
	return open
}

// onCache judges the removal of a cache that has layers: it cannot go, and counts as removed once it is empty. Before, the
// program is to remove what is in it. ok is false for other calls.
func (j *writable) onCache(call string, t notify.Target) (verdict notify.Verdict, ok bool) {
	switch {
	case !slices.Contains(removes, call) || !slices.Contains(j.caches, t.Path):
		return notify.Allow, false
	case t.IsEmpty():
		return notify.Done, true
	case call == "rmdir":
		return notify.Verdict(syscall.ENOTEMPTY), true
	}
	return notify.Verdict(syscall.EISDIR), true
}

// refuse reports what a grant would permit.
func (j *judge) refuse(v Violation) notify.Verdict {
	v.Grant, v.Certain = "write:"+v.Path, true
	j.report(v)
	return notify.Verdict(syscall.EPERM)
}

// outside judges what lies where the command may not write. The kernel refuses it by itself where it is read-only, but for
// devices, pipes and sockets, which no mount closes.
func (j *judge) outside(call string, t notify.Target) notify.Verdict {
	path := strings.TrimSuffix(t.Path, " (deleted)")
	if t.Path == "" || j.within(path) || j.opening.within(path) {
		return notify.Allow
	}
	kind := t.Mode() & unix.S_IFMT
	switch {
	case j.mounts:
		if plain := kind == 0 || kind == unix.S_IFREG || kind == unix.S_IFDIR || kind == unix.S_IFLNK; plain && t.ReadOnly() {
			return notify.Allow
		}
		return notify.Verdict(syscall.EACCES)
	case kind != 0 && (call == "mkdir" || call == "mkdirat"):
		return notify.Verdict(syscall.EEXIST)
	case agenttool.Within("/dev", path) || agenttool.Within("/proc", path):
		return notify.Verdict(syscall.EACCES)
	}
	return j.refuse(Violation{Wall: FileSystem, Path: path, Call: call})
}

// onLoan judges a call about a missing name on the way to a loan, or about the loan itself: one that makes it is done in the host's
// directory, if the name is missing there as well, and so is one that removes what was made. ok is false for other calls.
func (j *judge) onLoan(call string, t notify.Target) (verdict notify.Verdict, ok bool) {
	if !j.mounts || len(j.loans) == 0 {
		return notify.Allow, false
	}
	if t.Mode() != 0 {
		if !slices.Contains(removes, call) {
			return notify.Allow, false
		}
		l, own := j.ownLoan(t)
		return notify.Allow, own && t.Redirect(int(l.dir.Fd())) == nil
	}
	directory := strings.HasPrefix(call, "mkdir")
	makesIt := slices.Contains(makes, call)
	for _, l := range j.loans {
		switch {
		case t.Path == l.first && makesIt && (directory || t.Path == l.path):
			if exists(l.dir, filepath.Base(l.first)) || t.Redirect(int(l.dir.Fd())) != nil {
				return notify.Verdict(unix.EACCES), true
			}
			return notify.Allow, true
		case t.Path == l.first && slices.Contains(removes, call): // its directory is read-only, and says so first
			return notify.Verdict(unix.ENOENT), true
		case directory && t.Path != l.first && agenttool.Within(l.first, t.Path) && agenttool.Within(t.Path, l.path):
			return notify.Allow, true // in a directory that was made before
		}
	}
	return notify.Allow, false
}

// lends reports whether a path is the first name of a loan.
func (j *lending) lends(path string) bool {
	return slices.ContainsFunc(j.loans, func(l loan) bool { return l.first == path })
}

// onRemoval has a call that removes a named path done in the host's directory. A file that took the name since stays.
func (j *judge) onRemoval(call string, t notify.Target) bool {
	if !j.mounts || !slices.Contains(removes, call) {
		return false
	}
	i := slices.IndexFunc(j.removals, func(r removal) bool { return r.path == t.Path })
	if i < 0 {
		return false
	}
	file, _ := j.removals[i].now()
	return file == j.removals[i].file && t.Redirect(int(j.removals[i].dir.Fd())) == nil
}

// maxOwn bounds what is known of a command's own secrets. Of one that makes more nothing is masked.
const maxOwn = 1000

// named remembers a secret that the command itself made. The inode distinguishes it from a file that another process puts in its place.
func (j *judge) named(path string, inode uint64) {
	if !j.names.Names(path) { // it is still empty
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.own == nil {
		return
	}
	j.own[path] = inode
	if len(j.own) > maxOwn {
		j.own = nil
	}
}

// made reports whether the command itself made the secret that appeared at path. A path without a file was removed already. It waits until
// the supervisors have finished their calls, since the kernel reports a new file before a supervisor does.
func (j *judge) made(path string) bool {
	j.namesInUse.Lock()
	defer j.namesInUse.Unlock()
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return true
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.own == nil || st.Ino != 0 && j.own[path] == st.Ino
}

// occupied reports whether a directory is to be removed that is not empty: the kernel will say so, and programs try it.
func occupied(call, path string) bool {
	if strings.HasPrefix(call, "rename") {
		return false
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0) // opening another kind of file may block
	if err != nil {
		return false
	}
	dir := os.NewFile(uintptr(fd), path)
	defer dir.Close()
	names, _ := dir.Readdirnames(1)
	return len(names) > 0
}

func (j *writable) within(path string) bool { return inAny(j.open, path) }

// locks reports whether the command may lock a file that it has opened for reading.
func (j *judge) locks(path string, readOnly bool) bool {
	if j.mounts {
		return !readOnly
	}
	return j.within(path) || j.opening.within(path)
}

// inAny reports whether a path is one of some directories, or lies in one.
func inAny(dirs []string, path string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return agenttool.Within(dir, path) })
}

// expected reports whether the kernel itself would fail a call so, whose name cannot be resolved.
func expected(errno syscall.Errno) bool {
	return slices.Contains([]syscall.Errno{
		syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EFAULT, syscall.EACCES,
	}, errno)
}

// hostChanges are the changes of a command in places of the host. The sandbox's own places, as /tmp, are not the host's.
type hostChanges struct {
	changes
	in      []string    // the places that the command may write
	opening *opening    // ... and those that are opened to it
	seen    atomic.Bool // a supervisor is there
}

// note notes an effect of a call.
func (h *hostChanges) note(c notify.Change) {
	ours, others := h.has(c.Path), c.To != "" && h.has(c.To)
	if !ours && !others {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c.Kind == notify.Removed, c.Kind == notify.Renamed && !others:
		h.remove(c.Path)
	case c.Kind == notify.Created:
		h.create(c.Path, "")
	case c.Kind == notify.Written:
		h.write(c.Path)
	case c.Kind == notify.Linked && !others:
	case c.Kind == notify.Linked && ours && !strings.HasSuffix(c.Path, " (deleted)"):
		h.create(c.To, c.Path)
	case c.Kind == notify.Linked, c.Kind == notify.Renamed && !ours && !c.Replaced:
		h.create(c.To, "")
	case c.Kind == notify.Renamed && !ours:
		h.write(c.To)
	case c.Kind == notify.Renamed:
		h.rename(c.Path, c.To, c.Replaced)
	case c.Kind == notify.Exchanged && ours && others:
		h.exchange(c.Path, c.To)
	case c.Kind == notify.Exchanged && ours:
		h.write(c.Path)
	default:
		h.write(c.To)
	}
	if c.Tree && ours && others {
		h.exchangeBelow(c.Path, c.To)
	}
}

// has reports whether the file at path is one of the host's, which the command may write.
func (h *hostChanges) has(path string) bool { return inAny(h.in, path) || h.opening.within(path) }

// maxCarried bounds the entries that are looked at below a directory that moves. One that holds more does not move to where names
// are protected.
const maxCarried = 200_000

// carries returns an entry of a directory that must not move to its new path: a name that is protected there, or a link that
// leads out of the checked tree; nil if it may move. Nothing below it changes meanwhile. A user who opened the new path opened none below it.
func (j *judge) carries(m notify.Move) *Violation {
	if !j.opens(m.To) && !j.names.Reaches(m.To) {
		return nil
	}
	left := maxCarried
	at, err := m.Dir()
	if err != nil {
		return unchecked(m.To, err)
	}
	return j.carriesBelow(at, m.To, &left)
}

func (j *protection) carriesBelow(at int, to string, left *int) *Violation {
	fd, err := unix.Openat(at, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return unchecked(to, err)
	}
	dir := os.NewFile(uintptr(fd), "/proc/self/fd/"+strconv.Itoa(fd)) // for entries whose type readdir does not tell
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if *left -= len(entries); err != nil || *left < 0 {
		return &Violation{Wall: FileSystem, Path: to, Detail: "too much is in the directory that moves to look at it all"}
	}
	for _, e := range entries {
		path := to + "/" + e.Name()
		if rule, held := j.names.Judge(path); held {
			return &Violation{Wall: ProtectedName, Path: path, Rule: string(rule)}
		}
		link := e.Type()&os.ModeSymlink != 0
		if !link && !e.IsDir() || !j.names.Reaches(path) {
			continue
		}
		if link {
			return &Violation{Wall: FileSystem, Path: path, Detail: "a link in place of a directory in which names are protected"}
		}
		child, err := unix.Openat(fd, e.Name(), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return unchecked(path, err)
		}
		v := j.carriesBelow(child, path, left)
		_ = unix.Close(child)
		if v != nil {
			return v
		}
	}
	return nil
}

// unchecked refuses a move since a directory below it cannot be looked at.
func unchecked(to string, err error) *Violation {
	return &Violation{Wall: FileSystem, Path: to, Detail: "the content of the moving directory could not be checked: " + err.Error()}
}
