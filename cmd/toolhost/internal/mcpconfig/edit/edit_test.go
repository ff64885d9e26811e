package edit

import (
	"errors"
	"strings"
	"testing"
)

// server and off are changes as setup makes them.
var (
	server = Change{Path: []string{"servers", "toolhost"}, Value: Object{{"command", "toolhost"}, {"args", []string{"serve"}}}, Own: true}
	off    = Change{Path: []string{"features"}, Value: Object{{"shell", false}}}
	listed = Change{Path: []string{"permissions", "deny"}, Value: []any{"Bash", "Edit"}, Add: true}
)

var edits = []struct {
	name          string
	format        Format
	before, after string
	changes       []Change
}{
	{"JSON: no file", JSON, "", "{\n  \"servers\": {\n    \"toolhost\": {\n      \"command\": \"toolhost\",\n      \"args\": [\n        \"serve\"\n      ]\n    }\n  },\n  \"features\": {\n    \"shell\": false\n  }\n}\n", []Change{server, off}},
	{
		"JSON: comments and order stay", JSON,
		"// mine\n{\n\t\"b\": 1, // one\n\t\"servers\": {\n\t\t/* other */ \"other\": {\"command\": \"x\"},\n\t},\n\t\"a\": [1,2,  3]\n}\n",
		"// mine\n{\n\t\"b\": 1, // one\n\t\"servers\": {\n\t\t/* other */ \"other\": {\"command\": \"x\"}, \"toolhost\": {\"command\":\"toolhost\",\"args\":[\"serve\"]},\n\t},\n\t\"a\": [1,2,  3]\n}\n",
		[]Change{server},
	},
	{"JSON: a value is replaced", JSON, "{\"features\": {\"shell\": true, \"web\": true}}", "{\"features\": {\"shell\": false, \"web\": true}}", []Change{off}},
	{"JSON: an own object is replaced", JSON, "{\"servers\": {\"toolhost\": {\"command\": \"old\", \"env\": {}}}}\n", "{\"servers\": {\"toolhost\": {\n  \"command\": \"toolhost\",\n  \"args\": [\n    \"serve\"\n  ]\n}}}\n", []Change{server}},
	{"JSON: a list gets what it has not", JSON, "{\n  \"permissions\": {\n    \"deny\": [\n      \"Edit\", // mine\n      \"WebFetch\"\n    ]\n  }\n}\n", "{\n  \"permissions\": {\n    \"deny\": [\n      \"Edit\", // mine\n      \"WebFetch\",\n      \"Bash\"\n    ]\n  }\n}\n", []Change{listed}},
	{"JSON: carriage returns and a byte order mark", JSON, "\ufeff{\r\n  \"a\": 1\r\n}\r\n", "\ufeff{\r\n  \"a\": 1,\r\n  \"features\": {\r\n    \"shell\": false\r\n  }\r\n}\r\n", []Change{off}},
	{"TOML: no file", TOML, "", "[servers.toolhost]\ncommand = \"toolhost\"\nargs = [\"serve\"]\n\n[features]\nshell = false\n", []Change{server, off}},
	{
		"TOML: comments and order stay", TOML,
		"# mine\nmodel = 'x' # the \"best\"\n\n[features]\nweb = true # on\n\n[servers.other] # theirs\ncommand = \"\"\"a\n[b]\n\"\"\"\nargs = [ # list\n  \"[x]\", 'y',\n]\n# end",
		"# mine\nmodel = 'x' # the \"best\"\n\n[features]\nweb = true # on\nshell = false\n\n[servers.other] # theirs\ncommand = \"\"\"a\n[b]\n\"\"\"\nargs = [ # list\n  \"[x]\", 'y',\n]\n# end\n\n[servers.toolhost]\ncommand = \"toolhost\"\nargs = [\"serve\"]\n",
		[]Change{server, off},
	},
	{"TOML: a value is replaced", TOML, "[features]\nshell = true # mine\n", "[features]\nshell = false # mine\n", []Change{off}},
	{"TOML: keys with dots", TOML, "features.web = true\nfeatures.shell = true\n[x]\ny = 1\n", "features.web = true\nfeatures.shell = false\n[x]\ny = 1\n", []Change{off}},
	{"TOML: a table with dots only", TOML, "features.web = true\n[x]\ny = 1\n", "features.web = true\nfeatures.shell = false\n[x]\ny = 1\n", []Change{off}},
	{"TOML: an own table is replaced with its parts", TOML, "[servers.toolhost]\ncommand = \"old\"\n[servers.toolhost.env]\nA = \"1\"\n[z]\nq = 1\n", "[servers.toolhost]\ncommand = \"toolhost\"\nargs = [\"serve\"]\n[z]\nq = 1\n", []Change{server}},
}

