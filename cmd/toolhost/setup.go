package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/setup"
)

// settingUp is one run of toolhost setup.
type settingUp struct {
	workspace                      string
	user, project                  bool
	list, check, undo, dryRun, yes bool
	hook                           bool
	cmd                            *cobra.Command
}

func newSetup() *cobra.Command {
	s := &settingUp{}
	cmd := &cobra.Command{
		Use:        "setup CLIENT [-- FLAGS OF SERVE]",
		Short:      "Put toolhost into the configuration of an MCP client",
		SuggestFor: []string{"install", "init", "configure"},
		Long: `setup changes the configuration of an MCP client, so that its agent works with the tools of toolhost: it names the server,
switches the client's own shell and file tools off where a setting does that, and lets the tools of toolhost through the
client's own questions, because toolhost asks itself. It shows the difference and asks before it writes. Comments, order and
format of everything else stay as they are. Then it starts the server as the client would, and calls a tool.

It does so for claude, codex, gemini, qwen, copilot and opencode. For other clients it prints what belongs into which file.

--undo takes all of that back: byte for byte, or without setup's parts where a file was changed since.
--hook, for Claude Code, leaves the client its own tools, and lets it ask toolhost hook before each call.

Exit codes: 0 it worked; 1 it failed, or with --check something is missing; 2 the command line or a file cannot be used;
3 a command of an agent may not change them.`,
		Example: `  toolhost setup claude
  toolhost setup codex -- --mode sandboxed
  toolhost setup gemini --user --dry-run
  toolhost setup --list
  toolhost setup claude --undo`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&s.workspace, "workspace", ".", "`directory` of the project")
	f.BoolVar(&s.user, "user", false, "your own configuration of the client, for all projects")
	f.BoolVar(&s.project, "project", false, "the project's configuration, which others get with it")
	f.BoolVar(&s.list, "list", false, "list the clients, and which are set up")
	f.BoolVar(&s.check, "check", false, "say what is missing, and start the server; nothing is written")
	f.BoolVar(&s.undo, "undo", false, "take back what setup wrote")
	f.BoolVar(&s.dryRun, "dry-run", false, "show the difference; nothing is written")
	f.BoolVar(&s.yes, "yes", false, "write without asking")
	f.BoolVar(&s.hook, "hook", false, "the client keeps its own tools, and asks toolhost hook before each call")
	cmd.MarkFlagsMutuallyExclusive("user", "project")
	cmd.MarkFlagsMutuallyExclusive("list", "check", "undo", "dry-run")
	return cmd
}

func (s *settingUp) run(cmd *cobra.Command, args []string) error {
	s.cmd = cmd
	places, err := setup.Here(s.workspace)
	if err != nil {
		return err
	}
	if s.list && len(args) == 0 {
		return listClients(cmd.OutOrStdout(), places)
	}
	t, err := s.target(places, args)
	if err != nil {
		return err
	}
	switch {
	case !t.Client.Edited:
		return s.print(t)
	case s.check:
		return s.checkTarget(t, places)
	case s.undo:
		return s.undoTarget(t, places)
	}
	return s.write(t, places)
}

// target reads the arguments.
func (s *settingUp) target(p setup.Places, args []string) (t setup.Target, err error) {
	if len(args) == 0 || s.cmd.ArgsLenAtDash() == 0 {
		return t, errors.New("name a client: toolhost setup --list shows them")
	}
	if t.Client, err = clientOf(s.cmd, args); err != nil {
		return t, err
	}
	flags := args[1:]
	if err := newServe().ParseFlags(flags); err != nil {
		return t, fmt.Errorf("toolhost serve would not start: %w", err)
	}
	if t.Scope, err = s.scope(t.Client); err != nil {
		return t, err
	}
	program, portable, err := setup.Program(t.Scope)
	if err != nil {
		return t, exitf(exitFailed, "%v", err)
	}
	if !portable {
		fmt.Fprintf(s.cmd.ErrOrStderr(), "toolhost: %s is named by its path, which others do not have: put it into PATH as toolhost first\n", visible.Text(program))
	}
	t.Server = mcpconfig.Server{Command: append([]string{program, "serve"}, flags...), Tools: builtin.List()}
	if s.hook {
		return t.Hooked()
	}
	return t.Placed(p)
}

