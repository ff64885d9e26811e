package engine

import (
	"cmp"
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
	maxPlaces = 6                // number of trees that are kept
	idleTime  = 10 * time.Minute // time without a search after which a tree is forgotten
	maxLarge  = 2                // number of texts above 1 MiB in memory at once
)

// Options of an Engine. The zero value is useful.
type Options struct {
	Index      Mode               // how the index is trusted between searches; SetIndex changes it
	IndexBytes int64              // maximum size of one index; 0: 128 MiB
	TextBytes  int64              // maximum size of a line, or of a text that is searched as a whole; 0: 64 MiB, which is also the maximum
	IndexFrom  int                // minimum number of files for an index; 0: 10. A smaller tree is indexed too if a search read more than 8 MiB
	Git        ignore.Environment // location of the user's own git configuration; zero: none
}

// Mode selects how a search decides that a known file is unchanged.
type Mode uint8

// The modes, see the package's documentation.
const (
	Auto    Mode = iota // Strict for trees of up to 20,000 files, Watched above
	Off                 // no index
	Strict              // every call checks the status of every file
	Watched             // the kernel reports changes, where it can
)

// ParseMode parses a mode: auto, off, strict or watched. The error lists the valid values.
func ParseMode(text string) (Mode, error) {
	at := slices.Index([]string{"auto", "off", "strict", "watched"}, text)
	if at < 0 {
		return Auto, fmt.Errorf("search index %q: must be auto, off, strict or watched", text)
	}
	return Mode(at), nil
}

// Engine searches trees and caches what it learns of them. It is safe for concurrent use.
type Engine struct {
	options Options
	mode    atomic.Int32 // a Mode
	buffers

	mu     sync.Mutex // guards the rest
	places []*place   // most recently used first
	closed bool
	idle   *time.Timer
	jobs
}

// buffers keeps memory between searches, and bounds what searches hold at once.
type buffers struct {
	large chan struct{} // holds one for each large text
	rooms chan []byte
}

// jobs counts the background jobs.
type jobs struct {
	running int
	quiet   chan struct{} // closed when none runs
}

// New returns an engine. Close stops its background work.
func New(o Options) *Engine {
	o.IndexBytes = cmp.Or(o.IndexBytes, 128<<20)
	o.IndexFrom = cmp.Or(o.IndexFrom, 10)
	e := &Engine{options: o, buffers: buffers{large: make(chan struct{}, maxLarge), rooms: make(chan []byte, runtime.GOMAXPROCS(0))}}
	e.SetIndex(o.Index)
	return e
}

// SetIndex changes Options.Index for the searches that begin from now on.
func (e *Engine) SetIndex(m Mode) { e.mode.Store(int32(m)) }

func (e *Engine) index() Mode { return Mode(e.mode.Load()) }

// Close forgets all trees. Running searches finish normally.
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

// begin runs work in the background, unless the engine is closed.
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
		defer func() { _ = recover() }() // after a panic the cached data of one tree stays as it is: searches work without it
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

// Settle waits until no background work is left, or ctx is done. Then all searched trees are indexed as far as they
// will be.
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

// Root is the directory where a search begins.
type Root struct {
	Dir              *workspace.Dir             // open; the search takes it over
	Path             string                     // absolute, resolved
	Top              string                     // the top directory for ignore files outside a repository: Path or a directory above it; "": Path
	Hidden, NoIgnore bool                       // also search names that begin with a dot; also search ignored names
	Private          func(absolute string) bool // directories that are never entered, the same at every search; nil: none
	Secrets          workspace.Secrets
}

// key identifies a tree.
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
	r.Top = cmp.Or(r.Top, r.Path)
	return key{r.Path, r.Top, r.Hidden, r.NoIgnore, uint64(st.Dev), st.Ino}, nil
}

// open returns the view of a root for one search; the caller must call leave on it. open takes ownership of r.Dir.
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

// drop forgets a place that cannot be used any more.
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

// holder returns the place with that key, or else a place whose tree may contain it: the list and index of a project
// also serve searches of its subdirectories.
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

// holds reports whether the tree with key part may lie inside the tree with key k.
func (k key) holds(part key) bool {
	return k.top == part.top && k.hidden == part.hidden && k.noIgnore == part.noIgnore && agenttool.Within(k.path, part.path)
}

func (e *Engine) newPlace(k key, r Root) (*place, error) {
	p := newPlace(e, k, r)
	p.enter()
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		leave([]*place{p, p}) // one use is ours, the other the engine's
		return nil, fmt.Errorf("search %s: the search engine is closed", r.Path)
	}
	e.places = slices.Insert(e.places, 0, p)
	var dropped []*place
	for i := len(e.places) - 1; i > 0; i-- { // drop surplus places, and a place that another search made for the same tree meanwhile
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

// leave ends the engine's use of the places. The caller must not hold the engine's lock.
func leave(places []*place) {
	for _, p := range places {
		p.leave()
	}
}

// forget drops trees that were not searched for idleTime.
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

// Trim drops the least recently searched trees until the others take less than limit bytes.
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

// room returns a spare buffer, or nil.
func (b *buffers) room() []byte {
	select {
	case room := <-b.rooms:
		return room
	default:
		return nil
	}
}

// keep takes a buffer back for reuse.
func (b *buffers) keep(room []byte) {
	if room == nil || cap(room) > keepSize {
		return
	}
	select {
	case b.rooms <- room[:0]:
	default:
	}
}
