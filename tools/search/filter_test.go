package search

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/tools/workspace"
)

// named is a project in which people name what rules leave out.
var namedProject = map[string]string{
	".gitignore":                       "node_modules/\ndist/\n*.log\n",
	".github/workflows/ci.yml":         "needle",
	"app/[id]/page.tsx":                "needle",
	"app/[id]/[...rest]/page.tsx":      "needle",
	"app/i/page.tsx":                   "needle",
	"logs/[x].log":                     "needle",
	"app/(group)/page.tsx":             "needle",
	"{{name}}/setup.py":                "needle",
	"a,b.txt":                          "needle",
	"dist/js/app.js":                   "needle",
	"dist/app.js.map":                  "needle",
	"logs/x.log":                       "needle",
	"node_modules/effect/package.json": "needle",
	"node_modules/effect/dist/i.js":    "needle",
	"node_modules/effect/.npmrc.txt":   "needle",
	"src/a.ts":                         "needle",
	"src/b.tsx":                        "needle",
	"src/a.test.ts":                    "needle",
	"src/lib/c.ts":                     "needle",
	"test/d.ts":                        "needle",
	"venv/.gitignore":                  "*\n",
	"venv/lib/e.py":                    "needle",
	"docs/read.md":                     "needle",
	"docs/deep/more.md":                "needle",
}

