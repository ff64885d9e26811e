package permissions

import (
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/protect"
)

// protectedWrite returns the first path that the call writes and that is protected, by its spelling or by where it
// leads. Writing one always asks, whatever rules and mode allow, and where nobody is asked it is denied.
func (p Policy) protectedWrite(f *agenttool.Facts) (string, bool) {
	for _, w := range f.Writes {
		program := slices.ContainsFunc(p.Programs, func(file string) bool { return agenttool.Within(w.Resolved, file) })
		if program || isProtected(filepath.Clean(w.Absolute), w.Root) || isProtected(w.Resolved, w.Root) {
			return w.Spelling, true
		}
	}
	return "", false
}

func isProtected(path, root string) bool {
	_, ok := protect.Asks(path, root)
	return ok
}

// protect decides about a write to a protected path.
func (p Policy) protect(path string) verdict {
	why := path + " is protected: other programs run or obey it"
	if !p.Mode.Asks() {
		return because(agenttool.Deny, kindSafety, why+", and mode "+string(p.Mode)+" denies what would ask for that").at(path)
	}
	return because(agenttool.Ask, kindSafety, why+", so that no rule allows it").at(path)
}
