package watch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// changes is the mask of a directory's watch.
//
// IN_MODIFY comes before write and truncate return. IN_CLOSE_WRITE repeats most of them, but is the only event for
// stores to a shared mapping, when the mapping ends. IN_ATTRIB reports files made readable and timestamps set back.
// Reading a file causes none of these, so a search does not trigger itself. IN_CREATE also covers links.
//
// IN_DELETE_SELF is not needed: the kernel always sends IN_IGNORED when a directory is removed or unmounted.
// IN_EXCL_UNLINK would lose writes through a descriptor whose name was removed, although the file may have another
// name: a hard link, or the name that linkat gave to a file made with O_TMPFILE. IN_DONT_FOLLOW would watch the link
// in /proc itself.
const changes = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// bufferSize holds some hundred events of common names, and at least one of the longest.
const bufferSize = 16 << 10

// Watcher watches a set of directories and queues their events. It is created by New and is safe for concurrent use.
// The kernel bounds the queue (fs.inotify.max_queued_events, 16,384 by default); a Watcher holds no memory that
// grows.
type Watcher struct {
	draining sync.Mutex   // held during a Drain, so that none returns while another still delivers older events
	using    sync.RWMutex // held for reading by Add and Remove
	fd       int          // -1 once closed; Close takes both locks
	buffer   []byte
}

// New returns a Watcher without directories. It fails with ErrLimit when the user or this process reached its limit.
func New() (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return nil, fmt.Errorf("start watching: %w (%w)", ErrLimit, err)
	}
	if err != nil {
		return nil, fmt.Errorf("start watching: %w", err)
	}
	return &Watcher{fd: fd, buffer: make([]byte, bufferSize)}, nil
}

// Add watches the open directory fd, which may be opened with O_PATH and may be closed afterwards. Changes after the
// call are reported. An event may be reported before the caller knows the ID, so callers store the ID first and list
// the directory afterwards. Errors are ErrLimit, the error for a file that is not a directory or is unreadable, and
// os.ErrClosed.
func (w *Watcher) Add(fd int) (ID, error) {
	w.using.RLock()
	defer w.using.RUnlock()
	if w.fd < 0 {
		return 0, fmt.Errorf("watch a directory: %w", os.ErrClosed)
	}
	// The link in /proc leads to the open directory itself: no path is resolved again that other processes could
	// replace.
	wd, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(fd), changes)
	if errors.Is(err, unix.ENOSPC) {
		return 0, fmt.Errorf("watch a directory: %w", ErrLimit)
	}
	if err != nil {
		return 0, fmt.Errorf("watch a directory: %w", err)
	}
	return ID(wd), nil // from 1 upwards; the system starts over only after 2^31
}

// Remove ends the watch of a directory, if one exists. Queued events are still reported, the last of them with Gone.
func (w *Watcher) Remove(id ID) {
	w.using.RLock()
	defer w.using.RUnlock()
	if w.fd >= 0 {
		unix.InotifyRmWatch(w.fd, uint32(id)) // fails if the directory was removed, which is fine
	}
}

// Drain reports all events that were queued before the call, in order, and returns without waiting for more: a
// process that makes changes all the time cannot keep it busy. each may call Add and Remove, but neither Drain nor
// Close. ErrOverflow is returned after all available events were reported. Other errors, including os.ErrClosed, also
// mean that events may be lost.
func (w *Watcher) Drain(each func(Event)) error {
	w.draining.Lock()
	defer w.draining.Unlock()
	if w.fd < 0 {
		return fmt.Errorf("read events: %w", os.ErrClosed)
	}
	n, err := read(w.fd, w.buffer)
	if n == 0 || err != nil {
		return err
	}
	overflow := parse(w.buffer[:n], each)
	rest, err := queued(w.fd)
	for err == nil && rest > 0 {
		if n, err = read(w.fd, w.buffer); n == 0 {
			break
		}
		overflow = parse(w.buffer[:n], each) || overflow
		rest -= n
	}
	if err == nil && overflow {
		err = fmt.Errorf("read events: %w", ErrOverflow)
	}
	return err
}

// queued returns the size of the queued events.
func queued(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ) // FIONREAD's name for terminals; the same number
	if err != nil {
		return 0, fmt.Errorf("ask for the number of events: %w", err)
	}
	return n, nil
}

// read fills buffer with whole events and returns their size, 0 if none is queued.
func read(fd int, buffer []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("read events: %w", err)
		default:
			return n, nil
		}
	}
}

// Close ends all watches. It waits for a running Drain. Closing twice is harmless.
func (w *Watcher) Close() {
	w.draining.Lock()
	defer w.draining.Unlock()
	w.using.Lock()
	defer w.using.Unlock()
	if w.fd >= 0 {
		unix.Close(w.fd)
		w.fd = -1
	}
}
