package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/wire/socket"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// runtimeDirs are where the sockets of live sessions can be, the best first: in $XDG_RUNTIME_DIR, else /run/user/UID; in the state
// directory; and where all of these have names that are too long for a socket, in a directory of this user in /tmp.
func runtimeDirs() []string {
	var dirs []string
	if dir := userRuntimeDir(); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "toolhost"))
	}
	if state, err := stateDir(); err == nil {
		dirs = append(dirs, filepath.Join(state, "run"))
	}
	return append(dirs, filepath.Join("/tmp", "toolhost-"+strconv.Itoa(os.Getuid())))
}

// userRuntimeDir is where the sockets of the person's programs are: $XDG_RUNTIME_DIR, else /run/user/UID; "" if there is none.
func userRuntimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return dir
	}
	if dir := filepath.Join("/run/user", strconv.Itoa(os.Getuid())); isDir(dir) {
		return dir
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// socketSuffix is that of the sockets in the runtime directories.
const socketSuffix = ".sock"

// socketName is what the socket of a session is called. The path of a local socket has 107 bytes at most, so that it is the end of
// the id, which is the random part.
func socketName(id agenttool.SessionID) string {
	name := strings.ToLower(string(id))
	return name[max(0, len(name)-10):] + socketSuffix
}

// listenAt opens the socket of a session in the first directory that takes it.
func listenAt(id agenttool.SessionID) (l *socket.Listener, err error) {
	for _, dir := range runtimeDirs() {
		var failed error
		if l, failed = socket.Listen(filepath.Join(dir, socketName(id))); failed == nil {
			return l, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

// served are the tools that the person has at the socket.
var served = []string{"shell_output", "shell_kill"}

// listen opens the session's socket, once, by which its person sees its jobs and answers its prompts.
func listen() func(*session) {
	var once sync.Once
	return func(s *session) { once.Do(func() { listenOn(s) }) }
}

func listenOn(s *session) {
	l, err := listenAt(s.store.ID())
	if err != nil {
		fmt.Fprintln(os.Stderr, "toolhost: this session cannot be reached with toolhost jobs and toolhost approve:", err)
		return
	}
	if !s.atClose(l.Close) {
		_ = l.Close()
		return
	}
	go l.Serve(func(conn net.Conn) { // until the listener is closed, with the session
		w := stdio.NewWriter(conn)
		family := native.New(native.Options{
			Host: s.host, Writer: w, Session: s.store.ID(), Version: version(), Sandbox: s.box.describe(),
			Person: &native.Person{Tools: served, Vet: s.vet(conn), Warnings: s.live.told, Reload: func() error { return s.live.release(s) }},
		})
		_ = stdio.Serve(context.Background(), conn, w, family) // ends with the connection
		family.Leave()
		_ = conn.Close()
		_ = w.Close()
	})
}

// seenFile is what toolhost approve touches while it runs.
const seenFile = "approve.seen"

// recently is how long ago somebody who answers may have been there.
const recently = 24 * time.Hour

// somebodyAnswers reports whether toolhost approve ran within a day.
func somebodyAnswers() bool {
	state, err := stateDir()
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(state, seenFile))
	return err == nil && time.Since(info.ModTime()) < recently
}
