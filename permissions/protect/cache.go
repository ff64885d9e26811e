package protect

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
)

// Cache keeps the Map of one session. A command needs it within microseconds and a walk takes milliseconds. So the walk runs in the
// background after each call that may have changed names, and each use only checks again the entries that the Map depends on.
type Cache struct {
	options Options
	age     time.Duration

	mu      sync.Mutex // guards the rest
	closed  bool
	allowed []string // protected paths that calls of the session were allowed to write, in this order
	walks
	coverage

	outside sync.Mutex // guards what follows, and is taken before mu
	beside  beside
}

// walks are those of a cache.
type walks struct {
	wanted  int   // counts the Invalidates
	last    *scan // the last walk that ended, nil if none
	running *scan // the walk under way, nil if none
}

// coverage carries findings from one walk to the next.
type coverage struct {
	held       coverHistory // belongs to the walk under way
	amended    bool         // the rules are others than those that held was made by
	amendments int
}

// scan is one walk, or the promise of one until done is closed.
type scan struct {
	serves int // it began after that many Invalidates
	begun  time.Time
	done   chan struct{}
	m      *Map
	err    error
}

// DefaultAge is how long a Map is used without another walk. Names that other processes make deep in a root may stay unknown that
// long.
const DefaultAge = 10 * time.Second

// errClosed is the error of a closed Cache.
var errClosed = errors.New("the session of these protected names has ended")

// NewCache returns a Cache, which does nothing before its first Map. Age 0 means DefaultAge.
func NewCache(options Options, age time.Duration) *Cache {
	if age <= 0 {
		age = DefaultAge
	}
	return &Cache{options: options, age: age}
}

// Map returns a Map that was begun after the last Invalidate, is younger than the cache's age, and whose entries are
// still what they were; if need be it waits for the walk that makes one. Its errors are those of Scan.
func (c *Cache) Map(ctx context.Context) (*Map, error) {
	if m := c.current(); m != nil {
		return m, nil
	}
	c.mu.Lock()
	need := c.wanted
	for {
		if c.closed {
			c.mu.Unlock()
			return nil, errClosed
		}
		if c.running == nil {
			c.start()
		}
		walk := c.running
		c.mu.Unlock()
		select {
		case <-walk.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if walk.serves >= need {
			return walk.m, walk.err
		}
		c.mu.Lock()
	}
}

// current returns the last Map if it may be used as it is. If only a look at its entries shows that it may not, the
// cache is invalidated.
func (c *Cache) current() *Map {
	c.mu.Lock()
	last := c.last
	usable := last != nil && last.err == nil && last.serves == c.wanted && time.Since(last.begun) < c.age
	c.mu.Unlock()
	if !usable {
		return nil
	}
	if last.m.current() {
		return last.m
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if last.serves == c.wanted {
		c.wanted++
	}
	return nil
}

// Invalidate says that names below the roots may have changed: a command or tool that writes has ended, or goes on in
// the background. It begins a walk, if there ever was one, and does not wait for it.
func (c *Cache) Invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted++
	if c.running == nil && c.last != nil && !c.closed {
		c.start()
	}
}

// Amend replaces the read-deny list and the further sealed names, for every later Map.
func (c *Cache) Amend(readDeny, sealed []string) {
	c.mu.Lock()
	c.options.ReadDeny, c.options.Sealed, c.amended = readDeny, sealed, true
	c.amendments++
	c.mu.Unlock()
	c.Invalidate()
}

// Amended is how often Amend was called.
func (c *Cache) Amended() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.amendments
}

// maxAllowed bounds how many allowed paths are remembered.
const maxAllowed = 20_000

// Allow notes paths that a call was allowed to write, before it does, so that nothing takes their change for that of another call. Only
// protected names matter.
func (c *Cache) Allow(paths ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var now *Map
	if c.last != nil {
		now = c.last.m
	}
	for _, file := range paths {
		if _, named := Asks(file, ""); (named || now != nil && len(now.Opens(file)) > 0) && len(c.allowed) < maxAllowed {
			c.allowed = append(c.allowed, path.Clean(file))
		}
	}
}

// Allowances is how much was allowed so far, for Allowed.
func (c *Cache) Allowances() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.allowed)
}

// Allowed reports whether a call was allowed to write the path, or a directory above it, since that many allowances.
func (c *Cache) Allowed(since int, file string) bool {
	return c.allows(since, func(allowed string) bool { return agenttool.Within(allowed, file) })
}

// AllowedExactly is Allowed without the directories above.
func (c *Cache) AllowedExactly(since int, file string) bool {
	return c.allows(since, func(allowed string) bool { return allowed == file })
}

func (c *Cache) allows(since int, covers func(string) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.allowed[min(since, len(c.allowed)):], func(allowed string) bool { return allowed != "" && covers(allowed) })
}

// start begins a walk. It ends by itself, within the limits of the options, and begins another if names changed
// meanwhile. The caller holds the lock.
func (c *Cache) start() {
	walk, options := &scan{serves: c.wanted, begun: time.Now(), done: make(chan struct{})}, c.options
	c.running = walk
	if c.amended {
		c.held.forget()
		c.amended = false
	}
	go func() {
		walk.m, walk.err = scanWith(context.Background(), options, &c.held)
		c.mu.Lock()
		defer c.mu.Unlock()
		defer close(walk.done)
		c.last, c.running = walk, nil
		if c.wanted > walk.serves && !c.closed {
			c.start()
		}
	}()
}

// Close ends the cache and waits for a walk under way.
func (c *Cache) Close() {
	c.mu.Lock()
	c.closed = true
	running := c.running
	c.mu.Unlock()
	if running != nil {
		<-running.done
	}
}
