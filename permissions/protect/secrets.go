package protect

// Secrets is a read-deny list that judges paths by their text alone, before any file is opened.
type Secrets struct {
	list  *denyList
	roots []string // folded
}

// CompileSecrets reads a read-deny list, in the words of DefaultReadDeny. Roots and home are absolute, clean and without links. A
// malformed pattern is an error.
func CompileSecrets(patterns, roots []string, home string) (*Secrets, error) {
	list, err := compileDeny(patterns, tops{roots, home})
	if err != nil {
		return nil, err
	}
	s := &Secrets{list: list}
	for _, root := range roots {
		s.roots = append(s.roots, fold(root))
	}
	return s, nil
}

// Denies reports whether the list denies an absolute, clean path, or one of its parent directories.
func (s *Secrets) Denies(file string) bool {
	folded := fold(file)
	return s.list.covers(folded, rootOf(s.roots, folded))
}
