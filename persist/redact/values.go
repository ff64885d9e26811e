package redact

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
)

// processKey is the key of redactors without one.
var processKey = sync.OnceValue(NewKey)

// maxValues bounds the known values of a session; more make each pass slower.
const maxValues = 4096

// Add has the redactor find a value from now on, wherever it occurs: as it is, escaped in JSON, encoded in a URL, and in
// base64. It ignores values that are no secrets: those of less than six bytes, references to variables, and words for a
// secret. Of the kinds "field", which a tool declares, and "value", which a person names, all of at least three bytes are secrets. It reports whether the value is known now.
func (r *Redactor) Add(kind, value string) bool {
	if r == nil || len(value) < 3 || kind != kindField && kind != kindValue && (placeholder([]byte(value)) || plainWord(value)) || r.now.Load().isOff(kind) {
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
	next := &state{rules: now.rules, matcher: now.matcher.with(knownValue(kind, value)), values: now.values + 1, longest: now.longest}
	if strings.Contains(value, "\n") {
		next.longest = max(next.longest, len(value))
	}
	r.now.Store(next)
	return true
}

// maxLearned bounds the values that the redactor found itself.
const maxLearned = 512

// learn adds a secret that was found by its place, since it may occur elsewhere without one.
func (r *Redactor) learn(kind string, secret []byte) {
	switch kind {
	case "assignment", "authorization", "url_password", kindMember:
		if r.known() < maxLearned && len(secret) < 512 && len(secret) >= 8 {
			r.Add(kind, string(secret))
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

// plainWord reports whether a value is one short word of lower-case letters, or a small number: replacing all of its
// occurrences would make records unreadable.
func plainWord(value string) bool {
	return len(value) < 10 && (strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == "" || strings.Trim(value, "0123456789.:-") == "") ||
		strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 && !strings.ContainsAny(value, "+=")
}

// headSize is how many bytes of a known value are looked for. They are a secret by themselves if the rest was cut off.
const headSize = 16

// knownValue returns the form of one value and its encodings.
func knownValue(kind, value string) *form {
	once := escaped(value)
	twice := escaped(once)
	spellings := []string{
		value, once, twice, escaped(twice), url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(value, "'", `'\''`),
		base64.StdEncoding.EncodeToString([]byte(value)),
	}
	slices.Sort(spellings)
	spellings = slices.Compact(spellings)
	var heads []string
	for _, s := range spellings {
		heads = append(heads, s[:min(len(s), headSize)])
	}
	return &form{kind: kind, literals: slices.Compact(heads), find: func(b []byte, at, _ int) (start, end int) {
		for _, s := range spellings {
			n := common(b[at:], s)
			whole := n == len(s) && (n >= 12 || alone(b, at) && (at+n == len(b) || !letters[b[at+n]])) // else part of a longer word
			if whole || n >= headSize && isCut(b[at+n:]) {
				end = max(end, at+n)
			}
		}
		return at, end
	}}
}

// common returns how many bytes two texts have in common at their beginning.
func common(b []byte, s string) (n int) {
	for n < len(b) && n < len(s) && b[n] == s[n] {
		n++
	}
	return n
}

// escaped returns text as it stands in a JSON string.
func escaped(text string) string {
	quoted := string(agenttool.AppendString(nil, text))
	return quoted[1 : len(quoted)-1]
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
		if len(word) >= leastFileValue && random([]byte(word)) {
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
