package rap

import (
	"crypto/sha256"
	"sync"
	"time"
)

// The limits of the server, over all groups unless they say otherwise.
const (
	maxCalls     = 256       // that have no result yet
	maxPerGroup  = 64        // of one group
	maxPerHost   = 128       // whose callbacks go to one place
	maxJobs      = 64        // that are followed
	maxChoices   = 1024      // that wait for their answer
	maxHeld      = 128 << 20 // bytes of bodies, and of inputs that run
	maxSeen      = 1 << 14   // calls that are remembered, so that none runs twice
	maxQueued    = 32        // messages of a group, above which its progress is left out
	callTime     = 24 * time.Hour
	followTime   = 24 * time.Hour
	helperTime   = 5 * time.Second // for calls of our own, about a job
	maxBody      = 16 << 20        // of an invocation
	maxSmallBody = 16 << 10        // of all others
)

// The messages that wait to be delivered when no further call is taken: to one place, and to all of them. For a place for which nothing
// waits, twice as many may wait for the others: what it is owed is delivered at once.
var (
	maxForPlace = waiting{messages: 512, bytes: 64 << 20}
	maxForAll   = waiting{messages: 4096, bytes: 128 << 20}
)

// bucket lets through so many requests a second, and more of them after a pause. The zero value lets none through.
type bucket struct {
	rate, most float64

	mu   sync.Mutex
	left float64
	last time.Time
}

// take reports whether one more may go through.
func (b *bucket) take(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last.IsZero() {
		b.left = b.most
	} else if passed := now.Sub(b.last).Seconds(); passed > 0 {
		b.left = min(b.most, b.left+passed*b.rate)
	}
	b.last = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// ring remembers the last calls, to recognize calls that are sent again: of the sums of each, as much as nobody can find a second text for. The zero
// value is empty.
type ring struct {
	digests map[remembered]remembered
	order   []remembered
	next    int
}

// remembered is the first half of a sum. A server that has seen many calls holds 16,384 pairs of them.
type remembered [sha256.Size / 2]byte

// add remembers a call. The one that was added longest ago makes room.
func (r *ring) add(k key, digest [sha256.Size]byte) {
	if r.digests == nil {
		r.digests = map[remembered]remembered{}
	}
	name := remembered(k[:len(remembered{})])
	if len(r.order) < maxSeen {
		r.order = append(r.order, name)
	} else {
		delete(r.digests, r.order[r.next])
		r.order[r.next] = name
		r.next = (r.next + 1) % maxSeen
	}
	r.digests[name] = remembered(digest[:len(remembered{})])
}

// find returns whether a call is remembered, and whether the digest is its own or that of a call of an earlier server.
func (r *ring) find(k key, digest [sha256.Size]byte) (known, same, earlier bool) {
	before, known := r.digests[remembered(k[:len(remembered{})])]
	return known, known && before == remembered(digest[:len(remembered{})]), known && before == remembered(unknownDigest[:len(remembered{})])
}

// room is the bytes of bodies and inputs that are held. The zero value is empty.
type room struct {
	mu   sync.Mutex
	held int64
	shut bool
}

// reserve reserves n bytes and reports whether there was room for them.
func (r *room) reserve(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shut || r.held+n > maxHeld {
		return false
	}
	r.held += n
	return true
}

func (r *room) release(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= n
}

// close refuses whatever comes from now on.
func (r *room) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shut = true
}
