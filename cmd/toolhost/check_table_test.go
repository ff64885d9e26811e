package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolhost/agenttool/cut"
	"toolhost/testdata/support/conform"
)

// The tables say what is decided, written from what rules and modes promise and not from what the code does. Columns of
// decisions.tsv, parted by tabs:
//
//	id        SECTION.NUMBER
//	mode      empty: default
//	rules     BEHAVIOR:RULE, parted by " ;; "
//	call      a shell command in which \n, \t and \r stand for the characters, or @TOOL PATH, or @TOOL {input}
//	behavior  allow, ask, deny; a|b where both keep the promise
//	rule      the text of the rule that decides, - for none, ? where it is not promised; a|b as above
//	note      what the row is about, or the published fault that it holds; one that begins with "gap: " says that the row is not
//	          held today: it is listed, and does not fail
//
// $WS, $OUT, $HOME and $BASE stand for the directories of the table, and @@N:TEXT@@ for TEXT N times.
const (
	decisionTable = "../../testdata/permissions/decisions.tsv"
	ruleTable     = "../../testdata/permissions/rules.tsv"
)

// decisionRow is one line of decisions.tsv.
type decisionRow struct {
	id, mode, rules, call, behavior, rule, note string
}

func (r decisionRow) section() string {
	section, _, _ := strings.Cut(r.id, ".")
	return section
}

// tool returns the tool and its input of a row that is no shell command.
func (r decisionRow) tool() (name, input string, ok bool) {
	rest, found := strings.CutPrefix(r.call, "@")
	name, input, _ = strings.Cut(rest, " ")
	return name, input, found && !strings.HasPrefix(rest, "@")
}

func decisionRows(t testing.TB) []decisionRow {
	t.Helper()
	var rows []decisionRow
	for _, cells := range tableLines(t, decisionTable, 7) {
		rows = append(rows, decisionRow{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6]})
	}
	return rows
}

// tableLines returns the cells of a table. Lines that begin with # are headings.
func tableLines(t testing.TB, name string, columns int) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines [][]string
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		cells := strings.Split(s.Text(), "\t")
		if len(cells) != columns {
			t.Fatalf("%s:%d: %d columns, want %d", name, n, len(cells), columns)
		}
		lines = append(lines, cells)
	}
	if s.Err() != nil || len(lines) == 0 {
		t.Fatalf("%s: %v, %d lines", name, s.Err(), len(lines))
	}
	return lines
}

// TestCheckTableIsSound: a table that lost its rows, or whose rows all say the same, would prove nothing.
func TestCheckTableIsSound(t *testing.T) {
	seen, wanted, sections := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, row := range decisionRows(t) {
		if seen[row.id] {
			t.Errorf("%s is there twice", row.id)
		}
		seen[row.id] = true
		wanted[row.behavior]++
		sections[row.section()]++
		for behavior := range strings.SplitSeq(row.behavior, "|") {
			if !slices.Contains([]string{"allow", "ask", "deny"}, behavior) {
				t.Errorf("%s: behavior %q", row.id, row.behavior)
			}
		}
		if row.rule == "" {
			t.Errorf("%s: no rule: write - for none", row.id)
		}
		if _, err := ruleArguments(row.rules); err != nil {
			t.Errorf("%s: %v", row.id, err)
		}
	}
	for _, behavior := range []string{"allow", "ask", "deny"} {
		if wanted[behavior] < 40 {
			t.Errorf("%d rows want %s: at least 40 must", wanted[behavior], behavior)
		}
	}
	if sections["everyday"] < 40 || sections["asks"] < 40 || sections["published"] < 40 || len(seen) < 2000 {
		t.Errorf("%d rows, of these everyday %d, asks %d, published %d", len(seen), sections["everyday"], sections["asks"], sections["published"])
	}
}

