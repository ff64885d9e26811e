package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"toolhost/classify"
	"toolhost/cmd/toolhost/internal/check"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/wire/stdio"
)

func newFacts() *cobra.Command {
	var asJSON, lines bool
	var dir string
	cmd := &cobra.Command{
		Use:   "facts COMMAND",
		Short: "Say what a shell command would do, from its text alone",
		Long: `facts prints what is known of a bash command line before it runs: whether it only reads, destroys, reaches beyond this
machine or may run in parallel with others, with the reasons and where they stand. It runs nothing and reads no file.
COMMAND "-" is read from stdin.

--lines reads one command a line from stdin, in which \n, \t and \r stand for the characters (nothing else is an escape),
and writes one JSON object a line, in order.
` + exitCodes,
		Example: `  toolhost facts 'git diff | head -5'
  toolhost facts --json 'find . -name "*.o" -delete'
  printf '%s\n' 'ls' 'rm x' | toolhost facts --lines`,
		Args: func(_ *cobra.Command, args []string) error {
			if lines && len(args) > 0 {
				return errors.New("--lines reads its commands from stdin: leave the argument out")
			}
			if !lines && len(args) != 1 {
				return errors.New("give one command, in quotes, or --lines")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := classifyContext(dir)
			if err != nil {
				return err
			}
			if lines {
				return failed(check.Lines(cmd.InOrStdin(), cmd.OutOrStdout(), func(w io.Writer, command string) error {
					return output.JSON(w, check.FactsOf(command, in))
				}))
			}
			text := args[0]
			if text == "-" {
				all, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), stdio.MaxLine))
				if err != nil {
					return exitf(exitFailed, "read the command from stdin: %v", err)
				}
				text = string(all)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), check.FactsOf(text, in))
			}
			return check.FactsOf(text, in).Print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.Flags().BoolVar(&lines, "lines", false, "read one command a line, write one JSON object a line")
	cmd.Flags().StringVar(&dir, "workspace", ".", "`directory` in which the command would start")
	return cmd
}

// classifyContext is where a command would run: a directory, which need not exist, and the home directory.
func classifyContext(dir string) (classify.Context, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return classify.Context{}, fmt.Errorf("--workspace %s: %w", dir, err)
	}
	home, _ := os.UserHomeDir() // without one, ~ means nothing
	return classify.Context{Dir: abs, Home: home}, nil
}
