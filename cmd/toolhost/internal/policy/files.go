package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/persist/redact"
	"toolhost/settings"
)

// managedSettings are the administrator's.
const managedSettings = "/etc/toolhost/settings.json"

// SettingsFiles say where the settings of a workspace are and how their rules and hooks are checked. The workspace is absolute and
// without links. flagFile is the file that the command line names; "" for none.
func SettingsFiles(workspace, flagFile string) (settings.Options, error) {
	state, err := dirs.State()
	if err != nil {
		return settings.Options{}, err
	}
	if flagFile != "" {
		if flagFile, err = filepath.Abs(flagFile); err != nil {
			return settings.Options{}, fmt.Errorf("--settings: %w", err)
		}
	}
	home, _ := os.UserHomeDir() // without one, ~ means nothing
	o := settings.Options{
		Project: filepath.Join(workspace, ".toolhost", "settings.json"),
		Local:   filepath.Join(workspace, ".toolhost", "settings.local.json"),
		Flag:    flagFile, Managed: managedSettings,
		Workspace: workspace, Home: home, Trust: filepath.Join(state, "trust.json"),
	}
	if dir := dirs.Config(); dir != "" {
		o.User = filepath.Join(dir, "settings.json")
	}
	parser := Parser(workspace, home)
	o.CheckRule = func(text string, b agenttool.Behavior, at agenttool.Origin) error {
		_, err := parser.Parse(text, b, at)
		return withoutRule(err, text)
	}
	o.CheckHook = func(h settings.Hook) error {
		_, err := hook.Compile([]hook.Hook{hookOf(h)}, builtin.Names())
		return err
	}
	o.CheckTool, o.CheckSecret = checkTool, redact.CheckKind
	o.CheckPattern = func(p settings.SecretPattern) error {
		_, err := redact.Compile(p.Kind, p.Regexp)
		return err
	}
	o.CheckExample = func(text string, b agenttool.Behavior, example string) (bool, error) {
		rule, err := parser.Parse(text, b, agenttool.Origin{})
		if err != nil {
			return false, err
		}
		return permissions.Matches(rule, example, workspace, home), nil
	}
	return o, nil
}

// withoutRule removes the rule from the text of an error that is shown beside it.
func withoutRule(err error, text string) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("rule %q: ", text)))
}

// Problems is an error of loading settings for a person, with a problem a line.
func Problems(err error) error {
	problems := settings.Problems(err)
	if len(problems) == 0 {
		return err
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = visible.Text(p.Error())
	}
	return errors.New(strings.Join(lines, "\ntoolhost: "))
}

// Warnings are sentences for the person about problems of settings, and about those that are not in force.
func Warnings(read *settings.Settings) []string {
	warnings := []string{}
	for _, p := range read.Problems {
		warnings = append(warnings, p.Error())
	}
	for i, u := range read.Untrusted {
		if i == maxUntrusted {
			warnings = append(warnings, fmt.Sprintf("%d more settings of the workspace are not in force: see toolhost trust", len(read.Untrusted)-i))
			break
		}
		warnings = append(warnings, u.Origin.Where()+": not in force until you allow it with toolhost trust: it "+cut.Characters(u.Text, 300))
	}
	return warnings
}

// maxUntrusted is how many settings that are not in force get a warning each.
const maxUntrusted = 8
