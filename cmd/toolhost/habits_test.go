package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// habitual is a call as the model of a harness sends it.
type habitual struct {
	tool, input string // JOB is the job that began last, DIR the workspace
	fields      string // that the adapter changes, sorted; "" for none
	says        string // in the result
	file, holds string // content of a file afterwards; "" for no file
}

// habitualFiles are the files of the workspace.
var habitualFiles = map[string]string{
	"a.txt": "one\ntwo\nthree\nfour\nfive\n", "src/app.ts": "export const needle = 1\n", "src/view.tsx": "const Needle = () => null\n",
	"src/main.go": "package main\n\nfunc needle() {}\n",
}

// habits are calls by harness. The schemas that they satisfy are named in agenttool/adapt.
var habitualCalls = map[string][]habitual{
	"Claude Code": {
		{tool: "Read", input: `{"file_path":"DIR/a.txt","offset":2,"limit":1}`, fields: "file_path path", says: "two"},
		{tool: "Read", input: `{"file_path":"DIR/a.txt","pages":"","allow_large":false}`, fields: "allow_large file_path pages path", says: "five"},
		{tool: "Edit", input: `{"file_path":"DIR/a.txt","old_string":"two","new_string":"2","replace_all":false}`, fields: "file_path path", says: "+2", file: "a.txt", holds: "one\n2\nthree\nfour\nfive\n"},
		{tool: "MultiEdit", input: `{"file_path":"DIR/a.txt","edits":[{"old_string":"one","new_string":"1"},{"old_string":"three","new_string":"3","replace_all":true}]}`, fields: "file_path path", file: "a.txt", holds: "1\n2\n3\nfour\nfive\n"},
		{tool: "Write", input: `{"file_path":"DIR/new/b.txt","content":"b\n"}`, fields: "file_path path", file: "new/b.txt", holds: "b\n"},
		{tool: "Grep", input: `{"pattern":"NEEDLE","-i":true,"-n":true,"output_mode":"content","head_limit":0,"type":"tsx"}`, fields: "-i -n head_limit ignore_case limit", says: "view.tsx:1:"},
		{tool: "Grep", input: `{"pattern":"three|^3$","path":"DIR","output_mode":"content","-A":1,"-B":"1","-o":false}`, fields: "-A -B -o after before", says: "four"},
		{tool: "Grep", input: `{"pattern":"needle","output_mode":"files_with_matches","glob":"*.{ts,tsx}","-C":null}`, fields: "-C", says: "src/app.ts"},
		{tool: "Glob", input: `{"pattern":"**/*.tsx"}`, says: "src/view.tsx"},
		{tool: "Bash", input: `{"command":"echo $((6*7))","timeout":120000,"description":"Compute","dangerouslyDisableSandbox":false}`, fields: "dangerouslyDisableSandbox timeout timeout_ms", says: "42"},
		{tool: "Bash", input: `{"command":"while sleep 0.1; do echo started; done","run_in_background":true,"timeout":7200000}`, fields: "timeout timeout_ms", says: "job"},
		{tool: "TaskOutput", input: `{"task_id":"JOB","block":false,"timeout":30000}`, fields: "block job task_id timeout wait_ms", says: "started"},
		{tool: "BashOutput", input: `{"bash_id":"JOB","filter":"start"}`, fields: "bash_id filter grep job", says: "started"},
		{tool: "KillShell", input: `{"shell_id":"JOB"}`, fields: "job shell_id", says: "JOB"},
	},
	"Codex": {
		{tool: "exec_command", input: `{"cmd":"cat a.txt","workdir":"DIR","yield_time_ms":10000,"max_output_tokens":6000,"login":false}`, fields: "cmd command cwd login max_output_tokens timeout_ms workdir yield_time_ms", says: "three"},
		{tool: "shell_command", input: `{"command":"pwd","workdir":"DIR/src","timeout_ms":10000,"sandbox_permissions":"use_default"}`, fields: "cwd sandbox_permissions workdir", says: "DIR/src"},
		{tool: "shell", input: `{"command":["bash","-lc","for i in 1 2; do echo n$i; done"],"workdir":"DIR","timeout_ms":10000,"with_escalated_permissions":false}`, fields: "command cwd with_escalated_permissions workdir", says: "n2"},
		{tool: "shell", input: `{"command":["printf","%s|","$HOME","a b","*"]}`, fields: "command", says: "$HOME|a b|*|"},
		{tool: "apply_patch", input: `{"input":"*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: new.txt\n+fresh\n*** End Patch\n"}`, fields: "input patch", file: "new.txt", holds: "fresh\n"},
		{tool: "read_file", input: `{"file_path":"DIR/a.txt","offset":2,"limit":1,"mode":"slice"}`, fields: "file_path mode path", says: "2"},
		{tool: "grep_files", input: `{"pattern":"needle","include":"*.go","path":"DIR","limit":100}`, fields: "glob include", says: "src/main.go"},
		{tool: "exec_command", input: `{"cmd":"echo ready; read line; echo got $line; sleep 100","tty":true,"yield_time_ms":1000,"shell":"bash","justification":null}`, fields: "cmd command justification shell timeout_ms yield_time_ms", says: "ready"},
		{tool: "write_stdin", input: `{"session_id":"JOB","chars":"hello\n","yield_time_ms":2000}`, fields: "chars job session_id text wait_ms yield_time_ms", says: "got hello"},
		{tool: "write_stdin", input: `{"session_id":"JOB","chars":"","yield_time_ms":250,"max_output_tokens":100}`, fields: "chars job max_output_tokens session_id text wait_ms yield_time_ms", says: "JOB"},
	},
	"Gemini CLI": {
		{tool: "read_file", input: `{"file_path":"a.txt","start_line":2,"end_line":3}`, fields: "end_line file_path limit offset path start_line", says: "three"},
		{tool: "read_file", input: `{"absolute_path":"DIR/a.txt","offset":0,"limit":1}`, fields: "absolute_path offset path", says: "one"},
		{tool: "write_file", input: `{"file_path":"b.txt","content":"b\n"}`, fields: "file_path path", file: "b.txt", holds: "b\n"},
		{tool: "replace", input: `{"file_path":"DIR/a.txt","instruction":"Spell it as a digit.","old_string":"two","new_string":"2"}`, fields: "file_path instruction path", file: "a.txt", holds: "one\n2\nthree\nfour\nfive\n"},
		{tool: "replace", input: `{"file_path":"a.txt","instruction":"All of them.","old_string":"f","new_string":"F","allow_multiple":true}`, fields: "allow_multiple file_path instruction path replace_all", file: "a.txt", holds: "one\n2\nthree\nFour\nFive\n"},
		{tool: "grep_search", input: `{"pattern":"NEEDLE","dir_path":"src","include_pattern":"*.ts","case_sensitive":false,"total_max_matches":10}`, fields: "case_sensitive dir_path glob ignore_case include_pattern limit path total_max_matches", says: "app.ts:1:"},
		{tool: "grep_search", input: `{"pattern":"needle()","fixed_strings":true,"names_only":true,"no_ignore":false}`, fields: "fixed_strings names_only output_mode pattern", says: "src/main.go"},
		{tool: "search_file_content", input: `{"pattern":"needle","path":"src","include":"*.go"}`, fields: "glob include", says: "main.go:3:"},
		{tool: "glob", input: `{"pattern":"*.go","dir_path":"DIR/src","case_sensitive":true,"respect_git_ignore":true,"respect_gemini_ignore":false}`, fields: "case_sensitive dir_path no_ignore path respect_gemini_ignore respect_git_ignore", says: "main.go"},
		{tool: "run_shell_command", input: `{"command":"ls","description":"List files.","dir_path":"src","is_background":false}`, fields: "cwd dir_path is_background run_in_background", says: "view.tsx"},
		{tool: "run_shell_command", input: `{"command":"while sleep 0.1; do echo up; done","is_background":true,"delay_ms":200}`, fields: "delay_ms is_background run_in_background", says: "job"},
		{tool: "read_background_output", input: `{"pid":"JOB","lines":5,"delay_ms":30000}`, fields: "delay_ms job lines pid tail wait_ms", says: "up"},
	},
	"opencode": {
		{tool: "read", input: `{"filePath":"DIR/a.txt","offset":2,"limit":2}`, fields: "filePath path", says: "three"},
		{tool: "read", input: `{"filePath":"file://DIR/a.txt"}`, fields: "filePath path", says: "five"},
		{tool: "write", input: `{"content":"b\n","filePath":"DIR/b.txt"}`, fields: "filePath path", file: "b.txt", holds: "b\n"},
		{tool: "edit", input: `{"filePath":"DIR/a.txt","oldString":"two","newString":"2"}`, fields: "filePath newString new_string oldString old_string path", file: "a.txt", holds: "one\n2\nthree\nfour\nfive\n"},
		{tool: "edit", input: `{"filePath":"DIR/a.txt","oldString":"f","newString":"F","replaceAll":true}`, fields: "filePath newString new_string oldString old_string path replaceAll replace_all", file: "a.txt", holds: "one\n2\nthree\nFour\nFive\n"},
		{tool: "multiedit", input: `{"filePath":"DIR/a.txt","edits":[{"filePath":"DIR/a.txt","oldString":"one","newString":"1"},{"filePath":"DIR/a.txt","oldString":"three","newString":"3"}]}`, fields: "edits filePath path", file: "a.txt", holds: "1\n2\n3\nFour\nFive\n"},
		{tool: "grep", input: `{"pattern":"needle","include":"*.{ts,tsx}","path":"DIR/src"}`, fields: "glob include", says: "app.ts:1:"},
		{tool: "glob", input: `{"pattern":"src/*.go","path":"DIR"}`, says: "src/main.go"},
		{tool: "bash", input: `{"command":"pwd","timeout":60000,"workdir":"DIR/src","description":"Print the directory"}`, fields: "cwd timeout timeout_ms workdir", says: "DIR/src"},
		{tool: "apply_patch", input: `{"patchText":"*** Begin Patch\n*** Add File: p.txt\n+patched\n*** End Patch"}`, fields: "patch patchText", file: "p.txt", holds: "patched\n"},
	},
	"Cursor": {
		{tool: "read_file", input: `{"target_file":"a.txt","offset":2,"limit":1}`, fields: "path target_file", says: "two"},
		{tool: "read_file", input: `{"target_file":"a.txt","should_read_entire_file":false,"start_line_one_indexed":2,"end_line_one_indexed_inclusive":3,"explanation":"To see it."}`, fields: "end_line_one_indexed_inclusive explanation limit offset path should_read_entire_file start_line_one_indexed target_file", says: "three"},
		{tool: "read_file", input: `{"target_file":"a.txt","should_read_entire_file":true,"start_line_one_indexed":1,"end_line_one_indexed_inclusive":1}`, fields: "end_line_one_indexed_inclusive path should_read_entire_file start_line_one_indexed target_file", says: "five"},
		{tool: "write", input: `{"file_path":"b.txt","contents":"b\n"}`, fields: "content contents file_path path", file: "b.txt", holds: "b\n"},
		{tool: "search_replace", input: `{"file_path":"a.txt","old_string":"two","new_string":"2"}`, fields: "file_path path", file: "a.txt", holds: "one\n2\nthree\nfour\nfive\n"},
		{tool: "grep", input: `{"pattern":"needle","glob":["*.ts","*.tsx"],"-i":true,"output_mode":"content","head_limit":20}`, fields: "-i glob head_limit ignore_case limit", says: "view.tsx:1:"},
		{tool: "grep_search", input: `{"query":"needle","include_pattern":"*.go","case_sensitive":true,"exclude_pattern":"","explanation":"Find it."}`, fields: "case_sensitive exclude_pattern explanation glob ignore_case include_pattern pattern query", says: "main.go:3:"},
		{tool: "glob_file_search", input: `{"glob_pattern":"**/*.ts","target_directory":"src"}`, fields: "glob_pattern path pattern target_directory", says: "app.ts"},
		{tool: "run_terminal_cmd", input: `{"command":"echo $((6*7))","is_background":false,"explanation":"Compute."}`, fields: "description explanation is_background run_in_background", says: "42"},
		{tool: "Shell", input: `{"command":"while sleep 0.1; do echo up; done","working_directory":"DIR","block_until_ms":0,"description":"Serve"}`, fields: "block_until_ms cwd run_in_background working_directory", says: "job"},
		{tool: "StrReplace", input: `{"path":"a.txt","old_string":"f","new_string":"F","replace_all":true}`, file: "a.txt", holds: "one\n2\nthree\nFour\nFive\n"},
	},
	"Cline": {
		{tool: "read_files", input: `{"files":[{"path":"DIR/a.txt","start_line":2,"end_line":3}]}`, fields: "end_line files limit offset start_line", says: "three"},
		{tool: "read_files", input: `{"files":[{"path":"DIR/a.txt","start_line":null,"end_line":null}]}`, fields: "end_line files start_line", says: "five"},
		{tool: "read_files", input: `{"file_paths":["DIR/a.txt"]}`, fields: "file_paths path", says: "one"},
		{tool: "editor", input: `{"path":"DIR/a.txt","old_text":"two","new_text":"2","insert_line":null}`, fields: "insert_line new_string new_text old_string old_text", file: "a.txt", holds: "one\n2\nthree\nfour\nfive\n"},
		{tool: "write_to_file", input: `{"path":"b.txt","content":"b\n"}`, file: "b.txt", holds: "b\n"},
		{tool: "search_codebase", input: `{"queries":["func needle"]}`, fields: "pattern queries", says: "main.go:3:"},
		{tool: "search_files", input: `{"path":"src","regex":"needle","file_pattern":"*.ts"}`, fields: "file_pattern glob pattern regex", says: "app.ts:1:"},
		{tool: "run_commands", input: `{"commands":["echo $((6*7))"]}`, fields: "command commands", says: "42"},
		{tool: "run_commands", input: `{"commands":[{"command":"printf","args":["%s|","$HOME","a b"]}]}`, fields: "args command commands", says: "$HOME|a b|"},
		{tool: "execute_command", input: `{"command":"ls src","requires_approval":false,"timeout":30}`, fields: "requires_approval timeout timeout_ms", says: "main.go"},
		{tool: "apply_patch", input: `{"input":"*** Begin Patch\n*** Add File: p.txt\n+patched\n*** End Patch"}`, fields: "input patch", file: "p.txt", holds: "patched\n"},
	},
}

