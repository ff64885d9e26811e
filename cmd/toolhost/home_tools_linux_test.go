package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// TestToolsReadNoCredentials: in no mode do file tools read, unasked, what programs log in with, wherever the workspace lies.
func TestToolsReadNoCredentials(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	names := credentialNames(t)
	for m, mode := range agenttool.Modes {
		if mode == permissions.Bypass {
			continue
		}
		for i, ws := range []string{"apart", "in the home", "the home"} {
			t.Run(fmt.Sprint(mode, " ", ws), func(t *testing.T) {
				t.Parallel()
				d := &workSession{t: t, base: filepath.Join(p.dir, strings.NewReplacer("/", "-", " ", "_").Replace(t.Name()))}
				d.home = filepath.Join(d.base, "home")
				d.ws = map[string]string{"apart": filepath.Join(d.base, "ws"), "in the home": filepath.Join(d.home, "src/ws"), "the home": d.home}[ws]
				must(t, os.MkdirAll(d.ws, 0o755))
				must(t, os.MkdirAll(d.home, 0o755))
				for _, name := range names {
					path := filepath.Join(d.home, name)
					must(t, os.MkdirAll(filepath.Dir(path), 0o755))
					must(t, os.WriteFile(path, []byte("CANARY\n"), 0o644))
				}
				must(t, os.WriteFile(filepath.Join(d.ws, "plain"), []byte("PLAIN\n"), 0o644))
				must(t, os.Link(filepath.Join(d.home, ".codex/auth.json"), filepath.Join(d.ws, "hard")))
				must(t, os.Symlink(d.home, filepath.Join(d.ws, "soft")))
				d.serve(p, "--mode", string(mode))
				d.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "t", "version": "1"}, "events": "results"}, &struct{}{})
				calls := []string{`@read {"path":"hard"}`, `@grep {"pattern":"CANARY"}`, `@grep {"pattern":"CANARY","path":"~"}`, `@glob {"pattern":"**/auth.json","path":"~/.codex"}`}
				for n, name := range names {
					if !long() && n%15 != (m+5*i)%15 { // the ordinary form reads each in one of the workspaces, in one of the modes
						continue
					}
					calls = append(calls, fmt.Sprintf(`@read {"path":%q}`, "~/"+name), fmt.Sprintf(`@read {"path":%q}`, "soft/"+name),
						fmt.Sprintf(`@grep {"pattern":"CANARY","glob":%q}`, "soft/"+name), fmt.Sprintf(`@grep {"pattern":"CANARY","glob":%q}`, "~/"+name),
						fmt.Sprintf(`@grep {"pattern":"CANARY","glob":%q}`, "soft/"+filepath.Dir(name)+"/**"))
				}
				for _, in := range calls {
					if a := d.call(in); strings.Contains(strings.ReplaceAll(a.text(), `"CANARY"`, ""), "CANARY\n") || strings.Contains(a.text(), ":CANARY") {
						t.Errorf("%s: %s\n%.300s", in, a.Result.Status, a.text())
					}
				}
				if a := d.call(`@read {"path":"plain"}`); !strings.Contains(a.text(), "PLAIN") {
					t.Errorf("an ordinary file: %s %s", a.Result.Status, a.text())
				}
			})
		}
	}
}
