package engine

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/search/ignore"
	"toolhost/tools/workspace"
)

const (
	maxPlaces = 6                // trees that are kept
	idleTime  = 10 * time.Minute // after which a tree that nobody searched is forgotten
	maxLarge  = 2                // texts above 1 MiB that are in memory at once
)

// Options of an Engine. The zero value is useful.
type Options struct {
	Index      Mode               // what is relied on between searches; SetIndex changes it
	IndexBytes int64              // of one index at most; 0: 128 MiB
	TextBytes  int64              // of a line, or of a text that is searched as a whole, at most; 0: 64 MiB, which is the most
	IndexFrom  int                // files from which a tree is indexed; 0: 10. One of less is, when a search read more than 8 MiB
	Git        ignore.Environment // where the user's own configuration of git is; zero: nowhere
}

// Mode says how far a search relies on what was known before.
type Mode uint8

// The modes, see the package's documentation.
const (
	Auto    Mode = iota // Strict for trees of up to 20,000 files, Watched above
	Off                 // no index
	Strict              // the status of every file is asked for at each call
	Watched             // the kernel tells of changes, where it can
)

// ParseMode reads a mode: auto, off, strict or watched. An error names what it could be.
func ParseMode(text string) (Mode, error) {
	at := slices.Index([]string{"auto", "off", "strict", "watched"}, text)
	if at < 0 {
		return Auto, fmt.Errorf("search index %q: it is auto, off, strict or watched", text)
	}
	return Mode(at), nil
}

// Engine searches trees, and knows those that it searched before. It is safe for concurrent use.
type Engine struct {
	options Options
	mode    atomic.Int32 // a Mode
	large   chan struct{}
	rooms   chan []byte // buffers between searches

	mu     sync.Mutex
	places []*place // the one used last is first
	closed bool
	idle   *time.Timer

	running int           // in the background
	quiet   chan struct{} // closed when nothing is
}

// New returns an engine. Close ends what it does in the background.
func New(o Options) *Engine {
	if o.IndexBytes == 0 {
		o.IndexBytes = 128 << 20
	}
	if o.IndexFrom == 0 {
		o.IndexFrom = 10
	}
	e := &Engine{options: o, large: make(chan struct{}, maxLarge), rooms: make(chan []byte, runtime.GOMAXPROCS(0))}
	e.SetIndex(o.Index)
	return e
}

// SetIndex changes Options.Index for the searches that begin from now on.
func (e *Engine) SetIndex(m Mode) { e.mode.Store(int32(m)) }

func (e *Engine) index() Mode { return Mode(e.mode.Load()) }

// Close forgets everything. Searches that run go on to their end.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	places := e.places
	e.places = nil
	if e.idle != nil {
		e.idle.Stop()
	}
	e.mu.Unlock()
	leave(places)
	_ = e.Settle(context.Background())
}

// begin does work in the background, unless the engine is closed.
func (e *Engine) begin(work func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	if e.running++; e.running == 1 {
		e.quiet = make(chan struct{})
	}
	go func() {
		defer e.ended()
		defer func() { _ = recover() }() // what is known of one tree stays as it is: searches do without
		work()
	}()
	return true
}

func (e *Engine) ended() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running--; e.running == 0 {
		close(e.quiet)
	}
}

