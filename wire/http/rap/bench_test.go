package rap

import (
	"fmt"
	"testing"
)

// BenchmarkCall is one call over loopback, from its POST to its result: with the host, its log, and both HTTP requests.
func BenchmarkCall(b *testing.B) {
	f := newFixture(b, set{})
	f.invoke("first", "look")
	f.result("first")
	f.Server.invoke = bucket{rate: 1e9, most: 1e9}
	for i := 0; b.Loop(); i++ {
		f.runtime.mu.Lock()
		f.runtime.all = nil
		f.runtime.mu.Unlock()
		id := fmt.Sprint("c", i)
		f.invoke(id, "look")
		f.result(id)
	}
}
