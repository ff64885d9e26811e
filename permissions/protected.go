package permissions

import (
	"path/filepath"

	"toolhost/agenttool"
	"toolhost/protect"
)

// protectedWrite returns the first path that the call writes and that is protected, by its spelling or by where it
// leads. Writing one always asks, whatever rules and mode allow, and where nobody is asked it is denied.
func protectedWrite(f *agenttool.Facts) (string, bool) {
	for _, p := range f.Writes {
		if isProtected(filepath.Clean(p.Absolute), p.Root) || isProtected(p.Resolved, p.Root) {
			return p.Spelling, true
		}
	}
	return "", false
}

func isProtected(path, root string) bool {
	_, ok := protect.Asks(path, root)
	return ok
}

// protect decides about a write to a protected path.
func (p Policy) protect(d agenttool.Decision, path string) agenttool.Decision {
	why := path + " is protected: other programs run or obey it"
	if p.Mode == DontAsk {
		return decide(d, agenttool.Deny, "safety_check", why+", and mode dont_ask denies what would ask").blocked(path)
	}
	return decide(d, agenttool.Ask, "safety_check", why+", so that no rule allows it").blocked(path)
}
