// Package repositories records which git directories the person allowed with toolhost trust, for sessions that run meanwhile.
package repositories

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/dirs"
)

// entry is one line of the file.
type entry struct {
	Git string    `json:"git"`
	At  time.Time `json:"at"`
}

// maxFile is the size that makes the file be truncated. Its lines matter only to commands that ran when they were written.
const maxFile = 1 << 20

// file is the path of the file.
func file() (string, error) {
	state, err := dirs.State()
	return filepath.Join(state, "repositories.jsonl"), err
}

// Allow records that the person allowed the programs of a git directory.
func Allow(git string) error {
	path, err := file()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxFile {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	line, err := json.Marshal(entry{git, time.Now()})
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// AllowedSince reports whether the person allowed a git directory that holds path, since a time.
func AllowedSince(path string, since time.Time) bool {
	name, err := file()
	if err != nil {
		return false
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		var l entry
		return json.Unmarshal(line, &l) == nil && l.Git != "" && agenttool.Within(l.Git, path) && l.At.After(since)
	})
}
