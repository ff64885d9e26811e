package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// edits are files, and what becomes of them when allow NEW is added.
var edits = []struct{ name, before, after string }{
	{"empty object", "{}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"NEW\"\n    ]\n  }\n}"},
	{"empty object with a comment", "{\n  // nothing yet\n}\n", "{\n  // nothing yet\n  \"permissions\": {\n    \"allow\": [\n      \"NEW\"\n    ]\n  }\n}\n"},
	{"no permissions", "{\n    \"mode\": \"plan\" // why\n}\n",
		"{\n    \"mode\": \"plan\", // why\n    \"permissions\": {\n        \"allow\": [\n            \"NEW\"\n        ]\n    }\n}\n"},
	{"no list", "{\n\t\"permissions\": {\n\t\t\"deny\": [\"d\"], // never\n\t},\n}\n",
		"{\n\t\"permissions\": {\n\t\t\"deny\": [\"d\"], // never\n\t\t\"allow\": [\n\t\t\t\"NEW\"\n\t\t],\n\t},\n}\n"},
	{"empty permissions", "{\n  \"permissions\": {}\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"NEW\"\n    ]\n  }\n}"},
	{"empty list", "{\n  \"permissions\": {\n    \"allow\": []\n  }\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"NEW\"\n    ]\n  }\n}"},
	{"empty list with comments", "{\n  \"permissions\": {\n    \"allow\": [ // one\n      /* two */ // three\n    ]\n  }\n}",
		"{\n  \"permissions\": {\n    \"allow\": [ // one\n      /* two */ // three\n      \"NEW\"\n    ]\n  }\n}"},
	{"list", "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\"\n    ]\n  }\n}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\",\n      \"NEW\"\n    ]\n  }\n}"},
	{"list with a last comma", "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\", // of a\n      // the end\n    ]\n  }\n}",
		"{\n  \"permissions\": {\n    \"allow\": [\n      \"a\", // of a\n      \"NEW\",\n      // the end\n    ]\n  }\n}"},
	{"list with a comment behind", "{\n  \"permissions\": {\n    \"allow\": [\n      \"a\" // of a\n      // the end\n    ]\n  }\n}",
		"{\n  \"permissions\": {\n    \"allow\": [\n      \"a\", // of a\n      \"NEW\"\n      // the end\n    ]\n  }\n}"},
	{"list with a comment of two lines", "{\"permissions\": {\"allow\": [\n  \"a\" /* of\n a */ // and\n]}}", "{\"permissions\": {\"allow\": [\n  \"a\", /* of\n a */ // and\n  \"NEW\"\n]}}"},
	{"comma in the next line", "{\"permissions\": {\"allow\": [\n  \"a\" // x\n  , // y\n]}}", "{\"permissions\": {\"allow\": [\n  \"a\" // x\n  , // y\n  \"NEW\",\n]}}"},
	{"one line", `{"permissions": {"allow": ["a"]}}`, `{"permissions": {"allow": ["a", "NEW"]}}`},
	{"one line with a last comma", `{"permissions": {"allow": ["a",]}}`, `{"permissions": {"allow": ["a", "NEW",]}}`},
	{"one line with comments", `{"permissions": {"allow": [ "a" /* x */ ]}}`, `{"permissions": {"allow": [ "a" /* x */, "NEW" ]}}`},
	{"one line, comment to its end", "{\"permissions\": {\"allow\": [\"a\" // x\n]}}", "{\"permissions\": {\"allow\": [\"a\", \"NEW\" // x\n]}}"},
	{"one line without a list", `{"permissions": {"deny": ["a"]}}`, `{"permissions": {"deny": ["a"], "allow": ["NEW"]}}`},
	{"one line without permissions", `{"mode": "plan"}`, `{"mode": "plan", "permissions": {"allow": ["NEW"]}}`},
	{"objects", "{\n \"permissions\": {\n  \"allow\": [\n   {\n    \"rule\": \"a\"\n   }\n  ]\n }\n}", "{\n \"permissions\": {\n  \"allow\": [\n   {\n    \"rule\": \"a\"\n   },\n   \"NEW\"\n  ]\n }\n}"},
	{"CRLF", "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"a\" // x\r\n    ]\r\n  }\r\n}\r\n",
		"{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"a\", // x\r\n      \"NEW\"\r\n    ]\r\n  }\r\n}\r\n"},
	{"byte order mark", "\ufeff{\"permissions\": {\"allow\": []}}", "\ufeff{\"permissions\": {\"allow\": [\n  \"NEW\"\n]}}"},
	{"last comment without a line feed", "{\"permissions\": {\"allow\": [\"a\"]}} // end", "{\"permissions\": {\"allow\": [\"a\", \"NEW\"]}} // end"},
	{"comments around", "// top\n{ // open\n  // before\n  \"permissions\": { /* in */ \"allow\": [\"a\"] /* behind */ }, // after\n} // close\n",
		"// top\n{ // open\n  // before\n  \"permissions\": { /* in */ \"allow\": [\"a\", \"NEW\"] /* behind */ }, // after\n} // close\n"},
	{"brackets in texts", `{"permissions": {"deny": ["]}"], /* ]} */ "allow": ["\"]"]}}`, `{"permissions": {"deny": ["]}"], /* ]} */ "allow": ["\"]", "NEW"]}}`},
	{"there already", "{\"permissions\": {\"allow\": [ {\"rule\":\"NEW\"} ]}}", "{\"permissions\": {\"allow\": [ {\"rule\":\"NEW\"} ]}}"},
	{"there with blanks", "{\"permissions\": {\"allow\": [ \" NEW \" ]}}", "{\"permissions\": {\"allow\": [ \" NEW \" ]}}"},
	{"denied", `{"permissions": {"deny": ["NEW"], "allow": ["a"]}}`, `{"permissions": {"deny": ["NEW"], "allow": ["a", "NEW"]}}`},
	{"escaped names", `{"permi\u0073sions": {"\u0061llow": ["a"]}}`, `{"permi\u0073sions": {"\u0061llow": ["a", "NEW"]}}`},
}

