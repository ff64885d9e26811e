package main

import (
	"fmt"
	"os"
	"time"

	"toolhost/agenttool"
	"toolhost/persist"
)

// pruneDelay keeps throw-away processes, which clients start to probe, from looking at old sessions.
const pruneDelay = 30 * time.Second

// pruneLater removes old sessions beside a long-lived one.
func pruneLater(s *session) {
	time.Sleep(pruneDelay)
	pruneSessions(s.store.ID())
}

// pruneSessions removes sessions that are too old or too many, but not keep.
func pruneSessions(keep agenttool.SessionID) {
	dir, err := sessionsDir()
	if err != nil {
		return
	}
	if _, err := persist.Prune(dir, persist.Retention{Keep: []agenttool.SessionID{keep}}, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "toolhost: old sessions could not be removed:", err)
	}
}