// Settle waits until nothing is done in the background any more, or ctx is done: then what was searched is indexed as far
// as it will be.
func (e *Engine) Settle(ctx context.Context) error {
	for {
		e.mu.Lock()
		running, quiet := e.running, e.quiet
		e.mu.Unlock()
		if running == 0 {
			return nil
		}
		select {
		case <-quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Root is where a search begins.
type Root struct {
	Dir              *workspace.Dir             // open; the search takes it over
	Path             string                     // absolute, resolved
	Top              string                     // from where ignore files count without a repository: Path or a directory above it; "": Path
	Hidden, NoIgnore bool                       // names that begin with a dot, and ignored ones, are searched too
	Private          func(absolute string) bool // directories that are never entered, the same at every search; nil: none
	Secrets          workspace.Secrets
}

// key tells trees apart.
type key struct {
	path, top        string
	hidden, noIgnore bool
	dev, ino         uint64
}

func keyOf(r *Root) (key, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(r.Dir.File().Fd()), &st); err != nil {
		return key{}, &os.PathError{Op: "stat", Path: r.Path, Err: err}
	}
	if r.Top == "" {
		r.Top = r.Path
	}
	return key{r.Path, r.Top, r.Hidden, r.NoIgnore, uint64(st.Dev), st.Ino}, nil
}

// open returns what a search of a root sees, for who leaves it when done. It takes the root's directory over.
func (e *Engine) open(ctx context.Context, r Root) (*view, error) {
	k, err := keyOf(&r)
	if err != nil {
		r.Dir.Close()
		return nil, err
	}
	if p := e.holder(k); p != nil {
		v, err := p.view(ctx, r, k)
		if err == nil {
			r.Dir.Close()
			return v, nil
		}
		p.leave()
	}
	p, err := e.newPlace(k, r)
	if err != nil {
		return nil, err
	}
	v, err := p.view(ctx, r, k)
	if err != nil {
		e.drop(p)
		p.leave()
	}
	return v, err
}

// drop forgets a place: there is nothing to be known of it.
func (e *Engine) drop(p *place) {
	e.mu.Lock()
	at := slices.Index(e.places, p)
	if at >= 0 {
		e.places = slices.Delete(e.places, at, at+1)
	}
	e.mu.Unlock()
	if at >= 0 {
		p.leave()
	}
}

// holder returns the place that has the tree with that key, or else one that may have it as a part: what is known of a
// project serves for its directories too.
func (e *Engine) holder(k key) *place {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.places, func(p *place) bool { return p.key == k })
	if at < 0 {
		at = slices.IndexFunc(e.places, func(p *place) bool { return p.key.holds(k) })
	}
	if at < 0 {
		return nil
	}
	p := e.places[at]
	e.places = slices.Insert(slices.Delete(e.places, at, at+1), 0, p)
	p.enter()
	return p
}

// holds reports whether a tree may be a part of the one with key k.
func (k key) holds(part key) bool {
	return k.top == part.top && k.hidden == part.hidden && k.noIgnore == part.noIgnore && agenttool.Within(k.path, part.path)
}

func (e *Engine) newPlace(k key, r Root) (*place, error) {
	p := newPlace(e, k, r)
	p.enter()
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		leave([]*place{p, p}) // for us, and for the engine
		return nil, fmt.Errorf("search %s: the search engine is closed", r.Path)
	}
	e.places = slices.Insert(e.places, 0, p)
	var dropped []*place
	for i := len(e.places) - 1; i > 0; i-- { // what is too much, and what another search made of the same tree meanwhile
		if i >= maxPlaces || e.places[i].key == k {
			dropped = append(dropped, e.places[i])
			e.places = slices.Delete(e.places, i, i+1)
		}
	}
	if e.idle == nil {
		e.idle = time.AfterFunc(idleTime, e.forget)
	}
	e.mu.Unlock()
	leave(dropped)
	return p, nil
}

// leave ends the engine's use of places; its lock is not held.
func leave(places []*place) {
	for _, p := range places {
		p.leave()
	}
}

// forget drops the trees that nobody searched for a while.
func (e *Engine) forget() {
	e.mu.Lock()
	var kept, dropped []*place
	for _, p := range e.places {
		if p.unused() > idleTime {
			dropped = append(dropped, p)
		} else {
			kept = append(kept, p)
		}
	}
	e.places, e.idle = kept, nil
	if len(kept) > 0 && !e.closed {
		e.idle = time.AfterFunc(idleTime/4, e.forget)
	}
	e.mu.Unlock()
	leave(dropped)
}

// Trim forgets trees, those first that were searched longest ago, until what is known of the others takes less than limit bytes.
func (e *Engine) Trim(limit int64) {
	e.mu.Lock()
	kept := 0
	for sum := int64(0); kept < len(e.places); kept++ {
		if sum += e.places[kept].bytes(); sum > limit {
			break
		}
	}
	dropped := slices.Clone(e.places[kept:])
	e.places = slices.Delete(e.places, kept, len(e.places))
	e.mu.Unlock()
	leave(dropped)
	for e.room() != nil {
	}
}

// room lends a buffer.
func (e *Engine) room() []byte {
	select {
	case room := <-e.rooms:
		return room
	default:
		return nil
	}
}

// keep takes a buffer back.
func (e *Engine) keep(room []byte) {
	if room == nil || cap(room) > keepSize {
		return
	}
	select {
	case e.rooms <- room[:0]:
	default:
	}
}
