package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/onecall"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/host"
	"toolhost/wire/stdio"
)

func newCall() *cobra.Command {
	var s sessionFlags
	var asJSON bool
	var agreed, agreedTo string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:        "call TOOL [INPUT]",
		Short:      "Run one call and print its result",
		SuggestFor: []string{"run", "exec", "invoke"},
		Long: `call runs one tool with one input, a JSON object ("-" reads it from stdin), and prints the result for people. For a tool that needs one
text only, such as shell, the text itself will do. --json prints the invocation, the result and the persistence decision for programs. The calls of one day in one workspace
share a session log. A command that would go on by itself ends with the call. A call that asks is asked about on the terminal.
` + exitCodes,
		Example: `  toolhost call shell 'git status'
  toolhost call grep '{"pattern":"func main"}'
  toolhost call shell '{"command":"go test ./..."}' --allow 'Shell(go test *)'
  toolhost call write - --allow 'Write(notes/**)' < input.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := callInput(args[0], args[1:], cmd.InOrStdin())
			if err != nil {
				return err
			}
			o := s.options()
			o.Reachable, o.Overwrite = true, true
			begun := watchStart(exitFailed, o)
			defer begun()
			session, first, err := onecall.New(o, int64(s.jobOutput))
			begun()
			if err != nil {
				return err
			}
			session.Met("toolhost call")
			if first { // a moment to look at the old ones
				defer pruneMeanwhile(session, logLine)()
			}
			r := host.Request{ID: onecall.ID(), Tool: args[0], Input: input, Timeout: timeout}
			if agreed != "" {
				r.Caller.Asked = onecall.Agreed(session, agreed, agreedTo)
			} else {
				listen, end := onecall.OnTerminal(session, r.ID)
				defer end()
				r.Caller.Asked = listen
			}
			defer onecall.Close(session)
			completion, err := onecall.Run(session, r)
			if err != nil {
				return err
			}
			err = printCompletion(cmd.OutOrStdout(), completion, asJSON)
			if completion.Result.Status == agenttool.ResultPartialSucceeded {
				fmt.Fprintln(output.Stderr(), "toolhost: the command ends now, because toolhost call has no later calls: give it a longer timeout_ms, or use toolhost serve")
			}
			return err
		},
	}
	s.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: invocation, result, persistence")
	cmd.Flags().StringVar(&agreed, "agreed", "", "`program` whose dialog a person has answered with yes for this call: its first prompt is answered so")
	cmd.Flags().StringVar(&agreedTo, "agreed-to", "", "what that dialog was about, as `digest`: another prompt is not answered so")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "deadline of the call, such as 30s; 0 is none")
	return cmd
}

func callInput(tool string, args []string, stdin io.Reader) ([]byte, error) {
	switch {
	case len(args) == 0:
		return []byte("{}"), nil
	case args[0] != "-":
		if name := onlyText(tool); name != "" && !strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
			return agenttool.Encode(map[string]string{name: args[0]})
		}
		return checkJSON([]byte(args[0]))
	}
	input, err := io.ReadAll(io.LimitReader(stdin, stdio.MaxLine+1))
	if err != nil {
		return nil, fmt.Errorf("read the input from stdin: %w", err)
	}
	if len(input) > stdio.MaxLine {
		return nil, fmt.Errorf("the input on stdin is larger than %d bytes", stdio.MaxLine)
	}
	return checkJSON(input)
}

// onlyText is the member that a tool needs, if it needs one only and that is a text: shell's command, read's path, grep's pattern. "" is none.
func onlyText(tool string) string {
	for _, d := range builtin.Described() {
		if d.Declaration.Name != tool && !slices.Contains(d.Declaration.Aliases, tool) {
			continue
		}
		var schema struct {
			Required   []string `json:"required"`
			Properties map[string]struct {
				Type any `json:"type"` // a name, or several
			} `json:"properties"`
		}
		if json.Unmarshal(d.Interface.ModelInputSchema, &schema) != nil || len(schema.Required) != 1 {
			return ""
		}
		if name := schema.Required[0]; schema.Properties[name].Type == "string" {
			return name
		}
	}
	return ""
}

func checkJSON(input []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(input, &v); err != nil {
		return nil, fmt.Errorf(`the input is not JSON (%v): give an object, such as '{"pattern":"func main"}'`, err)
	}
	return input, nil
}

// printCompletion prints the result and returns the error that sets the exit code.
func printCompletion(out io.Writer, c host.Completion, asJSON bool) error {
	if asJSON {
		encoded, err := c.MarshalJSON()
		if err != nil {
			return err
		}
		if err := printJSON(out, json.RawMessage(encoded)); err != nil || exitCode(c.Result) == exitOK {
			return err
		}
		return &exitError{code: exitCode(c.Result)}
	}
	for _, block := range c.Result.Content {
		if c.Result.IsError && strings.HasPrefix(block.Text, "Error (") {
			continue // said on stderr
		}
		printBlock(out, block)
	}
	if e := c.Result.Error; e != nil {
		message := strings.ReplaceAll(string(e.Class), "_", " ") + ": " + strings.Join(visible.Lines(e.Message), "\n")
		if e.Hint != "" {
			message += " (" + output.Line(e.Hint) + ")"
		}
		return exitf(exitCode(c.Result), "%s", message)
	}
	return nil
}

// printBlock prints one block for a person.
func printBlock(out io.Writer, b agenttool.Content) {
	text := b.Text
	switch {
	case b.Diff != "":
		text = b.Diff
	case b.Data != "":
		text = fmt.Sprintf("[%s, %d characters of base64; --json prints them]", b.MediaType, len(b.Data))
	case b.Type == "artifact_ref", b.Type == "file": // the text names it
	case b.URI != "":
		text = b.URI
	}
	if text == "" {
		return
	}
	if b.Diff != "" {
		text = output.Diff(text)
	} else {
		text = output.Safe(text)
	}
	fmt.Fprintln(out, strings.TrimSuffix(text, "\n"))
}

func exitCode(r agenttool.Result) int {
	switch r.Status {
	case agenttool.ResultSucceeded, agenttool.ResultPartialSucceeded:
		return exitOK
	case agenttool.ResultDenied, agenttool.ResultRejected:
		return exitNotAllowed
	case agenttool.ResultTimedOut:
		return exitTimedOut
	case agenttool.ResultCanceled:
		return exitCanceled
	}
	return exitFailed
}
