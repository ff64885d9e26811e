package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/prune"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host"
	"toolhost/persist"
	"toolhost/persist/redact"
)

func newCall() *cobra.Command {
	var s sessionFlags
	var asJSON bool
	var agreed string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:        "call TOOL [INPUT]",
		Short:      "Run one call and print its result",
		SuggestFor: []string{"run", "exec", "invoke"},
		Long: `call runs one tool with one input, a JSON object ("-" reads it from stdin), and prints the result for people; --json
prints the invocation, the result and the persistence decision for programs. The calls of one day in one workspace
share a session log. A command that would go on by itself ends with the call. A call that asks is asked about on the terminal.
` + exitCodes,
		Example: `  toolhost call grep '{"pattern":"func main"}'
  toolhost call shell '{"command":"go test ./..."}' --allow 'Shell(go test *)'
  toolhost call write - --allow 'Write(notes/**)' < input.json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := callInput(args[1:], cmd.InOrStdin())
			if err != nil {
				return err
			}
			first := false
			o := s.options()
			o.Reachable, o.Overwrite = true, true
			o.Store = func(root string, r *redact.Redactor) (store *persist.Store, err error) {
				store, first, err = s.daySession(root, r)
				return store, err
			}
			session, err := session.New(o)
			if err != nil {
				return err
			}
			session.Met("toolhost call")
			if first { // a moment to look at the old ones
				defer prune.Meanwhile(session, logLine)()
			}
			r := host.Request{ID: callID(time.Now()), Tool: args[0], Input: input, Timeout: timeout}
			if agreed != "" {
				r.Caller.Asked = agreedElsewhere(session, agreed)
			} else {
				asker := askOnTerminal(session)
				defer asker.end()
				r = asker.asking(r)
			}
			defer closeCall(session)
			completion, err := callOnce(session, r)
			if err != nil {
				return err
			}
			err = printCompletion(cmd.OutOrStdout(), completion, asJSON)
			if completion.Result.Status == agenttool.ResultPartialSucceeded {
				fmt.Fprintln(os.Stderr, "toolhost: the command ends now, because toolhost call has no later calls: give it a longer timeout_ms, or use toolhost serve")
			}
			return err
		},
	}
	s.addFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: invocation, result, persistence")
	cmd.Flags().StringVar(&agreed, "agreed", "", "`program` whose dialog a person has answered with yes for this call: its first prompt is answered so")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "deadline of the call, such as 30s; 0 is none")
	return cmd
}

// callID names a call of the command line, so that log show --call finds it among those of the day.
func callID(now time.Time) string {
	return "c" + strconv.FormatInt(now.UnixMilli()%86_400_000, 36) + strconv.Itoa(os.Getpid()%1000)
}

// maxInput is the size in bytes of the largest input that is read, as on the wire.
const maxInput = 16 << 20

func callInput(args []string, stdin io.Reader) ([]byte, error) {
	switch {
	case len(args) == 0:
		return []byte("{}"), nil
	case args[0] != "-":
		return checkJSON([]byte(args[0]))
	}
	input, err := io.ReadAll(io.LimitReader(stdin, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("read the input from stdin: %w", err)
	}
	if len(input) > maxInput {
		return nil, fmt.Errorf("the input on stdin is larger than %d bytes", maxInput)
	}
	return checkJSON(input)
}

func checkJSON(input []byte) ([]byte, error) {
	var v any
	if err := json.Unmarshal(input, &v); err != nil {
		return nil, fmt.Errorf(`the input is not JSON (%v): give an object, such as '{"pattern":"func main"}'`, err)
	}
	return input, nil
}

// daySession is the session of today's calls in the workspace root, or the next one that no process is using. It reports
// whether this is its first call.
func (s *sessionFlags) daySession(root string, r *redact.Redactor) (store *persist.Store, first bool, err error) {
	dir, err := dirs.Sessions()
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256([]byte(root))
	id := fmt.Sprintf("call-%s-%s", time.Now().UTC().Format("20060102"), hex.EncodeToString(sum[:4]))
	o := persist.Options{Dir: dir, ID: agenttool.SessionID(id), Meta: meta(root), PayloadLimit: int64(s.jobOutput), Redactor: r}
	for n := 2; n < 100; n++ {
		_, statErr := os.Stat(filepath.Join(dir, string(o.ID)))
		_, _ = history.EndOne(dir, o.ID) // a call that was killed; what cannot be read is said by log verify
		store, err := persist.Resume(o)
		if err == nil {
			return store, os.IsNotExist(statErr), nil
		}
		if !errors.Is(err, persist.ErrLocked) && !errors.Is(err, persist.ErrDamaged) && !errors.Is(err, persist.ErrNewer) {
			return persist.New(o), false, nil // the first call that is not read-only will say what is wrong
		}
		o.ID = agenttool.SessionID(fmt.Sprintf("%s-%d", id, n))
	}
	return persist.New(persist.Options{Dir: dir, Meta: meta(root), PayloadLimit: int64(s.jobOutput), Redactor: r}), false, nil
}

// callOnce runs one call to its end. The first interrupt cancels it.
func callOnce(s *session.Session, r host.Request) (host.Completion, error) {
	interrupted, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	done := make(chan host.Completion, 1)
	if err := s.Host.Invoke(r, func(c host.Completion) { done <- c }); err != nil {
		return host.Completion{}, err
	}
	var completion host.Completion
	select {
	case completion = <-done:
	case <-interrupted.Done():
		s.Host.Cancel(r.ID, "interrupted at the terminal")
		completion = <-done
	}
	return completion, nil
}

// closeCall ends the session of a call whose result has been printed.
func closeCall(s *session.Session) {
	if err := s.Linger(s.Close()); err != nil {
		fmt.Fprintln(os.Stderr, "toolhost: the session log could not be closed:", err)
	}
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
		message := strings.ReplaceAll(string(e.Class), "_", " ") + ": " + output.Line(e.Message)
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