// ruleArguments writes the rules of a row as flags.
func ruleArguments(rules string) ([]string, error) {
	var args []string
	if rules == "" {
		return nil, nil
	}
	for rule := range strings.SplitSeq(rules, " ;; ") {
		behavior, text, ok := strings.Cut(rule, ":")
		if !ok || !slices.Contains([]string{"allow", "ask", "deny"}, behavior) {
			return nil, fmt.Errorf("rule %q: want allow:…, ask:… or deny:…", rule)
		}
		args = append(args, "--"+behavior, text)
	}
	return args, nil
}

// TestCheckTable asks the program itself about every row.
func TestCheckTable(t *testing.T) {
	t.Parallel()
	d := newDecider(t)
	bySection := map[string][]decisionRow{}
	var sections []string
	for _, row := range decisionRows(t) {
		if len(bySection[row.section()]) == 0 {
			sections = append(sections, row.section())
		}
		bySection[row.section()] = append(bySection[row.section()], row)
	}
	for _, section := range sections {
		t.Run(section, func(t *testing.T) {
			d.check(t, bySection[section])
		})
	}
}

var repetition = regexp.MustCompile(`@@(\d+):(.*?)@@`)

// repeated puts the text N times in the place of @@N:text@@.
func repeated(call string) string {
	return repetition.ReplaceAllStringFunc(call, func(found string) string {
		parts := repetition.FindStringSubmatch(found)
		n, _ := strconv.Atoi(parts[1])
		return strings.Repeat(parts[2], n)
	})
}

// compare reports where a decision is not what the row promises.
func (r decisionRow) compare(t testing.TB, d *decider, got decided) {
	t.Helper()
	said := fmt.Sprintf("%s: %s %q under %q: %s by %q (%s: %s); want %s by %s; %s", r.id, r.mode, cut.Characters(r.call, 200), r.rules,
		got.Behavior, got.Rule, got.ReasonType, cut.Characters(got.Reason, 200), r.behavior, r.rule, r.note)
	kept := slices.Contains(strings.Split(r.behavior, "|"), got.Behavior)
	switch {
	case strings.HasPrefix(r.note, "gap: "):
		if kept {
			t.Errorf("no gap any more: %s", said)
		} else {
			t.Log(said)
		}
	case !kept:
		t.Error(said)
	case got.Reason == "" || got.ReasonType == "":
		t.Errorf("no reason: %s", said)
	case (got.Rule == "") != (got.Source == ""):
		t.Errorf("a rule has a source, source %q: %s", got.Source, said)
	case !oneOfRules(d.replace.Replace(r.rule), got.Rule):
		t.Errorf("another rule: %s", said)
	}
}

// oneOfRules reports whether a rule is one of those that a row names.
func oneOfRules(wanted, rule string) bool {
	for want := range strings.SplitSeq(wanted, "|") {
		if want == "?" || want == rule || want == "-" && rule == "" {
			return true
		}
	}
	return false
}

