package main

import (
	"strings"
	"testing"
)

const (
	evasionTable  = "../../testdata/classify/evasions.tsv"
	ordinaryTable = "../../testdata/classify/ordinary.tsv"
)

// denied is the rule under which the table of ordinary commands is decided. The sandbox holds it, too. read is one that the words of commands
// alone hold, since a star is in the program's name.
const (
	denied = "deny:Shell(rm *)"
	read   = "deny:Shell(rm* *)"
)

// caseRows reads a table whose columns are a command and its group, as rows for every mode.
func caseRows(t *testing.T, file, rules string, modes ...string) []decisionRow {
	t.Helper()
	var rows []decisionRow
	for _, mode := range modes {
		for _, cells := range tableLines(t, file, 2) {
			rows = append(rows, decisionRow{id: cells[1], mode: mode, rules: rules, call: cells[0]})
		}
	}
	return rows
}

// decideGroups decides about rows, those of one mode by one process.
func decideGroups(t *testing.T, d *decider, rows []decisionRow) []decided {
	t.Helper()
	var all []decided
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].mode == rows[0].mode && rows[n].rules == rows[0].rules {
			n++
		}
		all = append(all, d.decideLines(t, rows[:n])...)
		rows = rows[n:]
	}
	return all
}

// TestDeniedCommandsAreNotEvaded: while rm is denied, no line that may run it in a way of its own runs unasked where the sandbox does not hold the rule, whatever the mode, nor if
// a rule allows all commands.
func TestDeniedCommandsAreNotEvaded(t *testing.T) {
	t.Parallel()
	d := newDecider(t)
	rows := caseRows(t, evasionTable, read, "default", "accept_edits", "bypass", "dont_ask", "plan", "sandboxed")
	rows = append(rows, caseRows(t, evasionTable, "allow:Shell ;; "+read, "default")...)
	groups := map[string]int{}
	for i, got := range decideGroups(t, d, rows) {
		groups[rows[i].id]++
		if got.Behavior == "allow" {
			t.Errorf("%s: mode %s, %q: %q is allowed: %s", rows[i].id, rows[i].mode, rows[i].rules, rows[i].call, got.Reason)
		}
	}
	if len(rows) < 7*164 || len(groups) < 10 {
		t.Errorf("%d rows in %d groups", len(rows), len(groups))
	}
}

// TestDenyLeavesOrdinaryCommandsAlone: the rule changes nothing about commands of everyday work, which build and test the project.
func TestDenyLeavesOrdinaryCommandsAlone(t *testing.T) {
	t.Parallel()
	d := newDecider(t)
	if d.level != "full" {
		t.Skipf("the sandbox of this machine holds level %s: mode sandboxed asks about everything", d.level)
	}
	with := caseRows(t, ordinaryTable, denied, "sandboxed")
	without := decideGroups(t, d, caseRows(t, ordinaryTable, "", "sandboxed"))
	allowed := 0
	for i, got := range decideGroups(t, d, with) {
		if got.Behavior == "allow" {
			allowed++
		}
		if got.Behavior != without[i].Behavior {
			t.Errorf("%q: %s with %s, %s without: %s", with[i].call, got.Behavior, denied, without[i].Behavior, got.Reason)
		}
	}
	if allowed < 150 {
		t.Errorf("%d of %d commands run unasked", allowed, len(with))
	}
}

// TestAllowedWordsAreKnown: what a rule allows by its words is no unknown program any more, and nothing else is.
func TestAllowedWordsAreKnown(t *testing.T) {
	d := newDecider(t)
	rows := []decisionRow{
		{rules: "allow:Shell(./deploy.sh *) ;; " + read, call: "./deploy.sh now", behavior: "allow"},
		{rules: "allow:Shell(./deploy.sh *) ;; " + read, call: "./deploy.sh now; ./build.sh", behavior: "ask"},
		{rules: "allow:Shell(./deploy.sh *) ;; " + read, call: "BASH_ENV=x ./deploy.sh now", behavior: "ask"},
		{rules: "allow:Shell(./deploy.sh *) ;; " + read, call: "./build.sh", behavior: "ask"},
		{rules: "allow:Shell(frob *) ;; " + read, call: "frob x", behavior: "allow"},
		{rules: "allow:Shell(frob *) ;; " + read, call: "frob $(grob)", behavior: "ask"},
		{rules: "allow:Shell(frob *) ;; " + read, call: "frob x && rm x", behavior: "deny"},
	}
	for i, got := range decideGroups(t, d, rows) {
		if got.Behavior != rows[i].behavior {
			t.Errorf("%q under %q: %s, want %s: %s", rows[i].call, rows[i].rules, got.Behavior, rows[i].behavior, got.Reason)
		}
		if got.Behavior == "ask" && !strings.Contains(got.Reason, "it may run what is denied by") {
			t.Errorf("%q: the reason does not say what it may run: %s", rows[i].call, got.Reason)
		}
	}
}
