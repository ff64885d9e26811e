package protect

import (
	"time"

	"golang.org/x/sys/unix"
)

// coverHistory records the entries that the maps of one session covered so far. Entries covered earlier have precedence, so that commands cannot take their
// masks away, or hide them from the walk, by making new names. Only one scan uses it at a time; the zero value is empty.
type coverHistory struct {
	order    map[string]int // when each entry was first covered
	kept     []Entry        // the same
	git      map[string]string
	listings map[string]listing
	deny     *denyList // of the options; nil: not compiled yet
	outside  outside
	heads    map[string]head // of files whose content decides
}

// outside are the places of the list outside the roots where there is something, as they were some time ago: commands cannot
// make others.
type outside struct {
	at    time.Time
	files []string
}

// forget drops what another list of secrets makes different.
func (h *coverHistory) forget() { h.listings, h.deny, h.outside, h.heads = nil, nil, outside{}, nil }

// compiled returns the list of secrets. It is shared, and not to be changed.
func (h *coverHistory) compiled(o Options, roots []string) (*denyList, error) {
	if h.deny != nil {
		return h.deny, nil
	}
	deny, err := compileDeny(o.ReadDeny, tops{roots, o.Home})
	if err == nil {
		h.deny = deny
	}
	return deny, err
}

// maxHeld bounds how many entries of a session are remembered. Only the walk can find later ones.
const maxHeld = 1 << 15

// listing holds the relevant entries of a large directory at the time of its listing.
type listing struct {
	id       identity
	changed  unix.Timespec
	children []child
}

// Directories with fewer entries are listed each time; settled is how long a directory must not have changed when it was listed,
// since a change within one tick of the kernel's clock would not show.
const (
	largeListing = 64
	settled      = time.Second
	maxListings  = 4096
)

// note remembers the entries that a map covers.
func (h *coverHistory) note(m *Map) {
	if h.order == nil {
		h.order, h.git = make(map[string]int), make(map[string]string)
	}
	for _, e := range concat2(m.Secrets, m.Sealed) {
		if _, known := h.order[e.Path]; !known && len(h.order) < maxHeld {
			h.order[e.Path] = len(h.order)
			h.kept = append(h.kept, e)
		}
	}
	for _, git := range m.Git {
		if len(h.git) < maxHeld {
			h.git[git.Path] = git.Top
		}
	}
}

// first returns when an entry was first covered; entries never covered before come last.
func (h *coverHistory) first(e Entry) int {
	if at, ok := h.order[e.Path]; ok {
		return at
	}
	return maxHeld
}

// relisted uses the earlier listing of a large directory if the directory did not change since.
func (w *walk) relisted(it item, fd int) bool {
	known, ok := w.held.listings[it.path]
	if !ok {
		return false
	}
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || identityOf(&stat) != known.id || stat.Ctim != known.changed {
		return false
	}
	w.children = append(w.children[:0], known.children...)
	w.entries += len(known.children)
	return true
}

// keepListing keeps the relevant entries of a large directory that was listed completely. It leaves out files that no rule can
// match.
func (w *walk) keepListing(in openDir, begun time.Time) {
	var stat unix.Stat_t
	if len(w.children) < largeListing || in.touched || unix.Fstat(in.fd, &stat) != nil {
		return
	}
	if begun.Sub(time.Unix(stat.Ctim.Unix())) < settled || len(w.held.listings) >= maxListings {
		return
	}
	kept := listing{id: identityOf(&stat), changed: stat.Ctim}
	for _, c := range w.children {
		if c.kind != File || w.matters(in.item, c.folded) {
			kept.children = append(kept.children, c)
		}
	}
	if w.held.listings == nil {
		w.held.listings = make(map[string]listing)
	}
	w.held.listings[in.path] = kept
}

// matters reports whether a rule may mean a file of that name, or a directory by it.
func (w *walk) matters(it item, folded string) bool {
	return folded == ".git" || folded == "head" || folded == "commondir" || w.m.deny.names.mean(folded) ||
		len(advance(it.tails, folded)) > 0
}

// maxStamps bounds the places that are looked at before each use of a Map. Only names that do not exist are left out.
const maxStamps = 1024
