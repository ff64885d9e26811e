package tree

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/ignore"
)

// maxAbove bounds the texts of rules above the search root, in bytes.
const maxAbove = 16 << 20

// above holds the ignore rules and repositories of the directories above the search root.
type above struct {
	prefix string        // path of the search root below the topmost relevant directory
	rules  *ignore.Rules // of the directory above the root; nil if a rule ignores the root or a directory above it
	layers []layer       // from the topmost directory down
	marks  []mark        // places where a repository was looked for
	stale  bool          // read it again even if no file's status changed

	index        *gitIndex // of the repository that holds the root; nil: none
	inRepository string    // path of the root below the top of that repository, "" or with a trailing slash
}

// layer is a directory above the search root.
type layer struct {
	at string // its dir path below the topmost one
	*sources
}

// mark is the status of a name .git, which may begin a repository. Changes inside it do not matter.
type mark struct {
	path string
	kind Kind
	here bool
}

func look(root int, path string) mark {
	st, err := statusAt(root, path)
	m := mark{path: path, here: err == nil, kind: Special}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		m.kind = directory
	case unix.S_IFREG:
		m.kind = Regular
	}
	return m
}

// begins reports whether a repository begins where m is.
func (m mark) begins() bool { return m.here && m.kind != Special }

// changed reports whether a may be out of date.
func (a *above) changed(root int) bool {
	if a.stale {
		return true
	}
	for _, m := range a.marks {
		if look(root, m.path) != m {
			return true
		}
	}
	for _, l := range a.layers {
		for i := range l.files {
			if l.files[i].changed(root) {
				return true
			}
		}
	}
	return false
}

// same reports whether a and b contain the same rules.
func (a *above) same(b *above) bool {
	return a.prefix == b.prefix && slices.EqualFunc(a.layers, b.layers, func(x, y layer) bool {
		return x.at == y.at && x.same(y.sources)
	})
}

// find returns the nearest directory with a repository, from dir upwards.
func (a *above) find(root int, dir string) (repository string, found bool) {
	for {
		m := look(root, filepath.Join(dir, ".git"))
		a.marks = append(a.marks, m)
		up := filepath.Dir(dir)
		if m.begins() || up == dir {
			return dir, m.begins()
		}
		dir = up
	}
}
