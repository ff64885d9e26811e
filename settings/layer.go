package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
)

// layer is a settings file with its values.
type layer struct {
	Layer
	values  *Settings // never nil
	content []byte    // content of the file; nil: it does not exist
	held    *Settings // earlier restrictions of a file in the workspace that it no longer contains but that stay in force; nil: none
}

// Files lists the layers, weakest first, with only their sources and files.
func (o Options) Files() []Layer {
	all := []Layer{
		{Source: agenttool.SourceUser, File: o.User}, {Source: agenttool.SourceProject, File: o.Project}, {Source: agenttool.SourceLocal, File: o.Local},
		{Source: agenttool.SourceFlag, File: o.Flag}, {Source: agenttool.SourceManaged, File: o.Managed},
	}
	var named []Layer
	for _, l := range all {
		if l.File != "" {
			named = append(named, l)
		}
	}
	return named
}

// InProject reports whether the workspace has settings of its own, or is under version control.
func (o Options) InProject() bool {
	if _, err := os.Lstat(filepath.Dir(o.Local)); err == nil {
		return true
	}
	for dir := o.Workspace; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// read reads all layers. A broken file keeps its values in before, or is empty if before is nil. Restrictions of a
// workspace file stay in force, because a command may have changed the file.
func (o Options) read(before []*layer) (layers []*layer, problems []Problem) {
	for i, named := range o.Files() {
		var last *layer
		if before != nil {
			last = before[i]
		}
		l, wrong := o.readLayer(named, last)
		if len(wrong) > 0 && last != nil {
			kept := *last
			kept.Exists = true
			l = &kept
		}
		l.hold(last)
		layers, problems = append(layers, l), append(problems, wrong...)
	}
	return layers, problems
}

// readLayer reads one layer. last is its previous state, or nil.
func (o Options) readLayer(named Layer, last *layer) (*layer, []Problem) {
	l := &layer{Layer: named, values: &Settings{}}
	if l.Supplied = o.inWorkspace(named); l.Supplied {
		l.Why = "it lies in the workspace"
	}
	content, info, err := readFile(l.File, !l.inProject())
	if missing(err) && l.Source != agenttool.SourceFlag {
		return l, nil
	}
	l.Exists = true
	if err == nil && !l.inProject() {
		err = checkOwner(l.File, info)
	}
	if err != nil {
		return l, []Problem{{File: l.File, Message: "cannot be used: " + err.Error()}}
	}
	l.content = content
	sum := sha256.Sum256(content)
	l.Digest = "sha256:" + hex.EncodeToString(sum[:])
	if last != nil && last.content != nil && bytes.Equal(last.content, content) {
		l.values = last.values
		return l, nil
	}
	values, problems := decode(o, l.Source, l.File, content)
	if values != nil {
		l.values = values
	}
	return l, problems
}

// inProject reports whether the layer's file belongs to a project.
func (l Layer) inProject() bool {
	return l.Source == agenttool.SourceProject || l.Source == agenttool.SourceLocal
}

// inWorkspace reports whether commands or the project's authors may have written the layer's file: it belongs to the
// project, or the command line names a file in a root.
func (o Options) inWorkspace(l Layer) bool {
	if l.inProject() {
		return true
	}
	if l.Source != agenttool.SourceFlag {
		return false
	}
	real := l.File
	if resolved, err := filepath.EvalSymlinks(l.File); err == nil {
		real = resolved
	}
	for _, root := range append([]string{o.Workspace}, o.Roots...) {
		if root != "" && (agenttool.Within(root, l.File) || agenttool.Within(root, real)) {
			return true
		}
	}
	return false
}

// hold keeps the restrictions of the last reading of a workspace file in force, including those held from earlier
// readings.
func (l *layer) hold(last *layer) {
	if last == nil || !l.Supplied {
		return
	}
	before := &Settings{}
	for _, s := range []*Settings{last.held, last.values} {
		if s != nil {
			before.Rules = append(before.Rules, rulesOf(s, agenttool.Deny)...)
			before.Rules = append(before.Rules, rulesOf(s, agenttool.Ask)...)
			before.Disabled = append(before.Disabled, s.Disabled...)
			stricterMode(before, s, before)
			stricterLevel(before, s, before)
		}
	}
	held := &Settings{}
	for _, r := range before.Rules {
		same := func(other Rule) bool { return other.Behavior == r.Behavior && other.Text == r.Text }
		if !slices.ContainsFunc(l.values.Rules, same) && !slices.ContainsFunc(held.Rules, same) {
			held.Rules = append(held.Rules, r)
		}
	}
	for _, d := range before.Disabled {
		same := func(other Value[string]) bool { return other.V == d.V }
		if !slices.ContainsFunc(l.values.Disabled, same) && !slices.ContainsFunc(held.Disabled, same) {
			held.Disabled = append(held.Disabled, d)
		}
	}
	if m := l.values.Mode; before.Mode.Set && !(m.Set && tighterMode(m.V, before.Mode.V)) {
		held.Mode = before.Mode
	}
	if r := l.values.Require; before.Require.Set && !(r.Set && tighterLevel(r.V, before.Require.V)) {
		held.Require = before.Require
	}
	l.held = nil
	if len(held.Rules) > 0 || len(held.Disabled) > 0 || held.Mode.Set || held.Require.Set {
		l.held = held
	}
}

// heldProblems returns problems that name each restriction held for a layer and the way to release it.
func heldProblems(held *Settings) []Problem {
	var problems []Problem
	add := func(at agenttool.Origin, what string) {
		problems = append(problems, Problem{File: at.File, Line: at.Line,
			Message: what + " was taken out of the file while the session runs, and still counts: run toolhost settings reload, or start anew, to let it go"})
	}
	for _, r := range held.Rules {
		add(r.Origin, "the "+string(r.Behavior)+" rule "+shown(r.Text))
	}
	for _, d := range held.Disabled {
		add(d.Origin, shown(d.V)+" in tools.disable")
	}
	if held.Mode.Set {
		add(held.Mode.Origin, "the mode "+shown(held.Mode.V))
	}
	if held.Require.Set {
		add(held.Require.Origin, "sandbox.require "+shown(held.Require.V))
	}
	return problems
}

// believed returns a layer without the items that do not count.
func (l *layer) believed(below *Settings, counts func(item) bool, workspace string) *Settings {
	part := restricting(l.values, below)
	part.Problems = l.values.Problems
	for _, it := range loosening(l.values, below, workspace) {
		if counts(it) {
			part.Rules = append(part.Rules, it.rules(l.values)...)
		}
	}
	return part
}
