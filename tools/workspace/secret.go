package workspace

import (
	"os"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/protect"
)

// Guard makes every file that secrets says must not be read an error, whatever path leads to it. Without it nothing is
// a secret. It is called before the first file is opened.
func (w *Workspace) Guard(secrets func() (*protect.Map, error)) { w.secrets = secrets }

// Secrets says what must not be read, for one call.
type Secrets struct{ m *protect.Map }

// Secrets returns what must not be read now. An error means that it is not known, and so that nothing may be read.
func (w *Workspace) Secrets() (Secrets, error) {
	if w.secrets == nil {
		return Secrets{}, nil
	}
	m, err := w.secrets()
	if err != nil {
		return Secrets{}, agenttool.Failure(agenttool.SetupRequired, "secrets_unknown",
			"it could not be found out which files hold secrets, so none is read: "+err.Error()).Because(err)
	}
	return Secrets{m}, nil
}

// Path returns an error of class permission_denied if what is at a resolved path must not be read; spelling is what the
// call called it.
func (s Secrets) Path(spelling, resolved string) error {
	if s.m == nil {
		return nil
	}
	if rule, denied := s.m.Secret(resolved, 0, 0); denied {
		return secretError(spelling, rule)
	}
	return nil
}

// File is Path for a file that is open: it may be a secret by another name.
func (s Secrets) File(spelling, resolved string, f *os.File) error {
	if s.m == nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return &os.PathError{Op: "stat", Path: spelling, Err: err}
	}
	if rule, denied := s.m.Secret(resolved, uint64(st.Dev), st.Ino); denied {
		return secretError(spelling, rule)
	}
	return nil
}

func secretError(spelling string, rule protect.Rule) error {
	e := agenttool.Failure(agenttool.PermissionDenied, "secret", spelling+" is not read: it holds secrets ("+string(rule)+
		"). Ask the person for what you need of it; names and shapes of settings are often in an example file beside it")
	e.BlockedPath = spelling
	return e
}
