package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

func names(hooks []*Hook) string {
	var all []string
	for _, h := range hooks {
		all = append(all, h.Command[0])
	}
	return strings.Join(all, " ")
}

// TestMatching: by event, by tool without regard to case or by alias, by rule; in the order in which they are set.
func TestMatching(t *testing.T) {
	set, err := Compile([]Hook{
		{Event: PreToolUse, Command: []string{"any"}},
		{Event: PreToolUse, Command: []string{"star"}, Matcher: Matcher{Tool: "*"}},
		{Event: PreToolUse, Command: []string{"shell"}, Matcher: Matcher{Tool: "SHELL"}},
		{Event: PreToolUse, Command: []string{"bash"}, Matcher: Matcher{Tool: "Bash"}},
		{Event: PreToolUse, Command: []string{"push"}, Matcher: Matcher{Tool: "shell", Input: "Shell(git push *)"}},
		{Event: PreToolUse, Command: []string{"anypush"}, Matcher: Matcher{Input: "Shell(git push *)"}},
		{Event: PostToolUse, Command: []string{"after"}},
	}, map[string]string{"shell": "shell", "bash": "shell", "read": "read"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		event Event
		tool  string
		match bool
		want  string
	}{
		{"a tool", PreToolUse, "shell", false, "any star shell bash"},
		{"a tool and its input", PreToolUse, "shell", true, "any star shell bash push anypush"},
		{"another tool", PreToolUse, "read", true, "any star anypush"},
		{"another event", PostToolUse, "shell", true, "after"},
		{"an event without hooks", PermissionDecision, "shell", true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := set.For(c.event, c.tool, func(rule string) bool { return c.match && rule == "Shell(git push *)" })
			if names(got) != c.want {
				t.Errorf("hooks %q, want %q", names(got), c.want)
			}
			if set.Has(c.event) != (len(set.byEvent[c.event]) > 0) {
				t.Error("Has does not agree")
			}
		})
	}
}

// TestNoHooksCostNothing: an empty set is nil, and asking it allocates nothing.
func TestNoHooksCostNothing(t *testing.T) {
	set, err := Compile(nil, nil)
	if err != nil || set != nil {
		t.Fatalf("%v, %v", set, err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if set.Has(PreToolUse) || set.For(PreToolUse, "x", nil) != nil || set.Hooks() != nil {
			t.Error("there are hooks")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCompileRefuses: what cannot work is said when it is set, all of it, with its place.
func TestCompileRefuses(t *testing.T) {
	at := agenttool.Origin{Source: agenttool.SourceUser, File: "/home/me/settings.json", Line: 7}
	for _, c := range []struct {
		name string
		hook Hook
		want string
	}{
		{"no event", Hook{Command: []string{"x"}}, "there is no event"},
		{"an unknown event", Hook{Event: "PreToolUse", Command: []string{"x"}}, "the events are pre_tool_use, "},
		{"no command", Hook{Event: PreToolUse, Origin: at}, "(/home/me/settings.json:7): it has no command"},
		{"an empty program", Hook{Event: PreToolUse, Command: []string{""}}, "no command"},
		{"an unknown tool", Hook{Event: PreToolUse, Command: []string{"x"}, Matcher: Matcher{Tool: "shel"}}, `no tool "shel"`},
		{"NUL", Hook{Event: PreToolUse, Command: []string{"x", "a\x00b"}}, "NUL"},
		{"a tilde", Hook{Event: PreToolUse, Command: []string{"~/check"}}, "whole path"},
		{"a program of any workspace", Hook{Event: PreToolUse, Command: []string{"./check"}, Origin: at}, "absolute path"},
		{"a negative timeout", Hook{Event: PreToolUse, Command: []string{"x"}, Timeout: -1}, "timeout"},
		{"a long timeout", Hook{Event: PreToolUse, Command: []string{"x"}, Timeout: time.Hour}, "timeout"},
		{"a relative directory", Hook{Event: PreToolUse, Command: []string{"x"}, Dir: "sub"}, "absolute"},
		{"a variable of ours", Hook{Event: PreToolUse, Command: []string{"x"}, Env: map[string]string{"TOOLHOST_SESSION": "x"}}, "TOOLHOST_SESSION"},
		{"a variable that is none", Hook{Event: PreToolUse, Command: []string{"x"}, Env: map[string]string{"A=B": "x"}}, "A=B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := Hook{Event: PreToolUse, Command: []string{"x"}}
			set, err := Compile([]Hook{good, c.hook, good}, map[string]string{"shell": "shell"})
			if err == nil || set != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want an error with %q", set, err, c.want)
			}
		})
	}
	_, err := Compile([]Hook{{}, {Event: PreToolUse}}, nil)
	if n := strings.Count(err.Error(), "\n"); n != 1 {
		t.Errorf("not all is said: %v", err)
	}
	if _, err := Compile(make([]Hook, maxHooks+1), nil); err == nil || !strings.Contains(err.Error(), "at most 100") {
		t.Errorf("too many: %v", err)
	}
}

// TestName: what a message shows of a command cannot deceive.
func TestName(t *testing.T) {
	h := Hook{Command: []string{"./check", "a b", "it's", "\u202egnp.exe", "x\ny", strings.Repeat("z", 500)}, Origin: agenttool.Origin{File: "/s.json", Line: 3}}
	got := h.Name()
	if !strings.HasPrefix(got, `./check 'a b' 'it'\''s' \u{202e}gnp.exe 'x\ny' zzz`) || !strings.HasSuffix(got, "left out] (/s.json:3)") {
		t.Errorf("name %s", got)
	}
}

// TestEnviron: built, not inherited; programs of the workspace answer to no name.
func TestEnviron(t *testing.T) {
	host := []string{"PATH=/ws/bin:/usr/bin::.:bin:/ws:/opt/ws/bin:/wsx", "HOME=/home/me", "HOME=/evil", "AWS_SECRET_ACCESS_KEY=s", "LC_ALL=C", "BASH_ENV=/x", "LD_PRELOAD=/y", "USER=me", "TERM=xterm", "TZ=\x00"}
	got := environ(host, "/ws", map[string]string{"TZ": "UTC", "USER": "other"}, "TOOLHOST_SESSION=s")
	want := []string{"HOME=/home/me", "LC_ALL=C", "PATH=/usr/bin:/opt/ws/bin:/wsx", "TERM=dumb", "TOOLHOST_SESSION=s", "TZ=UTC", "USER=other"}
	if !slices.Equal(got, want) {
		t.Errorf("environment\n%q, want\n%q", got, want)
	}
	if got := environ([]string{"PATH=.:/ws"}, "/ws", nil); !slices.Contains(got, "PATH="+defaultPath) {
		t.Errorf("environment %q", got)
	}
}

// TestFiles: the files of the workspace that hooks run, and no others.
func TestFiles(t *testing.T) {
	ws := t.TempDir()
	for _, name := range []string{"check.sh", "lib.py", "data"} {
		if err := os.WriteFile(filepath.Join(ws, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := Compile([]Hook{
		{Event: PreToolUse, Command: []string{"./check.sh", "data.json"}},
		{Event: PreToolUse, Command: []string{"python3", "lib.py", ".", "-v", "/etc/passwd", "../x"}},
		{Event: PostToolUse, Command: []string{filepath.Join(ws, "check.sh")}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(ws, "check.sh"), filepath.Join(ws, "lib.py")}
	if got := set.Files(ws); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}
