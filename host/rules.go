package host

import (
	"cmp"
	"os"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// rules are the mode and the rules in force. They implement prompt.Rules.
type rules struct {
	parser  permissions.Parser
	changed func(permissions.Mode) // called after the mode was changed

	mu        sync.Mutex          // guards what follows
	limit     permissions.Mode    // the loosest that a client may set
	tightened bool                // the client made the mode tighter
	loosened  bool                // a user made it looser
	policy    permissions.Policy  // in force
	made      map[string]*os.File // the directories that calls made, and that stay open
}

// Policy implements prompt.Rules: it is a snapshot.
func (r *rules) Policy() permissions.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.policy
}

// Parse implements prompt.Rules.
func (r *rules) Parse(text string, origin agenttool.Origin) (permissions.Rule, error) {
	return r.parser.Parse(text, agenttool.Allow, origin)
}

// Add implements prompt.Rules.
func (r *rules) Add(granted []permissions.Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(r.policy.With(granted...))
}

// set puts a policy in force as the next snapshot. The caller holds mu.
func (r *rules) set(policy permissions.Policy) {
	policy.Snapshot = r.policy.Snapshot + 1
	r.policy = policy
}

// tighten changes the mode for a client, to none that is looser than a user chose, or else the limit.
func (r *rules) tighten(m permissions.Mode) error {
	return r.setMode(m, func() error {
		if m.Within(r.limit) || r.loosened && m.Within(r.policy.Mode) {
			r.tightened, r.loosened = m != r.limit, false
			return nil
		}
		return refuse("mode %s is looser than %s, with which toolhost was started: start it with --mode %s", m, r.limit, m)
	})
}

// SetMode implements prompt.Rules: a user chose the mode, which may be looser than the limit.
func (r *rules) SetMode(m permissions.Mode) error {
	return r.setMode(m, func() error {
		if r.policy.Fixed {
			return refuse("the administrator's settings choose mode %s", r.policy.Mode)
		}
		r.tightened, r.loosened = false, true
		return nil
	})
}

// setMode changes the mode if may, called under the lock, returns no error, and tells of a change.
func (r *rules) setMode(m permissions.Mode, may func() error) error {
	r.mu.Lock()
	before := r.policy.Mode
	err := may()
	if err == nil && before != m {
		policy := r.policy
		policy.Mode = m
		r.set(policy)
	}
	r.mu.Unlock()
	if err == nil && before != m {
		r.changed(m)
	}
	return err
}

// amend puts another policy in force and returns it. Rules that were granted for this session stay, and so does a mode that the
// client made tighter, or that a user chose while the settings named the same mode as now. with is called in the same moment: nobody gets
// a policy meanwhile.
func (r *rules) amend(policy permissions.Policy, with func()) permissions.Policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	with()
	old := r.policy
	policy = policy.With(granted(old)...)
	policy.Mode = cmp.Or(policy.Mode, permissions.Default)
	stays := r.loosened && r.limit == policy.Mode && !policy.Fixed
	r.limit = policy.Mode
	if stays || old.Mode != policy.Mode && old.Mode.Within(policy.Mode) && r.tightened {
		policy.Mode = old.Mode
	}
	r.loosened = stays
	r.set(policy)
	return r.policy
}

// granted are the rules of a policy that were added for the session alone.
func granted(p permissions.Policy) []permissions.Rule {
	return slices.DeleteFunc(slices.Clone(p.Rules()), func(r permissions.Rule) bool { return r.Origin.Source != agenttool.SourceSession })
}

// revoke takes rules back that were granted for this session. It reports how many there were.
func (r *rules) revoke(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.policy.Rules())
	r.set(r.policy.Without(func(rule permissions.Rule) bool {
		return rule.Text == text && rule.Origin.Source == agenttool.SourceSession
	}))
	return before - len(r.policy.Rules())
}

// shut takes back the rules for directories that a call was to make, and has not made, and notes the others.
func (r *rules) shut(made agenttool.InvocationID, opened []string) {
	for _, of := range opened {
		kind, dir := permissions.Opened(of)
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			if kind == "" {
				r.noteMade(dir)
			}
			continue
		}
		r.mu.Lock()
		r.set(r.policy.Without(func(rule permissions.Rule) bool {
			return rule.Origin.Made == made && slices.Contains(permissions.Opening(of), rule.Text)
		}))
		r.mu.Unlock()
	}
}

// noteMade notes a directory that a call has made. It stays open, so that no other directory can get its number.
func (r *rules) noteMade(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return // it is as one that the session did not make
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil {
		r.made = map[string]*os.File{}
	}
	r.made[dir] = f
}

// stillMade returns the noted directories that still are the same.
func (r *rules) stillMade() (dirs []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for dir, f := range r.made {
		was, err := f.Stat()
		now, gone := os.Lstat(dir)
		if err == nil && gone == nil && os.SameFile(was, now) {
			dirs = append(dirs, dir)
			continue
		}
		f.Close()
		delete(r.made, dir)
	}
	return dirs
}
