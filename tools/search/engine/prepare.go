package engine

import (
	"bytes"
	"context"
	"runtime"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"toolhost/tools/racy"
	"toolhost/tools/search/index"
	"toolhost/tools/search/tree"
	"toolhost/tools/search/watch"
)

const (
	sweepTime = 30 * time.Second // interval between comparisons of all files of a watched tree
	brief     = time.Second      // the longest time that background work may block searches
)

// prepare starts indexing the place, and watching it if needed, in the background.
func (p *place) prepare() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.end.Err() != nil:
	case p.busy:
		p.again = true
	default:
		p.busy = p.engine.begin(p.work)
	}
}

// work runs until nothing is left to do. Its thread exits afterwards, so its low priority needs no reset.
func (p *place) work() {
	runtime.LockOSThread()
	lowerPriority()
	for more := true; more; more = p.goesOn() {
		p.watch()
		if p.due.CompareAndSwap(true, false) {
			p.compare()
		}
		p.build()
	}
}

// goesOn reports whether there is more background work, and ends the work if not.
func (p *place) goesOn() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.again && p.end.Err() == nil {
		p.again = false
		return true
	}
	p.busy = false
	switch {
	case p.end.Err() != nil: // the place has no users left
		p.closeLocked()
	case p.events != nil && p.sweep == nil:
		p.sweep = time.AfterFunc(sweepTime, p.look)
	}
	return false
}

// look schedules a comparison of all files with their cached state.
func (p *place) look() {
	p.mu.Lock()
	p.sweep = nil
	p.mu.Unlock()
	p.due.Store(true)
	p.prepare()
}

// compare drops the cached state of changed files, independently of events.
func (p *place) compare() {
	list := p.relist()
	if list == nil {
		return
	}
	statuses := newStatuses(p.tree)
	defer statuses.close()
	var st unix.Stat_t
	stale := false
	for _, f := range list.Files {
		known := f.Known.Load()
		if known == nil || p.end.Err() != nil {
			continue
		}
		if statuses.of(f, &st) != nil || tree.StampOf(&st) != known.Stamp {
			f.Known.CompareAndSwap(known, nil)
			stale = true
		}
	}
	if stale {
		p.mu.Lock()
		p.epoch++
		p.mu.Unlock()
	}
}

// relist lists the tree again, independently of events; it returns nil on failure.
func (p *place) relist() *tree.List {
	ctx, cancel := context.WithTimeout(p.end, brief)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.events != nil {
		p.events.doubt = true
	}
	if p.refreshLocked(ctx) != nil {
		return nil
	}
	return p.list
}

// build brings the index up to date with the files.
func (p *place) build() {
	p.mu.Lock()
	v := &view{List: p.list, place: p, secrets: p.secrets}
	p.mu.Unlock()
	list := v.List
	if list == nil {
		return
	}
	g := p.index.Load()
	if g == nil || g.wasteful(list) {
		g = p.renew(g)
		p.index.Store(g)
	}
	b := &builder{place: p, generation: g, dirs: dirs{tree: p.tree}, window: window{share: share{large: p.engine.large, most: p.engine.options.TextBytes}}, guard: v.guard()}
	defer b.dirs.closeAll()
	for i, f := range list.Files {
		if p.end.Err() != nil {
			return
		}
		if f.Kind == tree.Regular && b.wants(f.Known.Load()) && !b.guard.denies(i, f) {
			b.file(f)
		}
	}
}

// wasteful reports whether much of an index describes removed or changed files.
func (g *generation) wasteful(list *tree.List) bool {
	used := 0
	for _, f := range list.Files {
		if known := f.Known.Load(); known != nil && known.Index == g.number {
			used += len(known.Chunks)
		}
	}
	return g.Len() > used+used/3+1000
}

// renew returns an empty index that replaces g.
func (p *place) renew(g *generation) *generation {
	next := &generation{number: 1, Index: index.New(p.engine.options.IndexBytes)}
	if g != nil {
		next.number = g.number + 1
	}
	return next
}

// builder adds files to the index.
type builder struct {
	*place
	*generation
	dirs   dirs
	window window
	guard  guard
}

// maxIndexed is the size of the largest file that is indexed.
const maxIndexed = 64 << 20

// wants reports whether a file should be indexed.
func (b *builder) wants(known *tree.FileFacts) bool {
	return known == nil || known.Index != b.number
}

