package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/tools/search/index"
	"toolhost/tools/search/literal"
	"toolhost/tools/search/tree"
	"toolhost/tools/workspace"
)

// maxStrict is up to how many files Auto is Strict.
const maxStrict = 20_000

// place is a tree that was searched, and may be again: its list, its index, and the events of its directories.
type place struct {
	engine *Engine
	key    key
	tree   *tree.Tree
	index  atomic.Pointer[generation]
	users  atomic.Int32 // searches, and the engine
	made   time.Time
	used   atomic.Int64 // when it was searched last, in nanoseconds since it was made
	due    atomic.Bool  // all files are to be compared with what is known of them
	end    context.Context
	stop   context.CancelFunc

	mu      sync.Mutex
	secrets workspace.Secrets // of the last search
	list    *tree.List
	events  *events // nil: not watched
	blind   bool    // events cannot be had here
	epoch   uint64  // counts the times at which something was found to have changed
	calm    *calm   // what the last search learned; nil: nothing that counts
	denials *denials
	busy    bool // something is done in the background
	again   bool // there is more to do
	sweep   *time.Timer
}

// generation is an index and its number: what is known of files refers to one.
type generation struct {
	number uint32
	full   atomic.Bool // its cap is reached
	*index.Index
}

func newPlace(e *Engine, k key, r Root) *place {
	p := &place{engine: e, key: k, made: time.Now()}
	p.tree = tree.New(tree.Place{Root: r.Dir.File(), Path: r.Path, Top: r.Top}, tree.Options{
		Hidden: r.Hidden, NoIgnore: r.NoIgnore, Git: e.options.Git,
		Private: func(path string) bool { return r.Private != nil && r.Private(join(r.Path, path)) },
		Denied:  func(path string, dev, ino uint64) bool { return p.secrets.Denied(path, dev, ino) }, // asked while mu is held
	})
	p.end, p.stop = context.WithCancel(context.Background())
	p.users.Store(1)
	return p
}

// What is known of one file takes so many bytes: its entry in the list, and its stamp and chunks once it is indexed.
const (
	listedBytes = 90
	knownBytes  = 130
)

// bytes is about what the place takes. A place that a search works on counts as none: it is needed.
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

// join returns the path below dir.
func join(dir, below string) string {
	if dir == "/" {
		return dir + below
	}
	return dir + "/" + below
}

func (p *place) enter() {
	p.users.Add(1)
	p.used.Store(int64(time.Since(p.made)))
}

// leave ends a use. The last one closes the tree.
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
	if !p.busy { // else who is busy closes it
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

// watches reports whether the place is to be watched.
func (p *place) watches(m Mode) bool {
	return m == Watched || m == Auto && len(p.list.Files) > maxStrict
}

func (p *place) unused() time.Duration { return time.Since(p.made) - time.Duration(p.used.Load()) }

// view is what one search sees of a place.
type view struct {
	*tree.List
	place   *place
	secrets workspace.Secrets
	base    string // of the paths in the list: the directory where the search begins, "" or with a slash at its end
	index   *generation
	epoch   uint64
	watched bool
	calm    *calm    // what an earlier search learned in this epoch; nil: nothing
	denials *denials // of the whole list; nil: not known
}

func (v *view) leave() { v.place.leave() }

// errElsewhere says that a place has not what a search wants.
var errElsewhere = errors.New("it is not in this tree")

// view verifies the names and returns the list. It waits for at most half of the time that ctx leaves, so that what was
// listed until then can be searched. The error is errElsewhere, or that the root cannot be read.
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
	v.epoch, v.watched, v.calm = p.epoch, p.events != nil, p.calm
	if v.base == "" {
		v.denials = p.denials
	}
	if mode != Off {
		v.index = p.index.Load()
	}
	return v, nil
}

// forgetLocked forgets what was learned of what is no longer so.
func (p *place) forgetLocked() {
	if p.calm != nil && (p.calm.epoch != p.epoch || p.calm.list != p.list || p.calm.index != p.index.Load()) {
		p.calm = nil
	}
	if p.denials != nil && (p.denials.list != p.list || p.denials.secrets != p.secrets) {
		p.denials = nil
	}
}

// below returns the path of a directory below another one, "" or with a slash at its end.
func below(dir, path string) string {
	if rel := strings.TrimPrefix(path[len(dir):], "/"); rel != "" {
		return rel + "/"
	}
	return ""
}

// partLocked returns the part of the list below a directory, nil if that is not the one with key k.
func (p *place) partLocked(base string, k key) *tree.List {
	part, ok := p.list.Below(base)
	if !ok || !p.tree.Is(part.Dirs[0], k.dev, k.ino) || p.tree.Begins(part.Dirs[0]) {
		return nil // in a repository of its own other rules from above count for who searches there
	}
	return part
}

// refreshLocked makes the list the present one. After an error it is what it was.
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

// under returns the path of a directory below the one where the search begins.
func (v *view) under(d *tree.Dir) string { return d.Path[len(v.base):] }

func (v *view) summary() Summary {
	return Summary{
		Skipped: Skipped{Unreadable: v.Unreadable},
		Listed:  Listed{Ignored: v.Ignored, Hidden: v.List.Hidden, Partial: v.Partial},
	}
}

// names knows which names in a directory are denied. What it knows of a directory it has from the one above: files come in
// path order, so that this was the last one, or above that.
type names struct {
	*view
	chain []denied // from the root of the tree to the present directory
	none  workspace.SecretNames
}

// denied is what is denied in one directory.
type denied struct {
	dir   string // as tree.Dir's Path
	names workspace.SecretNames
}

// in returns what is denied in d.
func (n *names) in(d *tree.Dir) *workspace.SecretNames {
	if n.secrets == (workspace.Secrets{}) {
		return &n.none
	}
	if len(n.chain) == 0 {
		n.chain = append(n.chain, denied{"", n.secrets.Below(n.place.key.path)})
	}
	last := &n.chain[len(n.chain)-1]
	for !strings.HasPrefix(d.Path, last.dir) {
		n.chain = n.chain[:len(n.chain)-1]
		last = &n.chain[len(n.chain)-1]
	}
	for at := len(last.dir); at < len(d.Path); {
		end := at + strings.IndexByte(d.Path[at:], '/')
		n.chain = append(n.chain, denied{d.Path[:end+1], last.names.Below(d.Path[at:end])})
		last, at = &n.chain[len(n.chain)-1], end+1
	}
	return &last.names
}

// candidates returns which parts of indexed files may hold what the clauses require; ok is false if the index cannot say.
func (v *view) candidates(all []literal.Clause) (c index.Candidates, ok bool) {
	if v.index == nil || len(all) == 0 {
		return c, false
	}
	return v.index.Query(all)
}
