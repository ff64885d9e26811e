package session

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/secret"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/persist/redact"
)

// newRedactor returns the redactor of the session's log. It knows the values of variables with secret-looking names, and of
// the secret files that rules let commands read.
func newRedactor(m *policy.Snapshot) (*redact.Redactor, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	r, err := redact.New(redact.Options{KeyFile: dirs.RedactionKey(state), Rules: m.Redaction})
	if err != nil {
		return nil, err
	}
	learn(r, m)
	return r, nil
}

// learn has the redactor find the secrets that the environment and the settings give to commands.
func learn(r *redact.Redactor, m *policy.Snapshot) {
	for _, entry := range append(os.Environ(), m.Environ...) {
		if name, value, _ := strings.Cut(entry, "="); secret.Variable(name) {
			r.Add("variable", value)
		}
	}
	for _, file := range m.Revealed {
		learnFile(r, file)
	}
}

// maxSecretFile is how much of a secret file is read, in bytes.
const maxSecretFile = 1 << 20

// learnFile has the redactor find the values in a file. It ignores a file that cannot be read: a call that can read it is not one of
// this process.
func learnFile(r *redact.Redactor, path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return
	}
	if content, err := io.ReadAll(io.LimitReader(f, maxSecretFile)); err == nil {
		r.AddFile(content)
	}
}
