package main

import (
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"toolhost/host"
	"toolhost/sandbox"
	"toolhost/wire/socket"
	"toolhost/wire/stdio/native"
)

// codeLetters are those of codes: none looks like another one.
const codeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// newCode makes the code of a session: eight letters, which nobody guesses in the few tries that a connection has.
func newCode() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)]
	}
	return string(b[:4]) + "-" + string(b[4:])
}

// needsCode reports whether commands of the session can do what the person can, so that who answers must show the code.
func (s *session) needsCode() bool {
	return s.box.level == sandbox.None && s.box.refusal == nil || s.unconfined.Load()
}

// holdsSettings reports whether commands of the session may be able to change settings: below the full sandbox the names in the workspace
// are not held.
func (s *session) holdsSettings() bool {
	return s.box.level != sandbox.Full || s.unconfined.Load()
}

// vet says whether the process at the other end of a connection may answer prompts: a person at a terminal, and no command of a session.
// In a sandbox the socket cannot be reached; this is what holds where there is none, or a lesser one.
func (s *session) vet(conn net.Conn) func(code string) native.Vetted {
	why, terminal := "who is at the other end is not known", false
	socket.Peer(conn, func(pid int) { why, terminal = suspect(pid), hasTerminal(pid) })
	tries := 0
	return func(code string) native.Vetted {
		switch {
		case why != "":
			return native.Vetted{Why: why}
		case !s.needsCode():
			return native.Vetted{May: true, Scopes: host.Scopes}
		case !terminal:
			return native.Vetted{Why: "commands of this session run without a sandbox, so that answers are taken from a terminal only"}
		case tries >= maxTries:
			return native.Vetted{Why: "too many wrong codes: connect again"}
		case !s.isCode(code):
			if code != "" {
				tries++
			}
			return native.Vetted{NeedsCode: true, Why: "commands of this session run without a sandbox: give the code that the session shows"}
		}
		return native.Vetted{May: true, Scopes: host.Scopes}
	}
}

// How often a code may be wrong on one connection, and how long each takes.
const (
	maxTries  = 5
	codePause = 500 * time.Millisecond
)

func (s *session) isCode(code string) bool {
	if code == "" {
		return false
	}
	right := subtle.ConstantTimeCompare([]byte(bareCode(code)), []byte(bareCode(s.code))) == 1
	if !right {
		time.Sleep(codePause)
	}
	return right
}

func bareCode(code string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(code)))
}

// approvalsNote is what hello tells a client of how prompts are answered where that is more than usual; nil elsewhere.
func (s *session) approvalsNote() map[string]any {
	if !s.needsCode() {
		return nil
	}
	return map[string]any{
		"command": "toolhost approve", "code": s.code,
		"detail": "commands run without a sandbox: they can do what you can and might answer for you, which can be detected and not prevented; " +
			"toolhost approve asks for this code, and changed settings wait for toolhost settings reload",
	}
}

// showCode shows the code to a person who started toolhost in a terminal.
func (s *session) showCode() {
	if s.needsCode() && term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintln(os.Stderr, "toolhost: to answer prompts of this session with toolhost approve, give the code", s.code)
	}
}
