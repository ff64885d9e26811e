package notify

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"
)

// request is one call, from its arguments to its result.
type request struct {
	source
	call     call
	operands []operand
	arguments

	alone   bool // no other name of the session is used meanwhile
	tree    bool // a directory moves
	targets []*target
	openedFile
	pausing
}

// source has the origin of a request.
type source struct {
	l    *Listener
	w    *worker
	n    *notification
	from *caller
}

// arguments are the values that a call was given.
type arguments struct {
	// The values read from the caller's memory, once.
	names []string // of the operands; "" also for one that is not given
	text  string   // of a link, or the name of an attribute
	data  []byte   // the value of an attribute, times, or an address
	flags int      // of open
	mode  uint32   // of open
	times []unix.Timespec
}

// openedFile is the file that open opened.
type openedFile struct {
	fd      int  // the file that open opened; -1: none
	made    bool // open made the file
	regular bool // open opened a regular file that has a name
}

// pausing is about the question that a request waits for.
type pausing struct {
	waits    int      // a place that can be opened later; -1: none
	asked    int      // how often it paused
	question Question // the one that it pauses for
}

// Results of a step that are no error numbers.
const (
	again  = unix.Errno(1<<16 + iota) // something changed underneath: from the beginning
	gone                              // the caller does not wait for an answer any more
	later                             // it would block
	paused                            // somebody is asked
)

// tries bounds how often a call begins anew because names change under its hands.
const tries = 200

func newRequest(l *Listener, w *worker, n *notification, c call) *request {
	r := &request{source: source{l: l, w: w, n: n, from: newCaller(n)}, call: c, operands: c.operands, openedFile: openedFile{fd: -1}, pausing: pausing{waits: -1}}
	r.from.root = &l.root
	r.from.valid = func() bool { return l.valid(n.id) }
	return r
}

func (r *source) arg(i int) uint64 { return r.n.data.args[i] }

// run does the call.
func (r *request) run() unix.Errno {
	if errno := r.read(); errno != 0 {
		if !r.l.valid(r.n.id) {
			return gone
		}
		return errno
	}
	for range tries {
		if errno := r.once(); errno != again {
			return errno
		}
	}
	return unix.ELOOP
}

// read takes the arguments out of the caller's memory.
func (r *request) read() unix.Errno {
	if r.call.takes != nil {
		if errno := r.call.takes(r); errno != 0 {
			return errno
		}
	}
	if r.names != nil { // they were in an address
		return 0
	}
	r.names = make([]string, len(r.operands))
	for i, o := range r.operands {
		if o.path == none || r.isDescriptor(o) {
			continue
		}
		var err error
		if r.names[i], err = r.from.text(r.arg(o.path)); err != nil {
			return errnoOf(err)
		}
		if r.names[i] == "" && !o.mayBeEmpty(&r.n.data.args) {
			return unix.ENOENT
		}
	}
	return 0
}

// isDescriptor reports whether the missing name of an operand stands for its descriptor: in two calls that set times.
func (r *request) isDescriptor(o operand) bool {
	return r.arg(o.path) == 0 && o.dir != none && r.dir(o) != unix.AT_FDCWD && r.call.setsTimes()
}

// dir is the descriptor that the name of an operand starts from.
func (r *source) dir(o operand) int {
	if o.dir == none {
		return unix.AT_FDCWD
	}
	return int(int32(r.arg(o.dir)))
}

