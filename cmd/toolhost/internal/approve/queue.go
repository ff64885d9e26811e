package approve

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// Queue holds the prompts that wait for an answer, and the last ones that ended. One goroutine uses it.
type Queue struct {
	Waiting []*Item // the newest last
	Done    []Done  // the newest last, [maxDone] at most

	sessions map[string]Session
	ended    map[key]past
	order    []key // of ended, the oldest first
	numbers  int
}

// Item is a prompt and how it stands.
type Item struct {
	Number   int // from 1; no other prompt ever has it
	Session  string
	Prompt   Prompt
	Sent     *Answer                // under way
	Together []agenttool.DecisionID // of others that ask the same, and are answered with it
	Error    string                 // why the last answer did not count
	Ended    string                 // how it ended; empty: it waits
	EndedAt  time.Time              // of the clock that Apply was given
	Mine     bool                   // this person ended it

	until   time.Time // when the session stops waiting, monotonic; the zero time: not known
	verdict string    // how it ended, while the fate of our own answer is not known
}

// Done is a prompt that has ended.
type Done struct {
	Number   int
	Tool     string
	Subject  string
	How      string
	At       time.Time
	Session  string
	Decision agenttool.DecisionID
}

type key struct {
	session string
	id      agenttool.DecisionID
}

type past struct {
	number int
	lost   bool
}

const (
	maxDone  = 100
	maxEnded = 5000            // ids that are known to have ended
	overdue  = 5 * time.Second // a prompt counts as ended this long after its expiry, even if its session does not report the end
)

// Session returns the newest information that a session sent about itself.
func (q *Queue) Session(id string) Session { return q.sessions[id] }

