package policy

import (
	"os"
	"path/filepath"
	"testing"

	"toolhost/agenttool"
	"toolhost/permissions"
	"toolhost/settings"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// TestSourcesOfRules: a decision names the file and line of the rule that decided it, whichever settings file that is, and one of the
// administrator's is policy.
func TestSourcesOfRules(t *testing.T) {
	conform.Held(t, "AT-143", "AT-154", "AT-155", "AT-157")
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	ws := filepath.Join(dir, "ws")
	files, err := SettingsFiles(ws, filepath.Join(dir, "flag.json"))
	if err != nil {
		t.Fatal(err)
	}
	files.Managed = filepath.Join(dir, "managed.json")
	for file, rule := range map[string]string{
		files.User: "Shell(user)", files.Project: "Shell(project)", files.Local: "Shell(local)", files.Flag: "Shell(flag)", files.Managed: "Shell(managed)",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{\n\"permissions\": {\"deny\": [\""+rule+"\"]}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := settings.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := New(Flags{Deny: []string{"Shell(cli)"}, Mode: string(permissions.Default)}, read, agenttool.Scope{Dir: ws, Roots: []string{ws}, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, source, file, kind string }{
		{"user", agenttool.SourceUser, files.User, "rule"}, {"project", agenttool.SourceProject, files.Project, "rule"},
		{"local", agenttool.SourceLocal, files.Local, "rule"}, {"flag", agenttool.SourceFlag, files.Flag, "rule"},
		{"managed", agenttool.SourceManaged, files.Managed, "policy"}, {"cli", agenttool.SourceCLI, "", "rule"},
	} {
		argv := [][]string{{c.program}}
		facts := agenttool.Facts{Commands: argv, Mentions: argv, Parts: []agenttool.Part{{Argv: argv[0], Exact: true, WrappedBy: -1}}, PartsComplete: agenttool.Yes}
		d := snapshot.Policy.Decide(permissions.Request{Tool: "shell", RunsCode: true, Facts: &facts})
		where := ""
		if c.file != "" {
			where = c.file + ":2"
		}
		if d.Behavior != agenttool.Deny || d.Source != c.source || d.Reason.Type != c.kind || d.Reason.Where != where {
			t.Errorf("%s: %s by %s at %q, type %s; want %s at %q, %s", c.program, d.Behavior, d.Source, d.Reason.Where, d.Reason.Type, c.source, where, c.kind)
		}
		if managed := len(d.PolicyRefs) > 0; managed != (c.kind == "policy") {
			t.Errorf("%s: policy_refs %v", c.program, d.PolicyRefs)
		}
		d.DecisionID, d.InvocationID, d.DecidedAt = "perm_1", "inv_1", "2026-01-02T03:04:05.678Z"
		record, err := agenttool.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range recordtest.Record(recordtest.KindDecision, record) {
			t.Errorf("%s: %v", c.program, problem)
		}
	}
}

// TestReadsRestOfTree: where the workspace is a part of a work tree, the rest of that is read unasked, but for secrets. A repository that holds
// the home directory, and the directories beside a repository, are not.
func TestReadsRestOfTree(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"mono/.git/objects", "mono/.git/refs", "mono/service", "mono/lib", "other", "home/.git/objects", "home/.git/refs", "home/ws"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mono/.git/HEAD", "home/.git/HEAD"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("ref: refs/heads/main\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		ws, read string
		want     agenttool.Behavior
	}{
		{"mono/service", "mono/lib/shared.txt", agenttool.Allow},
		{"mono/service", "mono/lib/.env", agenttool.Deny},
		{"mono/service", "mono", agenttool.Allow},
		{"mono/service", "other/file", agenttool.Ask},
		{"mono/service", "home/file", agenttool.Ask},
		{"mono/service", "", agenttool.Ask},
		{"home/ws", "home/file", agenttool.Ask},
	} {
		ws := filepath.Join(dir, c.ws)
		m, err := New(Flags{Mode: string(permissions.Default)}, &settings.Settings{}, agenttool.Scope{Dir: ws, Roots: []string{ws}, Home: filepath.Join(dir, "home")})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.read)
		facts := agenttool.Facts{Reads: []agenttool.Path{{Spelling: path, Absolute: path, Resolved: path}}}
		facts.ReadOnly, facts.OpenWorld, facts.PathsComplete = agenttool.Yes, agenttool.No, agenttool.Yes
		if d := m.Policy.Decide(permissions.Request{Tool: "read", Facts: &facts}); d.Behavior != c.want {
			t.Errorf("in %s, reading %s: %s, %s", c.ws, c.read, d.Behavior, d.Reason.Detail)
		}
	}
}
