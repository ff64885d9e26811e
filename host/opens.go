package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// maxOpens is how many directories a prompt offers to keep open: users read no more.
const maxOpens = 3

// makes returns the missing directories that the call makes outside of the workspace and that may stay open once it is allowed. mayOpen
// reports whether that still holds for one of them.
func makes(c *call) (dirs []string, mayOpen func(dir string) bool) {
	rules := &c.host.rules
	mayOpen = func(dir string) bool {
		_, err := os.Lstat(dir)
		return errors.Is(err, os.ErrNotExist) && rules.Policy().MayOpen(dir)
	}
	for _, path := range c.bound.Facts().Writes {
		plain := path.Root == "" && !path.Private && path.Resolved == filepath.Clean(path.Absolute)
		if path.Makes && plain && !slices.Contains(dirs, path.Resolved) && mayOpen(path.Resolved) && !c.host.grants.opensOwn("write:"+path.Resolved) {
			dirs = append(dirs, path.Resolved)
		}
	}
	if len(dirs) > maxOpens {
		return nil, nil
	}
	return dirs, mayOpen
}

// shut takes back the rules for directories that a call was to make, and has not made.
func (r *rules) shut(made agenttool.InvocationID, dirs []string) {
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			continue
		}
		r.mu.Lock()
		r.policy = r.policy.Without(func(rule permissions.Rule) bool {
			return rule.Origin.Made == made && slices.Contains(permissions.Opening(dir), rule.Text)
		})
		r.mu.Unlock()
	}
}
