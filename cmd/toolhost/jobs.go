package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/history"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/remote"
	"toolhost/cmd/toolhost/internal/sockets"
	joboutput "toolhost/tools/job/output"
)

func newJobs() *cobra.Command {
	var session string
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "jobs",
		Short:      "List, follow and end the commands of running sessions",
		SuggestFor: []string{"ps"},
		Long: `jobs shows the commands that live sessions of yours are running, from any terminal. Where several sessions have a
job of the same name, --session says which is meant: the end of its id is enough.
` + exitCodes,
		Example: `  toolhost jobs
  toolhost jobs tail -f j3
  toolhost jobs kill j3 --session newest`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listJobs(cmd.OutOrStdout(), session, asJSON) },
	}
	cmd.PersistentFlags().StringVar(&session, "session", "", "`id` of the session, or the end of it, or newest; default: all that are running")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	list := &cobra.Command{
		Use: "list", Short: "List jobs", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listJobs(cmd.OutOrStdout(), session, asJSON) },
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	cmd.AddCommand(list, newJobsTail(&session), newJobsKill(&session), newJobsForward(&session))
	return cmd
}

func newJobsTail(session *string) *cobra.Command {
	var lines int
	var follow bool
	cmd := &cobra.Command{
		Use: "tail JOB", Short: "Print the last lines that a job said", Args: cobra.ExactArgs(1),
		Long: `tail prints the last lines of a job. If no running session has it, they come from the stored output of the session that
was used last of those that had it, or of the one that --session names.
` + exitCodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if lines < 1 || lines > maxTail {
				return fmt.Errorf("-n %d: give a number of lines from 1 to %d", lines, maxTail)
			}
			s, err := remote.OpenJob(*session, args[0], warnOfSocket)
			if errors.Is(err, remote.ErrNone) {
				return tailEnded(cmd.OutOrStdout(), *session, args[0], lines, remoteError(err))
			}
			if err != nil {
				return remoteError(err)
			}
			defer s.Close()
			return tailJob(s, cmd.OutOrStdout(), args[0], lines, follow)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 40, "`number` of lines")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what it says, until it ends")
	return cmd
}

