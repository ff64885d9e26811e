package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/repositories"
	"toolhost/permissions/protect"
	"toolhost/settings"
)

// quarantine holds the quarantine files of repositories in a workspace, and the means to restore them.
type quarantine struct {
	m   *protect.Map
	all []protect.Aside
}

// scanLimit is how long the search for repositories takes at most, a second for each of its parts.
const scanLimit = 10 * time.Second

// waitingIn looks for quarantined files.
func waitingIn(o settings.Options) (quarantine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scanLimit)
	defer cancel()
	m, err := protect.Scan(ctx, protect.Options{Roots: []string{o.Workspace}, Home: o.Home, MaxEntries: 1_000_000, MaxTime: time.Second})
	if err != nil {
		return quarantine{}, err
	}
	all, err := m.Waiting()
	return quarantine{m, all}, err
}

// print shows what waits.
func (w quarantine) print(out io.Writer, workspace string) {
	fmt.Fprintf(out, "%s holds repositories that calls made or moved. Git does not run\n\n", visible.Text(workspace))
	for _, a := range w.all {
		name := a.Git
		if rel, err := filepath.Rel(workspace, a.Git); err == nil {
			name = rel
		}
		fmt.Fprintf(out, "  %s: %s\n", visible.Text(name), visible.Text(a.String()))
	}
	fmt.Fprintln(out)
}

// letLive puts back what was shown.
func (w quarantine) letLive(out io.Writer) error {
	for _, a := range w.all {
		if err := repositories.Allow(a.Git); err != nil {
			return exitf(exitFailed, "%s", visible.Text(err.Error()))
		}
		if err := w.m.LetLive(a); err != nil {
			return exitf(exitFailed, "%s", visible.Text(err.Error()))
		}
		fmt.Fprintf(out, "%s: git runs %s again.\n", visible.Text(a.Git), visible.Text(a.String()))
	}
	return nil
}
