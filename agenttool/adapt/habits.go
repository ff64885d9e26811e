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
	places  string // tools of ours, or lists of one as in edit.edits
	names   string // of members, between blanks; rewrite is called for each that is given
	rewrite func(o *object, name string) error
	own     bool // theirs or ours
}

// Whose the names of a row are.
const (
	theirs = false // of other harnesses. Where the schema of a tool has the name, it means what the schema says
	ours   = true  // of our schemas: the row is about values that are written in another way
)

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
	{"read write edit", "file_path", alias("path"), theirs},                                                         // Claude Code, Codex, Gemini CLI, Cursor
	{"read write edit", "filePath", alias("path"), theirs},                                                          // opencode, Cline
	{"read write edit", "absolute_path", alias("path"), theirs},                                                     // Gemini CLI (older)
	{"read write edit", "target_file", alias("path"), theirs},                                                       // Cursor
	{"read", "files paths file_paths", onlyFile, theirs},                                                            // Cline: a list of requests
	{"read write edit", "file filename", alias("path"), theirs},                                                     // others
	{"grep", "file_path filePath file", alias("path"), theirs},                                                      // others: grep in one file
	{"grep glob", "dir_path", alias("path"), theirs},                                                                // Gemini CLI
	{"grep glob", "target_directory target_directories", alias("path"), theirs},                                     // Cursor
	{"grep glob", "directory dir", alias("path"), theirs},                                                           // others
	{"shell", "workdir", alias("cwd"), theirs},                                                                      // Codex, opencode
	{"shell", "working_directory", alias("cwd"), theirs},                                                            // Cursor
	{"shell", "dir_path directory", alias("cwd"), theirs},                                                           // Gemini CLI (directory: older)
	{"shell", "dir", alias("cwd"), theirs},                                                                          // others
	{"read write edit grep glob", "path", onlyElement("one call reads or changes one place"), ours},                 // Cursor: target_directories is a list
	{"read write edit grep glob", "path", withoutScheme, ours},                                                      // editors' clients: file:///…
	{"shell", "cwd", withoutScheme, ours},                                                                           // the same
	{"read write edit grep glob shell shell_output shell_input shell_kill", "explanation", callDescription, theirs}, // Cursor

	// Lines of a file.
	{"read", "should_read_entire_file", wholeFile, theirs},                   // Cursor (older)
	{"read", "view_range", viewRange, theirs},                                // text editor: [first, last], -1 is the end
	{"read", "start_line end_line", lines("start_line", "end_line"), theirs}, // Gemini CLI, Cline
	{"read", "start_line_one_indexed end_line_one_indexed_inclusive", lines("start_line_one_indexed", "end_line_one_indexed_inclusive"), theirs}, // Cursor (older)
	{"read", "line", alias("offset"), theirs},                                    // others
	{"read", "offset", zeroIsAbsent, ours},                                       // Gemini CLI and opencode (older): lines from 0
	{"read", "allow_large", dropped("a file is read page by page"), theirs},      // Claude Code
	{"read", "pages", droppedIf(`""`, "no pages are named"), theirs},             // Claude Code
	{"read", "mode", droppedIf(`"slice"`, "lines are read as they are"), theirs}, // Codex
	{"read", "command", droppedIf(`"view"`, "this tool shows a file"), theirs},   // text editor

	// The content of a file, and its changes.
	{"write", "file_text", alias("content"), theirs},                                   // text editor
	{"write", "contents", alias("content"), theirs},                                    // Cursor
	{"write", "text data", alias("content"), theirs},                                   // others
	{"write", "command", droppedIf(`"create"`, "this tool writes a file"), theirs},     // text editor
	{"edit edit.edits", "old_str", alias("old_string"), theirs},                        // text editor
	{"edit edit.edits", "new_str", alias("new_string"), theirs},                        // text editor
	{"edit edit.edits", "oldString", alias("old_string"), theirs},                      // opencode
	{"edit edit.edits", "newString", alias("new_string"), theirs},                      // opencode
	{"edit edit.edits", "replaceAll", alias("replace_all"), theirs},                    // opencode
	{"edit edit.edits", "old_text", alias("old_string"), theirs},                       // Cline
	{"edit edit.edits", "new_text", alias("new_string"), theirs},                       // Cline
	{"edit edit.edits", "allow_multiple", alias("replace_all"), theirs},                // Gemini CLI
	{"edit edit.edits", "oldText search old", alias("old_string"), theirs},             // others
	{"edit edit.edits", "newText replace new", alias("new_string"), theirs},            // others
	{"edit", "instruction", dropped("the edit says what to do"), theirs},               // Gemini CLI
	{"edit", "expected_replacements", droppedIf("1", "one place is replaced"), theirs}, // Gemini CLI (older)
	{"edit", "insert_line", droppedIf("null", "nothing is inserted"), theirs},          // Cline
	{"edit", "command", droppedIf(`"str_replace"`, "this tool replaces text"), theirs}, // text editor
	{"edit", "input", alias("patch"), theirs},                                          // Codex, Cline: apply_patch
	{"edit", "patchText", alias("patch"), theirs},                                      // opencode: apply_patch
	{"edit", "patch_text", alias("patch"), theirs},                                     // others

	// Searching.
	{"grep", "regex", alias("pattern"), theirs},                                                       // Cline (older)
	{"grep", "queries", onlyElement("one call searches for one pattern: join them with |"), theirs},   // Cline
	{"grep", "queries", alias("pattern"), theirs},                                                     // Cline
	{"grep glob", "query", alias("pattern"), theirs},                                                  // Cursor (older)
	{"grep", "search", alias("pattern"), theirs},                                                      // others
	{"glob", "glob_pattern", alias("pattern"), theirs},                                                // Cursor
	{"grep", "include", alias("glob"), theirs},                                                        // Codex, opencode
	{"grep", "include_pattern", alias("glob"), theirs},                                                // Gemini CLI, Cursor (older)
	{"grep", "file_pattern", alias("glob"), theirs},                                                   // Cline (older)
	{"grep", "glob_pattern", alias("glob"), theirs},                                                   // others
	{"grep", "glob", oneGlob, ours},                                                                   // others: a list of globs
	{"grep", "-i", alias("ignore_case"), theirs},                                                      // Claude Code, Cursor
	{"grep", "-A", alias("after"), theirs},                                                            // Claude Code, Cursor
	{"grep", "-B", alias("before"), theirs},                                                           // Claude Code, Cursor
	{"grep", "-C", alias("context"), theirs},                                                          // Claude Code, Cursor
	{"grep", "-n", dropped("lines are numbered"), theirs},                                             // Claude Code
	{"grep", "-o", refusedIf("true", "grep shows whole lines, never the matched part alone"), theirs}, // Claude Code
	{"grep", "case_insensitive", alias("ignore_case"), theirs},                                        // others
	{"grep", "case_sensitive", opposite("ignore_case"), theirs},                                       // Gemini CLI, Cursor (older)
	{"glob", "case_sensitive", droppedIf("true", "names are compared with case"), theirs},             // Gemini CLI
	{"grep", "fixed_strings", literally, theirs},                                                      // Gemini CLI
	{"grep", "names_only", namesOnly, theirs},                                                         // Gemini CLI
	{"grep", "exclude_pattern", droppedIf(`""`, "nothing is excluded"), theirs},                       // Gemini CLI, Cursor (older)
	{"grep glob", "respect_git_ignore", opposite("no_ignore"), theirs},                                // Gemini CLI
	{"grep glob", "respect_gemini_ignore", droppedIf("false", ".geminiignore is not read"), theirs},   // Gemini CLI
	{"grep glob", "head_limit", pageLimit, theirs},                                                    // Claude Code, Cursor: 0 is no limit
	{"grep", "total_max_matches", pageLimit, theirs},                                                  // Gemini CLI
	{"grep glob", "max_results", pageLimit, theirs},                                                   // others
	{"read grep glob", "limit", atMost, ours},                                                         // all: larger than a page here

	// Commands.
	{"shell", "cmd", alias("command"), theirs},                                                          // Codex
	{"shell", "commands", onlyElement("one call runs one command: join them with && or ;"), theirs},     // Cline
	{"shell", "commands", oneCommand, theirs},                                                           // Cline
	{"shell", "script", alias("command"), theirs},                                                       // others
	{"shell", "command", argv, ours},                                                                    // Codex (older): ["bash", "-lc", LINE]
	{"shell", "args", arguments, theirs},                                                                // Cline: beside command
	{"shell", "is_background", alias("run_in_background"), theirs},                                      // Gemini CLI, Cursor
	{"shell", "background", alias("run_in_background"), theirs},                                         // others
	{"shell", "block_until_ms", blockUntil, theirs},                                                     // Cursor: 0 does not wait
	{"shell", "yield_time_ms", alias("timeout_ms"), theirs},                                             // Codex: it goes on then, as here
	{"shell", "timeout timeoutMs", milliseconds("timeout_ms"), theirs},                                  // Claude Code, opencode; Cline (older): seconds
	{"shell", "timeout_ms", atMost, ours},                                                               // Claude Code: up to two hours in the background
	{"shell", "delay_ms", dropped("shell_output waits for output"), theirs},                             // Gemini CLI
	{"shell shell_input", "max_output_tokens", dropped("long output is cut, and stored whole"), theirs}, // Codex
	{"shell", "login", dropped("no start-up file is read"), theirs},                                     // Codex
	{"shell", "shell", bashOnly, theirs},                                                                // Codex
	{"shell", "justification", dropped("the person is asked by toolhost"), theirs},                      // Codex
	{"shell", "prefix_rule", dropped("rules are the person's"), theirs},                                 // Codex
	{"shell", "requires_approval", dropped("toolhost decides what needs approval"), theirs},             // Cline (older)
	{"shell", "sandbox_permissions", insideSandbox(`"use_default"`), theirs},                            // Codex
	{"shell", "with_escalated_permissions", insideSandbox("false"), theirs},                             // Codex (older)
	{"shell", "dangerouslyDisableSandbox", insideSandbox("false"), theirs},                              // Claude Code

	// Jobs.
	{"shell_output shell_input shell_kill", "bash_id", alias("job"), theirs},          // Claude Code
	{"shell_output shell_input shell_kill", "shell_id task_id", alias("job"), theirs}, // Claude Code
	{"shell_output shell_input shell_kill", "session_id", alias("job"), theirs},       // Codex
	{"shell_output shell_input shell_kill", "pid", alias("job"), theirs},              // Gemini CLI
	{"shell_output shell_input shell_kill", "job_id id", alias("job"), theirs},        // others
	{"shell_output", "filter", alias("grep"), theirs},                                 // Claude Code
	{"shell_output", "block", untilExit, theirs},                                      // Claude Code
	{"shell_output", "timeout", alias("wait_ms"), theirs},                             // Claude Code
	{"shell_output", "lines", alias("tail"), theirs},                                  // Gemini CLI
	{"shell_output", "delay_ms", alias("wait_ms"), theirs},                            // Gemini CLI
	{"shell_input", "chars", alias("text"), theirs},                                   // Codex: write_stdin
	{"shell_input", "input", alias("text"), theirs},                                   // others
	{"shell_output shell_input", "yield_time_ms", alias("wait_ms"), theirs},           // Codex
	{"shell_output shell_input", "wait_ms", atMost, ours},                             // all: longer than a call may wait
	{"shell_output", "tail", atMost, ours},                                            // all
}

