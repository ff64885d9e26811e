package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
)

// walkLimit is how long a command waits at most for the walk that finds protected names.
const walkLimit = 30 * time.Second

// names are the protected names for one command: all, and less those that it was granted.
type names struct {
	all, granted *protect.Map
	removed      []string // paths below which it may remove them
}

// findNames returns the protected names of now.
func findNames(protected *protect.Cache, v *view, p Profile) (names, error) {
	ctx, cancel := context.WithTimeout(context.Background(), walkLimit)
	defer cancel()
	all, err := protected.Including(ctx, slices.DeleteFunc(slices.Concat(p.Write, p.Remove), v.inRoot))
	if err != nil {
		return names{}, err
	}
	unseal := slices.DeleteFunc(slices.Clone(p.Unseal), func(path string) bool {
		known, names := append([]string{protect.Fold(path)}, p.Known...), all.Opens(path)
		return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) })
	})
	remove := slices.DeleteFunc(slices.Clone(p.Remove), func(path string) bool { return v.inRoot(path) && !v.below(path) })
	reveal := slices.DeleteFunc(slices.Clone(p.Reveal), func(path string) bool {
		_, secret := all.Secret(path, 0, 0)
		return !secret && !v.inRoot(path) // to read a directory is not to read every secret that is in it
	})
	for _, path := range unseal { // git writes its configuration anew from what it sees: nothing may be cut out of that
		if all.Cut(path) && protect.IsGitDir(filepath.Dir(path)) {
			reveal = append(reveal, path)
		}
	}
	protected.Allow(p.Unseal...)
	protected.Allow(p.Remove...)
	return names{all, all.Granted(unseal, reveal).Uncovering(remove), remove}, nil
}

// protect covers names that the command must not write, and files that it must not read.
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
		for _, b := range m.Beside() { // of what is not opened there nothing can be written
			for _, e := range b.Sealed {
				if e.Kind != protect.Symlink && p.opened.writes(e.Path) && !inAny(p.opened.gits(), e.Path) { // those are sealed below
					p.Add(enter.Seal, e.Path)
				}
			}
		}
	}
	for _, git := range p.opened.gits() {
		if inAny(p.c.Profile.Remove, git) { // nothing that is covered can be removed: the filter alone holds its content
			continue
		}
		for _, path := range protect.GitSeals(git) {
			if !approvedIn(git, path, p.c.Profile.Unseal) {
				p.Add(enter.Seal, path)
			}
		}
	}
	for _, e := range p.secrets() {
		p.cover(p.s.maskOf(e))
	}
	for _, e := range m.Secrets {
		for _, id := range p.s.view.shown { // in a directory that is closed anyway
			if agenttool.Within(e.Path, id.path) && !p.layout.visible(e.Path) {
				p.mask(id.path)
			}
		}
		for _, path := range p.s.layers.places(e.Path) {
			p.mask(path)
		}
	}
}

// maskOf is what covers a secret. git, which looks at files of the workspace by their size and time, takes one there for unchanged.
func (s *Session) maskOf(e protect.Entry) covering {
	if e.Kind == protect.File && s.view.inRoot(e.Path) {
		return covering{e.Path, enter.MaskAs}
	}
	return covering{e.Path, enter.Mask}
}

// mask covers what must not be read or used.
func (p *plan) mask(path string) { p.cover(covering{path, enter.Mask}) }

func (p *plan) cover(c covering) {
	inside := slices.ContainsFunc(p.writes, func(dir string) bool { return agenttool.Within(dir, c.path) })
	p.masksLike = p.masksLike || c.op == enter.MaskAs
	p.Add(c.op, c.path, map[bool]string{false: "fixed"}[inside && p.workspace()])
}

// maxGaps bounds the uncovered places that a result lists.
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
	for _, hidden := range p.s.view.ownDirs() {
		for dir := filepath.Dir(hidden); p.s.view.below(dir); dir = filepath.Dir(dir) {
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

// secrets are those of the protected entries that must not be read and that the command would see.
func (p *plan) secrets() []protect.Entry {
	return slices.DeleteFunc(slices.Clone(p.names.granted.Secrets), func(e protect.Entry) bool { return !p.layout.visible(e.Path) })
}

// replaceable are the secrets that are watched: those that are masked, and those that the command sees without their secrets. Another file that
// takes the name of one of these is masked.
func (p *plan) replaceable() []protect.Entry {
	return slices.DeleteFunc(slices.Clone(p.names.granted.Secrets), func(e protect.Entry) bool { return !p.layout.visible(e.Path) && !p.layout.viewed(e.Path) })
}
