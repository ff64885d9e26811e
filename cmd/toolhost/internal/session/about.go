package session

import (
	"os"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/permissions"
)

// about are the members of a log's first record that describe the session, beside the workspace, the version and the process.
type about struct {
	Mode     agenttool.Mode  `json:"mode"`
	Sandbox  map[string]any  `json:"sandbox"`
	Roots    []string        `json:"roots"`
	User     string          `json:"user"`
	Client   string          `json:"client,omitempty"` // that called first, as it names itself
	Flags    []string        `json:"flags,omitempty"`  // of the command line
	Settings []aboutSettings `json:"settings,omitempty"`
	aboutLists
}

// aboutLists are cut where a record would be too long.
type aboutLists struct {
	Rules []aboutRule `json:"rules,omitempty"`
	Hooks []aboutHook `json:"hook_settings,omitempty"` // a record named hooks would be of hooks that ran
	// Omitted counts rules and hooks that are left out of a record that would be too long.
	Omitted int `json:"omitted,omitempty"`
}

// aboutSettings is a file of settings as it was read.
type aboutSettings struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	Digest  string `json:"digest"`
	Trusted bool   `json:"trusted"` // all of it is in force
}

type aboutRule struct {
	Behavior agenttool.Behavior `json:"behavior"`
	Rule     string             `json:"rule"`
	Source   string             `json:"source"`
	Where    string             `json:"where,omitempty"`
}

type aboutHook struct {
	Event   string   `json:"event"`
	Command []string `json:"command"`
	Source  string   `json:"source"`
	Where   string   `json:"where,omitempty"`
}

// maxAbout bounds the bytes of rules and hooks in the record.
const maxAbout = 512 << 10

// Meta is the metadata of the log of a session: workspace, version and process.
func Meta(root, version string) []byte {
	encoded, _ := agenttool.Encode(map[string]any{"workspace": root, "version": version, "pid": os.Getpid()}) // texts and a number
	return encoded
}

// add adds rules and hooks as long as the record does not get too long.
func (a *aboutLists) add(rules []permissions.Rule, hooks []hook.Hook) {
	left := maxAbout
	fits := func(texts ...string) bool {
		if left -= len(strings.Join(texts, "")) + 128; left < 0 {
			a.Omitted++
		}
		return left >= 0
	}
	for _, r := range rules {
		if fits(r.Text, r.Origin.File) {
			a.Rules = append(a.Rules, aboutRule{r.Behavior, r.Text, r.Origin.Source, r.Origin.Where()})
		}
	}
	for _, h := range hooks {
		if fits(append(slices.Clone(h.Command), h.Origin.File)...) {
			a.Hooks = append(a.Hooks, aboutHook{string(h.Event), h.Command, h.Origin.Source, h.Origin.Where()})
		}
	}
}
