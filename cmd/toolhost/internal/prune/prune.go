// Package prune removes old sessions and caches beside a session, so that the state does not grow without bound.
package prune

import (
	"context"
	"fmt"
	"time"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/persist"
	"toolhost/persist/cache"
)

const (
	delay = 30 * time.Second // clients start throw-away processes to probe: those do not look at old sessions
	every = 24 * time.Hour
)

// Session is a session that runs.
type Session interface {
	ID() agenttool.SessionID
	Retention() persist.Retention // as its settings say
}

// longest is how long the end of a process waits: the next one goes on with the rest.
const longest = 2 * time.Second

// Beside removes old sessions and caches beside the running session own, again and again until ctx ends. A session that ends sooner than
// that begins does it then, if nobody has for a day. wait waits for the end after ctx, but not for long.
func Beside(ctx context.Context, own Session, log func(line string)) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause := delay; ; pause = every {
			select {
			case <-time.After(pause):
				sessions(own, log)
			case <-ctx.Done():
				if pause == delay && due() {
					sessions(own, log)
				}
				return
			}
		}
	}()
	return func() { within(done) }
}

// due reports whether no process has removed anything for a day.
func due() bool {
	dir, err := dirs.Sessions()
	return err == nil && time.Since(persist.LastPrune(dir)) > every
}

func within(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(longest):
	}
}

// Meanwhile removes old sessions and caches while session own makes a call. wait waits for the end, but not for long: the next call goes
// on with the rest.
func Meanwhile(own Session, log func(line string)) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		sessions(own, log)
	}()
	return func() { within(done) }
}

// sessions removes sessions that are too old, outputs that are too large together, and old caches, but nothing of session own.
func sessions(own Session, log func(line string)) {
	dir, err := dirs.Sessions()
	if err != nil {
		return
	}
	o := own.Retention()
	o.Keep, o.Unasked = []agenttool.SessionID{own.ID()}, true
	found, err := persist.Prune(dir, o, time.Now())
	if err != nil {
		log("old sessions could not be removed: " + err.Error())
	}
	if warning := Newer(found); warning != "" {
		log(warning)
	}
	limits := cache.Limits{}
	if found.ClockDoubted {
		limits.MaxAge = -1
	}
	if _, err := Caches(limits); err != nil {
		log("old caches could not be removed: " + err.Error())
	}
}

// Caches removes caches of workspaces.
func Caches(o cache.Limits) ([]cache.Entry, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	return cache.Prune(dirs.Caches(state), o, time.Now())
}

// Newer is a warning about sessions of a newer version, which are not removed; "" for none.
func Newer(found persist.PruneReport) string {
	if len(found.Newer) == 0 {
		return ""
	}
	return fmt.Sprintf("%d sessions were written by a newer version of toolhost and are left alone, %s first", len(found.Newer), found.Newer[0])
}
