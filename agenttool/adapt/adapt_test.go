package adapt

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// schemas are those of the shipped tools, by name.
func schemas(t testing.TB) map[string]json.RawMessage {
	t.Helper()
	found := map[string]json.RawMessage{}
	for name, file := range map[string]string{
		"read": "files/schema/read", "write": "files/schema/write", "edit": "files/schema/edit", "grep": "search/schema/grep", "glob": "search/schema/glob",
		"shell": "shell/schema/shell", "shell_output": "shell/schema/shell_output", "shell_input": "shell/schema/shell_input", "shell_kill": "shell/schema/shell_kill",
	} {
		text, err := os.ReadFile("../../tools/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		found[name] = text
	}
	return found
}

// sameJSON reports whether two texts hold the same value.
func sameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	first, _ := json.Marshal(x)
	second, _ := json.Marshal(y)
	return string(first) == string(second)
}

// TestHabits: what models write by habit becomes the tool's own input. An empty want: it stays as it is, for the schema to judge.
func TestHabits(t *testing.T) {
	all := schemas(t)
	for _, tt := range []struct{ name, tool, sent, want string }{
		{"as it is", "read", `{"path":"a"}`, ``},
		{"null", "read", `{"path":"a","offset":null,"limit":null}`, `{"path":"a"}`},
		{"empty", "read", `{"path":"a","offset":"","limit":""}`, `{"path":"a"}`},
		{"a required null", "read", `{"path":null}`, ``},
		{"a required null beside its synonym", "read", `{"path":null,"file_path":"a"}`, `{"path":"a"}`},
		{"numbers in strings", "read", `{"path":"a","offset":"2","limit":"-3"}`, `{"path":"a","offset":2,"limit":-3}`},
		{"a fraction of nothing", "read", `{"path":"a","offset":2.0}`, `{"path":"a","offset":2}`},
		{"a fraction", "read", `{"path":"a","offset":2.5}`, ``},
		{"no number", "read", `{"path":"a","offset":"two"}`, ``},
		{"a path of digits", "read", `{"path":"7"}`, ``},
		{"booleans", "grep", `{"pattern":"x","hidden":"true","ignore_case":"False"}`, `{"pattern":"x","hidden":true,"ignore_case":false}`},
		{"empty choices", "grep", `{"pattern":"x","path":"","glob":"","type":"","output_mode":""}`, `{"pattern":"x"}`},
		{"an unknown member", "read", `{"path":"a","colour":"red"}`, ``},
		{"twice", "read", `{"path":"a","limit":null,"path":"b"}`, ``},
		{"no object", "read", `["a"]`, ``},
		{"no JSON", "read", `{"file_path":`, ``},
		{"half a surrogate", "read", `{"file_path":"a\ud800"}`, `{"path":"a\ud800"}`},
		{"half a surrogate in a URI", "read", `{"path":"file:///a\ud800"}`, ``},

		{"the same path twice", "read", `{"path":"a","file_path":"a"}`, `{"path":"a"}`},
		{"three names of a path", "edit", `{"file_path":"a","filePath":"a","old_string":"x","new_string":"y"}`, `{"path":"a","old_string":"x","new_string":"y"}`},
		{"a URI", "read", `{"path":"file:///tmp/a%20b.txt"}`, `{"path":"/tmp/a b.txt"}`},
		{"a URI of this machine", "read", `{"file_path":"file://localhost/a"}`, `{"path":"/a"}`},
		{"a file whose name begins so", "read", `{"path":"files:/a"}`, ``},
		{"a list of one file", "read", `{"files":[{"path":"a","start_line":2,"end_line":3}]}`, `{"path":"a","offset":2,"limit":2}`},
		{"a list of one file by another name", "read", `{"files":[{"file_path":"a","start_line":null}]}`, `{"path":"a"}`},
		{"a list of one path", "read", `{"file_paths":["a"]}`, `{"path":"a"}`},
		{"one path in place of a list", "read", `{"files":"a"}`, `{"path":"a"}`},

		{"first and last line", "read", `{"path":"a","start_line":10,"end_line":12}`, `{"path":"a","offset":10,"limit":3}`},
		{"a first line", "read", `{"path":"a","start_line":10}`, `{"path":"a","offset":10}`},
		{"a first line and null", "read", `{"path":"a","start_line":10,"end_line":null}`, `{"path":"a","offset":10}`},
		{"a last line", "read", `{"path":"a","end_line":"12"}`, `{"path":"a","offset":1,"limit":12}`},
		{"lines that are none", "read", `{"path":"a","start_line":"x","end_line":3}`, ``},
		{"a range", "read", `{"path":"a","view_range":[5,6]}`, `{"path":"a","offset":5,"limit":2}`},
		{"a range to the end", "read", `{"path":"a","view_range":[5,-1]}`, `{"path":"a","offset":5,"limit":10000}`},
		{"a range that is more than a page", "read", `{"path":"a","view_range":[1,99999]}`, `{"path":"a","offset":1,"limit":10000}`},
		{"the whole file", "read", `{"target_file":"a","should_read_entire_file":true,"start_line_one_indexed":1,"end_line_one_indexed_inclusive":5}`, `{"path":"a"}`},
		{"a part of it", "read", `{"target_file":"a","should_read_entire_file":false,"start_line_one_indexed":2,"end_line_one_indexed_inclusive":5}`, `{"path":"a","offset":2,"limit":4}`},
		{"from line 0", "read", `{"path":"a","offset":0,"limit":5}`, `{"path":"a","limit":5}`},
		{"more lines than a page", "read", `{"path":"a","limit":20000}`, `{"path":"a","limit":10000}`},

		{"one edit among others", "edit", `{"path":"a","edits":{"old_str":"x","new_str":"y"}}`, `{"path":"a","edits":[{"old_string":"x","new_string":"y"}]}`},
		{"edits in a string", "edit", `{"path":"a","edits":"[{\"old_str\":\"x\",\"new_str\":\"y\"}]"}`, `{"path":"a","edits":[{"old_string":"x","new_string":"y"}]}`},
		{"edits that repeat the file", "edit", `{"filePath":"a","edits":[{"filePath":"a","oldString":"x","newString":"y","replaceAll":"true"}]}`, `{"path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true}]}`},
		{"an empty replacement", "edit", `{"file_path":"a","old_string":"x","new_string":"","replace_all":null}`, `{"path":"a","old_string":"x","new_string":""}`},
		{"one replacement expected", "edit", `{"path":"a","old_string":"x","new_string":"y","expected_replacements":1}`, `{"path":"a","old_string":"x","new_string":"y"}`},
		{"three replacements expected", "edit", `{"path":"a","old_string":"x","new_string":"y","expected_replacements":3}`, ``},
		{"an empty file", "write", `{"file_path":"a","content":""}`, `{"path":"a","content":""}`},

		{"ripgrep's options", "grep", `{"pattern":"x","-n":true,"-i":true,"-A":1,"-B":"2","-C":3}`, `{"pattern":"x","ignore_case":true,"after":1,"before":2,"context":3}`},
		{"no limit", "grep", `{"pattern":"x","head_limit":0}`, `{"pattern":"x","limit":10000}`},
		{"a limit of our own that is 0", "grep", `{"pattern":"x","limit":0}`, ``},
		{"lines numbered or not", "grep", `{"pattern":"x","-n":false,"-o":false}`, `{"pattern":"x"}`},
		{"case matters", "grep", `{"pattern":"x","case_sensitive":true}`, `{"pattern":"x","ignore_case":false}`},
		{"case does not matter", "grep", `{"pattern":"x","case_sensitive":"false"}`, `{"pattern":"x","ignore_case":true}`},
		{"one glob", "grep", `{"pattern":"x","glob":["*.ts"]}`, `{"pattern":"x","glob":"*.ts"}`},
		{"two globs", "grep", `{"pattern":"x","glob":["*.ts","*.tsx"]}`, `{"pattern":"x","glob":"*.ts,*.tsx"}`},
		{"a glob that leaves out", "grep", `{"pattern":"x","glob":["*.ts","!*.d.ts"]}`, `{"pattern":"x","glob":"*.ts,!*.d.ts"}`},
		{"no glob", "grep", `{"pattern":"x","glob":[]}`, `{"pattern":"x"}`},
		{"a literal pattern", "grep", `{"pattern":"a.b(","fixed_strings":true}`, `{"pattern":"a\\.b\\("}`},
		{"names only", "grep", `{"pattern":"x","names_only":true}`, `{"pattern":"x","output_mode":"files_with_matches"}`},
		{"one query", "grep", `{"queries":["x"]}`, `{"pattern":"x"}`},
		{"names without case", "glob", `{"pattern":"x","case_sensitive":false}`, ``},
		{"ignored files", "glob", `{"pattern":"x","respect_git_ignore":false}`, `{"pattern":"x","no_ignore":true}`},

		{"a line for bash", "shell", `{"command":["bash","-lc","echo $HOME | wc -c"]}`, `{"command":"echo $HOME | wc -c"}`},
		{"words", "shell", `{"command":["echo","$HOME","a b","*","it's"]}`, `{"command":"echo '$HOME' 'a b' '*' \"it's\""}`},
		{"a line for sh", "shell", `{"command":["sh","-c","echo $0"]}`, `{"command":"sh -c 'echo $0'"}`},
		{"a line for bash with words", "shell", `{"command":["bash","-c","echo $1","x","y"]}`, `{"command":"bash -c 'echo $1' x y"}`},
		{"a program and its words", "shell", `{"command":"git","args":["log","-1","a b"]}`, `{"command":"git log -1 'a b'"}`},
		{"one of several commands", "shell", `{"commands":["ls"]}`, `{"command":"ls"}`},
		{"one program of several", "shell", `{"commands":[{"command":"git","args":["status"]}]}`, `{"command":"git status"}`},
		{"milliseconds", "shell", `{"command":"ls","timeout":120000,"run_in_background":"false"}`, `{"command":"ls","timeout_ms":120000,"run_in_background":false}`},
		{"seconds", "shell", `{"command":"ls","timeout":"30"}`, `{"command":"ls","timeout_ms":30000}`},
		{"our own milliseconds", "shell", `{"command":"ls","timeout_ms":30}`, ``},
		{"two hours", "shell", `{"command":"ls","timeout":7200000}`, `{"command":"ls","timeout_ms":3600000}`},
		{"why", "shell", `{"command":"ls","explanation":"to look"}`, `{"command":"ls","description":"to look"}`},
		{"at once", "shell", `{"command":"ls","block_until_ms":0}`, `{"command":"ls","run_in_background":true}`},
		{"inside the sandbox", "shell", `{"command":"ls","sandbox_permissions":"use_default","dangerouslyDisableSandbox":false}`, `{"command":"ls"}`},
		{"a job", "shell_output", `{"bash_id":"j1","filter":"x"}`, `{"job":"j1","grep":"x"}`},
		{"until its end", "shell_output", `{"task_id":"j1","block":true,"timeout":600000}`, `{"job":"j1","until":"exit","wait_ms":300000}`},
		{"nothing typed", "shell_input", `{"session_id":"j1","chars":"","yield_time_ms":5000,"max_output_tokens":6000}`, `{"job":"j1","text":"","wait_ms":5000}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, changes, err := New(tt.tool, all[tt.tool]).Input([]byte(tt.sent))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if string(got) != tt.sent || len(changes) > 0 {
					t.Errorf("%s became %s: %v", tt.sent, got, changes)
				}
				return
			}
			if !sameJSON(t, string(got), tt.want) || len(changes) == 0 {
				t.Errorf("%s became %s, want %s; %v", tt.sent, got, tt.want, changes)
			}
			for _, c := range changes {
				if len(c.Fields) == 0 || c.Reason == "" {
					t.Errorf("a change says nothing: %+v", c)
				}
			}
		})
	}
}

// TestHabitsThatContradict: members that say different things, and wishes that no tool has, are errors that say so.
func TestHabitsThatContradict(t *testing.T) {
	all := schemas(t)
	for _, tt := range []struct{ name, tool, sent, code, says string }{
		{"two paths", "read", `{"path":"a","file_path":"b"}`, "conflicting_fields", "file_path and path"},
		{"two synonyms", "write", `{"file_path":"a","filePath":"b","content":""}`, "conflicting_fields", "filePath and path"},
		{"lines and a range", "read", `{"path":"a","offset":1,"start_line":2}`, "conflicting_fields", "offset"},
		{"lines backwards", "read", `{"path":"a","start_line":9,"end_line":2}`, "conflicting_fields", "from 9 to 2"},
		{"an edit of another file", "edit", `{"path":"a","edits":[{"filePath":"b","oldString":"x","newString":"y"}]}`, "conflicting_fields", "different files"},
		{"two limits", "grep", `{"pattern":"x","head_limit":5,"limit":6}`, "conflicting_fields", "head_limit and limit"},
		{"case both ways", "grep", `{"pattern":"x","-i":true,"case_sensitive":true}`, "conflicting_fields", "case_sensitive"},
		{"two files", "read", `{"files":[{"path":"a"},{"path":"b"}]}`, "unsupported_field", "2 values"},
		{"two commands", "shell", `{"commands":["a","b"]}`, "unsupported_field", "&&"},
		{"the matched part alone", "grep", `{"pattern":"x","-o":true}`, "unsupported_field", "whole lines"},
		{"no sandbox", "shell", `{"command":"ls","dangerouslyDisableSandbox":true}`, "unsupported_field", "the person is asked"},
		{"escalated", "shell", `{"command":"ls","sandbox_permissions":"require_escalated"}`, "unsupported_field", "the person is asked"},
		{"another shell", "shell", `{"command":"ls","shell":"/bin/zsh"}`, "unsupported_field", "bash"},
		{"another machine", "read", `{"path":"file://server/share/a"}`, "unsupported_field", "this machine"},
		{"a URI with a query", "read", `{"path":"file:///a?b"}`, "unsupported_field", "plain path"},
		{"NUL in a word", "shell", `{"command":["printf","\u0000"]}`, "unsupported_field", "no command line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := New(tt.tool, all[tt.tool]).Input([]byte(tt.sent))
			var e *agenttool.Error
			if !errors.As(err, &e) || e.Code != tt.code || e.Class != agenttool.SchemaValidationFailed || !strings.Contains(e.Message, tt.says) || e.Pointer == "" {
				t.Errorf("%s: %v, want %s with %q", tt.sent, err, tt.code, tt.says)
			}
			if string(got) != tt.sent {
				t.Errorf("it became %s", got)
			}
		})
	}
}

// TestTableIsSound: each row is about an existing tool, and its names are in the schema of the tool if and only if the row says that they are ours.
func TestTableIsSound(t *testing.T) {
	all := schemas(t)
	for _, h := range habits {
		for place := range strings.FieldsSeq(h.places) {
			tool, list, _ := strings.Cut(place, ".")
			if all[tool] == nil {
				t.Errorf("%v is about %s, and there is no such tool", h.names, tool)
				continue
			}
			s := New(tool, all[tool]).shape
			properties := s.Properties
			if list != "" {
				properties = s.Properties[list].Items.Properties
			}
			for name := range strings.FieldsSeq(h.names) {
				if (properties[name] != nil) != h.own {
					t.Errorf("%s of %s: ours is %v", name, place, h.own)
				}
			}
		}
	}
}

// FuzzInput: whatever is sent, what is read is a JSON object, reading it again changes nothing, and an error leaves the input as it came.
func FuzzInput(f *testing.F) {
	all := schemas(f)
	tools := slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	})
	for i, seed := range []string{
		`{"path":"a","edits":"[1]"}`, `{"path":"a","edits":[{"old_str":null}]}`, `{"limit":"1e3","head_limit":0}`, `{"timeout":"0x1"}`, `{"a":/**/1,}`,
		`{"files":[{"file_path":"a","files":["b"]}]}`, `{"view_range":[1,1e400]}`, `{"command":["bash","-lc",""]}`, `{"glob":["a","b/c"]}`,
		`{"start_line":-9223372036854775808,"end_line":9223372036854775807}`, `{"path":"file:"}`, `{"commands":[{"command":["a"],"args":["b"]}]}`,
	} {
		f.Add(seed, uint8(i))
	}
	f.Fuzz(func(t *testing.T, sent string, which uint8) {
		tool := tools[int(which)%len(tools)]
		a := New(tool, all[tool])
		got, changes, err := a.Input([]byte(sent))
		switch {
		case err != nil || len(changes) == 0:
			if string(got) != sent {
				t.Fatalf("%s became %s without a change: %v", sent, got, err)
			}
			return
		case !json.Valid(got) || got[0] != '{':
			t.Fatalf("%s became %s", sent, got)
		}
		if again, more, err := a.Input(got); err != nil || string(again) != string(got) {
			t.Fatalf("%s became %s, and then %s: %v %v", sent, got, again, more, err)
		}
	})
}

func BenchmarkInput(b *testing.B) {
	all := schemas(b)
	for _, bb := range []struct{ name, tool, sent string }{
		{"as it is", "read", `{"path":"internal/server/handler.go","offset":20,"limit":100}`},
		{"rewritten", "read", `{"file_path":"internal/server/handler.go","start_line":20,"end_line":100}`},
		{"1 MB as it is", "write", `{"path":"a","content":"` + strings.Repeat("x", 1<<20) + `"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			a := New(bb.tool, all[bb.tool])
			input := []byte(bb.sent)
			for b.Loop() {
				if _, _, err := a.Input(input); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