// once resolves, asks and acts, while nothing that matters moves.
func (r *request) once() unix.Errno {
	if r.alone {
		r.l.judges.Names.Lock()
		defer r.l.judges.Names.Unlock()
	} else {
		r.l.judges.Names.RLock()
		defer r.l.judges.Names.RUnlock()
	}
	a, errno := r.attempt()
	r.tree = len(a.Moved) > 0
	if !r.l.valid(r.n.id) { // the memory was the caller's only if the caller still waits
		return gone
	}
	if errno != 0 {
		return errno
	}
	if len(a.Moved) > 0 && !r.alone {
		r.alone = true
		return again
	}
	if len(r.targets) > 0 {
		switch verdict := r.l.judges.Name(a); verdict {
		case Allow:
		case Done:
			return 0
		case Pause:
			return r.pause(a, unix.EPERM)
		case Again:
			r.alone = true
			return again
		default:
			return unix.Errno(verdict)
		}
	}
	var settle func(Outcome)
	if losing := r.l.judges.Losing; losing != nil && len(r.targets) > 0 {
		told, verdict := losing(a)
		switch {
		case verdict == Pause:
			return r.pause(a, unix.EPERM)
		case verdict == Again:
			return again
		case verdict != Allow:
			return unix.Errno(verdict)
		case told != nil:
			settle = told
		}
	}
	moved := r.inodes()
	if instead := r.instead(); instead != nil {
		errno = r.actInstead(instead)
	} else {
		errno = r.call.act(r)
	}
	if settle != nil {
		outcome := r.outcome(errno)
		settle(outcome)
		if outcome.Made != r.fd {
			closeAll(outcome.Made)
		}
	}
	switch {
	case errno == 0 && r.l.judges.Named != nil:
		r.announce(moved)
		r.tellChanges(moved)
	case errno == 0, errno == later:
		r.tellChanges(moved)
	case errno == unix.EROFS && len(r.targets) > 0:
		return r.readOnly(a)
	}
	return errno
}

// instead is what does the call in the place of the kernel, nil if nothing does.
func (r *request) instead() func() unix.Errno {
	for _, t := range r.targets {
		if t.instead != nil {
			return t.instead
		}
	}
	return nil
}

// actInstead has the judge do the call, to what is no mount.
func (r *request) actInstead(instead func() unix.Errno) unix.Errno {
	for _, t := range r.targets {
		if strings.HasPrefix(r.call.name, "rename") && t.covered() {
			return unix.EBUSY
		}
	}
	if errno := r.takeUmask(); errno != 0 {
		return errno
	}
	errno := instead()
	if t := r.targets[0]; errno == 0 && t.stand >= 0 {
		r.made, r.regular = t.made, true
		r.fd, t.stand = t.stand, -1
	}
	return errno
}

// readOnly is the result of a call that was allowed and that met a read-only mount: an error, or a pause if that may be opened.
func (r *request) readOnly(a Attempt) unix.Errno {
	errno := r.pause(a, unix.EROFS)
	if j := &r.l.judges; errno != paused && j.ReadOnly != nil {
		j.ReadOnly(r.targets[len(r.targets)-1].path)
	}
	return errno
}

// pause is the result of a call that a question may open, and otherwise fails.
func (r *request) pause(a Attempt, errno unix.Errno) unix.Errno {
	if ask := r.l.judges.Ask; ask != nil && !a.Final {
		if r.question = ask(a); r.question != nil {
			r.asked++
			return paused
		}
	}
	return errno
}

// inodes are those of the targets, if the call gives them other names.
func (r *request) inodes() (moved [2]uint64) {
	switch r.call.name {
	case "rename", "renameat", "renameat2", "link", "linkat":
		for i, t := range r.targets[:2] {
			moved[i] = t.inode()
		}
	}
	return moved
}

// announce says which names the call, which succeeded, has given to files. Of a file that it made or moved the inode is known for certain;
// of a directory, node or symbolic link it is the one that has the name now.
func (r *request) announce(moved [2]uint64) {
	switch r.call.name {
	case "open", "openat", "openat2", "creat":
		var st unix.Stat_t
		if t := r.targets[0]; r.made && t.instead != nil {
			r.l.judges.Named(t.path, t.inode())
		} else if r.made && unix.Fstat(r.fd, &st) == nil {
			r.l.judges.Named(r.targets[0].path, st.Ino)
		}
	case "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat":
		r.l.judges.Named(r.targets[0].path, r.targets[0].inode())
	case "rename", "renameat", "renameat2", "link", "linkat":
		r.l.judges.Named(r.targets[1].path, moved[0])
		if r.exchanges() {
			r.l.judges.Named(r.targets[0].path, moved[1])
		}
	}
}

