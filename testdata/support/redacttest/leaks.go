package redacttest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// window is how many letters of a secret in a row are a leak. A secret that is shorter leaks as a whole.
const window = 20

// Leaks finds secrets, or long parts of them, in text.
type Leaks struct {
	parts   map[string]string // kinds
	lengths map[int]bool      // of parts
}

// NewLeaks returns what finds some secrets.
func NewLeaks(secrets []Secret) *Leaks {
	l := &Leaks{map[string]string{}, map[int]bool{}}
	for _, s := range secrets {
		for line := range bytes.Lines([]byte(s.Value)) {
			l.add(s, string(bytes.TrimSpace(line)))
		}
	}
	return l
}

func (l *Leaks) add(s Secret, line string) {
	if bytes.HasPrefix([]byte(line), []byte("-----")) {
		return // the frame of a key is none
	}
	n := min(window, len(line))
	l.lengths[n] = true
	for i := min(secretFrom[s.Kind], len(line)-n); i+n <= len(line); i++ {
		l.parts[line[i:i+n]] = s.Kind
	}
}

// secretFrom is where the secret part begins, in kinds whose tokens have a long beginning in common.
var secretFrom = map[string]int{"jwt": 70, "age_key": 16, "github_token": 4, "postman_key": 5, "slack_token": 26, "tailscale_key": 11, "telegram_token": 13}

// In returns a line for each place of a text that has a part of a secret, with the text around it, and at most one for each secret.
func (l *Leaks) In(name string, text []byte) (found []string) {
	told := map[string]bool{}
	for n := range l.lengths {
		for i := 0; i+n <= len(text); i++ {
			kind, is := l.parts[string(text[i:i+n])]
			if !is || told[kind] {
				continue
			}
			told[kind] = true
			found = append(found, fmt.Sprintf("%s has a %s: …%s…", name, kind, text[max(0, i-200):min(len(text), i+100)]))
		}
	}
	return found
}

// Below is In for all files below a directory, and their names.
func (l *Leaks) Below(dir string) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		found = append(found, l.In("the name "+path, []byte(path))...)
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		found = append(found, l.In(path, text)...)
		return err
	})
	return found, err
}
