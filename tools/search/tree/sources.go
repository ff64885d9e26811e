package tree

import (
	"bytes"
	"slices"

	"toolhost/tools/search/ignore"
)

// sources are the rules that begin in one directory, as texts; nil is none.
type sources struct {
	repository *ignore.Repository // nil when no repository begins here
	git, plain []byte             // .gitignore and .ignore
	files      []witness          // all that was read, or looked for
}

// over returns the rules of s above those of the directory above, in the directory at.
func (s *sources) over(r *ignore.Rules, at string) *ignore.Rules {
	if s == nil {
		return r
	}
	if s.repository != nil {
		r = r.Enter(at, *s.repository)
	}
	if len(s.git) > 0 {
		r = r.AddGit(at, s.git)
	}
	if len(s.plain) > 0 {
		r = r.AddPlain(at, s.plain)
	}
	return r
}

// same reports whether s and o make the same rules.
func (s *sources) same(o *sources) bool {
	if s == nil || o == nil {
		return s == o
	}
	return sameRepository(s.repository, o.repository) && bytes.Equal(s.git, o.git) && bytes.Equal(s.plain, o.plain)
}

func sameRepository(a, b *ignore.Repository) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Fold == b.Fold && bytes.Equal(a.Global, b.Global) && bytes.Equal(a.Exclude, b.Exclude)
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

// suspect reports whether what the files' status says now cannot be trusted later.
func (s *sources) suspect() bool {
	return s != nil && slices.ContainsFunc(s.files, func(w witness) bool { return w.suspect })
}

// begins reports whether a repository begins with s.
func (s *sources) begins() bool { return s != nil && s.repository != nil }

// witness is a file that rules came from, or would have come from.
type witness struct {
	path    string // below the search root, or absolute
	status  status // zero when there was none
	suspect bool   // the status says nothing about changes
}

// changed reports whether the file may be another one than it was.
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
