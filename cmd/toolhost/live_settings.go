package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/protect"
	"toolhost/settings"
	"toolhost/tools/files"
	"toolhost/tools/workspace"
)

// liveSettings are those of a running session: the snapshot in force, and what changes it.
type liveSettings struct {
	setup   *setup
	scope   agenttool.Scope
	options settings.Options
	watcher *settings.Watcher

	names     *protect.Cache
	confines  bool          // commands run in the full sandbox
	uncovered func() string // what it should cover and cannot; nil: nothing

	mu       sync.Mutex
	now      *snapshot
	warnings []string // what the person should know
	reports  []string // what the tripwire found
}

// openSettings reads the settings and opens the workspace.
func (s *setup) openSettings() (*liveSettings, *workspace.Workspace, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, nil, err
	}
	root, err := filepath.Abs(s.workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("--workspace %s: %w", s.workspace, err)
	}
	options, err := settingsOptions(dirs.Real(root), s.settings)
	if err != nil {
		return nil, nil, err
	}
	options.Roots = dirs.RealAll(s.addDirs)
	watcher, err := settings.Open(options)
	if err == nil && s.settings != "" && len(watcher.Current().AddDirs) > 0 { // the file may lie in one of them
		for _, dir := range watcher.Current().AddDirs {
			options.Roots = append(options.Roots, dirs.Real(dir.V))
		}
		watcher, err = settings.Open(options)
	}
	if err != nil {
		return nil, nil, brokenSettings(err)
	}
	read := watcher.Current()
	var added []string
	for _, dir := range read.AddDirs {
		added = append(added, dir.V)
	}
	w, scope, err := s.scope(state, added...)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.snapshotOf(read, scope)
	if err != nil {
		w.Close()
		return nil, nil, err
	}
	return &liveSettings{setup: s, scope: scope, options: options, watcher: watcher, now: m, warnings: warningsOf(read)}, w, nil
}

// policy is the policy in force.
func (l *liveSettings) policy() permissions.Policy {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.now.policy
	p.Confines, p.Uncovered = l.confines, l.uncovered
	return p
}

// callbackHosts are where results may be sent besides this machine.
func (l *liveSettings) callbackHosts() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, name := range l.now.settings.CallbackHosts {
		names = append(names, name.V)
	}
	return names
}

// durability is what of a change to a file has to be on the disk.
func (l *liveSettings) durability() files.Durability {
	l.mu.Lock()
	defer l.mu.Unlock()
	if value := l.now.settings.Durability; value.Set {
		return files.Durability(value.V)
	}
	return files.FileSynced
}

// environ are further variables of commands; none of a nil session.
func (l *liveSettings) environ() []string {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now.environ
}

// watch puts changed settings in force until ctx ends. Where commands can change them they are held until a person says so.
func (l *liveSettings) watch(ctx context.Context, s *session) {
	l.watcher.Watch(ctx, func(read *settings.Settings) {
		if s.holdsSettings() {
			l.hold(read, s)
			return
		}
		l.apply(read, s)
	})
}

// heldBack is what the person is told of settings that are held back.
const heldBack = "settings have changed, and commands of this session can change them: they are not in force until you say so with toolhost settings reload"

// hold keeps settings back, unless they are in force already, and says so.
func (l *liveSettings) hold(read *settings.Settings, s *session) {
	l.mu.Lock()
	same := read == l.now.settings
	if !same {
		l.warnings = append(warningsOf(l.now.settings), heldBack)
	}
	l.mu.Unlock()
	if !same {
		s.host.Warn(heldBack)
	}
}

// release puts the settings in force as the files are now, on the word of a person.
func (l *liveSettings) release(s *session) error { return l.apply(l.watcher.Accept(), s) }

