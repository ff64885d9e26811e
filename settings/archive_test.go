package settings

import (
	"path/filepath"
	"testing"

	"toolhost/agenttool"
)

// TestLocalFileOfAnArchive: a local file that no git tracks may have come with an archive. By itself it lets nothing out of the workspace and its
// sandbox: no hook, no variable, no directory, no weaker sandbox, no rule that reaches further.
func TestLocalFileOfAnArchive(t *testing.T) {
	p := newPlace(t)
	p.write(p.Local, `{"mode": "accept_edits", "add_dirs": ["/"], "sandbox": {"require": "none"}, "env": {"set": {"A": "x"}, "pass": ["SECRET"]},
		"approvals": {"in_band_scopes": "user", "timeout": "1m"}, "jobs": {"max": 3}, "files": {"durability": "full"}, "search": {"index": "off"},
		"hooks": {"pre_tool_use": [{"command": ["/bin/evil"]}]},
		"permissions": {"allow": ["Shell(make)", "beyond"], "deny": ["d"]}}`)
	s := p.load()
	same(t, "allow", texts(s, agenttool.Allow), "Shell(make)")
	same(t, "deny", texts(s, agenttool.Deny), "d")
	if s.Mode.V != "accept_edits" || s.ApprovalTimeout.V == 0 || s.MaxJobs.V != 3 || s.Durability.V != "full" || s.SearchIndex.V != "off" {
		t.Errorf("what stays inside does not count: %+v", s)
	}
	if len(s.AddDirs)+len(s.EnvSet)+len(s.EnvPass)+len(s.Hooks) > 0 || s.Require.Set || s.InBandScopes.Set {
		t.Errorf("it reaches out: %+v", s)
	}
	if len(s.Untrusted) != 7 {
		t.Errorf("left out: %+v", s.Untrusted)
	}
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	if s = p.load(); len(s.Hooks) != 1 || len(s.Untrusted) != 0 || len(texts(s, agenttool.Allow)) != 2 {
		t.Errorf("trusted: %+v", s)
	}
	p.must(Remember(p.Options, p.Local, agenttool.Allow, "beyond too"))
	if s = p.load(); len(s.Untrusted) != 0 || len(texts(s, agenttool.Allow)) != 3 {
		t.Errorf("remembered: %+v", s)
	}
}

// TestTrustHoldsPrograms: a hook is trusted with what its program was.
func TestTrustHoldsPrograms(t *testing.T) {
	p := newPlace(t)
	program := filepath.Join(p.Workspace, ".toolhost/hook.sh")
	p.write(p.Project, `{"hooks": {"pre_tool_use": [{"command": ["./.toolhost/hook.sh"]}]}}`)
	p.write(program, "one")
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	if s := p.load(); len(s.Hooks) != 1 {
		t.Errorf("trusted: %+v", s.Hooks)
	}
	p.write(program, "two")
	if s := p.load(); len(s.Hooks) != 0 || len(s.Untrusted) != 1 {
		t.Errorf("another program runs: %+v", s.Hooks)
	}
}
