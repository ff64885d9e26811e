package settings

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// place is a machine with a person and a project on it.
type place struct {
	t testing.TB
	Options
}

// newPlace makes an empty one. A rule that contains the word "bad" is none.
func newPlace(t testing.TB) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(dir, "work")
	p := place{t, Options{
		User: filepath.Join(dir, "config/toolhost/settings.json"), Project: filepath.Join(workspace, ".toolhost/settings.json"),
		Local: filepath.Join(workspace, ".toolhost/settings.local.json"), Managed: filepath.Join(dir, "etc/settings.json"),
		Workspace: workspace, Home: filepath.Join(dir, "home"), Trust: filepath.Join(dir, "state/trust.json"),
		CheckRule: func(text string, _ agenttool.Behavior, _ agenttool.Origin) error {
			if strings.Contains(text, "bad") {
				return errors.New("rule " + text + ": it is bad")
			}
			return nil
		},
		CheckExample: func(rule string, _ agenttool.Behavior, example string) (bool, error) {
			return strings.Contains(rule, example), nil
		},
		Now: func() time.Time { return time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC) },
	}}
	p.mkdir(workspace)
	return p
}

func (p place) mkdir(dir string) {
	p.t.Helper()
	p.must(os.MkdirAll(dir, 0o700))
}

func (p place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// write writes a file of mode 0600.
func (p place) write(file, content string) {
	p.t.Helper()
	p.mkdir(filepath.Dir(file))
	p.must(os.WriteFile(file, []byte(content), 0o600))
}

// loosens is a file that allows something.
const loosens = `{"permissions": {"allow": ["Shell(x)"]}}`

// trust has the person trust what the files are now.
func (p place) trust() {
	p.t.Helper()
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
}

func (p place) load() *Settings {
	p.t.Helper()
	s, err := Load(p.Options)
	p.must(err)
	return s
}

// texts returns the rules of a behaviour.
func texts(s *Settings, b agenttool.Behavior) []string {
	var found []string
	for _, r := range s.Rules {
		if r.Behavior == b {
			found = append(found, r.Text)
		}
	}
	return found
}

func same[T comparable](t testing.TB, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestNothingAtAll(t *testing.T) {
	for _, o := range []Options{{}, newPlace(t).Options, {User: "/nowhere/at/all", Workspace: "/"}} {
		s, err := Load(o)
		if err != nil || s.Mode.Set || len(s.Rules)+len(s.Problems)+len(s.Untrusted) > 0 {
			t.Errorf("Load: %+v, %v", s, err)
		}
	}
}

func TestLayers(t *testing.T) {
	p := newPlace(t)
	p.Flag = filepath.Join(p.Workspace, "flag.json")
	p.write(p.User, `{"mode": "plan", "max_parallel": 2, "jobs": {"max": 3, "limits": {"nofile": 10, "as": "1GiB"}},
		"env": {"set": {"A": "user", "B": "user"}, "pass": ["X"]}, "permissions": {"allow": ["Shell(user)"]}}`)
	p.write(p.Project, `{"permissions": {"deny": ["Shell(project)"]}}`)
	p.write(p.Local, "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Shell(local)\",\n\t\t\t{\"note\": \"n\", \"added\": \"2026-01-02T03:04:05+01:00\",\n\t\t\t \"rule\": \" Shell(two) \"}\n\t\t]\n\t},\n\t\"env\": {\"set\": {\"B\": \"local\"}}\n}")
	p.write(p.Flag, `{"jobs": {"max": 4}, "add_dirs": ["../lib", "~/notes", "/abs/./x"]}`)
	p.write(p.Managed, `{"mode": "default", "jobs": {"limits": {"nofile": 5.0}}, "permissions": {"deny": ["Shell(managed)"]}}`)
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	s := p.load()
	same(t, "allow", texts(s, agenttool.Allow), "Shell(user)", "Shell(local)", "Shell(two)")
	same(t, "deny", texts(s, agenttool.Deny), "Shell(project)", "Shell(managed)")
	if s.Mode.V != "default" || s.Mode.Origin.Source != agenttool.SourceManaged {
		t.Errorf("mode: %+v", s.Mode)
	}
	if s.MaxJobs.V != 4 || s.MaxParallel.V != 2 || s.JobLimits["nofile"].V != "5" || s.JobLimits["as"].V != "1GiB" {
		t.Errorf("jobs: %+v %+v %+v", s.MaxJobs, s.MaxParallel, s.JobLimits)
	}
	if s.EnvSet["A"].V != "user" || s.EnvSet["B"].V != "local" || s.EnvPass[0].V != "X" {
		t.Errorf("env: %+v %+v", s.EnvSet, s.EnvPass)
	}
	two := s.Rules[slices.IndexFunc(s.Rules, func(r Rule) bool { return r.Text == "Shell(two)" })]
	if two.Origin != (agenttool.Origin{Source: agenttool.SourceLocal, File: p.Local, Line: 6}) || two.Note != "n" ||
		!two.Added.Equal(time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)) {
		t.Errorf("rule: %+v", two)
	}
	var dirs []string
	for _, d := range s.AddDirs {
		dirs = append(dirs, d.V)
	}
	same(t, "add_dirs", dirs, filepath.Join(p.Workspace, "../lib"), filepath.Join(p.Home, "notes"), "/abs/x")
	var sources []string
	for _, l := range s.Layers {
		sources = append(sources, l.Source)
		if !l.Exists || l.Supplied != slices.Contains([]string{agenttool.SourceProject, agenttool.SourceLocal, agenttool.SourceFlag}, l.Source) || !l.Trusted {
			t.Errorf("layer %+v", l)
		}
	}
	same(t, "sources", sources, "user_settings", "project_settings", "local_settings", "flag_settings", "policy_settings")
}

func TestHooks(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, `{"hooks": {
		"post_tool_use": [{"command": ["late"]}],
		"pre_tool_use": [{"matcher": {"tool": "Shell", "input": "Shell(git push *)"}, "command": ["./check.sh", ""], "timeout_ms": 1500, "env": {"A": "b"}},
			{"matcher": {}, "command": ["x"]}]}}`)
	s := p.load()
	if len(s.Hooks) != 3 {
		t.Fatalf("hooks: %+v", s.Hooks)
	}
	h := s.Hooks[1]
	if h.Event != "pre_tool_use" || h.Matcher != (Matcher{"Shell", "Shell(git push *)"}) || h.Timeout != 1500*time.Millisecond ||
		h.Env["A"] != "b" || h.Origin.Line != 3 {
		t.Errorf("hook: %+v", h)
	}
	same(t, "command", h.Command, "./check.sh", "")
}

