// Package history reads the logs of past sessions, and the commands and decisions in them.
package history

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
)

// How much of the past is read for commands, and for the uses of rules.
const (
	commandSessions = 1000
	usesSessions    = 200
	readBytes       = 32 << 20
)

// Log finds one log file: that of the session with this id in dir, a path, or that of the last used session whose id begins with
// name.
func Log(dir, name string) (string, error) {
	if name != "" && filepath.Base(name) == name {
		if path := filepath.Join(dir, name, persist.LogName); isFile(path) {
			return path, nil
		}
	}
	switch {
	case isFile(name):
		return filepath.Abs(name)
	case isFile(filepath.Join(name, persist.LogName)) && name != "":
		return filepath.Abs(filepath.Join(name, persist.LogName))
	}
	sessions, err := recent(dir)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(sessions, func(s persist.RecentSession) bool { return strings.HasPrefix(string(s.ID), name) })
	switch {
	case i >= 0:
		return filepath.Join(dir, string(sessions[i].ID), persist.LogName), nil
	case name == "":
		return "", fmt.Errorf("there is no session yet in %s: toolhost call and toolhost serve write one with their first call", dir)
	}
	return "", fmt.Errorf("no session %q in %s: see toolhost log list", name, dir)
}

// Open opens the log at path, unless a newer version wrote it.
func Open(path string) (*os.File, error) {
	if err := persist.CheckFormat(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Session is the id of the session whose log is at path.
func Session(path string) string { return filepath.Base(filepath.Dir(path)) }

// Live reports whether a process writes the log at path.
func Live(path string) bool {
	dir := filepath.Dir(path)
	return !persist.Abandoned(filepath.Dir(dir), agenttool.SessionID(filepath.Base(dir))) && filepath.Base(path) == persist.LogName
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// recent are the sessions, the last used first.
func recent(dir string) ([]persist.RecentSession, error) {
	sessions, err := persist.Recent(dir, time.Now())
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return sessions, nil
}

// RuleUses counts the decisions of past sessions that named a rule, by SOURCE:RULE. dir holds the sessions.
func RuleUses(dir string) map[string]int {
	uses := map[string]int{}
	_ = eachLog(dir, usesSessions, func(log io.Reader) bool { // without them there are no uses
		countUses(log, uses)
		return true
	})
	return uses
}

// eachLog calls read with the logs of past sessions, the last used first, until it returns false: at most so many sessions, and
// readBytes together.
func eachLog(dir string, sessions int, read func(log io.Reader) bool) error {
	last, err := recent(dir)
	if err != nil {
		return err
	}
	left := int64(readBytes)
	for _, s := range last[:min(len(last), sessions)] {
		if left -= s.Bytes; left < 0 {
			break
		}
		f, err := os.Open(filepath.Join(dir, string(s.ID), persist.LogName))
		if err != nil {
			continue // pruned meanwhile
		}
		more := read(f)
		f.Close()
		if !more {
			break
		}
	}
	return nil
}

func countUses(log io.Reader, uses map[string]int) {
	for entry, err := range persist.Read(log) {
		if err != nil {
			return
		}
		if !bytes.Contains(entry.Event, []byte(`"rule_refs"`)) || !bytes.Contains(entry.Event, []byte(agenttool.EventPermissionDecided)) {
			continue
		}
		var e struct {
			Data struct {
				Decision agenttool.Decision `json:"decision"`
			} `json:"data"`
		}
		if json.Unmarshal(entry.Event, &e) != nil || e.Data.Decision.RequestRef != "" {
			continue
		}
		for _, ref := range e.Data.Decision.RuleRefs {
			uses[ref]++
		}
	}
}

// Commands are the shell commands of past sessions, each once, those of the newest session first; at most limit.
func Commands(dir string, limit int) (commands []string, err error) {
	seen := map[string]bool{}
	err = eachLog(dir, commandSessions, func(log io.Reader) bool {
		commands = appendCommands(commands, log, seen, limit)
		return len(commands) < limit
	})
	return commands, err
}

// appendCommands reads the commands of one log, as far as it can be read.
func appendCommands(commands []string, log io.Reader, seen map[string]bool, limit int) []string {
	for entry, err := range persist.Read(log) {
		if err != nil || len(commands) >= limit {
			break
		}
		if command := commandIn(entry.Event); command != "" && !seen[command] {
			seen[command] = true
			commands = append(commands, command)
		}
	}
	return commands
}

// commandIn returns the command of the shell call whose result an event tells; "" if it is about something else.
func commandIn(event []byte) string {
	if !bytes.Contains(event, []byte(`"model_input"`)) || !bytes.Contains(event, []byte(`"toolhost.shell"`)) {
		return ""
	}
	var e struct {
		Data struct {
			Invocation struct {
				ToolID     agenttool.ToolID `json:"tool_id"`
				ModelInput struct {
					Command string `json:"command"`
				} `json:"model_input"`
			} `json:"invocation"`
		} `json:"data"`
	}
	if json.Unmarshal(event, &e) != nil || e.Data.Invocation.ToolID != "toolhost.shell" {
		return ""
	}
	return e.Data.Invocation.ModelInput.Command
}
