package settings

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"toolhost/agenttool"
)

// leaves lists the keys of a schema below a prefix: objects with properties of their own are no keys, and hooks are one.
func leaves(t *testing.T, properties map[string]any, prefix string) (found []string) {
	t.Helper()
	for name, v := range properties {
		within, isObject := v.(map[string]any)["properties"].(map[string]any)
		if path := prefix + name; !isObject || path == "hooks" || path == "jobs.limits" {
			found = append(found, path)
		} else {
			found = append(found, leaves(t, within, path+".")...)
		}
	}
	return found
}

// TestEveryKeyHasAPower: whoever adds a key says in the table what a file in the workspace can do with it.
func TestEveryKeyHasAPower(t *testing.T) {
	var document struct{ Properties map[string]any }
	if err := json.Unmarshal(Schema(), &document); err != nil {
		t.Fatal(err)
	}
	delete(document.Properties, "$schema")
	var named []string
	for _, p := range powers("") {
		named = append(named, p.key)
		if (p.copy != nil) != (p.how == restricts || p.how == ifStricter) || (p.items != nil) != (p.how == widens || p.how == ifStricter) {
			t.Errorf("%s: the row does not do what it says", p.key)
		}
	}
	slices.Sort(named)
	same(t, "the table and the schema", named, slices.Sorted(slices.Values(leaves(t, document.Properties, "")))...)
	same(t, "the table and the decoder", named, slices.Sorted(slices.Values(keys))...)
}

// values is a value of each key that loosens as far as the key can.
var values = map[string]string{
	"mode": `{"mode": "sandboxed"}`, "permissions.allow": `{"permissions": {"allow": ["Shell"]}}`, "permissions.ask": `{"permissions": {"ask": ["Shell"]}}`,
	"permissions.deny": `{"permissions": {"deny": ["Shell"]}}`, "add_dirs": `{"add_dirs": ["/"]}`, "sandbox.require": `{"sandbox": {"require": "none"}}`,
	"approvals.wait": `{"approvals": {"wait": "always"}}`, "approvals.timeout": `{"approvals": {"timeout": "9h"}}`,
	"wall.wait": `{"wall": {"wait": "9h"}}`, "approvals.in_band_scopes": `{"approvals": {"in_band_scopes": "user"}}`, "env.pass": `{"env": {"pass": ["A"]}}`, "env.set": `{"env": {"set": {"LD_PRELOAD": "x"}}}`,
	"http.callback_hosts": `{"http": {"callback_hosts": ["a.example"]}}`, "files.durability": `{"files": {"durability": "none"}}`,
	"search.index": `{"search": {"index": "watched"}}`, "jobs.max": `{"jobs": {"max": 9999}}`, "jobs.timeout": `{"jobs": {"timeout": "9h"}}`,
	"jobs.output": `{"jobs": {"output": "1TiB"}}`, "jobs.limits": `{"jobs": {"limits": {"nofile": 99999}}}`, "max_parallel": `{"max_parallel": 9999}`,
	"retention.sessions": `{"retention": {"sessions": "1m"}}`, "retention.payloads": `{"retention": {"payloads": "1m"}}`, "retention.size": `{"retention": {"size": "1KiB"}}`,
	"tools.disable": `{"tools": {"disable": ["shell"]}}`, "redaction.patterns": `{"redaction": {"patterns": [{"kind": "all", "pattern": "."}]}}`,
	"redaction.off": `{"redaction": {"off": ["jwt"]}}`, "redaction.strategy": `{"redaction": {"strategy": "record"}}`,
	"hooks": `{"hooks": {"pre_tool_use": [{"command": ["x"]}]}}`,
}

// TestNoKeyLoosens writes each key into each file of the workspace.
func TestNoKeyLoosens(t *testing.T) {
	same(t, "keys with a value", slices.Sorted(maps.Keys(values)), slices.Sorted(slices.Values(keys))...)
	for _, p := range powers("") {
		for _, source := range []string{agenttool.SourceProject, agenttool.SourceLocal} {
			at := newPlace(t)
			at.write(map[string]string{agenttool.SourceProject: at.Project, agenttool.SourceLocal: at.Local}[source], values[p.key])
			s := at.load()
			if got := len(strip(s)); got != map[bool]int{false: 0, true: 1}[p.how == restricts] || (len(s.Untrusted) == 0) != (p.how == restricts || p.how == never) {
				t.Errorf("%s in %s: counts %v, left out %v", p.key, source, strip(s), s.Untrusted)
			}
			at.trust()
			if p.how == never {
				if s := at.load(); len(strip(s)) != 0 || len(s.Problems) != 1 {
					t.Errorf("%s in %s: counts %v, problems %v", p.key, source, strip(s), s.Problems)
				}
				continue
			}
			if s := at.load(); len(s.Untrusted) != 0 || p.key != "http.callback_hosts" && len(strip(s)) != 1 {
				t.Errorf("%s in %s: trusted, and counts %v", p.key, source, strip(s))
			}
		}
	}
}
