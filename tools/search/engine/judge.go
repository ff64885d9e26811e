package engine

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/search/index"
	"toolhost/tools/search/tree"
)

// errDenied means that a file is a secret under another name.
var errDenied = errors.New("denied")

// count counts the outcome of searching a file.
func (w *worker) count(err error) {
	s := &w.sum.Skipped
	switch {
	case err == nil:
		w.sum.Searched++
	case agenttool.IsShortage(err):
		err = fmt.Errorf("the search was given up: %w", err)
		w.short.CompareAndSwap(nil, &err)
	case errors.Is(err, errDenied):
		s.Denied++
	case errors.Is(err, errBinary):
		s.Binary++
	case errors.Is(err, errTooLarge):
		s.TooLarge++
	case errors.Is(err, errSpecial):
		s.Special++
	case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
		s.Unreadable++
	}
}

// known returns the index entry of a file if this search can use it, else nil.
func (w *worker) known(f *tree.File) *tree.FileFacts {
	if !w.indexed {
		return nil
	}
	known := f.Known.Load()
	switch {
	case known == nil || known.Index != w.index.number:
		w.unindexed.Store(true)
		return nil
	case known.Opaque || known.Legacy && !w.query.Pattern.ASCII():
		return nil
	}
	return known
}

// maybeIn returns the parts of a file that may hold a match.
func (w *worker) maybeIn(known *tree.FileFacts) []part {
	parts := w.parts[:0]
	for i, c := range known.Chunks {
		if !w.maybe.Has(index.ID(c.ID)) {
			continue
		}
		to := known.Stamp.Size
		if i+1 < len(known.Chunks) {
			to = known.Chunks[i+1].Offset
		}
		parts = append(parts, part{c.Offset, to, c.Line})
	}
	return parts
}

// sure reports whether a file is known to be unchanged without checking its status.
func (w *worker) sure(f *tree.File, known *tree.FileFacts) bool {
	return w.verified || w.watched && f.Sure.Load() && !known.Stamp.Links
}

// lasting returns the index entry of a file that was just visited, or nil if the next search must visit the file
// again.
func (w *worker) lasting(f *tree.File) *tree.FileFacts {
	known := f.Known.Load()
	if known == nil || known.Index != w.index.number || known.Opaque || known.Legacy || known.Stamp.Links {
		return nil
	}
	asked := len(w.asked) > 0 && w.asked[len(w.asked)-1] == f
	if !asked && !f.Sure.Load() {
		return nil
	}
	return known
}

// holds reports whether the status of a file matches its index entry.
func (w *worker) holds(f *tree.File, known *tree.FileFacts, st *unix.Stat_t) bool {
	if tree.StampOf(st) != known.Stamp {
		f.Known.CompareAndSwap(known, nil)
		w.unindexed.Store(true)
		w.stale.Store(true)
		return false
	}
	if w.watched && !known.Stamp.Links {
		w.asked = append(w.asked, f)
	}
	return true
}

// worker searches files in one goroutine.
type worker struct {
	*grep
	dirs     dirs
	statuses statuses
	guard    guard
	scan     scanner
	sum      Summary
	fileWork
	batchWork
}
