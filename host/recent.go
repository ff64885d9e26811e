package host

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// recent holds the last calls that a rule or a person decided. The zero value is empty.
type recent struct {
	mu    sync.Mutex
	calls []recentCall // the oldest first
}

// recentCall is a decided call.
type recentCall struct {
	id      agenttool.InvocationID
	at      time.Time
	subject string
	tool    string
	request permissions.Request
	last    agenttool.Behavior
	why     string
}

// Bounds of the recent calls.
const (
	maxRecent   = 50
	maxParts    = 100      // commands and paths of a call that is remembered with its facts
	maxCode     = 32 << 10 // bytes of the input of a call that runs code, and is remembered with its facts: they are parts of it
	maxRead     = 8 << 10  // bytes of an input that is read for its subject
	maxSubject  = 300      // characters
	maxTrial    = 20       // calls that a trial names
	maxSubjects = 200      // calls of a status that have a subject
)

func (r *recent) add(c recentCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(slices.DeleteFunc(r.calls, func(old recentCall) bool { return old.id == c.id }), c)
	r.calls = slices.Delete(r.calls, 0, max(0, len(r.calls)-maxRecent))
}

// Denied is a call that was not allowed.
type Denied struct {
	At           string                 `json:"at"`
	InvocationID agenttool.InvocationID `json:"invocation_id"`
	Tool         string                 `json:"tool"`
	Subject      string                 `json:"subject"`
	Why          string                 `json:"why"`
}

// denied are the last calls that were not allowed, the newest last.
func (r *recent) denied() []Denied {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []Denied{}
	for _, c := range r.calls {
		if c.last == agenttool.Deny {
			list = append(list, Denied{agenttool.Timestamp(c.at), c.id, c.tool, c.subject, c.why})
		}
	}
	return list
}

// addTo adds to a trial the calls that would have run unasked by further rules, the newest first.
func (r *recent) addTo(t *prompt.Trial, before, with permissions.Policy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Backward(r.calls) {
		if c.request.Facts != nil && !before.Allows(c.request) && with.Allows(c.request) && len(t.Calls) < maxTrial {
			t.Calls = append(t.Calls, c.tool+": "+c.subject)
		}
	}
}

// subjectOf is the subject of a call in one line: its command or path, or else its input.
func subjectOf(input []byte) string {
	var known struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	if len(input) <= maxRead {
		_ = json.Unmarshal(input, &known) // the input was checked; members of another type stay empty
	}
	text := cmp.Or(known.Command, known.Path, string(input[:min(len(input), 4*maxSubject)]))
	return cut.Characters(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "), maxSubject)
}
