package main

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// decider is a workspace, a home and a directory that is nobody's, and the program that decides about calls in them.
type decider struct {
	base, ws, home, out, toolhost string
	level                         string // what the machine's sandbox holds
	ordinary                      *syscall.Credential
	replace                       *strings.Replacer
	commands                      *commandLines
}

// deciderUser has no name, no groups and no files on any machine.
const deciderUser = 61234

func newDecider(t testing.TB) *decider {
	t.Helper()
	if underRace {
		t.Skip("one goroutine decides about one row after the other: the ordinary run shows it")
	}
	base := deciderDir(t)
	d := &decider{
		base: base, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home"), out: filepath.Join(base, "out"),
		toolhost: filepath.Join(base, "bin", "toolhost"),
	}
	d.replace = strings.NewReplacer("$WS", d.ws, "$HOME", d.home, "$OUT", d.out, "$BASE", d.base)
	d.furnish(t)
	copySelf(t, d.toolhost)
	if os.Geteuid() == 0 {
		d.ordinary = &syscall.Credential{Uid: deciderUser, Gid: deciderUser}
		d.give(t)
	}
	d.commands = startCommandLines(t, d.command(manyCommands))
	d.level = d.holds(t)
	return d
}

// deciderDir makes a directory outside /tmp, which commands see otherwise, without links and readable for everybody.
func deciderDir(t testing.TB) string {
	t.Helper()
	cache, _ := os.UserCacheDir()
	for _, parent := range []string{"/srv", "/var/lib", cache} {
		dir, err := os.MkdirTemp(parent, "toolhost-check-")
		if parent == "" || err != nil {
			continue
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			err = os.Chmod(real, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		return real
	}
	t.Fatal("there is no place for a workspace outside /tmp")
	return ""
}

// furnished are the files of the table's world, in its base, and the links with where they lead. A name that ends in a slash is
// a directory.
var furnished = map[string]string{
	"bin/": "", "run/toolhost/": "", "beside.txt": "beside\n",
	"ws/.git/HEAD": "ref: refs/heads/main\n", "ws/.git/config": "[core]\n\trepositoryformatversion = 0\n", "ws/.git/objects/": "",
	"ws/.git/refs/heads/": "", "ws/.git/hooks/": "", "ws/.git/info/": "",
	"ws/README.md": "# x\n", "ws/Makefile": "all:\n", "ws/package.json": "{\"name\":\"x\"}\n", "ws/go.mod": "module x\n",
	"ws/main.go": "package main // TODO\n", "ws/main_test.go": "package main\n", "ws/a.txt": "a\n", "ws/b.txt": "b\n", "ws/notes.md": "x\n",
	"ws/list": "a.txt\n", "ws/deploy.sh": "#!/bin/sh\n", "ws/build.sh": "#!/bin/sh\n", "ws/with space.txt": "x\n", "ws/a.tar": "", "ws/a.zip": "",
	"ws/src/a.go": "package src // a\n", "ws/src/b.go": "package src\n", "ws/src/deep/x.txt": "x\n", "ws/sub/c.txt": "c\n",
	"ws/sub/.env": "KEY=1\n", "ws/docs/guide.md": "x\n", "ws/secrets/key.txt": "x\n", "ws/secretsx": "x\n", "ws/out/kept": "x\n",
	"ws/.env": "KEY=1\n", "ws/.env.local": "KEY=1\n", "ws/.env.example": "KEY=\n", "ws/.gitignore": "*.o\n", "ws/.bashrc": "\n",
	"ws/.vscode/settings.json": "{}\n", "ws/.claude/": "", "ws/.husky/": "",
	"ws-evil/x.txt": "x\n", "ws-evil/src/": "", "out/x.txt": "x\n", "out/deep/y.txt": "y\n", "out/deploy.sh": "#!/bin/sh\n", "out-evil/x.txt": "x\n",
	"home/.ssh/id_rsa": "key\n", "home/.bashrc": "\n", "home/notes.txt": "x\n", "home/.aws/credentials": "x\n", "home/.netrc": "x\n",
	"home/.config/toolhost/": "", "home/.local/state/toolhost/x": "x\n",
}

var furnishedLinks = map[string]string{
	"ws/link-in": "src", "ws/link-out": "$OUT", "ws/link-file": "src/a.go", "ws/link-env": ".env", "ws/dangling": "$OUT/new",
}

func (d *decider) furnish(t testing.TB) {
	t.Helper()
	for name, text := range furnished {
		path, err := filepath.Join(d.base, name), error(nil)
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range furnishedLinks {
		if err := os.Symlink(d.replace.Replace(target), filepath.Join(d.base, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// give makes everything the ordinary user's.
func (d *decider) give(t testing.TB) {
	t.Helper()
	err := filepath.WalkDir(d.base, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, deciderUser, deciderUser)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// command is the program with arguments. Root runs it as an ordinary user: a person is not root, and mode bypass is not for root.
func (d *decider) command(args ...string) *exec.Cmd {
	cmd := exec.Command(d.toolhost, args...)
	cmd.Dir = d.ws
	cmd.Env = []string{"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + d.home, "XDG_RUNTIME_DIR=" + filepath.Join(d.base, "run"), "LANG=C.UTF-8"}
	if d.ordinary != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: d.ordinary}
	}
	return cmd
}

// holds asks what the sandbox of this machine holds.
func (d *decider) holds(t testing.TB) string {
	t.Helper()
	out, err := d.command("doctor", "--json").Output()
	var found struct {
		Sandbox struct{ Level string }
	}
	if json.Unmarshal(out, &found) != nil || found.Sandbox.Level == "" {
		t.Fatalf("doctor: %v\n%s", err, out)
	}
	return found.Sandbox.Level
}

// run runs one command line of the program. All of a decider are run by one process, one after the other.
func (d *decider) run(t testing.TB, stdin string, args ...string) commandOutput {
	t.Helper()
	return d.commands.run(t, commandLine{Args: args, Stdin: stdin})
}

// decided is what the program says of one call.
type decided struct {
	Command     string          `json:"command"`
	Behavior    string          `json:"behavior"`
	Rule        string          `json:"rule"`
	Source      string          `json:"source"`
	Where       string          `json:"where"`
	Reason      string          `json:"reason"`
	ReasonType  string          `json:"reason_type"`
	Suggestions []suggestedLine `json:"suggestions"`
}

type suggestedLine struct {
	Rules []string `json:"rules"`
}

// check decides about rows, those with the same rules and mode by one command.
func (d *decider) check(t *testing.T, rows []decisionRow) {
	groups := map[[2]string][]decisionRow{}
	for _, row := range rows {
		if row.mode == "sandboxed" && d.level != "full" {
			t.Logf("%s: skipped: the sandbox of this machine holds level %s", row.id, d.level)
			continue
		}
		if name, input, ok := row.tool(); ok {
			row.compare(t, d, d.decideTool(t, row, name, input))
			continue
		}
		key := [2]string{row.mode, row.rules}
		groups[key] = append(groups[key], row)
	}
	for _, key := range slices.SortedFunc(maps.Keys(groups), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		for i, got := range d.decideLines(t, groups[key]) {
			groups[key][i].compare(t, d, got)
		}
	}
}

// flags are what rows with these rules and this mode are decided under.
func (d *decider) flags(t testing.TB, row decisionRow) []string {
	t.Helper()
	flags, err := ruleArguments(d.replace.Replace(row.rules))
	if err != nil {
		t.Fatalf("%s: %v", row.id, err)
	}
	if row.mode != "" {
		flags = append(flags, "--mode", row.mode)
	}
	return append(flags, "--workspace", d.ws)
}

// decideLines decides about the commands of rows that have the same rules and mode.
func (d *decider) decideLines(t testing.TB, rows []decisionRow, flags ...string) []decided {
	t.Helper()
	var in strings.Builder
	for _, row := range rows {
		in.WriteString(repeated(d.replace.Replace(row.call)) + "\n")
	}
	out := d.run(t, in.String(), slices.Concat([]string{"check", "--lines"}, d.flags(t, rows[0]), flags)...)
	if out.Code != exitOK {
		t.Fatalf("%s and others: exit %d: %s", rows[0].id, out.Code, out.Stderr)
	}
	var all []decided
	for line := range strings.Lines(out.Stdout) {
		var one decided
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s and others: %v: %s", rows[0].id, err, line)
		}
		all = append(all, one)
	}
	if len(all) != len(rows) {
		t.Fatalf("%s and others: %d answers to %d commands", rows[0].id, len(all), len(rows))
	}
	return all
}

// exitOf is how check of one call ends.
var exitOf = map[string]int{"allow": 0, "deny": 3, "ask": 4}

// decideTool decides about one call of a tool.
func (d *decider) decideTool(t testing.TB, row decisionRow, name, input string) decided {
	t.Helper()
	input = d.replace.Replace(input)
	if !strings.HasPrefix(input, "{") {
		fields := map[string]string{"path": input}
		if name == "write" {
			fields["content"] = "x\n"
		}
		encoded, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		input = string(encoded)
	}
	out := d.run(t, "", append([]string{"check", name, input, "--json"}, d.flags(t, row)...)...)
	var one decided
	if err := json.Unmarshal([]byte(out.Stdout), &one); err != nil {
		t.Errorf("%s: exit %d: %v: %s%s", row.id, out.Code, err, out.Stderr, out.Stdout)
		return one
	}
	if out.Code != exitOf[one.Behavior] {
		t.Errorf("%s: %s, and check ends with %d, want %d: %s", row.id, one.Behavior, out.Code, exitOf[one.Behavior], out.Stderr)
	}
	return one
}
