package settings

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"

	"toolhost/agenttool/jsonc"
	"toolhost/agenttool/near"
)

// goodDocuments are files that say something, of every kind.
var goodDocuments = []struct{ name, text string }{
	{"empty object", `{}`},
	{"schema", `{"$schema": "x"}`},
	{"comments", "// one\n{ /* two */ \"mode\": \"plan\", // three\n}\n// four"},
	{"byte order mark and CRLF", "\ufeff{\r\n\t\"mode\": \"plan\",\r\n}\r\n"},
	{"empty parts", `{"permissions": {}, "sandbox": {}, "approvals": {}, "env": {}, "jobs": {"limits": {}}, "hooks": {}, "add_dirs": []}`},
	{"rules", `{"permissions": {"allow": ["Shell(a)", {"rule": "x", "match": ["x"], "not_match": ["y"], "note": "", "added": "2026-11-22T10:00:00.5Z"}], "ask": [], "deny": ["Read"]}}`},
	{"levels", `{"sandbox": {"require": "landlock+notify"}}`},
	{"whole numbers", `{"max_parallel": 1e1, "jobs": {"max": 5.0, "limits": {"nofile": 0, "as": 12, "fsize": "4GiB"}, "output": "1073741824", "timeout": "0"}}`},
	{"times", `{"approvals": {"timeout": "1h2m3s4ms", "wait": "never", "in_band_scopes": "user"}}`},
	{"files and search", `{"files": {"durability": "full"}, "search": {"index": "watched"}}`},
	{"environment", `{"env": {"pass": ["A_1"], "set": {"_B": "", "C": "ü"}}}`},
	{"hooks", `{"hooks": {"result_persistence": [{"command": ["a", ""], "timeout_ms": 600000, "env": {}, "matcher": {"tool": "*"}}]}}`},
	{"escaped characters", `{"env": {"set": {"A": "\ud83d\ude00\ufffd\u00e9�"}}}`},
	{"deep comments", `{"mode": /* {[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{[{[ */ "plan" // [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[` + "\n}"},
}

