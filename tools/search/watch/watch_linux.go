package watch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// changes is what is asked for of a directory.
//
// IN_MODIFY comes before write and truncate return. IN_CLOSE_WRITE repeats most of them, but is the only event of a
// store to a shared mapping, at its end. IN_ATTRIB tells of a file made readable and of time stamps set back; reading
// a file causes none of these, so that a search does not wake itself. IN_CREATE is also a link.
//
// IN_DELETE_SELF is not needed: IN_IGNORED comes, unasked, whenever a directory is removed or unmounted. With
// IN_EXCL_UNLINK writes through a descriptor whose name is gone would be lost, although the file may have another
// name: a hard link, or the one that linkat gave to a file made with O_TMPFILE. IN_DONT_FOLLOW would watch the link
// in /proc itself.
const changes = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// bufferSize holds some hundred events of common names, and at least one of the longest.
const bufferSize = 16 << 10

// Watcher has a set of directories and a queue of what happened in them. It is made by New and is safe for concurrent
// use. The system bounds the queue (fs.inotify.max_queued_events, 16,384 by default); a Watcher holds no memory that
// grows.
type Watcher struct {
	draining sync.Mutex   // held during a Drain, so that none returns while another still tells older events
	using    sync.RWMutex // held for reading by Add and Remove
	fd       int          // -1 once closed, which takes both locks
	buffer   []byte
}

// New returns a Watcher without directories. It fails with ErrLimit when the user, or this process, can have no more.
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

// Add watches the open directory fd, which may be open for its path alone and may be closed afterwards. What happens
// in it from now on is told; an event may be told before the ID is known to the caller, who therefore keeps the ID
// first and lists the directory after that. Errors are ErrLimit, that of a file that is no directory or is not
// readable, and os.ErrClosed.
func (w *Watcher) Add(fd int) (ID, error) {
	w.using.RLock()
	defer w.using.RUnlock()
	if w.fd < 0 {
		return 0, fmt.Errorf("watch a directory: %w", os.ErrClosed)
	}
	// The link in /proc leads to the open directory itself: no path, which others could exchange, is resolved again.
	wd, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(fd), changes)
	if errors.Is(err, unix.ENOSPC) {
		return 0, fmt.Errorf("watch a directory: %w", ErrLimit)
	}
	if err != nil {
		return 0, fmt.Errorf("watch a directory: %w", err)
	}
	return ID(wd), nil // from 1 upwards; the system begins anew only after 2^31
}

// Remove ends the watch of a directory, if there still is one. Events that were queued before are still told, the last
// of them with Gone.
func (w *Watcher) Remove(id ID) {
	w.using.RLock()
	defer w.using.RUnlock()
	if w.fd >= 0 {
		unix.InotifyRmWatch(w.fd, uint32(id)) // fails when the directory is gone, which is as well
	}
}

// Drain tells all events that were queued before the call, in order, and returns without waiting for more: somebody
// who makes changes all the time does not keep it. The function each may call Add and Remove, but neither Drain nor
// Close. ErrOverflow comes after everything that was there has been told. Other errors, os.ErrClosed among them, mean
// too that events may be lost.
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

// queued returns the size of the events that wait.
func queued(fd int) (int, error) {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ) // FIONREAD's name for terminals; the same number
	if err != nil {
		return 0, fmt.Errorf("ask for the number of events: %w", err)
	}
	return n, nil
}

// read fills buffer with whole events and returns their size, 0 when none waits.
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

// Close ends all watches. It waits for a Drain that is under way. Closing twice is harmless.
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
