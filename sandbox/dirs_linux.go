package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/remove"
)

// dirs are a session's own directories. The session's is locked for as long as it is in use: see claim.
type dirs struct {
	own         identity // the session's directory: the parent of the others
	tmp, varTmp identity // shown as /tmp and /var/tmp
	private     identity // TMPDIR of commands that write nothing else, where they cannot have one in memory
	cache       identity
	lock        *os.File
	swept       *sync.WaitGroup // of the directories that killed sessions left
}

// stageName is the directory of [Session.Stage] in the session's.
const stageName = "stage"

// make makes the session's own directories. After a failure nothing is left of them.
func (d *dirs) make(dir, cache string) error {
	lock, err := claim(dir)
	if err != nil {
		return err
	}
	d.swept = new(sync.WaitGroup)
	d.sweep(filepath.Dir(dir), dir)
	d.lock, d.own.path = lock, dir
	if err := d.fill(dir, cache); err != nil {
		_ = d.remove()
		return err
	}
	return nil
}

// lost reports whether one of the directories is not where it was made any more.
func (d *dirs) lost() bool {
	for _, at := range d.list(d.own.path, d.cache.path) {
		var st unix.Stat_t
		if unix.Lstat(at.path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || at.id != nil && (uint64(st.Dev) != at.id.dev || st.Ino != at.id.ino) {
			return true
		}
	}
	return false
}

// makeAgain makes the directories that somebody removed. It fails where a link or another user's directory has taken the name.
func (d *dirs) makeAgain() error {
	var st unix.Stat_t
	if unix.Lstat(d.own.path, &st) != nil || st.Ino != d.own.ino {
		lock, err := claim(d.own.path)
		if err != nil {
			return err
		}
		d.lock.Close()
		d.lock = lock
	}
	all := d.list(d.own.path, d.cache.path)
	for _, at := range all {
		if err := ours(at.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: remove it", err)
		}
	}
	return fill(all)
}

// ownDir is a directory of a session.
type ownDir struct {
	id   *identity
	path string
	open bool // as /tmp is
}

func (d *dirs) fill(dir, cache string) error { return fill(d.list(dir, cache)) }

// list are the directories, parents first. Those of a session without a sandbox have no cache.
func (d *dirs) list(dir, cache string) []ownDir {
	all := []ownDir{{&d.own, dir, false}, {nil, filepath.Join(dir, stageName), false}}
	if cache == "" {
		return all
	}
	return append(all, []ownDir{
		{&d.tmp, filepath.Join(dir, "tmp"), true},
		{&d.varTmp, filepath.Join(dir, "var-tmp"), true},
		{nil, filepath.Join(dir, "tmp", ".cache"), false}, // a place for the caches
		{&d.private, filepath.Join(dir, "private"), false},
		{&d.cache, cache, false},
	}...)
}

func fill(all []ownDir) error {
	for _, made := range all {
		if err := os.MkdirAll(made.path, 0o700); err != nil {
			return err
		}
		if made.id == nil {
			continue
		}
		var err error
		if *made.id, err = identify(made.path); err != nil {
			return err
		}
		if made.open {
			if err := os.Chmod(made.path, os.ModeSticky|0o777); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepPatience is how long the end of a session waits for its removals.
const sweepPatience = 2 * time.Second

// remove removes the session's directory, and waits for sweep.
func (d *dirs) remove() error {
	defer d.lock.Close()
	err := remove.All(d.own.path)
	swept := make(chan struct{})
	go func() {
		d.swept.Wait()
		close(swept)
	}()
	select {
	case <-swept:
	case <-time.After(sweepPatience): // the next session goes on
	}
	return err
}

// claim makes and locks the directory of a session. Another host may take a directory for abandoned that is just being made; then
// it is made again.
func claim(dir string) (lock *os.File, err error) {
	all := filepath.Dir(dir)
	for _, above := range []string{filepath.Dir(all), all} { // no link of another user is followed
		if err := os.MkdirAll(above, 0o700); err != nil {
			return nil, err
		}
		if err := ours(above); err != nil {
			return nil, err
		}
	}
	err = retryTaken(func() error {
		lock, err = lockedDir(dir)
		return err
	})
	return lock, err
}

// retryTaken calls lock until it returns another error than errTaken, 100 times at most.
func retryTaken(lock func() error) (err error) {
	for range 100 {
		if err = lock(); !errors.Is(err, errTaken) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// errTaken says that a directory is locked, or was removed before it was.
var errTaken = errors.New("another process has locked it")

// lockedDir makes, opens and locks a directory.
func lockedDir(path string) (*os.File, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	f, err := openLocked(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errTaken
	}
	return f, err
}

// openLocked opens and locks a directory that is still in its place then.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errTaken
	}
	if err == nil {
		held, _ := f.Stat()
		if there, lost := os.Lstat(path); lost != nil || held == nil || !os.SameFile(held, there) {
			err = errTaken
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes the directories beside keep that no process has locked, and those of probes: a host that was killed left them. It does
// not wait for that. The next session tries again where it fails.
func (d *dirs) sweep(all, keep string) {
	d.swept.Go(func() {
		for _, place := range slices.Concat(probePlaces, []string{filepath.Dir(all)}) {
			sweepProbes(place)
		}
	})
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		path := filepath.Join(all, e.Name())
		if path == keep {
			continue
		}
		if abandoned, err := openLocked(path); err == nil {
			d.swept.Go(func() {
				defer abandoned.Close()
				removeNoted(filepath.Join(path, stageName))
				_ = remove.All(path)
			})
		}
	}
}

// removeNoted removes the files to which the links of a stage lead, if they have the link's name and are this user's: a killed host
// left them. The name cannot be guessed, so no other file has it.
func removeNoted(stage string) {
	entries, _ := os.ReadDir(stage)
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(stage, e.Name()))
		if err != nil || !filepath.IsAbs(target) || filepath.Base(target) != e.Name() {
			continue
		}
		info, err := os.Lstat(target)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
			_ = os.Remove(target)
		}
	}
}

// ours reports a directory that is a link or belongs to another user.
func ours(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a directory of this user", dir)
	}
	return nil
}

// probePlaces are the directories for temporary files that probes use.
var probePlaces = []string{"/tmp", "/var/tmp"}

// sweepProbes removes directories of probes that did not remove them: the host was killed, or the disk failed. A running probe has
// locked its directory.
func sweepProbes(parent string) {
	entries, _ := os.ReadDir(parent)
	for _, e := range entries {
		path := filepath.Join(parent, e.Name())
		if !strings.HasPrefix(e.Name(), probePrefix) || ours(path) != nil {
			continue
		}
		if lock, err := openLocked(path); err == nil {
			_ = remove.All(path)
			lock.Close()
		}
	}
}

// probeDir makes and locks a directory for a probe. A sweep can remove it before it is locked; then another one is made.
func probeDir(parent string) (dir string, lock *os.File, err error) {
	err = retryTaken(func() error {
		if dir, err = os.MkdirTemp(parent, probePrefix); err != nil {
			return err
		}
		lock, err = openLocked(dir)
		if errors.Is(err, os.ErrNotExist) {
			return errTaken
		}
		if err != nil {
			_ = os.Remove(dir)
		}
		return err
	})
	return dir, lock, err
}

// probePrefix begins the names of directories of probes.
const probePrefix = "toolhost-probe-"
