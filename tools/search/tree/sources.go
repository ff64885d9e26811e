package tree

import (
	"bytes"
	"slices"

	"toolhost/tools/search/ignore"
)

// sources holds the texts of the rules that begin in one directory; nil: none.
type sources struct {
	repository *ignore.Repository // nil when no repository begins here
	index      *gitIndex          // of that repository; nil: none
	git, plain []byte             // .gitignore and .ignore
	files      []witness          // all files that were read or looked for

	ignoresItself bool // the search root's .gitignore ignores all that it holds, and git tracks none of it: it does not count
}

// over returns the rules of s, which take precedence over r of the directory above; at is the path of the directory.
func (s *sources) over(r *ignore.Rules, at string) *ignore.Rules {
	if s == nil {
		return r
	}
	if s.repository != nil {
		r = r.Enter(at, *s.repository)
	}
	if len(s.git) > 0 && !s.ignoresItself {
		r = r.AddGit(at, s.git)
	}
	if len(s.plain) > 0 {
		r = r.AddPlain(at, s.plain)
	}
	return r
}

// same reports whether s and o contain the same rules.
func (s *sources) same(o *sources) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.ignoresItself == o.ignoresItself && sameRepository(s.repository, o.repository) && bytes.Equal(s.git, o.git) && bytes.Equal(s.plain, o.plain)
}

func sameRepository(a, b *ignore.Repository) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Fold == b.Fold && a.Index == b.Index && a.SHA256 == b.SHA256 && bytes.Equal(a.Global, b.Global) && bytes.Equal(a.Exclude, b.Exclude)
}

// size returns how many bytes of text s holds.
func (s *sources) size() (n int) {
	if s == nil {
		return 0
	}
	n = len(s.git) + len(s.plain)
	if s.repository != nil {
		n += len(s.repository.Global) + len(s.repository.Exclude)
	}
	return n
}

// suspect reports whether the current status of the files may miss later changes.
func (s *sources) suspect() bool {
	return s != nil && slices.ContainsFunc(s.files, func(w witness) bool { return w.suspect })
}

// begins reports whether a repository begins with s.
func (s *sources) begins() bool { return s != nil && s.repository != nil }

// witness is a file that rules were read from, or an absent file that could hold rules.
type witness struct {
	path    string // below the search root, or absolute
	status  status // zero: the file did not exist
	suspect bool   // the status may miss changes
}

// changed reports whether the file may have changed.
func (w *witness) changed(root int) bool {
	if w.suspect {
		return true
	}
	st, err := statusAt(root, w.path)
	if err != nil {
		return w.status != status{}
	}
	return statusOf(&st) != w.status
}
