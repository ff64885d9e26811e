package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/settings"
)

// managedSettings are those of the machine's administrator.
const managedSettings = "/etc/toolhost/settings.json"

// settingsOptions say where the settings of a workspace are, which is absolute and without links, and how their rules are read.
// flagFile is one that the command line names; "" for none.
func settingsOptions(workspace, flagFile string) (settings.Options, error) {
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
	parser := ruleParser(workspace, home)
	o.CheckRule = func(text string, b agenttool.Behavior, at agenttool.Origin) error {
		_, err := parser.Parse(text, b, at)
		return withoutRule(err, text)
	}
	o.CheckHook = func(h settings.Hook) error {
		_, err := hook.Compile([]hook.Hook{hookOf(h)}, toolNames())
		return err
	}
	o.CheckExample = func(text string, b agenttool.Behavior, example string) (bool, error) {
		rule, err := parser.Parse(text, b, agenttool.Origin{})
		if err != nil {
			return false, err
		}
		return matchesExample(rule, example, workspace, home), nil
	}
	return o, nil
}

// withoutRule takes the rule off an error that is told beside it.
func withoutRule(err error, text string) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("rule %q: ", text)))
}

// matchesExample reports whether a rule is about an example of it: a command, a path or a host.
func matchesExample(rule permissions.Rule, example, workspace, home string) bool {
	return permissions.Matches(rule, example, workspace, home)
}
