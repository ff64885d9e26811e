package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"toolhost/agenttool/near"
	"toolhost/agenttool/secret"
)

// Options configure a Redactor.
type Options struct {
	Key     []byte // of the user, for marks and sealed payloads
	KeyFile string // where Key is, if it is empty: see UserKey; without both, equal secrets have equal marks in one process only
	Rules
}

// Rules are the settings of the user. They can change while a session runs.
type Rules struct {
	Off      []string  // kinds that are not looked for
	Patterns []Pattern // the user's own
	Results  bool      // secrets are taken out of the results that models read, too
}

// Pattern is a kind of secret that the user describes.
type Pattern struct {
	Kind   string
	Regexp *regexp.Regexp // its first group is the secret; without a group, all of the match is
}

// Redactor finds and replaces secrets. It is safe for concurrent use. The nil Redactor finds none.
type Redactor struct {
	key func() []byte

	now  atomic.Pointer[state]
	mu   sync.Mutex // orders changes of now
	seen map[string]bool
}

// state is the knowledge of a Redactor at one time, read-only.
type state struct {
	rules   Rules
	finder  *secret.Finder
	values  int // known values
	longest int // bytes of the longest known value with a line feed; 0: none has one
}

// Kinds returns the kinds of secrets, sorted, that can be switched off.
func Kinds() []string { return secret.Kinds() }

// New returns a Redactor. It fails for an unknown kind in Off, and for a pattern that matches the empty string.
func New(o Options) (*Redactor, error) {
	if err := o.Rules.check(); err != nil {
		return nil, err
	}
	r := &Redactor{key: keyOf(o), seen: map[string]bool{}}
	r.now.Store(&state{rules: o.Rules, finder: secret.All()})
	return r, nil
}

// keyOf returns the key of the options when it is needed first: most sessions find no secret, and then no file is made.
func keyOf(o Options) func() []byte {
	return sync.OnceValue(func() []byte {
		if len(o.Key) > 0 {
			return o.Key
		}
		if o.KeyFile != "" {
			if key, err := UserKey(o.KeyFile); err == nil {
				return key
			}
		}
		return processKey()
	})
}

func (u Rules) check() error {
	for _, kind := range u.Off {
		if err := CheckKind(kind); err != nil {
			return err
		}
	}
	for _, p := range u.Patterns {
		if p.Regexp.MatchString("") {
			return fmt.Errorf("the pattern %q of %s matches the empty string: it would match everywhere", p.Regexp, p.Kind)
		}
	}
	return nil
}

// CheckKind returns an error for a name that no kind of secret has.
func CheckKind(kind string) error {
	kinds := Kinds()
	if slices.Contains(kinds, kind) {
		return nil
	}
	if near := near.Word(kind, kinds); near != "" {
		return fmt.Errorf("%q is no kind of secret: did you mean %q?", kind, near)
	}
	return fmt.Errorf("%q is no kind of secret; kinds are %s", kind, strings.Join(kinds, ", "))
}

// Compile makes a pattern of a kind.
func Compile(kind, pattern string) (Pattern, error) {
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return Pattern{}, err
	}
	p := Pattern{kind, expression}
	return p, Rules{Patterns: []Pattern{p}}.check()
}

// SetRules puts other rules in force. Values that the redactor knows stay known. On an error the rules before stay.
func (r *Redactor) SetRules(u Rules) error {
	if err := u.check(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.now.Load()
	next.rules = u
	r.now.Store(&next)
	return nil
}

// Results reports whether secrets are taken out of the results that models read.
func (r *Redactor) Results() bool { return r != nil && r.now.Load().rules.Results }

// Span is a place in text that holds a secret.
type Span = secret.Span

// Find returns the secrets in text, in order and without overlaps.
func (r *Redactor) Find(text []byte) (found []Span) {
	if r == nil {
		return nil
	}
	now := r.now.Load()
	return secret.Joined(now.matches(text, now.known(text)))
}

// known returns the places of known forms and values, also of those that escapes hide.
func (now *state) known(text []byte) []Span { return now.finder.Places(text, now.rules.Off) }

// matches adds the places that the user's patterns match.
func (now *state) matches(text []byte, found []Span) []Span {
	for _, p := range now.rules.Patterns {
		for _, at := range p.Regexp.FindAllSubmatchIndex(text, -1) {
			if len(at) > 2 && at[2] >= 0 {
				at = at[2:]
			}
			if at[1] > at[0] {
				found = append(found, Span{Start: at[0], End: at[1], Kind: p.Kind})
			}
		}
	}
	return found
}

// Mark returns the text that stands for a secret in records.
func (r *Redactor) Mark(kind string, secret []byte) string {
	mac := hmac.New(sha256.New, r.key())
	mac.Write([]byte("mark\x00"))
	mac.Write(secret)
	return "[redacted " + kind + " " + hex.EncodeToString(mac.Sum(nil))[:markDigits] + "]"
}

// Text returns text with marks for its secrets, and their kinds; text itself if it has none.
func (r *Redactor) Text(text []byte) ([]byte, []string) {
	return r.mark(text, r.Find(text))
}

// mark returns text with marks at its secrets.
func (r *Redactor) mark(text []byte, spans []Span) ([]byte, []string) {
	if len(spans) == 0 {
		return text, nil
	}
	var out []byte
	var kinds []string
	from := 0
	for _, s := range spans {
		out = append(out, text[from:s.Start]...)
		out = append(out, r.Mark(s.Kind, text[s.Start:s.End])...)
		kinds, from = append(kinds, s.Kind), s.End
		r.learn(s.Kind, text[s.Start:s.End])
	}
	return append(out, text[from:]...), kinds
}

// Cover overwrites the secrets of text with marks of the same length, and keeps line feeds. The spans are those of Find.
func (r *Redactor) Cover(text []byte, spans []Span) {
	for _, s := range spans {
		part := text[s.Start:s.End]
		mark := []byte(r.Mark(s.Kind, part))
		if line, _, _ := bytes.Cut(part, []byte("\n")); len(mark) > len(line) {
			mark = []byte("[redacted]")[:min(len(line), len("[redacted]"))]
		}
		for i := range part {
			switch {
			case part[i] == '\n':
			case i < len(mark):
				part[i] = mark[i]
			default:
				part[i] = '*'
			}
		}
	}
}

// isOff reports whether a kind is switched off.
func (now *state) isOff(kind string) bool { return slices.Contains(now.rules.Off, kind) }

const (
	kindField = "field" // of a tool's input, which the tool declares as sensitive
	kindValue = "value" // that a person names

	kindWithheld = "withheld" // text that could not be searched
	markDigits   = 16
)
