package adapt

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool/json"
)

// habit is a row of the table: members that models write, and what becomes of them.
type habit struct {
	places  string   // tools of ours, or lists of one as in edit.edits
	names   []string // members as they write them; rewrite is called for each that is given
	rewrite func(o *object, name string) error
	own     bool // the names are ours: it is their value that is written in another way
}

// habits are what models write by habit, and what it is here. The rows of a place are applied from top to bottom.
//
// The harnesses, where their schemas were read:
//
//	Claude Code   sdk-tools.d.ts of the npm package @anthropic-ai/claude-agent-sdk
//	text editor   Anthropic's tool text_editor (str_replace_based_edit_tool), which Claude models are trained in
//	Codex         openai/codex, codex-rs/core/src/tools/handlers/{shell_spec,grep_files,read_file}.rs, and the older shell tool
//	Gemini CLI    npm @google/gemini-cli-core, tools/definitions; members of older releases are marked so
//	opencode      npm opencode-ai, the tools' parameters
//	Cline         cline/cline, sdk/packages/core/src/extensions/tools/schemas.ts; older: the tools before its SDK
//	Cursor        its agent's tools, of which there are public copies only (read_file, run_terminal_cmd, search_replace, grep, …)
//	others        seen in the logs of no single harness: plain words that stand for nothing else here
var habits = []habit{
	// The file or the directory.
	{"read write edit", names("file_path"), is("path"), false},                                                // Claude Code, Codex, Gemini CLI, Cursor
	{"read write edit", names("filePath"), is("path"), false},                                                 // opencode, Cline
	{"read write edit", names("absolute_path"), is("path"), false},                                            // Gemini CLI (older)
	{"read write edit", names("target_file"), is("path"), false},                                              // Cursor
	{"read", names("files", "paths", "file_paths"), onlyFile, false},                                          // Cline: a list of requests
	{"read write edit", names("file", "filename"), is("path"), false},                                         // others
	{"grep", names("file_path", "filePath", "file"), is("path"), false},                                       // others: grep in one file
	{"grep glob", names("dir_path"), is("path"), false},                                                       // Gemini CLI
	{"grep glob", names("target_directory", "target_directories"), is("path"), false},                         // Cursor
	{"grep glob", names("directory", "dir"), is("path"), false},                                               // others
	{"shell", names("workdir"), is("cwd"), false},                                                             // Codex, opencode
	{"shell", names("working_directory"), is("cwd"), false},                                                   // Cursor
	{"shell", names("dir_path", "directory"), is("cwd"), false},                                               // Gemini CLI (directory: older)
	{"shell", names("dir"), is("cwd"), false},                                                                 // others
	{"read write edit grep glob", names("path"), only("one call reads or changes one place"), true},           // Cursor: target_directories is a list
	{"read write edit grep glob", names("path"), withoutScheme, true},                                         // editors' clients: file:///…
	{"shell", names("cwd"), withoutScheme, true},                                                              // the same
	{"read write edit grep glob shell shell_output shell_input shell_kill", names("explanation"), say, false}, // Cursor

	// Lines of a file.
	{"read", names("should_read_entire_file"), wholeFile, false},                                                                                          // Cursor (older)
	{"read", names("view_range"), viewRange, false},                                                                                                       // text editor: [first, last], -1 is the end
	{"read", names("start_line", "end_line"), lines("start_line", "end_line"), false},                                                                     // Gemini CLI, Cline
	{"read", names("start_line_one_indexed", "end_line_one_indexed_inclusive"), lines("start_line_one_indexed", "end_line_one_indexed_inclusive"), false}, // Cursor (older)
	{"read", names("line"), is("offset"), false},                                                                                                          // others
	{"read", names("offset"), zeroIsAbsent, true},                                                                                                         // Gemini CLI and opencode (older): lines from 0
	{"read", names("allow_large"), dropped("a file is read page by page"), false},                                                                         // Claude Code
	{"read", names("pages"), droppedIf(`""`, "no pages are named"), false},                                                                                // Claude Code
	{"read", names("mode"), droppedIf(`"slice"`, "lines are read as they are"), false},                                                                    // Codex
	{"read", names("command"), droppedIf(`"view"`, "this tool shows a file"), false},                                                                      // text editor

	// The content of a file, and its changes.
	{"write", names("file_text"), is("content"), false},                                      // text editor
	{"write", names("contents"), is("content"), false},                                       // Cursor
	{"write", names("text", "data"), is("content"), false},                                   // others
	{"write", names("command"), droppedIf(`"create"`, "this tool writes a file"), false},     // text editor
	{"edit edit.edits", names("old_str"), is("old_string"), false},                           // text editor
	{"edit edit.edits", names("new_str"), is("new_string"), false},                           // text editor
	{"edit edit.edits", names("oldString"), is("old_string"), false},                         // opencode
	{"edit edit.edits", names("newString"), is("new_string"), false},                         // opencode
	{"edit edit.edits", names("replaceAll"), is("replace_all"), false},                       // opencode
	{"edit edit.edits", names("old_text"), is("old_string"), false},                          // Cline
	{"edit edit.edits", names("new_text"), is("new_string"), false},                          // Cline
	{"edit edit.edits", names("allow_multiple"), is("replace_all"), false},                   // Gemini CLI
	{"edit edit.edits", names("oldText", "search", "old"), is("old_string"), false},          // others
	{"edit edit.edits", names("newText", "replace", "new"), is("new_string"), false},         // others
	{"edit", names("instruction"), dropped("the edit says what to do"), false},               // Gemini CLI
	{"edit", names("expected_replacements"), droppedIf("1", "one place is replaced"), false}, // Gemini CLI (older)
	{"edit", names("insert_line"), droppedIf("null", "nothing is inserted"), false},          // Cline
	{"edit", names("command"), droppedIf(`"str_replace"`, "this tool replaces text"), false}, // text editor
	{"edit", names("input"), is("patch"), false},                                             // Codex, Cline: apply_patch
	{"edit", names("patchText"), is("patch"), false},                                         // opencode: apply_patch
	{"edit", names("patch_text"), is("patch"), false},                                        // others

	// Searching.
	{"grep", names("regex"), is("pattern"), false},                                                          // Cline (older)
	{"grep", names("queries"), only("one call searches for one pattern: join them with |"), false},          // Cline
	{"grep", names("queries"), is("pattern"), false},                                                        // Cline
	{"grep glob", names("query"), is("pattern"), false},                                                     // Cursor (older)
	{"grep", names("search"), is("pattern"), false},                                                         // others
	{"glob", names("glob_pattern"), is("pattern"), false},                                                   // Cursor
	{"grep", names("include"), is("glob"), false},                                                           // Codex, opencode
	{"grep", names("include_pattern"), is("glob"), false},                                                   // Gemini CLI, Cursor (older)
	{"grep", names("file_pattern"), is("glob"), false},                                                      // Cline (older)
	{"grep", names("glob_pattern"), is("glob"), false},                                                      // others
	{"grep", names("glob"), oneGlob, true},                                                                  // others: a list of globs
	{"grep", names("-i"), is("ignore_case"), false},                                                         // Claude Code, Cursor
	{"grep", names("-A"), is("after"), false},                                                               // Claude Code, Cursor
	{"grep", names("-B"), is("before"), false},                                                              // Claude Code, Cursor
	{"grep", names("-C"), is("context"), false},                                                             // Claude Code, Cursor
	{"grep", names("-n"), dropped("lines are numbered"), false},                                             // Claude Code
	{"grep", names("-o"), refusedIf("true", "grep shows whole lines, never the matched part alone"), false}, // Claude Code
	{"grep", names("case_insensitive"), is("ignore_case"), false},                                           // others
	{"grep", names("case_sensitive"), not("ignore_case"), false},                                            // Gemini CLI, Cursor (older)
	{"glob", names("case_sensitive"), droppedIf("true", "names are compared with case"), false},             // Gemini CLI
	{"grep", names("fixed_strings"), literally, false},                                                      // Gemini CLI
	{"grep", names("names_only"), namesOnly, false},                                                         // Gemini CLI
	{"grep", names("exclude_pattern"), droppedIf(`""`, "nothing is excluded"), false},                       // Gemini CLI, Cursor (older)
	{"grep glob", names("respect_git_ignore"), not("no_ignore"), false},                                     // Gemini CLI
	{"grep glob", names("respect_gemini_ignore"), droppedIf("false", ".geminiignore is not read"), false},   // Gemini CLI
	{"grep glob", names("head_limit"), limit, false},                                                        // Claude Code, Cursor: 0 is no limit
	{"grep", names("total_max_matches"), limit, false},                                                      // Gemini CLI
	{"grep glob", names("max_results"), limit, false},                                                       // others
	{"read grep glob", names("limit"), atMost, true},                                                        // all: larger than a page here

	// Commands.
	{"shell", names("cmd"), is("command"), false},                                                             // Codex
	{"shell", names("commands"), only("one call runs one command: join them with && or ;"), false},            // Cline
	{"shell", names("commands"), oneCommand, false},                                                           // Cline
	{"shell", names("script"), is("command"), false},                                                          // others
	{"shell", names("command"), argv, true},                                                                   // Codex (older): ["bash", "-lc", LINE]
	{"shell", names("args"), arguments, false},                                                                // Cline: beside command
	{"shell", names("is_background"), is("run_in_background"), false},                                         // Gemini CLI, Cursor
	{"shell", names("background"), is("run_in_background"), false},                                            // others
	{"shell", names("block_until_ms"), blockUntil, false},                                                     // Cursor: 0 does not wait
	{"shell", names("yield_time_ms"), is("timeout_ms"), false},                                                // Codex: it goes on then, as here
	{"shell", names("timeout", "timeoutMs"), milliseconds("timeout_ms"), false},                               // Claude Code, opencode; Cline (older): seconds
	{"shell", names("timeout_ms"), atMost, true},                                                              // Claude Code: up to two hours in the background
	{"shell", names("delay_ms"), dropped("shell_output waits for output"), false},                             // Gemini CLI
	{"shell shell_input", names("max_output_tokens"), dropped("long output is cut, and stored whole"), false}, // Codex
	{"shell", names("login"), dropped("no start-up file is read"), false},                                     // Codex
	{"shell", names("shell"), bashOnly, false},                                                                // Codex
	{"shell", names("justification"), dropped("the person is asked by toolhost"), false},                      // Codex
	{"shell", names("prefix_rule"), dropped("rules are the person's"), false},                                 // Codex
	{"shell", names("requires_approval"), dropped("toolhost decides what needs approval"), false},             // Cline (older)
	{"shell", names("sandbox_permissions"), insideSandbox(`"use_default"`), false},                            // Codex
	{"shell", names("with_escalated_permissions"), insideSandbox("false"), false},                             // Codex (older)
	{"shell", names("dangerouslyDisableSandbox"), insideSandbox("false"), false},                              // Claude Code

	// Jobs.
	{"shell_output shell_input shell_kill", names("bash_id"), is("job"), false},             // Claude Code
	{"shell_output shell_input shell_kill", names("shell_id", "task_id"), is("job"), false}, // Claude Code
	{"shell_output shell_input shell_kill", names("session_id"), is("job"), false},          // Codex
	{"shell_output shell_input shell_kill", names("pid"), is("job"), false},                 // Gemini CLI
	{"shell_output shell_input shell_kill", names("job_id", "id"), is("job"), false},        // others
	{"shell_output", names("filter"), is("grep"), false},                                    // Claude Code
	{"shell_output", names("block"), untilExit, false},                                      // Claude Code
	{"shell_output", names("timeout"), is("wait_ms"), false},                                // Claude Code
	{"shell_output", names("lines"), is("tail"), false},                                     // Gemini CLI
	{"shell_output", names("delay_ms"), is("wait_ms"), false},                               // Gemini CLI
	{"shell_input", names("chars"), is("text"), false},                                      // Codex: write_stdin
	{"shell_input", names("input"), is("text"), false},                                      // others
	{"shell_output shell_input", names("yield_time_ms"), is("wait_ms"), false},              // Codex
	{"shell_output shell_input", names("wait_ms"), atMost, true},                            // all: longer than a call may wait
	{"shell_output", names("tail"), atMost, true},                                           // all
}

