package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// maxOpens is how much a prompt offers to keep open: users read no more.
const maxOpens = 3

// openings returns the paths that may stay open once the call is allowed: the missing directories that it makes outside of the workspace, the
// user's repositories that it pushes to or fetches from, and the packages that it installs. mayOpen reports whether that still holds for one of them.
func openings(c *call) (all []string, mayOpen func(of string) bool) {
	rules := &c.host.rules
	mayOpen = func(of string) bool {
		kind, dir := permissions.Opened(of)
		info, err := os.Lstat(dir)
		there := err == nil && info.IsDir()
		return (kind != "" && there || kind == "" && errors.Is(err, os.ErrNotExist)) && rules.Policy().MayOpen(dir)
	}
	for _, path := range c.bound.Facts().Writes {
		of := path.Resolved
		switch {
		case path.Upstream:
			of = permissions.Pushes + of
		case path.Package:
			of = permissions.Links + of
		}
		plain := path.Root == "" && !path.Private && path.Resolved == filepath.Clean(path.Absolute)
		if (path.Makes || path.Upstream || path.Package) && plain && !slices.Contains(all, of) && mayOpen(of) && !c.host.grants.opensOwn("write:"+path.Resolved) {
			all = append(all, of)
		}
	}
	for _, path := range c.bound.Facts().Reads {
		of := permissions.Fetches + path.Resolved
		plain := path.Root == "" && !path.Private && path.Resolved == filepath.Clean(path.Absolute)
		if path.Upstream && !path.Cloned && plain && !slices.Contains(all, of) && mayOpen(of) {
			all = append(all, of)
		}
	}
	if len(all) > maxOpens {
		return nil, nil
	}
	return all, mayOpen
}

// shut takes back the rules for directories that a call was to make, and has not made, and notes the others.
func (r *rules) shut(made agenttool.InvocationID, opened []string) {
	for _, of := range opened {
		kind, dir := permissions.Opened(of)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			if kind == "" {
				r.noteMade(dir)
			}
			continue
		}
		r.mu.Lock()
		r.set(r.policy.Without(func(rule permissions.Rule) bool {
			return rule.Origin.Made == made && slices.Contains(permissions.Opening(of), rule.Text)
		}))
		r.mu.Unlock()
	}
}

// noteMade notes a directory that a call has made. It stays open, so that no other directory can get its number.
func (r *rules) noteMade(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return // it is as one that the session did not make
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil {
		r.made = map[string]*os.File{}
	}
	r.made[dir] = f
}

// stillMade returns the noted directories that still are the same.
func (r *rules) stillMade() (dirs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for dir, f := range r.made {
		was, err := f.Stat()
		now, gone := os.Lstat(dir)
		if err == nil && gone == nil && os.SameFile(was, now) {
			dirs = append(dirs, dir)
			continue
		}
		f.Close()
		delete(r.made, dir)
	}
	return dirs
}
