package index

import (
	"sync"
	"unsafe"
)

// ID identifies a chunk. IDs are small numbers, suitable as slice indexes; at most a few hundred below the largest
// are unused. An Index never reuses an ID.
type ID uint32

// maxSize keeps the number of blocks, at least 1 KiB each, well below the range of an ID.
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

// block holds the bits of up to 64 chunks of a class.
type block struct {
	rows []uint64
	used int // number of chunks in it
}

// blockCost is the memory of a block in addition to its rows: the struct, and its entries in the slices of Index,
// which append allocates up to twice as long as needed.
const blockCost = int64(unsafe.Sizeof(block{})) + 2*int64(unsafe.Sizeof((*block)(nil))+unsafe.Sizeof(uint32(0)))

// New returns an empty index that grows to at most maxBytes, and never above 32 GiB.
func New(maxBytes int64) *Index {
	return &Index{max: min(maxBytes, maxSize), empty: sync.Pool{New: func() any { return new(signature) }}}
}

// Add adds one chunk. Chunks of Cut work best; longer chunks of any size are accepted, but become candidates more
// often the longer they are. If ok is false there is no room for the chunk and nothing was added; smaller chunks may
// still fit. The text is not kept.
func (x *Index) Add(text []byte) (id ID, ok bool) {
	class := classOf(len(text))
	s := x.empty.Get().(*signature)
	s.sign(text, class) // most of the work; done without the lock
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

// room returns the number of a block of the class with room for a chunk.
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

// Bytes returns the memory of the index. It grows by whole blocks.
func (x *Index) Bytes() int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.size
}

// Limit returns an ID above all existing ones.
func (x *Index) Limit() ID {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return ID(64 * len(x.blocks))
}

// Len returns the number of chunks.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.len
}
