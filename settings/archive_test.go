package settings

import (
	"path/filepath"
	"testing"

	"toolhost/agenttool"
)

// TestLocalFileOfAnArchive: a local file may have come with an archive. By itself it only restricts, as the project's file does.
func TestLocalFileOfAnArchive(t *testing.T) {
	p := newPlace(t)
	p.write(p.Local, wanting)
	s := p.load()
	same(t, "what counts", strip(s), "ask", "deny")
	if len(s.Untrusted) != 17 || s.Untrusted[0].Origin.Line != 3 || s.Untrusted[0].Origin.File != p.Local {
		t.Errorf("left out: %+v", s.Untrusted)
	}
	p.trust()
	if s = p.load(); len(s.Hooks) != 1 || len(s.Untrusted) != 0 || len(strip(s)) != 19 {
		t.Errorf("trusted: %+v", s)
	}
	p.must(Remember(p.Options, p.Local, agenttool.Allow, "Shell(new)"))
	if s = p.load(); len(s.Untrusted) != 0 || len(texts(s, agenttool.Allow)) != 2 {
		t.Errorf("remembered: %+v", s)
	}
}

// TestFlagFileInARoot: a file that the command line names is the person's word, but not if commands can write it.
func TestFlagFileInARoot(t *testing.T) {
	for name, roots := range map[string]bool{"workspace": false, "added root": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.Flag = filepath.Join(p.Workspace, "ci.json")
			if roots {
				added := filepath.Join(filepath.Dir(p.Workspace), "added")
				p.Flag, p.Roots = filepath.Join(added, "ci.json"), []string{added}
			}
			p.write(p.Flag, wanting)
			s := p.load()
			if len(s.Hooks)+len(texts(s, agenttool.Allow)) > 0 || len(texts(s, agenttool.Deny)) != 1 || len(s.Untrusted) != 17 {
				t.Errorf("believed: %+v", s)
			}
			p.trust()
			if s = p.load(); len(s.Hooks) != 1 || len(s.Untrusted) != 0 {
				t.Errorf("trusted: %+v", s)
			}
			p.write(p.Flag, `{"permissions": {"allow": ["Shell", "Write"]}}`)
			if s = p.load(); len(s.Untrusted) != 2 || len(s.Rules) != 0 {
				t.Errorf("changed: %+v", s)
			}
			without := p.Options
			without.Flag = ""
			if s, err := Load(without); err != nil || len(s.Untrusted)+len(s.Problems) > 0 {
				t.Errorf("without the flag: %v, %v", s, err)
			}
		})
	}
	p := newPlace(t)
	p.Flag = filepath.Join(filepath.Dir(p.Workspace), "elsewhere.json")
	p.write(p.Flag, wanting)
	if s := p.load(); len(s.Hooks) != 1 || len(s.Untrusted) != 0 {
		t.Errorf("outside of all roots: %+v", s)
	}
}

// TestRestrictionsStayDuringASession: what a file in the workspace restricted goes on restricting when the file changes under a session, until a
// person says so.
func TestRestrictionsStayDuringASession(t *testing.T) {
	for _, file := range []string{"project", "local"} {
		p := newPlace(t)
		name := map[string]string{"project": p.Project, "local": p.Local}[file]
		p.write(name, "{\n\"mode\": \"plan\", \"sandbox\": {\"require\": \"full\"},\n\"permissions\": {\"deny\": [\"Shell(d)\"], \"ask\": [\"Shell(a)\"]}}")
		w, err := Open(p.Options)
		p.must(err)
		for _, content := range []string{`{"permissions": {"ask": ["Shell(new)"]}}`, `{}`, `{"mode": "default", "sandbox": {"require": "landlock"}}`, "{"} {
			p.write(name, content)
			s := w.Reload()
			if s.Mode.V != "plan" || s.Require.V != "full" || len(texts(s, agenttool.Deny)) != 1 || texts(s, agenttool.Ask)[len(texts(s, agenttool.Ask))-1] == "" {
				t.Errorf("%s %s: %+v", file, content, s)
			}
			if len(s.Problems) == 0 || s.Problems[0].Line != 3 || s.Problems[0].File != name {
				t.Errorf("%s %s: %v", file, content, s.Problems)
			}
		}
		p.write(name, `{}`)
		if s := w.Accept(); s.Mode.Set || s.Require.Set || len(s.Rules)+len(s.Problems) > 0 {
			t.Errorf("%s: accepted, and still %+v", file, s)
		}
		if s := w.Reload(); len(s.Rules)+len(s.Problems) > 0 {
			t.Errorf("%s: it came back: %+v", file, s)
		}
	}
}

// TestTrustHoldsPrograms: a hook is trusted with what its program was.
func TestTrustHoldsPrograms(t *testing.T) {
	p := newPlace(t)
	program := filepath.Join(p.Workspace, ".toolhost/hook.sh")
	p.write(p.Project, `{"hooks": {"pre_tool_use": [{"command": ["./.toolhost/hook.sh"]}]}}`)
	p.write(program, "one")
	p.trust()
	if s := p.load(); len(s.Hooks) != 1 {
		t.Errorf("trusted: %+v", s.Hooks)
	}
	p.write(program, "two")
	if s := p.load(); len(s.Hooks) != 0 || len(s.Untrusted) != 1 {
		t.Errorf("another program runs: %+v", s.Hooks)
	}
}