func TestApply(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			got, err := Apply(c.format, []byte(c.before), c.changes)
			if err != nil || string(got) != c.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, c.after)
			}
			if again, err := Apply(c.format, got, c.changes); err != nil || string(again) != string(got) {
				t.Errorf("the second time it changes: %v\n%s", err, again)
			}
			if missing, err := Missing(c.format, got, c.changes); err != nil || len(missing) > 0 {
				t.Errorf("missing: %v %v", missing, err)
			}
		})
	}
}

// TestRevert takes the changes out of files that got a comment at their end since.
func TestRevert(t *testing.T) {
	for _, c := range edits {
		if c.before == "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			more := "# since\n"
			if c.format == JSON {
				more = "// since\n"
			}
			got, kept, err := Revert(c.format, []byte(c.after+more), []byte(c.before), c.changes)
			if err != nil || len(kept) > 0 {
				t.Fatal(err, kept)
			}
			if want := c.before + more; strings.TrimSpace(string(got)) != strings.TrimSpace(want) && !strings.Contains(c.before, "end") {
				t.Errorf("%q\nwant\n%q", got, want)
			}
		})
	}
}

func TestRevertKeepsOtherValues(t *testing.T) {
	for _, c := range []struct {
		format       Format
		now, want    string
		original     string
		changes, not int
	}{
		{JSON, `{"features": {"shell": "ask"}}`, `{"features": {"shell": "ask"}}`, `{}`, 1, 1},
		{TOML, "[features]\nshell = 3\n", "[features]\nshell = 3\n", "", 1, 1},
		{TOML, "[features]\nshell = false\n\n[x]\ny = 1\n", "\n[x]\ny = 1\n", "", 1, 0},
	} {
		got, kept, err := Revert(c.format, []byte(c.now), []byte(c.original), []Change{off})
		if err != nil || string(got) != c.want || len(kept) != c.not {
			t.Errorf("%s: %q, %d kept, %v", c.format, got, len(kept), err)
		}
	}
}

func TestBrokenFilesAreLeftAlone(t *testing.T) {
	for _, c := range []struct {
		format Format
		text   string
		line   int
	}{
		{JSON, "{\n  \"a\": 1,\n  \"servers\": {\n", 4},
		{JSON, "{\n  \"servers\": []\n}", 2},
		{JSON, "{\n  \"servers\": {},\n  \"servers\": {}\n}", 1},
		{JSON, "{\n  \"permissions\": {\n    \"deny\": \"Bash\"\n  }\n}", 3},
		{TOML, "a = 1\n[servers\nb = 2\n", 2},
		{TOML, "a = 1\nb\n", 2},
		{TOML, "a = \"x\nb = 1\n", 1},
		{TOML, "a = [1,\n2\n", 1},
		{TOML, "a = what\n", 1},
		{TOML, "a = 1 2\n", 1},
		{TOML, "servers = { other = { command = \"x\" } }\n", 1},
		{TOML, "\n[[servers]]\nx = 1\n", 2},
	} {
		changes := []Change{server}
		if c.format == JSON {
			changes = append(changes, listed) // lists are merged there only
		}
		_, err := Apply(c.format, []byte(c.text), changes)
		var at *LineError
		if !errors.As(err, &at) || at.Line != c.line {
			t.Errorf("%s %q: %v, want line %d", c.format, c.text, err, c.line)
		}
	}
}
