package output

import "sync"

// ring holds the newest bytes of the output, at most max. It has no memory before there is something to hold, and never
// much more than that needs.
type ring struct {
	b   []byte // the byte at offset o is b[o%max]
	max int
	end int64 // of the output

	shared *Rings // where large memory comes from and goes to; nil: nowhere
}

// Rings is memory that logs hand on to each other, so that one that has ended leaves no garbage to the next. The zero value has none.
// It is safe for concurrent use.
type Rings struct {
	mu   sync.Mutex
	free [][]byte
}

// maxFree is how many unused rings are kept.
const maxFree = 2

// take returns memory for size bytes, empty.
func (r *Rings) take(size int) []byte {
	if r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(r.free); n > 0 && cap(r.free[n-1]) == size {
			b := r.free[n-1]
			r.free = r.free[:n-1]
			return b[:0]
		}
	}
	return make([]byte, 0, size)
}

// give takes memory back that nobody uses any more.
func (r *Rings) give(b []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.free) < maxFree {
		r.free = append(r.free, b)
	}
}

// start is the offset of the oldest byte that is held.
func (r *ring) start() int64 { return r.end - int64(len(r.b)) }

func (r *ring) write(p []byte) {
	if skip := len(p) - r.max; skip > 0 {
		r.room(r.max)
		r.b = r.b[:r.max]
		r.end += int64(skip)
		p = p[skip:]
	}
	r.room(min(r.max, len(r.b)+len(p)))
	for len(p) > 0 {
		at := int(r.end % int64(r.max))
		if at == len(r.b) { // not full yet
			r.b = r.b[:min(r.max, at+len(p))]
		}
		n := copy(r.b[at:], p)
		r.end += int64(n)
		p = p[n:]
	}
}

// room makes room for n bytes. As long as it has to, what is held is in order from b[0] on.
func (r *ring) room(n int) {
	switch {
	case n <= cap(r.b):
	case n > r.max/8: // what says that much will say more
		r.b = append(r.shared.take(r.max), r.b...)
	default:
		r.b = append(make([]byte, 0, min(r.max, max(n, 2*cap(r.b)))), r.b...)
	}
}

// drop gives all memory back.
func (r *ring) drop() {
	if cap(r.b) == r.max {
		r.shared.give(r.b)
	}
	r.b = nil
}

// read copies what is held from off on, which is not before start, and returns how much.
func (r *ring) read(p []byte, off int64) int {
	a, b := r.parts(off, min(off+int64(len(p)), r.end))
	return copy(p, a) + copy(p[len(a):], b)
}

// parts returns what is held in [from, to), which begins not before start and is not empty, in two parts.
func (r *ring) parts(from, to int64) (a, b []byte) {
	at, n := int(from%int64(r.max)), int(to-from)
	if over := at + n - len(r.b); over > 0 {
		return r.b[at:], r.b[:over]
	}
	return r.b[at : at+n], nil
}

// clip gives back the room to grow. Nothing is written after it.
func (r *ring) clip() { r.b = append(make([]byte, 0, len(r.b)), r.b...) }
