package main

import (
	"fmt"
	"io"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/remote"
)

// pairBrowser prints a code that pairs one browser with the page of a session, or ends all pairings of that session. Without an id it
// is every session that has one.
func pairBrowser(out io.Writer, end string, unpair bool) error {
	sessions, err := runningSessions(end)
	if err != nil {
		return err
	}
	var why error
	done := 0
	for _, s := range sessions {
		defer s.Close()
		if err := pairOne(out, s, unpair); err != nil {
			why = fmt.Errorf("session %s: %w", s.ID, err)
			continue
		}
		done++
	}
	switch {
	case done > 0:
		return nil
	case why != nil:
		return exitf(exitFailed, "%s", visible.Text(why.Error()))
	}
	return exitf(exitFailed, "no session runs: start one with toolhost serve --http ADDR")
}

func pairOne(out io.Writer, s *remote.Session, unpair bool) error {
	if err := authenticate(s, "toolhost approve"); err != nil {
		return err
	}
	p, err := s.Pair(unpair)
	if err != nil {
		return err
	}
	if unpair {
		fmt.Fprintf(out, "session %s: browsers unpaired: %d\n", s.ID, p.Ended)
		return nil
	}
	fmt.Fprintf(out, "session %s in %s\npage  %s\ncode  %s   counts once, for %d minutes\n", s.ID, visible.Text(s.Workspace), visible.Text(p.URL), visible.Text(p.Code), p.ExpiresIn/60)
	if p.Fingerprint != "" {
		fmt.Fprintf(out, "TLS   SHA-256 of the certificate; the browser should show the same:\n      %s\n", visible.Text(p.Fingerprint))
	}
	return nil
}
