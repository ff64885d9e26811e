package main

import (
	"fmt"
	"testing"
)

// TestFloodLeavesLittle: what a host took for a burst of large results and large lines it gives back once it is quiet.
func TestFloodLeavesLittle(t *testing.T) {
	if underRace {
		t.Skip("the race detector keeps memory of its own")
	}
	t.Parallel()
	c := openLines(t)
	c.noise(500)
	c.greets(false)
	const calls = 60
	go func() {
		for i := range calls {
			c.call(i, "read", `{"path":"picture.png"}`)
		}
	}()
	for i := range calls {
		if r := c.answer(fmt.Sprint(i)).result(t); r.IsError {
			t.Fatalf("call %d: %+v", i, r)
		}
	}
	most := c.resident()
	eventually(t, "the memory is given back", func() bool { return c.resident() < 64_000_000 })
	t.Logf("%d MB after the flood, %d MB left", most/1e6, c.resident()/1e6)
}
