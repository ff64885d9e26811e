package setup

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var tools = []string{"shell", "read"}

// placesIn are places below a directory of the test.
func placesIn(t *testing.T) Places {
	base := t.TempDir()
	p := Places{
		Project: filepath.Join(base, "project"), Home: filepath.Join(base, "home"), Config: filepath.Join(base, "home", ".config"),
		State: filepath.Join(base, "state"), Getenv: func(string) string { return "" },
	}
	for _, dir := range []string{p.Project, p.Config} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// existing is a configuration that a person has already, with comments and a server of theirs.
func existing(c mcpconfig.Client, f mcpconfig.File) string {
	head := "servers"
	if at, _ := c.Entry(f); len(at) > 0 {
		head = at[0]
	}
	if f.Format == edit.TOML {
		return "# mine\nmodel = \"x\" # best\n\n[" + head + ".other] # theirs\ncommand = \"other\"\n"
	}
	return "// mine\n{\n    \"model\": \"x\", // best\n    \"" + head + "\": {\n        // theirs\n        \"other\": {\"command\": \"other\"}\n    }\n}\n"
}

// scopes are the rows of the table, one for each scope of a client.
func scopes() (all []Target) {
	for _, c := range mcpconfig.Clients() {
		for _, scope := range []mcpconfig.Scope{mcpconfig.Project, mcpconfig.User} {
			if c.Edited && len(c.In(scope)) > 0 {
				all = append(all, Target{Client: c, Scope: scope, Server: mcpconfig.Server{Command: []string{"toolhost", "serve"}, Tools: tools}})
			}
		}
	}
	return all
}

// prepare writes the files of a target, and returns their paths.
func prepare(t *testing.T, target Target, p Places, content func(mcpconfig.File) string) (paths []string) {
	for _, f := range target.Client.In(target.Scope) {
		path, err := p.path(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content(f)), 0o640); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func write(t *testing.T, target Target, p Places) {
	plan, err := NewPlan(target, p)
	if err == nil {
		_, err = plan.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func undo(t *testing.T, target Target, p Places) *Undoing {
	u, err := Undo(target, p)
	if err == nil {
		err = u.Write()
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestRows merges every row into a configuration with comments, compares the files with testdata, and undoes it.
func TestRows(t *testing.T) {
	t.Parallel()
	for _, target := range scopes() {
		name := target.Client.Name + "-" + string(target.Scope)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := placesIn(t)
			paths := prepare(t, target, p, func(f mcpconfig.File) string { return existing(target.Client, f) })
			write(t, target, p)
			archive := &txtar.Archive{}
			for _, path := range paths {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				archive.Files = append(archive.Files, txtar.File{Name: p.Short(path), Data: text})
			}
			compare(t, filepath.Join("testdata", name+".txtar"), txtar.Format(archive))
			if missing, err := target.Missing(p); err != nil || len(missing) > 0 {
				t.Errorf("missing after setup: %v %v", missing, err)
			}
			if plan, err := NewPlan(target, p); err != nil || plan.Changed() {
				t.Errorf("the second time it changes (%v):\n%s", err, plan.Diff())
			}
			undo(t, target, p)
			for i, path := range paths {
				text, _ := os.ReadFile(path)
				info, err := os.Stat(path)
				if want := existing(target.Client, target.Client.In(target.Scope)[i]); err != nil || string(text) != want || info.Mode().Perm() != 0o640 {
					t.Errorf("%s is not restored: %v\n%s", path, err, text)
				}
			}
		})
	}
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("%s: %v; it is\n%s", path, err, got)
	}
}

// TestRowsMakeAndRemove sets up clients that have no configuration, and undoes it: nothing is left.
func TestRowsMakeAndRemove(t *testing.T) {
	t.Parallel()
	for _, target := range scopes() {
		p := placesIn(t)
		write(t, target, p)
		if !target.SetUp(p) {
			t.Errorf("%s: there is no record", target.Client.Name)
		}
		undo(t, target, p)
		for _, dir := range []string{p.Project, p.Config} {
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%s: left: %v %v", target.Client.Name, left, err)
			}
		}
		if left, _ := os.ReadDir(p.Home); len(left) != 1 || target.SetUp(p) {
			t.Errorf("%s: left: %v", target.Client.Name, left)
		}
	}
}

// TestRowsLeaveBrokenFilesAlone has every row meet files that cannot be parsed.
func TestRowsLeaveBrokenFilesAlone(t *testing.T) {
	t.Parallel()
	broken := map[edit.Format]string{edit.JSON: "{\n  \"a\": 1,\n  \"b\" 2\n}\n", edit.TOML: "a = 1\nb = 2\n[c\n"}
	for _, target := range scopes() {
		p := placesIn(t)
		paths := prepare(t, target, p, func(f mcpconfig.File) string { return broken[f.Format] })
		_, err := NewPlan(target, p)
		if err == nil || !strings.Contains(err.Error(), p.Short(paths[0])+":3: ") {
			t.Errorf("%s: %v", target.Client.Name, err)
		}
		for i, path := range paths {
			if text, _ := os.ReadFile(path); string(text) != broken[target.Client.In(target.Scope)[i].Format] {
				t.Errorf("%s was changed", path)
			}
		}
	}
}

// TestUndoAfterOtherChanges removes setup's parts only from files that were changed since.
func TestUndoAfterOtherChanges(t *testing.T) {
	t.Parallel()
	for _, target := range scopes() {
		p := placesIn(t)
		paths := prepare(t, target, p, func(f mcpconfig.File) string { return existing(target.Client, f) })
		write(t, target, p)
		for i, path := range paths {
			text, _ := os.ReadFile(path)
			changed := strings.Replace(string(text), "best", "best of all", 1)
			if err := os.WriteFile(path, []byte(changed), 0o640); err != nil || changed == string(text) {
				t.Fatal(err, i)
			}
		}
		u := undo(t, target, p)
		for i, path := range paths {
			want := strings.Replace(existing(target.Client, target.Client.In(target.Scope)[i]), "best", "best of all", 1)
			if text, _ := os.ReadFile(path); string(text) != want || !u.Files[i].Since || len(u.Files[i].Kept) > 0 {
				t.Errorf("%s: %+v\n%s", p.Short(path), u.Files[i].Kept, text)
			}
		}
	}
}

// TestSetUpTwice keeps what was there before the first time, and what a person changed between.
func TestSetUpTwice(t *testing.T) {
	t.Parallel()
	p := placesIn(t)
	target := scopes()[0]
	paths := prepare(t, target, p, func(f mcpconfig.File) string { return existing(target.Client, f) })
	write(t, target, p)
	text, _ := os.ReadFile(paths[0])
	if err := os.WriteFile(paths[0], []byte(strings.Replace(string(text), "best", "worst", 1)), 0o640); err != nil {
		t.Fatal(err)
	}
	target.Server.Command = append(target.Server.Command, "--mode", "plan")
	write(t, target, p)
	undo(t, target, p)
	text, _ = os.ReadFile(paths[0])
	if want := strings.Replace(existing(target.Client, target.Client.Files[0]), "best", "worst", 1); string(text) != want {
		t.Errorf("%s", text)
	}
}

// TestLinksOutOfTheProject refuses to write through a link that the project brings.
func TestLinksOutOfTheProject(t *testing.T) {
	t.Parallel()
	p := placesIn(t)
	if err := os.Symlink(filepath.Join(p.Home, ".bashrc"), filepath.Join(p.Project, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(scopes()[0], p); err == nil || !strings.Contains(err.Error(), "leads out of the project") {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(p.Home, ".bashrc")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestEnvironmentNamesTheDirectory follows the variables by which clients are moved.
func TestEnvironmentNamesTheDirectory(t *testing.T) {
	t.Parallel()
	p := placesIn(t)
	p.Getenv = func(name string) string {
		return map[string]string{"CODEX_HOME": filepath.Join(p.Home, "elsewhere")}[name]
	}
	c, _ := mcpconfig.Find("codex")
	if path, err := p.path(c.In(mcpconfig.User)[0]); err != nil || p.Short(path) != "~/elsewhere/config.toml" {
		t.Error(path, err)
	}
}

// TestStates tells clients that are set up from those that bypass toolhost.
func TestStates(t *testing.T) {
	t.Parallel()
	p := placesIn(t)
	target := scopes()[0]
	state := func() string {
		for _, s := range p.States(target.Server) {
			if s.Client.Name == target.Client.Name {
				return fmt.Sprint(s.Scopes)
			}
		}
		return "none"
	}
	if got := state(); got != "[]" {
		t.Error(got)
	}
	write(t, target, p)
	if got := state(); got != "[{project false [] <nil>}]" {
		t.Error(got)
	}
	if err := os.Remove(filepath.Join(p.Project, ".claude", "settings.json")); err != nil {
		t.Fatal(err)
	}
	if got := state(); !strings.Contains(got, ".claude/settings.json: permissions.deny") {
		t.Error(got)
	}
}
