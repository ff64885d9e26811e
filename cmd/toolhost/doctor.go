package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/setup"
	"toolhost/persist/cache"
	"toolhost/sandbox"
)

func newDoctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "doctor",
		Short:      "Say what this machine's sandbox holds, what is missing, and how to get it",
		SuggestFor: []string{"status"},
		Long: `doctor makes a sandbox of each level for real, has it tested by a program that tries to write out of it, and says what
works. It lists the caches that workspaces have on this disk, and the MCP clients that are set up for this directory or go past
toolhost. It changes nothing.

Exit codes: 0 the sandbox is full; 1 it is less.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			state, err := dirs.State()
			if err != nil {
				return err
			}
			found := sandbox.ProbeNow(state)
			advice := sandbox.Advice(found)
			caches, err := cache.List(dirs.Caches(state))
			if err != nil {
				return exitf(exitFailed, "%v", err)
			}
			layers, clients := layerGap(found.Level, state), clientsHere()
			if asJSON {
				held, lacking := promisesAt(found.Level)
				text, _ := json.Marshal(map[string]any{
					"sandbox": found, "advice": advice, "answers": answerGaps(found.Level), "holds": held, "lacks": lacking,
					"caches": append([]cache.Entry{}, caches...), "caches_alone": layers, "clients": clientRecords(clients),
				})
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text) // texts, numbers and lists: they can be encoded
			} else {
				err = cmp.Or(printFinding(cmd.OutOrStdout(), found, advice), printCaches(cmd.OutOrStdout(), caches, layers), printClients(cmd.OutOrStdout(), clients))
			}
			if err == nil && found.Level != sandbox.Full {
				err = exitf(exitFailed, "")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// promisesAt returns the ids of the promises that a level keeps, and of those that it does not.
func promisesAt(level sandbox.Level) (held, lacking []string) {
	held, lacking = []string{}, []string{}
	for _, p := range sandbox.Promises() {
		if p.Held(level) {
			held = append(held, p.ID)
		} else {
			lacking = append(lacking, p.ID)
		}
	}
	return held, lacking
}

// printFinding prints a finding for people.
func printFinding(out io.Writer, found sandbox.Finding, advice []string) error {
	_, err := fmt.Fprintf(out, "sandbox: %s\n", found.Level)
	line := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, format+"\n", args...)
		}
	}
	for _, p := range sandbox.Promises() {
		if p.Held(found.Level) {
			line("  holds   %s", p.Words)
		}
	}
	for _, p := range sandbox.Promises() {
		if !p.Held(found.Level) {
			line("  lacks   %s", p.Words)
		}
	}
	if found.Level == sandbox.None {
		line("          commands are refused, or run unconfined with --sandbox none")
	}
	for _, m := range found.Missing {
		line("  misses  %s: %s", m.Level, m.Why)
	}
	for _, a := range advice {
		line("  try     %s", a)
	}
	for _, gap := range answerGaps(found.Level) {
		line("  answers %s", gap)
	}
	return err
}

// shownCaches is how many caches doctor lists one by one.
const shownCaches = 10

// layerGap says why commands do not see the person's caches below their workspace's, "" if they do.
func layerGap(level sandbox.Level, state string) string {
	if level != sandbox.Full {
		return fmt.Sprintf("commands at level %s see only the caches of their workspace, and of yours go's", level)
	}
	dir := dirs.Caches(state)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = sandbox.TryLayers(dir)
	}
	if err != nil {
		return fmt.Sprintf("commands see only the caches of their workspace, and of yours go's: no overlay can be mounted in %s: %v", dir, err)
	}
	return ""
}

// printCaches prints the sizes of workspaces' caches, the largest first, and how much commands see of the user's.
func printCaches(out io.Writer, caches []cache.Entry, layers string) error {
	total := int64(0)
	for _, e := range caches {
		total += e.Bytes
	}
	_, err := fmt.Fprintf(out, "caches: %d, %s; those not used for 30 days or of workspaces that are gone are removed once a day, or now with toolhost log prune\n", len(caches), output.Size(total))
	if err == nil {
		_, err = fmt.Fprintf(out, "  %s\n", cmp.Or(layers, "commands read yours below those of their workspace, and never write them"))
	}
	slices.SortFunc(caches, func(a, b cache.Entry) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, e := range caches[:min(len(caches), shownCaches)] {
		state := ""
		switch {
		case e.InUse:
			state = ", in use"
		case e.Gone:
			state = ", its workspace is gone"
		case e.Newer:
			state = ", of a newer version of toolhost, left alone"
		}
		if err == nil {
			_, err = fmt.Fprintf(out, "  %10s  used %s  %s%s\n", output.Size(e.Bytes), output.Time(e.Used), visible.Text(cmp.Or(e.Workspace, e.Dir)), state)
		}
	}
	return err
}

// answerGaps says what keeps commands from answering prompts and changing settings in the place of the person, where the sandbox does
// not do it alone.
func answerGaps(level sandbox.Level) []string {
	const none = "with --sandbox none, and after the grant unconfined, a command can do what you can: answers are taken from a terminal and with " +
		"the code that the session shows, and changed settings wait for toolhost settings reload; that detects a forged answer and cannot prevent one"
	if level == sandbox.Full {
		return []string{none}
	}
	return []string{
		"a command can see that sessions have sockets; who connects from a sandbox is known by its filters and gets no answer in",
		none,
	}
}

// clientsHere are the clients that are on this machine or set up, seen from the current directory; none without a home.
func clientsHere() []setup.State {
	p, err := setup.Here(".")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(clientStates(p), func(s setup.State) bool { return !s.Here() })
}

// printClients prints clients for people.
func printClients(out io.Writer, states []setup.State) (err error) {
	head := "clients:\n"
	for _, s := range states {
		if err == nil {
			_, err = fmt.Fprintf(out, "%s  %-15s %s\n", head, s.Client.Name, s)
		}
		head = ""
	}
	return err
}

// clientRecords are clients for programs.
func clientRecords(states []setup.State) []map[string]any {
	records := []map[string]any{}
	for _, s := range states {
		records = append(records, map[string]any{"name": s.Client.Name, "installed": s.Installed, "set_up": len(s.Scopes) > 0, "state": s.String()})
	}
	return records
}
