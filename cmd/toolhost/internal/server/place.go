package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/wire/mcp"
)

// Place returns the streams of a client. If a client of lines has its server started in a home, as many do, its workspace is the
// roots that it declares. Without roots Place serves the client until the input ends, so that its user sees the reason, and fails
// with that.
func Place(ctx context.Context, o *session.Options, lines bool) (Streams, error) {
	at, reason := Standard(), o.CheckHome()
	if reason == nil || !lines {
		return at, nil
	}
	if output.IsTerminal(os.Stdin) {
		return at, reason
	}
	opening := mcp.Open(ctx, at.In, at.Out, o.Version, Instructions)
	if err := errors.Join(opening.Failed, takeRoots(o, opening.Roots)); err != nil {
		reason = fmt.Errorf("the roots of the client cannot be it: %w", err)
	} else if len(opening.Roots) > 0 {
		return Streams{In: opening.In, Out: opening.Out}, nil
	}
	advice := "toolhost has no workspace: " + strings.ReplaceAll(reason.Error(), "\n", ", ") + ". In the configuration of this client, name the project in the entry of " +
		`toolhost, "args": ["serve", "--workspace", "/path/of/the/project"], and start it again.`
	mcp.Unplaced{Version: o.Version, Tools: builtin.Described(), Reason: advice}.Serve(ctx, opening.In, opening.Out)
	return at, reason
}

// takeRoots makes roots the directories of the workspace. It refuses every directory that --workspace and --add-dir refuse.
func takeRoots(o *session.Options, roots []string) error {
	placed := *o
	for i, root := range roots {
		placed.Workspace = root
		if err := placed.CheckHome(); err != nil {
			return err
		}
		if i > 0 {
			o.AddDirs = append(slices.Clip(o.AddDirs), root)
		} else {
			o.Workspace = root
		}
	}
	if len(roots) == 0 {
		return nil
	}
	w, _, err := o.OpenWorkspace()
	if err == nil {
		w.Close()
	}
	return err
}
