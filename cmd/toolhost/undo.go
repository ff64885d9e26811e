package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/tools/keep"
)

func newUndo() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "undo [CALL]",
		Short:      "Put back what a call has changed and removed, or list the calls of which that is kept",
		SuggestFor: []string{"restore", "revert", "rollback", "copies"},
		Long: `undo puts back the files that a command, write or edit of a call changed, moved and removed, and takes away those that it made: from its
last change to its first. An undo that was killed, or that could not put back all, does what is left when it is run again. CALL is the id of the call, as the result of the call and "log" give it, or the beginning of one. Without CALL undo
lists the calls of which something is kept.

What stands under the names now is kept as well, under an id that undo prints: undo of that does the changes again.
` + exitCodes,
		Example: `  toolhost undo
  toolhost undo inv_01M8EA3PV26TDBMMCR6HAZ7CVT`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			state, err := dirs.State()
			if err != nil {
				return err
			}
			store := &keep.Store{Dir: dirs.Copies(state)}
			if len(args) == 0 {
				return listKept(cmd.OutOrStdout(), store, asJSON)
			}
			id, err := keptCall(store, args[0])
			if err != nil {
				return err
			}
			report, err := store.PutBack(cmd.Context(), id)
			if err != nil {
				return failed(err)
			}
			return printUndone(cmd.OutOrStdout(), id, report, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// keptCall returns the id of the call in the store that begins with a text.
func keptCall(store *keep.Store, begins string) (string, error) {
	var ids []string
	for _, call := range store.Calls() {
		switch {
		case call.ID == begins:
			return begins, nil
		case strings.HasPrefix(call.ID, begins):
			ids = append(ids, call.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("nothing is kept of a call %s: toolhost undo lists those of which something is", visible.Text(begins))
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%d calls begin with %s: %s", len(ids), visible.Text(begins), strings.Join(ids, ", "))
}

func listKept(out io.Writer, store *keep.Store, asJSON bool) error {
	calls := store.Calls()
	if asJSON {
		return output.JSON(out, calls)
	}
	if len(calls) == 0 {
		_, err := fmt.Fprintln(out, "nothing is kept: no command has changed or removed a file")
		return err
	}
	for _, call := range calls {
		_, err := fmt.Fprintf(out, "%s  %s  %s\n", call.ID, call.At.Local().Format(time.DateTime), visible.Text(call.String()))
		if err != nil {
			return err
		}
	}
	return nil
}

func printUndone(out io.Writer, id string, report keep.Report, asJSON bool) error {
	if asJSON {
		if err := output.JSON(out, report); err != nil {
			return err
		}
	} else {
		for _, problem := range report.Problems {
			fmt.Fprintln(out, "not put back: "+visible.Text(problem))
		}
		fmt.Fprintf(out, "undone: %s of %s", report, id)
		if report.As != "" {
			fmt.Fprintf(out, "; toolhost undo %s does them again", report.As)
		}
		fmt.Fprintln(out)
	}
	if len(report.Problems) > 0 {
		return failed(fmt.Errorf("%d of the changes could not be undone", len(report.Problems)))
	}
	return nil
}
