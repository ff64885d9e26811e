package workspace

import (
	"os"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
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
	const unknown = "it could not be found out which files hold secrets, so none is read"
	if e := agenttool.Shortage(unknown, err); e != nil {
		return Secrets{}, e
	}
	if err != nil {
		return Secrets{}, agenttool.Failure(agenttool.SetupRequired, "secrets_unknown",
			unknown+": "+err.Error()).Because(err)
	}
	return Secrets{m}, nil
}

// Named reports whether there is a file with that device and inode among the secrets: whether another name of it may be
// read is for SecretNames.File to say.
func (s Secrets) Named(dev, ino uint64) bool {
	if s.m == nil {
		return false
	}
	_, secret := s.m.Identity(dev, ino)
	return secret
}

// Same reports whether the same must not be read.
func (s Secrets) Same(o Secrets) bool {
	return s == o || s.m != nil && o.m != nil && s.m.SameSecrets(o.m)
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

// Denied reports whether the file at a resolved path, which is open and has that device and inode, must not be read.
func (s Secrets) Denied(resolved string, dev, ino uint64) bool {
	if s.m == nil {
		return false
	}
	_, denied := s.m.Secret(resolved, dev, ino)
	return denied
}

// Below says which names in one directory, absolute and resolved, must not be read: Path and File for who asks about many
// names, without a reason.
func (s Secrets) Below(dir string) SecretNames {
	if s.m == nil {
		return SecretNames{}
	}
	return SecretNames{s.m.Below(dir), s.m}
}

// SecretNames are the secrets in one directory. The zero value has none.
type SecretNames struct {
	below protect.Below
	m     *protect.Map // nil: there are no secrets anywhere
}

// Below is what of the names in a directory of this one must not be read.
func (n *SecretNames) Below(name string) SecretNames {
	if n.m == nil {
		return SecretNames{}
	}
	return SecretNames{n.below.Below(name), n.m}
}

// Name reports whether the file of that name must not be read.
func (n *SecretNames) Name(name string) bool {
	if n.m == nil {
		return false
	}
	_, denied := n.below.Secret(name)
	return denied
}

// File reports whether the file of that name, which is open and whose Name may be read, is a secret by another name.
func (n *SecretNames) File(name string, dev, ino uint64) bool {
	if n.m == nil {
		return false
	}
	_, denied := n.m.Identity(dev, ino)
	return denied && !n.below.Granted(name)
}

func secretError(spelling string, rule protect.Rule) error {
	e := agenttool.Failure(agenttool.PermissionDenied, "secret", spelling+" is not read: it holds secrets ("+string(rule)+
		"). Ask the person for what you need of it; names and shapes of settings are often in an example file beside it")
	e.BlockedPath = spelling
	return e
}
