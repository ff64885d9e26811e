package output

import (
	"bytes"
	"cmp"
	"fmt"

	"toolhost/agenttool/count"
)

// Excerpt is the beginning and the end of a stream's text.
type Excerpt struct {
	Head, Tail string   // Head is the whole text if nothing is omitted
	Omitted    Omission // between them
	Binary     string   // the kind of data, if it is no text: then all of it is omitted
}

// Omission describes the omitted part of a text. The zero value means none.
type Omission struct {
	Bytes    int64 // of text; uncleaned parts count in raw bytes
	From, To int64 // the first and the last line that are partly or fully omitted, from 1
}

// Cut reports whether part of the text is omitted.
func (e Excerpt) Cut() bool { return e.Omitted.Bytes > 0 }

// Text returns the excerpt with a line between its parts that describes the omission and where to find it: "whole
// output: URI", for instance. An empty where means that the omitted part is lost.
func (e Excerpt) Text(where string) string {
	if !e.Cut() {
		return e.Head
	}
	if e.Binary != "" {
		return binaryText(e.Binary, e.Omitted.Bytes, where)
	}
	where = cmp.Or(where, "the rest is lost")
	return JoinLines(e.Head, "[… "+e.Omitted.String()+" omitted; "+where+" …]", e.Tail)
}

// JoinLines puts each non-empty part on lines of its own.
func JoinLines(parts ...string) string {
	var b bytes.Buffer
	for _, part := range parts {
		if part == "" {
			continue
		}
		if n := b.Len(); n > 0 && b.Bytes()[n-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(part)
	}
	return b.String()
}

// String describes the omission: "12,345 bytes (lines 210–4,511)".
func (o Omission) String() string {
	lines := "line " + count.Thousands(o.From)
	if o.To > o.From {
		lines = "lines " + count.Thousands(o.From) + "–" + count.Thousands(o.To)
	}
	return fmt.Sprintf("%s (%s)", count.Grouped(o.Bytes, "byte", "bytes"), lines)
}