// habitualAnswer is the answer to a native call.
type habitualAnswer struct {
	Result struct {
		Invocation agenttool.Invocation `json:"invocation"`
		Result     agenttool.Result     `json:"result"`
	} `json:"result"`
}

// TestHabitsOfHarnesses: calls as the models of six harnesses send them work at the first attempt. The record has what was sent, byte for
// byte, and says what was rewritten.
func TestHabitsOfHarnesses(t *testing.T) {
	t.Parallel()
	total := 0
	for harness, calls := range habitualCalls {
		total += len(calls)
		if len(calls) < 8 {
			t.Errorf("%s: only %d calls", harness, len(calls))
		}
		t.Run(harness, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for name, content := range habitualFiles {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := startServing(t, dir, t.TempDir(), nil, "--sandbox", "none", "--mode", "accept_edits", "--allow", "shell", "--allow", "shell_input")
			job := ""
			fill := func(text string) string { return strings.ReplaceAll(strings.ReplaceAll(text, "DIR", dir), "JOB", job) }
			for i, c := range calls {
				sent := fill(c.input)
				s.send(invocation(i+1, c.tool, sent))
				if !s.out.Scan() {
					t.Fatal("the output ended")
				}
				var got habitualAnswer
				if err := json.Unmarshal(s.out.Bytes(), &got); err != nil {
					t.Fatalf("%s: %v", s.out.Bytes(), err)
				}
				var said strings.Builder
				for _, content := range got.Result.Result.Content {
					said.WriteString(content.Text + content.Diff)
				}
				text := said.String()
				if found := regexp.MustCompile(`\bj\d+\b`).FindString(text); found != "" {
					job = found
				}
				if got.Result.Result.IsError || !strings.Contains(text, fill(c.says)) {
					t.Errorf("%s %s: says %q, want %q", c.tool, sent, text, fill(c.says))
				}
				if c.file != "" {
					if content, err := os.ReadFile(filepath.Join(dir, c.file)); err != nil || string(content) != c.holds {
						t.Errorf("%s %s: %s holds %q, want %q; %v", c.tool, sent, c.file, content, c.holds, err)
					}
				}
				inv := got.Result.Invocation
				if string(inv.ModelInput) != sent {
					t.Errorf("%s: the model's input is %s, and %s was sent", c.tool, inv.ModelInput, sent)
				}
				if fields := adapterFields(t, inv); fields != c.fields {
					t.Errorf("%s %s: the adapter changed %q, want %q", c.tool, sent, fields, c.fields)
				}
			}
		})
	}
	if total < 60 {
		t.Errorf("only %d calls", total)
	}
}

