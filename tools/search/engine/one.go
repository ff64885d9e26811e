package engine

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// GrepFile searches one open regular file. Its parts have no File and an empty Path. It ignores Query.Want.
func (e *Engine) GrepFile(ctx context.Context, file *os.File, q Query, take func(Part) bool) (sum Summary, err error) {
	w := &worker{grep: &grep{query: &q}}
	w.scan = scanner{query: &q, matcher: q.Pattern.Matcher(), window: window{room: e.room(), large: e.large, most: e.options.TextBytes, turn: ownTurn()}}
	w.scan.matcher.Interrupt(func() bool { return ctx.Err() != nil })
	defer func() { e.keep(w.scan.window.room) }()
	w.scan.sink.fresh()
	w.scan.sink.send = func(f *found) bool { return batchResults{found: f}.take(&sum, take) }
	w.scan.begin(nil, Summary{})
	conn, err := file.SyscallConn() // Fd would make reads block, and some files of /proc have nothing to read
	if err != nil {
		return sum, err
	}
	failed := conn.Control(func(fd uintptr) {
		var st unix.Stat_t
		if err = unix.Fstat(int(fd), &st); err == nil {
			err = w.scan.whole(ctx, int(fd), st.Size)
		}
	})
	if failed != nil {
		return sum, failed
	}
	if w.scan.sink.stopped {
		return sum, nil
	}
	w.count(err)
	if err := w.short.Load(); err != nil {
		return Summary{}, *err
	}
	batchResults{found: w.scan.sink.finish(), sum: w.sum}.take(&sum, take)
	return sum, nil
}
