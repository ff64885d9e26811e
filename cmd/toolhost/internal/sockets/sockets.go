// Package sockets names the local sockets of running sessions: a session listens at one, and toolhost approve, jobs, grants and
// settings reload find all of them.
package sockets

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/wire/socket"
)

// Suffix ends the names of sockets.
const Suffix = ".sock"

// Newest is the word on the command line for the session whose socket is the newest.
const Newest = "newest"

// GreetTimeout is how long a session may take to answer a greeting, or another request that runs nothing.
const GreetTimeout = 2 * time.Second

// Sweep removes the sockets of sessions that were killed.
func Sweep() {
	for _, dir := range dirs.Sockets() {
		socket.Sweep(dir, Suffix)
	}
}

// Listen opens the socket of a session in the first directory that takes it.
func Listen(id agenttool.SessionID) (l *socket.Listener, err error) {
	for _, dir := range dirs.Sockets() {
		var failed error
		if l, failed = socket.Listen(filepath.Join(dir, name(id))); failed == nil {
			return l, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

// lookAgain is how often a session looks whether it is still reached at its socket.
const lookAgain = 2 * time.Second

// Kept is the socket of a session, which is made again where it is lost: the runtime directory goes at the end of a login, and comes back
// empty with the next.
type Kept struct {
	id   agenttool.SessionID
	with func(net.Conn)
	end  chan struct{}
	done chan struct{}

	now  *socket.Listener   // nil: there is none
	were []*socket.Listener // connections of lost ones go on
}

// Keep opens the socket of a session and serves each connection with a function, until Close. If it cannot be opened, now or when it is made
// again, unreachable is told, once for each time, and it is tried again.
func Keep(id agenttool.SessionID, with func(net.Conn), unreachable func(error)) *Kept {
	k := &Kept{id: id, with: with, end: make(chan struct{}), done: make(chan struct{})}
	told := k.listen(unreachable, false)
	go func() {
		defer close(k.done)
		look := time.NewTicker(lookAgain)
		defer look.Stop()
		for {
			select {
			case <-k.end:
				return
			case <-look.C:
				if k.now == nil || k.now.Lost() {
					told = k.listen(unreachable, told)
				}
			}
		}
	}()
	return k
}

// listen opens the socket in the first directory that takes it. It reports whether that failed.
func (k *Kept) listen(unreachable func(error), told bool) (failed bool) {
	if k.now != nil {
		k.now.Release()
		k.were, k.now = append(k.were, k.now), nil
	}
	l, err := Listen(k.id)
	if err != nil {
		if !told {
			unreachable(err)
		}
		return true
	}
	k.now = l
	go l.Serve(k.with) // until it is released or closed
	return false
}

// Close ends all connections, waits for their handlers, and removes the socket.
func (k *Kept) Close() (err error) {
	close(k.end)
	<-k.done
	if k.now != nil {
		err = k.now.Close()
	}
	for _, l := range k.were {
		err = errors.Join(err, l.Close())
	}
	return err
}

// name is the end of the session's id, which is its random part: the path of a local socket has 107 bytes at most.
func name(id agenttool.SessionID) string {
	name := strings.ToLower(string(id))
	return name[max(0, len(name)-10):] + Suffix
}

// Paths are the sockets in those of dirs that belong to this user.
func Paths(dirs []string) []string {
	var paths []string
	for _, dir := range dirs {
		if socket.Own(dir) != nil {
			continue // it does not exist, or another user owns it
		}
		entries, _ := os.ReadDir(dir) // one that went away has none
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), Suffix) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths
}

// Made is when a socket was made; the zero time for none.
func Made(path string) (t time.Time) {
	if info, err := os.Lstat(path); err == nil {
		t = info.ModTime()
	}
	return t
}

// Matches reports whether the end of a session's id is the one that a person gave, in either case. An empty end matches all.
func Matches(id, end string) bool {
	return strings.HasSuffix(strings.ToLower(id), strings.ToLower(end))
}
