package shell

import (
	"runtime"
	"testing"
	"time"
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
	each := (heap() - before) / jobs
	for limit := time.Now().Add(time.Minute); each > 100<<10 && time.Now().Before(limit); { // the last may be on its last statement
		each = (heap() - before) / jobs
	}
	if each > 100<<10 {
		t.Errorf("an ended job holds %d bytes", each)
	}
	runtime.KeepAlive(b)
}
