package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host/hook"
)

// hookAnswers are the rows of the table of docs/hooks.md: for each what a hook does, hooks that do it.
var hookAnswers = map[string][]string{
	"no output, or texts only": {`["/bin/true"]`, `["/bin/echo", "{\"message\": \"hello\", \"additional_context\": [\"hello\"]}"]`},
	"`stop`":                   {`["/bin/echo", "{\"stop\": {\"reason\": \"REASON\"}}"]`},
	"`permission_result` deny": {`["/bin/echo", "{\"permission_result\": {\"behavior\": \"deny\", \"reason\": \"REASON\"}}"]`},
	"exit code 2":              {`["/bin/sh", "-c", "echo REASON >&2; exit 2"]`, `["/bin/sh", "-c", "echo '{}'; echo REASON >&2; exit 2"]`},
	"another exit code":        {`["/bin/sh", "-c", "echo REASON >&2; exit 1"]`, `["/bin/sh", "-c", "echo '{}'; exit 127"]`},
	"killed by a signal":       {`["/bin/sh", "-c", "kill -KILL $$"]`, `["/bin/sh", "-c", "kill -SEGV $$"]`},
	"too slow":                 {`["/bin/sleep", "60"], "timeout_ms": 100`, `["/bin/sh", "-c", "echo '{}'; exec sleep 60"], "timeout_ms": 100`},
	"no such program":          {`["/none/such"]`, `["/etc/passwd"]`, `["/"]`},
	"output that is no answer": {
		`["/bin/echo", "fine"]`, `["/bin/echo", "{\"stopp\": {}}"]`, `["/bin/echo", "{\"stop\": true}"]`, `["/bin/echo", "{\"stop\": {}} {}"]`, `["/bin/echo", "{\"stop\":"]`,
	},
	"more than 1 MiB": {`["/bin/sh", "-c", "head -c 2000000 /dev/zero"]`},
}

// TestHookAnswers: each answer of a hook has at each event the effect that docs/hooks.md gives, whatever the call.
func TestHookAnswers(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "hooks.md")
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \|((?: \**[a-z ]+\** \|){6})$`).FindAllStringSubmatch(page, -1)
	if len(rows) != len(hookAnswers) {
		t.Fatalf("the table has %d rows, and %d kinds of answers are tried", len(rows), len(hookAnswers))
	}
	_, header, _ := strings.Cut(page, "| a hook's answer |")
	header, _, _ = strings.Cut(header, "\n")
	events := regexp.MustCompile("[a-z_]+").FindAllString(header, -1)
	if len(events) != len(hook.Events) {
		t.Fatalf("the table has the events %s", events)
	}
	for _, row := range rows {
		commands, effects := hookAnswers[row[1]], strings.Split(strings.Trim(row[2], " |"), " | ")
		if len(commands) == 0 {
			t.Errorf("no hook does: %s", row[1])
		}
		for i, name := range events {
			event := hook.Event(name)
			for n, command := range commands {
				if n > 0 && !event.Before() || n > 0 && event != hook.PreToolUse && !long() {
					break // one of a kind shows it where all do the same
				}
				t.Run(fmt.Sprintf("%s/%s %d", event, row[1], n+1), func(t *testing.T) {
					t.Parallel()
					checkHookEffect(t, event, command, strings.Trim(effects[i], "*"))
				})
			}
		}
	}
}

// checkHookEffect makes a call that asks, to which a person says yes, under a hook.
func checkHookEffect(t *testing.T, event hook.Event, command, want string) {
	dir := t.TempDir()
	ws, home := filepath.Join(dir, "ws"), filepath.Join(dir, "home")
	settings := filepath.Join(home, ".config/toolhost/settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(ws, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, fmt.Appendf(nil, `{"hooks": {"%s": [{"command": %s}]}}`, event, command), 0o600); err != nil {
		t.Fatal(err)
	}
	keepLevel(t, filepath.Join(dir, "state"))
	line := "touch made"
	if event == hook.PostToolUseFailure {
		line += "; exit 3"
	}
	cmd := exec.Command("toolhost", "call", "--json", "--agreed", "test", "--workspace", ws, "shell", line)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "XDG_RUNTIME_DIR=" + dir, "TMPDIR=" + dir}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, _ := cmd.Output() // the call may fail
	var got struct {
		Result agenttool.Result `json:"result"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	_, err := os.Stat(filepath.Join(ws, "made"))
	ran, e := err == nil, got.Result.Error
	said := ""
	for _, c := range got.Result.Content {
		said += c.Text + "\n"
	}
	warned := strings.Contains(string(got.Result.Extra["warnings"]), "the "+string(event)+" hook")
	effect := map[string]bool{
		"runs":   ran && (e == nil) == (event != hook.PostToolUseFailure) && !warned && got.Result.Extra["stop"] == nil,
		"denies": !ran && e != nil && e.Class == agenttool.PermissionDenied && !warned,
		"blocks": !ran && e != nil && e.Class == agenttool.HookBlocked && !warned,
		"tells":  ran && got.Result.Extra["stop"] != nil && (event == hook.PostToolUseFailure || strings.Contains(said, "asks to stop here")),
		"warns":  ran && warned && strings.Contains(said, "the "+string(event)+" hook"),
	}
	if holds, known := effect[want]; !known || !holds {
		t.Errorf("%s: want %q; ran %t, error %+v, warned %t, it says\n%s", command, want, ran, e, warned, said)
	}
	if strings.Contains(command, "REASON") && slices.Contains([]string{"denies", "blocks", "tells"}, want) && !strings.Contains(said+string(got.Result.Extra["stop"]), "REASON") && !strings.Contains(command, "permission_result") {
		t.Errorf("%s: the reason is not told: %s", command, said)
	}
}
