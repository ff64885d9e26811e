package files

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// readTool shows a file: a page of numbered lines, an image, or the cells of a notebook.
type readTool struct{ *session }

// Describe returns the tool's records.
func (readTool) Describe() agenttool.Description {
	return describeRead(contracts(agenttool.Declaration{
		Name: "read", Title: "Read file", Aliases: []string{"read_file", "Read", "read_files"},
		Description: "Shows text with line numbers, an image, or notebook cells. Default: 2,000 lines or 30,000 characters.",
		SearchHint:  "open view show cat head tail file lines image notebook",
	}, "read_result", `{"path":"go.mod","offset":-100}`), map[string]any{"offset": 1, "limit": defaultLines})
}

// readInput is the input of read. Limit 0 means the default.
type readInput struct {
	Path     string `json:"path"`
	Offset   int64  `json:"offset,omitempty"` // 1-based; below 0 from the end
	Limit    int64  `json:"limit,omitempty"`
	Column   int64  `json:"column,omitempty"`   // 1-based, of the one line that is shown then; 0: whole lines
	Encoding string `json:"encoding,omitempty"` // empty: the content tells
}

// reach returns the number of lines that must exist for a full page that is not the last. Counting from the end needs
// all lines.
func (in readInput) reach() int64 {
	limit := in.Limit
	limit = cmp.Or(limit, defaultLines)
	if in.Offset < 0 || in.Offset > math.MaxInt64-limit {
		return math.MaxInt64
	}
	return in.Offset + limit
}

// Bind checks the input and names the one path that is read.
func (t readTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	in := readInput{Offset: 1}
	if err := agenttool.DecodeInput(input, &in); err != nil {
		return nil, err
	}
	if _, err := parseEncoding(in.Encoding, nil); err != nil {
		return nil, err
	}
	facts := readFacts()
	if isPayload(in.Path) {
		facts.Reads = nil // results of the session are not files: nothing to locate, and readable like the results were
	} else {
		p, err := workspace.Path(scope, in.Path)
		if err != nil {
			return nil, err
		}
		in.Path, facts.Reads = agenttool.SpellPath(p.Absolute), []agenttool.Path{p}
	}
	switch {
	case in.Offset == 0:
		return nil, invalid("/offset", "offset is 0: lines count from 1, and from -1 at the end")
	case in.Offset == math.MinInt64:
		in.Offset++
	case in.Limit < 0 || in.Limit > 10_000:
		return nil, invalid("/limit", "limit is out of range: 1 to 10,000 lines")
	case in.Column < 0 || in.Column > math.MaxInt32:
		return nil, invalid("/column", "column is out of range: characters of a line count from 1")
	}
	return &readCall{session: t.session, input: in, facts: facts, capacity: scope.Capacity}, nil
}

// readFacts returns the facts of every read except the path.
func readFacts() agenttool.Facts {
	return agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes,
			Destructive:     agenttool.No,
			OpenWorld:       agenttool.No,
			ConcurrencySafe: agenttool.Yes,
			Interactive:     agenttool.No,
			LongRunning:     agenttool.No,
			ObservesHost:    agenttool.No,
			PathsComplete:   agenttool.Yes},
	}
}

// readCall is a bound read.
type readCall struct {
	*session
	input    readInput
	facts    agenttool.Facts
	capacity agenttool.Capacity
}

func (c *readCall) Input() any              { return c.input }
func (c *readCall) Facts() *agenttool.Facts { return &c.facts }

// Preflight fails if the file cannot be read.
func (c *readCall) Preflight(context.Context) error {
	f, err := c.open()
	if err != nil {
		return err
	}
	return f.Close()
}

// spelling returns the path as the input spelled it.
func (c *readCall) spelling() string {
	if len(c.facts.Reads) == 0 {
		return c.input.Path
	}
	return c.facts.Reads[0].Spelling
}

