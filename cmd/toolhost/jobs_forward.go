package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool/visible"
)

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
