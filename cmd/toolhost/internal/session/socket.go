package session

import (
	"context"
	"net"

	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// personTools are the tools that a person can call at the socket.
var personTools = []string{"shell_output", "shell_kill"}

// Listen opens the socket of a reachable session, once. A person sees its jobs and answers its prompts there.
func (s *Session) Listen() {
	if s.o.Reachable {
		s.listening.Do(s.listen)
	}
}

func (s *Session) listen() {
	l, err := sockets.Listen(s.ID())
	if err != nil {
		s.o.Log("this session cannot be reached with toolhost jobs and toolhost approve: " + err.Error())
		return
	}
	if !s.atClose(l.Close) {
		_ = l.Close()
		return
	}
	go l.Serve(func(conn net.Conn) { // until the listener is closed, with the session
		w := stdio.NewWriter(conn)
		family := native.New(native.Options{
			Host: s.Host, Writer: w, Session: s.ID(), Version: s.o.Version, Sandbox: s.Sandbox.Describe(),
			Person: &native.Person{Tools: personTools, Vet: s.vet(conn), Warnings: s.live.all, Reload: s.Reload},
		})
		_ = stdio.Serve(context.Background(), conn, w, family) // ends with the connection
		family.Leave()
		_ = conn.Close()
		_ = w.Close()
	})
}
