package session

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/settings"
)

// WatchSettings puts changed settings in force until ctx ends. Where commands could have changed them, they are held until a person
// calls for a reload.
func (s *Session) WatchSettings(ctx context.Context) {
	s.live.watcher.Watch(ctx, func(read *settings.Settings) {
		if !s.holdsSettings() {
			_ = s.apply(read) // the error is a warning
		} else if s.live.hold(read) {
			s.Host.Warn(heldBack)
		}
	})
}

// Reload puts the settings in force as the files are now. A person has called for it.
func (s *Session) Reload() error { return s.apply(s.live.watcher.Accept()) }

// apply puts settings in force. Settings that cannot be used leave the ones before in force, and a warning says so.
func (s *Session) apply(read *settings.Settings) error {
	m, err := policy.New(s.o.Policy, read, s.Scope)
	if err != nil {
		s.live.reject(read, err)
		s.Host.Warn("settings: " + err.Error())
		return err
	}
	_ = s.Store.Redactor().SetRules(m.Redaction) // policy.New has checked them
	learn(s.Store.Redactor(), m)
	warnings, reports := s.live.replace(m)
	s.search.SetIndex(indexMode(read))
	s.Host.Amend(host.Amendment{
		Policy: s.policy(), Approvals: s.approvals(read), With: func() { s.Sandbox.Names.Amend(m.Secrets, m.Sealed()) },
	})
	if err := s.Host.SetHooks(m.Hooks); err != nil {
		s.Host.Warn("settings: the hooks as they are now are not in force: " + err.Error())
		return err
	}
	for _, w := range warnings {
		s.Host.Warn("settings: " + w)
	}
	for _, r := range reports { // clients drop all warnings when settings are in force
		s.Host.Tripped(r)
	}
	return nil
}

// approvals say how prompts are answered.
func (s *Session) approvals(read *settings.Settings) prompt.Approvals {
	if !s.o.Reachable { // no person can reach the session
		return prompt.Approvals{Wait: prompt.WaitNever}
	}
	return prompt.Approvals{
		Timeout: read.ApprovalTimeout.V, Wait: prompt.Wait(read.Wait.V), Widest: prompt.Scope(read.InBandScopes.V),
		Wall: wallWait(read.WallWait), Here: presence.Here, Opened: s.promptOpened, Remember: s.remember,
	}
}

// promptOpened makes the session reachable, and tells the person where to answer.
func (s *Session) promptOpened() {
	s.Listen()
	if presence.Here() {
		s.o.Log("a call asks: answer with toolhost approve in a terminal")
	}
}

// remember keeps rules for longer than the session: those for the project in its local file, those of the person in theirs.
func (s *Session) remember(scope prompt.Scope, rules []string) error {
	file := s.live.files.Local
	if scope == prompt.ScopeUser {
		file = s.live.files.User
	}
	for _, rule := range rules {
		err := settings.Remember(s.live.files, file, agenttool.Allow, rule)
		if settings.IsNotSynced(err) {
			s.o.Log("warning: " + err.Error())
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// AllowCallback reports why the result of a call may not be sent to an address: it is neither this machine's nor one that the person's
// settings name.
func (s *Session) AllowCallback(u *url.URL) error {
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	if slices.ContainsFunc(s.live.callbackHosts(), func(name string) bool { return strings.EqualFold(name, host) }) {
		return nil
	}
	return fmt.Errorf("results are not sent to %q: add it to http.callback_hosts in your settings", host)
}

// wallWait is how long a running command is held, as prompts have it: a set 0 means not at all.
func wallWait(set settings.Value[time.Duration]) time.Duration {
	if set.Set && set.V == 0 {
		return -1
	}
	return set.V
}
