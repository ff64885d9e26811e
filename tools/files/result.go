package files

import "toolhost/tools/encoding"

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
	format
	BOM bool `json:"bom"`
	coverage
	lineRange
	FinalNewline bool `json:"final_newline"`
}

// format is the encoding of a file and its ends of lines.
type format struct {
	Encoding   encoding.Encoding `json:"encoding"`
	LineEnding string            `json:"line_ending"`
}

// coverage is the size of the text, as far as it was seen.
type coverage struct {
	TotalLines int64 `json:"total_lines"`          // with seen_bytes: at least
	SeenBytes  int64 `json:"seen_bytes,omitempty"` // the description covers only so many bytes of a large file; 0: all
}

// lineRange are the lines that a page shows.
type lineRange struct {
	StartLine  int64 `json:"start_line"` // 1-based; 0: there are no lines
	EndLine    int64 `json:"end_line"`
	NextOffset int64 `json:"next_offset,omitempty"` // 0: this page ends the file
	CutLines   int   `json:"cut_lines"`
}

// changeResult is the structured_content of write and edit.
type changeResult struct {
	Path      string `json:"path"`
	Created   bool   `json:"created"`
	Unchanged bool   `json:"unchanged"`
	changeCounts
	format
	Digest  string `json:"digest"` // sha256:… of the new content
	InPlace bool   `json:"in_place,omitempty"`
	Note    string `json:"note,omitempty"`
}

// changeCounts say how large a change is.
type changeCounts struct {
	BytesBefore  int `json:"bytes_before"`
	BytesAfter   int `json:"bytes_after"`
	Replacements int `json:"replacements"`
	AddedLines   int `json:"added_lines"`
	RemovedLines int `json:"removed_lines"`
}