// file indexes a file. Unreadable files, and files that may still change without showing it, stay unindexed: each
// search reads them.
func (b *builder) file(f *tree.File) {
	dir, err := b.dirs.fd(f.Dir)
	if err != nil {
		return
	}
	var st unix.Stat_t
	fd, err := openFile(dir, f.Name, &st)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	stamp := tree.StampOf(&st)
	if racy.At(time.Now(), stamp.Mtime, stamp.Ctime) {
		return
	}
	known := &tree.FileFacts{Stamp: stamp, Index: b.number}
	pseudo := st.Size == 0 && !watch.Trusted(fd) // a file of /proc reports size 0 but has content
	denied := b.guard.deniesFile(f, stamp.Dev, stamp.Ino)
	if denied || b.full.Load() || st.Size > maxIndexed || pseudo || !b.text(fd, known) {
		known.Chunks, known.Opaque = nil, true
	}
	if b.end.Err() == nil {
		f.Known.Store(known)
	}
}

// text adds the text of an open file to the index, and reports whether all of it was added.
func (b *builder) text(fd int, known *tree.FileFacts) bool {
	ctx, cancel := context.WithTimeout(b.end, time.Minute)
	defer cancel()
	defer b.window.close()
	if err := b.window.open(ctx, fd, known.Stamp.Size, false, ""); err != nil || b.window.decoded {
		return false
	}
	known.Text = true
	at := chunkAt{offset: int64(b.window.mark), line: 1}
	for {
		piece := b.window.buf[:b.window.whole]
		known.Text = known.Text && isText(piece)
		known.Legacy = known.Legacy || !utf8.Valid(piece)
		if !b.chunks(known, piece, at) {
			return false
		}
		at.offset += int64(len(piece))
		at.line += bytes.Count(piece, []byte("\n"))
		if b.window.eof {
			return b.window.binary || at.offset == known.Stamp.Size
		}
		if err := b.window.next(ctx, len(piece)); err != nil {
			return false
		}
	}
}

// chunkAt is the position of a piece in its file.
type chunkAt struct {
	offset int64
	line   int
}

// chunks adds a piece of a file to the index.
func (b *builder) chunks(known *tree.FileFacts, piece []byte, at chunkAt) (ok bool) {
	ok = true
	index.Cut(piece, func(chunk []byte, offset int64, line int) {
		id, there := b.Add(chunk)
		if ok = ok && there; ok {
			known.Chunks = append(known.Chunks, tree.Chunk{ID: uint32(id), Offset: at.offset + offset, Line: at.line + line - 1})
		}
	})
	if !ok {
		b.full.Store(true)
	}
	return ok
}

// judged caches denials for later searches.
func (p *place) judged(d *denials) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d != nil && d.list == p.list && d.secrets == p.secrets {
		p.denials = d
	}
}

// learn stores the findings of a search and starts indexing the changed files.
func (p *place) learn(g *grep) {
	if g.whole {
		p.judged(g.draft)
	}
	p.mu.Lock()
	if p.epoch == g.epoch { // no event arrived since, so the checked statuses still hold
		for _, f := range g.asked {
			f.Sure.Store(true)
		}
		if g.survey != nil && g.whole && !g.stale.Load() {
			p.cached = g.survey.result()
		}
	}
	if g.stale.Load() {
		p.epoch++
	}
	p.mu.Unlock()
	large := len(g.Files) >= p.engine.options.IndexFrom || g.read.Load() > 8<<20
	if p.engine.index() != Off && large && (g.index == nil || g.unindexed.Load()) {
		p.prepare()
	}
}

// watch starts watching the place if it should be watched and is not. It adds the watches before it reads the
// directories, so that no change falls between the two.
func (p *place) watch() {
	p.mu.Lock()
	list, wanted := p.list, p.list != nil && p.events == nil && !p.blind && p.watches(p.engine.index())
	p.mu.Unlock()
	if !wanted {
		return
	}
	ev := p.newEvents(list)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ev == nil {
		p.blind = true
		return
	}
	p.events = ev
	ctx, cancel := context.WithTimeout(p.end, brief)
	defer cancel()
	list, err := p.tree.Refresh(ctx)
	if err == nil {
		err = p.settleLocked(ctx, list)
	}
	if err != nil {
		p.blindLocked()
	}
}

// lowerPriority gives the current thread the lowest priority. On failure it keeps the normal one.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 19) }
