package engine

import (
	"toolhost/agenttool"
	"toolhost/tools/search/tree"
	"toolhost/tools/workspace"
)

// denials caches the files of a list whose names must not be read. Computing them takes half the time of a repeated
// listing.
type denials struct {
	list    *tree.List
	secrets workspace.Secrets
	words   []uint64 // a bit for each file
}

// guard decides which files of a search must not be read. Each goroutine has its own guard. The guards of one search
// share a draft, and each judges blocks of 64 consecutive files that start at a multiple of 64.
type guard struct {
	names
	draft *denials // nil: no denials are recorded
}

// guard returns a guard for the files of the view's list.
func (v *view) guard() guard { return guard{names: names{view: v}} }

// newDraft returns a record for the guards to fill. The caller passes it to place.judged after all files were judged.
func (v *view) newDraft() *denials {
	if v.denials != nil || v.base != "" {
		return nil
	}
	return &denials{v.List, v.secrets, make([]uint64, len(v.Files)/64+1)}
}

// denies reports whether the file with number n in the list must not be read.
func (g *guard) denies(n int, f *tree.File) bool {
	if g.denials != nil {
		return g.denials.words[n/64]>>(n%64)&1 != 0
	}
	denied := g.in(f.Dir).Name(f.Name)
	if denied && g.draft != nil {
		g.draft.words[n/64] |= 1 << (n % 64)
	}
	return denied
}

// deniesFile reports whether an open file with an allowed name must not be read because its inode belongs to a
// secret.
func (g *guard) deniesFile(f *tree.File, dev, ino uint64) bool {
	return g.secrets.Named(dev, ino) && g.in(f.Dir).File(f.Name, dev, ino)
}

// cut reports whether a file with a denied name is seen without the lines that hold secrets.
func (g *guard) cut(f *tree.File) bool {
	return g.secrets.Cut(agenttool.Join(g.place.key.path, f.Path()))
}