// outcome says how the call ended.
func (r *request) outcome(errno unix.Errno) Outcome {
	o := Outcome{Done: errno == 0 || errno == later, Made: -1}
	if !o.Done || len(r.targets) == 0 {
		return o
	}
	switch r.call.name {
	case "open", "openat", "creat":
		if !r.made {
			return o
		}
		if r.targets[0].instead == nil { // else the caller has another file
			o.Made = r.fd
			return o
		}
	case "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat":
	default:
		return o
	}
	fd, err := unix.Openat(r.targets[0].at, r.targets[0].last, placeOnly|unix.O_NOFOLLOW, 0)
	if err == nil {
		o.Made = fd
	}
	return o
}

// tellChanges reports the names that the call, which succeeded, has changed. moved are the inodes of its targets before, as of
// [request.inodes].
func (r *request) tellChanges(moved [2]uint64) {
	tell := r.l.judges.Changed
	if tell == nil || len(r.targets) == 0 {
		return
	}
	path := r.targets[0].path
	switch r.call.name {
	case "open", "openat", "creat":
		switch {
		case r.made:
			tell(Change{Kind: Created, Path: path})
		case r.regular && r.writes():
			tell(Change{Kind: Written, Path: path})
		}
	case "truncate":
		tell(Change{Kind: Written, Path: path})
	case "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "bind":
		tell(Change{Kind: Created, Path: path})
	case "unlink", "unlinkat", "rmdir":
		tell(Change{Kind: Removed, Path: path})
	case "link", "linkat":
		tell(Change{Kind: Linked, Path: path, To: r.targets[1].path})
	case "rename", "renameat", "renameat2":
		c := Change{Kind: Renamed, Path: path, To: r.targets[1].path, Replaced: moved[1] != 0, Tree: r.tree}
		if r.exchanges() {
			c.Kind = Exchanged
		}
		if moved[0] != moved[1] { // else both are names of one file, and nothing happens
			tell(c)
		}
	}
}

// writes reports whether an open that succeeded can change the file.
func (r *arguments) writes() bool {
	return r.flags&unix.O_ACCMODE != unix.O_RDONLY || r.flags&unix.O_TRUNC != 0
}

// exchanges reports whether a rename exchanges two names.
func (r *request) exchanges() bool {
	return r.call.name == "renameat2" && r.arg(4)&unix.RENAME_EXCHANGE != 0
}

// attempt resolves the names.
func (r *request) attempt() (Attempt, unix.Errno) {
	r.forget()
	a := Attempt{PID: r.from.pid, Call: r.call.name, Flags: r.flags, Mode: r.mode, Final: r.asked >= maxPausing, Alone: r.alone}
	switch r.call.name {
	case "renameat2":
		a.How = uint(uint32(r.arg(4)))
	case "symlink", "symlinkat":
		a.Text = r.text
	case "truncate":
		a.Size = int64(r.arg(1))
	}
	for i, o := range r.operands {
		t, paths, err := r.resolve(o, r.names[i])
		if t != nil {
			r.targets = append(r.targets, t)
		}
		a.Paths = append(a.Paths, paths...)
		if err != nil {
			return a, errnoOf(err)
		}
		a.Targets = append(a.Targets, Target{Path: t.path, t: t})
	}
	switch r.call.name {
	case "rename", "renameat", "renameat2":
		r.moves(&a)
	case "symlink", "symlinkat":
		a.Linked = r.targets[0].path
	}
	return a, 0
}

// moves says what a rename takes along.
func (r *request) moves(a *Attempt) {
	pairs := [][2]*target{{r.targets[0], r.targets[1]}}
	if r.exchanges() {
		pairs = append(pairs, [2]*target{r.targets[1], r.targets[0]})
	}
	for _, pair := range pairs {
		switch pair[0].mode() & unix.S_IFMT {
		case unix.S_IFDIR:
			a.Moved = append(a.Moved, Move{To: pair[1].path, from: pair[0]})
		case unix.S_IFLNK:
			a.Linked = pair[1].path
		}
	}
}

// resolve finds the target of an operand.
func (r *source) resolve(o operand, name string) (*target, []string, error) {
	if name == "" {
		t, err := r.descriptor(r.dir(o))
		if err != nil || t.path == "" {
			return t, nil, err
		}
		return t, []string{t.path}, nil
	}
	return r.named(o, name)
}

