package engine

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"toolhost/tools/search/index"
	"toolhost/tools/search/tree"
	"toolhost/tools/workspace"
)

// candidateCache is the result that a search of a whole watched tree leaves for later searches: the file that owns
// each chunk of the index, and the files that must be visited because the index does not describe them reliably.
// Until an event arrives, a later search visits only these and the owners of the chunks that the index names.
// Checking every other file would take nearly all of its time. A candidateCache is immutable.
type candidateCache struct {
	state
	owners []int32 // by chunk: 1 + the number of its file in the list; 0: no file that may be skipped owns it
	visits []int32 // numbers of the files that are visited in any case, in order
}

// state identifies the list, the index and the rules that a candidateCache is valid for.
type state struct {
	list    *tree.List
	index   *generation
	chunks  int // number of chunks in the index; when it grows, fewer files must be visited
	secrets workspace.Secrets
	epoch   uint64
}

// route lists the files that a search visits, in path order.
type route struct {
	files   []*tree.File // of the list
	some    bool         // only the files in numbers are visited
	numbers []int32      // with some: the numbers of the visited files
}

// length returns the number of files to visit.
func (r *route) length() int {
	if r.some {
		return len(r.numbers)
	}
	return len(r.files)
}

// number returns the list number of the i-th visited file. For i past the end it returns the length of the list.
func (r *route) number(i int) int {
	switch {
	case !r.some:
		return i
	case i < 0:
		return -1
	case i == len(r.numbers):
		return len(r.files)
	}
	return int(r.numbers[i])
}

// skipped returns the number of files between visited files i-1 and i. They hold no match.
func (r *route) skipped(i int) int { return r.number(i) - r.number(i-1) - 1 }

// route returns the files to visit for the candidates.
func (c *candidateCache) route(maybe index.Candidates) route {
	wanted := make([]uint64, len(c.list.Files)/64+1)
	mark := func(n int32) { wanted[n/64] |= 1 << (n % 64) }
	for _, n := range c.visits {
		mark(n)
	}
	for id := range maybe.Named() {
		if int(id) < len(c.owners) && c.owners[id] > 0 {
			mark(c.owners[id] - 1)
		}
	}
	count := 0
	for _, word := range wanted {
		count += bits.OnesCount64(word)
	}
	r := route{files: c.list.Files, some: true, numbers: make([]int32, 0, count)}
	for at, word := range wanted {
		for ; word != 0; word &= word - 1 {
			r.numbers = append(r.numbers, int32(at*64+bits.TrailingZeros64(word)))
		}
	}
	return r
}

// survey fills a candidateCache while a search visits every file of a list.
type survey struct {
	candidateCache
	mu sync.Mutex
}

func newSurvey(s state, chunks int) *survey {
	return &survey{candidateCache: candidateCache{state: s, owners: make([]int32, chunks)}}
}

// note records that file n matches its index entry, so that later searches visit it for its chunks only. It returns
// false if a chunk is newer than the survey. Each file is noted once; different goroutines may note different files.
func (s *survey) note(n int, known *tree.FileFacts) bool {
	for _, c := range known.Chunks {
		if int(c.ID) >= len(s.owners) {
			return false // it was added after the survey began
		}
	}
	for _, c := range known.Chunks {
		s.owners[c.ID] = int32(n) + 1
	}
	return true
}

// visit records files that every later search must visit.
func (s *survey) visit(numbers []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, numbers...)
}

func (s *survey) result() *candidateCache {
	slices.Sort(s.visits)
	return &s.candidateCache
}

// generation is an index and its number. The cached state of a file names the generation that it refers to.
type generation struct {
	number uint32
	full   atomic.Bool // the index has reached its size cap
	*index.Index
}
