package repositories

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"toolhost/agenttool/visible"
	"toolhost/permissions/protect"
)

// Quarantine holds the programs of repositories that calls made or moved: git runs none of them until the person says yes.
type Quarantine struct {
	Programs []protect.Aside

	workspace string
	m         *protect.Map
}

// scanLimit is how long the search for repositories takes at most, a second for each of its parts.
const scanLimit = 10 * time.Second

// Waiting looks for them in a workspace.
func Waiting(workspace, home string) (q Quarantine, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), scanLimit)
	defer cancel()
	q.workspace = workspace
	if q.m, err = protect.Scan(ctx, protect.Options{Roots: []string{workspace}, Home: home, MaxEntries: 1_000_000, MaxTime: time.Second}); err == nil {
		q.Programs, err = q.m.Waiting()
	}
	return q, err
}

// Print lists the programs.
func (q Quarantine) Print(out io.Writer) {
	fmt.Fprintf(out, "%s holds repositories that calls made or moved. Git does not run\n\n", visible.Text(q.workspace))
	for _, a := range q.Programs {
		name := a.Git
		if rel, err := filepath.Rel(q.workspace, a.Git); err == nil {
			name = rel
		}
		fmt.Fprintf(out, "  %s: %s\n", visible.Text(name), visible.Text(a.String()))
	}
	fmt.Fprintln(out)
}

// Release puts the programs back.
func (q Quarantine) Release(out io.Writer) error {
	for _, a := range q.Programs {
		if err := Allow(a.Git); err != nil {
			return err
		}
		if err := q.m.LetLive(a); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: git runs %s again.\n", visible.Text(a.Git), visible.Text(a.String()))
	}
	return nil
}