func TestOverDefault(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, `{"mode": "plan", "approvals": {"timeout": "1h30m"}}`)
	s := p.load().Over(Default())
	if s.Mode.V != "plan" || s.ApprovalTimeout.V != 90*time.Minute || s.MaxJobs.V != 50 || s.MaxJobs.Origin.Source != "default" || s.JobOutput.V != "1GiB" {
		t.Errorf("merged: %+v", s)
	}
}

// TestDefaultsAreThoseOfTheSchema keeps the two from telling different tales.
func TestDefaultsAreThoseOfTheSchema(t *testing.T) {
	document := `{"mode": "default", "sandbox": {"require": "landlock"}, "approvals": {"wait": "attached", "timeout": "10m", "in_band_scopes": "session"}, "wall": {"wait": "2m"},
		"files": {"durability": "file"}, "jobs": {"max": 50, "timeout": "0s", "output": "1GiB"}, "max_parallel": 10}`
	got, problems := decode(Options{}, "default", "", []byte(document))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := Default()
	if got.Mode.V != want.Mode.V || got.Require.V != want.Require.V || got.Wait.V != want.Wait.V || got.ApprovalTimeout.V != want.ApprovalTimeout.V ||
		got.InBandScopes.V != want.InBandScopes.V || got.WallWait.V != want.WallWait.V || got.Durability.V != want.Durability.V || want.SearchIndex.Set || got.MaxJobs.V != want.MaxJobs.V || got.JobTimeout.V != want.JobTimeout.V ||
		got.JobOutput.V != want.JobOutput.V || got.MaxParallel.V != want.MaxParallel.V {
		t.Errorf("defaults: %+v", want)
	}
	for _, value := range []string{`"default": "landlock"`, `"default": "attached"`, `"default": "10m"`, `"default": "2m"`, `"default": "session"`, `"default": "file"`, `"default": 50`,
		`"default": "0s"`, `"default": "1GiB"`, `"default": 10\n`} {
		if !strings.Contains(string(Schema()), strings.TrimSuffix(value, `\n`)) {
			t.Errorf("the schema does not hold %s", value)
		}
	}
}