func names(list ...string) []string { return list }

// is says that a member is one of ours by another name.
func is(ours string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if o.shape.Properties[ours] == nil {
			return nil
		}
		return o.become(name, ours, o.members[name], name+" is "+ours+" here")
	}
}

// not says that a member is the opposite of one of ours.
func not(ours string) func(o *object, name string) error {
	return func(o *object, name string) error {
		yes, ok := truth(o.members[name])
		if !ok || o.shape.Properties[ours] == nil {
			return nil
		}
		return o.become(name, ours, json.RawMessage(fmt.Sprint(!yes)), name+" is the opposite of "+ours+" here")
	}
}

// dropped says that a member asks for what is done anyway, or for nothing that counts.
func dropped(why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		o.drop(name, name+" is left out: "+why)
		return nil
	}
}

// droppedIf says that a member asks for what is done anyway if it has a value. Null asks for nothing.
func droppedIf(value, why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if v := o.members[name]; same(v, json.RawMessage(value)) || o.isNull(name) {
			o.drop(name, name+" is left out: "+why)
		}
		return nil
	}
}

// refusedIf says that a value asks for what no tool here does, and any other value for nothing.
func refusedIf(value, why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if strings.EqualFold(strings.Trim(string(o.members[name]), `"`), value) {
			return unsupported(fmt.Sprintf("%s is not supported: %s. Leave it out", name, why), name)
		}
		o.drop(name, name+" is left out: it asks for nothing")
		return nil
	}
}

