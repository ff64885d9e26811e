package engine

import (
	"math/bits"
	"slices"
	"sync"

	"toolhost/tools/search/index"
	"toolhost/tools/search/tree"
	"toolhost/tools/workspace"
)

// calm is what a search of a whole watched tree learned of it: which file each chunk of the index is of, and which files
// are not, or not for sure, what the index has. As long as no event comes, a later search visits those, and the files of
// the chunks that the index names: to ask about each of the others would take nearly all of its time. It is immutable.
type calm struct {
	state
	owners []int32 // by chunk: 1 + the number of its file in the list; 0: it is of no file that may be passed over
	visits []int32 // numbers of the files that are visited in any case, in order
}

// state is what a calm holds for.
type state struct {
	list    *tree.List
	index   *generation
	chunks  int // in the index: when there are more, more files need not be visited
	secrets workspace.Secrets
	epoch   uint64
}

// route is which files of a list a search visits, in path order.
type route struct {
	files   []*tree.File // of the list
	some    bool         // not all of them are visited
	numbers []int32      // with some: of those that are
}

// length returns how many files are visited.
func (r *route) length() int {
	if r.some {
		return len(r.numbers)
	}
	return len(r.files)
}

// number returns the number in the list of the i-th file, and of what comes after the last one.
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

// skipped returns how many files right before the i-th are passed over: they hold no match.
func (r *route) skipped(i int) int { return r.number(i) - r.number(i-1) - 1 }

// route returns what is to be visited for the candidates.
func (c *calm) route(maybe index.Candidates) route {
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

// survey makes a calm while a search visits every file of a list.
type survey struct {
	calm
	mu sync.Mutex
}

func newSurvey(s state, chunks int) *survey {
	return &survey{calm: calm{state: s, owners: make([]int32, chunks)}}
}

// note has the file with number n, which is what the index says of it, visited for its chunks only. It reports whether that
// can be. Each file is noted once, whichever goroutine does it.
func (s *survey) note(n int, known *tree.Known) bool {
	for _, c := range known.Chunks {
		if int(c.ID) >= len(s.owners) {
			return false // it came after the survey began
		}
	}
	for _, c := range known.Chunks {
		s.owners[c.ID] = int32(n) + 1
	}
	return true
}

// visit has files visited in any case.
func (s *survey) visit(numbers []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visits = append(s.visits, numbers...)
}

func (s *survey) result() *calm {
	slices.Sort(s.visits)
	return &s.calm
}