// badDocuments are files with one thing wrong. semantic: a schema cannot say it.
var badDocuments = []struct {
	name, text, want string
	semantic         bool
}{
	{"empty", "", "1:1: the file is empty: write {}", true},
	{"blank", "\n \n", "1:1: the file is empty", true},
	{"no JSON", "{\n  \"mode\": plan\n}", "2:11: not JSON with comments: invalid literal: plan", true},
	{"cut off", "{\n\"mode\": \"plan\"", "2:15: not JSON with comments", true},
	{"two documents", "{} {}", "1:4: not JSON with comments: invalid character '{' after top-level value", true},
	{"not UTF-8", "{\"mode\": \"pl\xffan\"}", "1:13: the file is not UTF-8", true},
	{"half a character", `{"env": {"set": {"A": "\ud800"}}}`, "1:23: env.set.A holds half a character", true},
	{"NUL", `{"env": {"set": {"A": "\u0000"}}}`, "1:23: env.set.A holds the character NUL", true},
	{"a list", `[]`, "1:1: the file must be an object; this is a list", false},
	{"null", `null`, "1:1: the file must be an object; this is null", false},
	{"misspelt", "{\n  \"permisions\": {}\n}", `2:3: there is no key "permisions": did you mean "permissions"?`, false},
	{"other joints", `{"addDirs": []}`, `did you mean "add_dirs"?`, false},
	{"misspelt below", `{"permissions": {"alow": []}}`, `1:18: there is no key "alow" in permissions: did you mean "allow"?`, false},
	{"on the wrong floor", `{"deny": []}`, `1:2: there is no key "deny": did you mean "permissions.deny"?`, false},
	{"unknown rule", `{"permissions": {"\u202ezebras\u0007": 1}}`, `1:18: there is no key "\u202ezebras\u0007" in permissions; the keys are allow, ask, deny`, false},
	{"unknown sandbox", `{"sandbox": {"network": "off"}}`, `there is no key "network" in sandbox; the keys are require`, false},
	{"unknown event", `{"hooks": {"zebras": []}}`, `there is no key "zebras" in hooks`, false},
	{"unknown in a rule", `{"permissions": {"allow": [{"rule": "a", "unless": "b"}]}}`, `there is no key "unless" in permissions.allow[0]`, false},
	{"twice", "{\"mode\": \"plan\",\n\"mode\": \"plan\"}", "2:1: mode is given twice, first in line 1", true},
	{"twice in an open object", `{"env": {"set": {"A": "1", "\u0041": "2"}}}`, "1:28: env.set.A is given twice", true},
	{"mode of another type", `{"mode": 1}`, "1:10: mode must be a string; this is a number", false},
	{"mode null", `{"mode": null}`, "1:10: mode must be a string; this is null", false},
	{"mode misspelt", `{"mode": "acceptEdits"}`, `there is no "acceptEdits": did you mean "accept_edits"?`, false},
	{"mode unknown", `{"mode": "yolo"}`, `"yolo" is not one of sandboxed, accept_edits, default, dont_ask, plan`, false},
	{"mode bypass", `{"mode": "bypass"}`, "mode bypass is for the command line only", false},
	{"level", `{"sandbox": {"require": "landlok"}}`, `did you mean "landlock"?`, false},
	{"durability", `{"files": {"durability": "fsync"}}`, `files.durability: "fsync" is not one of none, file, full`, false},
	{"index", `{"search": {"index": "strickt"}}`, `search.index: there is no "strickt": did you mean "strict"?`, false},
	{"index a truth", `{"search": {"index": false}}`, "search.index must be a string; this is false", false},
	{"rules no list", `{"permissions": {"allow": "Shell(x)"}}`, "1:27: permissions.allow must be a list; this is a string", false},
	{"rule a number", `{"permissions": {"allow": ["a", 5]}}`, "1:33: permissions.allow[1] must be a rule such as", false},
	{"rule blank", `{"permissions": {"deny": [" "]}}`, `permissions.deny[0]: " " is not a rule`, false},
	{"rule missing", `{"permissions": {"ask": [{"note": "n"}]}}`, "1:26: permissions.ask[0] needs a rule", false},
	{"rule bad", "{\"permissions\": {\"deny\": [\n\t\"Shell(bad)\"]}}", "2:2: rule Shell(bad): it is bad", true},
	{"example missed", `{"permissions": {"deny": [{"rule": "Shell(a)", "match": ["Shell", "zz"]}]}}`, `1:67: the rule "Shell(a)" does not match its example "zz"`, true},
	{"example hit", `{"permissions": {"deny": [{"rule": "Shell(a)", "not_match": ["Shell"]}]}}`, `1:62: the rule "Shell(a)" matches "Shell", which not_match says`, true},
	{"added", `{"permissions": {"deny": [{"rule": "a", "added": "yesterday"}]}}`, `added: "yesterday" is not a time`, false},
	{"added never", `{"permissions": {"deny": [{"rule": "a", "added": "2026-13-01T00:00:00Z"}]}}`, "there is no time", true},
	{"rule key", `{"permissions": {"deny": [{"rule": "a", "notmatch": []}]}}`, `did you mean "not_match"?`, false},
	{"directory blank", `{"add_dirs": [""]}`, `add_dirs[0]: "" is not a directory`, false},
	{"size", `{"jobs": {"output": "1 GB"}}`, `"1 GB" is not a size`, false},
	{"time", `{"jobs": {"timeout": "1.5h"}}`, `"1.5h" is not a time: write it like 90s`, false},
	{"time a number", `{"jobs": {"timeout": 5}}`, "jobs.timeout must be a string; this is a number", false},
	{"time empty", `{"jobs": {"timeout": ""}}`, "is not a time", false},
	{"wall time too short", `{"wall": {"wait": "10ms"}}`, "wall.wait must be at least 1s", true},
	{"time too short", `{"approvals": {"timeout": "10ms"}}`, "approvals.timeout must be at least 1s", true},
	{"no whole number", `{"max_parallel": 1.5}`, "max_parallel must be a whole number from 1 to 10000", false},
	{"huge number", `{"max_parallel": 1e400}`, "max_parallel must be a whole number", false},
	{"zero", `{"jobs": {"max": 0}}`, "jobs.max must be a whole number from 1", false},
	{"limit unknown", `{"jobs": {"limits": {"files": 1}}}`, "", false},
	{"limit negative", `{"jobs": {"limits": {"nofile": -1}}}`, "jobs.limits.nofile must be a whole number from 0", false},
	{"limit no size", `{"jobs": {"limits": {"nofile": "1GiB"}}}`, "jobs.limits.nofile must be a number", false},
	{"variable", `{"env": {"set": {"A-B": "x"}}}`, `1:18: env.set: "A-B" is not the name of a variable`, false},
	{"variable passed", `{"env": {"pass": ["1A"]}}`, `env.pass[0]: "1A" is not the name of a variable`, false},
	{"hook without command", `{"hooks": {"pre_tool_use": [{}]}}`, "hooks.pre_tool_use[0] needs a command", false},
	{"hook with an empty command", `{"hooks": {"pre_tool_use": [{"command": []}]}}`, "needs a command", false},
	{"hook with an empty program", `{"hooks": {"pre_tool_use": [{"command": [""]}]}}`, "the first word is the program, and it is empty", false},
	{"hook of text", `{"hooks": {"pre_tool_use": [{"command": "x"}]}}`, "command must be a list; this is a string", false},
	{"hook event", `{"hooks": {"PreToolUse": []}}`, `did you mean "pre_tool_use"?`, false},
	{"hook tool", `{"hooks": {"pre_tool_use": [{"command": ["x"], "matcher": {"tool": "Shell(x)"}}]}}`, "is not the name of a tool", false},
	{"hook tool unknown", `{"hooks": {"pre_tool_use": [{"command": ["x"], "matcher": {"tool": "bad"}}]}}`, "rule bad: it is bad", true},
	{"hook input", `{"hooks": {"pre_tool_use": [{"command": ["x"], "matcher": {"input": "bad"}}]}}`, "rule bad: it is bad", true},
	{"hook time", `{"hooks": {"pre_tool_use": [{"command": ["x"], "timeout_ms": 0}]}}`, "timeout_ms must be a whole number from 1", false},
	{"deep lists", strings.Repeat("[", 5000), "1:33: lists and objects are nested more than 32 deep", true},
	{"deep objects", strings.Repeat(`{"a":`, 5000), "nested more than 32 deep", true},
}

