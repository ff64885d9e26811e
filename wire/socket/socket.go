// Package socket lets the person at the machine reach a running session, from another terminal.
//
// A session listens on a local socket that only its user can connect to: the file has mode 0600, in a directory of mode 0700,
// and the package also checks the user of each peer with the kernel. The protocol on a connection is not this package's
// concern.
//
//	l, err := socket.Listen(path)
//	go l.Serve(func(conn net.Conn) { … })
//	…
//	l.Close()
package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// maxConnections is how many peers are served at once. Others are turned away.
const maxConnections = 16

const acceptPause = 50 * time.Millisecond // after a connection that could not be taken

// Listener is a session's socket.
type Listener struct {
	unix *net.UnixListener
	path string
	file os.FileInfo // of the socket, as it was made

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
	served sync.WaitGroup
}

// Listen makes the socket at path, with its directory. It replaces a socket without a listener. The error names the
// obstacle.
func Listen(path string) (*Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := Own(dir); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	if abandoned(path) {
		_ = os.Remove(path)
	} else if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s is somebody else's", path)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil { // until here the mode of the directory keeps other users out
		l.Close()
		return nil, err
	}
	file, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, err
	}
	return &Listener{unix: l, path: path, file: file, open: map[net.Conn]bool{}}, nil
}

// Lost reports whether nobody reaches the socket by its path any more: the file was removed, or its directory was, as a runtime directory is
// at the end of a login.
func (l *Listener) Lost() bool {
	now, err := os.Lstat(l.path)
	return err != nil || !os.SameFile(now, l.file)
}

// Release takes no further connections, and leaves the file at the path alone: it is another one's. The connections of now go on until Close.
func (l *Listener) Release() {
	l.unix.SetUnlinkOnClose(false)
	_ = l.unix.Close()
}

// Own refuses a directory of another user, who could have put anything into it.
func Own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a directory of this user", dir)
	}
	return nil
}

// Serve serves each peer of the same user in a goroutine of its own, until the listener is closed. handle returns when the
// connection ends.
func (l *Listener) Serve(handle func(net.Conn)) {
	for {
		conn, err := l.unix.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // there is no descriptor left, for instance
			time.Sleep(acceptPause)
			continue
		}
		if !sameUser(conn) || !l.add(conn) {
			conn.Close()
			continue
		}
		go func() {
			defer l.remove(conn)
			handle(conn)
		}()
	}
}

func (l *Listener) add(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.open) >= maxConnections {
		return false
	}
	l.open[conn] = true
	l.served.Add(1)
	return true
}

func (l *Listener) remove(conn net.Conn) {
	conn.Close()
	l.mu.Lock()
	delete(l.open, conn)
	l.mu.Unlock()
	l.served.Done()
}

// Close ends all connections, waits for their handlers, and removes the socket.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	for conn := range l.open {
		_ = conn.Close()
	}
	l.mu.Unlock()
	err := l.unix.Close()              // and removes the file
	if errors.Is(err, net.ErrClosed) { // Release did that
		err = nil
	}
	l.served.Wait()
	return err
}

// Dial connects to the session that listens at path. It removes a socket without a listener; the error is then
// os.ErrNotExist.
func Dial(path string) (net.Conn, error) {
	conn, err := net.Dial("unix", path)
	if errors.Is(err, syscall.ECONNREFUSED) {
		if abandoned(path) {
			_ = os.Remove(path)
		}
		return nil, os.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if !sameUser(conn.(*net.UnixConn)) {
		conn.Close()
		return nil, fmt.Errorf("%s is another user's", path)
	}
	return conn, nil
}
