package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/protect"
	"toolhost/sandbox/enter"
)

// walkLimit is how long a command waits for the walk that finds what is protected, at most.
const walkLimit = 30 * time.Second

// names are the protected names for one command: all, and less those that it was granted.
type names struct{ all, granted *protect.Map }

// findNames returns what is protected now.
func (s *Session) findNames(p Profile) (names, error) {
	ctx, cancel := context.WithTimeout(context.Background(), walkLimit)
	defer cancel()
	all, err := s.protected.Map(ctx)
	if err != nil {
		return names{}, err
	}
	unseal := slices.DeleteFunc(slices.Clone(p.Unseal), func(path string) bool {
		_, held := all.Judge(path)
		repository := slices.ContainsFunc(all.Git, func(git protect.GitDir) bool { return agenttool.Within(git.Path, path) })
		return !held && !repository // to write a directory is not to write every protected name that is in it
	})
	unseal = append(unseal, slices.DeleteFunc(slices.Clone(p.Remove), func(path string) bool { return !s.below(path) })...)
	reveal := slices.DeleteFunc(slices.Clone(p.Reveal), func(path string) bool {
		_, secret := all.Secret(path, 0, 0)
		return !secret && !s.inRoot(path) // to read a directory is not to read every secret that is in it
	})
	return names{all, all.Granted(unseal, reveal)}, nil
}

// protect covers what the command must not write, and what it must not read.
func (p *plan) protect() {
	m := p.names.granted
	if p.workspace() {
		for _, dir := range m.Pins {
			p.Add(enter.Pin, dir)
		}
		for _, e := range m.Sealed {
			if e.Kind != protect.Symlink { // nothing can be mounted over a link; the filter and the tripwire hold it
				p.Add(enter.Seal, e.Path)
			}
		}
	}
	for _, e := range p.secrets() {
		p.mask(e.Path)
	}
}

// mask covers what must not be read or used.
func (p *plan) mask(path string) {
	inside := slices.ContainsFunc(p.writable(), func(dir string) bool { return agenttool.Within(dir, path) })
	p.Add(enter.Mask, path, map[bool]string{false: "fixed"}[inside && p.workspace()])
}

// tripwire compares the protected names with what they were before the command ran. Whatever changed was not changed by
// it as far as the mounts hold, and a name that is new is taken out of use.
type tripwire struct {
	before *protect.Snap
	names  names
	walked func() // another walk is needed
	look   func(context.Context) (*protect.Map, error)
}

// newTripwire takes the snapshot.
func newTripwire(n names) (*tripwire, error) {
	before, err := protect.Take(n.all)
	return &tripwire{before: before, names: n}, err
}

// spring reports what changed without having been granted.
func (t *tripwire) spring(report func(Violation)) {
	changes, err := t.before.Changes()
	if err != nil {
		report(Violation{Wall: Changed, Detail: "what is protected could not be looked at again: " + err.Error()})
		return
	}
	within := "" // a directory that was told of
	for _, c := range changes {
		if _, held := t.names.granted.Judge(c.Path); !held {
			if rule, told := t.names.granted.Reports(c.Path); told && (within == "" || !agenttool.Within(within, c.Path)) {
				if c.Before.Kind != c.After.Kind {
					within = c.Path
				}
				report(Violation{Wall: Changed, Path: c.Path, Rule: string(rule), Certain: true, Detail: "was " + deed(c) + " during the run"})
			}
			continue
		}
		v := Violation{Wall: Changed, Path: c.Path, Rule: string(c.Rule), Certain: true,
			Detail: "changed during the run, from " + c.Before.Kind.String() + " to " + c.After.Kind.String()}
		if c.Before.Kind == protect.Absent && c.After.Kind != protect.Absent {
			if aside, err := t.names.all.Quarantine(c); err == nil {
				v.Detail = "was made during the run, and is out of use as " + aside
			}
		}
		report(v)
	}
}

// deed is what was done to a path.
func deed(c protect.Change) string {
	switch {
	case c.Before.Kind == protect.Absent:
		return "made"
	case c.After.Kind == protect.Absent:
		return "removed"
	}
	return "changed"
}

// made reports the repositories and the protected names in new directories that were made during the run: nobody kept the
// command from choosing what is in them.
func (t *tripwire) made(report func(Violation)) {
	ctx, cancel := context.WithTimeout(context.Background(), walkLimit)
	defer cancel()
	now, err := t.look(ctx)
	if err != nil {
		report(Violation{Wall: Changed, Detail: "whether repositories were made could not be looked at: " + err.Error()})
		return
	}
	repositories, entries := now.Since(t.names.all)
	for _, e := range entries {
		if !slices.ContainsFunc(repositories, func(git protect.GitDir) bool { return agenttool.Within(git.Path, e.Path) }) {
			report(Violation{Wall: Changed, Path: e.Path, Rule: string(e.Rule), Certain: true, Detail: "was made during the run, in a new directory"})
		}
	}
	for _, git := range repositories {
		report(Violation{Wall: Changed, Path: git.Path, Rule: string(protect.VCSConfig), Certain: true,
			Detail: "was made during the run: its hooks and configuration are what the command made them"})
	}
}

// maxGaps bounds what a result says of what is not covered.
const maxGaps = 5

// partial says what a map does not cover.
func partial(m *protect.Map) []string {
	var gaps []string
	for i, gap := range m.Partial {
		if i == maxGaps {
			gaps = append(gaps, fmt.Sprintf("and %d more", len(m.Partial)-i))
			break
		}
		gaps = append(gaps, gap.Path+": "+gap.Reason)
	}
	return gaps
}

// pinHidden keeps the directories above those of toolhost where they are: else a command that may write one of them puts
// another tree in its place, and toolhost's own state with it.
func (p *plan) pinHidden() {
	if !p.workspace() {
		return
	}
	var pins []string
	for _, hidden := range p.s.hidden() {
		for dir := filepath.Dir(hidden); p.s.below(dir); dir = filepath.Dir(dir) {
			if !slices.Contains(pins, dir) {
				pins = append(pins, dir)
			}
		}
	}
	slices.Sort(pins) // parents first
	for _, dir := range pins {
		p.Add(enter.Pin, dir)
	}
}

// inRoot reports whether dir is a root or lies below one.
func (s *Session) inRoot(dir string) bool {
	return slices.ContainsFunc(s.roots, func(root identity) bool { return agenttool.Within(root.path, dir) })
}

// below reports whether dir lies below a root, and is none itself.
func (s *Session) below(dir string) bool {
	return slices.ContainsFunc(s.roots, func(root identity) bool { return dir != root.path && agenttool.Within(root.path, dir) })
}
