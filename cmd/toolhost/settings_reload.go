package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/remote"
)

func newSettingsReload() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use: "reload", Short: "Have running sessions take up changed settings that they hold back", Args: cobra.NoArgs,
		Long: `reload has running sessions take up settings that have changed. They do so by themselves, within a second, except where
commands run without a sandbox: those could have changed the files, so that such a session waits for your word, and wants
its code.
` + exitCodes,
		Example: `  toolhost settings reload
  toolhost settings reload --session newest`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sessions, err := runningSessions(session)
			if err != nil {
				return err
			}
			if len(sessions) == 0 {
				return exitf(exitFailed, "no running session has started a command: sessions that start later read the changed settings by themselves")
			}
			failed := 0
			for _, s := range sessions {
				defer s.Close()
				if err := reload(s); err != nil {
					failed++
					fmt.Fprintf(cmd.ErrOrStderr(), "toolhost: session %s: %s\n", s.ID, visible.Text(err.Error()))
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "session %s in %s: its settings are those of the files\n", s.ID, visible.Text(s.Workspace))
			}
			if failed > 0 {
				return exitf(exitFailed, "%d of %d sessions did not take up their settings", failed, len(sessions))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "`id` of the session, or the end of it, or newest; default: all that are running")
	return cmd
}

// reload has a session read its settings, in the name of the person.
func reload(s *remote.Session) error {
	if err := authenticate(s, "toolhost settings"); err != nil {
		return err
	}
	return s.Reload()
}
