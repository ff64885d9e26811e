package files

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/tools/encoding"
)

const (
	maxNotebook = 16 << 20 // bytes of a notebook whose cells are shown, unless Options.Memory sets a smaller bound
	outputChars = 1000     // characters shown of one text in a cell's outputs

	maxNotebookValues = 200_000 // cells, outputs and lines of a notebook whose cells are shown: each takes about 100 bytes of memory
)

// notebook is the part of a Jupyter notebook of format 4 that is shown. Cells are kept as the file spells them, to find their
// lines in it.
type notebook struct {
	Format int               `json:"nbformat"`
	Cells  []json.RawMessage `json:"cells"`
}

// cell is a cell of a notebook.
type cell struct {
	Type    string       `json:"cell_type"`
	Source  joinedLines  `json:"source"`
	Outputs []cellOutput `json:"outputs"`
}

// cellOutput is an output of a cell: a stream, an error, or data in several formats.
type cellOutput struct {
	Type  string                     `json:"output_type"`
	Name  string                     `json:"name"`
	Text  joinedLines                `json:"text"`
	Error string                     `json:"ename"`
	Value string                     `json:"evalue"`
	Data  map[string]json.RawMessage `json:"data"`
}

// joinedLines is a text that a notebook stores as a string or as a list of lines.
type joinedLines string

func (j *joinedLines) UnmarshalJSON(text []byte) error {
	var lines []string
	if json.Unmarshal(text, &lines) == nil {
		*j = joinedLines(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(text, (*string)(j))
}

// isNotebook reports whether a file has the name of a notebook and is UTF-8.
func isNotebook(name string, held *content) bool {
	return hasEnding(strings.ToLower(name), ".ipynb") && held.form.encoding == encoding.UTF8
}

// showNotebook shows the cells of a notebook. ok is false if the file cannot be shown as cells. The input's offset is a line of
// the file, as for other texts: the cell in that line is the first one that is shown. The caller must not count any line of the
// file as seen, because cells are not the text of the file.
func (c *readCall) showNotebook(ctx context.Context, held *content, result readResult) (out agenttool.Output, ok bool, err error) {
	select { // one at a time: each may take many times its size
	case c.decoding <- struct{}{}:
		defer func() { <-c.decoding }()
	case <-ctx.Done():
		return out, false, ctx.Err()
	}
	raw, err := held.all()
	if errors.Is(err, errMoved) {
		return out, false, c.changed()
	}
	if err != nil {
		return out, false, ioFailure("read", c.spelling(), err)
	}
	text := bytes.TrimPrefix(raw, []byte(encoding.UTF8.Mark()))
	var book notebook
	if !json.Exact(text) || notebookValues(text) > maxNotebookValues || json.Unmarshal(text, &book) != nil || book.Format != 4 || book.Cells == nil {
		return out, false, nil
	}

	// the lines at which cells begin and end
	begins, ends := make([]int64, len(book.Cells)), make([]int64, len(book.Cells))
	terminator, line, rest := []byte{held.form.terminator()}, int64(1), text
	for i, spelt := range book.Cells {
		at := bytes.Index(rest, spelt)
		if at < 0 {
			return out, false, nil
		}
		begins[i] = line + int64(bytes.Count(rest[:at], terminator))
		ends[i] = begins[i] + int64(bytes.Count(spelt, terminator))
		line, rest = ends[i], rest[at+len(spelt):]
	}

	first, total := c.input.Offset, held.total()
	if first < 0 {
		first = max(1, total+first+1)
	}
	if n := len(ends); n > 0 && ends[n-1] < first {
		return out, false, nil // behind the cells: the lines themselves, or none
	}
	from := 0 // the last cell that begins at the line or before it, and the first of those that begin where that one does
	for i, begin := range begins {
		if begin <= first && begin > begins[from] {
			from = i
		}
	}

	result.Kind, result.MediaType, result.shownPage = "notebook", "application/x-ipynb+json", pageFacts(held.cachedSurvey)
	bytesLeft, _ := c.capacity.Page(pageChars*utf8.UTFMax, 0)
	charsLeft := pageChars - noteChars
	var shown strings.Builder
	pictured := 0 // the number of the first cell with an image
	next := from
	for ; next < len(book.Cells); next++ {
		var one cell
		if json.Unmarshal(book.Cells[next], &one) != nil {
			return out, false, nil
		}
		block := one.show(next+1, begins[next])
		chars := utf8.RuneCountInString(block)
		if (chars > charsLeft || len(block) > bytesLeft) && next > from {
			break
		}
		if chars > charsLeft || len(block) > bytesLeft {
			block = shortened(cut.Head(block, bytesLeft), charsLeft) + "\n"
			result.CutLines++
		}
		charsLeft, bytesLeft = charsLeft-chars, bytesLeft-len(block)
		shown.WriteString(block)
		result.StartLine, result.EndLine = begins[from], ends[next]
		hasImage := slices.ContainsFunc(one.Outputs, func(o cellOutput) bool { return o.Data["image/png"] != nil })
		if hasImage && pictured == 0 {
			pictured = next + 1
		}
	}

	kind := "notebook of " + count.Of(len(book.Cells), "cell")
	notes := []string{kind}
	if next < len(book.Cells) && begins[next] > begins[from] {
		result.NextOffset = begins[next]
		notes = append(notes, fmt.Sprintf("cell %d is at offset %d", next+1, begins[next]))
	} else if next < len(book.Cells) {
		command := fmt.Sprintf(`jq -r '.cells[%d:][].source | if type == "array" then add else . end' FILE`, next)
		notes = append(notes, fmt.Sprintf("cells from %d on are in the same line; in the shell, this shows their sources: %s", next+1, c.command(command)))
	}
	if pictured > 0 {
		command := fmt.Sprintf(`jq -r '[.cells[%d].outputs[].data["image/png"]? // empty][0]' FILE | base64 -d > PNG`, pictured-1)
		notes = append(notes, fmt.Sprintf("in the shell, this makes a file to read of the image in cell %d: %s", pictured, c.command(command)))
	}
	notes = append(notes, "edit changes the lines of its JSON, which read shows if limit is given")
	out = agenttool.Output{
		Content:    []agenttool.Content{agenttool.Text(shown.String() + "[" + strings.Join(notes, "; ") + "]")},
		Structured: result,
		Summary:    c.spelling() + ", " + kind,
	}
	return out, true, nil
}

// notebookValues returns about how many cells, outputs, formats of outputs and lines of texts a notebook has. text is valid JSON. Values
// that lie deeper are not read one by one.
func notebookValues(text []byte) int {
	const deepest = 7 // notebook, cells, cell, outputs, output, data, lines
	commas, depth := 0, 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			for at++; text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth <= deepest {
				commas++
			}
		}
	}
	return commas
}

