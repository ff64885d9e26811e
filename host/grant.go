package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
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