// alias says that a member is one of ours by another name.
func alias(member string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if o.shape.Properties[member] == nil {
			return nil
		}
		return o.rename(name, member, o.members[name], name+" is "+member+" here")
	}
}

// opposite says that a member is the opposite of one of ours.
func opposite(member string) func(o *object, name string) error {
	return func(o *object, name string) error {
		yes, ok := truth(o.members[name])
		if !ok || o.shape.Properties[member] == nil {
			return nil
		}
		return o.rename(name, member, json.RawMessage(fmt.Sprint(!yes)), name+" is the opposite of "+member+" here")
	}
}

// dropped leaves out a member that asks for what is done anyway, or for nothing that matters here.
func dropped(why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		o.drop(name, name+" is left out: "+why)
		return nil
	}
}

// droppedIf leaves out a member with a value that asks for what is done anyway, or with null, which asks for nothing.
func droppedIf(value, why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if v := o.members[name]; same(v, json.RawMessage(value)) || o.isNull(name) {
			o.drop(name, name+" is left out: "+why)
		}
		return nil
	}
}

// refusedIf refuses a member with a value that asks for what no tool here does, and leaves out one with any other value.
func refusedIf(value, why string) func(o *object, name string) error {
	return func(o *object, name string) error {
		if strings.EqualFold(strings.Trim(string(o.members[name]), `"`), value) {
			return unsupported(fmt.Sprintf("%s is not supported: %s. Leave it out", name, why), name)
		}
		o.drop(name, name+" is left out: it asks for nothing")
		return nil
	}
}

