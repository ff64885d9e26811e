package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"toolhost/settings"
)

// Undoing is the plan of an undo.
type Undoing struct {
	Target
	Places Places
	Files  []UndoneFile
	made   []string
}

// UndoneFile is one file of it. After is nil if it is removed.
type UndoneFile struct {
	Path          string
	Before, After []byte
	Since         bool     // it was changed since setup: only the parts of setup go
	Kept          []string // parts of setup that have another value by now, and stay
}

// String says what became of a file.
func (f UndoneFile) String() string {
	switch {
	case f.Before == nil && f.After == nil:
		return "was gone already"
	case len(f.Kept) > 0:
		return "was changed since, and setup's parts were removed, but for those with other values by now: " + strings.Join(f.Kept, ", ")
	case f.Since && f.After == nil:
		return "removed: it held nothing else"
	case f.Since:
		return "was changed since: only setup's parts were removed"
	case f.After == nil:
		return "removed, as before"
	}
	return "restored byte for byte"
}

// ErrNotSetUp says that there is no record of the target.
var ErrNotSetUp = errors.New("setup has no record of it")

// Undo plans to take setup's changes back: byte for byte where a file was not changed since.
func Undo(t Target, p Places) (*Undoing, error) {
	r, err := t.readRecord(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotSetUp
	} else if err != nil {
		return nil, err
	}
	u := &Undoing{Target: t, Places: p, made: r.Made}
	for _, f := range r.Files {
		now, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		one := UndoneFile{Path: f.Path, Before: now, Since: now != nil && digest(now) != f.After && !bytes.Equal(now, f.Before)}
		after, kept, err := f.without(now)
		if err != nil {
			return nil, leftAlone(p.Short(f.Path), err)
		}
		one.After = after
		for _, c := range kept {
			one.Kept = append(one.Kept, strings.Join(c.Path, "."))
		}
		u.Files = append(u.Files, one)
	}
	return u, nil
}

// Diff shows what undo changes.
func (u *Undoing) Diff() (text string) {
	for _, f := range u.Files {
		if !bytes.Equal(f.Before, f.After) || (f.Before == nil) != (f.After == nil) {
			text += diff(u.Places.Short(f.Path), f.Before, f.After)
		}
	}
	return text
}

// Write does it, removes the directories that setup made if they are empty, and forgets the record.
func (u *Undoing) Write() error {
	for _, f := range u.Files {
		if now, err := read(f.Path); err != nil || !bytes.Equal(now, f.Before) {
			return fmt.Errorf("%s changed meanwhile (%v): run it again", u.Places.Short(f.Path), err)
		}
		var err error
		switch {
		case f.After == nil && f.Before == nil:
		case f.After == nil:
			err = os.Remove(f.Path)
		default:
			err = settings.ReplaceFile(f.Path, f.After, fileMode(u.Scope))
		}
		if err != nil {
			return err
		}
	}
	for _, dir := range u.made {
		_ = os.Remove(dir) // one that holds anything stays
	}
	return os.Remove(u.recordPath(u.Places))
}