// apply puts settings in force. What does not compile leaves the ones before in force, and says so.
func (l *liveSettings) apply(read *settings.Settings, s *session) error {
	m, err := l.setup.snapshotOf(read, l.scope)
	l.mu.Lock()
	if err != nil {
		l.warnings = append(warningsOf(read), "the settings as they are now are not in force: "+err.Error())
		l.mu.Unlock()
		s.host.Warn("settings: " + err.Error())
		return err
	}
	l.now, l.warnings = m, warningsOf(read)
	warnings, reports := l.warnings, slices.Clone(l.reports)
	l.mu.Unlock()
	l.names.Amend(m.secrets, m.sealed())
	s.search.SetIndex(indexMode(read))
	s.host.Amend(host.Amendment{Policy: l.policy(), Approvals: l.setup.approvals(read, s)})
	if err := s.host.SetHooks(m.hooks); err != nil {
		s.host.Warn("settings: the hooks as they are now are not in force: " + err.Error())
		return err
	}
	for _, w := range warnings {
		s.host.Warn("settings: " + w)
	}
	for _, r := range reports { // viewers drop all warnings when settings are in force
		s.host.Tripped(r)
	}
	return nil
}

// told are the warnings of now.
func (l *liveSettings) told() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Concat(l.warnings, l.reports)
}

// warningsOf are the sentences that a person should read about settings.
func warningsOf(read *settings.Settings) []string {
	warnings := []string{}
	for _, p := range read.Problems {
		warnings = append(warnings, p.Error())
	}
	for i, u := range read.Untrusted {
		if i == maxUntrusted {
			warnings = append(warnings, fmt.Sprintf("%d more settings of the workspace are not in force: see toolhost trust", len(read.Untrusted)-i))
			break
		}
		warnings = append(warnings, u.Origin.Where()+": not in force until you allow it with toolhost trust: it "+cut.Characters(u.Text, 300))
	}
	return warnings
}

// maxUntrusted is how many settings that are not in force are warned of one by one.
const maxUntrusted = 8

// hooksOf are the hooks that settings name.
func hooksOf(read *settings.Settings) []hook.Hook {
	hooks := make([]hook.Hook, len(read.Hooks))
	for i, h := range read.Hooks {
		hooks[i] = hookOf(h)
	}
	return hooks
}

func hookOf(h settings.Hook) hook.Hook {
	return hook.Hook{
		Event: hook.Event(h.Event), Matcher: hook.Matcher{Tool: h.Matcher.Tool, Input: h.Matcher.Input},
		Command: h.Command, Timeout: h.Timeout, Env: h.Env, Origin: h.Origin,
	}
}

// hookMatch reports which calls the inputs of hooks' matchers are about. Each rule is compiled once.
func hookMatch(scope agenttool.Scope) func(rule string, r permissions.Request) bool {
	parser := ruleParser(scope.Dir, scope.Home)
	var compiled sync.Map // rule → func(permissions.Request) bool
	return func(text string, r permissions.Request) bool {
		about, ok := compiled.Load(text)
		if !ok {
			rule, err := parser.Parse(text, agenttool.Deny, agenttool.Origin{})
			about = func(permissions.Request) bool { return true } // settings with such a rule are not loaded
			if err == nil {
				about = permissions.About(rule, scope.Dir)
			}
			compiled.Store(text, about)
		}
		return about.(func(permissions.Request) bool)(r)
	}
}

// approvals say how prompts are answered.
func (s *setup) approvals(read *settings.Settings, opened *session) host.Approvals {
	if s.reached == nil { // nobody could
		return host.Approvals{Wait: host.WaitNever}
	}
	return host.Approvals{
		Timeout: chosen(read.ApprovalTimeout, 0, false), Wait: host.Wait(chosen(read.Wait, "", false)), Widest: host.Scope(chosen(read.InBandScopes, "", false)),
		Recent: presence.Recent, Opened: func() { s.askedFirst(opened) }, Remember: opened.remember,
	}
}

// remember keeps rules for longer than the session: those for the project in its local file, those of the person in theirs.
func (s *session) remember(scope host.Scope, rules []string) error {
	file := s.live.options.Local
	if scope == host.ScopeUser {
		file = s.live.options.User
	}
	for _, rule := range rules {
		err := settings.Remember(s.live.options, file, agenttool.Allow, rule)
		if settings.IsNotSynced(err) {
			fmt.Fprintln(os.Stderr, "toolhost: warning:", err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
