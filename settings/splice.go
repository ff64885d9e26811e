package settings

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// splice replaces the bytes between two offsets by text.
type splice struct {
	from, to int
	text     string
}

// spliced applies all changes. Deletions may overlap each other; other changes must not overlap.
func spliced(content []byte, changes []splice) []byte {
	slices.SortStableFunc(changes, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	done := 0
	for _, c := range changes {
		if c.from > done {
			out = append(out, content[done:c.from]...)
		}
		out = append(out, c.text...)
		done = max(done, c.to)
	}
	return append(out, content[done:]...)
}

// part is one element of a list or member of an object.
type part struct {
	start, end int // from the name of a member to the end of its value
	comma      int // the comma after it; -1: none
}

// partsOf returns the parts of a list or object.
func partsOf(v hujson.Value) []part {
	var parts []part
	var last hujson.Value
	switch c := v.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			parts = append(parts, part{m.Name.StartOffset, m.Value.EndOffset, m.Value.EndOffset + len(m.Value.AfterExtra)})
			last = m.Value
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			parts = append(parts, part{e.StartOffset, e.EndOffset, e.EndOffset + len(e.AfterExtra)})
			last = e
		}
	}
	if len(parts) > 0 && last.AfterExtra == nil { // hujson's mark for a missing comma after the last part
		parts[len(parts)-1].comma = -1
	}
	return parts
}

// render returns the text of a new part, at an indentation or on a line with others.
type render func(e *editor, indent string, oneLine bool) string

// leaf renders text unchanged.
func leaf(text string) render { return func(*editor, string, bool) string { return text } }

// nested renders a member that is a list or object with one part.
func nested(name string, open, close byte, inner render) render {
	return func(e *editor, indent string, oneLine bool) string {
		head := jsonString(name) + ": " + string(open)
		if oneLine {
			return head + inner(e, indent, true) + string(close)
		}
		deeper := indent + e.unit()
		return head + e.newline() + deeper + inner(e, deeper, false) + e.newline() + indent + string(close)
	}
}

// insert adds a part at the end of a list or object.
func (e *editor) insert(v hujson.Value, add render) []splice {
	parts := partsOf(v)
	if len(parts) == 0 {
		return e.insertFirst(v, add)
	}
	last := parts[len(parts)-1]
	after := last.end
	if last.comma >= 0 {
		after = last.comma + 1
	}
	lineEnd, lineComment := e.endOfLine(after)
	indent, own := e.ownLine(last.start)
	switch {
	case own && last.comma >= 0:
		return []splice{{lineEnd, lineEnd, e.newline() + indent + add(e, indent, false) + ","}}
	case own:
		return []splice{{last.end, last.end, ","}, {lineEnd, lineEnd, e.newline() + indent + add(e, indent, false)}}
	case last.comma >= 0:
		return []splice{{after, after, " " + add(e, "", true) + ","}}
	case lineComment:
		return []splice{{last.end, last.end, ", " + add(e, "", true)}}
	}
	return []splice{{lineEnd, lineEnd, ", " + add(e, "", true)}}
}

// insertFirst adds a part to an empty list or object, after the comments in it.
func (e *editor) insertFirst(v hujson.Value, add render) []splice {
	closing := v.EndOffset - 1
	at := v.StartOffset + 1
	for i := at; i < closing; {
		n := commentEnd(e.text.bytes[i:])
		if n > 0 {
			at = i + len(bytes.TrimRight(e.text.bytes[i:i+n], "\r"))
		}
		i += max(n, 1)
	}
	outer := e.indentAt(v.StartOffset)
	indent := outer + e.unit()
	return []splice{{at, closing, e.newline() + indent + add(e, indent, false) + e.newline() + outer}}
}

// cut removes parts with their commas.
func (e *editor) cut(parts []part, gone []int) []splice {
	var cuts []splice
	kept := -1 // the last part that is kept
	for i, p := range parts {
		if !slices.Contains(gone, i) {
			kept = i
			continue
		}
		to := p.end
		if p.comma >= 0 {
			to = p.comma + 1
		}
		cuts = append(cuts, e.widened(p.start, to, i == 0))
	}
	if parts[len(parts)-1].comma < 0 && kept >= 0 && kept < len(parts)-1 { // a comma without a part after it
		cuts = append(cuts, splice{parts[kept].comma, parts[kept].comma + 1, ""})
	}
	return cuts
}

// widened extends a cut to the blanks around it, or to the whole line if only comments remain there.
func (e *editor) widened(from, to int, first bool) splice {
	b := e.text.bytes
	indent, own := e.ownLine(from)
	if end, _ := e.endOfLine(to); own {
		for end < len(b) && (b[end] == ' ' || b[end] == '\t' || b[end] == '\r') {
			end++
		}
		if end < len(b) && b[end] == '\n' {
			return splice{from - len(indent), end + 1, ""}
		}
	}
	if first || own {
		for to < len(b) && (b[to] == ' ' || b[to] == '\t') {
			to++
		}
		return splice{from, to, ""}
	}
	for b[from-1] == ' ' || b[from-1] == '\t' {
		from--
	}
	return splice{from, to, ""}
}

// endOfLine returns the end of the comments after an offset on its line, and whether the last one is a line comment.
// It skips a multi-line comment that begins there.
func (e *editor) endOfLine(offset int) (end int, lineComment bool) {
	b := e.text.bytes
	end = offset
	for i := offset; i < len(b); {
		switch n := commentEnd(b[i:]); {
		case n > 0:
			lineComment = b[i+1] == '/'
			i += n
			end = i
			if lineComment {
				return offset + len(bytes.TrimRight(b[offset:i], "\r")), true
			}
		case b[i] == ' ' || b[i] == '\t' || b[i] == '\r':
			i++
		default:
			return end, false
		}
	}
	return end, lineComment
}

// ownLine returns the blanks before an offset, and whether only blanks precede it on its line.
func (e *editor) ownLine(offset int) (indent string, own bool) {
	indent = e.indentAt(offset)
	line, _ := e.text.position(offset)
	return indent, line > 1 && e.text.lines[line-1]+len(indent) == offset
}

// indentAt returns the blanks at the beginning of the line of an offset.
func (e *editor) indentAt(offset int) string {
	line, _ := e.text.position(offset)
	b := e.text.bytes[e.text.lines[line-1]:]
	return string(b[:len(b)-len(bytes.TrimLeft(b, " \t"))])
}

// unit returns the indentation step of the file.
func (e *editor) unit() string {
	if parts := partsOf(e.root); len(parts) > 0 {
		if indent, own := e.ownLine(parts[0].start); own && indent != "" {
			if outer := e.indentAt(e.root.StartOffset); strings.HasPrefix(indent, outer) && indent != outer {
				return indent[len(outer):]
			}
		}
	}
	return "  "
}

// newline returns the line ending of the file.
func (e *editor) newline() string {
	if i := bytes.IndexByte(e.text.bytes, '\n'); i > 0 && e.text.bytes[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
