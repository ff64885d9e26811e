package workspace

import (
	"errors"
	"fmt"
	"os"

	"toolhost/agenttool"
)

// unmoved compares the directory at the path of r with the opened one. If the user named the root by a link, it also
// compares the link's target.
func (r *root) unmoved() error {
	now, err := os.Lstat(r.path)
	if err == nil && r.named != r.path && os.SameFile(now, r.opened) {
		now, err = os.Stat(r.named)
	}
	switch {
	case err == nil && os.SameFile(now, r.opened):
		return nil
	case err == nil:
		return movedError(r, "is another directory than when this session began")
	case errors.Is(err, os.ErrNotExist):
		return movedError(r, "is no longer there")
	}
	return movedError(r, "cannot be looked at: "+reason(err).Error())
}

func movedError(r *root, how string) error {
	return agenttool.Failure(agenttool.SetupRequired, "workspace_moved", fmt.Sprintf(
		"%s, where this session works, %s: nothing was read or written. Move it back, or start toolhost again in the directory that is meant",
		r.named, how))
}
