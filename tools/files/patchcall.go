package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/seen"
)

// patchInput is the normalised input of a patch.
type patchInput struct {
	Patch    string `json:"patch"`
	Encoding string `json:"encoding,omitempty"`
}

// bindPatch checks a patch and names all paths that it touches.
func (t editTool) bindPatch(scope agenttool.Scope, text, declared string) (agenttool.Call, error) {
	if _, err := parseEncoding(declared, nil); err != nil {
		return nil, err
	}
	sections, err := parsePatch(text)
	if err != nil {
		return nil, err
	}
	c := &patchCall{session: t.session, input: patchInput{text, declared}, facts: readFacts()}
	c.facts.ReadOnly, c.facts.Reads = agenttool.No, nil
	for _, s := range sections {
		if err := c.add(scope, s); err != nil {
			return nil, err
		}
		if s.kind == patchDelete {
			c.facts.Destructive = agenttool.Yes
			c.facts.Reasons = append(c.facts.Reasons, agenttool.Reason{Fact: "destructive", Text: "it deletes " + s.path})
		}
	}
	return c, nil
}

// patchCall is a bound patch.
type patchCall struct {
	*session
	input     patchInput
	facts     agenttool.Facts
	steps     []patchStep
	previewed *string // the digests of the contents of the last preview; nil: no preview
	mayLose   bool
}

// Warranted implements [agenttool.Warranted].
func (c *patchCall) Warranted() { c.mayLose = true }

// patchStep is the change of one file: of the path at an index of the facts' writes.
type patchStep struct {
	write   int
	reviser reviser
	removes bool // the file
	from    int  // the index of the path whose content it takes; -1: its own
}

func (c *patchCall) Input() any              { return c.input }
func (c *patchCall) Facts() *agenttool.Facts { return &c.facts }

// Durable implements [agenttool.Durable].
func (c *patchCall) Durable() bool { return c.durability() != agenttool.NotSynced }

// add adds the steps of a section.
func (c *patchCall) add(scope agenttool.Scope, s patchSection) error {
	at, err := c.path(scope, s.path)
	if err != nil {
		return err
	}
	switch {
	case s.kind == patchAdd:
		c.steps = append(c.steps, patchStep{write: at, reviser: addReviser{c.session, s.text, c.input.Encoding}, from: -1})
		return nil
	case s.kind == patchDelete:
		c.facts.Reads = append(c.facts.Reads, c.facts.Writes[at])
		c.steps = append(c.steps, patchStep{write: at, removes: true, from: -1})
		return nil
	}
	c.facts.Reads = append(c.facts.Reads, c.facts.Writes[at])
	update := hunkReviser{c.session, s.hunks, c.input.Encoding}
	if s.moveTo == "" {
		c.steps = append(c.steps, patchStep{write: at, reviser: update, from: -1})
		return nil
	}
	to, err := c.path(scope, s.moveTo)
	if err != nil {
		return err
	}
	c.steps = append(c.steps, patchStep{write: to, reviser: update, from: at}, patchStep{write: at, removes: true, from: -1})
	return nil
}

// path adds a path to the facts and returns its index. A patch names each path once.
func (c *patchCall) path(scope agenttool.Scope, spelling string) (int, error) {
	p, err := filePath(scope, spelling)
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(c.facts.Writes, func(w agenttool.Path) bool { return w.Absolute == p.Absolute }) {
		return 0, invalid("/patch", fmt.Sprintf("the patch names %s twice: put all its changes into one section", spelling))
	}
	c.facts.Writes = append(c.facts.Writes, p)
	return len(c.facts.Writes) - 1, nil
}

// addReviser is the content of a file that does not exist yet.
type addReviser struct {
	session        *session
	text, encoding string
}

func (r addReviser) revise(_ context.Context, was *document) (revision, error) {
	if was.exists {
		return revision{}, existing(was)
	}
	declared, err := parseEncoding(r.encoding, nil)
	if err != nil {
		return revision{}, err
	}
	return r.session.convention(was.path).newText(r.text, declared)
}

func existing(was *document) error {
	return agenttool.Failure(agenttool.InvalidArguments, "exists", was.path.Spelling+" exists already: update it instead; nothing was changed")
}

// hunkReviser applies the hunks of a patch to a file.
type hunkReviser struct {
	session  *session
	hunks    []hunk
	encoding string // empty: the content tells
}

