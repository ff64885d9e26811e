package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/index"
	"toolhost/tools/search/tree"
)

const (
	batchFiles = 64 // files that one goroutine searches at a time; the block size of a guard
	maxAhead   = 4  // batches per worker that may be searched ahead of the current turn
)

// Grep searches the files of a tree in path order. It passes each result, a file or a part of one, to take until take
// returns false. If take or ctx ends the search early, the summary covers only the parts that were taken.
func (e *Engine) Grep(ctx context.Context, r Root, q Query, take func(Part) bool) (Summary, error) {
	began := time.Now()
	v, err := e.open(ctx, r)
	if err != nil {
		return Summary{}, err
	}
	defer v.leave()
	g := &grep{view: v, query: &q}
	if !q.Pattern.Multiline() && q.Encoding == "" { // a multiline match may span two chunks
		g.maybe, g.indexed = v.candidates(q.Pattern.Required())
	}
	g.plan()
	sum := v.summary()
	found := false
	sum.add(g.run(ctx, func(p Part) bool {
		found = true
		return take(p)
	}))
	if err := g.short.Load(); err != nil {
		return Summary{}, *err
	}
	v.place.learn(g)
	if g.whole && !found && q.Probes != nil {
		sum.Probed = g.probe(ctx, time.Since(began))
	}
	return sum, nil
}

// probe makes the query's probes on the same view. If this search used the index, it has just found which of the
// indexed files are unchanged, so the probes need not ask again.
func (g *grep) probe(ctx context.Context, took time.Duration) *Probed {
	return g.query.probe(ctx, took, func(ctx context.Context, q Query, take func(Part) bool) {
		next := &grep{view: g.view, query: &q, verified: g.indexed}
		if !q.Pattern.Multiline() && q.Encoding == "" {
			next.maybe, next.indexed = g.view.candidates(q.Pattern.Required())
		}
		next.plan()
		next.survey = nil
		next.run(ctx, take)
	})
}

// probe makes the query's probes with search, one after another, until one finds a line. took is how long the search
// without results took.
func (q *Query) probe(ctx context.Context, took time.Duration, search func(ctx context.Context, q Query, take func(Part) bool)) (found *Probed) {
	for i, p := range q.Probes() {
		limited, cancel := context.WithTimeout(ctx, p.limit(took))
		next := Query{Pattern: p.Pattern, Want: q.Want, Encoding: q.Encoding, Store: true, Limit: 1, Clip: q.Clip}
		search(limited, next, func(part Part) bool {
			found = part.probed(i)
			return false
		})
		cancel()
		if found != nil || ctx.Err() != nil {
			break
		}
	}
	return found
}

// probed returns the first line of a part.
func (p Part) probed(probe int) *Probed {
	line := p.Lines[0]
	line.Text, line.Spans = bytes.Clone(line.Text), slices.Clone(line.Spans)
	return &Probed{Probe: probe, Path: p.Path, Line: line}
}

// grep is one search of many files.
type grep struct {
	*view
	query    *Query
	verified bool // the indexed files are known to be unchanged
	candidates
	route
	recording
	doubts
	pace
	reliance
}

// candidates are the files that can match by the index.
type candidates struct {
	maybe   index.Candidates
	indexed bool // maybe is valid
}

// recording is for later searches.
type recording struct {
	draft  *denials // nil: no denials are recorded
	survey *survey  // nil: no cache is filled for later searches
	whole  bool     // every file of the route was visited
}

// doubts are found while files are searched.
type doubts struct {
	stale     atomic.Bool           // a file differs from its cached state
	short     atomic.Pointer[error] // a shortage of the machine left a file unsearched: the search fails
	unindexed atomic.Bool           // a file is not in the index, or differs from it
}

// pace is how far a search is.
type pace struct {
	next atomic.Int64       // batch
	read atomic.Int64       // bytes
	free chan *resultBuffer // buffers that were taken and can be reused
}

// reliance is about files that were left out because of the index.
type reliance struct {
	mu    sync.Mutex
	asked []*tree.File // watched: files whose status matched the index
}

