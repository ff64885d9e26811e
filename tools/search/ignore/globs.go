package ignore

import "slices"

// maxGlobs bounds the patterns of one file that are tried one by one, in bytes, since each takes several times its
// size in memory. Patterns beyond it do not count.
const maxGlobs = 256 << 10

// globs are rules that have to be tried one by one. The zero value is empty.
type globs struct {
	lists [][]rule    // lists[0]: rules that may match a text with any first byte; each list has the last rule first
	heads *[256]uint8 // the index in lists of the rules for texts with this first byte; 0: none
	size  int         // bytes of all patterns
}

func (g *globs) add(r rule) {
	if g.size += len(r.prefix) + len(r.pattern); g.size > maxGlobs {
		return
	}
	if g.lists == nil {
		g.lists = make([][]rule, 1)
	}
	list := g.list(r.prefix)
	g.lists[list] = append(g.lists[list], r)
}

// list returns the index of the list for rules with a prefix, and creates it. There are fewer than 256 lists because
// no prefix begins with a special character.
func (g *globs) list(prefix string) uint8 {
	if prefix == "" {
		return 0
	}
	if g.heads == nil {
		g.heads = new([256]uint8)
	}
	head := &g.heads[prefix[0]]
	if *head == 0 {
		*head = uint8(len(g.lists))
		g.lists = append(g.lists, nil)
	}
	return *head
}

// lastFirst reverses the rules from file order to the order of trial.
func (g *globs) lastFirst() {
	for _, rules := range g.lists {
		slices.Reverse(rules)
	}
}

// find returns the last rule that matches t, or found if that comes later.
func (g *globs) find(t *target, found rank) rank {
	if g.lists == nil {
		return found
	}
	found = tryEach(g.lists[0], t, found)
	if g.heads == nil || len(t.name) == 0 {
		return found
	}
	path, name := g.heads[t.rel[0]], g.heads[t.name[0]]
	if name != 0 {
		found = tryEach(g.lists[name], t, found)
	}
	if path != 0 && path != name {
		found = tryEach(g.lists[path], t, found)
	}
	return found
}

// tryEach returns the first of rules that matches t, or found if that comes later in the file or no steps are left.
func tryEach(rules []rule, t *target, found rank) rank {
	if !t.left.take(len(rules)) {
		return found
	}
	for i := range rules {
		r := &rules[i]
		if r.rank < found {
			break
		}
		if r.need&^t.bytes != 0 {
			continue
		}
		if r.match(t) {
			return r.rank
		}
		if t.left < 0 {
			break
		}
	}
	return found
}

// target is a path to match against rules.
type target struct {
	path  []byte  // from the top directory
	rel   []byte  // path from the file's directory
	name  []byte  // the last name of rel
	bytes byteSet // of name
	dir   bool    // it is a directory
	left  steps   // steps left for all rules together
}

// byteSet is an approximate set of bytes. Some bytes share a bit, but never a letter with a digit or a mark: bits 0
// to 31 stand for letters of either case, bits 32 to 63 for digits and most marks.
type byteSet uint64

func (s byteSet) with(c byte) byteSet { return s | 1<<(c&31|^c>>1&32) }

func setOf(text []byte) (s byteSet) {
	for _, c := range text {
		s = s.with(c)
	}
	return s
}
