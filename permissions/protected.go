package permissions

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// at returns the policy for one decision, which asks for the map of the protected names once, and only if it needs it.
func (p Policy) at(r Request) Policy {
	switch {
	case p.names != nil:
	case p.Names == nil:
		p.names = func() (*protect.Map, error) { return nil, nil }
	default:
		writes, find := r.Facts.Writes, p.Names
		p.names = sync.OnceValues(func() (*protect.Map, error) { return find(writes) })
	}
	return p
}

// isProtected reports whether writing a path asks. What the map does not know [Policy.exposed] asks about.
func (p Policy) isProtected(path, root string) bool {
	m, _ := p.names()
	_, ok := m.Asks(path, root)
	return ok
}

// Protected returns the protected names that the call changes, by any name of the paths that it writes. Such a call asks under every rule
// and mode, and modes that never ask deny it: an unasked decision opens none of them.
func (p Policy) Protected(r Request) (found agenttool.Protected) {
	p = p.at(r)
	for _, w := range r.Facts.Writes {
		found = p.addProtected(found, r.Facts, w)
	}
	return found
}

// protectedWrite returns the first path that the call writes and that is protected, as the call spells it.
func (p Policy) protectedWrite(r Request) (string, bool) {
	for _, w := range r.Facts.Writes {
		if len(p.addProtected(agenttool.Protected{}, r.Facts, w).Paths) > 0 {
			return w.Spelling, true
		}
	}
	return "", false
}

// addProtected adds what is protected of one path that the call writes.
func (p Policy) addProtected(found agenttool.Protected, f *agenttool.Facts, w agenttool.Path) agenttool.Protected {
	if p.keeps(w) || p.Confines && listsWorktrees(f, w) {
		return found
	}
	m, _ := p.names()
	add := func(path string) {
		if !slices.Contains(found.Paths, path) {
			found.Paths, found.Names = append(found.Paths, path), append(found.Names, m.Opens(path)...)
		}
	}
	clean := filepath.Clean(w.Absolute)
	program := slices.ContainsFunc(p.Programs, func(file string) bool { return agenttool.Within(w.Resolved, file) })
	switch {
	case program || p.isProtected(w.Resolved, w.Root):
		add(w.Resolved)
	case p.isProtected(clean, w.Root): // the name of a link is
		add(clean)
	}
	for _, place := range placed(m, f, w) {
		if p.isProtected(place, w.Root) || len(m.Opens(place)) > 0 {
			add(place)
		}
	}
	return found
}

// placed are the names that a command takes away, or puts something else in the place of, with all below them: those that it moves, and
// those under which it leaves what it moves, copies or links. In a directory that is there a thing keeps its own name.
func placed(m *protect.Map, f *agenttool.Facts, w agenttool.Path) (places []string) {
	if w.Resolved == "" {
		return nil
	}
	for _, argv := range placing(f, w) {
		moves := argv[0] == "mv" || argv[0] == "rename" || argv[0] == "exch"
		var operands []string
		whole, into := false, false
		for _, word := range argv[1:] {
			switch {
			case !strings.HasPrefix(word, "-") || word == "-":
				operands = append(operands, word)
			case strings.HasPrefix(word, "-t") || strings.HasPrefix(word, "--target"):
				into = true
			case strings.HasPrefix(word, "--no-target") || !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "Tn"):
				whole = true
			}
		}
		target := len(operands) > 0 && w.Spelling == operands[len(operands)-1]
		if moves && (into || !target || argv[0] == "exch") {
			places = append(places, w.Resolved)
		}
		if !target && !into {
			continue
		}
		if whole || !m.HasDir(w.Resolved) {
			places = append(places, w.Resolved)
		}
		for _, operand := range operands {
			if name := filepath.Base(operand); operand != w.Spelling && name != ".." && name != "." && name != "/" {
				places = append(places, filepath.Join(w.Resolved, name))
			}
		}
	}
	return places
}

// placing are the simple commands that may be the one which writes a path, and that give names to what is there already, each without what
// stands before the name of the program.
func placing(f *agenttool.Facts, w agenttool.Path) (all [][]string) {
	programs := []string{"mv", "cp", "ln", "install", "rsync", "rename", "exch"}
	for i := range f.Parts {
		argv := f.Parts[i].Argv
		if w.By > 0 && w.By != i+1 {
			continue
		}
		if len(argv) > 1 && argv[0] == "git" && argv[1] == "mv" {
			argv = argv[1:]
		}
		if len(argv) > 0 && slices.Contains(programs, filepath.Base(argv[0])) {
			all = append(all, append([]string{filepath.Base(argv[0])}, argv[1:]...))
		}
	}
	return all
}
