package protect

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// held is what the maps of one session were about so far. What was once covered stays covered first, so that nothing that
// commands make takes its mask away, or hides it from the walk. It belongs to one scan at a time; the zero value holds nothing.
type held struct {
	order    map[string]int // what was covered, by when it first was
	kept     []Entry        // the same
	git      map[string]string
	listings map[string]listing
	deny     *denyList // of the options; nil: not compiled yet
	outside  outside
}

// outside are the places of the list outside the roots where there is something, as they were some time ago: commands cannot
// make others.
type outside struct {
	at    time.Time
	files []string
}

// forget drops what another list of secrets makes different.
func (h *held) forget() { h.listings, h.deny, h.outside = nil, nil, outside{} }

// compiled returns the list of secrets. It is shared, and not to be changed.
func (h *held) compiled(o Options, roots []string) (*denyList, error) {
	if h.deny != nil {
		return h.deny, nil
	}
	deny, err := compileDeny(o.ReadDeny, tops{roots, o.Home})
	if err == nil {
		h.deny = deny
	}
	return deny, err
}

// except takes one folded path back from what is secret, and says whether it could.
func (b *builder) except(folded string) bool {
	if b.m.deny == b.held.deny {
		b.m.deny = b.held.deny.copied()
	}
	return b.m.deny.except(folded)
}

// maxHeld bounds what is kept of a session. What comes later is found by the walk, or not.
const maxHeld = 1 << 15

// listing is what a large directory held that may matter, when it was listed.
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

// note keeps what a map covers.
func (h *held) note(m *Map) {
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

// first returns when an entry was first covered; what never was comes after all others.
func (h *held) first(e Entry) int {
	if at, ok := h.order[e.Path]; ok {
		return at
	}
	return maxHeld
}

// recall looks again at what was covered, wherever the walk ended.
func (b *builder) recall() {
	for dir, top := range b.held.git {
		if b.tree.root(dir) == "" {
			continue
		}
		if stat, err := b.tree.lstat(dir); err != nil || kindOf(&stat) != Dir {
			continue
		}
		b.repository(dir, top)
		if top != "" {
			b.watch[top] = true
		}
	}
	for _, e := range b.held.kept {
		if b.tree.root(e.Path) == "" {
			continue
		}
		stat, err := b.tree.lstat(e.Path)
		if err != nil {
			continue
		}
		kind := kindOf(&stat)
		switch denied, _ := b.m.deny.denied(fold(e.Path), true); {
		case e.Rule == Secret && denied && kind == Symlink:
			b.maskTarget(e.Path)
		case e.Rule == Secret && denied:
			b.mask(e.Path, &stat)
		case e.Rule != Secret && e.Rule != Denied && !slices.ContainsFunc(b.m.inner, within(e.Path)):
			b.seal(e.Path, e.Rule, kind)
		}
	}
}

// relisted returns what a large directory holds if it did not change since it was listed.
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

// keepListing keeps what may matter of a large directory that was listed to its end. Files that no rule can mean are left out.
func (w *walk) keepListing(in opened, begun time.Time) {
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
	return folded == ".git" || folded == "head" || folded == "commondir" || strings.HasPrefix(folded, w.m.deny.prefix) ||
		len(advance(it.tails, folded)) > 0
}

// Uncovered returns what commands could use although it should be covered, because a bound was met: of names to look at or of
// mounts. A command that relies on the cover must not run unasked then.
func (m *Map) Uncovered() []Gap {
	return slices.DeleteFunc(slices.Clone(m.Partial), func(g Gap) bool { return !g.Bound })
}