func TestAddRuleKeepsTheRest(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(p.User, c.before)
			p.must(AddRule(p.User, agenttool.Allow, "NEW", time.Time{}))
			got, err := os.ReadFile(p.User)
			if p.must(err); string(got) != c.after {
				t.Errorf("got\n%q\nwant\n%q", got, c.after)
			}
			p.must(AddRule(p.User, agenttool.Allow, " NEW\n", p.Now()))
			if again, _ := os.ReadFile(p.User); string(again) != string(got) {
				t.Errorf("added again:\n%s", again)
			}
			if left, _ := os.ReadDir(filepath.Dir(p.User)); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestRemoveRuleUndoesAddRule takes out what was put in; where the list was not empty, the file is as before.
func TestRemoveRuleUndoesAddRule(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(p.User, c.after)
			removed, err := removeRule(p.User, agenttool.Allow, "NEW")
			if p.must(err); !removed {
				t.Fatal("it was not there")
			}
			for _, text := range texts(p.load(), agenttool.Allow) {
				if text == "NEW" {
					t.Error("it is still there")
				}
			}
			got, err := os.ReadFile(p.User)
			if p.must(err); strings.Contains(c.before, `"a"`) && strings.Contains(c.before, "allow\"") && plainJSON(t, got) != plainJSON(t, []byte(c.before)) {
				t.Errorf("got\n%s\nwant\n%s", got, c.before)
			}
			if removed, err := removeRule(p.User, agenttool.Allow, "NEW"); removed || err != nil {
				t.Errorf("removed again: %v, %v", removed, err)
			}
		})
	}
}

func TestRemoveRule(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"the first", "[\n  \"x\",\n  \"b\"\n]", "[\n  \"b\"\n]"},
		{"the middle", "[\n  \"a\",\n  \"x\", // of x\n  \"b\"\n]", "[\n  \"a\",\n  \"b\"\n]"},
		{"the last", "[\n  \"a\", // of a\n  \"x\" // of x\n  // end\n]", "[\n  \"a\" // of a\n  // end\n]"},
		{"the last with a comma", "[\n  \"a\",\n  \"x\",\n]", "[\n  \"a\",\n]"},
		{"the only one", "[\n  \"x\"\n]", "[\n]"},
		{"the only one with a comma", "[\"x\",]", "[]"},
		{"all of several", "[\"x\", \"a\", \"x\", {\"rule\": \"x\"}]", "[\"a\"]"},
		{"several at the end", "[\"a\", \"x\", \"x\"]", "[\"a\"]"},
		{"nothing but several", "[\"x\", \"x\"]", "[]"},
		{"several in lines", "[\n  \"x\",\n  \"x\",\n  \"a\",\n  \"x\"\n]", "[\n  \"a\"\n]"},
		{"two in a line", "[\n  \"x\", \"a\"\n]", "[\n  \"a\"\n]"},
		{"an object of lines", "[\n  {\n    \"rule\": \"x\",\n  }, // y\n  \"a\"\n]", "[\n  \"a\"\n]"},
		{"a comment above", "[\n  // of x\n  \"x\",\n  \"a\"\n]", "[\n  // of x\n  \"a\"\n]"},
		{"a comment between", "[\"a\" /* of a */, \"x\" /* of x */]", "[\"a\" /* of a */ /* of x */]"},
		{"comma in the next line", "[\n  \"x\" // y\n  , \"a\"\n]", "[\n  \"a\"\n]"},
		{"CRLF", "[\r\n  \"a\",\r\n  \"x\"\r\n]", "[\r\n  \"a\"\r\n]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(p.User, `{"permissions": {"deny": `+c.before+`, "allow": ["x"]}}`)
			removed, err := removeRule(p.User, agenttool.Deny, "x")
			got, _ := os.ReadFile(p.User)
			if want := `{"permissions": {"deny": ` + c.after + `, "allow": ["x"]}}`; !removed || err != nil || string(got) != want {
				t.Errorf("%v, %v, got\n%s\nwant\n%s", removed, err, got, want)
			}
		})
	}
}

