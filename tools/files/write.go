package files

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// writeTool creates a file, or replaces the whole content of one.
type writeTool struct{ *session }

// Describe returns the tool's records. Destructive is inferred: whether a file would be replaced is known only later.
func (writeTool) Describe() agenttool.Description {
	d := describeChange(contracts(agenttool.Declaration{
		Name: "write", Title: "Write file", Aliases: []string{"write_file", "Write", "write_to_file"},
		Description: "Creates a file or replaces all of it. An existing file must have been read in this session.",
		SearchHint:  "create save overwrite replace new file",
	}, "change", `{"path":"notes/today.md","content":"# Today\n"}`), true)
	d.Interface.InferredFacts = []string{"is_destructive"}
	d.Execution.SupportsRetries = true // repeating the call has no further effect
	return d
}

// Bind checks the input and names the path that is written.
func (t writeTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	in := writeInput{session: t.session, overwrite: t.options.Overwrite}
	if err := agenttool.DecodeInput(input, &in); err != nil {
		return nil, err
	}
	if _, err := parseEncoding(in.Encoding, nil); err != nil {
		return nil, err
	}
	p, err := filePath(scope, in.Path)
	if err != nil {
		return nil, err
	}
	in.Path = agenttool.SpellPath(p.Absolute)
	facts := changeFacts(p)
	facts.Destructive = agenttool.Yes
	facts.Inferred = []string{"destructive"}
	facts.Reasons = []agenttool.Reason{{Fact: "destructive", Text: "write may replace a file"}}
	return &change{session: t.session, input: in, facts: facts, reviser: in}, nil
}

// filePath returns the path of a file to change. It refuses paths that can only be directories.
func filePath(scope agenttool.Scope, spelling string) (agenttool.Path, error) {
	p, err := workspace.Path(scope, spelling)
	if err != nil {
		return p, err
	}
	last := p.Absolute[strings.LastIndexByte(p.Absolute, '/')+1:]
	if last == "" || last == "." || last == ".." {
		return p, invalid("/path", fmt.Sprintf("%q names a directory: name a file in it", spelling))
	}
	return p, nil
}

// revise converts the content to the form of the file.
func (in writeInput) revise(_ context.Context, was *document) (revision, error) {
	if int64(len(in.Content)) > was.limit {
		return revision{}, tooLarge(was.path.Spelling, int64(len(in.Content)), was.limit)
	}
	declared, err := parseEncoding(in.Encoding, was.raw)
	if err != nil {
		return revision{}, err
	}
	if len(was.raw) == 0 {
		return in.session.convention(was.path).newText(in.Content, declared)
	}
	if declared != encoding.Binary && declared != was.found.Encoding && !was.mayBe(declared) {
		return in.convert(was, declared)
	}
	if err := was.decodeAs(in.Encoding); err != nil {
		return revision{}, err
	}
	plain := revision{raw: []byte(in.Content), text: []byte(in.Content)}
	if bytes.Equal(was.raw, plain.raw) {
		return plain, nil
	}
	if was.form.binary {
		return plain, in.mayReplace(was)
	}
	text, note := in.fit(was)
	if bytes.Equal(text, was.text) {
		return revision{raw: was.raw, text: text}, nil
	}
	if known := in.mayReplace(was); known != nil {
		return revision{}, known
	}
	if err := was.changeable(); err != nil {
		return revision{}, err
	}
	raw, err := was.rewrite(text)
	if was.form.encoding.IsLegacy() && note == "" {
		note = "kept as " + was.form.encoding.String() + " (not UTF-8)"
	}
	return revision{raw: raw, text: text, note: note}, err
}

// convert writes the content in another encoding than that of the file.
func (in writeInput) convert(was *document, declared encoding.Encoding) (revision, error) {
	if err := in.mayReplace(was); err != nil {
		return revision{}, err
	}
	text := []byte(in.Content)
	note := ""
	if !was.form.binary {
		text, note = in.fit(was)
	}
	raw, err := encodeNew(declared, string(text))
	return revision{raw: raw, text: text, note: note}, err
}

// fit gives a content the line ends of the file that it replaces, unless it has CRLF itself: then its ends are meant. In
// a file with CRLF and LF each line keeps its end. A byte order mark in the content is dropped if the file has one.
func (in writeInput) fit(was *document) (text []byte, note string) {
	content := in.Content
	if was.form.bom && !bytes.HasPrefix(was.text, []byte("\ufeff")) {
		content = strings.TrimPrefix(content, "\ufeff")
	}
	text = []byte(content)
	if was.form.crlf > 0 && bytes.Contains(was.text, []byte("\r\r\n")) { // read shows such a line with a CR that is no part of its end
		crlf, asShown := strings.Count(content, "\r\n"), content == strings.ReplaceAll(string(was.text), "\r\n", "\n")
		if asShown || crlf > 0 && crlf < strings.Count(content, "\n") {
			return keepEnds(was.text, content), "lines of the file end in CR CR LF: each line kept its end"
		}
	}
	if strings.Contains(content, "\r\n") || !strings.Contains(content, "\n") {
		return text, ""
	}
	switch f := was.form; {
	case f.lf > 0 && f.crlf == f.lf: // other CR are characters of lines
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), "LF written as CRLF, which the whole file has"
	case f.lineEnding() == "cr" && !strings.Contains(content, "\r"):
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r")), "LF written as CR, which the whole file has"
	case f.crlf > 0:
		return keepEnds(was.text, content), "CRLF and LF are mixed in the file: each line kept its end"
	}
	return text, ""
}

// mayReplace fails if the session has not seen the content that would be replaced.
func (in writeInput) mayReplace(was *document) error {
	name := was.path.Spelling
	switch {
	case in.overwrite || was.knowledge.State == seen.Whole:
		return nil
	case was.knowledge.State == seen.Changed:
		return agenttool.Failure(agenttool.InvalidArguments, "stale_content",
			name+" changed since it was last read or written here: nothing was written; read it again, then write")
	case was.knowledge.State == seen.Partly:
		return partlySeen(name, was.knowledge)
	case was.form.binary:
		return agenttool.Failure(agenttool.InvalidArguments, "not_read",
			name+" exists and is binary: nothing was written; remove it in the shell if it shall be replaced")
	}
	return agenttool.Failure(agenttool.InvalidArguments, "not_read",
		name+" exists and was not read in this session: nothing was written; read it first, then write")
}

// partlySeen is the error of a write over lines that were not shown, or not to their ends.
func partlySeen(name string, known seen.Knowledge) error {
	where := "the file"
	if len(known.Missing) > 0 {
		first := known.Missing[0]
		where = fmt.Sprintf("line %d", first.From)
		if first.To > first.From {
			where = fmt.Sprintf("lines %d–%d", first.From, first.To)
		}
		if len(known.Missing) > 1 {
			where += " and others"
		}
	}
	remedy := "change the file with edit"
	if len(known.Missing) > 0 {
		first := known.Missing[0]
		remedy = fmt.Sprintf("read them first (offset %d, limit %d; a line that was cut: column), or %s", first.From, min(first.To-first.From+1, defaultLines), remedy)
	}
	if known.Altered {
		remedy = "what was shown of them is masked or changed; change the file with edit"
	}
	return agenttool.Failure(agenttool.InvalidArguments, "not_read",
		fmt.Sprintf("%s: %s not shown in full: nothing was written; %s", name, where, remedy))
}
