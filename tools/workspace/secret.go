package workspace

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/secret"
	"toolhost/permissions/protect"
)

// Guard makes opening a file fail if secrets forbids to read it, under any path. Without Guard there are no secrets.
// It must be called before the first file is opened.
func (w *Workspace) Guard(secrets func() (*protect.Map, error)) { w.secrets = secrets }

// Secrets holds the files that must not be read, for one call.
type Secrets struct{ m *protect.Map }

// Secrets returns the current secrets. An error means that they are unknown, so that no file may be read.
func (w *Workspace) Secrets() (Secrets, error) {
	if w.secrets == nil {
		return Secrets{}, nil
	}
	m, err := w.secrets()
	const unknown = "it could not be found out which files hold secrets, so none is read"
	if e := agenttool.SystemFailure(unknown, err); e != nil {
		return Secrets{}, e
	}
	if err != nil {
		return Secrets{}, agenttool.Failure(agenttool.SetupRequired, "secrets_unknown",
			unknown+": "+err.Error()).Because(err)
	}
	return Secrets{m}, nil
}

// Named reports whether a secret file has that device and inode. SecretNames.File decides whether another name of it
// may be read.
func (s Secrets) Named(dev, ino uint64) bool {
	if s.m == nil {
		return false
	}
	_, secret := s.m.Identity(dev, ino)
	return secret
}

// Names reports whether a file of that resolved path may be a secret, whatever it holds.
func (s Secrets) Names(resolved string) bool { return s.m != nil && s.m.Names(resolved) }

// Holds reports whether a file of that resolved path and with that content is a secret.
func (s Secrets) Holds(resolved string, content []byte) bool {
	return s.m != nil && s.m.Holds(resolved, content)
}

// Cut reports whether readers see the file of a resolved path, which is a secret, without the lines that hold secrets.
func (s Secrets) Cut(resolved string) bool { return s.m != nil && s.m.Cut(resolved) }

// View returns a file as commands of the sandbox see it: in memory, without the lines and logins that are secrets. It takes f, a file for which
// Cut holds. An error of class permission_denied means that nothing of it is shown: it has another name, is too long, or keeps a secret.
func (s Secrets) View(spelling string, f *os.File) (*os.File, error) {
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: spelling, Err: err}
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Size <= secret.MaxCut && st.Nlink == 1 {
		text, err := io.ReadAll(io.LimitReader(f, secret.MaxCut))
		if err != nil {
			return nil, pathError("read_failed", spelling, err)
		}
		if shown, ok := secret.Cut(text); ok {
			return inMemory(spelling, shown)
		}
	}
	return nil, secretError(spelling, protect.Secret)
}

// Repositories are the git directories that are known.
func (s Secrets) Repositories() []protect.GitDir {
	if s.m == nil {
		return nil
	}
	return s.m.Git
}

// Same reports whether s and o forbid the same files.
func (s Secrets) Same(o Secrets) bool {
	return s == o || s.m != nil && o.m != nil && s.m.SameSecrets(o.m)
}

// Path returns an error of class permission_denied if the file at a resolved path must not be read; spelling is the
// path in the call.
func (s Secrets) Path(spelling, resolved string) error {
	if s.m == nil {
		return nil
	}
	if rule, denied := s.m.Secret(resolved, 0, 0); denied {
		return secretError(spelling, rule)
	}
	return nil
}

// File is Path for an open file, which may be a secret under another name.
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

// Denied reports whether the open file with that device and inode, at a resolved path, must not be read.
func (s Secrets) Denied(resolved string, dev, ino uint64) bool {
	if s.m == nil {
		return false
	}
	_, denied := s.m.Secret(resolved, dev, ino)
	return denied
}

// Below returns the secrets in one directory, absolute and resolved, for callers that check many names and need no
// reason.
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

// Below returns the secrets in the directory name below this one.
func (n *SecretNames) Below(name string) SecretNames {
	if n.m == nil {
		return SecretNames{}
	}
	return SecretNames{n.below.Below(name), n.m}
}

// Name reports whether the file with that name must not be read.
func (n *SecretNames) Name(name string) bool {
	if n.m == nil {
		return false
	}
	_, denied := n.below.Secret(name)
	return denied
}

// File reports whether the open file with that name, which passed Name, is a secret under another name.
func (n *SecretNames) File(name string, dev, ino uint64) bool {
	if n.m == nil {
		return false
	}
	_, denied := n.m.Identity(dev, ino)
	return denied && !n.below.Granted(name)
}

func secretError(spelling string, rule protect.Rule) error {
	e := agenttool.Failure(agenttool.PermissionDenied, "secret", spelling+" is not read: it holds secrets ("+string(rule)+
		"). Ask the user for the values that you need, or for a rule Read("+spelling+"), which opens it; names and shapes of settings are often in an example file beside it").Because(agenttool.ErrSecret)
	e.BlockedPath = spelling
	return e
}

// inMemory returns a file that holds a text and has no name.
func inMemory(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("view", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, wrap("open", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(text)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