// open opens the file or payload.
func (c *readCall) open() (*os.File, error) {
	switch {
	case len(c.facts.Reads) > 0:
		return c.openForReading(c.facts.Reads[0])
	case c.options.Payload == nil:
		return nil, agenttool.Failure(agenttool.InvalidArguments, "unknown_ref", c.input.Path+" cannot be read here: there is no session that keeps it")
	}
	return c.options.Payload(c.input.Path)
}

// Run reads the file.
func (c *readCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	f, err := c.open()
	if err != nil {
		return agenttool.Output{}, err
	}
	defer f.Close()
	held, err := openContent(f)
	declared := encoding.Binary
	if err == nil {
		declared, err = parseEncoding(c.input.Encoding, held.head())
	}
	if err == nil {
		err = c.surveys.survey(ctx, held, c.input.reach(), declared)
	}
	if err != nil {
		return agenttool.Output{}, ioFailure("read", c.spelling(), err)
	}
	if held.malformed {
		return agenttool.Output{}, notDecoded(c.spelling(), declared, -1)
	}
	result := readResult{Path: c.input.Path, SizeBytes: held.size, Digest: held.digest}
	out, err := c.show(ctx, held, result)
	if err == nil {
		out.Resources = c.source(result)
	}
	return out, err
}

// show returns the text of the file for the model.
func (c *readCall) show(ctx context.Context, held *content, result readResult) (agenttool.Output, error) {
	if media := imageType(held); media != "" && c.input.Encoding == "" {
		return c.showImage(ctx, held, media, result)
	}
	asLines := c.input.Limit > 0 || c.input.Column > 0 || c.input.Encoding != "" // the caller wants the lines of the file itself
	var known *fileKind
	if held.form.encoding != encoding.UTF8 && (held.form.binary || !asLines) {
		known = fileKindOf(c.input.Path, held.head())
	}
	if held.form.binary || known != nil {
		return c.nameBinary(held, known, result)
	}
	if held.form.empty {
		result.Kind, result.shownPage = "empty", pageFacts(held.cachedSurvey)
		out, err := output(result, "%s is empty", c.spelling()) // AT-402
		out.Shown = c.shown(held, seen.Page{}, out.Content[0].Text)
		return out, err
	}
	if !asLines && isNotebook(c.input.Path, held) && held.size <= c.options.share(16, maxNotebook) {
		out, ok, err := c.showNotebook(ctx, held, result)
		if ok && err == nil { // its cells are no lines of the file
			out.Shown = c.shown(held, seen.Page{Total: held.total()}, out.Content[0].Text)
		}
		if ok || err != nil {
			return out, err
		}
	}
	return c.showText(ctx, held, result)
}

// nameBinary says what a file is that is not shown, and how it can be seen all the same.
func (c *readCall) nameBinary(held *content, known *fileKind, result readResult) (agenttool.Output, error) {
	result.Kind, result.MediaType = "binary", http.DetectContentType(held.head())
	what, ways := result.MediaType, anyFile
	if known != nil {
		what, ways = known.name, known.ways
	}
	out, err := output(result, "%s is binary (%s, %s bytes): not shown%s", c.spelling(), what, count.Thousands(held.size), c.wayOn(ways))
	out.Content = append(out.Content, c.fileBlock(result))
	return out, err
}

// source refers to the file that was read, as it was then (AT-281). A stored result is no file.
func (c *readCall) source(result readResult) []agenttool.Ref {
	if len(c.facts.Reads) == 0 {
		return nil
	}
	file := fileURI(c.facts.Reads[0])
	return []agenttool.Ref{{ID: cmp.Or(result.Digest, file), URI: file, Digest: result.Digest, SizeBytes: result.SizeBytes, Relation: "read"}}
}

// output returns a result with one line of text.
func output(structured any, format string, args ...any) (agenttool.Output, error) {
	line := fmt.Sprintf(format, args...)
	return agenttool.Output{Content: []agenttool.Content{agenttool.Text("[" + line + "]")}, Structured: structured,
		Summary: line}, nil
}

