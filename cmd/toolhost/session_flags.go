package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/limit"
	"toolhost/cmd/toolhost/internal/memory"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/permissions"
	"toolhost/sandbox"
)

// sessionFlags are the flags that the commands that run or check calls have in common.
type sessionFlags struct {
	session.Options
	jobOutput limit.Size
	cmd       *cobra.Command // whose flags they are; nil: none were given
}

// options are those of a session of this command.
func (s *sessionFlags) options() session.Options {
	o := s.Options
	o.Version, o.Log, o.Memory = version(), logLine, memory.Bound()
	if s.cmd != nil {
		o.Policy.Given = s.cmd.Flags().Changed
		for _, name := range recordedFlags {
			if f := s.cmd.Flags().Lookup(name); f != nil && f.Changed {
				o.Given = append(o.Given, "--"+name+"="+f.Value.String())
			}
		}
	}
	return o
}

// recordedFlags are the flags that the log of a session names if they were given.
var recordedFlags = []string{
	"add-dir", "agreed", "agreed-to", "allow", "approve-on-tty", "ask", "deny", "drain", "ephemeral", "http", "http-host", "http-origin", "http-token-file", "job-limit",
	"job-output", "job-timeout", "json", "max-jobs", "max-parallel", "mode", "overwrite", "results", "sandbox", "settings", "timeout", "tls-cert", "tls-key", "tls-self-signed", "workspace",
}

// addFlags adds the flags of commands that run calls.
func (s *sessionFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Workspace, "workspace", ".", "`directory` that calls may read unasked, and where they start")
	s.addPolicyFlags(cmd, "that no rule allows")
	f.StringVar(&s.Sandbox, "sandbox", string(sandbox.Landlock), "`level` that commands run under at least: full, landlock+notify, landlock, or none to run them unconfined")
	f.IntVar(&s.MaxParallel, "max-parallel", 10, "`number` of calls that run at once")
	f.IntVar(&s.MaxJobs, "max-jobs", 50, "`number` of commands that run on beside their calls; those that a call waits for are not counted, and may be twice as many when it ends")
	f.DurationVar(&s.JobTimeout, "job-timeout", 0, "`time` after which every command is ended, whatever it does; 0 is never")
	s.jobOutput = 1 << 30
	f.Var(&s.jobOutput, "job-output", "`size` of the output that is kept of each command, such as 64MiB")
	f.StringArrayVar(&s.JobLimits, "job-limit", nil, "resource `limit` of every command, such as as=4GiB, nofile=512, nproc=200, fsize=1GiB or cpu=600 (seconds), or of all together: processes=2000, memory=8GiB; may be repeated")
}

// addPolicyFlags adds the flags that say what may run. undecided are the calls that the mode decides.
func (s *sessionFlags) addPolicyFlags(cmd *cobra.Command, undecided string) {
	s.cmd = cmd
	f, p := cmd.Flags(), &s.Policy
	f.StringArrayVar(&s.AddDirs, "add-dir", nil, "further `directory` that belongs to the workspace; may be repeated")
	f.StringVar(&s.Settings, "settings", "", "further `file` of settings, stronger than those of the person and the project")
	f.StringArrayVar(&p.Allow, "allow", nil, "`rule` for calls that run unasked, such as 'Write(src/**)' or 'Shell(go test *)'; may be repeated")
	f.StringArrayVar(&p.Ask, "ask", nil, "`rule` for calls that always ask; may be repeated")
	f.StringArrayVar(&p.Deny, "deny", nil, "`rule` for calls that never run; may be repeated")
	f.StringVar(&p.Mode, "mode", string(permissions.Default), "what happens to calls "+undecided+": "+modeNames())
}

// policyWords are the flags of addPolicyFlags as they were given, for another command of the same user that starts elsewhere.
func (s *sessionFlags) policyWords() (words []string, err error) {
	given := func(name string, values []string, absolute bool) {
		for _, value := range values {
			if absolute && err == nil {
				value, err = filepath.Abs(value)
			}
			words = append(words, "--"+name+"="+value)
		}
	}
	given("add-dir", s.AddDirs, true)
	given("allow", s.Policy.Allow, false)
	given("ask", s.Policy.Ask, false)
	given("deny", s.Policy.Deny, false)
	if s.cmd.Flags().Changed("settings") {
		given("settings", []string{s.Settings}, true)
	}
	if s.cmd.Flags().Changed("mode") {
		given("mode", []string{s.Policy.Mode}, false)
	}
	return words, err
}

func modeNames() string {
	return strings.Join(agenttool.Names(agenttool.Modes), ", ")
}

// logLine writes a line to stderr.
func logLine(line string) { fmt.Fprintln(output.Stderr(), "toolhost: "+line) }
