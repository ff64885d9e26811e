package session

import (
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/sandbox"
	"toolhost/settings"
	"toolhost/tools/files"
	"toolhost/tools/keep"
)

// live is the snapshot in force, the files that it was made from, and the warnings about them.
type live struct {
	scope   agenttool.Scope
	files   settings.Options
	watcher *settings.Watcher

	mu       sync.Mutex
	now      *policy.Snapshot
	warnings []string // about settings
	reports  []string // of the tripwire
}

// snapshot is the snapshot in force.
func (l *live) snapshot() *policy.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// callbackHosts are where results may be sent besides this machine.
func (l *live) callbackHosts() []string {
	var names []string
	for _, name := range l.snapshot().Settings.CallbackHosts {
		names = append(names, name.V)
	}
	return names
}

// durability is how far a change to a file must be on the disk before the call ends.
func (l *live) durability() files.Durability {
	if value := l.snapshot().Settings.Durability; value.Set {
		return files.Durability(value.V)
	}
	return agenttool.FileSynced
}

// environ are further variables of commands.
func (l *live) environ() []string { return l.snapshot().Environ }

// replace puts a snapshot in force, and returns its warnings and the reports so far.
func (l *live) replace(m *policy.Snapshot) (warnings, reports []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now, l.warnings = m, policy.Warnings(m.Settings)
	return l.warnings, slices.Clone(l.reports)
}

// reject keeps the snapshot in force, because settings cannot be used.
func (l *live) reject(read *settings.Settings, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warnings = append(policy.Warnings(read), "the settings as they are now are not in force: "+why.Error())
}

// heldBack is the warning about settings that are held back.
const heldBack = "settings have changed, and commands of this session can change them: they are not in force until you say so with toolhost settings reload"

// hold keeps the snapshot in force until a person releases the changed settings. It returns false if nothing has changed.
func (l *live) hold(read *settings.Settings) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if read == l.now.Settings {
		return false
	}
	l.warnings = append(policy.Warnings(l.now.Settings), heldBack)
	return true
}

// maxReports is how many reports of the tripwire are kept for clients that connect later.
const maxReports = 20

// report adds a report of the tripwire.
func (l *live) report(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reports = append(l.reports, message)
	l.reports = l.reports[max(0, len(l.reports)-maxReports):]
}

// all are the warnings and reports of now.
func (l *live) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.warnings, l.reports)
}

// copies is where toolhost keeps what calls change; nil if it is not to leave anything on the disk.
func (l *live) copies(stored bool) *keep.Store {
	state, err := dirs.State()
	if err != nil || !stored {
		return nil
	}
	return &keep.Store{Dir: dirs.Copies(state), Refuses: func(path string) bool { return l.snapshot().Known(path) }}
}

// watched is the store for commands: nil where nothing sees their calls.
func watched(copies *keep.Store, level sandbox.Level) *keep.Store {
	if level != sandbox.Full && level != sandbox.LandlockNotify {
		return nil
	}
	return copies
}
