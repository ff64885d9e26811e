package match

import "bytes"

// blocksApart is how many blocks are walked in several lanes after one lane did not pay.
const blocksApart = 32

// span is a line: buf[start:end], without its \n.
type span struct{ start, end int }

// lane is a part of a buffer that consists of whole lines, and how far the automaton is in it.
type lane struct {
	at, end int // the next byte, and the end of the part
	line    int // where the line at hand begins, or a line before it
	state   uint32
	hits    []span
}

// walker finds lines by the automaton alone.
//
// An automaton waits at each byte: where it looks next depends on what it has just read. Four of them that have nothing
// to do with one another wait together, so a buffer is cut into four lanes.
type walker struct {
	a       *automaton
	awaited awaited
	buf     []byte
	lanes   [4]lane
	walked  int // bytes, so far
	saved   int // bytes of the block that one lane did not look at
	apart   int // blocks that are still to be cut into lanes before the next trial with one
}

// walk finds the matching lines of buf[from:to], which are whole lines.
//
// Some patterns can skip most bytes: those that must match from the beginning of a line, where most lines fail early,
// and those that wait for one byte. They are faster in one lane.
func (w *walker) walk(buf []byte, from, to int) *[4]lane {
	w.buf, w.saved = buf, 0
	w.walked += to - from
	one := w.apart == 0 && (w.a.situation.anchored || w.waits())
	if one {
		w.cut(from, to, 1)
	} else {
		w.apart = max(0, w.apart-1)
		w.cut(from, to, len(w.lanes))
		for w.together() {
		}
	}
	for i := range w.lanes {
		w.alone(&w.lanes[i])
	}
	if one && w.saved < (to-from)*3/4 {
		w.apart = blocksApart
	}
	return &w.lanes
}

// waits reports whether the awaited byte can be jumped to. It takes its time the first time.
func (w *walker) waits() bool {
	if w.awaited.known && !w.awaited.tried && w.walked > waitAfter {
		w.awaited.tried, w.awaited.waits = true, w.a.waits(w.awaited.byte)
	}
	return w.awaited.waits
}

// cut gives buf[from:to] to n lanes and nothing to the others.
func (w *walker) cut(from, to, n int) {
	for i := range w.lanes {
		end := to
		if i+1 < n && from < to {
			end = min(to, lineEnd(w.buf, from+(to-from)/(n-i))+1)
		}
		w.lanes[i] = lane{at: from, end: end, line: from, state: start, hits: w.lanes[i].hits[:0]}
		from = end
	}
}

// together walks all lanes to the next byte that is special in one of them, or to the end of the shortest; then it
// reports false.
func (w *walker) together() bool {
	l := &w.lanes
	n := len(w.buf)
	for i := range l {
		n = min(n, l[i].end-l[i].at)
	}
	if n <= 0 {
		return false
	}
	var text [4][]byte
	var states [4]uint32
	for i := range l {
		text[i], states[i] = w.buf[l[i].at:][:n], l[i].state
	}
	done := run4(w.a.table, &text, &states)
	for i := range l {
		l[i].at, l[i].state = l[i].at+done, states[i]
	}
	for i := range l {
		if done < n {
			w.take(&l[i], w.buf[l[i].at])
		}
	}
	return true
}

// alone walks a lane to its end.
func (w *walker) alone(l *lane) {
	for l.at < l.end {
		w.run(l)
		if l.at < l.end {
			w.take(l, w.buf[l.at])
		}
	}
	if l.at == len(w.buf) && l.at > l.line && w.buf[l.at-1] != '\n' {
		w.take(l, '\n')
	}
}

// run walks a lane to a special transition, skipping what it can.
func (w *walker) run(l *lane) {
	text := w.buf[l.at:l.end]
	var done, saved int
	if w.awaited.waits {
		done, saved, l.state = runWaiting(w.a.table, text, l.state, w.awaited.byte)
	} else {
		done, saved, l.state = runSkipping(w.a.table, text, l.state)
	}
	l.at += done
	w.saved += saved
}

// take takes the next byte of a lane, whatever it leads to.
func (w *walker) take(l *lane, c byte) {
	to := w.a.table[l.state|uint32(c)]
	if to == unknown {
		if w.a.full() {
			w.a.renew(&w.lanes[0].state, &w.lanes[1].state, &w.lanes[2].state, &w.lanes[3].state)
		}
		to = w.a.step(l.state, c)
	}
	if to == hit {
		w.found(l)
		return
	}
	l.state = to
	l.at++
}

// found notes the line at hand and goes to the next one.
func (w *walker) found(l *lane) {
	begin := l.line + bytes.LastIndexByte(w.buf[l.line:l.at], '\n') + 1
	end := lineEnd(w.buf, l.at)
	l.hits = append(l.hits, span{begin, end})
	l.at, l.line, l.state = end+1, end+1, start
}

// matches reports whether a line matches, which has no \n.
func (w *walker) matches(line []byte) bool {
	a, state := w.a, start
	for i := 0; i < len(line); i++ {
		n, _, s := runSkipping(a.table, line[i:], state)
		if i, state = i+n, s; i == len(line) {
			break
		}
		if state = w.step(&state, line[i]); state == hit || state == dead {
			return state == hit
		}
	}
	return w.step(&state, '\n') == hit
}

// holds reports whether a text of several lines holds a match.
func (w *walker) holds(text []byte) bool {
	a, state := w.a, start
	for i := 0; i < len(text); i++ {
		n, s := run(a.table, text[i:], state)
		if i, state = i+n, s; i == len(text) {
			break
		}
		if state = w.step(&state, text[i]); state == hit || state == dead {
			return state == hit
		}
	}
	return a.ends(state)
}

// step returns where the byte c leads from state.
func (w *walker) step(state *uint32, c byte) uint32 {
	if to := w.a.table[*state|uint32(c)]; to != unknown {
		return to
	}
	if w.a.full() {
		w.a.renew(state)
	}
	return w.a.step(*state, c)
}

// lineEnd returns the index of the first \n at or after from, or the size of buf.
func lineEnd(buf []byte, from int) int {
	if i := bytes.IndexByte(buf[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(buf)
}