func (r hunkReviser) revise(_ context.Context, was *document) (revision, error) {
	if !was.exists {
		return revision{}, r.session.notFound(was.path)
	}
	if err := was.decodeAs(r.encoding); err != nil {
		return revision{}, err
	}
	if was.form.binary {
		return revision{}, agenttool.Failure(agenttool.InvalidArguments, "binary_file",
			was.path.Spelling+" is binary (it holds NUL characters): a patch changes text only")
	}
	if err := was.changeable(); err != nil {
		return revision{}, err
	}
	crlf, hunks := was.form.lineEnding() == "crlf", r.hunks
	text := string(was.text)
	if crlf {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	text, err := applyHunks(text, was.path.Spelling, hunks)
	if err != nil {
		return revision{}, err
	}
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	now := revision{text: []byte(text), replacements: len(hunks)}
	now.raw, err = was.rewrite(now.text)
	return now, err
}

// patchedFile is a file of a patch: its place, its content and its new content.
type patchedFile struct {
	patchStep
	target *target
	was    *document
	now    revision
}

// Preview returns the diffs of all files, and the digest of the contents that they are based on.
func (c *patchCall) Preview(ctx context.Context) (agenttool.Preview, error) {
	files, err := c.prepare(ctx, func(p agenttool.Path) (*target, error) { return c.look(p) })
	defer closeFiles(files)
	if err != nil {
		return agenttool.Preview{}, err
	}
	digest := digestOfAll(files)
	c.previewed = &digest
	shown := agenttool.Preview{Digest: digest}
	if len(files) > 1 { // the first line says that no single file is meant
		shown.Diff = fmt.Sprintf("[a patch of %d files]\n", len(files))
	}
	for _, f := range files {
		d := f.difference()
		shown.Diff, shown.Partial = shown.Diff+d.text, shown.Partial || d.cut
	}
	return shown, nil
}

// Run makes all changes. It checks all of them before it makes the first.
func (c *patchCall) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	files, err := c.prepare(ctx, func(p agenttool.Path) (*target, error) { return c.acquire(ctx, p) })
	defer closeFiles(files)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return agenttool.Output{}, err
	}
	if c.previewed != nil && *c.previewed != digestOfAll(files) {
		return agenttool.Output{}, agenttool.Failure(agenttool.PolicyBlocked, agenttool.ErrPreviewStale.Code,
			"a file of the patch changed after the patch was approved: nothing was written").Because(agenttool.ErrPreviewStale)
	}
	kept := c.record(r, c.mayLose)
	defer kept.close()
	for i, f := range files {
		f.target.record = kept
		if err := c.commit(ctx, f); err != nil {
			return agenttool.Output{}, halfDone(files[:i], f, err)
		}
	}
	return patchReport(files), nil
}

// prepare opens all files and computes their new contents. It changes nothing.
func (c *patchCall) prepare(ctx context.Context, open func(agenttool.Path) (*target, error)) (files []*patchedFile, err error) {
	read := map[int]*document{}
	for i := range c.facts.Writes {
		t, err := open(c.facts.Writes[i])
		if err != nil {
			return files, err
		}
		f := &patchedFile{target: t, patchStep: patchStep{write: i, from: -1}}
		files = append(files, f)
		if f.was, err = c.document(t); err != nil {
			return files, ioFailure("read", t.path.Spelling, err)
		}
		read[i] = f.was
	}
	ordered := make([]*patchedFile, len(c.steps))
	for i, step := range c.steps {
		f := files[step.write]
		f.patchStep, ordered[i] = step, f
		if step.from >= 0 {
			f.target.source = files[step.from].target
		}
		if step.removes {
			if err := c.refuseLink(f.target.path); err != nil {
				return files, err
			}
		}
		if err := f.revise(ctx, read); err != nil {
			return files, err
		}
		if f.removes && !f.was.exists {
			return files, c.notFound(f.target.path)
		}
	}
	return ordered, nil
}

// refuseLink fails if the last name of a path is a link: to remove the file behind it would remove another name than that of the patch, and
// leave the link.
func (c *patchCall) refuseLink(p agenttool.Path) error {
	dir := agenttool.Path{Spelling: p.Spelling, Absolute: filepath.Dir(p.Absolute)}
	if err := c.workspace.Locate(&dir); err != nil {
		return err
	}
	if agenttool.Join(dir.Resolved, filepath.Base(p.Absolute)) == p.Resolved {
		return nil
	}
	return agenttool.Failure(agenttool.InvalidArguments, "is_a_link", fmt.Sprintf(
		"%s is a link to %s: a patch deletes and moves files, not links; name the file itself, or use the shell. Nothing was changed", p.Spelling, p.Resolved))
}

// revise computes the new content.
func (f *patchedFile) revise(ctx context.Context, read map[int]*document) (err error) {
	switch {
	case f.removes:
	case f.from >= 0 && f.was.exists:
		return existing(f.was)
	case f.from >= 0:
		f.now, err = f.reviser.revise(ctx, read[f.from])
	default:
		f.now, err = f.reviser.revise(ctx, f.was)
	}
	return err
}

