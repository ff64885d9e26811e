// Package sockets names the local sockets of running sessions: a session listens at one, and toolhost approve, jobs, grants and
// settings reload find all of them.
package sockets

import (
	"errors"
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
