package agenttool

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"
)

// SchemaVersion is the version of the standard that every record written here carries.
const SchemaVersion = "0.2.0"

// Identifiers of records. The standard leaves their form free; ours are a prefix and 26 characters that sort by time.
type (
	InvocationID  string // inv_…
	ResultID      string // res_…
	EventID       string // evt_…
	DecisionID    string // perm_…
	PersistenceID string // persist_…
	MutationID    string // mut_…
	ProgressID    string // prog_…
	SurfaceID     string // surface_…
	SessionID     string // ses_…
	HookID        string // hook_…
	ToolID        string // toolhost.read, mcp.github.search, …
)

// Timestamp returns t as the standard's timestamps are written here: RFC 3339, UTC, milliseconds. A call writes some
// thirty of them, which is why this is not a layout.
func Timestamp(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b := []byte("0000-00-00T00:00:00.000Z")
	digits(b[0:4], year)
	digits(b[5:7], int(month))
	digits(b[8:10], day)
	digits(b[11:13], hour)
	digits(b[14:16], minute)
	digits(b[17:19], second)
	digits(b[20:23], t.Nanosecond()/int(time.Millisecond))
	return string(b)
}

// digits writes the last digits of n, as many as b holds.
func digits(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// IDs makes identifiers: 48 bits of milliseconds, then 80 bits that start at random and count up, in Crockford's
// base 32. Two processes never agree on the 80 bits; one process never repeats them. The zero value is ready.
type IDs struct {
	mu     sync.Mutex
	seeded bool
	last   int64 // the latest moment used, milliseconds
	high   uint16
	low    uint64
}

// New returns a fresh identifier with the given prefix, for the moment now. With one prefix it sorts after every
// identifier returned before: a clock that is set back does not take the order with it.
func (g *IDs) New(prefix string, now time.Time) string {
	g.mu.Lock()
	if !g.seeded {
		var seed [10]byte
		_, _ = rand.Read(seed[:]) // never fails: crypto/rand ends the program instead
		g.high, g.low = binary.BigEndian.Uint16(seed[:2]), binary.BigEndian.Uint64(seed[2:])
		g.seeded = true
	}
	if g.low++; g.low == 0 {
		g.high++
	}
	g.last = max(g.last, now.UnixMilli())
	ms, high, low := uint64(g.last), g.high, g.low
	g.mu.Unlock()

	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var out [26]byte
	for i := 9; i >= 0; i-- {
		out[i] = alphabet[ms&31]
		ms >>= 5
	}
	for i := 25; i >= 10; i-- {
		out[i] = alphabet[low&31]
		low = low>>5 | uint64(high&31)<<59
		high >>= 5
	}
	return prefix + string(out[:])
}
