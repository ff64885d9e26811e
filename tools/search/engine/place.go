package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/search/index"
	"toolhost/tools/search/literal"
	"toolhost/tools/search/tree"
	"toolhost/tools/workspace"
)

// maxStrict is the largest number of files where Auto means Strict.
const maxStrict = 20_000

// place is a tree that was searched, with its list, its index, and the events of its directories.
type place struct {
	origin
	index atomic.Pointer[generation]
	lifetime
	due atomic.Bool // all files must be compared with their cached state

	mu sync.Mutex
	knowledge
	watching
	background
}

// origin says which tree a place is.
type origin struct {
	engine *Engine
	key    key
	tree   *tree.Tree
}

// lifetime says how long a place is kept.
type lifetime struct {
	users atomic.Int32 // searches, plus one for the engine
	made  time.Time
	used  atomic.Int64 // time of the last search, in nanoseconds since made
	end   context.Context
	stop  context.CancelFunc
}

// watching is about the events of the directories.
type watching struct {
	events *events // nil: not watched
	blind  bool    // events are not available here
}

// knowledge of a tree lasts from search to search.
type knowledge struct {
	secrets workspace.Secrets // of the last search
	list    *tree.List
	epoch   uint64          // incremented when a change is noticed
	cached  *candidateCache // result of the last search; nil: none is valid
	denials *denials
}

// background is the work that is done between searches.
type background struct {
	busy  bool // it runs
	again bool // more of it is requested
	sweep *time.Timer
}

func newPlace(e *Engine, k key, r Root) *place {
	p := &place{origin: origin{engine: e, key: k}, lifetime: lifetime{made: time.Now()}}
	p.tree = tree.New(tree.Place{Root: r.Dir.File(), Path: r.Path, Top: r.Top}, tree.Options{
		Hidden: r.Hidden, NoIgnore: r.NoIgnore, Git: e.options.Git,
		Private: func(path string) bool { return r.Private != nil && r.Private(agenttool.Join(r.Path, path)) },
		Denied:  func(path string, dev, ino uint64) bool { return p.secrets.Denied(path, dev, ino) }, // called while mu is held
	})
	p.end, p.stop = context.WithCancel(context.Background())
	p.users.Store(1)
	return p
}

// Estimated memory per file, in bytes: its entry in the list, and its stamp and chunks once it is indexed.
const (
	listedBytes = 90
	knownBytes  = 130
)

// bytes estimates the memory of the place. A place that a search is using counts as 0: it cannot be dropped.
func (p *place) bytes() (sum int64) {
	if !p.mu.TryLock() {
		return 0
	}
	defer p.mu.Unlock()
	if p.list != nil {
		sum = int64(len(p.list.Files)) * listedBytes
	}
	if g := p.index.Load(); g != nil {
		sum += g.Bytes() + int64(g.Len())*knownBytes
	}
	return sum
}

func (p *lifetime) enter() {
	p.users.Add(1)
	p.used.Store(int64(time.Since(p.made)))
}

// leave ends one use. The last use closes the tree.
func (p *place) leave() {
	if p.users.Add(-1) > 0 {
		return
	}
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sweep != nil {
		p.sweep.Stop()
	}
	if !p.busy { // otherwise the background goroutine closes it
		p.closeLocked()
	}
}

func (p *place) closeLocked() {
	p.closeEventsLocked()
	p.tree.Close()
}

func (p *place) closeEventsLocked() {
	if p.events != nil {
		p.events.close()
		p.events = nil
		p.epoch++
	}
}

// watches reports whether the place should be watched.
func (p *knowledge) watches(m Mode) bool {
	return m == Watched || m == Auto && len(p.list.Files) > maxStrict
}

func (p *lifetime) unused() time.Duration { return time.Since(p.made) - time.Duration(p.used.Load()) }

// view is a search's view of a place.
type view struct {
	*tree.List
	place   *place
	secrets workspace.Secrets
	base    string // prefix in the list's paths: the directory where the search begins, "" or with a trailing slash
	index   *generation
	epoch   uint64
	watched bool
	cached  *candidateCache // left by an earlier search in this epoch; nil: none
	denials *denials        // of the whole list; nil: unknown
}

func (v *view) leave() { v.place.leave() }

// errElsewhere means that a place does not contain the root of a search.
var errElsewhere = errors.New("it is not in this tree")

