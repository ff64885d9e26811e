package sandbox

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// staging has the parts of git directories that the commands of a session write in place. A process gets a file in memory that no name leads to. Its text is judged
// and comes into place when nobody has it open for writing any more: at the next call of the session that is judged, within moments without one, and
// before somebody reads the part. For that the supervisor has a lease of the file in place: who opens it waits until the text is there. No process has
// that file open for writing. Where there can be no lease, as somebody has the part open already, a new file takes its place, and until then there is what was there before.
type staging struct {
	names *sync.RWMutex // of the session: held for writing while a text comes into place

	some    atomic.Bool // there are any
	mu      sync.Mutex
	all     []*staged
	watches bool // a watcher runs
	closed  bool
	done    sync.WaitGroup
}

// staged is one part.
type staged struct {
	owner *judge // of the command whose process opened it first

	path, git string // of the part, and of its git directory
	kind      protect.Part
	dir       int // as a place
	name      string
	was       unix.Stat_t // the file under the name
	text      []byte      // of the part, as its writer knows it
	memory    int         // the file in memory, open for reading
	leased    int         // the file in place, under a lease; -1: there is none
}

// Bounds of staged parts: their size, and how many of a session.
const (
	maxStaged    = 1<<20 - 1
	maxAllStaged = 128
)

// The times between two looks for a part that is complete.
const (
	shortestStage = time.Millisecond
	longestStage  = 10 * time.Millisecond
)

