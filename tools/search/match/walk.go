package match

import "bytes"

// blocksApart is the number of blocks that are walked in several lanes after one lane was not faster.
const blocksApart = 32

// span is a line: buf[start:end], without its \n.
type span struct{ start, end int }

// lane is a part of a buffer that consists of whole lines, and the progress of the automaton in it.
type lane struct {
	at, end int // the next byte, and the end of the lane
	line    int // beginning of the current line, or of a line before it
	state   uint32
	hits    []span
}

// walker finds lines with the automaton alone.
//
// At each byte an automaton stalls: its next lookup depends on the last one. Four independent automatons stall at the
// same time, so a buffer is cut into four lanes.
type walker struct {
	a       *automaton
	awaited requiredByte
	buf     []byte
	lanes   [4]lane
	walked  int // total bytes
	saved   int // bytes of the block that a single lane skipped
	apart   int // blocks to cut into lanes before the next trial with one
}

// walk finds the matching lines of buf[from:to], which holds whole lines.
//
// Some patterns can skip most bytes: patterns that must match from the beginning of a line, where most lines fail
// early, and patterns that wait for one byte. They are faster in one lane.
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

// waits reports whether the walker can jump to the awaited byte. The first call takes long.
func (w *walker) waits() bool {
	if w.awaited.known && !w.awaited.tried && w.walked > waitAfter {
		w.awaited.tried, w.awaited.waits = true, w.a.waits(w.awaited.byte)
	}
	return w.awaited.waits
}

// cut divides buf[from:to] among the first n lanes; the others get nothing.
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

// together walks all lanes to the next byte that is special in one of them. It returns false at the end of the
// shortest lane.
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

// run walks a lane to a special transition and skips bytes where it can.
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

// take consumes the next byte of a lane with any transition.
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

// found records the current line and moves to the next one.
func (w *walker) found(l *lane) {
	begin := l.line + bytes.LastIndexByte(w.buf[l.line:l.at], '\n') + 1
	end := lineEnd(w.buf, l.at)
	l.hits = append(l.hits, span{begin, end})
	l.at, l.line, l.state = end+1, end+1, start
}

// matches reports whether a line without \n matches.
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

// holds reports whether a text of several lines contains a match.
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

// step returns the transition from state on byte c.
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