// show returns the text of a cell, under a head with its number and its first line in the file.
func (c *cell) show(number int, line int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[cell %d, %s, line %d]\n", number, c.Type, line)
	writeLines(&b, string(c.Source))
	for _, o := range c.Outputs {
		switch {
		case o.Type == "stream":
			fmt.Fprintf(&b, "[output, %s]\n", o.Name)
			writeLines(&b, shortened(string(o.Text), outputChars))
		case o.Type == "error":
			b.WriteString("[output, error]\n")
			writeLines(&b, shortened(o.Error+": "+o.Value, outputChars))
		default:
			o.showData(&b)
		}
	}
	return b.String()
}

// showData shows the plain text of an output, and names its other formats.
func (o *cellOutput) showData(b *strings.Builder) {
	for _, media := range slices.Sorted(maps.Keys(o.Data)) {
		var text joinedLines
		err := json.Unmarshal(o.Data[media], &text)
		if media == "text/plain" && err == nil {
			b.WriteString("[output]\n")
			writeLines(b, shortened(string(text), outputChars))
			continue
		}
		size := len(o.Data[media])
		if err == nil {
			size = len(text)
		}
		if data, err := base64.StdEncoding.DecodeString(string(text)); err == nil && strings.HasPrefix(media, "image/") {
			size = len(data)
		}
		fmt.Fprintf(b, "[output, %s, %s bytes: not shown]\n", media, count.Thousands(size))
	}
}

// writeLines writes a text and ends its last line.
func writeLines(b *strings.Builder, text string) {
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

// shortened returns the first characters of a text, with a mark that says how many were left out.
func shortened(text string, most int) string {
	chars := utf8.RuneCountInString(text)
	if chars <= most {
		return text
	}
	kept := string([]rune(text)[:most])
	return fmt.Sprintf("%s… [+%s characters]", kept, count.Thousands(chars-most))
}
