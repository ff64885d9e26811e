package sandbox

import (
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
)

// bind has the helper, which sees what the command sees, give a socket its name. One is asked for at a time, since nothing else uses
// names meanwhile.
func (p *Process) bind(b notify.Binding) error {
	select {
	case <-p.bound: // of one that was given up
	default:
	}
	message := append([]byte{enter.SayBind}, strconv.Itoa(b.Umask)+"\x00"+b.Name...)
	_ = p.control.SetWriteDeadline(time.Now().Add(patience))
	if _, _, err := p.control.WriteMsgUnix(message, unix.UnixRights(b.Socket, b.Dir), nil); err != nil {
		return syscall.EACCES
	}
	select {
	case errno := <-p.bound:
		if errno != 0 {
			return errno
		}
		return nil
	case <-p.gone:
	case <-time.After(patience):
	}
	return syscall.EACCES
}
