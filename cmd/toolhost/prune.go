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

// pruneSessions removes old sessions beside a long-lived one.
func pruneSessions(s *session) {
	time.Sleep(pruneDelay)
	dir, err := sessionsDir()
	if err != nil {
		return
	}
	keep := persist.Retention{Keep: []agenttool.SessionID{s.store.ID()}}
	if _, err := persist.Prune(dir, keep, time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "toolhost: old sessions could not be removed:", err)
	}
}