// commit makes the change of one file.
func (c *patchCall) commit(ctx context.Context, f *patchedFile) error {
	if f.removes {
		return c.remove(ctx, f)
	}
	if f.was.exists && slices.Equal(f.was.raw, f.now.raw) {
		return nil
	}
	if same, ok := c.workspace.Lookalike(f.target.path); ok && !f.was.exists {
		f.now.note = addNote(f.now.note, same.Beside())
	}
	if _, err := f.target.commit(ctx, c.session, f.now.raw, f.was.raw); err != nil {
		return err
	}
	version := digestOf(f.now.raw)
	if len(f.now.raw) > digestLimit {
		version = f.target.version()
	}
	c.options.Seen.Wrote(f.target.path.Resolved, version, !f.was.exists || f.was.knowledge.State == seen.Whole)
	return nil
}

// remove deletes the file if it still has the content that was read.
func (c *patchCall) remove(ctx context.Context, f *patchedFile) error {
	if c.options.Writing != nil {
		done, err := c.options.Writing(f.target.path.Resolved)
		if err != nil {
			return ioFailure("remove", f.target.path.Spelling, err)
		}
		defer done()
	}
	f.target.durability = c.durability()
	step := f.target.record.begin()
	err := f.target.announce(step.Unlinking)
	if err == nil {
		err = f.target.unmoved(f.was.raw)
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = f.target.dir.Remove(f.target.name)
	}
	step.End(err == nil)
	if err == nil {
		err = f.target.syncName(c.session, 0)
	}
	return ioFailure("remove", f.target.path.Spelling, err)
}

// difference is the change of one file as a diff.
func (f *patchedFile) difference() difference {
	d := compare(f.was, f.now)
	if f.removes {
		d.text = strings.Replace(d.text, "\n+++ "+label("b", f.target.path.Spelling)+"\n", "\n+++ /dev/null\n", 1)
		if d.text == "" {
			d.text = fmt.Sprintf("--- %s\n+++ /dev/null\n", label("a", f.target.path.Spelling))
		}
	}
	return d
}

// digestOfAll identifies the contents that a patch is based on.
func digestOfAll(files []*patchedFile) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %q\n", f.write, f.was.digest)
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}

func closeFiles(files []*patchedFile) {
	for _, f := range files {
		f.target.close()
	}
}

// halfDone is the error of a patch that made some changes before another one failed.
func halfDone(done []*patchedFile, failed *patchedFile, err error) error {
	if errors.Is(err, errMoved) {
		err = agenttool.Failure(agenttool.DependencyUnavailable, "keeps_changing", failed.target.path.Spelling+" was changed by another process meanwhile")
	}
	if len(done) == 0 {
		return err
	}
	var names []string
	for _, f := range done {
		names = append(names, f.target.path.Spelling)
	}
	return agenttool.Failure(agenttool.PartialFailure, "patch_half_done",
		fmt.Sprintf("%v; these files of the patch were changed before: %s", err, strings.Join(names, ", "))).Because(err)
}

// patchReport describes a patch that was made: a line for each file, the diffs, and the numbers.
func patchReport(files []*patchedFile) agenttool.Output {
	result := changeResult{Path: agenttool.SpellPath(files[0].target.path.Absolute)}
	var lines []string
	var diff strings.Builder
	var written []agenttool.Ref
	for _, f := range files {
		d := f.difference()
		if !f.removes && len(written) < maxArtifacts {
			written = append(written, artifact(f.target.path, digestOf(f.now.raw), len(f.now.raw)))
		}
		result.AddedLines, result.RemovedLines = result.AddedLines+d.added, result.RemovedLines+d.removed
		what := "updated"
		switch {
		case f.removes:
			what = "deleted"
		case !f.was.exists:
			what = "created"
		}
		line := fmt.Sprintf("%s %s: +%d −%d lines", what, f.target.path.Spelling, d.added, d.removed)
		if f.now.note != "" {
			line += " (" + f.now.note + ")"
		}
		lines = append(lines, line)
		diff.WriteString(d.text)
	}
	result.Note = strings.Join(lines, "; ")
	summary := fmt.Sprintf("patched %s, +%d −%d lines", count.Grouped(len(files), "file", "files"), result.AddedLines, result.RemovedLines)
	return agenttool.Output{
		Content: []agenttool.Content{
			agenttool.Text(strings.Join(lines, "\n")), {Type: "diff", Diff: diff.String(), MediaType: "text/x-diff"},
		},
		Structured: result, Summary: summary, Artifacts: written,
	}
}

// maxArtifacts is how many files of a patch its record refers to.
const maxArtifacts = 100
