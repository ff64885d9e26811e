package host

import (
	"crypto/sha256"
	"sync"
	"time"
)

// overrides are the grants that a person gave to calls which had been kept from something: the next call with the same input has them.
type overrides struct {
	now func() time.Time

	mu sync.Mutex
	of map[[sha256.Size]byte]overriding
}

// overriding are granted grants, and their expiry.
type overriding struct {
	grants []string
	until  time.Time
}

// How many overrides are kept, and for how long. A call that is not made again is forgotten.
const (
	maxOverrides = 100
	overrideTime = 5 * time.Minute
)

// add grants something to the next call of an identity.
func (o *overrides) add(of [sha256.Size]byte, grants []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil || len(o.of) >= maxOverrides {
		o.of = map[[sha256.Size]byte]overriding{}
	}
	o.of[of] = overriding{grants, o.now().Add(overrideTime)}
}

// take returns the grants for a call of that identity; they count once.
func (o *overrides) take(identity func() [sha256.Size]byte) ([]string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.of) == 0 {
		return nil, false
	}
	of := identity()
	found, there := o.of[of]
	delete(o.of, of)
	return found.grants, there && o.now().Before(found.until)
}
