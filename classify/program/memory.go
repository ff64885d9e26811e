package program

// Memory is reusable memory for callers that parse often. A result of its Parse is valid until Free.
type Memory struct {
	results []*result
	used    int
}

// result is the result of one Parse, with room for the lists of most commands.
type result struct {
	args Args
	use  Use
	room *room
}

// room is for the lists of one result.
type room struct {
	argsRoom
	useRoom
}

// argsRoom is for the lists of Args.
type argsRoom struct {
	options  [8]GivenOption
	operands [8]Word
	values   [8]Word
	kinds    [16]string
}

func (x *argsRoom) args() Args {
	return Args{Options: x.options[:0], Operands: x.operands[:0], Kinds: x.kinds[:0:8], values: x.values[:0], kinds: x.kinds[8:8]}
}

// useRoom is for the lists of Use.
type useRoom struct {
	reads   [8]Word
	writes  [4]Word
	effects [8]Effect
	reasons [4]Reason
	runs    [2]Command
}

func (x *useRoom) use() Use {
	return Use{Understood: true, Reads: x.reads[:0], Writes: x.writes[:0], Effects: x.effects[:0], Reasons: x.reasons[:0], Runs: x.runs[:0]}
}

// Mark returns the argument that makes Free free every later result.
func (m *Memory) Mark() int { return m.used }

// Free frees what was parsed since a mark.
func (m *Memory) Free(mark int) { m.used = mark }

// next returns an empty result. Without a memory its lists have no room yet.
func (m *Memory) next() *result {
	if m == nil {
		return &result{use: Use{Understood: true}}
	}
	if m.used == len(m.results) {
		m.results = append(m.results, &result{room: new(room)})
	}
	r := m.results[m.used]
	m.used++
	x := r.room
	r.args, r.use = x.args(), x.use()
	return r
}
