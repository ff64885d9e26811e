package jsonc

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"toolhost/agenttool/json"
)

// Splice replaces the bytes between two offsets by text.
type Splice struct {
	from, to int
	text     string
}

// Apply returns the content with all changes. Deletions may overlap each other; other changes must not overlap.
func (d *Document) Apply(changes []Splice) []byte {
	content := d.text
	slices.SortStableFunc(changes, func(a, b Splice) int { return cmp.Compare(a.from, b.from) })
	out := []byte(d.bom)
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

// Render returns the text of a new part, at an indentation or on a line with others.
type Render func(d *Document, indent string, oneLine bool) string

// Leaf renders text unchanged.
func Leaf(text string) Render { return func(*Document, string, bool) string { return text } }

// Nested renders a member that is a list or object with one part.
func Nested(name string, open, close byte, inner Render) Render {
	return func(d *Document, indent string, oneLine bool) string {
		head := Quote(name) + ": " + string(open)
		if oneLine {
			return head + inner(d, indent, true) + string(close)
		}
		deeper := indent + d.unit()
		return head + d.newline() + deeper + inner(d, deeper, false) + d.newline() + indent + string(close)
	}
}

// Pair renders a member with any value that encoding/json can encode.
func Pair(name string, value any) Render {
	return func(d *Document, indent string, oneLine bool) string {
		return Quote(name) + ": " + Element(value)(d, indent, oneLine)
	}
}

// Element renders any value that encoding/json can encode.
func Element(value any) Render {
	return func(d *Document, indent string, oneLine bool) string {
		text, err := json.Encode(value)
		if err != nil {
			panic(err) // a bug: the value comes from a table
		}
		if oneLine {
			return string(text)
		}
		var long bytes.Buffer
		_ = json.Indent(&long, text, indent, d.unit()) // it was encoded just now
		return strings.ReplaceAll(long.String(), "\n", d.newline())
	}
}

// Replace puts another value in the place of one that begins on the line of its own name.
func (d *Document) Replace(v hujson.Value, put Render) []Splice {
	indent := d.indentAt(v.StartOffset)
	return []Splice{{v.StartOffset, v.EndOffset, put(d, indent, false)}}
}

// Raw returns the text of a value.
func (d *Document) Raw(v hujson.Value) string { return string(d.text[v.StartOffset:v.EndOffset]) }

// Insert adds a part at the end of a list or object.
func (d *Document) Insert(v hujson.Value, add Render) []Splice {
	parts := partsOf(v)
	if len(parts) == 0 {
		return d.insertFirst(v, add)
	}
	last := parts[len(parts)-1]
	after := last.end
	if last.comma >= 0 {
		after = last.comma + 1
	}
	lineEnd, lineComment := d.endOfLine(after)
	indent, own := d.ownLine(last.start)
	switch {
	case own && last.comma >= 0:
		return []Splice{{lineEnd, lineEnd, d.newline() + indent + add(d, indent, false) + ","}}
	case own:
		return []Splice{{last.end, last.end, ","}, {lineEnd, lineEnd, d.newline() + indent + add(d, indent, false)}}
	case last.comma >= 0:
		return []Splice{{after, after, " " + add(d, "", true) + ","}}
	case lineComment:
		return []Splice{{last.end, last.end, ", " + add(d, "", true)}}
	}
	return []Splice{{lineEnd, lineEnd, ", " + add(d, "", true)}}
}

// insertFirst adds a part to an empty list or object, after the comments in it.
func (d *Document) insertFirst(v hujson.Value, add Render) []Splice {
	closing := v.EndOffset - 1
	at := v.StartOffset + 1
	for i := at; i < closing; {
		n := CommentEnd(d.text[i:])
		if n > 0 {
			at = i + len(bytes.TrimRight(d.text[i:i+n], "\r"))
		}
		i += max(n, 1)
	}
	outer := d.indentAt(v.StartOffset)
	indent := outer + d.unit()
	return []Splice{{at, closing, d.newline() + indent + add(d, indent, false) + d.newline() + outer}}
}

// Cut removes parts of a list or object, by their numbers from 0, with their commas.
func (d *Document) Cut(v hujson.Value, gone []int) []Splice {
	parts := partsOf(v)
	if len(parts) == 0 {
		return nil
	}
	var cuts []Splice
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
		cuts = append(cuts, d.widened(p.start, to, i == 0))
	}
	if parts[len(parts)-1].comma < 0 && kept >= 0 && kept < len(parts)-1 { // a comma without a part after it
		cuts = append(cuts, Splice{parts[kept].comma, parts[kept].comma + 1, ""})
	}
	return cuts
}

// widened extends a cut to the blanks around it, or to the whole line if only comments remain there.
func (d *Document) widened(from, to int, first bool) Splice {
	b := d.text
	indent, own := d.ownLine(from)
	if end, _ := d.endOfLine(to); own {
		for end < len(b) && (b[end] == ' ' || b[end] == '\t' || b[end] == '\r') {
			end++
		}
		if end < len(b) && b[end] == '\n' {
			return Splice{from - len(indent), end + 1, ""}
		}
	}
	if first || own {
		for to < len(b) && (b[to] == ' ' || b[to] == '\t') {
			to++
		}
		return Splice{from, to, ""}
	}
	for b[from-1] == ' ' || b[from-1] == '\t' {
		from--
	}
	return Splice{from, to, ""}
}

// endOfLine returns the end of the comments after an offset on its line, and whether the last one is a line comment.
// It skips a multi-line comment that begins there.
func (d *Document) endOfLine(offset int) (end int, lineComment bool) {
	b := d.text
	end = offset
	for i := offset; i < len(b); {
		switch n := CommentEnd(b[i:]); {
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
func (d *Document) ownLine(offset int) (indent string, own bool) {
	indent = d.indentAt(offset)
	line, _ := d.Position(offset)
	return indent, line > 1 && d.lines[line-1]+len(indent) == offset
}

// indentAt returns the blanks at the beginning of the line of an offset.
func (d *Document) indentAt(offset int) string {
	line, _ := d.Position(offset)
	b := d.text[d.lines[line-1]:]
	return string(b[:len(b)-len(bytes.TrimLeft(b, " \t"))])
}

// unit returns the indentation step of the file.
func (d *Document) unit() string {
	if parts := partsOf(d.Root); len(parts) > 0 {
		if indent, own := d.ownLine(parts[0].start); own && indent != "" {
			if outer := d.indentAt(d.Root.StartOffset); strings.HasPrefix(indent, outer) && indent != outer {
				return indent[len(outer):]
			}
		}
	}
	return "  "
}

// newline returns the line ending of the file.
func (d *Document) newline() string {
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// Member returns the value of a key.
func Member(v hujson.Value, name string) (hujson.Value, bool) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return hujson.Value{}, false
	}
	i := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool {
		literal, ok := m.Name.Value.(hujson.Literal)
		return ok && literal.String() == name
	})
	if i < 0 {
		return hujson.Value{}, false
	}
	return object.Members[i].Value, true
}
