package page

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"sync"
	"time"

	"toolhost/cmd/toolhost/internal/code"
)

// Bounds of pairing.
const (
	codeLife    = 5 * time.Minute
	codeTries   = 5
	maxBrowsers = 8
)

// pairing holds the code that counts now and the paired browsers. Its zero value pairs none.
type pairing struct {
	mu       sync.Mutex
	code     string // empty: no browser can pair
	until    time.Time
	tries    int
	browsers []*browser // the oldest first
}

// begin makes a new code. An earlier one counts no more.
func (p *pairing) begin(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code, p.until, p.tries = code.New(), now.Add(codeLife), 0
	return p.code
}

var (
	errNoPairing = errors.New("no pairing is open: run toolhost approve --pair in a terminal, and type its code within 5 minutes")
	errWrongCode = errors.New("that is not the code")
)

// pair makes a token for a browser that knows the code.
func (p *pairing) pair(typed string, now time.Time) (token string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.code == "" || !now.Before(p.until) {
		p.code = ""
		return "", errNoPairing
	}
	if !code.Is(p.code, typed) {
		if p.tries++; p.tries >= codeTries {
			p.code = ""
			return "", errNoPairing
		}
		return "", errWrongCode
	}
	p.code = ""
	token = rand.Text() + rand.Text()
	p.browsers = append(p.browsers, &browser{sum: sha256.Sum256([]byte(token)), served: map[string]served{}})
	if len(p.browsers) > maxBrowsers {
		p.browsers[0].leave()
		p.browsers = p.browsers[1:]
	}
	return token, nil
}

// find returns the browser of a token; nil: there is none.
func (p *pairing) find(token string) *browser {
	sum := sha256.Sum256([]byte(token))
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.browsers {
		if subtle.ConstantTimeCompare(sum[:], b.sum[:]) == 1 {
			return b
		}
	}
	return nil
}

// forget ends the pairing of one browser, or of all and of the code if it is nil. It returns how many there were.
func (p *pairing) forget(one *browser) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var stay []*browser
	for _, b := range p.browsers {
		if one != nil && b != one {
			stay = append(stay, b)
			continue
		}
		b.leave()
	}
	gone := len(p.browsers) - len(stay)
	if p.browsers = stay; one == nil {
		p.code = ""
	}
	return gone
}

// browser is a paired browser.
type browser struct {
	sum [sha256.Size]byte // of its token

	mu     sync.Mutex
	gone   bool
	served map[string]served // by decision id
	lease  *time.Timer       // ends attendance; nil: it does not attend
	detach func()
}

// served is a prompt as a browser has it.
type served struct {
	version string
	at      time.Time
}

// attendance is how long a browser counts as attending after a request: those in the background ask once a minute.
const attendance = 90 * time.Second

// attend counts the browser as a user who answers, for a while.
func (b *browser) attend(attend func() (detach func())) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
	case b.detach == nil:
		b.detach = attend()
		b.lease = time.AfterFunc(attendance, b.rest)
	default:
		b.lease.Reset(attendance)
	}
}

// rest ends attendance until the next request.
func (b *browser) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.detach != nil {
		b.lease.Stop()
		b.detach()
		b.detach = nil
	}
}

// leave ends attendance for good.
func (b *browser) leave() {
	b.mu.Lock()
	b.gone = true
	b.mu.Unlock()
	b.rest()
}
