package main

import "github.com/spf13/cobra"

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:     "toolhost",
		Version: version(),
		Short:   "Run a coding agent's tools: shell, read, write, edit, grep and glob over JSON lines",
		Long: `toolhost is the process between a coding agent and this machine. It offers shell, read, write, edit, grep and glob
over JSON lines, decides what may run, keeps large output, and can explain every call afterwards.
` + exitCodes,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newServe(), newCall(), newTools(), newFacts(), newCheck(), newGrants(), newSettings(), newTrust(), newUndo(), newSandbox(), newDoctor(), newApprove(), newConnect(), newGoCache(), newMCPConfig(), newSetup(), newHook(), newJobs(), newLog(), newVersion())
	return root
}

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "log",
		Short:      "Read, count, verify, sign and prune the logs of sessions",
		SuggestFor: []string{"history", "audit", "sessions"},
		Long: `log reads what sessions recorded. A SESSION is the id that "log list" prints, the beginning of one, a session's
directory, or a log file; without one the last used session is meant.
` + exitCodes,
		Args: cobra.NoArgs,
	}
	show := newLogShow()
	cmd.RunE = show.RunE // of the last used session
	cmd.AddCommand(newLogList(), show, newLogFollow(), newLogGrep(), newLogStats(), newLogVerify(), newLogSign(), newLogRedact(), newLogPrune())
	return cmd
}
