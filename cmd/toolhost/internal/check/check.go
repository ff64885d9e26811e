// Package check says in advance how a command or a call would act, and whether it would run.
package check

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host/hook"
	"toolhost/permissions"
)

// Lines calls do for the command of each line of in, where \n, \t and \r stand for the characters. The writer of do is flushed before Lines
// waits for the next line, so that an interactive caller gets each answer at once.
func Lines(in io.Reader, out io.Writer, do func(w io.Writer, command string) error) error {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriter(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read commands from stdin: %w", err)
		}
		if line != "" {
			if err := do(w, unescape.Replace(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return w.Flush()
		}
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
}

// unescape puts the characters in place of the three escapes, from left to right.
var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r")

// Result is the decision about one call.
type Result struct {
	agenttool.Decision
	rule *permissions.Rule
}

// Call decides about a call. The error is that of a call which would end before a decision.
func Call(s *session.Checker, tool string, input []byte) (r Result, err error) {
	r.Decision, _, err = s.Host.Check(context.Background(), tool, input)
	if err != nil || r.Reason.RuleRef == "" {
		return r, err
	}
	for _, rule := range s.Host.Policy().Rules() {
		if rule.Ref() == r.Reason.RuleRef {
			r.rule = &rule
			break
		}
	}
	return r, nil
}

// Command decides about a command of the shell. One that would end before a decision is denied.
func Command(s *session.Checker, command string) (Result, error) {
	input, err := agenttool.Encode(map[string]string{"command": command})
	if err != nil {
		return Result{}, err
	}
	r, err := Call(s, "shell", input)
	if err != nil {
		r.Decision = agenttool.Decision{Behavior: agenttool.Deny, Reason: &agenttool.DecisionReason{
			Type: "other", Detail: agenttool.AsError(err, agenttool.InvalidArguments).Message}}
	}
	return r, nil
}

// JSON prints the decision as one object, which has the members of record too.
func (r Result) JSON(out io.Writer, record map[string]any) error {
	record["behavior"], record["rule"], record["source"], record["where"] = r.Behavior, "", "", ""
	record["reason"], record["reason_type"] = r.Reason.Detail, r.Reason.Type
	if r.rule != nil {
		record["rule"], record["source"], record["where"] = r.rule.Text, r.rule.Origin.Source, r.rule.Origin.Where()
	}
	record["rules"] = output.List(r.RuleRefs)
	record["subcommands"] = output.List(r.Reason.Subcommands)
	record["suggestions"] = output.List(r.SuggestedUpdates)
	if len(r.Grants) > 0 {
		record["grants"] = r.Grants
	}
	return output.JSON(out, record)
}

// Print prints the decision. It names the hooks of the settings, which did not run.
func (r Result) Print(out io.Writer, hooks []hook.Hook) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", verdict(r.Behavior), visible.Text(r.Reason.Detail))
	for _, s := range r.Reason.Subcommands {
		indent := "  "
		if s.WrappedBy >= 0 {
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%s  %s\n", indent, verdict(s.Behavior), visible.Text(cut.Characters(strings.Join(s.Argv, " "), 100)))
		if len(r.Reason.Subcommands) > 1 || s.Rule != "" {
			fmt.Fprintf(&b, "%s       %s\n", indent, visible.Text(s.Reason))
		}
	}
	if n := len(hooks); n > 0 {
		fmt.Fprintf(&b, "%d hooks are set, which are not asked here and may decide otherwise\n", n)
	}
	for i, update := range r.SuggestedUpdates {
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
	if len(r.Grants) > 0 {
		fmt.Fprintf(&b, "its sandbox is widened by %s\n", visible.Text(strings.Join(r.Grants, ", ")))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// verdict is a behavior in its colour, and as wide as all others.
func verdict(b agenttool.Behavior) string {
	colours := map[agenttool.Behavior]output.Colour{agenttool.Allow: output.Green, agenttool.Ask: output.Yellow, agenttool.Deny: output.Red}
	return colours[b].Paint(fmt.Sprintf("%-5s", b))
}
