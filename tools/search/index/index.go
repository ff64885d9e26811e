package index

import (
	"sync"
	"unsafe"
)

// ID stands for a chunk. IDs are small numbers, fit for indexing a slice: at most a few hundred below the largest stand
// for nothing. None is given twice by one Index.
type ID uint32

// maxSize keeps the number of blocks, of which the smallest has 1 KiB, well below what an ID can tell apart.
const maxSize = 32 << 30

// Index is the bit matrix. It is made by New and is safe for concurrent use: a Query sees a chunk wholly or not at all.
type Index struct {
	mu      sync.RWMutex
	max     int64
	size    int64
	blocks  []*block          // block n has the chunks with the IDs from 64n on
	classes [classes][]uint32 // numbers of the blocks of each class; only the last may have room
	len     int
	empty   sync.Pool // signatures without marks
}

// block has the bits of up to 64 chunks of a class.
type block struct {
	rows []uint64
	used int // chunks that are there
}

// blockCost is what a block takes beside its rows: itself, and its places in the slices of Index, which append makes up
// to twice as long as they need be.
const blockCost = int64(unsafe.Sizeof(block{})) + 2*int64(unsafe.Sizeof((*block)(nil))+unsafe.Sizeof(uint32(0)))

// New returns an empty index that grows to at most maxBytes, and never above 32 GiB.
func New(maxBytes int64) *Index {
	return &Index{max: min(maxBytes, maxSize), empty: sync.Pool{New: func() any { return new(signature) }}}
}

// Add takes one chunk in. Chunks as Cut makes them are served best; longer ones, of any size, are taken too, but
// become candidates the more often the longer they are. With ok false there is no room for it and nothing was added;
// smaller chunks may find room still. The text is not kept.
func (x *Index) Add(text []byte) (id ID, ok bool) {
	class := classOf(len(text))
	s := x.empty.Get().(*signature)
	s.sign(text, class) // by far the most of the work, done beside other calls
	x.mu.Lock()
	defer x.mu.Unlock()
	number, ok := x.room(class)
	if !ok {
		return 0, false
	}
	b := x.blocks[number]
	id = ID(number)*64 + ID(b.used)
	s.moveTo(b.rows, 1<<b.used)
	x.empty.Put(s)
	b.used++
	x.len++
	return id, true
}

// room returns the number of a block of the class that can take a chunk.
func (x *Index) room(class int) (number uint32, ok bool) {
	numbers := x.classes[class]
	if n := len(numbers); n > 0 && x.blocks[numbers[n-1]].used < 64 {
		return numbers[n-1], true
	}
	rows := 1 << (minRowBits + class)
	cost := int64(rows)*8 + blockCost
	if x.size+cost > x.max {
		return 0, false
	}
	x.size += cost
	number = uint32(len(x.blocks))
	x.blocks = append(x.blocks, &block{rows: make([]uint64, rows)})
	x.classes[class] = append(numbers, number)
	return number, true
}

// Bytes returns how much memory the index takes. It grows by whole blocks.
func (x *Index) Bytes() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size
}

// Limit returns an ID above all that were given.
func (x *Index) Limit() ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return ID(64 * len(x.blocks))
}

// Len returns how many chunks there are.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.len
}