// plan chooses the files to visit: all, unless a cache of an earlier search tells which can be skipped.
func (g *grep) plan() {
	g.route, g.draft = route{files: g.Files}, g.newDraft()
	if !g.indexed || !g.watched || g.query.Want != nil || g.base != "" { // a filtered search does not count the skipped files
		return
	}
	now := state{g.List, g.index, g.index.Len(), g.secrets, g.epoch}
	if g.cached != nil && g.cached.state == now {
		g.route, g.draft = g.cached.route(g.maybe), nil
	} else {
		g.survey = newSurvey(now, int(g.index.Limit()))
	}
}

func (g *grep) batches() int { return (g.length() + batchFiles - 1) / batchFiles }

// run searches all batches. No worker runs any more when it returns.
func (g *grep) run(ctx context.Context, take func(Part) bool) (sum Summary) {
	workers := min(runtime.GOMAXPROCS(0), g.batches())
	if workers <= 1 {
		return g.alone(ctx, take)
	}
	ctx, stop := context.WithCancel(ctx)
	all := workerGroup{stop: stop}
	defer all.wait()
	l := newLines(maxAhead * workers)
	g.free = make(chan *resultBuffer, len(l.lines))
	for range workers {
		all.start(func() { g.work(ctx, l) })
	}
	for i := range g.batches() {
		for last := false; !last; {
			h, ok := l.receive(ctx, i)
			if !ok || !h.take(&sum, take) {
				return sum
			}
			last = h.last
			h.release(g.free)
		}
		l.done(i)
	}
	g.finish(ctx, &sum)
	return sum
}

// finish completes a search after its last batch, unless ctx cut it short.
func (g *grep) finish(ctx context.Context, sum *Summary) {
	if ctx.Err() != nil {
		return
	}
	g.whole = true
	sum.Searched += g.skipped(g.length())
}

// take passes the parts to the caller and reports whether more is wanted. Results after the last taken part are not
// in the sum.
func (h batchResults) take(sum *Summary, take func(Part) bool) bool {
	for _, p := range h.parts {
		if !take(p) {
			p.before.Searched++
			sum.add(p.before)
			return false
		}
	}
	sum.add(h.sum)
	return true
}

// alone searches in this goroutine: starting another takes longer than a small search.
func (g *grep) alone(ctx context.Context, take func(Part) bool) (sum Summary) {
	w := g.worker(ctx)
	defer w.close()
	w.scan.window.turn = ownTurn()
	w.scan.sink.send = func(f *resultBuffer) bool { return batchResults{resultBuffer: f}.take(&sum, take) }
	for i := range g.batches() {
		h := w.batch(ctx, i)
		if w.scan.sink.stopped || !h.take(&sum, take) || ctx.Err() != nil { // if the search stopped, the sum covers the parts that were taken
			return sum
		}
	}
	g.finish(ctx, &sum)
	return sum
}

// work searches batches until none are left.
func (g *grep) work(ctx context.Context, l *lines) {
	w := g.worker(ctx)
	defer w.close()
	for l.enter(ctx) {
		i := int(g.next.Add(1)) - 1
		if i >= g.batches() {
			return
		}
		w.scan.window.turn = l.turn(i)
		w.scan.sink.send = func(f *resultBuffer) bool { return l.send(ctx, i, batchResults{resultBuffer: f}) }
		h := w.batch(ctx, i)
		h.last = true
		if !l.send(ctx, i, h) {
			return
		}
	}
}

// batchWork is gathered by a worker in a batch.
type batchWork struct {
	asked  []*tree.File
	visits []int32 // for the survey
}

// fileWork is about the file that a worker searches.
type fileWork struct {
	status unix.Stat_t
	parts  []part
}

func (g *grep) worker(ctx context.Context) *worker {
	w := &worker{grep: g, dirs: dirs{tree: g.place.tree}, statuses: newStatuses(g.place.tree), guard: g.guard()}
	w.guard.draft = g.draft
	w.scan = scanner{query: g.query, sink: sink{base: len(g.base), free: g.free}, matcher: g.query.Pattern.Matcher()}
	w.scan.sink.fresh()
	w.scan.matcher.Interrupt(func() bool { return ctx.Err() != nil })
	w.scan.window = window{room: g.place.engine.room(), share: share{large: g.place.engine.large, most: g.place.engine.options.TextBytes}}
	return w
}

