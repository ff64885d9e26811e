package main

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/permissions"
)

// TestHeldRuleDoesNotAsk: a rule that denies a whole program makes no command of everyday reading or work ask that ran unasked without it,
// since the sandbox holds the rule. The same rule for a program with a star in its name, which the sandbox does not hold, makes some ask.
func TestHeldRuleDoesNotAsk(t *testing.T) {
	lines := map[string][]string{}
	for _, cells := range tableLines(t, "../../testdata/classify/readers.txt", 1) {
		lines["readers"] = append(lines["readers"], cells[0])
	}
	for _, w := range slices.Concat(gitWork(), approvedWork(), sessionWork(), toolchainWork(), systemWork()) {
		for _, s := range w.steps {
			if !strings.HasPrefix(s.in, "@") && s.finding == "" {
				lines["work"] = append(lines["work"], s.in)
			}
		}
	}
	const held, read = "Shell(rm *)", "Shell(rm* *)"
	asks := map[string][]bool{}
	for _, rule := range []string{"", held, read} {
		flags := policy.Flags{Mode: string(permissions.Sandboxed)}
		if rule != "" {
			flags.Deny = []string{rule}
		}
		j := readersWorkspace(t, flags)
		for _, set := range []string{"readers", "work"} {
			for _, line := range lines[set] {
				asks[set+rule] = append(asks[set+rule], j.decide(t, line).Behavior == agenttool.Ask)
			}
		}
	}
	for _, set := range []string{"readers", "work"} {
		count := map[string]int{}
		for i, line := range lines[set] {
			for _, rule := range []string{held, read} {
				if asks[set+rule][i] && !asks[set][i] {
					count[rule]++
					if rule == held {
						t.Logf("%s asks because of %s: %s", set, rule, line)
					}
				}
			}
		}
		t.Logf("%s: of %d, %d ask because of %s, and %d because of %s", set, len(lines[set]), count[held], held, count[read], read)
		if count[held]*100 > len(lines[set]) || count[read] == 0 {
			t.Errorf("%s: %d ask because of a rule that is held, %d because of one that is not", set, count[held], count[read])
		}
		if len(lines[set]) < 100 {
			t.Errorf("%s has %d lines", set, len(lines[set]))
		}
	}
}