// forget closes what was resolved.
func (r *request) forget() {
	for _, t := range r.targets {
		t.leave()
	}
	r.targets = r.targets[:0]
}

func (r *request) leave() {
	r.forget()
	closeAll(r.fd, r.waits)
	r.from.root = &rootDir{fd: -1} // the listener's own stays
	r.from.leave()
}

// give passes the opened file to the caller and lets it go on. Our own descriptor is closed by then: a process that writes a
// program, closes it and runs it must be the only one that has it open.
func (r *request) give() error {
	number, errno := r.l.put(r.n, r.fd, uint32(r.flags&unix.O_CLOEXEC))
	closeAll(r.fd)
	r.fd = -1
	if errno != 0 {
		return r.l.send(response{id: r.n.id, error: -int32(errno)}) // EMFILE: it is the caller who has no descriptors left
	}
	return r.l.send(response{id: r.n.id, value: int64(number)})
}

// errnoOf is the error number for a failure to read the caller.
func errnoOf(err error) unix.Errno {
	if errno, ok := err.(unix.Errno); ok {
		return errno
	}
	return shortOr(err, unix.EACCES)
}

// shortOr is the error number for a failure whose own says nothing to the caller: that of a shortage of descriptors, or else.
func shortOr(err error, otherwise unix.Errno) unix.Errno {
	for _, short := range []unix.Errno{unix.EMFILE, unix.ENFILE} {
		if errors.Is(err, short) {
			return short
		}
	}
	return otherwise
}

// takeUmask gives the thread the caller's umask, for files that the call makes.
func (r *source) takeUmask() unix.Errno {
	mask, err := r.from.umask()
	if err != nil {
		return shortOr(err, unix.EACCES)
	}
	r.w.takeUmask(mask)
	return 0
}

// link reports whether the call is about a link itself.
func (r *request) link() bool {
	t := r.targets[0]
	if t.open >= 0 || r.operands[0].follows(&r.n.data.args) {
		return false
	}
	fd, err := t.object()
	return err == nil && t.kindOf(fd) == unix.S_IFLNK
}

// flagged refuses flags that a call does not have.
func (r *source) flagged(at int) unix.Errno {
	if at != none && r.arg(at)&0xffff_ffff&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return unix.EINVAL
	}
	return 0
}

// object is a path that leads to the target of the call and to nothing else.
func (r *request) object() (path string, errno unix.Errno) {
	t := r.targets[0]
	fd, err := t.object()
	if err != nil {
		return "", errnoOf(err)
	}
	switch kind := t.kindOf(fd); {
	case kind == unix.S_IFLNK && t.open < 0: // it took the place of the resolved file
		return "", again
	case t.slash && kind != unix.S_IFDIR:
		return "", unix.ENOTDIR
	}
	return atProc(fd), 0
}

// descriptor is the target behind a descriptor of the caller, or its working directory.
func (r *source) descriptor(fd int) (*target, error) {
	t := &target{walk: walk{p: &r.from.process, at: -1}, open: -1, held: -1, stand: -1, given: true}
	var err error
	if fd == unix.AT_FDCWD {
		t.given = false
		t.open, err = unix.Open(r.from.entry(fd), placeOnly, 0)
	} else if err = r.from.take(fd); err == nil {
		t.open, r.from.socket = r.from.socket, -1
	}
	if err != nil {
		return nil, err
	}
	return t, t.findPath()
}

// named is the target of a name. The paths are those of links at its end, and its own.
func (r *source) named(o operand, name string) (*target, []string, error) {
	t := &target{walk: walk{p: &r.from.process, at: -1}, open: -1, held: -1, stand: -1}
	parent, last := split(name)
	if last == "" && o.follow == never { // "/", "." and "..", which cannot be made or removed
		parent, last = splitPlace(name)
	}
	if err := t.start(r.dir(o), parent); err != nil {
		return t, nil, err
	}
	t.last, t.slash = last, last != "" && strings.HasSuffix(name, "/")
	paths, err := t.ends(o, o.follows(&r.n.data.args))
	return t, paths, err
}

// Bounds of paused calls: how many of one listener, how often one call pauses, and how many are done at once when they go on.
const (
	maxPauses  = 4096
	maxPausing = 3
)
