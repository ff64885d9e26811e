package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/remote"
	"toolhost/settings"
)

func newGrants() *cobra.Command {
	g := granting{}
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List and take back what was allowed",
		Long: `grants lists the rules that allow something: those of your settings, of the project's, and those that running sessions
were granted, each with where it stands, when it was remembered, and how often it decided.
` + exitCodes,
		Example: `  toolhost grants
  toolhost grants revoke 'Shell(go test *)'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.list(cmd.OutOrStdout()) },
	}
	cmd.PersistentFlags().StringVar(&g.workspace, "workspace", ".", "`directory` whose rules are meant besides yours")
	cmd.Flags().BoolVar(&g.asJSON, "json", false, "print one JSON object a line")
	list := &cobra.Command{
		Use: "list", Short: "List the rules that allow something", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return g.list(cmd.OutOrStdout()) },
	}
	list.Flags().BoolVar(&g.asJSON, "json", false, "print one JSON object a line")
	revoke := &cobra.Command{
		Use: "revoke RULE...", Short: "Take rules back, wherever they stand", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return g.revoke(cmd.OutOrStdout(), args) },
	}
	cmd.AddCommand(list, revoke)
	return cmd
}

// granting is one run of grants.
type granting struct {
	workspace string
	asJSON    bool
}

// grantedRule is one rule that allows something.
type grantedRule struct {
	Rule   string    `json:"rule"`
	Source string    `json:"source"`
	Where  string    `json:"where,omitempty"` // FILE:LINE, or the session
	Added  time.Time `json:"added,omitzero"`
	Uses   int       `json:"uses"` // calls that it decided, of the sessions that are kept
	Note   string    `json:"note,omitempty"`
}

func (g *granting) options() (settings.Options, error) {
	root, err := filepath.Abs(g.workspace)
	if err != nil {
		return settings.Options{}, fmt.Errorf("--workspace %s: %w", g.workspace, err)
	}
	return policy.SettingsFiles(dirs.Real(root), "")
}

func (g *granting) list(out io.Writer) error {
	all, err := g.find()
	if err != nil {
		return err
	}
	if dir, err := dirs.Sessions(); err == nil && len(all) > 0 {
		uses := history.RuleUses(dir)
		for i := range all {
			all[i].Uses = uses[all[i].Source+":"+all[i].Rule]
		}
	}
	if g.asJSON {
		return printJSON(out, all...)
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "nothing is allowed by a rule")
		return nil
	}
	w := output.NewTable(out, "RULE", "USES", "ADDED", "FROM")
	for _, r := range all {
		added := "-"
		if !r.Added.IsZero() {
			added = output.Time(r.Added)
		}
		w.Row(r.Rule, r.Uses, added, cmp.Or(r.Where, r.Source))
	}
	return w.Flush()
}

// find returns the rules of settings, and those of running sessions.
func (g *granting) find() ([]grantedRule, error) {
	o, err := g.options()
	if err != nil {
		return nil, err
	}
	read, err := settings.Load(o)
	if err != nil {
		return nil, policy.Problems(err)
	}
	all := []grantedRule{}
	for _, r := range read.Rules {
		if r.Behavior == agenttool.Allow {
			all = append(all, grantedRule{Rule: r.Text, Source: r.Origin.Source, Where: r.Origin.Where(), Added: r.Added, Note: r.Note})
		}
	}
	_, _, err = eachRunning("", func(s *remote.Session) error {
		rules, err := s.Grants()
		for _, text := range rules {
			all = append(all, grantedRule{Rule: text, Source: agenttool.SourceSession, Where: "session " + string(s.ID)})
		}
		return err
	})
	return all, err
}

func (g *granting) revoke(out io.Writer, texts []string) error {
	all, err := g.find()
	if err != nil {
		return err
	}
	for _, text := range texts {
		if err := g.revokeOne(out, all, text); err != nil {
			return err
		}
	}
	return nil
}

func (g *granting) revokeOne(out io.Writer, all []grantedRule, text string) error {
	o, err := g.options()
	if err != nil {
		return err
	}
	found := false
	for _, file := range []string{o.User, o.Project, o.Local} {
		if file == "" {
			continue
		}
		removed, err := settings.Forget(o, file, agenttool.Allow, text)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return exitf(exitFailed, "%v", err)
		}
		if removed {
			found = true
			fmt.Fprintf(out, "taken back: %s (%s)\n", visible.Text(text), visible.Text(file))
		}
	}
	if slices.ContainsFunc(all, func(r grantedRule) bool { return r.Rule == text && r.Source == agenttool.SourceSession }) {
		if found, err = g.revokeInSessions(out, text, found); err != nil {
			return err
		}
	}
	for _, r := range all {
		if r.Rule == text && !found {
			return exitf(exitFailed, "%s stands in %s, which is not changed here", visible.Text(text), visible.Text(cmp.Or(r.Where, r.Source)))
		}
	}
	if !found {
		return exitf(exitFailed, "there is no rule %q: see toolhost grants", text)
	}
	return nil
}

func (g *granting) revokeInSessions(out io.Writer, text string, found bool) (bool, error) {
	sessions, err := runningSessions("")
	if err != nil {
		return found, err
	}
	for _, s := range sessions {
		defer s.Close()
		if err := authenticate(s, "toolhost grants"); err != nil {
			return found, err
		}
		revoked, err := s.Revoke(text)
		if err != nil {
			return found, remoteError(err)
		}
		if revoked > 0 {
			found = true
			fmt.Fprintf(out, "taken back: %s (session %s)\n", visible.Text(text), s.ID)
		}
	}
	return found, nil
}