// fileBlock names the file in the place of its content (AT-266).
func (c *readCall) fileBlock(result readResult) agenttool.Content {
	b := agenttool.Content{Type: "file", URI: c.input.Path, Name: path.Base(c.spelling()), MediaType: result.MediaType}
	if len(c.facts.Reads) > 0 {
		b.URI = fileURI(c.facts.Reads[0])
	}
	if result.Digest != "" {
		b.Extra = agenttool.Extra{"digest": agenttool.AppendString(nil, result.Digest)}
	}
	return b
}

func (c *readCall) showText(ctx context.Context, held *content, result readResult) (agenttool.Output, error) {
	total := held.total()
	first := c.input.Offset
	if first < 0 {
		first = max(1, total+first+1)
	}
	if first > total {
		return agenttool.Output{}, invalid("/offset",
			fmt.Sprintf("offset %d is past the end: %s has %s lines", first, c.spelling(), count.Thousands(total)))
	}
	request := c.request(first, total)
	if c.input.Column > 1 {
		request = request.lineRequest(c.input.Column)
	}
	shown, err := held.pageOf(ctx, request)
	if err == nil {
		err = held.settle()
	}
	if err != nil {
		return agenttool.Output{}, ioFailure("read", c.spelling(), err)
	}
	if shown.shown == 0 {
		return agenttool.Output{}, c.changed()
	}
	if c.input.Column > 1 && shown.parts[0].To < c.input.Column {
		return agenttool.Output{}, invalid("/column", fmt.Sprintf("column %d is past the end of line %d of %s", c.input.Column, first, c.spelling()))
	}
	result.Kind, result.shownPage = "text", pageFacts(held.cachedSurvey)
	result.StartLine, result.EndLine, result.CutLines = first, shown.shown, shown.cutLines
	if shown.shown < total {
		result.NextOffset = shown.shown + 1
	}
	text := strings.TrimSuffix(string(shown.out)+c.pageNotes(held, result.shownPage, shown.parts), "\n")
	if held.partial {
		total = math.MaxInt64
	}
	return agenttool.Output{
		Content:    []agenttool.Content{agenttool.Text(text)},
		Structured: result,
		Summary:    fmt.Sprintf("%s, lines %d–%d of %s", c.spelling(), first, shown.shown, result.total()),
		Shown:      c.shown(held, seen.Page{Whole: shown.whole, Parts: shown.parts, Total: total}, text),
	}, nil
}

// changed returns the error for a file that changed while it was read.
func (c *readCall) changed() error {
	return agenttool.Failure(agenttool.ExecutionFailed, "changed_while_read", c.spelling()+" changed while it was read: read it again")
}

// request returns the request for the page that begins at a line, as large as the caller takes it.
func (c *readCall) request(first, total int64) pageRequest {
	limit, room := c.input.Limit, wideChars-noteChars
	if limit == 0 {
		limit, room = defaultLines, pageChars-noteChars
	}
	bytes, lines := c.capacity.Page(math.MaxInt, int(limit))
	return pageRequest{first: first, last: min(total, first+int64(lines)-1), lineChars: maxLineChars, room: room, bytes: bytes}
}

// pageFacts returns the facts common to every page of a content.
func pageFacts(k cachedSurvey) *shownPage {
	facts := &shownPage{
		format:       format{k.form.encoding, k.form.lineEnding()},
		BOM:          k.form.bom,
		coverage:     coverage{TotalLines: k.total()},
		FinalNewline: k.form.finalNewline(),
	}
	if k.partial {
		facts.SeenBytes = k.seen
	}
	return facts
}

// total returns the number of lines for a reader.
func (p *shownPage) total() string {
	if p.SeenBytes > 0 {
		return "at least " + count.Thousands(p.TotalLines)
	}
	return count.Thousands(p.TotalLines)
}

