package settings

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// everything is a file that says something with every key.
const everything = `{"mode": "accept_edits", "permissions": {"allow": ["Shell(x)"], "ask": ["Shell(y)"], "deny": ["Read(z)"]}, "add_dirs": ["/lib"],
	"sandbox": {"require": "none"}, "approvals": {"wait": "never", "timeout": "9h", "in_band_scopes": "user"}, "wall": {"wait": "9h"}, "env": {"pass": ["A"], "set": {"B": "1"}},
	"http": {"callback_hosts": ["a.example"]}, "files": {"durability": "full"}, "search": {"index": "off"},
	"jobs": {"max": 2, "timeout": "1s", "output": "1MiB", "limits": {"nofile": 9}}, "max_parallel": 3, "retention": {"sessions": "48h", "payloads": "24h", "size": "1GiB"}, "tools": {"disable": ["shell"]},
	"redaction": {"patterns": [{"kind": "acme", "pattern": "a"}], "off": ["jwt"], "strategy": "redact"}, "hooks": {"pre_tool_use": [{"command": ["x"]}]}`

// restrictions are the keys of it that count beside a key of a newer version.
var restrictions = []string{"files.durability", "hooks", "jobs.limits", "jobs.max", "jobs.output", "jobs.timeout", "max_parallel", "permissions.ask",
	"permissions.deny", "redaction.patterns", "redaction.strategy", "retention.payloads", "retention.sessions", "retention.size", "search.index", "tools.disable"}

// TestKeysOfANewerVersion: a file with keys that a newer version may know stops no start. It says so with the place, and permits nothing.
func TestKeysOfANewerVersion(t *testing.T) {
	for _, c := range []struct{ name, key, place string }{
		{"at the top", "\n\"zebras\": {\"deny\": [5]}}", `6:1: this version of toolhost does not know the key "zebras";`},
		{"hostile", "\n\"\\u202ezebras\": 1}", `6:1: this version of toolhost does not know the key "\u202ezebras";`},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := newPlace(t)
			at.write(at.User, everything+","+c.key)
			s := at.load()
			if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Error(), c.place) {
				t.Errorf("it says %v", s.Problems)
			}
			same(t, "what counts", given(s), restrictions...)
			at.write(at.User, everything+"}")
			if got := given(at.load()); len(got) != len(keys) {
				t.Errorf("without the key there count %v", got)
			}
		})
	}
	for _, section := range []string{"files", "search", "jobs"} {
		at := newPlace(t)
		at.write(at.User, `{"permissions": {"allow": ["a"]}, "`+section+`": {"zebras": 1}}`)
		if s := at.load(); len(s.Rules) != 0 || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, `"zebras" in `+section) {
			t.Errorf("%s: %v, %v", section, s.Rules, s.Problems)
		}
	}
}

// given lists the keys that settings give a value.
func given(s *Settings) (found []string) {
	only := map[string]bool{"permissions.allow": len(rulesOf(s, agenttool.Allow)) > 0, "permissions.ask": len(rulesOf(s, agenttool.Ask)) > 0,
		"permissions.deny": len(rulesOf(s, agenttool.Deny)) > 0, "mode": s.Mode.Set, "add_dirs": s.AddDirs != nil, "sandbox.require": s.Require.Set,
		"approvals.wait": s.Wait.Set, "approvals.timeout": s.ApprovalTimeout.Set, "wall.wait": s.WallWait.Set, "approvals.in_band_scopes": s.InBandScopes.Set,
		"env.pass": s.EnvPass != nil, "env.set": s.EnvSet != nil, "http.callback_hosts": s.CallbackHosts != nil, "files.durability": s.Durability.Set,
		"search.index": s.SearchIndex.Set, "jobs.max": s.MaxJobs.Set, "jobs.timeout": s.JobTimeout.Set, "jobs.output": s.JobOutput.Set,
		"jobs.limits": s.JobLimits != nil, "max_parallel": s.MaxParallel.Set, "hooks": s.Hooks != nil,
		"retention.sessions": s.SessionAge.Set, "retention.payloads": s.PayloadAge.Set, "retention.size": s.StoredSize.Set,
		"tools.disable": s.Disabled != nil, "redaction.patterns": s.RedactionPatterns != nil, "redaction.off": s.RedactionOff != nil,
		"redaction.strategy": s.RedactionStrategy.Set}
	for key, set := range only {
		if set {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}

// TestNewerKeysLoosenNoLayerBelow: what a stronger file says less strictly than a weaker one does not count beside such a key, and in a
// trusted workspace neither.
func TestNewerKeysLoosenNoLayerBelow(t *testing.T) {
	at := newPlace(t)
	at.write(at.User, `{"mode": "plan", "sandbox": {"require": "full"}}`)
	at.write(at.Local, `{"mode": "default", "sandbox": {"require": "landlock"}, "permissions": {"allow": ["a"]}, "zebras": 1}`)
	at.trust()
	s := at.load()
	if s.Mode.V != "plan" || s.Require.V != "full" || len(s.Rules) != 0 || len(s.Problems) != 1 {
		t.Errorf("%v, %v, %v, %v", s.Mode, s.Require, s.Rules, s.Problems)
	}
	at.write(at.Local, `{"mode": "default", "sandbox": {"require": "landlock"}, "permissions": {"allow": ["a"]}}`)
	if s := at.load(); s.Mode.V != "default" || s.Require.V != "landlock" || len(s.Rules) != 1 {
		t.Errorf("known again, and trusted as it was: %v, %v, %v", s.Mode, s.Require, s.Rules)
	}
}

// TestNewerKeysOfTheAdministrator: a policy counts as a whole, or nothing starts. So it is where a file is checked.
func TestNewerKeysOfTheAdministrator(t *testing.T) {
	at := newPlace(t)
	at.write(at.Managed, `{"zebras": 1}`)
	if _, err := Load(at.Options); err == nil || !strings.Contains(err.Error(), `there is no key "zebras"; the keys are $schema, mode, permissions`) {
		t.Errorf("the administrator's: %v", err)
	}
	at.write(at.Managed, `{}`)
	at.write(at.User, `{"zebras": 1}`)
	at.Strict = true
	if _, err := Load(at.Options); err == nil {
		t.Error("a strict reading takes it")
	}
}

// TestRememberBesideNewerKeys: a rule is added to such a file, which keeps the key.
func TestRememberBesideNewerKeys(t *testing.T) {
	at := newPlace(t)
	at.write(at.User, `{"zebras": 1, "permissions": {"allow": ["a"]}}`)
	at.must(AddRule(at.User, agenttool.Deny, "b", at.Now()))
	if s := at.load(); len(s.Rules) != 1 || s.Rules[0].Text != "b" || len(s.Problems) != 1 {
		t.Errorf("%v, %v", s.Rules, s.Problems)
	}
}