// Sessions are the running ones, by id.
func (q *Queue) Sessions() []Session {
	var all []Session
	for _, s := range q.sessions {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Find returns the waiting prompt of that number, or nil.
func (q *Queue) Find(number int) *Item {
	for _, it := range q.Waiting {
		if it.Number == number {
			return it
		}
	}
	return nil
}

// Apply takes one event and returns the item that it was about, nil for none: one that is new, has ended, or has
// an answer refused.
func (q *Queue) Apply(event any, now time.Time) *Item {
	switch e := event.(type) {
	case Opened:
		if q.sessions == nil {
			q.sessions = map[string]Session{}
		}
		q.sessions[e.Session.ID] = e.Session
	case Closed:
		return q.close(e, now)
	case Asked:
		return q.ask(e, now)
	case Ended:
		if it := q.find(key{e.Session, e.ID}); it != nil {
			return q.end(it, e, now)
		}
		q.leave(e)
		q.remember(key{e.Session, e.ID}, past{lost: e.Lost})
	case Answered:
		return q.answered(e, now)
	}
	return nil
}

func (q *Queue) find(k key) *Item {
	for _, it := range q.Waiting {
		if it.Session == k.session && it.Prompt.ID() == k.id {
			return it
		}
	}
	return nil
}

func (q *Queue) ask(e Asked, now time.Time) *Item {
	k := key{e.Session, e.Prompt.ID()}
	before, known := q.ended[k]
	if q.find(k) != nil || known && !before.lost {
		return nil
	}
	if leader := q.Leader(e); leader != nil {
		if !slices.Contains(leader.Together, e.Prompt.ID()) {
			leader.Together = append(leader.Together, e.Prompt.ID())
		}
		return nil
	}
	it := &Item{Number: before.number, Session: e.Session, Prompt: e.Prompt, until: deadline(e.Prompt, now)}
	if it.Number == 0 {
		q.numbers++
		it.Number = q.numbers
	}
	delete(q.ended, k)
	at := len(q.Waiting)
	for at > 0 && q.Waiting[at-1].Prompt.AskedAt.After(e.Prompt.AskedAt) {
		at--
	}
	q.Waiting = slices.Insert(q.Waiting, at, it)
	return it
}

// Leader is the waiting prompt that asks the same, and is answered for this one as well; nil: none does.
func (q *Queue) Leader(e Asked) *Item { return q.find(key{e.Session, e.Prompt.With}) }

// leave takes a prompt that has ended from the one that it asked the same as.
func (q *Queue) leave(e Ended) {
	for _, it := range q.Waiting {
		if it.Session == e.Session {
			it.Together = slices.DeleteFunc(it.Together, func(id agenttool.DecisionID) bool { return id == e.ID })
		}
	}
}

// close ends the prompts of a session.
func (q *Queue) close(e Closed, now time.Time) (last *Item) {
	delete(q.sessions, e.Session)
	for _, it := range slices.Clone(q.Waiting) {
		if it.Session == e.Session {
			q.finish(it, visible.Text(e.Why), true, now)
			last = it
		}
	}
	return last
}

func (q *Queue) end(it *Item, e Ended, now time.Time) *Item {
	how := visible.Text(e.How)
	if it.Sent != nil { // was it us? Our answer's own answer says so
		it.verdict = how
		return nil
	}
	q.finish(it, how, e.Lost, now)
	return it
}

func (q *Queue) answered(e Answered, now time.Time) *Item {
	it := q.find(key{e.Answer.Session, e.Answer.ID})
	if it == nil {
		return nil
	}
	it.Sent = nil
	switch {
	case e.Err == nil:
		it.Mine = true
		q.finish(it, e.Answer.Words(), false, now)
	case it.verdict != "":
		it.Error = visible.Text(e.Err.Error())
		q.finish(it, it.verdict, false, now)
	default:
		it.Error = visible.Text(e.Err.Error())
	}
	return it
}

// deadline is the time when a prompt's session stops waiting. Prompts carry it as wall time. It is stored as monotonic time, like the
// session's own deadline, so that setting the clock does not move it.
func deadline(p Prompt, now time.Time) time.Time {
	at := p.Expires()
	if at.IsZero() {
		return at
	}
	return now.Add(at.Sub(now))
}

// expires is when the session stops waiting for an answer.
func (it *Item) expires() time.Time {
	if it.until.IsZero() {
		return it.Prompt.Expires()
	}
	return it.until
}

// Age is how long an item has waited, for a person; empty: its session did not say when it asked.
func (it *Item) Age(now time.Time) string {
	if it.Prompt.AskedAt.IsZero() {
		return ""
	}
	return ageText(max(0, now.Sub(it.Prompt.AskedAt)))
}

// ageText is a duration, for a person.
func ageText(age time.Duration) string {
	switch {
	case age < time.Minute:
		return fmt.Sprintf("%d s", int(age.Seconds()))
	case age < time.Hour:
		return fmt.Sprintf("%d min", int(age.Minutes()))
	default:
		return fmt.Sprintf("%d h %d min", int(age.Hours()), int(age.Minutes())%60)
	}
}

// Left is how long an item waits on, for a person.
func (it *Item) Left(now time.Time) string {
	at := it.expires()
	switch left := at.Sub(now).Round(time.Second); {
	case at.IsZero():
		return ""
	case left <= 0:
		return "over"
	case left >= time.Hour:
		return fmt.Sprintf("%d:%02d:%02d", int(left.Hours()), int(left.Minutes())%60, int(left.Seconds())%60)
	default:
		return fmt.Sprintf("%d:%02d", int(left.Minutes()), int(left.Seconds())%60)
	}
}

// Send marks an item as being answered.
func (q *Queue) Send(it *Item, a Answer) { it.Sent, it.Error = &a, "" }

// Expire ends and returns the prompts that their sessions should have ended long ago.
func (q *Queue) Expire(now time.Time) (expired []*Item) {
	for _, it := range slices.Clone(q.Waiting) {
		if at := it.expires(); it.Sent == nil && !at.IsZero() && now.Sub(at) > overdue {
			q.finish(it, "nobody answered in time", true, now)
			expired = append(expired, it)
		}
	}
	return expired
}

func (q *Queue) finish(it *Item, how string, lost bool, now time.Time) {
	it.Ended, it.EndedAt, it.Sent = how, now, nil
	q.Waiting = slices.DeleteFunc(q.Waiting, func(w *Item) bool { return w == it })
	q.remember(key{it.Session, it.Prompt.ID()}, past{it.Number, lost})
	q.Done = append(q.Done, Done{
		Number: it.Number, Tool: visible.Text(it.Prompt.Tool), Subject: it.Prompt.Subject(), How: how, At: now,
		Session: it.Session, Decision: it.Prompt.ID(),
	})
	q.Done = slices.Delete(q.Done, 0, max(0, len(q.Done)-maxDone))
}

// remember notes that a prompt has ended, since its session may report it once more.
func (q *Queue) remember(k key, p past) {
	if q.ended == nil {
		q.ended = map[key]past{}
	}
	q.ended[k] = p
	if q.order = append(q.order, k); len(q.order) > maxEnded {
		delete(q.ended, q.order[0])
		q.order = slices.Delete(q.order, 0, 1)
	}
}

// Words says what an answer did, for the person who gave it.
func (a Answer) Words() string {
	switch {
	case a.Behavior == agenttool.Deny && a.Feedback != "":
		return "you denied it: " + visible.Text(a.Feedback)
	case a.Behavior == agenttool.Deny:
		return "you denied it"
	case a.UpdatedInput != nil:
		return "you allowed it once, as you changed it"
	case a.Scope == "" || a.Scope == "once":
		return "you allowed it once"
	}
	return "you allowed it, and its rules for the " + a.Scope
}
