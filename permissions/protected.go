package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// protectedWrite returns the first path that the call writes and that is protected, by its spelling or by the target of its links.
// Such a write asks under every rule and mode; modes that never ask deny it.
func (p Policy) protectedWrite(f *agenttool.Facts) (string, bool) {
	for _, w := range f.Writes {
		if p.keeps(w) || p.Confines && listsWorktrees(f, w) {
			continue
		}
		program := slices.ContainsFunc(p.Programs, func(file string) bool { return agenttool.Within(w.Resolved, file) })
		guarded := p.Guarded != nil && p.Guarded(w.Resolved)
		if program || guarded || isProtected(filepath.Clean(w.Absolute), w.Root) || isProtected(w.Resolved, w.Root) || p.movesRepository(f, w) {
			return w.Spelling, true
		}
	}
	return "", false
}

// listsWorktrees reports whether git itself writes there which work trees a repository has. The sandbox holds the files among them that git
// obeys.
func listsWorktrees(f *agenttool.Facts, w agenttool.Path) bool {
	if w.By < 1 || w.By > len(f.Parts) || w.Root == "" || !strings.HasSuffix(w.Resolved, "/.git/worktrees") {
		return false
	}
	part := &f.Parts[w.By-1]
	return part.Exact && len(part.Argv) > 1 && part.Argv[0] == "git" && part.Argv[1] == "worktree"
}

// keeps reports whether the sandbox keeps a written path as it is, but for the branches that git's branches follow.
func (p Policy) keeps(w agenttool.Path) bool { return w.Follows && p.Confines }

// movesRepository reports whether the call moves a repository: another one, with hooks of its own, could take its place.
func (p Policy) movesRepository(f *agenttool.Facts, w agenttool.Path) bool {
	if p.Repository == nil || w.Resolved == p.Workspace {
		return false
	}
	for _, argv := range f.Commands {
		if len(argv) == 0 || filepath.Base(argv[0]) != "mv" {
			continue
		}
		into := slices.ContainsFunc(argv, func(word string) bool { return strings.HasPrefix(word, "-t") || strings.HasPrefix(word, "--t") })
		if (into || w.Spelling != argv[len(argv)-1]) && p.Repository(w.Resolved) {
			return true
		}
	}
	return false
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
