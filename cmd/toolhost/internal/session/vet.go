package session

import (
	"errors"
	"net"
	"os"
	"os/user"
	"strconv"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/caller"
	"toolhost/cmd/toolhost/internal/code"
	"toolhost/host/prompt"
	"toolhost/sandbox"
	"toolhost/wire/socket"
	"toolhost/wire/stdio/native"
)

// needsCode reports whether answers need the code, because commands of the session have all rights of the person.
func (s *Session) needsCode() bool {
	return s.Sandbox.Level == sandbox.None && s.Sandbox.Refusal == nil || s.unconfined.Load()
}

// holdsSettings reports whether commands of the session may be able to change settings, so that changed settings wait for the person.
// Below the full sandbox the files of settings in the workspace are not protected.
func (s *Session) holdsSettings() bool {
	return s.Sandbox.Level != sandbox.Full || s.unconfined.Load()
}

// vet says whether the process at the other end of a connection may answer prompts: a person at a terminal, and no command of a session.
// The full sandbox hides the socket; below it this check is the only one.
func (s *Session) vet(conn net.Conn) func(code string) native.PeerVerdict {
	why, by := "the process at the other end is not known", agenttool.Answerer{}
	socket.Peer(conn, func(pid int) {
		why, by = caller.Suspect(pid), agenttool.Answerer{User: UserName(), Terminal: caller.Terminal(pid), Client: "toolhost approve"}
	})
	tries := 0
	return func(code string) native.PeerVerdict {
		switch {
		case why != "":
			return native.PeerVerdict{Why: why}
		case !s.needsCode():
			return native.PeerVerdict{May: true, Scopes: prompt.Scopes, By: by}
		case by.Terminal == "":
			return native.PeerVerdict{Why: "commands of this session run without a sandbox, so that answers are taken from a terminal only"}
		case tries >= maxTries:
			return native.PeerVerdict{Why: "too many wrong codes: connect again"}
		case !s.isCode(code):
			if code != "" {
				tries++
			}
			return native.PeerVerdict{NeedsCode: true, Why: "commands of this session run without a sandbox: give the code that the session shows"}
		}
		return native.PeerVerdict{May: true, Scopes: prompt.Scopes, By: by}
	}
}

// UserName is the name of the user whose process this is, or the number if it has no name.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// loosens vets the code for a looser mode, for one connection: a person has to look at the session. It is shown where toolhost was started, on
// the terminal or in the log of the client, and to no command.
func (s *Session) loosens() func(code string, m agenttool.Mode) error {
	tries := 0
	return func(code string, m agenttool.Mode) error {
		switch {
		case tries >= maxTries:
			return errors.New("too many tries: connect again")
		case code == "":
			tries++
			s.o.Log("toolhost approve asks for mode " + string(m) + " in session " + string(s.ID()) + ": the code is " + s.code)
			return errors.New("mode " + string(m) + " is looser: it takes the code that the session now shows where it was started, on the terminal or in the log of its client")
		case !s.isCode(code):
			tries++
			return errors.New("that is not the code of this session")
		}
		return nil
	}
}

// How many wrong codes a connection may send, and how long each takes.
const (
	maxTries  = 5
	codePause = 500 * time.Millisecond
)

func (s *Session) isCode(typed string) bool {
	if typed == "" {
		return false
	}
	right := code.Is(s.code, typed)
	if !right {
		time.Sleep(codePause)
	}
	return right
}

// ApprovalsNote tells a client, with the greeting, that answers need the code; nil where they do not.
func (s *Session) ApprovalsNote() map[string]any {
	if !s.needsCode() {
		return nil
	}
	return map[string]any{
		"command": "toolhost approve", "code": s.code,
		"detail": "commands run without a sandbox: they can do what you can and might answer for you, which can be detected and not prevented; " +
			"toolhost approve asks for this code, and changed settings wait for toolhost settings reload",
	}
}

// Code is the code that proves that a person sees this session; "" if none is needed, because no command can act for
// the person.
func (s *Session) Code() string {
	if !s.needsCode() {
		return ""
	}
	return s.code
}
