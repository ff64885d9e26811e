package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/effective"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/repositories"
	"toolhost/settings"
)

func newTrust() *cobra.Command {
	var t trusting
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Show what waits for your word in a project, and allow it",
		Long: `trust shows what the settings that a project brings would loosen: rules that allow, a looser mode, hooks, variables, …
each with the file and line where it stands. Until you say yes, a project's settings can only restrict.

trust also shows the hooks and the programs in the configuration of git repositories that calls made or moved in the project.
Git runs none of them until you say yes.

What you agree to is exactly what is shown. When the files would loosen anything else, they only restrict again until you
have looked. A project's settings are .toolhost/settings.json and .toolhost/settings.local.json, and a file in the workspace that
--settings names. Rules that toolhost wrote there for you count without it.

Exit codes: 0 it is trusted, or there is nothing to trust; 2 the command line or the settings cannot be used; 3 nobody said
yes: there is no terminal to ask on, or the answer was no.`,
		Example: `  toolhost trust
  toolhost trust ~/src/project --yes
  toolhost trust --revoke
  toolhost trust --list`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if cmd.Flags().Changed("workspace") {
					return errors.New("name the directory once: as DIR or with --workspace")
				}
				t.at.workspace = args[0]
			}
			t.in, t.out = cmd.InOrStdin(), cmd.OutOrStdout()
			return t.run()
		},
	}
	cmd.Flags().StringVar(&t.at.workspace, "workspace", ".", "`directory` that is meant, as DIR")
	cmd.Flags().StringVar(&t.at.file, "settings", "", "further `file` of settings, as toolhost serve takes it")
	cmd.Flags().BoolVar(&t.yes, "yes", false, "trust what is shown without asking")
	cmd.Flags().BoolVar(&t.revoke, "revoke", false, "take the word back")
	cmd.Flags().BoolVar(&t.list, "list", false, "list the directories that are trusted")
	cmd.MarkFlagsMutuallyExclusive("yes", "revoke", "list")
	return cmd
}

// trusting is one run of trust.
type trusting struct {
	at                settingsPlace
	yes, revoke, list bool
	in                io.Reader
	out               io.Writer
}

func (t *trusting) run() error {
	o, err := t.at.options()
	if err != nil {
		return err
	}
	switch {
	case t.list:
		return t.listPins(o)
	case t.revoke:
		return t.takeBack(o)
	}
	loosening, digest, err := settings.Loosening(o)
	if err != nil {
		return policy.Problems(err)
	}
	waiting, err := repositories.Waiting(o.Workspace, o.Home)
	if err != nil {
		return failedSafe(err)
	}
	if len(waiting.Programs) > 0 {
		waiting.Print(t.out)
		if err := t.agreed(); err != nil {
			return err
		}
		if err := waiting.Release(t.out); err != nil || len(loosening) == 0 {
			return failedSafe(err)
		}
	}
	if len(loosening) == 0 {
		fmt.Fprintf(t.out, "there is nothing to trust: no setting of %s loosens anything\n", visible.Text(o.Workspace))
		return nil
	}
	fmt.Fprintf(t.out, "%s brings settings with which toolhost\n\n", visible.Text(o.Workspace))
	effective.PrintUntrusted(t.out, o, loosening)
	fmt.Fprintln(t.out)
	pin := t.pin(o)
	if pin.Digest == digest {
		fmt.Fprintf(t.out, "You trust this since %s.\n", output.Time(pin.At))
		return nil
	}
	if pin.Digest != "" {
		fmt.Fprintf(t.out, "It is not what you trusted on %s.\n", output.Time(pin.At))
	}
	return t.decide(o, digest)
}

// pin returns the trusted state of the workspace.
func (t *trusting) pin(o settings.Options) settings.Pin {
	pin, err := settings.PinOf(o)
	if err != nil {
		fmt.Fprintln(output.Stderr(), "toolhost: "+visible.Text(err.Error()))
	}
	return pin
}

// decide trusts what was shown, if a person says so.
func (t *trusting) decide(o settings.Options, digest string) error {
	if err := t.agreed(); err != nil {
		return err
	}
	if err := settings.Trust(o, digest); err != nil {
		return failedSafe(err)
	}
	fmt.Fprintf(t.out, "%s is trusted.\n", visible.Text(o.Workspace))
	return nil
}

// agreed is an error unless a person says yes.
func (t *trusting) agreed() error {
	if err := mayChange(); err != nil {
		return err
	}
	if t.yes {
		return nil
	}
	if !output.IsTerminal(os.Stdin) {
		return exitf(exitNotAllowed, "it is not trusted: say so in a terminal, or with --yes")
	}
	if !t.ask() {
		return exitf(exitNotAllowed, "it is not trusted, because you did not answer y: its settings only restrict until toolhost trust gets that answer")
	}
	return nil
}

// ask reports whether a person at the terminal says yes.
func (t *trusting) ask() bool {
	fmt.Fprint(t.out, "Let it? [y/N] ")
	yes, err := saysYes(t.in)
	if err != nil {
		fmt.Fprintln(t.out)
	}
	return yes && err == nil
}

func (t *trusting) takeBack(o settings.Options) error {
	if err := mayChange(); err != nil {
		return err
	}
	found, err := settings.Untrust(o)
	if err != nil {
		return failedSafe(err)
	}
	if !found {
		fmt.Fprintf(t.out, "%s was not trusted\n", visible.Text(o.Workspace))
		return nil
	}
	fmt.Fprintf(t.out, "%s is not trusted any more: its settings only restrict\n", visible.Text(o.Workspace))
	return nil
}

func (t *trusting) listPins(o settings.Options) error {
	pins, err := settings.Pins(o.Trust)
	if err != nil {
		return failedSafe(err)
	}
	if len(pins) == 0 {
		fmt.Fprintln(t.out, "nothing is trusted")
		return nil
	}
	w := output.NewTable(t.out, "WORKSPACE", "SINCE", "DIGEST")
	for _, p := range pins {
		w.Row(p.Workspace, p.At, cmp.Or(cut.Characters(p.Digest, 19), "none: only the rules that toolhost wrote there"))
	}
	return w.Flush()
}

// saysYes reads the answer of the person to a question. The error is that of input without an end of line.
func saysYes(in io.Reader) (bool, error) {
	const longest = 1024
	answer, err := bufio.NewReader(io.LimitReader(in, longest)).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}
