package main

import (
	"context"
	"path/filepath"
	"time"

	"toolhost/agenttool"
	"toolhost/protect"
	"toolhost/sandbox"
)

// maxTripped is how many reports of the tripwire a session keeps for viewers that come later.
const maxTripped = 20

// tripped tells the person of a protected name that was changed: those who look on now, those who come later, and the log.
func (s *session) tripped(v sandbox.Violation) {
	message := v.String()
	s.live.mu.Lock()
	s.live.reports = append(s.live.reports, message)
	s.live.reports = s.live.reports[max(0, len(s.live.reports)-maxTripped):]
	s.live.mu.Unlock()
	s.host.Tripped(message)
}

// writing notes a file that a tool is about to change. If that makes a git directory, what runs in it is put aside when it is done, but
// for the file itself, which the decision showed.
func (s *session) writing(path string) (done func()) {
	s.box.names.Allow(path)
	dir, completes := protect.Completes(path)
	return func() {
		if completes {
			s.putAside(dir, path)
		}
	}
}

// putAside puts aside what runs in a new git directory, but for one file, and says so.
func (s *session) putAside(dir, shown string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.box.names.Invalidate()
	m, err := s.box.names.Map(ctx)
	v := sandbox.Violation{
		Wall: sandbox.Changed, Path: dir, Rule: string(protect.VCSConfig), Certain: true, Detail: "is a repository that a call made by writing " + filepath.Base(shown),
	}
	if err == nil {
		var done protect.Aside
		done, err = m.PutAside(protect.GitDir{Path: dir}, func(name, _ string) bool {
			return agenttool.Within(dir, shown) && filepath.Base(shown) == name
		})
		if !done.Empty() {
			v.Detail += ": " + done.String() + " are out of use until a person allows them with toolhost trust"
		}
	}
	if err != nil {
		v.Detail += ", and may run programs that the call chose: " + err.Error()
	}
	s.tripped(v)
}
