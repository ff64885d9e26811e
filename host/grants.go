package host

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// grants checks the grants of users, which widen a sandbox.
type grants struct {
	locate  func(*agenttool.Path) error
	private []string // directories of toolhost's own
}

// confine gives a call its grants, and the protected names that a person agreed to. No grant may open toolhost's own files.
func (g grants) confine(bound agenttool.Call, grants []string, agreed agenttool.Protected) error {
	if c, ok := bound.(agenttool.Confined); ok {
		c.Unseal(agreed)
	}
	if len(grants) == 0 {
		return nil
	}
	for _, grant := range grants {
		if g.opensOwn(grant) {
			return agenttool.Failure(agenttool.PermissionDenied, "bad_grant", "grant "+grant+" would open what is toolhost's own, which no call may touch")
		}
	}
	c, ok := bound.(agenttool.Confined)
	if !ok {
		return agenttool.Failure(agenttool.InvalidArguments, "bad_grant", "this tool runs nothing in a sandbox: leave them out")
	}
	return c.Confine(grants)
}

// opensOwn reports whether a grant names a place of toolhost's own, or one that holds such a place.
func (g grants) opensOwn(grant string) bool {
	kind, path, _ := strings.Cut(grant, ":")
	if !filepath.IsAbs(path) {
		return false
	}
	at := agenttool.Path{Spelling: path, Absolute: path}
	if g.locate(&at) != nil || at.Private || kind == "socket" && g.isOwnSocket(at.Resolved) {
		return true
	}
	return slices.ContainsFunc(g.private, func(own string) bool { return agenttool.Within(at.Resolved, own) })
}

// isOwnSocket reports whether a path is another name of a session's socket: the host may have mounted its directory a second time.
func (g grants) isOwnSocket(path string) bool {
	socket, err := os.Stat(path)
	if err != nil {
		return false // nothing can connect there now
	}
	for _, dir := range g.private {
		for _, in := range []string{dir, filepath.Join(dir, "run")} {
			entries, _ := os.ReadDir(in) // without it there are no sockets
			for _, e := range entries {
				if own, err := e.Info(); err == nil && os.SameFile(socket, own) {
					return true
				}
			}
		}
	}
	return false
}

// overrides are the grants that a person gave to calls which had been kept from something: the next call with the same input has them.
type overrides struct {
	now func() time.Time

	mu sync.Mutex
	of map[[sha256.Size]byte]override
}

// override are grants for one call, and until when it may use them.
type override struct {
	grants []string
	until  time.Time
}

// How many overrides are kept, and for how long. A call that is not made again is forgotten.
const (
	maxOverrides = 100
	overrideTime = 5 * time.Minute
)

// add grants something to the next call of an identity.
func (o *overrides) add(of [sha256.Size]byte, grants []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxOverrides {
		o.of = map[[sha256.Size]byte]override{}
	}
	o.of[of] = override{grants, o.now().Add(overrideTime)}
}

// take returns the grants for a call of that identity, nil if there are none. They count once.
func (o *overrides) take(identity func() [sha256.Size]byte) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.of) == 0 {
		return nil
	}
	of := identity()
	found := o.of[of]
	delete(o.of, of)
	if !o.now().Before(found.until) {
		return nil
	}
	return found.grants
}

// maxOpens is how much a prompt offers to keep open: users read no more.
const maxOpens = 3

// openings returns the paths that may stay open once the call is allowed: the missing directories that it makes outside of the
// workspace, the user's repositories that it pushes to or fetches from, and the packages that it installs. mayOpen reports whether
// that still holds for one of them.
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