func TestGoodDocuments(t *testing.T) {
	o := newPlace(t).Options
	for _, c := range goodDocuments {
		t.Run(c.name, func(t *testing.T) {
			if s, problems := decode(o, "user_settings", "f", []byte(c.text)); s == nil || len(problems) > 0 {
				t.Errorf("%v, %v", s, problems)
			}
		})
	}
}

func TestBadDocuments(t *testing.T) {
	o := newPlace(t).Options
	for _, c := range badDocuments {
		t.Run(c.name, func(t *testing.T) {
			s, problems := decode(o, "user_settings", "f", []byte(c.text))
			if s != nil || len(problems) != 1 {
				t.Fatalf("%v, %v: want one problem", s, problems)
			}
			got := problems[0].Error()
			if !strings.HasPrefix(got, "f:") || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if problems[0].Line < 1 || problems[0].Column < 1 {
				t.Errorf("it has no place: %+v", problems[0])
			}
		})
	}
}

// TestSchemaAgrees holds the published schema and the decoder to each other.
func TestSchemaAgrees(t *testing.T) {
	compiled := compileSchema(t)
	o := newPlace(t).Options
	check := func(name, text string, semantic bool) {
		t.Run(name, func(t *testing.T) {
			_, problems := decode(o, "user_settings", "f", []byte(text))
			standard, err := hujson.Standardize([]byte(strings.TrimPrefix(text, jsonc.ByteOrderMark) + "\n"))
			if err != nil {
				if len(problems) == 0 {
					t.Fatal(err)
				}
				return
			}
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(standard))
			if err != nil {
				return
			}
			err = compiled.Validate(document)
			if err != nil && len(problems) == 0 || err == nil && len(problems) > 0 && !semantic {
				t.Errorf("the decoder says %v, the schema %v", problems, err)
			}
		})
	}
	for _, c := range goodDocuments {
		check(c.name, c.text, false)
	}
	for _, c := range badDocuments {
		check(c.name, c.text, c.semantic)
	}
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestAllProblemsAreReported shows that decoding goes on behind the first, across files too.
func TestAllProblemsAreReported(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, "{\"mod\": 1,\n\"permissions\": {\"allow\": [5, \"ok\", \"bad\"]}}")
	p.write(p.Managed, `{"max_parallel": "many"}`)
	_, err := Load(p.Options)
	if n := len(Problems(fmt.Errorf("load: %w", err))); n != 4 {
		t.Errorf("%d problems: %v", n, err)
	}
	for _, want := range []string{p.User + ":1:2: ", p.User + ":2:27: ", p.User + ":2:36: ", p.Managed + ":1:18: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	text := `{"permissions": {"allow": [` + strings.Repeat("0,", 200_000) + `]}}`
	_, problems := decode(Options{}, "user_settings", "f", []byte(text))
	if len(problems) != maxProblems+1 || !strings.Contains(problems[maxProblems].Message, "and more") {
		t.Errorf("%d problems", len(problems))
	}
}

func TestSuggestion(t *testing.T) {
	known := []string{"mode", "permissions", "add_dirs", "max_parallel"}
	for name, want := range map[string]string{
		"mod": "mode", "Mode": "mode", "permission": "permissions", "add-dirs": "add_dirs", "maxparallel": "max_parallel",
		"": "", "x": "", "completely_else": "", strings.Repeat("m", 100_000): "",
	} {
		if got := near.Word(name, known); got != want {
			t.Errorf("near.Word(%.20q) = %q, want %q", name, got, want)
		}
	}
}
