package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/effective"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/settings"
)

// settingsPlace is whose settings a command is about.
type settingsPlace struct{ workspace, file string }

func newSettings() *cobra.Command {
	var at settingsPlace
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "settings",
		Short:      "Show what is allowed and set, and where it stands; add and remove rules",
		SuggestFor: []string{"rules", "rule", "config", "permissions"},
		Long: `settings prints what the files of settings say together, each value with the file and line that it is from. The files,
weakest first:

  ~/.config/toolhost/settings.json   yours (below $XDG_CONFIG_HOME, if that is set)
  .toolhost/settings.json            the project's
  .toolhost/settings.local.json      yours, in this project
  --settings FILE                    named on the command line
  /etc/toolhost/settings.json        the administrator's, which nothing overrides

They are JSON with comments; "toolhost settings schema" prints what can stand in them. Rules and lists of all files are
joined: deny counts before ask, and ask before allow. Of single values the strongest file's counts.

What a project's files would loosen is left out, and listed, until you look at it with toolhost trust.
` + exitCodes,
		Example: `  toolhost settings
  toolhost settings --json
  toolhost settings add-rule allow 'Shell(go test *)'
  toolhost settings add-rule deny 'Read(secrets)' --project
  toolhost settings remove-rule allow 'Shell(go test *)'
  toolhost settings check
  toolhost settings schema > settings.schema.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, s, err := at.load()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), effective.Of(o, s))
			}
			if err := effective.Of(o, s).Print(cmd.OutOrStdout()); err != nil {
				return failed(err)
			}
			warnOfSettings(s)
			return nil
		},
	}
	cmd.PersistentFlags().StringVar(&at.workspace, "workspace", ".", "`directory` whose settings are meant")
	cmd.Flags().StringVar(&at.file, "settings", "", "further `file` of settings, as toolhost serve takes it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.AddCommand(newSettingsSchema(), newSettingsAdd(&at), newSettingsRemove(&at), newSettingsCheck(&at), newSettingsPath(&at), newSettingsReload())
	return cmd
}

// options are those of the place.
func (at settingsPlace) options() (settings.Options, error) {
	root, err := filepath.Abs(at.workspace)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(root); err == nil && !info.IsDir() {
			err = errors.New("it is not a directory")
		}
	}
	if err != nil {
		return settings.Options{}, fmt.Errorf("--workspace %s: %w", visible.Text(at.workspace), err)
	}
	return policy.SettingsFiles(dirs.Real(root), at.file)
}

// load reads the settings. If there are problems, the error tells of all of them.
func (at settingsPlace) load() (settings.Options, *settings.Settings, error) {
	o, err := at.options()
	if err != nil {
		return o, nil, err
	}
	s, err := settings.Load(o)
	return o, s, policy.Problems(err)
}

func newSettingsSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a file of settings", Args: cobra.NoArgs,
		Long: `schema prints the JSON Schema (draft 2020-12) of a file of settings. Editors that know it complete and check while you
write: name it in the file's "$schema".`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(settings.Schema())
			return err
		},
	}
}

func newSettingsCheck(at *settingsPlace) *cobra.Command {
	return &cobra.Command{
		Use: "check [FILE...]", Short: "Check files of settings, with rules and their examples",
		Long: `check reads the files of settings, or the FILEs alone, and prints everything that is wrong with them, a problem a line as
FILE:LINE:COLUMN: unknown and misspelt keys, wrong types, rules that are none, rules that do not match their examples.

Exit codes: 0 nothing is wrong; 2 something is.`,
		Example: `  toolhost settings check
  toolhost settings check .toolhost/settings.json`,
		RunE: func(cmd *cobra.Command, files []string) error {
			o, err := at.options()
			if err != nil {
				return err
			}
			if len(files) == 0 {
				return checkSettings(cmd.OutOrStdout(), o)
			}
			broken := 0
			for _, file := range files {
				alone, err := onlyFile(o, file)
				if err != nil {
					return err
				}
				if checkSettings(cmd.OutOrStdout(), alone) != nil {
					broken++
				}
			}
			if broken > 0 {
				return exitf(exitUsage, "%d of %d files are broken", broken, len(files))
			}
			return nil
		},
	}
}

// onlyFile returns options that read one file, as an untrusted file of a project.
func onlyFile(o settings.Options, file string) (settings.Options, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return o, err
	}
	if _, err := os.Lstat(path); err != nil {
		return o, fmt.Errorf("%s cannot be checked: %w: toolhost settings path lists the files that count", visible.Text(file), errors.Unwrap(err))
	}
	o.User, o.Project, o.Local, o.Flag, o.Managed = "", path, "", "", ""
	return o, nil
}

// checkSettings prints what is wrong with files. The error says how much that is.
func checkSettings(out io.Writer, o settings.Options) error {
	o.Strict = true
	s, err := settings.Load(o)
	problems := settings.Problems(err)
	if err != nil && len(problems) == 0 {
		return err
	}
	for _, p := range problems {
		fmt.Fprintln(out, visible.Text(p.Error()))
	}
	if len(problems) > 0 {
		return exitf(exitUsage, "%s", output.Count(len(problems), "problem"))
	}
	files := 0
	for _, l := range s.Layers {
		if l.Exists {
			files++
		}
	}
	fmt.Fprintf(out, "nothing is wrong: %s, %s\n", output.Count(files, "file"), output.Count(len(s.Rules), "rule"))
	warnOfSettings(s)
	return nil
}

// warnOfSettings tells on stderr of problems that leave settings in force.
func warnOfSettings(s *settings.Settings) {
	for _, p := range s.Problems {
		fmt.Fprintln(output.Stderr(), "toolhost: "+visible.Text(p.Error()))
	}
}

func newSettingsPath(at *settingsPlace) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print where the files of settings are, and which of them count", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := at.options()
			if err != nil {
				return err
			}
			layers := o.Files()
			s, err := settings.Load(o)
			if err == nil {
				layers = s.Layers
			}
			w := output.NewTable(cmd.OutOrStdout())
			for _, l := range layers {
				w.Row(l.Source, l.File, layerState(l, err))
			}
			w.Row("trust", o.Trust, "what toolhost trust keeps")
			return w.Flush()
		},
	}
}

// layerState says whether a file counts. broken is the error of reading the settings.
func layerState(l settings.Layer, broken error) string {
	for _, p := range settings.Problems(broken) {
		if p.File == l.File {
			return "broken: see toolhost settings check"
		}
	}
	_, err := os.Lstat(l.File)
	switch {
	case err != nil:
		return "is not there"
	case broken != nil:
		return "is there"
	case l.Supplied && !l.Trusted:
		return "only restricts (" + l.Why + "): see toolhost trust"
	}
	return "counts"
}
