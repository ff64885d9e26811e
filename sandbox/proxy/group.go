package proxy

import "sync"

// group is a set of things that end together. The zero group is empty and open.
type group struct {
	mu     sync.Mutex
	closed bool
	next   int
	ends   map[int]func()
}

// add has end called when the group is closed, until remove is called. It reports false, and keeps nothing, when the
// group is closed already.
func (g *group) add(end func()) (remove func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return func() {}, false
	}
	if g.ends == nil {
		g.ends = map[int]func(){}
	}
	id := g.next
	g.next++
	g.ends[id] = end
	return func() { g.remove(id) }, true
}

func (g *group) remove(id int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.ends, id)
}

// close ends all, once. The ends are called without the lock, for they remove themselves elsewhere.
func (g *group) close() {
	g.mu.Lock()
	ends := g.ends
	g.closed, g.ends = true, nil
	g.mu.Unlock()
	for _, end := range ends {
		end()
	}
}
