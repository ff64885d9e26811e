package engine

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/tree"
)

// FoundFile is a file or link that List found.
type FoundFile struct {
	*tree.File
	view *view
	dirs *dirs
}

// Path returns the path below the root.
func (f FoundFile) Path() string { return f.view.under(f.Dir) + f.Name }

// Modified returns the modification time in nanoseconds since 1970, or 0 if the file was removed.
func (f FoundFile) Modified() int64 {
	var st unix.Stat_t
	dir, err := f.dirs.fd(f.Dir)
	if err != nil || unix.Fstatat(dir, f.Name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return 0
	}
	return unix.TimespecToNsec(st.Mtim)
}

// List calls take for each wanted file and link of a tree, in path order, until take returns false or ctx ends. want
// gets the directory below the root ("" or with a trailing slash) and the name; nil wants all.
func (e *Engine) List(ctx context.Context, r Root, want func(dir, name string) bool, take func(FoundFile) bool) (Summary, error) {
	v, err := e.open(ctx, r)
	if err != nil {
		return Summary{}, err
	}
	defer v.leave()
	open := &dirs{tree: v.place.tree}
	defer open.closeAll()
	guard := v.guard()
	guard.draft = v.newDraft()
	sum := v.summary()
	for i, f := range v.Files {
		if i%64 == 0 && ctx.Err() != nil {
			return sum, nil
		}
		switch { // denied files are counted even if unwanted: the number then reveals nothing about their names
		case guard.denies(i, f):
			sum.Skipped.Denied++
		case want != nil && !want(v.under(f.Dir), f.Name):
			sum.Searched++
		case f.Kind == tree.Special:
			sum.Skipped.Special++
		default:
			sum.Searched++
			if !take(FoundFile{f, v, open}) {
				return sum, nil
			}
		}
	}
	if open.short != nil {
		return Summary{}, fmt.Errorf("the times of files are not known: %w", open.short)
	}
	v.place.judged(guard.draft)
	return sum, nil
}
