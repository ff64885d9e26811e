package main

import (
	"strings"
	"testing"
)

// coverTable has ordinary spellings of what rules are about, and hostile neighbours of them. Its head says what its columns are.
const coverTable = "../../testdata/permissions/covers.tsv"

// TestRulesCoverWhatTheyMean: a rule covers a command however people spell it, and nothing beside it; a rule that denies sees through all
// spellings.
func TestRulesCoverWhatTheyMean(t *testing.T) {
	d := newDecider(t)
	var rows []decisionRow
	for _, cells := range tableLines(t, coverTable, 3) {
		rows = append(rows, decisionRow{id: cells[1], rules: cells[0], call: cells[1], behavior: cells[2], rule: "?"})
	}
	count, rules := map[string]int{}, map[string]bool{}
	for len(rows) > 0 {
		same := 1
		for same < len(rows) && rows[same].rules == rows[0].rules {
			same++
		}
		for i, got := range d.decideLines(t, rows[:same]) {
			rows[i].compare(t, d, got)
			count[rows[i].behavior]++
		}
		rules[rows[0].rules], rows = true, rows[same:]
	}
	if count["allow"] < 150 || count["ask"] < 150 || count["deny"] < 40 || len(rules) < 20 {
		t.Errorf("%d rows are allowed, %d ask, %d are denied, under %d lists of rules", count["allow"], count["ask"], count["deny"], len(rules))
	}
}

// TestSuggestionsAreGeneral: what is suggested for a spelling is the rule for the command, not for the spelling.
func TestSuggestionsAreGeneral(t *testing.T) {
	d := newDecider(t)
	for _, c := range []struct{ call, want string }{
		{"timeout 60 npm test", "Shell(npm test) | Shell(npm test *)"},
		{"nohup nice -n 5 npm test -- -u &", "Shell(npm test -- -u) | Shell(npm test *)"},
		{"bash -c 'npm test'", "Shell(npm test) | Shell(npm test *)"},
		{"env CI=1 npm test", "Shell(npm test) | Shell(npm test *)"},
		{"PORT=3000 npm start", "Shell(npm start) | Shell(npm start *)"},
		{"API_URL=http://x npm start", "Shell(API_URL=http://x npm start) | Shell(API_URL=* npm start *)"},
		{"PYTHONPATH=. pytest -x", "Shell(PYTHONPATH=. pytest -x) | Shell(PYTHONPATH=. pytest *)"},
		{"LD_PRELOAD=./x.so npm test", ""},
		{"PATH=.:$PATH npm test", ""},
		{"timeout 5 bash", ""},
		{"nice sudo npm test", ""},
		{"timeout 5 rm -rf src", ""},
		{`git -C sub commit -m "x $(date +%F)"`, "Shell(git commit *)"},
		{`git --no-pager -c color.ui=never tag v1`, "Shell(git tag v1) | Shell(git tag *)"},
		{`npm run build -- --tag="v$(git rev-parse HEAD)"`, "Shell(npm run build *)"},
	} {
		got := d.decideLines(t, []decisionRow{{id: c.call, call: c.call}})[0]
		var texts []string
		for _, suggestion := range got.Suggestions {
			if len(suggestion.Rules) > 0 {
				texts = append(texts, strings.Join(suggestion.Rules, " and "))
			}
		}
		if c.want == "" && strings.Contains(got.Reason, "a rule `Shell(") {
			t.Errorf("%s: the reason names a rule: %s", c.call, got.Reason)
		}
		if text := strings.Join(texts, " | "); text != c.want || got.Behavior != "ask" {
			t.Errorf("%s: %s, suggested is %q, want %q", c.call, got.Behavior, text, c.want)
		}
	}
}