// TestCheckSuggestions: what is suggested would have allowed the very call, is never more than five rules, and never allows a
// second command beside it.
func TestCheckSuggestions(t *testing.T) {
	t.Parallel()
	d := newDecider(t)
	rows := slices.DeleteFunc(decisionRows(t), func(row decisionRow) bool {
		_, _, isTool := row.tool()
		return row.section() != "asks" && row.section() != "published" || isTool || row.rules != "" || row.mode != ""
	})
	tried := 0
	for i, asked := range d.decideLines(t, rows) {
		for _, suggestion := range asked.Suggestions {
			if len(suggestion.Rules) == 0 { // a mode
				continue
			}
			tried++
			with := rows[i]
			with.rules = "allow:" + strings.Join(suggestion.Rules, " ;; allow:")
			beside := with
			beside.call += " ; another-program"
			got := d.decideLines(t, []decisionRow{with, beside})
			if got[0].Behavior != "allow" || len(suggestion.Rules) > 5 {
				t.Errorf("%s: %q is %s with what it suggests: %q", with.id, with.call, got[0].Behavior, suggestion.Rules)
			}
			if got[1].Behavior == "allow" {
				t.Errorf("%s: %q is allowed with %q", with.id, beside.call, suggestion.Rules)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d suggestions were made", tried)
	}
}

// TestCheckRuleTexts: which rules can be written, and what is said of those that cannot.
func TestCheckRuleTexts(t *testing.T) {
	d := newDecider(t)
	for _, cells := range tableLines(t, ruleTable, 4) {
		behavior, rule, want, word := cells[0], cells[1], cells[2], cells[3]
		out := d.run(t, "true\n", "check", "--lines", "--workspace", d.ws, "--"+behavior, rule)
		switch {
		case want == "ok" && out.Code != exitOK:
			t.Errorf("%s %q: exit %d: %s", behavior, rule, out.Code, out.Stderr)
		case want == "error" && out.Code != exitUsage:
			t.Errorf("%s %q: exit %d: %s; want an error", behavior, rule, out.Code, out.Stdout)
		case want == "error" && !strings.Contains(strings.ToLower(out.Stderr), strings.ToLower(word)):
			t.Errorf("%s %q: the error does not speak of %q: %s", behavior, rule, word, out.Stderr)
		}
	}
}

// TestCheckLayers: rules are weighed by what they say and never by where they stand, each decision names the place, and what a
// project brings along can only forbid.
func TestCheckLayers(t *testing.T) {
	conform.Held(t, "AT-153", "AT-156")
	d := newDecider(t)
	extra := filepath.Join(d.base, "extra.json")
	for path, text := range map[string]string{
		filepath.Join(d.home, ".config/toolhost/settings.json"): "{\n  \"permissions\": {\n    \"deny\": [\"Shell(rm *)\"],\n    \"ask\": [\"Shell(git push *)\"],\n    \"allow\": [\"Shell(npm *)\"]\n  }\n}\n",
		filepath.Join(d.ws, ".toolhost/settings.json"):          "{\n  \"permissions\": {\"deny\": [\"Shell(make deploy)\"], \"allow\": [\"Shell(make *)\", \"Read($OUT/**)\"]}\n}\n",
		extra: "{\"permissions\": {\"deny\": [\"Shell(npm publish *)\"], \"allow\": [\"Shell(cargo *)\", \"Shell(git push *)\"]}}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(d.replace.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if d.ordinary != nil {
		d.give(t)
	}
	for _, c := range []struct{ rules, call, behavior, rule, source, where string }{
		{"allow:Shell", "rm x", "deny", "Shell(rm *)", "user_settings", "settings.json:3"},
		{"allow:Shell(rm *)", "rm x", "deny", "Shell(rm *)", "user_settings", "settings.json:3"},
		{"allow:Shell", "git push", "ask", "Shell(git push *)", "user_settings", "settings.json:4"},
		{"", "npm test", "allow", "Shell(npm *)", "user_settings", "settings.json:5"},
		{"", "npm publish", "deny", "Shell(npm publish *)", "flag_settings", "extra.json:1"},
		{"deny:Shell(npm *)", "npm test", "deny", "Shell(npm *)", "cli_arg", ""},
		{"", "cargo build", "allow", "Shell(cargo *)", "flag_settings", "extra.json:1"},
		{"allow:Shell", "make deploy", "deny", "Shell(make deploy)", "project_settings", "settings.json:2"},
		{"", "make all", "ask", "", "", ""},
		{"", "cat $OUT/x.txt", "ask", "", "", ""},
	} {
		row := decisionRow{id: c.call, rules: c.rules, call: c.call}
		got := d.decideLines(t, []decisionRow{row}, "--settings", extra)[0]
		if got.Behavior != c.behavior || got.Rule != c.rule || got.Source != c.source || !strings.HasSuffix(got.Where, c.where) || (got.Where == "") != (c.where == "") {
			t.Errorf("%q under %q: %s by %q of %s at %q; want %s by %q of %s at %q", c.call, c.rules, got.Behavior, got.Rule, got.Source, got.Where,
				c.behavior, c.rule, c.source, c.where)
		}
	}
}
