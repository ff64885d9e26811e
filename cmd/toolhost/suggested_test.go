package main

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/permissions"
	"toolhost/sandbox"
)

// suggestedRows are commands that ask, and the rules that are offered: the narrowest, then wider ones, parted by " | ", and those of one
// offer by " + ". None is - .
var suggestedRows = [][2]string{
	{"npx prettier --check .", "Shell(npx prettier --check .) | Shell(npx prettier *)"},
	{"npx -y cowsay hi", "Shell(npx -y cowsay hi) | Shell(npx -y cowsay *)"},
	{"npx eslint src && npx tsc --noEmit", "Shell(npx eslint src) + Shell(npx tsc --noEmit) | Shell(npx eslint *) + Shell(npx tsc *)"},
	{"npx cross-env A=1 rm x", "Shell(npx cross-env A=1 rm x)"},
	{"npx -c 'rm x'", "-"},
	{"npx bash x", "-"},
	{"npx --package x rm", "-"},
	{"npx", "-"},
	{"source .venv/bin/activate && pytest -q", "Shell(source .venv/bin/activate) + Shell(pytest -q) | Shell(source .venv/bin/activate) + Shell(pytest *)"},
	{". venv/bin/activate && python -m pytest tests", "Shell(. venv/bin/activate) + Shell(python -m pytest tests) | Shell(. venv/bin/activate) + Shell(python -m pytest *)"},
	{"source scripts/build.sh", "-"},
	{"source ../x/bin/activate", "-"},
	{"cat /nowhere/x/a.txt | sort | head -3", "Read(/nowhere/x/a.txt) | Read(/nowhere/x/**)"},
	{"diff /nowhere/x/a.txt /nowhere/x/b.txt", "Read(/nowhere/x/a.txt) + Read(/nowhere/x/b.txt) | Read(/nowhere/x/**)"},
	{"cd /nowhere/x && wc -l a b c d e f", "Read(/nowhere/x) + Read(/nowhere/x/**)"},
	{"cat /nowhere/a.txt", "Read(/nowhere/a.txt)"},
	{"cat /home/other/a.txt", "Read(/home/other/a.txt)"},
	{"cat /nowhere/.x/a.txt", "Read(/nowhere/.x/a.txt)"},
	{"curl -s https://example.com/a.json | jq .x | head", "Shell(curl -s https://example.com/a.json)"},
	{`git commit -m 'one\n\ntwo'`, "Shell(git commit -m *) | Shell(git commit *)"},
	{`git commit -am 'one\ntwo'`, "Shell(git commit -am *) | Shell(git commit *)"},
	{"git commit -m one", "Shell(git commit -m one) | Shell(git commit *)"},
	{"python3 -m unittest", "Shell(python3 -m unittest) | Shell(python3 -m unittest *)"},
	{"python3 -m unittest discover -s tests", "Shell(python3 -m unittest discover -s tests) | Shell(python3 -m unittest *)"},
	{"python3 -m http.server", "Shell(python3 -m http.server)"},
	{"python3 -m pdb x.py", "Shell(python3 -m pdb x.py)"},
	{"python3 -c 'print(1)'", "Shell(python3 -c 'print(1)')"},
	{"node -e 'console.log(1)'", "Shell(node -e 'console.log(1)')"},
	{"bash -c 'x y'", "Shell(x y)"},
	{`python3 - <<'X'\nprint(1)\nX`, "-"},
	{`bash <<'X'\nmake\nX`, "-"},
	{"bash -s x", "-"},
	{"python3 -u", "-"},
	{"cat a | sh -e", "-"},
	{"node --test", "Shell(node --test)"},
	{"sed -i s/a/b/ go.mod", "Shell(sed -i s/a/b/ go.mod) + Write(go.mod)"},
	{"timeout 60 go test ./...", "Shell(go test ./...) | Shell(go test *)"},
	{"env A=1 go test ./...", "Shell(A=1 go test ./...) | Shell(A=* go test *)"},
	{"timeout 5 rm x", "-"},
	{"sudo make", "-"},
	{"rm -rf build", "-"},
	{"find . -name '*.pyc' | xargs rm", "-"},
	{"make test 2>&1 | tail -20", "Shell(make test) | Shell(make *)"},
}

// TestSuggestedRules: what is offered for a command allows that very command, and is never an interpreter, or rm, with any words.
func TestSuggestedRules(t *testing.T) {
	j := newJudge(t, permissions.Default)
	for _, row := range suggestedRows {
		command, want := row[0], row[1]
		d := j.decide(t, command)
		var offers []string
		for _, update := range d.SuggestedUpdates {
			if update.Mode != "" {
				continue // TestModesAreSuggested
			}
			offers = append(offers, strings.Join(update.Rules, " + "))
			if len(update.Rules) > 5 {
				t.Errorf("%q: %d rules", command, len(update.Rules))
			}
			for _, bare := range []string{"Shell(npx *)", "Shell(python3 *)", "Shell(python *)", "Shell(python3 -m *)", "Shell(rm *)", "Shell(source *)"} {
				if slices.Contains(update.Rules, bare) {
					t.Errorf("%q: offered is %s", command, bare)
				}
			}
			if got := j.with(t, update.Rules).decide(t, command); got.Behavior != agenttool.Allow {
				t.Errorf("%q: %s with %q: %v", command, got.Behavior, update.Rules, got.Reason)
			}
		}
		got := strings.Join(offers, " | ")
		if got == "" {
			got = "-"
		}
		if d.Behavior == agenttool.Allow || got != want {
			t.Errorf("%q %s: offered is %s, want %s", command, d.Behavior, got, want)
		}
	}
}

// with is a judge in the same workspace who knows further rules.
func (j *judge) with(t testing.TB, rules []string) *judge {
	t.Helper()
	s, err := session.NewChecker(session.Options{Workspace: j.ws, Policy: policy.Flags{Mode: string(permissions.Default), Allow: rules}, Log: logLine}, sandbox.Full)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &judge{s, j.ws}
}
