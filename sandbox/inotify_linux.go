package sandbox

import (
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inotify reports new names in directories. (fsnotify can panic when directories are replaced while they are watched, and
// watching for such replacements is the purpose here.)
type inotify struct {
	file *os.File

	mu   sync.Mutex
	dirs map[int32]map[string]bool // paths by watch: a directory may have had two names
}

func newInotify() (*inotify, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	return &inotify{file: os.NewFile(uintptr(fd), "inotify"), dirs: map[int32]map[string]bool{}}, nil
}

// add watches a directory, whatever is at the path now.
func (n *inotify) add(dir string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	const what = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW
	return n.control(func(fd int) error {
		wd, err := unix.InotifyAddWatch(fd, dir, what)
		if err != nil {
			return os.NewSyscallError("inotify_add_watch", err)
		}
		if n.dirs[int32(wd)] == nil {
			n.dirs[int32(wd)] = map[string]bool{}
		}
		n.dirs[int32(wd)][dir] = true
		return nil
	})
}

// remove forgets a path. The watch goes with the last one that it has.
func (n *inotify) remove(dir string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for wd, paths := range n.dirs {
		delete(paths, dir)
		if len(paths) > 0 {
			continue
		}
		delete(n.dirs, wd)
		_ = n.control(func(fd int) error { // one that went with its directory is an error
			_, err := unix.InotifyRmWatch(fd, uint32(wd))
			return err
		})
	}
}

func (n *inotify) control(do func(fd int) error) error {
	raw, err := n.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// follow calls seen for each path that came into being, with "" where some may have been missed, until the end.
func (n *inotify) follow(seen func(path string)) {
	buffer := make([]byte, 64<<10)
	for {
		size, err := n.file.Read(buffer)
		if err != nil {
			return // closed
		}
		for at := 0; at+unix.SizeofInotifyEvent <= size; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&buffer[at]))
			at += unix.SizeofInotifyEvent
			end := min(at+int(e.Len), size)
			name := unix.ByteSliceToString(buffer[at:end])
			at = end
			if e.Mask&unix.IN_Q_OVERFLOW != 0 {
				seen("")
			}
			for _, dir := range n.paths(e) {
				seen(filepath.Join(dir, name))
			}
		}
	}
}

// paths are those of the directory of an event. The last event of a removed directory removes them.
func (n *inotify) paths(e *unix.InotifyEvent) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.Mask&unix.IN_IGNORED != 0 {
		delete(n.dirs, e.Wd)
		return nil
	}
	var all []string
	for dir := range n.dirs[e.Wd] {
		all = append(all, dir)
	}
	return all
}

func (n *inotify) close() { _ = n.file.Close() }
