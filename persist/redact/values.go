package redact

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"strings"
	"sync"

	"toolhost/agenttool/secret"
)

// processKey is the key of redactors without one.
var processKey = sync.OnceValue(NewKey)

// maxValues bounds the known values of a session; more make each pass slower.
const maxValues = 4096

// Add has the redactor find a value from now on, wherever it occurs: as it is, escaped in JSON, encoded in a URL, and in
// base64. It ignores values that are no secrets: those of less than six bytes, references to variables, and words for a
// secret. Of the kinds "field", which a tool declares, and "value", which a person names, all of at least three bytes are secrets. It reports whether the value is known now.
func (r *Redactor) Add(kind, value string) bool {
	if r == nil || len(value) < 3 || kind != kindField && kind != kindValue && (secret.Placeholder([]byte(value)) || secret.PlainWord(value)) || r.now.Load().isOff(kind) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[value] {
		return true
	}
	if len(r.seen) >= maxValues {
		return false
	}
	r.seen[value] = true
	now := r.now.Load()
	next := &state{rules: now.rules, finder: now.finder.Knowing(kind, value), values: now.values + 1, longest: now.longest}
	if strings.Contains(value, "\n") {
		next.longest = max(next.longest, len(value))
	}
	r.now.Store(next)
	return true
}

// maxLearned bounds the values that the redactor found itself.
const maxLearned = 512

// learn adds a secret that was found by its place, since it may occur elsewhere without one.
func (r *Redactor) learn(kind string, text []byte) {
	switch kind {
	case "assignment", "authorization", "url_password", secret.KindMember, secret.KindArgument:
		if r.known() < maxLearned && len(text) < 512 && len(text) >= 8 {
			r.Add(kind, string(text))
		}
	}
}

// known is the number of known values.
func (r *Redactor) known() int {
	if r == nil {
		return 0
	}
	return r.now.Load().values
}

// AddFile has the redactor find the values in a file of secrets: the text behind = or : in a line, in quotes, and
// whole lines otherwise. Its content is text of at most 1 MiB.
func (r *Redactor) AddFile(content []byte) {
	const most = 1 << 20
	for line := range bytes.Lines(content[:min(len(content), most)]) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' || strings.HasPrefix(text, "-----") {
			continue
		}
		if i := strings.IndexAny(text, "=: \t"); i > 0 {
			r.addPart(text[i+1:])
		} else if len(text) >= leastFileValue {
			r.Add("file", text)
		}
	}
}

// leastFileValue is the smallest length of a line without a name in a secret file that makes it a secret.
const leastFileValue = 8

// addPart adds the value behind a name.
func (r *Redactor) addPart(text string) {
	text = strings.TrimRight(strings.TrimLeft(text, "=: \t"), " \t,;")
	for _, quote := range []string{`"`, "'"} {
		if parts := strings.Split(text, quote); len(parts) > 2 {
			for i := 1; i < len(parts); i += 2 {
				r.Add("file", parts[i])
			}
			return
		}
	}
	r.Add("file", text)
	for word := range strings.FieldsSeq(text) {
		if len(word) >= leastFileValue && secret.Random([]byte(word)) {
			r.Add("file", word)
		}
	}
}

// Seal encrypts bytes for the user whose key the redactor has. about is stored elsewhere and must be the same when they
// are opened.
func (r *Redactor) Seal(plain, about []byte) []byte {
	box := r.box()
	nonce := make([]byte, box.NonceSize())
	_, _ = rand.Read(nonce) // it never fails
	return box.Seal(nonce, nonce, plain, about)
}

// SealedSize is how much longer sealed bytes are than the plain ones.
const SealedSize = 12 + 16

// Open decrypts what Seal returned. It fails for bytes that were changed, and with another user's key.
func (r *Redactor) Open(sealed, about []byte) ([]byte, error) {
	box := r.box()
	if len(sealed) < box.NonceSize() {
		return nil, io.ErrUnexpectedEOF
	}
	return box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], about)
}

// box is AES-256-GCM with a key that is derived from the user's.
func (r *Redactor) box() cipher.AEAD {
	mac := hmac.New(sha256.New, r.key())
	mac.Write([]byte("seal"))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err == nil {
		if box, err := cipher.NewGCM(block); err == nil {
			return box
		}
	}
	panic("redact: a key of 32 bytes is always one of AES")
}
