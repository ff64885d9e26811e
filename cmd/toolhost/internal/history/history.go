// Package history reads the logs of past sessions, and the commands and decisions in them.
package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Log is the log of a session: one file, or several if one was not left as the session wrote it.
type Log struct {
	Session string // the id; that of its first part
	Parts   []persist.LogPart

	file bool // it was named as a file: nothing else belongs to it
}

// Find finds one log: that of the session with this id in dir, a path of a file or of a session's directory, or that of the last used session
// whose id begins with name.
func Find(dir, name string) (Log, error) {
	if name != "" && filepath.Base(name) == name {
		if isFile(filepath.Join(dir, name, persist.LogName)) {
			return OfSession(dir, agenttool.SessionID(name)), nil
		}
	}
	if isFile(name) || name != "" && isFile(filepath.Join(name, persist.LogName)) {
		path, err := filepath.Abs(name)
		if err != nil {
			return Log{}, err
		}
		if !isFile(path) {
			return OfSession(filepath.Dir(path), agenttool.SessionID(filepath.Base(path))), nil
		}
		id := agenttool.SessionID(filepath.Base(filepath.Dir(path)))
		return Log{Session: string(id), Parts: []persist.LogPart{{ID: id, Log: path, Length: -1}}, file: true}, nil
	}
	sessions, err := recent(dir)
	if err != nil {
		return Log{}, err
	}
	i := slices.IndexFunc(sessions, func(s persist.RecentSession) bool { return strings.HasPrefix(string(s.ID), name) })
	switch {
	case i >= 0:
		return OfSession(dir, sessions[i].ID), nil
	case name == "":
		return Log{}, fmt.Errorf("there is no session yet in %s: toolhost call and toolhost serve write one with their first call", dir)
	}
	return Log{}, fmt.Errorf("no session %q in %s: see toolhost log list", name, dir)
}

// OfSession is the log of the session in dir that has this id, or a part with it.
func OfSession(dir string, id agenttool.SessionID) Log {
	parts := persist.Parts(dir, id)
	return Log{Session: string(parts[0].ID), Parts: parts}
}

// Open opens the log, unless a newer version wrote it.
func (l Log) Open() (io.ReadCloser, error) {
	for _, p := range l.Parts {
		if err := persist.CheckFormat(p.Log); errors.Is(err, persist.ErrNewer) || err != nil && len(l.Parts) == 1 {
			return nil, err
		}
	}
	return persist.OpenParts(l.Parts)
}

// Places are the files of the log's parts under their names, where something else may stand now than the session wrote; of a part that is gone
// from there the file that has it now. A part of which there is none is left out: the next one says what became of it.
func (l Log) Places() (paths []string) {
	if l.file {
		return []string{l.Parts[0].Log}
	}
	for _, p := range l.Parts {
		path := filepath.Join(filepath.Dir(p.Log), persist.LogName)
		switch {
		case isFile(path):
			paths = append(paths, path)
		case isFile(p.Log) || len(l.Parts) == 1:
			paths = append(paths, p.Log)
		}
	}
	if len(paths) == 0 {
		paths = append(paths, l.Parts[len(l.Parts)-1].Log)
	}
	return paths
}

// Dirs are the directories of the log's parts.
func (l Log) Dirs() (dirs []string) {
	for _, p := range l.Parts {
		dirs = append(dirs, filepath.Dir(p.Log))
	}
	return dirs
}

// Live reports whether a process writes the log.
func (l Log) Live() bool {
	last := l.Parts[len(l.Parts)-1]
	dir := filepath.Dir(last.Log)
	return !persist.Abandoned(filepath.Dir(dir), last.ID) && filepath.Base(last.Log) == persist.LogName
}

// Again is the log with the parts that it has now.
func (l Log) Again() Log {
	if l.file {
		return l
	}
	return OfSession(filepath.Dir(l.Dirs()[0]), agenttool.SessionID(l.Session))
}

// Payload reads a stored output in any of the directories. Without it, why says what became of it.
func (l Log) Payload(file string) (text []byte, why string) {
	for _, dir := range l.Dirs() {
		text, err := os.ReadFile(filepath.Join(dir, "results", file))
		if err == nil {
			return text, ""
		}
		if removed, ok := persist.PrunedPayload(dir, file); ok {
			return nil, "it is not stored any more: " + removed.Why()
		}
		if why == "" || !errors.Is(err, fs.ErrNotExist) {
			why = "it is lost: " + err.Error()
		}
	}
	return nil, why
}

// Session is the id of the session whose log is at path.
func Session(path string) string { return filepath.Base(filepath.Dir(path)) }

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
