package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/classify"
	"toolhost/cmd/toolhost/internal/check"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/session"
)

// exitAsks is the exit code of check for a call that asks. Allowed is 0, denied is 3 as everywhere.
const exitAsks = 4

func newCheck() *cobra.Command {
	c := checking{}
	cmd := &cobra.Command{
		Use:   "check [TOOL] INPUT",
		Short: "Say whether a call would run, and which rule decides",
		Long: `check says what would become of a call under the settings of a workspace and the rules of the command line: whether it
runs, asks or is denied, by which rule of which file and line, and for each command of a command line. Nothing is run.
With one argument INPUT is a shell command; with two it is the input of TOOL, a JSON object.

--lines reads one shell command a line from stdin, in which \n, \t and \r stand for the characters (nothing else is an
escape), and writes one JSON object a line, in order: command, behavior, rule, source, where, reason, reason_type,
subcommands, suggestions.

--explain-rule says what a rule covers, and what it does not, of the commands that past sessions ran.

Exit codes: 0 it runs; 3 it is denied; 4 it asks; 2 the command line, the settings or the input cannot be used.`,
		Example: `  toolhost check 'git push --force'
  toolhost check write '{"path":"src/a.go","content":""}' --allow 'Write(src/**)'
  printf '%s\n' 'ls' 'rm -rf x' | toolhost check --lines --deny 'Shell(rm *)'
  toolhost check --explain-rule 'Shell(git *)'`,
		Args: c.args,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer watchStart(exitFailed, c.flags.options())()
			return c.run(cmd.InOrStdin(), cmd.OutOrStdout(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.flags.Workspace, "workspace", ".", "`directory` in which the call would be made")
	c.flags.addPolicyFlags(cmd, "that no rule decides")
	f.BoolVar(&c.asJSON, "json", false, "print one JSON object")
	f.BoolVar(&c.lines, "lines", false, "read one shell command a line, write one JSON object a line")
	f.StringVar(&c.explained, "explain-rule", "", "`rule` to explain with what past sessions ran")
	return cmd
}

// checking is one run of check.
type checking struct {
	flags         sessionFlags
	asJSON, lines bool
	explained     string
}

func (c *checking) args(_ *cobra.Command, args []string) error {
	switch {
	case c.lines && c.explained != "":
		return errors.New("--lines and --explain-rule exclude each other: give one of them")
	case (c.lines || c.explained != "") && len(args) > 0:
		return errors.New("--lines and --explain-rule take no argument: leave it out")
	case !c.lines && c.explained == "" && (len(args) < 1 || len(args) > 2):
		return errors.New("give one shell command, in quotes, or a tool and its input")
	}
	return nil
}

func (c *checking) run(in io.Reader, out io.Writer, args []string) error {
	if c.explained != "" {
		return c.explain(out)
	}
	s, err := c.open()
	if err != nil {
		return err
	}
	defer s.Close()
	if c.lines {
		return failed(check.Lines(in, out, func(w io.Writer, command string) error {
			found, err := check.Command(s, command)
			if err != nil {
				return err
			}
			return found.JSON(w, map[string]any{"command": command})
		}))
	}
	tool, input := "shell", []byte(nil)
	if len(args) == 2 {
		tool = args[0]
		if input, err = checkJSON([]byte(args[1])); err != nil {
			return err
		}
	} else if input, err = agenttool.Encode(map[string]string{"command": args[0]}); err != nil {
		return err
	}
	found, err := check.Call(s, tool, input)
	if err != nil {
		return err
	}
	if c.asJSON {
		err = found.JSON(out, map[string]any{"tool": tool, "input": json.RawMessage(input)})
	} else {
		err = found.Print(out, s.Hooks)
	}
	if err != nil {
		return failed(err)
	}
	switch found.Behavior {
	case agenttool.Allow:
		return nil
	case agenttool.Ask:
		return exitf(exitAsks, "")
	}
	return exitf(exitNotAllowed, "")
}

// explainedCommands is how many commands of the past a rule is explained with.
const explainedCommands = 2000

// explain lists the commands of past sessions that a rule covers.
func (c *checking) explain(out io.Writer) error {
	scope, err := c.flags.options().Scope()
	if err != nil {
		return err
	}
	rule, err := policy.Parser(scope.Dir, scope.Home).Parse(c.explained, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceCLI})
	if err != nil {
		return err
	}
	if !rule.IsAboutCommands() {
		return fmt.Errorf("--explain-rule %s: only rules about the words of commands, such as Shell(git *), can be explained", c.explained)
	}
	dir, err := dirs.Sessions()
	if err != nil {
		return err
	}
	commands, err := history.Commands(dir, explainedCommands)
	if err != nil {
		return failed(err)
	}
	found := check.CoverageOf(rule, commands, classify.Context{Dir: scope.Dir, Home: scope.Home})
	if c.asJSON {
		return printJSON(out, found)
	}
	return found.Print(out)
}

// open makes a checker for a session on this machine that is yet to begin.
func (c *checking) open() (*session.Checker, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	return session.NewChecker(c.flags.options(), confine.Found(state).Level)
}
