package files

import "encoding/json"

// The schemas are JSON Schema draft 2020-12 and short, because every session of every model pays for them. Bind
// checks the other conditions with better messages. edit's two forms are not a oneOf at the top, which model
// providers refuse in a tool.

const readInputSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{` +
	`"path":{"type":"string","description":"absolute, or below the workspace; or a toolhost:// reference"},` +
	`"offset":{"type":"integer","description":"first line, from 1; -100: the last 100 lines"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":10000,"description":"lines, default 2000"}}}`

const readOutputSchema = `{"type":"object","additionalProperties":false,"required":["path","kind","size_bytes"],` +
	`"properties":{` +
	`"path":{"type":"string"},"kind":{"enum":["text","image","binary","empty"]},"encoding":{"type":"string"},` +
	`"line_ending":{"enum":["lf","crlf","cr","mixed","none"]},"bom":{"type":"boolean"},"size_bytes":{"type":"integer"},` +
	`"total_lines":{"type":"integer"},"seen_bytes":{"type":"integer","description":"if set, total_lines is a minimum"},"start_line":{"type":"integer"},"end_line":{"type":"integer"},` +
	`"next_offset":{"type":"integer"},"cut_lines":{"type":"integer"},"final_newline":{"type":"boolean"},` +
	`"digest":{"type":"string"},"media_type":{"type":"string"}}}`

const writeInputSchema = `{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{` +
	`"path":{"type":"string","description":"absolute, or below the workspace"},"content":{"type":"string"}}}`

const editInputSchema = `{"type":"object","additionalProperties":false,"properties":{` +
	`"path":{"type":"string","description":"absolute, or below the workspace"},` +
	`"old_string":{"type":"string","description":"exact text, without line numbers; must be unique"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"},` +
	`"edits":{"type":"array","minItems":1,"maxItems":100,"description":"instead of old_string and new_string",` +
	`"items":{"type":"object","additionalProperties":false,"required":["old_string","new_string"],"properties":{` +
	`"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}}}},` +
	`"patch":{"type":"string","minLength":1,"description":"instead of all of these: *** Begin Patch … *** End Patch, for several files"}}}`

const changeOutputSchema = `{"type":"object","additionalProperties":false,"required":["path","unchanged"],` +
	`"properties":{` +
	`"path":{"type":"string"},"created":{"type":"boolean"},"unchanged":{"type":"boolean"},` +
	`"bytes_before":{"type":"integer"},"bytes_after":{"type":"integer"},"replacements":{"type":"integer"},` +
	`"added_lines":{"type":"integer"},"removed_lines":{"type":"integer"},"encoding":{"type":"string"},` +
	`"line_ending":{"type":"string"},"digest":{"type":"string"},"in_place":{"type":"boolean"},"note":{"type":"string"}}}`

// readResult is the structured_content of read. The fields of shownPage are there for text only.
type readResult struct {
	Path      string `json:"path"`
	Kind      string `json:"kind"`
	SizeBytes int64  `json:"size_bytes"`
	Digest    string `json:"digest,omitempty"` // sha256:…; none for files above 32 MiB
	MediaType string `json:"media_type,omitempty"`
	*shownPage
}

// shownPage describes a text and the page of it that was read.
type shownPage struct {
	Encoding     encoding `json:"encoding"`
	LineEnding   string   `json:"line_ending"`
	BOM          bool     `json:"bom"`
	TotalLines   int64    `json:"total_lines"`          // with seen_bytes: at least
	SeenBytes    int64    `json:"seen_bytes,omitempty"` // the description covers only so many bytes of a large file; 0: all
	StartLine    int64    `json:"start_line"`           // 1-based; 0: there are no lines
	EndLine      int64    `json:"end_line"`
	NextOffset   int64    `json:"next_offset,omitempty"` // 0: this page ends the file
	CutLines     int      `json:"cut_lines"`
	FinalNewline bool     `json:"final_newline"`
}

// changeResult is the structured_content of write and edit.
type changeResult struct {
	Path         string   `json:"path"`
	Created      bool     `json:"created"`
	Unchanged    bool     `json:"unchanged"`
	BytesBefore  int      `json:"bytes_before"`
	BytesAfter   int      `json:"bytes_after"`
	Replacements int      `json:"replacements"`
	AddedLines   int      `json:"added_lines"`
	RemovedLines int      `json:"removed_lines"`
	Encoding     encoding `json:"encoding"`
	LineEnding   string   `json:"line_ending"`
	Digest       string   `json:"digest"` // sha256:… of the new content
	InPlace      bool     `json:"in_place,omitempty"`
	Note         string   `json:"note,omitempty"`
}

// example returns v as an entry of a contract's examples.
func example(v string) []json.RawMessage { return []json.RawMessage{json.RawMessage(v)} }
