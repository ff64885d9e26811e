package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
	"toolhost/settings"
)

// record describes a set-up, so that it can be undone.
type record struct {
	Client string          `json:"client"`
	Scope  mcpconfig.Scope `json:"scope"`
	Hook   bool            `json:"hook"`
	Dir    string          `json:"dir,omitempty"` // the project
	Files  []recordedFile  `json:"files"`
	Made   []string        `json:"made"` // directories, those inside others first
}

// recordedFile is one file: its content before, and its changes.
type recordedFile struct {
	Path    string        `json:"path"`
	Before  []byte        `json:"before"` // null: there was none
	After   string        `json:"after"`  // digest
	Format  edit.Format   `json:"format"`
	Changes []edit.Change `json:"changes"`
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// recordPath is where the record of a target is. Nothing is there if it is not set up.
func (t Target) recordPath(p Places) string {
	name := t.Client.Name + "-" + string(t.Scope)
	if t.Hook != "" {
		name += "-hook"
	}
	if t.Scope == mcpconfig.Project {
		name += "-" + digest([]byte(p.Project))[:16]
	}
	return filepath.Join(p.State, "setup", name+".json")
}

// SetUp reports whether setup wrote this target, and it was not undone.
func (t Target) SetUp(p Places) bool {
	_, err := os.Stat(t.recordPath(p))
	return err == nil
}

func (t Target) readRecord(p Places) (r *record, err error) {
	text, err := os.ReadFile(t.recordPath(p))
	if err != nil {
		return nil, err
	}
	r = &record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", t.recordPath(p), err)
	}
	return r, nil
}

// record writes the content of the files to the record before the plan changes it, and makes the directories.
func (p *Plan) record() error {
	r, err := p.readRecord(p.Places)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r = &record{Client: p.Client.Name, Scope: p.Scope, Hook: p.Hook != "", Made: []string{}}
		if p.Scope == mcpconfig.Project {
			r.Dir = p.Places.Project
		}
	case err != nil:
		return err
	}
	for _, f := range p.changed() {
		if err := r.add(f); err != nil {
			return err
		}
		made, err := makeDirs(filepath.Dir(f.Path), dirMode(p.Scope))
		if r.Made = append(made, r.Made...); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	path := p.recordPath(p.Places)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return settings.ReplaceFile(path, text, 0o600)
}

func dirMode(s mcpconfig.Scope) fs.FileMode {
	if s == mcpconfig.Project {
		return 0o755
	}
	return 0o700
}

// add records a file. If it was recorded before, the older content counts, with later changes by others.
func (r *record) add(f File) (err error) {
	next := recordedFile{Path: f.Path, Before: f.Before, After: digest(f.After), Format: f.format, Changes: f.changes}
	i := slices.IndexFunc(r.Files, func(old recordedFile) bool { return old.Path == f.Path })
	if i < 0 {
		r.Files = append(r.Files, next)
		return nil
	}
	if next.Before, _, err = r.Files[i].without(f.Before); err != nil {
		return err
	}
	r.Files[i] = next
	return nil
}

// without returns the content that a file has without the changes of setup, nil for no file, and which values stay because they were
// changed since.
func (f recordedFile) without(now []byte) (content []byte, kept []edit.Change, err error) {
	switch {
	case now == nil:
		return nil, nil, nil
	case digest(now) == f.After:
		return f.Before, nil, nil
	case f.Before != nil && bytes.Equal(now, f.Before):
		return now, nil, nil
	}
	content, kept, err = edit.Revert(f.Format, now, f.Before, f.Changes)
	if err == nil && f.Before == nil && isNothing(f.Format, content) {
		content = nil
	}
	return content, kept, err
}

// isNothing reports whether a file that setup made holds nothing any more.
func isNothing(f edit.Format, content []byte) bool {
	text := string(bytes.Join(bytes.Fields(content), nil))
	return text == "" || f == edit.JSON && text == "{}"
}

// made are the directories of a client that setup made itself.
func (p Places) made(c mcpconfig.Client) (all []string) {
	for _, scope := range []mcpconfig.Scope{mcpconfig.Project, mcpconfig.User} {
		if r, err := (Target{Client: c, Scope: scope}).readRecord(p); err == nil {
			all = append(all, r.Made...)
		}
	}
	return all
}

// makeDirs makes a directory with those above it, and returns those that are new, the deepest first.
func makeDirs(dir string, mode fs.FileMode) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, at)
	}
	return made, os.MkdirAll(dir, mode)
}
