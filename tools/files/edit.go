package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"
)

// Describe returns the tool's records. Whether an edit is destructive depends on its input: a patch can delete files.
func (editTool) Describe() agenttool.Description {
	d := contracts(agenttool.Declaration{
		Name: "edit", Title: "Edit file",
		Aliases:     []string{"Edit", "str_replace", "apply_patch", "MultiEdit", "multiedit", "replace", "search_replace", "StrReplace", "editor"},
		Description: "Replaces exact text in a file; all edits are made or none. old_string must occur once, unless replace_all.",
		SearchHint:  "change modify replace patch substitute string file",
	}, "change", `{"path":"go.mod","old_string":"go 1.25","new_string":"go 1.26"}`)
	d.InputContract.Defaults = map[string]any{"replace_all": false}
	return describeChange(d, patchClassifier)
}

// patchClassifier says that an edit is destructive if it is a patch that deletes a file.
const patchClassifier = "classify.patch"

// maxEdits is the number of edits of one call.
const maxEdits = 100

// editInput is the normalised input of edit.
type editInput struct {
	Path     string        `json:"path"`
	Edits    []replacement `json:"edits"`
	Encoding string        `json:"encoding,omitempty"`
}

// Bind checks the input, in either form, and names the path that is read and written.
func (t editTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	var in struct {
		editInput
		OldString  *string `json:"old_string"`
		NewString  *string `json:"new_string"`
		ReplaceAll *bool   `json:"replace_all"`
		Patch      *string `json:"patch"`
	}
	if err := agenttool.DecodeInput(input, &in); err != nil {
		return nil, err
	}
	single := in.OldString != nil || in.NewString != nil || in.ReplaceAll != nil
	switch {
	case in.Patch != nil && (single || in.Edits != nil || in.Path != ""):
		return nil, invalid("/patch", "a patch names its files and changes itself: leave the other members out")
	case in.Patch != nil:
		return t.bindPatch(scope, *in.Patch, in.Encoding)
	case in.Path == "":
		return nil, invalid("/path", "path is missing: name the file to edit")
	case single && in.Edits != nil:
		return nil, invalid("/edits", "give either edits or old_string and new_string, not both")
	case single && (in.OldString == nil || in.NewString == nil):
		return nil, invalid("", "old_string and new_string belong together: one of them is missing")
	case single:
		in.Edits = []replacement{{*in.OldString, *in.NewString, in.ReplaceAll != nil && *in.ReplaceAll}}
	case len(in.Edits) == 0:
		return nil, invalid("/edits",
			"nothing to do: give old_string and new_string, or edits with 1 to 100 of such pairs")
	case len(in.Edits) > maxEdits:
		return nil, invalid("/edits",
			fmt.Sprintf("%d edits are too many: at most %d in one call", len(in.Edits), maxEdits))
	}
	for i, e := range in.Edits {
		if err := e.check(i, single); err != nil {
			return nil, err
		}
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
	facts.Reads = []agenttool.Path{p}
	reviser := editReviser{t.session, in.Edits, in.Encoding}
	return &editCall{change{session: t.session, input: in.editInput, facts: facts, reviser: reviser}}, nil
}

// check refuses edits that cannot match any file.
func (e replacement) check(index int, single bool) error {
	pointer, name := fmt.Sprintf("/edits/%d/old_string", index), fmt.Sprintf("edits[%d]: ", index)
	if single {
		pointer, name = "/old_string", ""
	}
	switch {
	case e.OldString == "":
		return invalid(pointer, name+"old_string is empty: to create a file or to replace all of it, use write; "+
			"to insert, give the text beside the place")
	case e.OldString == e.NewString:
		return invalid(pointer, name+"old_string and new_string are the same: nothing would change")
	}
	return nil
}

// editCall is a bound edit.
type editCall struct{ change }

// Preflight fails if the file does not exist.
func (c *editCall) Preflight(context.Context) error {
	t, err := c.look(c.facts.Writes[0])
	if err != nil {
		return err
	}
	defer t.close()
	if !t.exists() {
		return c.notFound(t.path)
	}
	return nil
}

// editReviser applies the edits of one call.
type editReviser struct {
	session  *session
	edits    []replacement
	encoding string // empty: the content tells
}

// revise applies the edits one after the other, each to the result of those before it.
func (r editReviser) revise(ctx context.Context, was *document) (revision, error) {
	name := was.path.Spelling
	if !was.exists {
		return revision{}, r.session.notFound(was.path)
	}
	if err := was.decodeAs(r.encoding); err != nil {
		return revision{}, err
	}
	if was.form.binary {
		return revision{}, agenttool.Failure(agenttool.InvalidArguments, "binary_file",
			name+" is binary (it holds NUL characters): edit changes text only")
	}
	if err := was.changeable(); err != nil {
		return revision{}, err
	}
	now := revision{raw: was.raw, text: was.text}
	for i, e := range r.edits {
		if was.knowledge.State == seen.Changed && e.ReplaceAll {
			return revision{}, agenttool.Failure(agenttool.InvalidArguments, "stale_content",
				name+" changed since it was last read or written here, and replace_all could hit what was never seen: "+
					"read it again first")
		}
		if err := was.admits(e.OldString + e.NewString); err != nil {
			return revision{}, err
		}
		var splicer *encoding.Splicer
		if !was.isUTF8() {
			splicer = was.found.NewSplicer(now.raw)
		}
		text, count, err := e.apply(ctx, now.text, was, splicer)
		if failure, ok := errors.AsType[*agenttool.Error](err); ok && i > 0 && failure.Code == "no_match" {
			if _, _, alone := e.apply(ctx, was.text, was, nil); alone == nil {
				err = agenttool.Failure(agenttool.InvalidArguments, "no_match", "old_string is in the file, but an edit of this call before it changes that text: "+
					"write old_string as that edit leaves it, or make one edit of both").In("/old_string")
			}
		}
		if err != nil {
			return revision{}, r.named(err, name, i)
		}
		if splicer != nil {
			now.raw = splicer.End()
		}
		now.text, now.replacements = text, now.replacements+count
	}
	if was.knowledge.State == seen.Changed {
		now.note = "the file had changed since it was read"
	}
	if was.isUTF8() {
		now.raw = was.withMark(now.text)
		return now, nil
	}
	return now, was.readsAs(now.raw, now.text)
}

// named adds the file, and the index of the edit if there are several, to err.
func (r editReviser) named(err error, file string, index int) error {
	failure, ok := errors.AsType[*agenttool.Error](err)
	if !ok {
		return err
	}
	clear := *failure
	where := file
	if len(r.edits) > 1 {
		where = fmt.Sprintf("%s, edits[%d]", file, index)
		clear.Pointer = strings.Replace(clear.Pointer, "/old_string", fmt.Sprintf("/edits/%d/old_string", index), 1)
	}
	message, details, _ := strings.Cut(clear.Message, "\n")
	clear.Message = where + ": " + message + "; nothing was changed"
	if details != "" {
		if index > 0 {
			clear.Message += " (lines are counted after the edits before it)"
		}
		clear.Message += "\n" + details
	}
	return &clear
}
