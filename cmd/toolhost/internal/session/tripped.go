package session

import (
	"context"
	"path/filepath"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox"
)

// tripped reports a protected name that was changed: to the clients of now, to those that connect later, and in the log.
func (s *Session) tripped(v sandbox.Violation) {
	message := v.String()
	s.live.report(message)
	s.Host.Tripped(message)
}

// writing records that a tool is about to change a file. If the change completes a git directory, done puts the programs in it aside,
// except for the file itself, which the decision showed.
func (s *Session) writing(path string) (done func()) {
	s.Sandbox.Names.Allow(path)
	dir, completes := protect.Completes(path)
	return func() {
		if completes {
			s.putAside(dir, path)
		}
	}
}

// putAside puts the programs in a new git directory aside, except for one file, and reports it.
func (s *Session) putAside(dir, shown string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.Sandbox.Names.Invalidate()
	m, err := s.Sandbox.Names.Map(ctx)
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
