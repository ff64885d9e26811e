package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/aymanbagabas/go-udiff"

	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
	"toolhost/settings"
)

// Plan is a change of a client's files.
type Plan struct {
	Target
	Places Places
	Files  []File
}

// File is one file of a plan. Before is nil if there is none yet.
type File struct {
	Path          string
	Before, After []byte
	mode          fs.FileMode
	format        edit.Format
	changes       []edit.Change
}

// Changed reports whether the plan changes the file.
func (f File) Changed() bool { return f.Before == nil || !bytes.Equal(f.Before, f.After) }

// maxFile is the size in bytes of the largest file that is changed.
const maxFile = 64 << 20

// NewPlan reads the files of a target. One that cannot be read, or parsed, is an error, and nothing is planned.
func NewPlan(t Target, p Places) (*Plan, error) {
	plan := &Plan{Target: t, Places: p}
	for _, part := range t.parts() {
		f := File{format: part.Format, changes: edit.Leaves(part.changes), mode: fileMode(t.Scope)}
		var err error
		if f.Path, err = p.path(part.File); err != nil {
			return nil, err
		}
		if f.Before, err = read(f.Path); err != nil {
			return nil, err
		}
		if f.After, err = edit.Apply(f.format, f.Before, f.changes); err != nil {
			return nil, leftAlone(p.Short(f.Path), err)
		}
		plan.Files = append(plan.Files, f)
	}
	return plan, nil
}

// leftAlone names the file and the line of an error.
func leftAlone(path string, err error) error {
	if at, ok := errors.AsType[*edit.LineError](err); ok {
		return fmt.Errorf("%s:%d: %s; the file is left as it is", path, at.Line, at.Message)
	}
	return fmt.Errorf("%s: %w; the file is left as it is", path, err)
}

// read returns the content of a file, or nil if there is none.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	content, err := os.ReadFile(path)
	if content == nil {
		content = []byte{}
	}
	return content, err
}

// Changed reports whether the plan changes anything.
func (p *Plan) Changed() bool { return len(p.changed()) > 0 }

func (p *Plan) changed() (files []File) {
	for _, f := range p.Files {
		if f.Changed() {
			files = append(files, f)
		}
	}
	return files
}

// Diff shows what the plan changes.
func (p *Plan) Diff() (text string) {
	for _, f := range p.changed() {
		text += diff(p.Places.Short(f.Path), f.Before, f.After)
	}
	return text
}

func diff(name string, before, after []byte) string {
	from, to := name, name
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	return udiff.Unified(from, to, string(before), string(after))
}

// Write records what is there, and writes the files. It returns their paths.
func (p *Plan) Write() (written []string, err error) {
	for _, f := range p.changed() {
		if now, err := read(f.Path); err != nil || !bytes.Equal(now, f.Before) || (now == nil) != (f.Before == nil) {
			return nil, fmt.Errorf("%s changed meanwhile (%v): run it again", p.Places.Short(f.Path), err)
		}
	}
	if err := p.record(); err != nil {
		return nil, fmt.Errorf("nothing was written, because what is there could not be recorded: %w", err)
	}
	for _, f := range p.changed() {
		if err := settings.ReplaceFile(f.Path, f.After, f.mode); err != nil {
			return written, err
		}
		written = append(written, p.Places.Short(f.Path))
	}
	return written, nil
}

func fileMode(s mcpconfig.Scope) fs.FileMode {
	if s == mcpconfig.Project {
		return 0o644
	}
	return 0o600
}