// pageNotes returns remarks for a reader of the page. parts are the lines of which it shows a part.
func (c *readCall) pageNotes(held *content, shown *shownPage, parts []seen.Part) string {
	var notes string
	switch {
	case shown.Encoding == encoding.ISO2022:
		notes += "[iso-2022: shown as it is, not decoded; to change it, convert it first (iconv -f iso-2022-jp -t utf-8)]\n"
	case c.input.Encoding != "":
		notes += "[shown as " + shown.Encoding.String() + "]\n"
	case shown.Encoding.IsLegacy():
		notes += "[not UTF-8: taken for " + shown.Encoding.String() + "; if it looks wrong, give encoding]\n"
	case shown.Encoding.IsUTF16() && !shown.BOM:
		notes += "[" + shown.Encoding.String() + " without a byte order mark]\n"
	}
	if held.version == "" {
		notes += "[the file changed while it was read]\n"
	}
	if len(parts) > 0 {
		notes += "[" + partNote(parts) + "]\n"
	}
	if shown.NextOffset > 0 {
		notes += fmt.Sprintf("[lines %d–%d of %s; next offset %d]\n", shown.StartLine, shown.EndLine,
			shown.total(), shown.NextOffset)
	}
	return notes
}

// partNote says which lines the page shows a part of, and how to read on in the first of them.
func partNote(parts []seen.Part) string {
	p := parts[0]
	note := fmt.Sprintf("line %d: characters %s–%s", p.Line, count.Thousands(p.From), count.Thousands(p.To))
	if p.Ends {
		return note + ", its end"
	}
	note += fmt.Sprintf(`; {"offset":%d,"column":%d} reads on in it`, p.Line, p.To+1)
	if more := len(parts) - 1; more > 0 {
		note += fmt.Sprintf("; %s too", count.Grouped(more, "other line is cut", "other lines are cut"))
	}
	return note
}

// shown returns the function that records what reached the caller of a page, whose text the call returns. The first
// lines of the text are those of the page. Nil means that nothing is recorded.
func (c *readCall) shown(held *content, p seen.Page, text string) func([]agenttool.Content) {
	if held.version == "" || len(c.facts.Reads) == 0 {
		return nil
	}
	version, path, ledger, first := held.version, c.facts.Reads[0].Resolved, c.options.Seen, c.input.Offset
	if len(p.Whole) > 0 {
		first = p.Whole[0].From
	}
	if len(p.Parts) > 0 {
		first = min(first, p.Parts[0].Line)
	}
	return func(content []agenttool.Content) {
		ledger.Page(path, version, reached(p, first, text, content))
	}
}

// reached returns the page without the lines that reached the caller changed. first is the number of the first line of
// text.
func reached(p seen.Page, first int64, text string, content []agenttool.Content) seen.Page {
	if len(content) > 0 && content[0].Text == text {
		return p
	}
	var now []string
	if len(content) > 0 {
		now = strings.Split(content[0].Text, "\n")
	}
	was := strings.Split(text, "\n")
	top, bottom := 0, 0
	for top < min(len(was), len(now)) && was[top] == now[top] {
		top++
	}
	for bottom < min(len(was), len(now))-top && was[len(was)-1-bottom] == now[len(now)-1-bottom] {
		bottom++
	}
	lost := seen.Span{From: first + int64(top), To: first + int64(len(was)-bottom) - 1}
	kept := seen.Page{Total: p.Total, Altered: true}
	for _, s := range p.Whole {
		if above := (seen.Span{From: s.From, To: min(s.To, lost.From-1)}); above.From <= above.To {
			kept.Whole = append(kept.Whole, above)
		}
		if below := (seen.Span{From: max(s.From, lost.To+1), To: s.To}); below.From <= below.To {
			kept.Whole = append(kept.Whole, below)
		}
	}
	for _, part := range p.Parts {
		if part.Line < lost.From || part.Line > lost.To {
			kept.Parts = append(kept.Parts, part)
		}
	}
	return kept
}
