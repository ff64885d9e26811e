// Package onecall runs a call that belongs to no session of an agent. It is recorded with the other calls of its day, and the person answers
// its prompts at the terminal, or has done so in the dialog of another program.
package onecall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/persist"
	"toolhost/persist/redact"
)

// New makes the session of a call, whose outputs take so many bytes at most. It reports whether this is the first call of its day in the
// workspace.
func New(o session.Options, payloads int64) (s *session.Session, first bool, err error) {
	o.Store = func(root string, r *redact.Redactor) (store *persist.Store, err error) {
		store, first, err = today(root, persist.Options{Meta: session.Meta(root, o.Version), PayloadLimit: payloads, Redactor: r})
		return store, err
	}
	s, err = session.New(o)
	return s, first, err
}

// today opens the log of today's calls in a workspace, or the next one that no process is using. It reports whether this is its first call.
func today(root string, o persist.Options) (store *persist.Store, first bool, err error) {
	if o.Dir, err = dirs.Sessions(); err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256([]byte(root))
	id := fmt.Sprintf("call-%s-%s", time.Now().UTC().Format("20060102"), hex.EncodeToString(sum[:4]))
	o.ID = agenttool.SessionID(id)
	for n := 2; n < 100; n++ {
		_, statErr := os.Stat(filepath.Join(o.Dir, string(o.ID)))
		_, _ = history.EndOne(o.Dir, o.ID) // of a call that was killed; log verify reports a log that cannot be read
		store, err := persist.Resume(o)
		if err == nil {
			return store, os.IsNotExist(statErr), nil
		}
		if !errors.Is(err, persist.ErrLocked) && !errors.Is(err, persist.ErrDamaged) && !errors.Is(err, persist.ErrContinued) && !errors.Is(err, persist.ErrNewer) {
			return persist.New(o), false, nil // the first call that is not read-only will say why
		}
		o.ID = agenttool.SessionID(fmt.Sprintf("%s-%d", id, n))
	}
	o.ID = ""
	return persist.New(o), false, nil
}

// ID names a call that is made now, so that log show --call finds it among those of the day.
func ID() string {
	return "c" + strconv.FormatInt(time.Now().UnixMilli()%86_400_000, 36) + strconv.Itoa(os.Getpid()%1000)
}

// Run runs a call to its end. The first interrupt cancels it.
func Run(s *session.Session, r host.Request) (completion host.Completion, err error) {
	interrupted, stop := signal.NotifyContext(context.Background(), session.Ending()...)
	defer stop()
	done := make(chan host.Completion, 1)
	if err := s.Host.Invoke(r, func(c host.Completion) { done <- c }); err != nil {
		return completion, err
	}
	select {
	case completion = <-done:
	case <-interrupted.Done():
		s.Host.Cancel(r.ID, "interrupted at the terminal")
		completion = <-done
	}
	return completion, nil
}

// closeLimit is how long the end of a session may take whose disk stalls.
const closeLimit = 8 * time.Second

// Close ends the session of a call whose result has been printed.
func Close(s *session.Session) {
	over := time.Now().Add(closeLimit)
	closed := make(chan error, 1)
	go func() { closed <- s.Linger(s.Close(), over) }() // ends with the process at the latest
	var err error = persist.ErrPending
	select {
	case err = <-closed:
	case <-time.After(closeLimit):
	}
	if err != nil {
		fmt.Fprintln(output.Stderr(), "toolhost: the session log could not be closed:", err)
	}
}

// Agreed answers the prompts of a call that a person allowed in the dialog of a program. That yes answers the first
// prompt, before the call runs, and nothing that the call meets later. to is what the dialog was about, as [Asks] says it: what a command changed since may
// have the same words mean something else. "": whatever the prompt is about.
func Agreed(s *session.Session, program, to string) prompt.Listener {
	var used atomic.Bool
	return func(p prompt.Prompt, _ <-chan struct{}) {
		answer := prompt.Answer{
			DecisionID: p.Decision.DecisionID, Behavior: agenttool.Allow,
			Channel: prompt.Channel{Name: "the dialog of " + program, Scopes: []prompt.Scope{prompt.ScopeOnce}},
		}
		late := p.Decision.Reason != nil && p.Decision.Reason.Type == "sandbox_override"
		switch first := !used.Swap(true); {
		case !first || late:
			answer.Behavior, answer.Unseen = agenttool.Deny, program+" asked before the command ran, and shows no prompt now"
		case to != "" && to != Asks(p.Decision, p.Facts):
			answer.Behavior, answer.Unseen = agenttool.Deny, program+" asked, and the same words mean something else since: make the call again, and it asks anew"
		}
		go func() { _, _ = s.Host.Decide(answer) }() // fails if another answer came first
	}
}

// Asks is a digest of what a decision asks about: its reason, the names that a yes opens, and the files that the call reads and writes.
func Asks(d agenttool.Decision, f *agenttool.Facts) string {
	about := []any{d.BlockedPath, d.Protected.Paths, d.Protected.Names}
	if d.Reason != nil {
		about = append(about, d.Reason.Type, d.Reason.Detail)
	}
	if f != nil {
		for _, paths := range [][]agenttool.Path{f.Reads, f.Writes} {
			for _, path := range paths {
				about = append(about, path.Absolute, path.Resolved)
			}
		}
		about = append(about, f.Hosts)
	}
	text, err := agenttool.Encode(about)
	if err != nil {
		return "unknown" // the parts are strings
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
