package sandbox

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
)

// shownNames are the names that helpers made in the places of a session, with how many commands use each. The zero value has none.
type shownNames struct {
	mu    sync.Mutex
	users map[string]int
}

func (n *shownNames) take(path string) {
	if n.users == nil {
		n.users = map[string]int{}
	}
	n.users[path]++
}

// drop gives up a command's use of a name in a place. The last one has the name removed.
func (n *shownNames) drop(s *Session, path string, number int, place string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.users[path]--; n.users[path] > 0 {
		return
	}
	delete(n.users, path)
	if h, err := s.hold(); err == nil {
		_, _ = h.say(enter.DropName, enter.BuildPlace(number)+"\x00"+path[len(place)+1:]) // it ends with the session
	}
}

// tree is a detached, writable copy of the host's mount at a path.
func (h *holder) tree(of identity) (*os.File, error) {
	args := of.args()
	f, err := h.say(enter.CloneTree, args[0]+"\x00"+args[1]+"\x00"+args[2])
	if err == nil && f == nil {
		err = errors.New("no tree")
	}
	return f, err
}

// say sends the holder a message without descriptors and reads the answer.
func (h *holder) say(flags byte, text string) (*os.File, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := h.socket.Write(append([]byte{flags}, text...)); err != nil {
		return nil, h.lost(err)
	}
	f, err := h.answer()
	return f, h.lost(err)
}

// show has the helper mount a tree at a path, for whose name a place, if there is one, has room.
func (h *helper) show(path, place string, tree *os.File, gone <-chan struct{}) error {
	h.lending.Lock()
	defer h.lending.Unlock()
	select {
	case <-h.lent: // the answer to one that timed out
	default:
	}
	message := append([]byte{enter.SayShow}, path+"\x00"+place...)
	_ = h.control.SetWriteDeadline(time.Now().Add(coverPatience))
	if _, _, err := h.control.WriteMsgUnix(message, unix.UnixRights(int(tree.Fd())), nil); err != nil {
		return err
	}
	switch errno, ok := h.await(h.lent, gone); {
	case !ok:
		return os.ErrDeadlineExceeded
	case errno != 0:
		return syscall.Errno(errno)
	}
	return nil
}