// adapterFields are the fields of the one mutation of an adapter; "": there is none.
func adapterFields(t *testing.T, inv agenttool.Invocation) string {
	t.Helper()
	adapted := slices.DeleteFunc(slices.Clone(inv.Mutations), func(m agenttool.InputMutation) bool { return m.SourceType != "adapter" })
	if len(adapted) == 0 {
		return ""
	}
	m := adapted[0]
	if len(adapted) > 1 || m.Reason == "" || m.FromInputRef != "#/model_input" || m.ToInputRef != "#/observable_input" || m.InvocationID != inv.InvocationID {
		t.Errorf("the mutations are %+v", adapted)
	}
	return strings.Join(m.ChangedFields, " ")
}

// TestHabitsAreJudged: rules and secrets judge what a habit means, never how it is spelled, and a habit that cannot be met runs nothing.
func TestHabitsAreJudged(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secret.txt", "open.txt", ".env"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("TOKEN=hunter2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startServing(t, dir, t.TempDir(), nil, "--sandbox", "none", "--mode", "accept_edits", "--allow", "shell",
		"--deny", "read(secret.txt)", "--deny", "edit(secret.txt)", "--deny", "shell(touch:*)")
	for i, c := range []struct{ tool, input, class string }{
		{"Read", `{"file_path":"secret.txt"}`, "permission_denied"},
		{"read", `{"filePath":"file://DIR/secret.txt"}`, "permission_denied"},
		{"read", `{"path":"file://DIR/%73ecret.txt"}`, "permission_denied"},
		{"read_files", `{"files":[{"file_path":"DIR/secret.txt"}]}`, "permission_denied"},
		{"search_replace", `{"target_file":"secret.txt","old_string":"a","new_string":"b"}`, "permission_denied"},
		{"shell", `{"command":["bash","-lc","touch made"]}`, "permission_denied"},
		{"shell", `{"command":["touch","made"]}`, "permission_denied"},
		{"exec_command", `{"cmd":"touch made"}`, "permission_denied"},
		{"run_commands", `{"commands":[{"command":"touch","args":["made"]}]}`, "permission_denied"},
		{"shell", `{"command":"ls","cmd":"touch made"}`, "schema_validation_failed"},
		{"shell", `{"command":"id > made","dangerouslyDisableSandbox":true}`, "schema_validation_failed"},
		{"read", `{"path":"open.txt","file_path":"secret.txt"}`, "schema_validation_failed"},
		{"grep", `{"pattern":"TOKEN","path":"open.txt","dir_path":"secret.txt"}`, "schema_validation_failed"},
	} {
		got := s.call(i+1, c.tool, strings.ReplaceAll(c.input, "DIR", dir))
		if e := got.Result.Result.Error; e.Class != c.class {
			t.Errorf("%s %s: %s, %s, want %s", c.tool, c.input, e.Class, e.Message, c.class)
		}
		for _, content := range got.Result.Result.Content {
			if strings.Contains(content.Text, "hunter2") {
				t.Errorf("%s %s: the secret was read", c.tool, c.input)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Error("a command ran")
	}
}
