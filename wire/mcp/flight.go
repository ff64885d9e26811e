package mcp

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool/json"
	"toolhost/host"
	"toolhost/host/prompt"
)

// flight is one tools/call on its way through the host. It can outlive the request that began it.
type flight struct {
	invocation
	landing
	asks chan question // the newest prompt, until a request takes it
	told progress      // where its progress goes

	mu sync.Mutex // guards the next
	dialog

	resultHandles // by clients
}

// invocation is the call as the client made it.
type invocation struct {
	id     string // of the host's request
	tool   string // as it was called
	client string // that called it
	input  []byte // of the call, as it was sent
}

// landing is the end of a flight. It holds once ended is closed.
type landing struct {
	ended      chan struct{} // closed when completion is there
	completion host.Completion
	at         time.Time // when it ended, as completion says
}

// dialog is the talk with the client.
type dialog struct {
	open  *question          // the client got it and has not answered
	waits *sdk.ServerSession // of the request that waits for it; nil: none did yet
}

// question is a prompt of a flight.
type question struct {
	prompt.Prompt
	over <-chan struct{} // closed when it needs no answer any more
}

// done reports whether the question needs no answer any more.
func (q *question) done() bool { return closed(q.over) }

// endsWithin reports whether the call has ended, at the latest soon.
func (f *landing) endsWithin(d time.Duration) bool {
	select {
	case <-f.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// awaited sets the session of the request that waits for the call.
func (f *flight) awaited(in *sdk.ServerSession) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits = in
}

// in reports whether the request that waits for the call is of the session of that id.
func (f *flight) in(session string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waits != nil && f.waits.ID() == session
}

// asked keeps the prompt for the request that waits for the flight. It replaces an earlier prompt that no request took.
func (f *flight) asked(p prompt.Prompt, over <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.asks:
	default:
	}
	f.asks <- question{p, over}
}

// digest identifies a call's tool and input, which a later request must repeat to resume the call.
func digest(tool string, input []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(tool))
	h.Write([]byte{0})
	h.Write(canonical(input))
	return [sha256.Size]byte(h.Sum(nil))
}

// flights are the running calls, and calls that ended not long ago if a client has their state.
type flights struct {
	mu    sync.Mutex
	all   map[string]*flight
	kept  []endedFlight // ended ones, the oldest first
	alone []*flight     // running ones whose clients have their state and that no request waits for, the longest alone first
	bytes int           // size of the results of ended ones
	over  bool          // no call is taken any more
}

// add takes a call, and reports whether it may go on.
func (f *flights) add(one *flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.over() {
		return true
	}
	if f.all == nil {
		f.all = map[string]*flight{}
	}
	f.all[one.id] = one
	return !f.over
}

// live returns the calls that there are.
func (f *flights) live() []*flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.all))
}

// close ends the taking of calls. Those that come later may not go on.
func (f *flights) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}

func (f *flights) remove(one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found(one)
	if one.handed {
		f.keep(one)
		return
	}
	delete(f.all, one.id)
}

// get returns the call of that id, nil if there is none or it is not kept any more.
func (f *flights) get(id string) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trim(time.Now())
	return f.all[id]
}

// calling reports whether a call of the session goes on, whose connection may have ended.
func (f *flights) calling(session string) bool {
	for _, one := range f.live() {
		if !one.over() && one.in(session) {
			return true
		}
	}
	return false
}

// over reports whether the call has ended.
func (f *landing) over() bool { return closed(f.ended) }

// closed reports whether a channel that nothing is sent to is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// size is how many bytes the result of a call that has ended holds, near enough.
func (f *flight) size() int {
	n := len(f.completion.Result.StructuredContent) + len(f.completion.Invocation.ModelInput) + len(f.input)
	for _, b := range f.completion.Result.Content {
		n += len(b.Text) + len(b.Data) + len(b.Diff)
	}
	return n
}

// asking reports whether a question of the call waits for its answer.
func (f *flight) asking() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asks) > 0 || f.open != nil && !f.open.done()
}

