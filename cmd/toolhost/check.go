package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/sandbox"
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
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.InOrStdin(), cmd.OutOrStdout(), args) },
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
		return checkEach(s, in, out)
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
	found := check(s, tool, input)
	if found.failed != nil {
		return found.failed
	}
	if c.asJSON {
		err = printCheck(out, found, map[string]any{"tool": tool, "input": json.RawMessage(input)})
	} else {
		err = showCheck(out, found, s.Hooks)
	}
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	return found.exit()
}

// open makes a checker for a session on this machine that is yet to begin.
func (c *checking) open() (*session.Checker, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	return session.NewChecker(c.flags.options(), sandbox.ProbeOnce(state).Level)
}

// checkResult is the decision about one call.
type checkResult struct {
	agenttool.Decision
	failed error // it would end before a decision
	rule   *permissions.Rule
}

func check(s *session.Checker, tool string, input []byte) checkResult {
	d, _, err := s.Host.Check(context.Background(), tool, input)
	c := checkResult{Decision: d, failed: err}
	if err == nil && d.Reason.RuleRef != "" {
		for _, r := range s.Host.Policy().Rules() {
			if r.Ref() == d.Reason.RuleRef {
				c.rule = &r
				break
			}
		}
	}
	return c
}

func (c checkResult) exit() error {
	switch c.Behavior {
	case agenttool.Allow:
		return nil
	case agenttool.Ask:
		return exitf(exitAsks, "")
	}
	return exitf(exitNotAllowed, "")
}

// printCheck writes one JSON object: record with the findings added.
func printCheck(out io.Writer, c checkResult, record map[string]any) error {
	record["behavior"], record["rule"], record["source"], record["where"] = c.Behavior, "", "", ""
	record["reason"], record["reason_type"] = c.Reason.Detail, c.Reason.Type
	if c.rule != nil {
		record["rule"], record["source"], record["where"] = c.rule.Text, c.rule.Origin.Source, c.rule.Origin.Where()
	}
	record["rules"] = output.List(c.RuleRefs)
	record["subcommands"] = output.List(c.Reason.Subcommands)
	record["suggestions"] = output.List(c.SuggestedUpdates)
	if len(c.Grants) > 0 {
		record["grants"] = c.Grants
	}
	return output.JSON(out, record)
}

// checkEach checks the command of each line. One that cannot be checked is denied, and the next one follows.
func checkEach(s *session.Checker, in io.Reader, out io.Writer) error {
	w := bufio.NewWriter(out)
	return eachLine(in, w, func(command string) error {
		input, err := agenttool.Encode(map[string]string{"command": command})
		if err != nil {
			return err
		}
		c := check(s, "shell", input)
		if c.failed != nil {
			c.Decision = agenttool.Decision{Behavior: agenttool.Deny, Reason: &agenttool.DecisionReason{
				Type: "other", Detail: agenttool.AsError(c.failed, agenttool.InvalidArguments).Message}}
		}
		return printCheck(w, c, map[string]any{"command": command})
	})
}

// showCheck prints what was found for a person.
func showCheck(out io.Writer, c checkResult, hooks []hook.Hook) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", verdictWord(c.Behavior), visible.Text(c.Reason.Detail))
	for _, s := range c.Reason.Subcommands {
		indent := "  "
		if s.WrappedBy >= 0 {
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%s  %s\n", indent, verdictWord(s.Behavior), visible.Text(cut.Characters(strings.Join(s.Argv, " "), 100)))
		if len(c.Reason.Subcommands) > 1 || s.Rule != "" {
			fmt.Fprintf(&b, "%s       %s\n", indent, visible.Text(s.Reason))
		}
	}
	if n := len(hooks); n > 0 {
		fmt.Fprintf(&b, "%d hooks are set, which are not asked here and may decide otherwise\n", n)
	}
	for i, update := range c.SuggestedUpdates {
		word := "to allow exactly this:"
		if i > 0 {
			word = "or more widely:       "
		}
		if update.Mode != "" {
			fmt.Fprintf(&b, "or for a session:      --mode %s\n", update.Mode)
			continue
		}
		fmt.Fprintf(&b, "%s %s\n", word, visible.Text(strings.Join(update.Rules, "  ")))
	}
	if len(c.Grants) > 0 {
		fmt.Fprintf(&b, "its sandbox is widened by %s\n", visible.Text(strings.Join(c.Grants, ", ")))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// verdictWord is a verdict in its colour, and as wide as all others.
func verdictWord(b agenttool.Behavior) string {
	colours := map[agenttool.Behavior]output.Colour{agenttool.Allow: output.Green, agenttool.Ask: output.Yellow, agenttool.Deny: output.Red}
	return colours[b].Paint(fmt.Sprintf("%-5s", b))
}
