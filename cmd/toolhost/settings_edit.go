package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/caller"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/remote"
	"toolhost/settings"
)

// ruleFile is which file a rule goes to, or is taken from.
type ruleFile struct{ user, project, local bool }

func (f *ruleFile) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.user, "user", false, "your own file, for all workspaces")
	cmd.Flags().BoolVar(&f.project, "project", false, "the project's file, which others get with the project")
	cmd.Flags().BoolVar(&f.local, "local", false, "your own file in this workspace (the default where there is a .toolhost or a git repository)")
	cmd.MarkFlagsMutuallyExclusive("user", "project", "local")
}

// path returns the file.
func (f *ruleFile) path(o settings.Options) string {
	switch {
	case f.user:
		return o.User
	case f.project:
		return o.Project
	case f.local || o.InProject():
		return o.Local
	}
	return o.User
}

func newSettingsAdd(at *settingsPlace) *cobra.Command {
	var to ruleFile
	cmd := &cobra.Command{
		Use:   "add-rule allow|ask|deny RULE",
		Short: "Add a rule to a file of settings",
		Long: `add-rule adds a rule to a file of settings, which is made if it is missing. Comments and format of the file stay as they
are. A rule that is there already changes nothing. Sessions that run take it up within a second.
` + exitCodes,
		Example: `  toolhost settings add-rule allow 'Shell(npm run test:*)'
  toolhost settings add-rule allow 'Read(~/notes)' --user
  toolhost settings add-rule deny 'Shell(git push *)' --project`,
		Args: ruleArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return addRule(cmd.OutOrStdout(), *at, to, args) },
	}
	to.addFlags(cmd)
	return cmd
}

func newSettingsRemove(at *settingsPlace) *cobra.Command {
	var of ruleFile
	cmd := &cobra.Command{
		Use:   "remove-rule allow|ask|deny RULE",
		Short: "Remove a rule from a file of settings",
		Long: `remove-rule removes a rule from a file of settings, as it is written there. Without --user, --project or --local it is
removed from whichever of the three has it.

Exit codes: 0 it was removed; 1 it is not there; 2 the command line or a file cannot be used; 3 a command of an agent
may not remove it.`,
		Example: `  toolhost settings remove-rule allow 'Shell(npm run test:*)'`,
		Args:    ruleArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeRule(cmd.OutOrStdout(), *at, of, args)
		},
	}
	of.addFlags(cmd)
	return cmd
}

// ruleArgs checks that there are a behaviour and a rule.
func ruleArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 2 || !slices.Contains([]string{"allow", "ask", "deny"}, args[0]) {
		return errors.New("give allow, ask or deny, and one rule in quotes: " + cmd.CommandPath() + " allow 'Shell(go test *)'")
	}
	return nil
}

// mayChange refuses to change what is allowed for a command of a session.
func mayChange() error {
	if why := caller.Suspect(os.Getpid()); why != "" {
		return exitf(exitNotAllowed, "settings and trust are changed by a person, in a terminal of their own: here %s", why)
	}
	return nil
}

// changeable are the options of a place whose settings a person may change.
func (at settingsPlace) changeable() (settings.Options, error) {
	o, err := at.options()
	if err == nil {
		err = mayChange()
	}
	return o, err
}

func addRule(out io.Writer, at settingsPlace, to ruleFile, args []string) error {
	b, text := agenttool.Behavior(args[0]), args[1]
	o, err := at.changeable()
	if err != nil {
		return err
	}
	if err := o.CheckRule(text, b, agenttool.Origin{Source: agenttool.SourceCLI}); err != nil {
		return fmt.Errorf("rule %s: %s", visible.Text(text), visible.Text(err.Error()))
	}
	file := to.path(o)
	if file == "" {
		return exitf(exitFailed, "there is no place for settings of your own: set HOME or XDG_CONFIG_HOME")
	}
	before, _ := os.ReadFile(file)
	if err := settings.Remember(o, file, b, text); err != nil {
		return exitf(exitFailed, "%s: %s", visible.Text(file), visible.Text(err.Error()))
	}
	already := ""
	if after, err := os.ReadFile(file); err == nil && bytes.Equal(before, after) {
		already = ", which is there already"
	}
	fmt.Fprintf(out, "%s: %s %s%s\n", visible.Text(file), b, visible.Text(text), already)
	if s, err := settings.Load(o); err == nil && slices.ContainsFunc(s.Untrusted, func(u settings.Untrusted) bool { return u.Origin.File == file }) {
		fmt.Fprintln(output.Stderr(), "toolhost: it does not count yet, with all that the project would loosen: see toolhost trust")
	}
	return nil
}

func removeRule(out io.Writer, at settingsPlace, of ruleFile, args []string) error {
	b, text := agenttool.Behavior(args[0]), args[1]
	o, err := at.changeable()
	if err != nil {
		return err
	}
	files := []string{o.User, o.Project, o.Local}
	if of != (ruleFile{}) {
		files = []string{of.path(o)}
	}
	removed := false
	for _, file := range files {
		found, err := settings.Forget(o, file, b, text)
		if err != nil {
			return exitf(exitFailed, "%s: %s", visible.Text(file), visible.Text(err.Error()))
		}
		if found {
			removed = true
			fmt.Fprintf(out, "%s: no longer %s %s\n", visible.Text(file), b, visible.Text(text))
			if b != agenttool.Allow && file != o.User {
				fmt.Fprintln(out, "Sessions that run hold to it until toolhost settings reload.")
			}
		}
	}
	if !removed {
		return exitf(exitFailed, "no file has the rule %s %s: see toolhost settings", b, visible.Text(text))
	}
	return nil
}

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
			sessions, failures, err := eachRunning(session, func(s *remote.Session) error { return reload(cmd.OutOrStdout(), s) })
			switch {
			case err != nil:
				return err
			case sessions == 0:
				return exitf(exitFailed, "no running session has started a command: sessions that start later read the changed settings by themselves")
			case failures > 0:
				return exitf(exitFailed, "%d of %d sessions did not take up their settings", failures, sessions)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "`id` of the session, or the end of it, or newest; default: all that are running")
	return cmd
}

// reload has a session read its settings, in the name of the person.
func reload(out io.Writer, s *remote.Session) error {
	if err := authenticate(s, "toolhost settings"); err != nil {
		return err
	}
	if err := s.Reload(); err != nil {
		return err
	}
	fmt.Fprintf(out, "session %s in %s: its settings are those of the files\n", s.ID, visible.Text(s.Workspace))
	return nil
}
