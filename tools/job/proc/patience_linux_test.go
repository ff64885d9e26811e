package proc

import (
	"testing"
	"testing/synctest"
	"time"
)

// Who does not answer is given up on, once, and asked again when it has answered.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pid = 1 << 40
		answer := make(chan bool)
		began := time.Now()
		if _, ok := within(pid, func() bool { return <-answer }); ok {
			t.Error("was answered")
		}
		if took := time.Since(began); took != patience {
			t.Errorf("took %v", took)
		}
		if _, ok := within(pid, func() bool { t.Error("was asked again"); return true }); ok {
			t.Error("was answered")
		}
		if v, ok := within(pid+1, func() int { return 7 }); !ok || v != 7 {
			t.Errorf("another says %v, %v", v, ok)
		}
		close(answer)
		synctest.Wait()
		if v, ok := within(pid, func() int { return 8 }); !ok || v != 8 {
			t.Errorf("says %v, %v", v, ok)
		}
	})
}

// When many do not answer, nobody is asked.
func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pid = 1 << 40
		answer := make(chan bool)
		for i := range maxStuck {
			within(pid+i, func() bool { return <-answer })
		}
		if _, ok := within(pid-1, func() bool { t.Error("was asked"); return true }); ok {
			t.Error("was answered")
		}
		close(answer)
		synctest.Wait()
		if _, ok := within(pid-1, func() bool { return true }); !ok {
			t.Error("was not asked")
		}
	})
}