// clientOf is the client that is named. Other arguments must be flags of toolhost serve.
func clientOf(cmd *cobra.Command, args []string) (mcpconfig.Client, error) {
	c, err := mcpconfig.Find(args[0])
	if err == nil && len(args) > 1 && cmd.ArgsLenAtDash() != 1 {
		err = fmt.Errorf("%q: one client at a time; flags for toolhost serve stand behind --", args[1])
	}
	return c, err
}

// scope is the one of the flags, or the client's first.
func (s *settingUp) scope(c mcpconfig.Client) (mcpconfig.Scope, error) {
	scope := c.Files[0].Scope
	switch {
	case s.user:
		scope = mcpconfig.User
	case s.project:
		scope = mcpconfig.Project
	}
	if len(c.In(scope)) == 0 {
		return "", fmt.Errorf("--%s: %s has no such configuration; leave it out", scope, c.Title)
	}
	return scope, nil
}

// write shows what would change, asks, writes it, and tries it.
func (s *settingUp) write(t setup.Target, p setup.Places) error {
	out := s.cmd.OutOrStdout()
	if err := t.Check(p); err != nil {
		return err
	}
	plan, err := setup.NewPlan(t, p)
	if err != nil {
		return err
	}
	if !plan.Changed() {
		fmt.Fprintf(out, "%s: all of it is there already\n", t.Client.Title)
	}
	fmt.Fprint(out, output.Diff(plan.Diff()))
	switch {
	case s.dryRun:
		return nil
	case !plan.Changed():
		return s.finish(t, p)
	}
	if err := s.confirm("Write this?"); err != nil {
		return err
	}
	written, err := plan.Write()
	for _, path := range written {
		fmt.Fprintf(out, "wrote %s\n", visible.Text(path))
	}
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	return s.finish(t, p)
}

// print says what a client needs whose files setup does not change.
func (s *settingUp) print(t setup.Target) error {
	c := t.Client
	if s.check || s.undo {
		return fmt.Errorf("setup does not change the files of %s: without this flag it prints what belongs there", c.Title)
	}
	fmt.Fprintf(s.cmd.ErrOrStderr(), "setup does not change the files of %s. Put this into %s\n", c.Title, c.Where())
	if err := c.Local(t.Server).Print(s.cmd.OutOrStdout()); err != nil {
		return err
	}
	for _, note := range t.Notes() {
		fmt.Fprintln(s.cmd.ErrOrStderr(), note)
	}
	return nil
}

// confirm asks the person at the terminal. A script says --yes.
func (s *settingUp) confirm(question string) error {
	if err := mayChange(); err != nil {
		return err
	}
	if s.yes {
		return nil
	}
	in, ok := s.cmd.InOrStdin().(*os.File)
	if !ok || !output.IsTerminal(in) {
		return errors.New("nothing was written: there is no terminal to ask at; give --yes")
	}
	fmt.Fprintf(s.cmd.ErrOrStderr(), "%s [y/N] ", question)
	if yes, _ := saysYes(in); !yes { // the end is a no
		return exitf(exitFailed, "nothing was written")
	}
	return nil
}

// finish tries what was written, and says what is left to do.
func (s *settingUp) finish(t setup.Target, p setup.Places) error {
	out := s.cmd.OutOrStdout()
	if err := s.tryIt(t, p); err != nil {
		return err
	}
	if !p.Installed(t.Client) {
		fmt.Fprintf(out, "%s is not installed here: this is prepared for it. Verify it later with %s --check\n", t.Client.Title, t.Command())
	}
	fmt.Fprintln(out, "Prompts are answered in toolhost approve, in a second terminal.")
	return nil
}

// tryIt starts the server of a target, and says what is left to do. A hook has no server.
func (s *settingUp) tryIt(t setup.Target, p setup.Places) error {
	if t.Hook != "" {
		fmt.Fprintf(s.cmd.OutOrStdout(), "%s asks toolhost hook before its own tools\n", t.Client.Title)
		return nil
	}
	v, err := setup.Verify(context.Background(), t, p)
	if err != nil {
		return exitf(exitFailed, "the server of the configuration does not work: %v", err)
	}
	out := s.cmd.OutOrStdout()
	fmt.Fprintf(out, "started it as %s would: it answers, lists %d tools, and glob works\n", t.Client.Title, len(v.Tools))
	for _, note := range t.Notes() {
		fmt.Fprintln(out, note)
	}
	return nil
}

