package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/check"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/permissions"
	"toolhost/sandbox"
)

// sessionTable holds commands of agents' sessions; its columns are described in it.
const sessionTable = "../../testdata/classify/sessions.tsv"

// sessionRow is one command of it.
type sessionRow struct{ command, kind, language, session string }

func sessionRows(t testing.TB) []sessionRow {
	t.Helper()
	var rows []sessionRow
	for _, cells := range tableLines(t, sessionTable, 5) {
		rows = append(rows, sessionRow{cells[0], cells[1], cells[2], cells[3]})
	}
	return rows
}

// judge is a host that only checks, in a workspace of its own and for a person without settings.
type judge struct {
	session *session.Checker
	ws      string
}

// newJudge makes one for sessions whose sandbox holds everything.
func newJudge(t testing.TB, mode permissions.Mode, rules ...string) *judge {
	t.Helper()
	return newJudgeOf(t, policy.Flags{Mode: string(mode), Allow: rules})
}

func newJudgeOf(t testing.TB, flags policy.Flags) *judge {
	t.Helper()
	base := deciderDir(t)
	for _, dir := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"} {
		path := filepath.Join(base, dir)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(dir, path)
	}
	ws := filepath.Join(base, "project")
	furnishSession(t, ws)
	s, err := session.NewChecker(session.Options{Workspace: ws, Policy: flags, Log: logLine}, sandbox.Full)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &judge{s, ws}
}

// decide decides about one command line as check does.
func (j *judge) decide(t testing.TB, command string) agenttool.Decision {
	t.Helper()
	command = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", "/testbed", j.ws).Replace(command)
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	c, err := check.Call(j.session, "shell", input)
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return c.Decision
}

// furnishings are the files that the commands name.
const furnishings = `.git/HEAD .git/config .git/objects/ .git/refs/heads/ .git/info/ .github/workflows/ci.yml .gitignore README.md CHANGELOG.md Makefile Dockerfile
	go.mod go.sum cmd/app/main.go internal/server/server.go internal/server/server_test.go internal/config/config.go
	package.json package-lock.json tsconfig.json vite.config.ts .eslintrc.json docker-compose.yml config.json config.example.json
	src/index.ts src/utils.ts src/server.js src/api/users.ts src/components/App.tsx src/components/Button.tsx src/hooks/ test/a.js
	node_modules/react/package.json node_modules/.bin/tsc node_modules/.bin/eslint node_modules/.bin/vitest node_modules/.bin/jest node_modules/.bin/prettier
	node_modules/.bin/playwright node_modules/.bin/mocha dist/assets/index.js scripts/build.sh scripts/dev.sh scripts/generate.js
	pyproject.toml setup.py requirements.txt app/__init__.py app/models.py app/views.py tests/test_models.py tests/test_api.py tests/runtests.py manage.py
	.venv/bin/activate .venv/bin/python .venv/bin/ruff .venv/pyvenv.cfg venv/bin/activate reproduce.py
	Cargo.toml src/main.rs src/lib.rs src/parser.rs src/nested/mod.rs src/main.c src/util.c src/util.h include/util.h build/main.o build/libfoo.a build/a.bin build/b.bin
	dist.tar.gz dist.zip data.csv names.txt notes.txt docs/guide.md mvnw benches/`

func furnishSession(t testing.TB, ws string) {
	t.Helper()
	for name := range strings.FieldsSeq(furnishings) {
		path, text := filepath.Join(ws, name), "x\n"
		switch name {
		case ".git/HEAD":
			text = "ref: refs/heads/main\n"
		case ".git/config":
			text = "[core]\n\trepositoryformatversion = 0\n"
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// share counts the rows of a kind, and those of them that ask.
type share struct{ rows, ask int }

func (s share) percent() float64 { return 100 * float64(s.ask) / float64(max(s.rows, 1)) }

// TestSessions measures how often a person is asked about commands as agents send them, with no rules at all. -v prints each
// command that asks, and the table.
func TestSessions(t *testing.T) {
	rows := sessionRows(t)
	if len(rows) < 400 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, mode := range []struct {
		mode permissions.Mode
		most map[string]float64 // of a kind, how many in a hundred may ask
	}{
		{permissions.Default, map[string]float64{"reads": 4}},
		{permissions.AcceptEdits, map[string]float64{"reads": 4}},
		{permissions.Sandboxed, map[string]float64{"reads": 1, "build": 3}},
	} {
		t.Run(string(mode.mode), func(t *testing.T) {
			j := newJudge(t, mode.mode)
			kinds, sessions := map[string]share{}, map[string]int{}
			for _, row := range rows {
				d := j.decide(t, row.command)
				k := kinds[row.kind]
				k.rows++
				if d.Behavior != agenttool.Allow {
					k.ask++
					if row.session != "-" {
						sessions[row.session]++
					}
					t.Logf("%-8s %-8s %s\n\t%s", row.kind, d.Behavior, row.command, d.Reason.Detail)
				}
				kinds[row.kind] = k
			}
			for _, kind := range []string{"reads", "build", "writes", "network", "destroys", "code"} {
				k := kinds[kind]
				t.Logf("%-12s %-8s %3d commands, %3d ask: %5.1f %%", mode.mode, kind, k.rows, k.ask, k.percent())
				if most, ok := mode.most[kind]; ok && k.percent() > most {
					t.Errorf("%.1f %% of %s ask, want at most %.0f %%", k.percent(), kind, most)
				}
			}
			for _, session := range []string{"go", "python", "node"} {
				n := len(slices.DeleteFunc(slices.Clone(rows), func(r sessionRow) bool { return r.session != session }))
				t.Logf("%-12s %d commands of a session in %s: %d prompts", mode.mode, n, session, sessions[session])
				if mode.mode == permissions.Sandboxed && (n != 50 || sessions[session] > 4) {
					t.Errorf("%d prompts in %d commands of a session in %s, want at most 4 in 50", sessions[session], n, session)
				}
			}
		})
	}
}