func newJobsKill(session *string) *cobra.Command {
	var signal string
	cmd := &cobra.Command{
		Use: "kill JOB...", Short: "End jobs with all that they started", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, id := range args {
				if err := killJob(cmd.OutOrStdout(), *session, id, signal); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&signal, "signal", "s", "TERM", "`signal` that is sent first; KILL comes 2 s later")
	return cmd
}

// maxTail is how many lines tail shows at most.
const maxTail = 10_000

// jobRow is a job with its session, as jobs --json prints it.
type jobRow struct {
	Session   agenttool.SessionID `json:"session_id"`
	Workspace string              `json:"workspace"`
	agenttool.JobStatus
}

func listJobs(out io.Writer, session string, asJSON bool) error {
	all := []jobRow{}
	_, _, err := eachRunning(session, func(s *remote.Session) error {
		jobs, err := s.Jobs()
		for _, j := range jobs {
			all = append(all, jobRow{s.ID, s.Workspace, j})
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case asJSON:
		return output.Indented(out, all)
	case len(all) == 0:
		fmt.Fprintln(out, "no jobs are running")
		return nil
	}
	return printJobs(out, all)
}

// printJobs prints a table for each session.
func printJobs(out io.Writer, all []jobRow) error {
	for len(all) > 0 {
		first := all[0]
		n := slices.IndexFunc(all, func(j jobRow) bool { return j.Session != first.Session })
		if n < 0 {
			n = len(all)
		}
		fmt.Fprintf(out, "%s in %s\n", first.Session, visible.Text(first.Workspace))
		w := output.NewTable(out)
		for _, j := range all[:n] {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", j.ID, strings.ReplaceAll(string(j.State), "_", " "),
				(time.Duration(j.AgeMS) * time.Millisecond).Round(time.Second), output.Size(j.Bytes), shortPorts(j.Ports), cut.Characters(visible.Text(j.Command), jobLine))
			if len(j.Asks) > 0 {
				fmt.Fprintf(w, "  \t\t\t\t\t  may it reach %s? Answer with toolhost approve\n", cut.Characters(visible.Text(strings.Join(j.Asks, ", ")), jobLine))
			}
			if j.LastLine != "" {
				fmt.Fprintf(w, "  \t\t\t\t\t  %s\n", cut.Characters(visible.Text(j.LastLine), jobLine))
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func shortPorts(ports []agenttool.JobPort) string {
	var at []string
	for _, s := range ports {
		port := ":" + strconv.Itoa(s.Port)
		if s.Forward != "" {
			port = s.Forward + "->" + port
		}
		at = append(at, port)
	}
	return strings.Join(at, " ")
}

// jobLine is how many characters of a line are shown.
const jobLine = 100

// tailJob prints the last lines of a job, and goes on if it is to follow.
func tailJob(s *remote.Session, out io.Writer, job string, lines int, follow bool) error {
	r, err := s.Call("shell_output", map[string]any{"job": job, "tail": lines})
	for err == nil {
		if !follow && r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
			r.Text += "\n"
		}
		fmt.Fprint(out, output.Safe(r.Text))
		if !follow || r.State == agenttool.JobEnded && !r.More {
			break
		}
		wait := 20_000
		if r.More {
			wait = 0
		}
		r, err = s.Call("shell_output", map[string]any{"job": job, "cursor": r.NextCursor, "wait_ms": wait})
	}
	if err == nil && follow {
		fmt.Fprintf(output.Stderr(), "toolhost: job %s has ended: %s\n", job, r.How())
	}
	return remoteError(err)
}

// tailEnded prints the last lines of a job of a session that does not run, or cannot be reached. none is the error if there is no such job.
func tailEnded(out io.Writer, session, job string, lines int, none error) error {
	dir, err := dirs.Sessions()
	if err != nil {
		return none
	}
	var match func(id string) bool
	if session != "" && session != sockets.Newest {
		match = func(id string) bool { return sockets.Matches(id, session) }
	}
	j, found, err := history.WithJob(dir, job, match)
	switch {
	case err != nil:
		return exitf(exitFailed, "%s: %v", j.Session, err)
	case !found:
		return none
	case j.Output == "":
		return exitf(exitFailed, "the output of job %s of session %s is not stored by itself: toolhost log show %s --call %s shows what there is",
			job, j.Session, j.Session, visible.Text(j.Call))
	}
	text, err := joboutput.TailOf(j.Output, lines)
	if err != nil {
		return exitf(exitFailed, "%v", err)
	}
	fmt.Fprint(out, output.Safe(text))
	fmt.Fprintf(output.Stderr(), "toolhost: job %s is of session %s, which is over: %s\n", job, j.Session, cmp.Or(j.How, "it ended with its host"))
	return nil
}

func killJob(out io.Writer, session, job, signal string) error {
	s, err := sessionWithJob(session, job)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Call("shell_kill", map[string]any{"job": job, "signal": signal})
	if err != nil {
		return remoteError(err)
	}
	if len(r.Killed) == 0 {
		fmt.Fprintf(out, "%s had ended: %s\n", job, r.How())
		return nil
	}
	fmt.Fprintf(out, "%s ended: %s\n", job, visible.Text(strings.Join(r.Killed, ", ")))
	return nil
}

func newJobsForward(session *string) *cobra.Command {
	var as int
	cmd := &cobra.Command{
		Use: "forward JOB[:PORT]", Short: "Open a port of a job to your browser", Args: cobra.ExactArgs(1),
		Long: `forward listens on 127.0.0.1 of this machine and leads each connection to a port that a job listens on in its sandbox. It ends
with the job, or with Ctrl-C. Commands of the agent cannot run it: you allow the port by running it yourself.
` + exitCodes,
		Example: `  toolhost jobs forward j1
  toolhost jobs forward j1:3000 --as 8080`,
		RunE: func(cmd *cobra.Command, args []string) error {
			job, text, named := strings.Cut(args[0], ":")
			port, err := strconv.Atoi(text)
			if named && (err != nil || port < 1 || port > 65535) {
				return fmt.Errorf("%s: %q is not a port: give a number from 1 to 65535", args[0], text)
			}
			if as < 0 || as > 65535 {
				return fmt.Errorf("--as %d: give a port from 1 to 65535", as)
			}
			return forwardJob(cmd, *session, job, port, as)
		},
	}
	cmd.Flags().IntVar(&as, "as", 0, "`port` of this machine; default: the same, or another one if that is taken")
	return cmd
}

func forwardJob(cmd *cobra.Command, session, job string, port, as int) error {
	s, err := sessionWithJob(session, job)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := authenticate(s, "toolhost jobs forward"); err != nil {
		return err
	}
	address, of, err := s.Forward(job, port, as)
	if err != nil {
		return remoteError(err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "http://%s leads to port %d of %s, until the job or this command ends\n", visible.Text(address), of, job)
	if err := s.Forwarded(address); err != nil {
		return remoteError(err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "toolhost: job %s has ended, and %s leads nowhere\n", job, visible.Text(address))
	return nil
}