// TestNamedPaths: what a pattern names literally is found, whatever leaves it out, by glob and by grep's glob.
func TestNamedPaths(t *testing.T) {
	tr := plant(t, namedProject)
	for _, link := range [][2]string{{"docs", "link"}, {"docs/read.md", "src/read.md"}} {
		target := filepath.Join(tr.dir, link[0])
		if err := os.Symlink(target, filepath.Join(tr.dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct{ name, pattern, path, want string }{
		{"a directory that a rule ignores", "node_modules/effect/package.json", "", "node_modules/effect/package.json"},
		{"all below it", "node_modules/effect/**", "", "node_modules/effect/dist/i.js node_modules/effect/package.json"},
		{"a file in it", "dist/*.map", "", "dist/app.js.map"},
		{"it", "dist/", "", "dist/app.js.map dist/js/app.js"},
		{"it, without a slash at its end", "dist/js", "", "dist/js/app.js"},
		{"a file that a rule ignores", "logs/x.log", "", "logs/x.log"},
		{"a directory that ignores what it holds", "venv/lib/*.py", "", "venv/lib/e.py"},
		{"with a path", "dist/**", "node_modules/effect", "node_modules/effect/dist/i.js"},
		{"in a path that ignores what it holds", "*.py", "venv", "venv/lib/e.py"},
		{"a hidden directory", ".github/**/*.yml", "", ".github/workflows/ci.yml"},
		{"a hidden file in an ignored directory", "node_modules/effect/.npmrc.txt", "", "node_modules/effect/.npmrc.txt"},
		{"brackets in a name", "app/[id]/page.tsx", "", "app/[id]/page.tsx app/i/page.tsx"},
		{"and a wildcard", "app/[id]/**/*.tsx", "", "app/[id]/[...rest]/page.tsx app/[id]/page.tsx app/i/page.tsx"},
		{"brackets in two names", "app/[id]/[...rest]/*", "", "app/[id]/[...rest]/page.tsx"},
		{"brackets and braces", "app/[id]/page.{ts,tsx}", "", "app/[id]/page.tsx app/i/page.tsx"},
		{"brackets that are a set", "app/[ij]/*", "", "app/i/page.tsx"},
		{"brackets in the name of a file that a rule ignores", "logs/[x].log", "", "logs/[x].log"},
		{"escaped brackets", `app/\[id\]/*.tsx`, "", "app/[id]/page.tsx"},
		{"parentheses in a name", "app/(group)/*.tsx", "", "app/(group)/page.tsx"},
		{"braces in a name", "{{name}}/*.py", "", "{{name}}/setup.py"},
		{"a list", "*.tsx,*.py", "", "app/(group)/page.tsx app/[id]/[...rest]/page.tsx app/[id]/page.tsx app/i/page.tsx src/b.tsx {{name}}/setup.py"},
		{"a list with blanks", "*.map, src/*.tsx", "dist", "dist/app.js.map"},
		{"a list of directories", "src/*.ts,test/**", "", "src/a.test.ts src/a.ts test/d.ts"},
		{"braces of directories", "{src,test,dist}/**/*.{ts,js}", "", "dist/js/app.js src/a.test.ts src/a.ts src/lib/c.ts test/d.ts"},
		{"a comma in a name", "./a,b.txt", "", "a,b.txt"},
		{"two that overlap", "src/**,src/lib/*.ts", "", "src/a.test.ts src/a.ts src/b.tsx src/lib/c.ts src/read.md"},
		{"a list that leaves out", "src/*.ts,!*.test.ts", "", "src/a.ts"},
		{"a directory that is left out", "src/**/*.ts,!src/lib,!*.test.ts", "", "src/a.ts"},
		{"absolute", tr.dir + "/src/**/*.tsx", "", "src/b.tsx"},
		{"absolute, with a path", tr.dir + "/src/**/*.tsx", "src", "src/b.tsx"},
		{"absolute, with a path below", tr.dir + "/**/*.ts", "src/lib", "src/lib/c.ts"},
		{"an absolute list", tr.dir + "/src/*.tsx," + tr.dir + "/test/*", "", "src/b.tsx test/d.ts"},
		{"absolute, what is left out", tr.dir + "/src/*.ts,!" + tr.dir + "/src/*.test.ts", "", "src/a.ts"},
		{"a directory behind a link", "link/**/*.md", "", "docs/deep/more.md docs/read.md"},
		{"a link", "src/read.md", "", "src/read.md"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			input := map[string]any{"pattern": tc.pattern}
			if tc.path != "" {
				input["path"] = tc.path
			}
			if _, got := tr.glob(t, input); strings.Join(got.Paths, " ") != tc.want {
				t.Errorf("glob: got  %s\nwant %s", strings.Join(got.Paths, " "), tc.want)
			}
			want := strings.ReplaceAll(tc.want, "src/read.md", "docs/read.md")
			if tc.name == "two that overlap" {
				want = strings.TrimSuffix(want, " docs/read.md") // a link below a directory that is searched is not followed
			}
			input["glob"], input["pattern"], input["output_mode"] = tc.pattern, "needle", "files_with_matches"
			if _, got := tr.grep(t, input); strings.Join(got.Files, " ") != want {
				t.Errorf("grep: got  %s\nwant %s", strings.Join(got.Files, " "), want)
			}
		})
	}
}

// TestNamedPathsInWords: a result says that what its pattern names is not there, and what was left out.
func TestNamedPathsInWords(t *testing.T) {
	tr := plant(t, namedProject)
	for pattern, want := range map[string]string{
		"scr/*.ts":   "No files match. Compared 0 names in the workspace.\n[there is no directory scr]\n",
		"./src/x.ts": "No files match. Compared 0 names in the workspace.\n[src/x.ts does not exist]\n",
		"src/*.py":   "No files match. Compared 4 names in the workspace.\n",
		"src/a.ts/*": "No files match. Compared 0 names in the workspace.\n[there is no directory src/a.ts]\n",
		"docs/*":     "docs/read.md\n",
		"*.log": "No files match. Compared 13 names in the workspace.\n" +
			"[left out 5 ignored (no_ignore), 3 hidden (hidden)]\n",
	} {
		if got, _ := tr.glob(t, map[string]any{"pattern": pattern}); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", pattern, got, want)
		}
		want = strings.NewReplacer("No files match. Compared", "No matches. Searched", "names", "files", "docs/read.md", "docs/read.md:1:needle").Replace(want)
		if got, _ := tr.grep(t, map[string]any{"pattern": "needle", "glob": pattern}); !strings.Contains(pattern, "*.") && got != want {
			t.Errorf("grep in %s: got\n%s\nwant\n%s", pattern, got, want)
		}
	}
}

// TestNamedPathsAreFacts: each directory and file that a pattern names is a path that the call reads.
func TestNamedPathsAreFacts(t *testing.T) {
	tr := plant(t, map[string]string{"src/a": ""})
	for pattern, want := range map[string]string{
		"*.ts":             ".",
		"**/*.ts":          ".",
		"src/**/*.ts":      ". src",
		"src/a.ts":         ". src src/a.ts",
		"./a.ts":           ". a.ts",
		"{a,b/c}/*":        ". a b/c",
		"a/[b]/*":          ". a",
		"a/[b]/c":          ". a a/[b] a/[b]/c",
		"{{a}}/*":          ". a {{a}}",
		"a/*.ts,!secret/*": ". a",
		"../x":             "",
		"a/../../x":        "",
		"{a,..}/x":         "",
		`a/\.\./\.\./x*`:   ". a",
	} {
		for _, tool := range []agenttool.Tool{tr.newGlob(), tr.newGrep()} {
			input := map[string]any{"pattern": pattern}
			if tool.Describe().Declaration.Name == "grep" {
				input = map[string]any{"pattern": "x", "glob": pattern}
			}
			call, err := tr.bind(t, tool, input)
			var got []string
			if err == nil {
				for _, p := range call.Facts().Reads {
					rel, _ := filepath.Rel(tr.dir, p.Absolute)
					got = append(got, rel)
					if p.Absolute != filepath.Join(tr.dir, p.Spelling) {
						t.Errorf("%s: %s is spelt %s", pattern, p.Absolute, p.Spelling)
					}
				}
			}
			slices.Sort(got)
			if strings.Join(got, " ") != want || (err != nil) != (want == "") {
				t.Errorf("%s %s: reads %q, want %q (%v)", tool.Describe().Declaration.Name, pattern, got, want, err)
			}
		}
	}
}

// TestNamedPathsAreBounded: many names in one pattern are compared, not opened one by one.
func TestNamedPathsAreBounded(t *testing.T) {
	tr := plant(t, map[string]string{"d7/x.ts": "", "d31/y.ts": "", "e/z.ts": ""})
	pattern := "{" + strings.Join(strings.Fields(strings.Repeat("d# ", 32)), ",") + "}/*.ts"
	for i := range 32 {
		pattern = strings.Replace(pattern, "#", string(rune('0'+i/10))+string(rune('0'+i%10)), 1)
	}
	pattern = strings.ReplaceAll(pattern, "d0", "d")
	call, err := tr.bind(t, tr.newGlob(), map[string]any{"pattern": pattern})
	if err != nil || len(call.Facts().Reads) > 1+2*maxTargets {
		t.Fatalf("%d paths are read: %v", len(call.Facts().Reads), err)
	}
	if _, got := tr.glob(t, map[string]any{"pattern": pattern}); strings.Join(got.Paths, " ") != "d31/y.ts d7/x.ts" {
		t.Errorf("got %q", got.Paths)
	}
}

// TestNamedFileKeepsTheFile: a glob beside a path that is a file does not matter, as before.
func TestNamedFileKeepsTheFile(t *testing.T) {
	tr := plant(t, namedProject)
	for _, glob := range []string{"src/**", "*.py", "!*.ts", "a/b.ts"} {
		if _, got := tr.grep(t, map[string]any{"pattern": "needle", "path": "src/a.ts", "glob": glob}); got.Total != 1 {
			t.Errorf("%s: %+v", glob, got)
		}
	}
}

// TestNamedPathsByPage: the pages of a search of several directories are the whole, in any order.
func TestNamedPathsByPage(t *testing.T) {
	tr := plant(t, namedProject)
	for _, order := range []string{byPath, byModified} {
		input := map[string]any{"pattern": "{src,test,dist,src/lib}/**,./logs/x.log", "sort": order}
		_, whole := tr.glob(t, input)
		if len(whole.Paths) != 8 {
			t.Fatalf("%q", whole.Paths)
		}
		var got []string
		input["limit"] = 3
		for next := new(int); next != nil; {
			input["offset"] = *next
			_, page := tr.glob(t, input)
			got, next = append(got, page.Paths...), page.NextOffset
		}
		if !slices.Equal(got, whole.Paths) {
			t.Errorf("%s: pages %q, whole %q", order, got, whole.Paths)
		}
	}
}

// TestNamedSecrets: naming a secret or toolhost's own state in a pattern reads it no more than naming it as a path.
func TestNamedSecrets(t *testing.T) {
	tr := plant(t, map[string]string{"d/s.pem": "needle", "d/plain": "needle", "state/x": "needle", "keys/k": "needle"})
	if err := os.Link(filepath.Join(tr.dir, "d/s.pem"), filepath.Join(tr.dir, "d/hard")); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "d", "soft": "d/s.pem", "own": "state"} {
		if err := os.Symlink(target, filepath.Join(tr.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open([]string{tr.dir}, filepath.Join(tr.dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	secrets, err := protect.Scan(t.Context(), protect.Options{Roots: []string{tr.dir}, ReadDeny: []string{"**/s.pem", "keys/**"}})
	if err != nil {
		t.Fatal(err)
	}
	ws.Guard(func() (*protect.Map, error) { return secrets, nil })
	tr.ws = ws
	for _, pattern := range []string{
		"d/s.pem", "./soft", "d/hard", "link/s.pem", "link/*.pem", "d/*", "link/**", "d/{s.pem,x}", "d/[s].pem",
		"keys/*", "keys/k", "keys", "state/x", "state/**", "own/x", "own/*", "**",
	} {
		for _, tool := range []agenttool.Tool{tr.newGrep(), tr.newGlob()} {
			input := map[string]any{"pattern": "needle", "glob": pattern}
			isGlob := tool.Describe().Declaration.Name == "glob"
			if isGlob {
				input = map[string]any{"pattern": pattern}
			}
			call, err := tr.bind(t, tool, input)
			if err != nil {
				t.Fatal(err)
			}
			out, err := run(t, tool, call)
			if err != nil {
				if code := agenttool.AsError(err, agenttool.ExecutionFailed).Code; code != "secret" && code != "private_path" {
					t.Errorf("%s: %v", pattern, err)
				}
				continue
			}
			for line := range strings.Lines(out.Content[0].Text) {
				name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
				// A name that is not a secret's may be listed, but not read: glob lists links and hard links.
				if strings.HasSuffix(name, ".pem") || strings.HasPrefix(name, "keys/") || strings.HasPrefix(name, "state/") || !isGlob && name != "d/plain" && name[0] != '[' && !strings.HasPrefix(name, "No matches") {
					t.Errorf("%s %s: %q", tool.Describe().Declaration.Name, pattern, line)
				}
			}
		}
	}
}

// TestCutFilesAreSearched: of a file that commands see without the lines that hold secrets a search sees the same, and of one that cannot be cut
// nothing; so it does in a clone outside of the workspace.
func TestCutFilesAreSearched(t *testing.T) {
	const token = "ghp_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"
	config := "[remote \"origin\"]\n\turl = https://me:" + token + "@h.example/needle\n"
	tr := plant(t, map[string]string{
		"ws/a/config": config, "ws/.npmrc": "needle=1\n//r.example/:_authToken=" + token + "\n", "ws/plain": "needle", "ws/auth.json": "needle " + token,
		"clone/HEAD": "x", "clone/objects/x": "x", "clone/refs/x": "x", "clone/config": config,
	})
	ws, err := workspace.Open([]string{filepath.Join(tr.dir, "ws")})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	secrets, err := protect.Scan(t.Context(), protect.Options{Roots: []string{filepath.Join(tr.dir, "ws")}, ReadDeny: protect.DefaultReadDeny()})
	if err != nil {
		t.Fatal(err)
	}
	ws.Guard(func() (*protect.Map, error) { return secrets, nil })
	tr.ws = ws
	for path, want := range map[string]string{"ws": "a/config plain", "ws/.npmrc": ".npmrc", "ws/a/config": "a/config", "clone": "clone/config", "clone/config": "clone/config"} {
		for _, pattern := range []string{"needle", "ghp_"} {
			text := tr.must(t, tr.newGrep(), map[string]any{"pattern": pattern, "path": filepath.Join(tr.dir, path), "output_mode": "content"}).Content[0].Text
			for name := range strings.FieldsSeq(want) {
				if pattern == "needle" && !strings.Contains(text, name) || pattern != "needle" && !strings.HasPrefix(text, "No matches") {
					t.Errorf("%s in %s: %s", pattern, path, text)
				}
			}
			if strings.Contains(text, token) || strings.Contains(text, "auth.json") || path == "ws" && !strings.Contains(text, "denied") {
				t.Errorf("%s in %s: %s", pattern, path, text)
			}
		}
	}
}

// TestLiteralReadings: brackets, and braces without a comma, stand for themselves, too.
func TestLiteralReadings(t *testing.T) {
	for _, tc := range []struct{ pattern, path, want string }{
		{"{a}", "{a}", "yes"}, {"{a}", "a", "yes"}, {"{a,b}", "{a,b}", "no"}, {"x/{{n}}.{ts,js}", "x/{{n}}.js", "yes"}, {"x/{a,{b}}", "x/{b}", "yes"},
		{"[id].ts", "[id].ts", "yes"}, {"[id].ts", "d.ts", "yes"}, {"[id].ts", "id.ts", "no"}, {"[[...slug]]/*", "[[...slug]]/p", "yes"},
		{"a/[b]/[c]", "a/[b]/c", "yes"}, {"a/[b]/[c]", "a/b/[c]", "yes"}, {"[!a]", "[!a]", "yes"}, {`\[a\]`, "a", "no"}, {`\[a\]`, "[a]", "yes"},
		{"[a]/[a]/[a]/[a]/[a]", "[a]/[a]/[a]/[a]/[a]", "yes"}, {"[a]/[a]/[a]/[a]/[a]", "a/a/a/a/a", "yes"}, {"[{]", "{", "yes"},
	} {
		g, err := parseGlob(tc.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := map[bool]string{true: "yes", false: "no"}[g.match(path.Split(tc.path))]; got != tc.want {
			t.Errorf("%s matches %s: %s", tc.pattern, tc.path, got)
		}
	}
}

// FuzzNamed: splitting a pattern into what it names and the rest never changes which files it matches.
func FuzzNamed(f *testing.F) {
	for _, seed := range [][2]string{
		{"a/**/b*/[!c].go", "a/x/bc/d.go"}, {"a/b/c", "a/b/c"}, {"{a,b/c}/*,x", "b/c/d"}, {`a\*/b/*`, "a*/b/c"}, {"a/[b]/c", "a/[b]/c"}, {"*.ts,!b/*.ts", "b/x.ts"}, {"a/./b/*", "a/b/c"},
	} {
		f.Add(seed[0], seed[1])
	}
	scope := agenttool.Scope{Dir: "/w", Roots: []string{"/w"}}
	slashInSet := regexp.MustCompile(`\[[^]]*/`) // no file name matches it
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if slashInSet.MatchString(pattern) || len(pattern)+len(name) > 200 || name == "" || name != path.Clean(name) || name[0] == '/' || name[0] == '.' || strings.ContainsAny(pattern, ",!") ||
			!utf8.ValidString(pattern) || !utf8.ValidString(name) { // a byte that is not UTF-8 is itself in what is named, and any such byte in the rest
			return
		}
		g, err := parseGlob(pattern)
		if err != nil || strings.HasPrefix(pattern, "/w") || strings.HasPrefix(pattern, "~") {
			return
		}
		s, err := parsePatterns(scope, "", []string{pattern}, false)
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for i := range s.targets {
			target := &s.targets[i]
			if target.dir == name+"/" {
				return // doublestar also takes a directory that is named before ** for what is below it
			}
			if target.name != "" {
				got = got || name == target.path()
			} else if below, inside := strings.CutPrefix(name, target.dir); inside {
				got = got || target.only.match(path.Split(below))
			}
		}
		want := g.match(path.Split(name))
		if got != want && !strings.Contains(pattern, "./") {
			t.Errorf("%q on %q: %v, whole %v, targets %+v", pattern, name, got, want, s.targets)
		}
	})
}

// TestPathsMeanThemselves: a call that is given the path of a result means the file of that result.
func TestPathsMeanThemselves(t *testing.T) {
	tr := plant(t, map[string]string{"~/a.txt": "needle", "file:b.txt": "needle", "~c": "needle"})
	want := "./file:b.txt ./~/a.txt ~c"
	if _, got := tr.glob(t, map[string]any{"pattern": "**"}); strings.Join(got.Paths, " ") != want {
		t.Errorf("glob: %q", got.Paths)
	}
	text, got := tr.grep(t, map[string]any{"pattern": "needle", "output_mode": "files_with_matches"})
	if strings.Join(got.Files, " ") != want || text != strings.ReplaceAll(want, " ", "\n")+"\n" {
		t.Errorf("grep: %q, %q", got.Files, text)
	}
	for _, path := range got.Files {
		if _, got := tr.grep(t, map[string]any{"pattern": "needle", "path": path, "output_mode": "files_with_matches"}); len(got.Files) != 1 || got.Files[0] != path {
			t.Errorf("grep in %s: %q", path, got.Files)
		}
	}
}

// TestMisreadPatterns: a result says so if its pattern seems to name something, and does something else.
func TestMisreadPatterns(t *testing.T) {
	tr := plant(t, map[string]string{"!burnt!sushi/toml/a.go": "needle", "b.go": "needle"})
	const leavesOut = `[a pattern with ! leaves files out: to name !burnt!sushi, write \!burnt!sushi]` + "\n"
	for pattern, want := range map[string]string{
		"!burnt!sushi/toml/*.go":  "!burnt!sushi/toml/a.go\nb.go\n" + leavesOut,
		"!burnt!sushi":            "!burnt!sushi/toml/a.go\nb.go\n" + leavesOut,
		`\!burnt!sushi/toml/*.go`: "!burnt!sushi/toml/a.go\n",
		"*.go,!b.go":              "!burnt!sushi/toml/a.go\n",
		"!vendor":                 "!burnt!sushi/toml/a.go\nb.go\n",
	} {
		if got, _ := tr.glob(t, map[string]any{"pattern": pattern}); got != want {
			t.Errorf("glob %s: %q, want %q", pattern, got, want)
		}
		if got, _ := tr.grep(t, map[string]any{"pattern": "needle", "glob": pattern, "output_mode": "files_with_matches"}); got != want {
			t.Errorf("grep in %s: %q, want %q", pattern, got, want)
		}
	}
	for pattern, want := range map[string]string{
		"/etc/passwd": "[etc/passwd does not exist; a glob that begins with / is below the directory that is searched: name another directory in path]\n",
		"/b.go":       "b.go:1:needle\n",
		"etc/passwd":  "[etc/passwd does not exist]\n",
	} {
		if got, _ := tr.grep(t, map[string]any{"pattern": "needle", "glob": pattern}); !strings.HasSuffix(got, want) {
			t.Errorf("grep in %s: %q, want %q", pattern, got, want)
		}
	}
	scope := agenttool.Scope{Dir: tr.dir, Roots: []string{tr.dir}, Home: "/home/me"}
	call, err := tr.newGrep().Bind(scope, json.RawMessage(`{"pattern":"x","glob":"~/notes/*.md"}`))
	if err != nil || call.Facts().Reads[0].Absolute != "/home/me/notes" {
		t.Errorf("a glob below the home directory reads %v, %v", call.Facts().Reads, err)
	}
}

// TestLinksThatAGlobMatches: grep says that what its glob matches is a link, which it did not follow.
func TestLinksThatAGlobMatches(t *testing.T) {
	tr := plant(t, map[string]string{"AGENTS.md": "needle", "docs/a.md": "needle"})
	if err := os.Symlink("AGENTS.md", filepath.Join(tr.dir, "CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	const want = "No matches. Searched 0 files in the workspace.\n[CLAUDE.md is a link, which is followed only if path names it]\n"
	for _, pattern := range []string{"CLAUDE.md", "CLAUDE.*", "**/CLAUDE.md"} {
		if got, _ := tr.grep(t, map[string]any{"pattern": "needle", "glob": pattern}); got != want {
			t.Errorf("grep in %s: %q", pattern, got)
		}
	}
	if got, _ := tr.grep(t, map[string]any{"pattern": "needle", "path": "CLAUDE.md"}); got != "AGENTS.md:1:needle\n" {
		t.Errorf("grep in the path: %q", got)
	}
	if got, _ := tr.grep(t, map[string]any{"pattern": "nothing", "glob": "*.md"}); strings.Contains(got, "link") {
		t.Errorf("files were searched: %q", got)
	}
}