func (w *worker) close() {
	w.dirs.closeAll()
	w.statuses.close()
	w.place.engine.keep(w.scan.window.room)
}

// batch searches batch b and returns the results that were not handed over yet.
func (w *worker) batch(ctx context.Context, b int) batchResults {
	w.sum = Summary{}
	for i := b * batchFiles; i < min((b+1)*batchFiles, w.length()); i++ {
		if ctx.Err() != nil || w.scan.sink.stopped || w.short.Load() != nil {
			break
		}
		w.sum.Searched += w.skipped(i)
		n := w.number(i)
		cached := w.visit(ctx, n)
		if w.survey != nil && (cached == nil || !w.survey.note(n, cached)) {
			w.visits = append(w.visits, int32(n))
		}
	}
	w.report()
	return batchResults{resultBuffer: w.scan.sink.finish(), sum: w.sum}
}

// visit searches file n if the query wants it. It returns the file's cached state if later searches may rely on that
// until the next event.
func (w *worker) visit(ctx context.Context, n int) (cached *tree.FileFacts) {
	f := w.files[n]
	switch { // denied files are counted even if unwanted: the number then reveals nothing about their names
	case w.guard.denies(n, f):
		if !w.cut(ctx, f) {
			w.sum.Skipped.Denied++
		}
	case f.Kind == tree.Link || w.query.Want != nil && !w.query.Want(w.under(f.Dir), f.Name):
	case f.Kind == tree.Special:
		w.sum.Skipped.Special++
	default:
		err := w.file(ctx, f)
		w.count(err)
		if w.sum.Binary == "" && errors.Is(err, errBinary) {
			w.sum.Binary = f.Path()[len(w.base):]
		}
		if w.survey != nil && !errors.Is(err, errDenied) {
			return w.lasting(f)
		}
	}
	return nil
}

// cut searches a file that tools and commands see without the lines that hold secrets, as they see it. It reports whether it did.
func (w *worker) cut(ctx context.Context, f *tree.File) bool {
	if f.Kind == tree.Link || !w.guard.cut(f) || w.query.Want != nil && !w.query.Want(w.under(f.Dir), f.Name) {
		return false
	}
	dir, err := w.dirs.fd(f.Dir)
	if err != nil {
		return false
	}
	fd, err := openFile(dir, f.Name, &w.status)
	if err != nil {
		return false
	}
	shown, err := w.guard.secrets.View(f.Name, os.NewFile(uintptr(fd), f.Name))
	if err != nil {
		return false
	}
	defer shown.Close()
	if err := unix.Fstat(int(shown.Fd()), &w.status); err != nil {
		return false
	}
	w.count(w.content(ctx, f, entryFile{int(shown.Fd()), &w.status, nil}))
	return true
}

// report passes the findings of a batch to the search.
func (w *worker) report() {
	if len(w.asked) > 0 {
		w.grep.mu.Lock()
		w.grep.asked = append(w.grep.asked, w.asked...)
		w.grep.mu.Unlock()
		w.asked = w.asked[:0]
	}
	if len(w.visits) > 0 {
		w.survey.visit(w.visits)
		w.visits = w.visits[:0]
	}
}

// file searches one file, unless its cached state rules out a match.
func (w *worker) file(ctx context.Context, f *tree.File) error {
	known := w.known(f)
	if known != nil {
		if w.guard.deniesFile(f, known.Stamp.Dev, known.Stamp.Ino) {
			return errDenied
		}
		w.parts = w.maybeIn(known)
		if len(w.parts) == 0 && w.sure(f, known) {
			return nil
		}
	}
	if known != nil && len(w.parts) == 0 && w.statuses.of(f, &w.status) == nil && w.holds(f, known, &w.status) {
		return nil
	}
	dir, err := w.dirs.fd(f.Dir)
	if err != nil {
		return err
	}
	st := &w.status
	fd, err := openFile(dir, f.Name, st)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if w.guard.deniesFile(f, uint64(st.Dev), st.Ino) {
		return errDenied
	}
	return w.content(ctx, f, entryFile{fd, st, known})
}