func (s *settingUp) undoTarget(t setup.Target, p setup.Places) error {
	u, err := setup.Undo(t.Existing(p), p)
	switch {
	case errors.Is(err, setup.ErrNotSetUp):
		return exitf(exitFailed, "%s: setup wrote nothing for %s here", t.Client.Title, t.Scope)
	case err != nil:
		return err
	}
	out := s.cmd.OutOrStdout()
	fmt.Fprint(out, output.Diff(u.Diff()))
	if err := s.confirm("Take it back?"); err != nil {
		return err
	}
	if err := u.Write(); err != nil {
		return exitf(exitFailed, "%v", err)
	}
	for _, f := range u.Files {
		fmt.Fprintf(out, "%s: %s\n", visible.Text(p.Short(f.Path)), f)
	}
	return nil
}

// checkTarget says what a configuration lacks, and starts the server that it names.
func (s *settingUp) checkTarget(t setup.Target, p setup.Places) error {
	if !s.user && !s.project {
		t = t.InAnyScope(p)
	}
	if t.Hook == "" {
		t = t.Existing(p)
	}
	missing, err := t.Missing(p)
	if err != nil {
		return err
	}
	for _, line := range missing {
		fmt.Fprintln(s.cmd.OutOrStdout(), "missing "+visible.Text(line))
	}
	if len(missing) > 0 {
		return exitf(exitFailed, "%s is not set up: run %s", t.Client.Title, t.Command())
	}
	if err := s.tryIt(t, p); err != nil {
		return err
	}
	if !p.Installed(t.Client) {
		fmt.Fprintf(s.cmd.OutOrStdout(), "%s is not installed here\n", t.Client.Title)
	}
	return nil
}

func listClients(out io.Writer, p setup.Places) error {
	for _, s := range p.Clients() {
		if _, err := fmt.Fprintf(out, "%-15s %-16s %s\n", s.Client.Name, s.Client.Title, s); err != nil {
			return failed(err)
		}
	}
	return nil
}

func newMCPConfig() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use:   "mcp-config CLIENT [-- FLAGS OF SERVE]",
		Short: "Print the configuration that an MCP client needs to find toolhost",
		Long: `mcp-config prints what a client's configuration needs to start this very program as an MCP server, and names its file on
stderr. Flags for toolhost serve stand behind --. With --http it prints how a server is reached that runs already.
toolhost setup writes it into the files of some clients, and lists all.`,
		Example: `  toolhost mcp-config claude > .mcp.json
  toolhost mcp-config codex -- --mode accept_edits >> ~/.codex/config.toml
  toolhost mcp-config vscode --http http://127.0.0.1:8722/mcp`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := clientOf(cmd, args)
			if err != nil {
				return err
			}
			snippet, err := mcpSnippet(c, server, args[1:])
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := snippet.Print(&text); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "For %s: put this into %s\n", c.Title, c.Where())
			switch {
			case server == "":
			case bytes.Contains(text.Bytes(), []byte("promptString")):
				fmt.Fprintf(cmd.ErrOrStderr(), "%s asks for the server's token, once\n", c.Title)
			default:
				fmt.Fprintf(cmd.ErrOrStderr(), "The client needs the server's token: export %s=… before it starts\n", mcpconfig.TokenVariable)
			}
			_, err = text.WriteTo(cmd.OutOrStdout())
			return err
		},
	}
	cmd.Flags().StringVar(&server, "http", "", "`URL` of a server that toolhost serve --http said, with its /mcp; its token is taken from "+mcpconfig.TokenVariable)
	return cmd
}

// mcpSnippet is the configuration to reach a server, or without one to start toolhost serve with flags.
func mcpSnippet(c mcpconfig.Client, server string, flags []string) (snippet mcpconfig.Snippet, err error) {
	if server != "" {
		if len(flags) > 0 {
			return snippet, fmt.Errorf("%s: a server that runs already takes no flags; give them to its toolhost serve", flags[0])
		}
		return c.HTTP(server)
	}
	if err := newServe().ParseFlags(flags); err != nil {
		return snippet, fmt.Errorf("toolhost serve would not start: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return snippet, exitf(exitFailed, "this program cannot say where it is: %v", err)
	}
	return c.Local(mcpconfig.Server{Command: append([]string{program, "serve"}, flags...), Tools: builtin.List()}), nil
}
