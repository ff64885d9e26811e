package shell

import (
	"maps"
	"slices"
	"syscall"
	"time"
)

// brief is how long a command may have run for the search for what it left to look only at the process numbers
// that were given out since it started: a few, where the whole table may be thousands. Numbers are given out in
// order and start over at 32,768 or more, so that no machine gets round in this time.
const brief = 500 * time.Millisecond

// killed processes have this long to be gone; on an idle machine it is one round.
const killTime = 500 * time.Millisecond

// session finds and ends the processes of a command: those of its session, whatever group they are in (timeout and
// set -m make their own), and those that were seen to descend from it. Its leader is alive or a zombie, which
// keeps its number: every process that names it as its session is the command's.
type session struct {
	leader  int
	started time.Time
	escaped map[int]task // descendants in sessions of their own, by pid
}

func newSession(p *process, started time.Time) *session {
	return &session{leader: p.Pid, started: started, escaped: map[int]task{}}
}

// signal sends sig to all processes of the session and to all that descend from its leader.
func (s *session) signal(sig syscall.Signal) {
	all := s.tree(table()) // before anybody dies: orphans have another parent
	_ = syscall.Kill(-s.leader, sig)
	for _, t := range all {
		if t.group != s.leader {
			t.signal(sig)
		}
	}
}

// alive reports whether a process other than the leader is left.
func (s *session) alive() bool { return len(s.left()) > 0 }

// left are the living processes other than the leader.
func (s *session) left() []task { return append(s.members(s.candidates()), s.tree(nil)...) }

// end kills what is still left when patience is over, and returns the names of what it killed.
func (s *session) end(patience time.Duration) []string {
	left := s.left()
	for over := time.Now().Add(patience); len(left) > 0 && time.Now().Before(over); left = s.left() {
		time.Sleep(time.Millisecond) // nothing tells when somebody else's child has died
	}
	killed := map[int]string{}
	for over := time.Now().Add(killTime); ; left = s.left() {
		_ = syscall.Kill(-s.leader, syscall.SIGKILL) // at once, with no way to fork out of it
		for _, t := range left {
			killed[t.pid] = t.name
			if t.group != s.leader {
				t.signal(syscall.SIGKILL)
			}
		}
		if len(left) == 0 || time.Now().After(over) {
			break
		}
		time.Sleep(time.Millisecond) // a killed process needs a moment until it notices
	}
	return slices.Sorted(maps.Values(killed))
}

// namesBelow are the names of the living processes that descend from pid.
func namesBelow(pid int) []string {
	s := &session{leader: pid, escaped: map[int]task{}}
	var names []string
	for _, t := range s.tree(table()) {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// members are the living processes of the session and of the leader's group, without the leader.
func (s *session) members(tasks []task) []task {
	return slices.DeleteFunc(tasks, func(t task) bool {
		return t.dead || t.pid == s.leader || (t.session != s.leader && t.group != s.leader)
	})
}

// tree adds the descendants of the leader that have a session of their own to those that are known already, and
// returns the members in tasks and all that escaped and live.
func (s *session) tree(tasks []task) []task {
	descends := map[int]bool{s.leader: true}
	for grown := true; grown; { // a parent may come after its child in the table
		grown = false
		for _, t := range tasks {
			ours := t.session == s.leader || t.group == s.leader || descends[t.parent] || s.escaped[t.pid].same(t)
			if ours && !descends[t.pid] {
				descends[t.pid], grown = true, true
				if t.session != s.leader && t.group != s.leader {
					s.escaped[t.pid] = t
				}
			}
		}
	}
	living := s.members(tasks)
	for pid, t := range s.escaped {
		if now, ok := readTask(pid); ok && !now.dead && now.same(t) {
			living = append(living, now)
		}
	}
	return living
}

// candidates are the processes that may have come from the leader.
func (s *session) candidates() []task {
	last, ok := lastPID()
	if !ok || last < s.leader || time.Since(s.started) > brief {
		return table()
	}
	var tasks []task
	for pid := s.leader + 1; pid <= last; pid++ {
		if t, ok := readTask(pid); ok && !isThread(pid) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}