// entryFile is an open file, its status, and its entry in the index.
type entryFile struct {
	fd    int
	st    *unix.Stat_t
	known *tree.FileFacts
}

// content searches an open file: the parts that the index names if the file matches the index, otherwise the whole
// file.
func (w *worker) content(ctx context.Context, f *tree.File, o entryFile) error {
	w.scan.begin(f, w.sum)
	w.read.Add(o.st.Size)
	if o.known != nil && w.holds(f, o.known, o.st) && o.known.Text && !o.known.Legacy {
		w.scan.text, w.scan.unrecognised = true, false
		if w.query.Before+w.query.After > 0 || large(w.parts) {
			return w.scan.whole(ctx, o.fd, o.st.Size)
		}
		err := w.scan.chunks(ctx, o.fd, w.parts, o.unchanged)
		if !errors.Is(err, errChanged) || w.scan.lines > 0 {
			return err
		}
		w.scan.begin(f, w.sum)
	}
	return w.scan.whole(ctx, o.fd, o.st.Size)
}

// unchanged reports whether the file still matches the index. Otherwise its parts would be cut in the wrong places.
func (o *entryFile) unchanged() bool {
	return unix.Fstat(o.fd, o.st) == nil && tree.StampOf(o.st) == o.known.Stamp
}

// large reports whether a part, such as a long line, needs one of the few large buffers.
func large(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.to-p.from > keepSize })
}

// GrepFile searches one open regular file from its current offset, which is its beginning. Its parts have no File and
// an empty Path. It ignores Query.Want.
func (e *Engine) GrepFile(ctx context.Context, file *os.File, q Query, take func(Part) bool) (sum Summary, err error) {
	began, found := time.Now(), false
	sum, err = e.grepFile(ctx, file, q, func(p Part) bool {
		found = true
		return take(p)
	})
	if found || err != nil || ctx.Err() != nil || q.Probes == nil {
		return sum, err
	}
	sum.Probed = q.probe(ctx, time.Since(began), func(ctx context.Context, q Query, take func(Part) bool) {
		if _, err := file.Seek(0, io.SeekStart); err == nil { // otherwise it cannot be read twice
			_, _ = e.grepFile(ctx, file, q, take)
		}
	})
	return sum, nil
}

func (e *Engine) grepFile(ctx context.Context, file *os.File, q Query, take func(Part) bool) (sum Summary, err error) {
	w := &worker{grep: &grep{query: &q}}
	w.scan = scanner{query: &q, matcher: q.Pattern.Matcher(), window: window{room: e.room(), share: share{large: e.large, most: e.options.TextBytes, turn: ownTurn()}}}
	w.scan.matcher.Interrupt(func() bool { return ctx.Err() != nil })
	defer func() { e.keep(w.scan.window.room) }()
	w.scan.sink.fresh()
	w.scan.sink.send = func(f *resultBuffer) bool { return batchResults{resultBuffer: f}.take(&sum, take) }
	w.scan.begin(nil, Summary{})
	conn, err := file.SyscallConn() // Fd would make reads block, and some files of /proc have nothing to read
	if err != nil {
		return sum, err
	}
	failed := conn.Control(func(fd uintptr) {
		var st unix.Stat_t
		if err = unix.Fstat(int(fd), &st); err == nil {
			err = w.scan.whole(ctx, int(fd), st.Size)
		}
	})
	if failed != nil {
		return sum, failed
	}
	if w.scan.sink.stopped {
		return sum, nil
	}
	w.count(err)
	if err := w.short.Load(); err != nil {
		return Summary{}, *err
	}
	batchResults{resultBuffer: w.scan.sink.finish(), sum: w.sum}.take(&sum, take)
	return sum, nil
}
