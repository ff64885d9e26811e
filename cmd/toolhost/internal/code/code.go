// Package code makes the codes that a session shows and a person types elsewhere.
package code

import (
	"crypto/rand"
	"crypto/subtle"
	"strings"
)

// letters are those of codes. No two of them look alike.
const letters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"

// New makes a code of eight letters: too many to guess in the few tries that are taken.
func New() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b[:4]) + "-" + string(b[4:])
}

// Is reports whether a person typed a code, in constant time. Case, blanks and dashes do not count.
func Is(code, typed string) bool {
	return subtle.ConstantTimeCompare([]byte(bare(typed)), []byte(bare(code))) == 1
}

func bare(code string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(code)))
}
