package output

import "sync"

// ring holds the newest bytes of the output, at most max. It allocates no memory before the first byte, and never
// much more than needed.
type ring struct {
	b   []byte // the byte at offset o is b[o%max]
	max int
	end int64 // of the output

	shared *Rings // pool for large memory; nil: none
}

// Rings is a pool of memory for logs, so that an ended log leaves no garbage. The zero value is empty. It is safe for
// concurrent use.
// It is safe for concurrent use.
type Rings struct {
	mu   sync.Mutex
	free [][]byte
}

// maxFree is the number of unused rings that are kept.
const maxFree = 2

// take returns empty memory with capacity size.
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

// give returns memory that is not used any more.
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

// start returns the offset of the oldest byte in the ring.
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
		if at == len(r.b) { // not yet full
			r.b = r.b[:min(r.max, at+len(p))]
		}
		n := copy(r.b[at:], p)
		r.end += int64(n)
		p = p[n:]
	}
}

// room makes room for n bytes. While the ring still grows, its content is in order from b[0] on.
func (r *ring) room(n int) {
	switch {
	case n <= cap(r.b):
	case n > r.max/8: // so much output suggests more to come
		r.b = append(r.shared.take(r.max), r.b...)
	default:
		r.b = append(make([]byte, 0, min(r.max, max(n, 2*cap(r.b)))), r.b...)
	}
}

// drop releases all memory.
func (r *ring) drop() {
	if cap(r.b) == r.max {
		r.shared.give(r.b)
	}
	r.b = nil
}

// read copies content from off on, which must not be before start, and returns its size.
func (r *ring) read(p []byte, off int64) int {
	a, b := r.parts(off, min(off+int64(len(p)), r.end))
	return copy(p, a) + copy(p[len(a):], b)
}

// parts returns the content in [from, to), which must not be empty or begin before start, in two parts.
func (r *ring) parts(from, to int64) (a, b []byte) {
	at, n := int(from%int64(r.max)), int(to-from)
	if over := at + n - len(r.b); over > 0 {
		return r.b[at:], r.b[:over]
	}
	return r.b[at : at+n], nil
}

// clip releases spare capacity. No writes may follow.
func (r *ring) clip() { r.b = append(make([]byte, 0, len(r.b)), r.b...) }
