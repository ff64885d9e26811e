package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/remote"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/persist"
	"toolhost/sandbox"
)

// completion returns the words that can stand at an argument, each with a description behind a tab. args are the arguments before it.
type completion func(cmd *cobra.Command, args []string) []string

// flagValues completes the values of flags, by name.
var flagValues = map[string]cobra.CompletionFunc{
	"mode":    fixed(agenttool.Names(agenttool.Modes)...).words,
	"sandbox": fixed(string(sandbox.Full), string(sandbox.LandlockNotify), string(sandbox.Landlock), string(sandbox.None)).words,
	"level":   fixed(string(sandbox.Full), string(sandbox.LandlockNotify), string(sandbox.Landlock)).words,
	"profile": fixed(string(sandbox.ReadOnly), string(sandbox.Workspace)).words,
	"format":  fixed(toolFormats...).words,
	"signal":  fixed("TERM", "INT", "HUP", "QUIT", "KILL", "USR1", "USR2").words,
	"session": completion(runningIDs).words,

	"workspace": directories, "add-dir": directories, "rw": directories,
	"settings": files, "http-token-file": files, "tls-cert": files, "tls-key": files, "reveal": files,

	"allow": cobra.NoFileCompletions, "ask": cobra.NoFileCompletions, "deny": cobra.NoFileCompletions, "explain-rule": cobra.NoFileCompletions,
	"allow-host": cobra.NoFileCompletions, "http": cobra.NoFileCompletions, "http-host": cobra.NoFileCompletions, "http-origin": cobra.NoFileCompletions,
	"call": cobra.NoFileCompletions, "drain": cobra.NoFileCompletions, "job-limit": cobra.NoFileCompletions, "job-output": cobra.NoFileCompletions,
	"job-timeout": cobra.NoFileCompletions, "limit": cobra.NoFileCompletions, "lines": cobra.NoFileCompletions, "max-jobs": cobra.NoFileCompletions,
	"max-parallel": cobra.NoFileCompletions, "max-size": cobra.NoFileCompletions, "older-than": cobra.NoFileCompletions, "payloads-older-than": cobra.NoFileCompletions, "timeout": cobra.NoFileCompletions,
}

var (
	directories = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	files       = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
)

// arguments completes the arguments of commands, by the words that call them.
var arguments = map[string]completion{
	"call":                 first(toolNames),
	"check":                first(toolNames),
	"mcp-config":           first(clientNames),
	"setup":                first(clientNames),
	"jobs tail":            first(jobNames),
	"jobs kill":            jobNames,
	"log show":             first(loggedIDs),
	"log follow":           first(loggedIDs),
	"log stats":            loggedIDs,
	"log sign":             first(loggedIDs),
	"log redact":           first(loggedIDs),
	"log verify":           loggedIDs,
	"settings add-rule":    first(fixed("allow", "ask", "deny")),
	"settings remove-rule": first(fixed("allow", "ask", "deny")),
}

// pathArguments are the commands whose arguments are paths or commands: the shell completes those.
var pathArguments = map[string]bool{"trust": true, "settings check": true, "sandbox": true}

// addCompletions lets the shell complete the flags and arguments of a command and of those below it.
func addCompletions(cmd *cobra.Command) {
	for name, complete := range flagValues {
		if cmd.LocalFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // it fails where the parent's flag has one already
		}
	}
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	switch complete, ok := arguments[path]; {
	case ok:
		cmd.ValidArgsFunction = complete.words
	case !cmd.HasSubCommands() && !pathArguments[path]:
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range cmd.Commands() {
		addCompletions(sub)
	}
}

// words is a completion as cobra calls it, for an argument that begins with begun. It does not offer a word twice.
func (c completion) words(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	words := slices.DeleteFunc(c(cmd, args), func(entry string) bool {
		word, _, _ := strings.Cut(entry, "\t")
		return !strings.HasPrefix(word, begun) || slices.Contains(args, word)
	})
	return words, cobra.ShellCompDirectiveNoFileComp
}

func fixed(words ...string) completion {
	return func(*cobra.Command, []string) []string { return slices.Clone(words) }
}

// first completes the first argument only.
func first(c completion) completion {
	return func(cmd *cobra.Command, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		return c(cmd, args)
	}
}

// maxAbout is the size in bytes of the longest description of a word.
const maxAbout = 80

// described is a word with its description. Agents choose commands and directories, so the description is made visible and cut: a line
// break in it would be a word of its own, and the terminal would obey its escape sequences.
func described(word, about string) string {
	return word + "\t" + cut.Short(output.Line(about), maxAbout)
}

func toolNames(*cobra.Command, []string) (names []string) {
	for _, d := range builtin.Described() {
		names = append(names, described(d.Declaration.Name, d.Declaration.Title))
	}
	return names
}

func clientNames(*cobra.Command, []string) (names []string) {
	for _, c := range mcpconfig.Clients() {
		names = append(names, described(c.Name, c.Title))
	}
	return names
}

// loggedIDs are the sessions that have a log, the last used first.
func loggedIDs(*cobra.Command, []string) (ids []string) {
	dir, err := dirs.Sessions()
	if err != nil {
		return nil
	}
	sessions, _, _ := persist.List(dir, listedSessions, time.Now()) // without a list there is nothing to complete
	for _, s := range sessions {
		ids = append(ids, described(string(s.ID), fmt.Sprintf("%s, %s", s.State, s.Started.Local().Format(time.DateTime))))
	}
	return ids
}

// openSessions connects to the running sessions, or to the one that end names. It does not warn of those that do not answer.
func openSessions(end string) []*remote.Session {
	sessions, _ := remote.Open(end, func(string, error) {})
	return sessions
}

func runningIDs(*cobra.Command, []string) []string {
	ids := []string{described(sockets.Newest, "the newest running session")}
	for _, s := range openSessions("") {
		ids = append(ids, described(string(s.ID), s.Workspace))
		s.Close()
	}
	return ids
}

func jobNames(cmd *cobra.Command, _ []string) (names []string) {
	end, _ := cmd.Flags().GetString("session")
	for _, s := range openSessions(end) {
		jobs, _ := s.Jobs() // it may have ended meanwhile
		for _, j := range jobs {
			names = append(names, described(j.ID, j.Command))
		}
		s.Close()
	}
	return names
}