func procFD(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// stage gives a process a file in memory in place of a part that it opens with some flags. No other call is under way.
func (g *staging) stage(owner *judge, p part, flags int, mode uint32) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	made := p.Mode() == 0
	if made {
		fd, err := unix.Openat(p.dir, p.name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
		if err != nil {
			return err
		}
		unix.Close(fd)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(p.dir, p.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	i := slices.IndexFunc(g.all, func(s *staged) bool { return s.was.Dev == st.Dev && s.was.Ino == st.Ino })
	if i < 0 {
		if g.closed || len(g.all) >= maxAllStaged {
			return unix.EMFILE
		}
		s, err := newStaged(p, st)
		if err != nil {
			return err
		}
		s.owner = owner
		i, g.all = len(g.all), append(g.all, s)
		g.some.Store(true)
		g.watch()
	}
	fd, err := g.all[i].open(flags)
	if err == nil {
		p.Give(fd, made)
	}
	return err
}

// newStaged makes the file in memory for a part.
func newStaged(p part, st unix.Stat_t) (*staged, error) {
	text, err := partText(p)
	if err != nil {
		return nil, err
	}
	memory, err := unix.MemfdCreate(p.name, unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if err == unix.EINVAL { // an older kernel
		memory, err = unix.MemfdCreate(p.name, unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(memory), p.name)
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		return nil, err
	}
	if err := unix.Fchmod(memory, st.Mode&0o7777); err != nil {
		return nil, err
	}
	s := &staged{path: p.Path, git: p.git(), kind: p.kind, name: p.name, was: st, text: text, memory: -1, leased: -1}
	if s.dir, err = unix.FcntlInt(uintptr(p.dir), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, err
	}
	if s.memory, err = unix.FcntlInt(uintptr(memory), unix.F_DUPFD_CLOEXEC, 0); err == nil {
		err = s.readOnly()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.lease()
	return s, nil
}

// lease has who opens the part wait for its text, as far as that can be.
func (s *staged) lease() {
	fd, err := unix.Openat(s.dir, s.name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && st.Dev == s.was.Dev && st.Ino == s.was.Ino && st.Nlink == 1 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err == nil {
			s.leased = fd
			return
		}
	}
	_ = unix.Close(fd)
}

// awaited reports whether somebody waits to open the part.
func (s *staged) awaited() bool {
	if s.leased < 0 {
		return false
	}
	kind, err := unix.FcntlInt(uintptr(s.leased), unix.F_GETLEASE, 0)
	return err != nil || kind != unix.F_WRLCK
}

// release lets the part be opened.
func (s *staged) release() {
	if s.leased >= 0 {
		_ = unix.Close(s.leased) // the lease ends with it
		s.leased = -1
	}
}

// readOnly opens the file in memory for reading alone: then nobody has it open for writing but its writers.
func (s *staged) readOnly() error {
	fd, err := unix.Open(procFD(s.memory), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(s.memory)
		s.memory = fd
	}
	return err
}

// open opens the file in memory for a process that may write the part.
func (s *staged) open(flags int) (int, error) {
	const naming = unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_DIRECT
	var st unix.Stat_t
	if err := unix.Fstat(s.memory, &st); err != nil {
		return -1, err
	}
	_ = unix.Fchmod(s.memory, st.Mode&0o7777|0o600) // the mode of the part was asked already, or it is new
	fd, err := unix.Open(procFD(s.memory), flags&^naming|unix.O_CLOEXEC, 0)
	_ = unix.Fchmod(s.memory, st.Mode&0o7777)
	return fd, err
}

func (s *staged) close() {
	s.release()
	for _, fd := range []int{s.dir, s.memory} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// complete reports whether nobody has the file in memory open for writing.
func (s *staged) complete() bool {
	if _, err := unix.FcntlInt(uintptr(s.memory), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return !errors.Is(err, unix.EAGAIN)
	}
	_, _ = unix.FcntlInt(uintptr(s.memory), unix.F_SETLEASE, unix.F_UNLCK)
	return true
}

// empty reports whether there are none, as in no staging.
func (g *staging) empty() bool { return g == nil || !g.some.Load() }

// ready reports whether a part can come into place.
func (g *staging) ready() bool {
	if g.empty() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.all, func(s *staged) bool { return s.complete() || s.awaited() })
}

// settle has the parts come into place that can. The session's names are locked for writing.
func (g *staging) settle() {
	if g.empty() {
		return
	}
	g.settleThose(func(s *staged) bool {
		if s.complete() {
			return true
		}
		if s.awaited() { // by somebody who reads what there is so far
			g.put(s)
			s.release()
		}
		return false
	})
}

// settleIn does so with those in a directory, whether they are complete or not.
func (g *staging) settleIn(dir string) {
	if !g.empty() {
		g.settleThose(func(s *staged) bool { return agenttool.Within(dir, s.path) })
	}
}

// settleAt does so with the parts that have some names, and reports whether there were any.
func (g *staging) settleAt(parts ...part) bool {
	if g.empty() {
		return false
	}
	return g.settleThose(func(s *staged) bool {
		return slices.ContainsFunc(parts, func(p part) bool {
			dev, ino, err := p.Identity()
			return err == nil && s.was.Dev == dev && s.was.Ino == ino
		})
	})
}

func (g *staging) settleThose(which func(*staged) bool) (any bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = slices.DeleteFunc(g.all, func(s *staged) bool {
		if !which(s) {
			return false
		}
		g.put(s)
		s.close()
		any = true
		return true
	})
	g.some.Store(len(g.all) > 0)
	return any
}

// put brings a text into place, if the name still has the file that it had.
func (g *staging) put(s *staged) {
	var now, memory unix.Stat_t
	if unix.Fstatat(s.dir, s.name, &now, unix.AT_SYMLINK_NOFOLLOW) != nil || now.Dev != s.was.Dev || now.Ino != s.was.Ino || unix.Fstat(s.memory, &memory) != nil {
		return
	}
	content, old := make([]byte, min(memory.Size, maxStaged+1)), []byte(nil)
	n, err := io.NewSectionReader(reader(s.memory), 0, memory.Size).Read(content)
	if err != nil && err != io.EOF {
		n = 0
	}
	content = content[:n]
	if string(content) == string(s.text) && memory.Mode == s.was.Mode {
		return
	}
	switch {
	case s.kind != protect.ConfigPart:
	case s.leased >= 0:
		old = make([]byte, min(now.Size, maxStaged))
		_, _ = reader(s.leased).ReadAt(old, 0)
	default:
		old, _ = protect.ReadPart(s.dir, s.name)
	}
	text, err := s.owner.placed(s, content, old)
	if err != nil {
		if now.Size == 0 {
			_ = unix.Unlinkat(s.dir, s.name, 0) // it was made for the text that does not come
		}
		return
	}
	mode, like := now.Mode, memory
	changed := memory.Mode&0o7777 != s.was.Mode&0o7777 // through the file in memory
	if changed {
		mode = memory.Mode
	}
	if like.Gid = now.Gid; now.Mtim != s.was.Mtim {
		like.Atim, like.Mtim = now.Atim, now.Mtim
	}
	s.text = content
	if s.leased < 0 {
		s.replace(text, mode, &like, changed)
		return
	}
	_ = unix.Ftruncate(s.leased, 0) // the beginning of a harmless text is harmless
	if _, err := unix.Pwrite(s.leased, text, 0); err == nil {
		_ = unix.UtimesNanoAt(unix.AT_FDCWD, procFD(s.leased), []unix.Timespec{like.Atim, like.Mtim}, 0)
		if changed { // else its mode may change meanwhile: no call about modes is judged at level full
			_ = unix.Fchmod(s.leased, mode&0o1777)
		}
	}
}

// replace puts a new file in the place of the part. A mode that the part gets meanwhile is the new file's, too. On a full disk the part stays as it is.
func (s *staged) replace(text []byte, mode uint32, like *unix.Stat_t, changed bool) {
	old, err := unix.Openat(s.dir, s.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(old)
	var st unix.Stat_t
	if protect.Replace(s.dir, s.name, text, mode&0o7777, like) == nil && !changed && unix.Fstat(old, &st) == nil && st.Mode != mode {
		_ = unix.Fchmodat(s.dir, s.name, st.Mode&0o7777, 0)
	}
}

// reader reads an open file.
type reader int

func (r reader) ReadAt(b []byte, at int64) (int, error) {
	n, err := unix.Pread(int(r), b, at)
	if n == 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

// watch has parts come into place when no call does it. The lock is held.
func (g *staging) watch() {
	if g.watches {
		return
	}
	g.watches = true
	g.done.Go(func() { // ends when none is left
		for pause := shortestStage; ; pause = min(2*pause, longestStage) {
			time.Sleep(pause)
			if g.ready() {
				g.names.Lock()
				g.settle()
				g.names.Unlock()
			}
			g.mu.Lock()
			if len(g.all) == 0 {
				g.watches = false
				g.mu.Unlock()
				return
			}
			g.mu.Unlock()
		}
	})
}

// end brings all into place that a command has written, when no process of it is left.
func (g *staging) end(owner *judge) {
	g.names.Lock()
	defer g.names.Unlock()
	g.settleThose(func(s *staged) bool { return s.owner == owner })
}

// close waits for the end of a session whose commands have ended.
func (g *staging) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.names.Lock()
	g.settleThose(func(*staged) bool { return true })
	g.names.Unlock()
	g.done.Wait()
}