// insideSandbox leaves out a member that asks to stay in the sandbox, and refuses one that asks to leave it. stays is the value that asks to stay.
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

// onlyElement takes the one element out of a list. A list of several is refused, with why.
func onlyElement(why string) func(o *object, name string) error {
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
	if err := onlyElement("one call reads one file: make a call for each, they may be sent together")(o, name); err != nil {
		return err
	}
	value := o.members[name]
	if value[0] != '{' {
		return alias("path")(o, name)
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
	for _, theirs := range []string{"file_path", "filePath"} { // whose rows come before this one
		if o.members[theirs] != nil {
			if err := alias("path")(o, theirs); err != nil {
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

// callDescription is a sentence about the call: the description of a command, and left out for other tools.
func callDescription(o *object, name string) error {
	if o.shape.Properties["description"] == nil || o.members["description"] != nil {
		return dropped("the call says what it does")(o, name)
	}
	return alias("description")(o, name)
}

// wholeFile asks for the whole file: then the members that name lines are left out.
func wholeFile(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	o.drop(name, name+" is left out: without lines, the whole file is read, page by page")
	if !yes {
		return nil
	}
	for _, line := range []string{"start_line_one_indexed", "end_line_one_indexed_inclusive", "offset", "limit"} {
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

// lines replaces the named members, which hold a first and a last line, by offset and limit. A last line of -1 is the end of the file; nil is
// none.
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
	if err := o.rename(names[0], "offset", number(first), reason); err != nil {
		return err
	}
	if !isGiven(lastLine) { // as many as usual
		return nil
	}
	return o.rename(names[0], "limit", number(count), reason)
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

// literally escapes the pattern, so that it matches its own text.
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

// namesOnly asks for the names of files instead of their lines.
func namesOnly(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	if !yes {
		o.drop(name, name+" is left out: lines are shown")
		return nil
	}
	return o.rename(name, "output_mode", jsonText("files_with_matches"), name+" is output_mode files_with_matches here")
}

// pageLimit is a number of results. 0, which means no limit elsewhere, is the largest page.
func pageLimit(o *object, name string) error {
	member := o.shape.Properties["limit"]
	n, ok := whole(o.members[name])
	if !ok || member == nil || member.Maximum == nil {
		return alias("limit")(o, name)
	}
	if n == 0 {
		return o.rename(name, "limit", number(int64(*member.Maximum)), name+" 0 is the largest limit here")
	}
	return alias("limit")(o, name)
}

// atMost lowers a number to the largest that the schema takes: another call brings what is beyond it.
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
		return alias("command")(o, name)
	}
	members, err := json.Members(value)
	if err != nil || members["command"] == nil {
		return nil
	}
	if args := members["args"]; args != nil {
		if err := o.rename(name, "args", args, "what "+name+" asks for is asked for directly"); err != nil {
			return err
		}
	}
	return o.rename(name, "command", members["command"], name+" is command here")
}

// argv joins a list of words into a line. Of a list that only makes bash run a line, such as ["bash", "-lc", LINE], it is that line.
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

// arguments joins the program that command names and its list of arguments into one line.
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

// blockUntil is how many milliseconds a call waits; 0: it does not wait.
func blockUntil(o *object, name string) error {
	n, ok := whole(o.members[name])
	if !ok || n < 0 {
		return nil
	}
	if n == 0 {
		return o.rename(name, "run_in_background", json.RawMessage("true"), name+" 0 is run_in_background here")
	}
	return alias("timeout_ms")(o, name)
}

// maxSeconds is the largest timeout that counts as seconds: as milliseconds it would be none.
const maxSeconds = 600

// milliseconds is a time in milliseconds, or in seconds if it is too short for that.
func milliseconds(member string) func(o *object, name string) error {
	return func(o *object, name string) error {
		n, ok := seconds(o.members[name])
		if !ok || n <= 0 || n > maxSeconds || name != "timeout" {
			return alias(member)(o, name)
		}
		return o.rename(name, member, number(int64(n*1000)), name+" is "+member+" here, and was in seconds")
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

// untilExit asks whether to wait for the end of a job.
func untilExit(o *object, name string) error {
	yes, ok := truth(o.members[name])
	if !ok {
		return nil
	}
	if !yes {
		o.drop(name, name+" is left out: nothing is waited for")
		return nil
	}
	return o.rename(name, "until", jsonText("exit"), name+" is until exit here")
}
