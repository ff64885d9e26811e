package match

const (
	maxMemory = 4 << 20   // bytes of a table and its keys; while a table is renewed the old one exists too
	perState  = 1024 + 64 // bytes per state in addition to its key

	effortPerStep  = 256     // in addition to the bytes of a key
	effortPerCheck = 1 << 20 // effort between two calls of stop: some milliseconds
)

// A state is the index of its row in the table. A transition is a state, or one of the special values below.
const (
	dead    uint32 = 0       // no match is possible before the next line
	start   uint32 = 256     // the state at the beginning of a text
	unknown uint32 = 1 << 31 // not computed yet: call step
	hit     uint32 = 3 << 30 // a match: in the line that contains or ends with this byte
	special uint32 = 1 << 31 // the bit that unknown and hit share
)

// automaton is a transition table that is filled in on demand. Its memory is bounded: a full table must be renewed.
type automaton struct {
	situation *situation
	transitions
	key     []byte
	stop    func() bool // called now and then; nil: never
	stopped bool        // stop returned true: results from now on are wrong
	effort  int         // since the last call of stop
	blank   [256]uint32
}

// transitions are the states that were reached.
type transitions struct {
	table  []uint32 // 256 transitions for each state
	keys   []string // the saved situation of each state
	states map[string]uint32
	size   int // bytes of the fields above
	room   int // maximum of size
}

func newAutomaton(s *situation) *automaton {
	a := &automaton{situation: s, transitions: transitions{states: map[string]uint32{}, room: maxMemory}}
	for c := range a.blank {
		a.blank[c] = unknown
	}
	a.renew()
	return a
}

// renew empties the table except for the given states, which get new numbers.
func (a *automaton) renew(live ...*uint32) {
	keep := make([]string, len(live))
	for i, state := range live {
		keep[i] = a.keys[*state/256]
	}
	a.table, a.keys, a.size = a.table[:0], a.keys[:0], 0
	clear(a.states)
	a.add("") // dead
	a.situation.begin()
	a.add(string(a.situation.save(nil)))
	for c := range 256 {
		a.table[c] = dead
	}
	if a.situation.lines {
		a.table['\n'] = start
	}
	for i, state := range live {
		*state = a.state(keep[i])
	}
}

// full reports whether the table must be renewed before another step.
func (t *transitions) full() bool { return t.size >= t.room }

// state returns the state of a key written by situation.save.
func (a *automaton) state(key string) uint32 {
	if state, ok := a.states[key]; ok {
		return state
	}
	return a.add(key)
}

func (a *automaton) add(key string) uint32 {
	state := uint32(len(a.table))
	a.table = append(a.table, a.blank[:]...)
	a.keys = append(a.keys, key)
	a.states[key] = state
	a.size += len(key) + perState
	return state
}

// step returns the transition from state on byte c and records it.
func (a *automaton) step(state uint32, c byte) uint32 {
	if to := a.table[state|uint32(c)]; to != unknown {
		return to
	}
	if a.interrupted(effortPerStep + len(a.keys[state/256])) {
		return dead
	}
	to := a.lead(state, c)
	if c >= 0x80 {
		a.table[state|uint32(c)] = to
		return to
	}
	for _, same := range a.situation.letters.class[c] {
		a.table[state|uint32(same)] = to
	}
	return to
}

// interrupted reports whether the work must stop, before a step that costs effort.
func (a *automaton) interrupted(effort int) bool {
	if a.effort += effort; a.effort > effortPerCheck && a.stop != nil {
		a.effort = 0
		a.stopped = a.stopped || a.stop()
	}
	return a.stopped
}

// lead computes the transition from state on byte c.
func (a *automaton) lead(state uint32, c byte) uint32 {
	s := a.situation
	a.resume(state)
	ended := s.feed(c)
	switch {
	case s.now.accepted:
		return hit
	case ended:
		return start
	case s.dead():
		return dead
	}
	a.key = s.save(a.key[:0])
	if state, ok := a.states[string(a.key)]; ok { // no copy of the key
		return state
	}
	return a.add(string(a.key))
}

// resume restores the situation of a state. In the start state a match may already exist, which a key does not
// record.
func (a *automaton) resume(state uint32) {
	if state == start {
		a.situation.begin()
	} else {
		a.situation.load(a.keys[state/256])
	}
}

// ends reports whether a text that ends in state contains a match.
func (a *automaton) ends(state uint32) bool {
	if state == dead {
		return false
	}
	a.resume(state)
	a.situation.finish()
	return a.situation.now.accepted
}
