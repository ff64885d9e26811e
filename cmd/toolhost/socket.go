package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"

	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// served are the tools that the person has at the socket.
var served = []string{"shell_output", "shell_kill"}

// listen opens the session's socket, once, by which its person sees its jobs and answers its prompts.
func listen() func(*session) {
	var once sync.Once
	return func(s *session) { once.Do(func() { listenOn(s) }) }
}

func listenOn(s *session) {
	l, err := sockets.Listen(s.store.ID())
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