// insideSandbox drops a wish to stay in the sandbox, and refuses a wish to leave it.
func insideSandbox(stays string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if !same(o.members[name], json.RawMessage(stays)) {
			return unsupported(name+" is not supported: a command asks for nothing in advance. Leave it out; "+
				"if the sandbox then refuses an access, the person is asked about that access", name)
		}
		o.drop(name, name+" is left out: commands run in the sandbox")
		return nil
	}
}

// only takes the one element out of a list. A list of several is refused, with why.
func only(why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		value := o.members[name]
		if value[0] != '[' {
			return nil
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return nil
		}
		if len(list) != 1 {
			return unsupported(fmt.Sprintf("%s lists %d values: %s", name, len(list), why), name)
		}
		o.set(name, list[0], name+" is a list of one", name)
		return nil
	}
}

// onlyFile reads a list of requests to read files, which may be of one only: a path, or an object with a path and lines.
func onlyFile(o *object, name string) error {
	if err := only("one call reads one file: make a call for each, they may be sent together")(o, name); err != nil {
		return err
	}
	value := o.members[name]
	if value[0] != '{' {
		return is("path")(o, name)
	}
	request, err := json.Members(value)
	if err != nil {
		return nil
	}
	o.drop(name, "what "+name+" asks for is asked for directly")
	for member, value := range request {
		if given, there := o.members[member]; there && !same(given, value) {
			return conflict(fmt.Sprintf("%s and the one in %s say different things: give one of them", member, name), member)
		}
		o.members[member] = value
	}
	for _, theirs := range names("file_path", "filePath") { // whose rows come before this one
		if o.members[theirs] != nil {
			if err := is("path")(o, theirs); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutScheme takes the path out of a file URI of this machine.
func withoutScheme(o *object, name string) error {
	uri, ok := text(o.members[name])
	if !ok || !strings.HasPrefix(uri, "file:") {
		return nil
	}
	u, err := url.Parse(uri)
	if err != nil || u.Opaque != "" || u.User != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return unsupported(name+" is no file: URI of a file of this machine: give the plain path", name)
	}
	o.set(name, jsonText(u.Path), name+" is a file: URI", name)
	return nil
}

// say is a sentence about the call: a command shows it, for another tool it says nothing.
func say(o *object, name string) error {
	if o.shape.Properties["description"] == nil || o.members["description"] != nil {
		return dropped("the call says what it does")(o, name)
	}
	return is("description")(o, name)
}

// wholeFile is a wish for the whole file: no lines then.
func wholeFile(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	o.drop(name, name+" is left out: without lines, the whole file is read, page by page")
	if !yes {
		return nil
	}
	for _, line := range names("start_line_one_indexed", "end_line_one_indexed_inclusive", "offset", "limit") {
		if o.members[line] != nil {
			o.drop(line, line+" is left out: the whole file is asked for")
		}
	}
	return nil
}

// viewRange reads [first, last].
func viewRange(o *object, name string) error {
	var pair []json.RawMessage
	if json.Unmarshal(o.members[name], &pair) != nil || len(pair) != 2 {
		return nil
	}
	return o.lines(pair[0], pair[1], name)
}

// lines reads the first line in one member and the last in another. Either may be missing.
func lines(first, last string) func(o *object, name string) error {
	return func(o *object, name string) error {
		switch {
		case o.members[first] == nil:
			return o.lines(nil, o.members[last], last)
		case o.members[last] == nil:
			return o.lines(o.members[first], nil, first)
		}
		return o.lines(o.members[first], o.members[last], first, last)
	}
}

// lines makes a first line and a last one, which stand in members of those names, our first line and number of lines. A last line of -1 is
// the end of the file; nil is none.
func (o *object) lines(firstLine, lastLine json.RawMessage, names ...string) error {
	limit := o.shape.Properties["limit"]
	if limit == nil || limit.Maximum == nil || o.shape.Properties["offset"] == nil {
		return nil
	}
	first, last, most := int64(1), int64(-1), int64(*limit.Maximum)
	isGiven := func(value json.RawMessage) bool { return value != nil && string(value) != "null" }
	var ok bool
	if isGiven(firstLine) {
		if first, ok = whole(firstLine); !ok {
			return nil
		}
		first = max(first, 1)
	}
	if isGiven(lastLine) {
		if last, ok = whole(lastLine); !ok {
			return nil
		}
	}
	count := most
	switch {
	case last >= first:
		count = min(last-first+1, most)
	case last != -1:
		return conflict(fmt.Sprintf("the lines end before they begin: from %d to %d", first, last), names[0])
	}
	reason := strings.Join(names, " and ") + " are offset and limit here"
	for _, name := range names {
		delete(o.members, name)
	}
	o.changes = append(o.changes, Change{names, reason})
	if err := o.become(names[0], "offset", number(first), reason); err != nil {
		return err
	}
	if !isGiven(lastLine) { // as many as usual
		return nil
	}
	return o.become(names[0], "limit", number(count), reason)
}

// zeroIsAbsent takes out a first line of 0, which is the start whether lines count from 0 or from 1.
func zeroIsAbsent(o *object, name string) error {
	if n, ok := whole(o.members[name]); ok && n == 0 {
		o.drop(name, name+" 0 is the start of the file")
	}
	return nil
}

// oneGlob makes a list of globs the one that the tool takes: with commas.
func oneGlob(o *object, name string) error {
	list, ok := texts(o.members[name])
	if !ok {
		return nil
	}
	list = slices.DeleteFunc(list, func(glob string) bool { return glob == "" })
	if len(list) == 0 {
		o.drop(name, name+" is an empty list: it says nothing")
		return nil
	}
	o.set(name, jsonText(strings.Join(list, ",")), name+" is a list", name)
	return nil
}

// literally makes the pattern one that matches its own text.
func literally(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	if pattern, isText := text(o.members["pattern"]); yes && o.members["pattern"] != nil && isText {
		o.set("pattern", jsonText(regexp.QuoteMeta(pattern)), "the pattern is meant literally", "pattern")
	} else if yes {
		return nil
	}
	o.drop(name, name+" is left out: the pattern says it")
	return nil
}

// namesOnly is a wish for the names of files.
func namesOnly(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	if !yes {
		o.drop(name, name+" is left out: lines are shown")
		return nil
	}
	return o.become(name, "output_mode", jsonText("files_with_matches"), name+" is output_mode files_with_matches here")
}

// limit is a number of results, where 0 is no limit: the largest page then.
func limit(o *object, name string) error {
	member := o.shape.Properties["limit"]
	n, ok := whole(o.members[name])
	if !ok || member == nil || member.Maximum == nil {
		return is("limit")(o, name)
	}
	if n == 0 {
		return o.become(name, "limit", number(int64(*member.Maximum)), name+" 0 is the largest limit here")
	}
	return is("limit")(o, name)
}

// atMost makes a number the largest that the schema takes: what is beyond it comes with another call.
func atMost(o *object, name string) error {
	member := o.shape.Properties[name]
	n, ok := whole(o.members[name])
	if !ok || member == nil || member.Maximum == nil || float64(n) <= *member.Maximum {
		return nil
	}
	most := int64(*member.Maximum)
	o.set(name, number(most), fmt.Sprintf("%s is at most %d here", name, most), name)
	return nil
}

// oneCommand is the one command of a list: a line, or a program with its arguments.
func oneCommand(o *object, name string) error {
	value := o.members[name]
	if value[0] != '{' {
		return is("command")(o, name)
	}
	members, err := json.Members(value)
	if err != nil || members["command"] == nil {
		return nil
	}
	if args := members["args"]; args != nil {
		if err := o.become(name, "args", args, "what "+name+" asks for is asked for directly"); err != nil {
			return err
		}
	}
	return o.become(name, "command", members["command"], name+" is command here")
}

// argv makes a list of words a line. That of a bash which runs a line is this line.
func argv(o *object, name string) error {
	words, ok := texts(o.members[name])
	if !ok || len(words) == 0 {
		return nil
	}
	bash := words[0] == "bash" || words[0] == "/bin/bash" || words[0] == "/usr/bin/bash"
	if bash && len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
		o.set(name, jsonText(words[2]), name+" is a list of words for bash: its line is run", name)
		return nil
	}
	line, err := quote(words)
	if err != nil {
		return unsupported(name+" is a list of words, one of which no command line can have: "+err.Error(), name)
	}
	o.set(name, jsonText(line), name+" is a list of words", name)
	return nil
}

// arguments are those of the program that command names.
func arguments(o *object, name string) error {
	program, isText := "", false
	if value := o.members["command"]; value != nil {
		program, isText = text(value)
	}
	words, ok := texts(o.members[name])
	if !ok || !isText {
		return nil
	}
	if len(words) == 0 {
		o.drop(name, name+" is an empty list: it says nothing")
		return nil
	}
	line, err := quote(append([]string{program}, words...))
	if err != nil {
		return unsupported(name+" has a word that no command line can have: "+err.Error(), name)
	}
	o.drop(name, "command and args are one line here")
	o.set("command", jsonText(line), "command and args are one line here", "command")
	return nil
}

// quote writes words as bash reads them.
func quote(words []string) (string, error) {
	quoted := make([]string, len(words))
	for i, word := range words {
		var err error
		if quoted[i], err = syntax.Quote(word, syntax.LangBash); err != nil {
			return "", err
		}
	}
	return strings.Join(quoted, " "), nil
}

// blockUntil is how long a call waits; 0: it does not wait.
func blockUntil(o *object, name string) error {
	n, ok := whole(o.members[name])
	if !ok || n < 0 {
		return nil
	}
	if n == 0 {
		return o.become(name, "run_in_background", json.RawMessage("true"), name+" 0 is run_in_background here")
	}
	return is("timeout_ms")(o, name)
}

// maxSeconds is the largest timeout that counts as seconds: as milliseconds it would be none.
const maxSeconds = 600

// milliseconds is a time in milliseconds, or in seconds if it is too short for that.
func milliseconds(ours string) func(o *object, name string) error {
	return func(o *object, name string) error {
		n, ok := seconds(o.members[name])
		if !ok || n <= 0 || n > maxSeconds || name != "timeout" {
			return is(ours)(o, name)
		}
		return o.become(name, ours, number(int64(n*1000)), name+" is "+ours+" here, and was in seconds")
	}
}

// bashOnly drops the name of the shell that runs commands here.
func bashOnly(o *object, name string) error {
	if shell, ok := text(o.members[name]); ok && shell != "" && shell != "bash" && !strings.HasSuffix(shell, "/bash") {
		return unsupported(name+" is not supported: commands run in bash. Leave it out, or run the other shell from the command", name)
	}
	o.drop(name, name+" is left out: commands run in bash")
	return nil
}

// untilExit is a wish to wait for the end of a job.
func untilExit(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	if !yes {
		o.drop(name, name+" is left out: nothing is waited for")
		return nil
	}
	return o.become(name, "until", jsonText("exit"), name+" is until exit here")
}
