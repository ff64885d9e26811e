package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"
)

// maxAttempts is how often a change is retried after another process changed the file.
const maxAttempts = 10

// change is a bound write or edit.
type change struct {
	*session
	input     any
	facts     agenttool.Facts
	reviser   reviser
	previewed *string // the digest of the content of the last preview; nil: no preview
	mayLose   bool
}

// Warranted implements [agenttool.Warranted].
func (c *change) Warranted() { c.mayLose = true }

// reviser is the part that differs between write and edit.
type reviser interface {
	// revise returns the new content of a file. It changes nothing on disk.
	revise(ctx context.Context, was *document) (revision, error)
}

func (c *change) Input() any              { return c.input }
func (c *change) Facts() *agenttool.Facts { return &c.facts }

// Durable implements [agenttool.Durable].
func (c *change) Durable() bool { return c.durability() != agenttool.NotSynced }

// changeFacts returns the facts common to write and edit.
func changeFacts(p agenttool.Path) agenttool.Facts {
	f := readFacts()
	f.ReadOnly, f.Reads, f.Writes = agenttool.No, nil, []agenttool.Path{p}
	return f
}

// Preview returns the diff and the digest of the content that it is based on.
func (c *change) Preview(ctx context.Context) (agenttool.Preview, error) {
	t, err := c.look(c.facts.Writes[0])
	if err != nil {
		return agenttool.Preview{}, err
	}
	defer t.close()
	was, err := c.document(t)
	if err != nil {
		return agenttool.Preview{}, ioFailure("read", t.path.Spelling, err)
	}
	now, err := c.reviser.revise(ctx, was)
	if err != nil {
		return agenttool.Preview{}, err
	}
	c.previewed = &was.digest
	d := compare(was, now)
	return agenttool.Preview{Diff: d.text, Partial: d.cut, Digest: was.digest}, nil
}

// Run makes the change. On failure it changes nothing.
func (c *change) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	kept := c.record(r, c.mayLose)
	defer kept.close()
	for range maxAttempts {
		out, err := c.attempt(ctx, kept)
		if !errors.Is(err, errMoved) {
			return out, err
		}
	}
	p := c.facts.Writes[0]
	return agenttool.Output{}, agenttool.Failure(agenttool.DependencyUnavailable, "keeps_changing",
		p.Spelling+" keeps changing while it is being changed: nothing was written; find out who writes it")
}

// attempt makes the change once, under the lock. It fails with errMoved if another process changed the file
// meanwhile.
func (c *change) attempt(ctx context.Context, kept record) (agenttool.Output, error) {
	t, err := c.acquire(ctx, c.facts.Writes[0])
	if err != nil {
		return agenttool.Output{}, err
	}
	defer t.close()
	t.record = kept
	was, err := c.document(t)
	if err != nil {
		return agenttool.Output{}, err
	}
	if c.previewed != nil && *c.previewed != was.digest {
		return agenttool.Output{}, agenttool.Failure(agenttool.PolicyBlocked, agenttool.ErrPreviewStale.Code,
			t.path.Spelling+" changed after the change to it was approved: nothing was written").
			Because(agenttool.ErrPreviewStale)
	}
	now, err := c.reviser.revise(ctx, was)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return agenttool.Output{}, err
	}
	result := outcome(was, now)
	if result.Unchanged {
		c.remember(t, was, was.version)
		return unchanged(was, result), nil
	}
	if same, ok := c.workspace.Lookalike(t.path); ok && !was.exists {
		now.note = addNote(now.note, same.Beside())
	}
	inPlace, err := t.commit(ctx, c.session, now.raw, was.raw)
	if err != nil {
		return agenttool.Output{}, err
	}
	version := result.Digest
	if len(now.raw) > digestLimit {
		version = t.version()
	}
	c.remember(t, was, version)
	d := compare(was, now)
	result.AddedLines, result.RemovedLines, result.InPlace = d.added, d.removed, inPlace != ""
	result.Note = notes(now, inPlace, d)
	return report(was, result, d.text), nil
}

// remember records the new content in the ledger. After an edit of a file that was not read completely, the session
// does not know the whole content.
func (c *change) remember(t *target, was *document, version string) {
	_, replaced := c.reviser.(writeInput)
	c.options.Seen.Wrote(t.path.Resolved, version, replaced || was.knowledge.State == seen.Whole)
}

// outcome fills in the parts of the result that need no comparison.
func outcome(was *document, now revision) changeResult {
	declared := encoding.Binary
	if was.declared {
		declared = was.found.Encoding
	}
	f, _ := inspect(now.raw, declared)
	return changeResult{
		Path:      agenttool.SpellPath(was.path.Absolute),
		Created:   !was.exists,
		Unchanged: was.exists && bytes.Equal(was.raw, now.raw),
		changeCounts: changeCounts{
			BytesBefore:  len(was.raw),
			BytesAfter:   len(now.raw),
			Replacements: now.replacements,
		},
		format: format{f.encoding, f.lineEnding()},
		Digest: digestOf(now.raw),
	}
}

// notes returns further remarks about a change.
func notes(now revision, inPlace string, d difference) string {
	all := now.note
	if inPlace != "" {
		all = addNote(all, "written in place: "+inPlace)
	}
	if d.cut {
		all = addNote(all, "the diff is not complete")
	}
	return all
}

// addNote adds a remark to others.
func addNote(all, note string) string {
	if all == "" {
		return note
	}
	return all + "; " + note
}

// unchanged reports that the file already has the new content.
func unchanged(was *document, result changeResult) agenttool.Output {
	line := was.path.Spelling + " already holds this content: nothing was written"
	return agenttool.Output{Content: []agenttool.Content{agenttool.Text(line)}, Structured: result, Summary: line}
}

// report describes a change: one line, the diff, and the numbers.
func report(was *document, result changeResult, diff string) agenttool.Output {
	var line string
	size := count.Grouped(result.BytesAfter, "byte", "bytes")
	switch {
	case result.Created:
		line = fmt.Sprintf("created %s: %s, %s", was.path.Spelling, count.Grouped(result.AddedLines, "line", "lines"), size)
	case result.Replacements > 0:
		line = fmt.Sprintf("edited %s: %s, +%d −%d lines", was.path.Spelling,
			count.Grouped(result.Replacements, "replacement", "replacements"), result.AddedLines, result.RemovedLines)
	default:
		line = fmt.Sprintf("wrote %s: +%d −%d lines, %s", was.path.Spelling, result.AddedLines, result.RemovedLines, size)
	}
	if result.Note != "" {
		line += " (" + result.Note + ")"
	}
	return agenttool.Output{
		Content: []agenttool.Content{
			agenttool.Text(line),
			{Type: "diff", Diff: diff, MediaType: "text/x-diff"},
		},
		Structured: result,
		Summary:    line,
		Artifacts:  []agenttool.Ref{artifact(was.path, result.Digest, result.BytesAfter)},
	}
}

// artifact refers to a file that a call wrote, as it is now.
func artifact(p agenttool.Path, digest string, size int) agenttool.Ref {
	file := fileURI(p)
	return agenttool.Ref{ID: cmp.Or(digest, file), URI: file, Digest: digest, SizeBytes: int64(size), Relation: "written"}
}

// writeInput is the input of write.
type writeInput struct {
	Path     string `json:"path"`
	Content  string `json:"content"`
	Encoding string `json:"encoding,omitempty"`

	session   *session
	overwrite bool // may replace a file that the session does not know
}
