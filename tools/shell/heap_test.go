package shell

import (
	"runtime"
	"testing"
)

// What has ended costs little, however much it said.
func TestEndedJobsAreSmall(t *testing.T) {
	b := newBench(t, Options{})
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	run := func() { b.runWith(t.Context(), t, &discarding{}, cmd("seq 200000 >&2; seq 100000")) }
	run()
	before := heap()
	const jobs = 20
	for range jobs {
		run()
	}
	if each := (heap() - before) / jobs; each > 100<<10 {
		t.Errorf("an ended job holds %d bytes", each)
	}
	runtime.KeepAlive(b)
}