// view verifies the names and returns the list. It waits for at most half of the time left in ctx, so that there is
// time to search the names listed until then. The error is errElsewhere, or that the root cannot be read.
func (p *place) view(ctx context.Context, r Root, k key) (*view, error) {
	if limit, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(limit)/2)
		defer cancel()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.secrets.Same(r.Secrets) {
		p.secrets = r.Secrets
		p.tree.Reread()
	}
	mode := p.engine.index()
	if p.events != nil && !p.watches(mode) {
		p.closeEventsLocked()
	}
	v := &view{place: p, secrets: p.secrets, base: below(p.key.path, k.path)}
	if v.base != "" && (p.list == nil || p.list.Partial) {
		return nil, errElsewhere
	}
	if err := p.refreshLocked(ctx); err != nil {
		return nil, err
	}
	p.forgetLocked()
	if v.List = p.list; v.base != "" {
		if v.List = p.partLocked(v.base, k); v.List == nil {
			return nil, errElsewhere
		}
	}
	v.epoch, v.watched, v.cached = p.epoch, p.events != nil, p.cached
	if v.base == "" {
		v.denials = p.denials
	}
	if mode != Off {
		v.index = p.index.Load()
	}
	return v, nil
}

// forgetLocked drops cached data that is no longer valid.
func (p *place) forgetLocked() {
	if p.cached != nil && (p.cached.epoch != p.epoch || p.cached.list != p.list || p.cached.index != p.index.Load()) {
		p.cached = nil
	}
	if p.denials != nil && (p.denials.list != p.list || p.denials.secrets != p.secrets) {
		p.denials = nil
	}
}

// below returns the path of a directory relative to dir, "" or with a trailing slash.
func below(dir, path string) string {
	if rel := strings.TrimPrefix(path[len(dir):], "/"); rel != "" {
		return rel + "/"
	}
	return ""
}

// partLocked returns the part of the list below a directory, or nil if that directory does not match key k.
func (p *place) partLocked(base string, k key) *tree.List {
	part, ok := p.list.Below(base)
	if !ok || !p.tree.Is(part.Dirs[0], k.dev, k.ino) || p.tree.HasOtherRules(part.Dirs[0]) {
		return nil
	}
	return part
}

// refreshLocked updates the list. After an error the list is unchanged.
func (p *place) refreshLocked(ctx context.Context) error {
	if p.events != nil {
		return p.followLocked(ctx)
	}
	if p.list == nil {
		defer holdCollector()()
	}
	list, err := p.tree.Refresh(ctx)
	if err == nil {
		p.list = list
	}
	return err
}

// under returns the path of a directory below the start of the search.
func (v *view) under(d *tree.Dir) string { return d.Path[len(v.base):] }

func (v *view) summary() Summary {
	return Summary{
		Skipped: SkipCounts{Unreadable: v.Unreadable},
		Listed:  ListCounts{Ignored: v.Ignored, Hidden: v.List.Hidden, Partial: v.Partial},
	}
}

// names computes the denied names of a directory. It derives them from those of the parent directory, which is still
// in the chain because files come in path order.
type names struct {
	*view
	chain []dirSecrets // from the root of the tree to the current directory
	none  workspace.SecretNames
}

// dirSecrets holds the denied names of one directory.
type dirSecrets struct {
	dir   string // as tree.Dir's Path
	names workspace.SecretNames
}

// in returns the denied names of d.
func (n *names) in(d *tree.Dir) *workspace.SecretNames {
	if n.secrets == (workspace.Secrets{}) {
		return &n.none
	}
	if len(n.chain) == 0 {
		n.chain = append(n.chain, dirSecrets{"", n.secrets.Below(n.place.key.path)})
	}
	last := &n.chain[len(n.chain)-1]
	for !strings.HasPrefix(d.Path, last.dir) {
		n.chain = n.chain[:len(n.chain)-1]
		last = &n.chain[len(n.chain)-1]
	}
	for at := len(last.dir); at < len(d.Path); {
		end := at + strings.IndexByte(d.Path[at:], '/')
		n.chain = append(n.chain, dirSecrets{d.Path[:end+1], last.names.Below(d.Path[at:end])})
		last, at = &n.chain[len(n.chain)-1], end+1
	}
	return &last.names
}

// candidates returns the parts of indexed files that may satisfy the clauses; ok is false if the index cannot tell.
func (v *view) candidates(all []literal.Clause) (c index.Candidates, ok bool) {
	if v.index == nil || len(all) == 0 {
		return c, false
	}
	return v.index.Query(all)
}