// Bounds of the ended calls that are kept for clients with a question about them: time, number and bytes of results.
const (
	keptFor   = 10 * time.Minute
	maxKept   = 256
	maxKeptAt = 16 << 20
)

// endedFlight is a call that has ended, for a client that brings its state back.
type endedFlight struct {
	flight *flight
	until  time.Time
	bytes  int
}

// hand notes that the client was given a state of the call, so that it is kept when it ends. It reports whether the call
// has not ended yet.
func (f *flights) hand(one *flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.handed = true
	return f.all[one.id] == one && !one.over()
}

// keep adds a call that has ended. The oldest make room for it. f.mu is held.
func (f *flights) keep(one *flight) {
	now := time.Now()
	k := endedFlight{flight: one, until: now.Add(keptFor), bytes: one.size()}
	f.kept, f.bytes = append(f.kept, k), f.bytes+k.bytes
	f.trim(now)
}

// trim forgets calls that were kept long enough, and the oldest of too many. f.mu is held.
func (f *flights) trim(now time.Time) {
	n := 0
	for n < len(f.kept) && (now.After(f.kept[n].until) || len(f.kept)-n > maxKept || f.bytes > maxKeptAt && len(f.kept)-n > 1) {
		f.bytes -= f.kept[n].bytes
		delete(f.all, f.kept[n].flight.id)
		n++
	}
	f.kept = append(f.kept[:0:0], f.kept[n:]...)
}

// maxAlone bounds the running calls whose clients have a question and that no request waits for.
const maxAlone = 64

// resultHandles notes the ways to the result of a call. flights.mu guards it.
type resultHandles struct {
	handed  bool // a client was given its state
	waiting int  // requests
}

// join notes that a request waits for the call.
func (f *flights) join(one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.waiting++
	f.found(one)
}

// leave notes that a request waits for the call no longer. It reports whether the call is still wanted: another request
// waits, or its client has a question and has not answered. If too many calls are alone, it returns the
// first of them, and the caller cancels that.
func (f *flights) leave(one *flight) (wanted bool, forsaken *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.waiting--
	if one.waiting > 0 {
		return true, nil
	}
	if one.handed && !one.over() {
		f.alone = append(f.alone, one)
	}
	if len(f.alone) > maxAlone {
		forsaken = f.alone[0]
		f.found(forsaken)
	}
	return one.handed && one.asking(), forsaken
}

// found notes that a call is not alone any more, or has ended. f.mu is held.
func (f *flights) found(one *flight) {
	f.alone = slices.DeleteFunc(f.alone, func(other *flight) bool { return other == one })
}

// canonical returns one JSON text for all spellings of a value: a client that sends it again may order its members
// otherwise, and write 1 for 1.0. It returns invalid JSON unchanged.
func canonical(input []byte) []byte {
	var value any
	if json.Unmarshal(input, &value) != nil {
		return input
	}
	b, err := json.Marshal(normal(value))
	if err != nil {
		return input
	}
	return b
}

// normal writes the numbers of a value in one way. It changes the value.
func normal(value any) any {
	switch v := value.(type) {
	case json.Number:
		return normalNumber(v)
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = normal(v[name])
		}
	}
	return value
}

// maxExponent bounds the exponents that are counted with. A number beyond it stays as it is spelled.
const maxExponent = 1 << 30

// normalNumber writes a number as an integer that does not end in 0, and a power of ten. Nothing is rounded: numbers are
// the same only if their decimals are.
func normalNumber(n json.Number) json.Number {
	text, negative := strings.CutPrefix(string(n), "-")
	mantissa, power := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		mantissa = text[:i]
		if power, err = strconv.Atoi(text[i+1:]); err != nil || power > maxExponent || power < -maxExponent {
			return n
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant) - len(fraction)
	if negative {
		significant = "-" + significant
	}
	return json.Number(significant + "e" + strconv.Itoa(power))
}
