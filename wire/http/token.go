package http

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

const (
	minToken     = 16 // characters; less can be tried out
	maxTokenFile = 4096
)

// NewToken returns a token that cannot be guessed: 52 letters and digits, 256 bits.
func NewToken() string { return rand.Text() + rand.Text() }

// ReadTokenFile returns the token in a file, without blanks around it. The file must belong to this user with mode 0600,
// so that other users of the machine cannot use the token. The error names the remedy.
func ReadTokenFile(path string) (string, error) {
	text, err := readSecret(path, maxTokenFile)
	token := strings.TrimSpace(string(text))
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("%w: write a token of at least %d characters to it, with mode 0600", err, minToken)
	case err == nil:
		err = checkToken(token)
	}
	if err != nil {
		return "", fmt.Errorf("read the token from %s: %w", path, err)
	}
	return token, nil
}

// readSecret reads a file of at most that many bytes, which must be private.
func readSecret(path string, most int64) ([]byte, error) {
	return readSmall(path, most, private)
}

// readSmall reads a regular file of at most that many bytes that may be used.
func readSmall(path string, most int64, may func(*os.File) error) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is no reason to wait
	if err != nil {
		return nil, errors.Unwrap(err) // callers add the path
	}
	defer f.Close()
	if err := may(f); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("it is too long: it holds more than %d bytes", most)
	}
	return text, err
}

// regular refuses what is no regular file.
func regular(f *os.File) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	return err
}

// private refuses a file that others own or may read or write.
func private(f *os.File) error { return ours(f, false, 0o077) }

// keyOfOurs refuses a key file that other users may read or its group may change. As is usual on servers, the file may belong to root
// and be readable by a group.
func keyOfOurs(f *os.File) error { return ours(f, true, 0o037) }

// ours refuses all but regular files of this user, or of root if orRoot is set, that have none of the mode bits in without.
func ours(f *os.File, orRoot bool, without os.FileMode) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file")
	case !ok || int(st.Uid) != os.Geteuid() && (!orRoot || st.Uid != 0):
		return errors.New("it is not a file of this user: make one of your own")
	case info.Mode().Perm()&without != 0:
		return fmt.Errorf("others may use it (mode %04o): run chmod 600 on it, and put a new secret in if others were there", info.Mode().Perm())
	}
	return nil
}

// checkToken refuses tokens that a header cannot carry (RFC 6750) or that are short enough to guess. The error does not hold the token.
func checkToken(token string) error {
	if token == "" {
		return errors.New("there is no token: every client has to show one, make it with NewToken or give a file of mode 0600 that holds one")
	}
	if len(token) < minToken {
		return fmt.Errorf("the token has fewer than %d characters and can be guessed: use a longer one", minToken)
	}
	for _, r := range token[:1] + strings.TrimRight(token[1:], "=") {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~+/", r) {
			return errors.New("the token has a character other than letters, digits and -._~+/: headers cannot carry it")
		}
	}
	return nil
}
