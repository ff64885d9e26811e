package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// completed returns the completions of the last of words, and their directive.
func completed(t *testing.T, words ...string) (offered []string, directive string) {
	t.Helper()
	root := newRoot()
	addCompletions(root)
	var out, errs bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		offered = append(offered, word)
	}
	return offered, lines[len(lines)-1]
}

const (
	pathsToo  = ":0"
	onlyThose = ":4"
	onlyDirs  = ":16"
)

func TestCompletion(t *testing.T) {
	for line, want := range map[string]struct {
		words     []string
		directive string
	}{
		"serve --mode a":             {[]string{"accept_edits"}, onlyThose},
		"serve --sandbox landlock":   {[]string{"landlock+notify", "landlock"}, onlyThose},
		"sandbox --level f":          {[]string{"full"}, onlyThose},
		"tools --format open":        {[]string{"openai"}, onlyThose},
		"call gr":                    {[]string{"grep"}, onlyThose},
		"check shell_":               {[]string{"shell_output", "shell_input", "shell_kill"}, onlyThose},
		"call grep ":                 {nil, onlyThose},
		"mcp-config clau":            {[]string{"claude", "claude-desktop"}, onlyThose},
		"setup cod":                  {[]string{"codex"}, onlyThose},
		"settings add-rule ":         {[]string{"allow", "ask", "deny"}, onlyThose},
		"settings add-rule allow ":   {nil, onlyThose},
		"approve --session n":        {[]string{"newest"}, onlyThose},
		"jobs --session n":           {[]string{"newest"}, onlyThose},
		"jobs kill j1 --signal K":    {[]string{"KILL"}, onlyThose},
		"serve --settings ":          {nil, pathsToo},
		"serve --workspace ":         {nil, onlyDirs},
		"trust ":                     {nil, pathsToo},
		"settings check ":            {nil, pathsToo},
		"serve --max-jobs ":          {nil, onlyThose},
		"version ":                   {nil, onlyThose},
		"log sh":                     {[]string{"show"}, onlyThose},
		"__connect a":                {nil, onlyThose},
		"serve --allow Shell --mode": {[]string{"--mode"}, onlyThose},
	} {
		words, directive := completed(t, strings.Split(line, " ")...)
		if !slices.Equal(words, want.words) || directive != want.directive {
			t.Errorf("%q: %q %s, want %q %s", line, words, directive, want.words, want.directive)
		}
	}
}

// TestCompletionDescribesSafely: text that an agent chose adds no word, reaches no terminal, and is short.
func TestCompletionDescribesSafely(t *testing.T) {
	for _, about := range []string{"a\nrm -rf x\ty", "\x1b]0;title\a\x1b[2J", strings.Repeat("x", 1<<16), "\xff\u202e"} {
		got := described("j1", about)
		if strings.ContainsAny(got, "\n\r\x1b\a\u202e") || strings.Count(got, "\t") != 1 || len(got) > 100 || !strings.HasPrefix(got, "j1\t") {
			t.Errorf("%.40q is described as %q", about, got)
		}
	}
}

// TestCompletionOfSessions completes ids of sessions that have a log, and of those that run with their jobs.
func TestCompletionOfSessions(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if words, _ := completed(t, "log", "show", ""); len(words) != 0 {
		t.Errorf("without a session: %q", words)
	}
	if words, _ := completed(t, "jobs", "tail", ""); len(words) != 0 {
		t.Errorf("without a job: %q", words)
	}
	dir := t.TempDir()
	root := newRoot()
	root.SetArgs([]string{"call", "glob", `{"pattern":"*"}`, "--workspace", dir})
	root.SetOut(&bytes.Buffer{})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if words, _ := completed(t, "log", "show", ""); len(words) != 1 || !strings.HasPrefix(words[0], "call-") {
		t.Errorf("with one session: %q", words)
	}
}
