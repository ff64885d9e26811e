package sandbox

import (
	"context"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// tripwire compares the protected names with their state before the command ran, while it runs and when it has ended.
// As far as the mounts hold, the command did not make these changes. At the end a new name is taken out of use.
type tripwire struct {
	before  *protect.Snap
	names   names
	cache   *protect.Cache
	allowed allowances
	fresh   func() bool // whether the command has written names that repositories have, or those of the table
	judged  bool        // a supervisor judged what git runs in new repositories
	settle  func()      // brings what it still holds into place
	asides  func() []protect.Aside

	mu        sync.Mutex // one look at a time
	inspected time.Time  // when the command had ended
}

// allowances are the changes that others may make while a command runs.
type allowances struct {
	cache   *protect.Cache
	since   int // how much the session had allowed when the command began
	begun   time.Time
	shown   []string                                // protected paths that the decision showed as written
	letLive func(path string, since time.Time) bool // nil: never
}

// newTripwire takes the snapshot.
func newTripwire(n names, shown []string, cache *protect.Cache, fresh func() bool) (*tripwire, error) {
	shown = slices.DeleteFunc(slices.Clone(shown), func(path string) bool {
		_, asked := protect.Asks(path, "")
		return !asked
	})
	allowed := allowances{cache: cache, since: cache.Allowances(), shown: shown}
	before, err := protect.Take(n.all)
	allowed.begun = time.Now()
	return &tripwire{before: before, names: n, cache: cache, allowed: allowed, fresh: fresh}, err
}

// inspect looks when the command has ended.
func (t *tripwire) inspect(report func(Violation)) {
	t.look(report, true)
	t.inspected = time.Now()
}

// isStale reports whether the last inspection is long ago.
func (t *tripwire) isStale() bool { return time.Since(t.inspected) > firstLook }

// The times between two looks while a command runs: the first, and the longest. A look that takes long makes the next one wait.
const (
	firstLook   = 2 * time.Second
	longestLook = 10 * time.Second
	lookShare   = 50 // of the time at most one part goes into looking
)

// watch looks from time to time, until done is closed.
func (t *tripwire) watch(done <-chan struct{}, report func(Violation)) {
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	wait := firstLook
	for {
		select {
		case <-done:
			return
		case <-timer.C:
		}
		begun := time.Now()
		t.look(report, false)
		wait = max(min(wait+firstLook, longestLook), lookShare*time.Since(begun))
		timer.Reset(wait)
	}
}

// look reports what changed without having been allowed.
func (t *tripwire) look(report func(Violation), ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settle()
	t.changed(report, ended)
	fresh := t.fresh()
	if ended || fresh {
		t.cache.Invalidate()
	}
	if fresh {
		t.made(report)
	}
}

// changed reports protected names that changed.
func (t *tripwire) changed(report func(Violation), ended bool) {
	changes, err := t.before.Changes()
	if err != nil {
		report(Violation{Wall: Changed, Detail: "the protected names could not be checked again: " + err.Error()})
		return
	}
	within := "" // a directory that was reported
	for _, c := range changes {
		if t.allowed.change(c.Path) || c.After.Kind == protect.Absent && inAny(t.names.removed, c.Path) {
			continue
		}
		if _, held := t.names.granted.Judge(c.Path); !held {
			if rule, told := t.names.granted.Reports(c.Path); told && (within == "" || !agenttool.Within(within, c.Path)) {
				if c.Before.Kind != c.After.Kind {
					within = c.Path
				}
				report(Violation{Wall: Changed, Path: c.Path, Rule: string(rule), Certain: true, Detail: "was " + deed(c) + " during the run"})
			}
			continue
		}
		v := Violation{Wall: Changed, Path: c.Path, Rule: string(c.Rule), Certain: true,
			Detail: "changed during the run, from " + c.Before.Kind.String() + " to " + c.After.Kind.String()}
		if ended && !t.judged && c.Before.Kind == protect.Absent && c.After.Kind != protect.Absent { // else the command cannot have made it
			if aside, err := protect.Quarantine(t.names.all.Roots, c); err == nil {
				v.Detail = "was made during the run, and is out of use as " + aside
			}
		}
		report(v)
	}
}

// deed describes a change of a path.
func deed(c protect.Change) string {
	switch {
	case c.Before.Kind == protect.Absent:
		return "made"
	case c.After.Kind == protect.Absent:
		return "removed"
	}
	return "changed"
}

// made reports the repositories and the names in new directories that were made during the run, and what was put aside in them.
func (t *tripwire) made(report func(Violation)) {
	ctx, cancel := context.WithTimeout(context.Background(), walkLimit)
	defer cancel()
	now, err := t.cache.Map(ctx)
	if err != nil {
		report(Violation{Wall: Changed, Detail: "whether repositories were made could not be looked at: " + err.Error()})
		return
	}
	repositories, entries := now.Since(t.names.all)
	for _, e := range entries {
		inside := func(git protect.GitDir) bool { return agenttool.Within(git.Path, e.Path) }
		if !slices.ContainsFunc(repositories, inside) && !t.allowed.change(e.Path) {
			report(Violation{Wall: Changed, Path: e.Path, Rule: string(e.Rule), Certain: true, Detail: "was made during the run, in a new directory"})
		}
	}
	waiting, _ := now.Waiting()
	told := map[string]bool{}
	for _, git := range repositories {
		if t.allowed.lives(git.Path) {
			continue
		}
		v := Violation{Wall: Changed, Path: git.Path, Rule: string(protect.VCSConfig), Certain: true, Detail: "is a repository that was made during the run"}
		i := slices.IndexFunc(waiting, func(a protect.Aside) bool { return a.Git == git.Path })
		switch {
		case i >= 0:
			v.Detail += ": " + waiting[i].String() + outOfUse
		case !t.judged:
			v.Detail += ", and may run programs that the command chose"
		default:
			v.harmless = true
		}
		told[git.Path] = true
		report(v)
	}
	for _, a := range t.asides() { // in repositories that the map does not know, or that have gone from there
		if _, err := os.Lstat(a.Git); !told[a.Git] && (err == nil || len(told) == 0) {
			report(Violation{Wall: Changed, Path: a.Git, Rule: string(protect.VCSConfig), Certain: true, Detail: "was written during the run: " + a.String() + outOfUse})
		}
	}
}

// outOfUse says what becomes of what was put aside.
const outOfUse = " are out of use until a person allows them with toolhost trust"

// lives reports whether the user let a path live since the command began.
func (a *allowances) lives(path string) bool { return a.letLive != nil && a.letLive(path, a.begun) }

// change reports whether another call, or the user, was allowed to change a path meanwhile.
func (a *allowances) change(path string) bool { return a.cache.Allowed(a.since, path) || a.lives(path) }

// known reports whether a hook, or the configuration of a repository, had that content before, or a decision showed it as written.
func (t *tripwire) known(file string, content []byte) bool {
	return t.before.Knows(path.Base(file), content) || slices.Contains(t.allowed.shown, file) || t.cache.AllowedExactly(t.allowed.since, file)
}
