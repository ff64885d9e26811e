package engine

import "context"

// lines queues the results of batches until it is their turn. Its length bounds the batches that are begun and not
// yet taken.
type lines struct {
	begun chan struct{}
	lines []line
}

// line passes the results of one batch at a time to the reader. Its turn channel is readable once it is the batch's
// turn.
type line struct {
	results chan batchResults
	turn    chan struct{}
}

func newLines(n int) *lines {
	l := &lines{make(chan struct{}, n), make([]line, n)}
	for i := range l.lines {
		l.lines[i] = line{make(chan batchResults, 1), make(chan struct{}, 1)}
	}
	return l
}

// ownTurn returns a turn for a searcher without competitors.
func ownTurn() chan struct{} {
	turn := make(chan struct{}, 1)
	turn <- struct{}{}
	return turn
}

// enter waits until a further batch may be begun.
func (l *lines) enter(ctx context.Context) bool {
	select {
	case l.begun <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *lines) at(i int) line { return l.lines[i%len(l.lines)] }

func (l *lines) turn(i int) chan struct{} { return l.at(i).turn }

// send passes a part of the results of batch i to the reader.
func (l *lines) send(ctx context.Context, i int, h batchResults) bool {
	select {
	case l.at(i).results <- h:
		return true
	case <-ctx.Done():
		return false
	}
}

// receive takes the next part of batch i, whose turn it is.
func (l *lines) receive(ctx context.Context, i int) (h batchResults, ok bool) {
	select {
	case l.at(i).turn <- struct{}{}:
	default:
	}
	select {
	case h = <-l.at(i).results:
		return h, true
	case <-ctx.Done():
		return h, false
	}
}

// done ends the turn of batch i.
func (l *lines) done(i int) {
	<-l.at(i).turn
	<-l.begun
}

// batchResults is a part of the results of one batch.
type batchResults struct {
	*resultBuffer
	sum  Summary
	last bool // it is the last part of the batch
}