func TestNewFile(t *testing.T) {
	p := newPlace(t)
	p.must(AddRule(p.Local, agenttool.Ask, "Shell(git push \"\u202e\")", p.Now()))
	got, err := os.ReadFile(p.Local)
	want := "{\n  \"permissions\": {\n    \"ask\": [\n      {\"rule\": \"Shell(git push \\\"\\u202e\\\")\", \"added\": \"2026-11-22T10:00:00Z\"}\n    ]\n  }\n}\n"
	if p.must(err); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	file, _ := os.Stat(p.Local)
	dir, _ := os.Stat(filepath.Dir(p.Local))
	if file.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
		t.Errorf("modes %v, %v", file.Mode(), dir.Mode())
	}
	s := p.load()
	if same(t, "ask", texts(s, agenttool.Ask), "Shell(git push \"\u202e\")"); !s.Rules[0].Added.Equal(p.Now()) {
		t.Errorf("added %v", s.Rules[0].Added)
	}
}

func TestEditKeepsModeAndLink(t *testing.T) {
	p := newPlace(t)
	target := filepath.Join(p.Home, "dotfiles.json")
	p.write(target, "{}")
	p.must(os.Chmod(target, 0o640))
	p.mkdir(filepath.Dir(p.User))
	p.must(os.Symlink(target, p.User))
	p.must(AddRule(p.User, agenttool.Deny, "x", time.Time{}))
	info, err := os.Lstat(target)
	if p.must(err); info.Mode() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if link, err := os.Readlink(p.User); link != target {
		t.Errorf("the link became %q, %v", link, err)
	}
	same(t, "deny", texts(p.load(), agenttool.Deny), "x")
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct{ name, content, rule, want string }{
		{"cut off", "{\"mode\": \"plan\"", "x", "the file is broken, and left as it is"},
		{"empty", "", "x", "the file is empty"},
		{"misspelt", `{"mod": 1}`, "x", `did you mean "mode"?`},
		{"permissions of another type", `{"permissions": []}`, "x", "permissions must be an object"},
		{"full", "{}" + strings.Repeat(" ", maxSize-3), "x", "larger than 1024 KiB with it"},
		{"no rule", "{}", " \n", "is no rule"},
		{"NUL", "{}", "a\x00b", "is no rule"},
		{"not UTF-8", "{}", "a\xff", "is no rule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(p.User, c.content)
			if err := AddRule(p.User, agenttool.Allow, c.rule, time.Time{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if got, _ := os.ReadFile(p.User); string(got) != c.content {
				t.Errorf("it was changed: %.100s", got)
			}
			if left, _ := os.ReadDir(filepath.Dir(p.User)); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	p := newPlace(t)
	if err := AddRule(p.User, "maybe", "x", time.Time{}); err == nil {
		t.Error("a behaviour was invented")
	}
	if err := AddRule("", agenttool.Allow, "x", time.Time{}); err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("added nowhere: %v", err)
	}
	if removed, err := removeRule("", agenttool.Allow, "x"); removed || err != nil {
		t.Errorf("removed nowhere: %v, %v", removed, err)
	}
	if removed, err := removeRule(p.User, agenttool.Allow, "x"); removed || err != nil {
		t.Errorf("removed from nothing: %v, %v", removed, err)
	}
	if _, err := os.Stat(filepath.Dir(p.User)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removeRule made something: %v", err)
	}
}

// TestEditHostileNames has somebody put pipes and links where the lock and the new file go.
func TestEditHostileNames(t *testing.T) {
	p := newPlace(t)
	victim := filepath.Join(p.Home, "victim")
	p.write(victim, "untouched")
	dir := filepath.Dir(p.Local)
	p.mkdir(dir)
	p.must(os.Symlink(victim, filepath.Join(dir, ".settings.local.json.new")))
	p.must(AddRule(p.Local, agenttool.Deny, "x", time.Time{}))
	p.must(os.Symlink(victim, filepath.Join(dir, ".settings.local.json.lock")))
	if err := AddRule(p.Local, agenttool.Deny, "y", time.Time{}); err == nil {
		t.Error("the lock was taken through a link")
	}
	p.must(os.Remove(filepath.Join(dir, ".settings.local.json.lock")))
	p.must(os.Remove(p.Local))
	p.must(os.Symlink(victim, p.Local))
	if err := AddRule(p.Local, agenttool.Deny, "y", time.Time{}); err == nil {
		t.Error("the file was read through a link")
	}
	if got, _ := os.ReadFile(victim); string(got) != "untouched" {
		t.Errorf("the victim holds %s", got)
	}
}

// AddRule adds a rule as the settings' own changes do.
func AddRule(file string, b agenttool.Behavior, text string, at time.Time) error {
	return addRule(file, b, text, at, steps{})
}
