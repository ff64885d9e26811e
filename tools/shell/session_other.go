//go:build !linux

package shell

import (
	"syscall"
	"time"
)

// session is the process group of a command: elsewhere than on Linux no more of it is found. The leader is reaped
// when it has exited; its number stays taken while a process of the group lives.
type session struct{ leader int }

func newSession(p *process, _ time.Time) *session { return &session{leader: p.Pid} }

// signal sends sig to the group.
func (s *session) signal(sig syscall.Signal) { _ = syscall.Kill(-s.leader, sig) }

// alive reports whether the group has a process.
func (s *session) alive() bool { return syscall.Kill(-s.leader, 0) == nil }

// end kills what is still left when patience is over. The names are not known, nor how many there were beyond the
// first.
func (s *session) end(patience time.Duration) []string {
	for over := time.Now().Add(patience); s.alive() && time.Now().Before(over); {
		time.Sleep(time.Millisecond)
	}
	if syscall.Kill(-s.leader, syscall.SIGKILL) != nil {
		return nil
	}
	return []string{"a process"}
}

// namesBelow finds nobody.
func namesBelow(int) []string { return nil }
