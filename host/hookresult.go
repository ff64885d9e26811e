package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/validate"
	"toolhost/host/hook"
	"toolhost/persist"
)

// remap records that a hook answered in the place of the call (AT-182, AT-185).
type remap struct {
	HookRef   agenttool.HookID `json:"hook_ref"`
	HookEvent hook.Event       `json:"hook_event"`
	Bytes     int              `json:"original_size_bytes"`
	Digest    string           `json:"original_digest"` // of content and structured content as they were
}

// postHooks runs the hooks of post_tool_use or post_tool_use_failure for a call that ran, and puts what all hooks have
// said until now into the result (AT-121, AT-171, AT-172). Nothing of it changes how the call ended.
func (c *call) postHooks() {
	if c.hooks == nil {
		return
	}
	event := hook.PostToolUse
	if c.err != nil {
		event = hook.PostToolUseFailure
	}
	c.runAfter(event)
}

// persistenceHooks runs the hooks of result_persistence, which see a result before it is kept (AT-175).
func (c *call) persistenceHooks() {
	if c.hooks != nil {
		c.runAfter(hook.ResultPersistence)
	}
}

// runAfter runs the hooks of an event after the call. Each event remaps the result at most once, and no hook sees what it
// has made of it.
func (c *call) runAfter(e hook.Event) {
	if c.ran() && len(c.watchers(e)) > 0 {
		ctx, cancel := c.afterwards()
		defer cancel()
		ended := c.reopen(e)
		o := c.runHooks(ctx, e, "result", c.shownResult(e))
		c.reclose(ended)
		if o.Output != nil {
			c.remap(e, o)
		}
	}
	c.annotate()
}

// ran reports whether the call began to run.
func (c *call) ran() bool { return c.inv.StartedAt != "" }

// reopen puts the state of post hooks in the place of the one in which the call ended, which comes after it.
func (c *call) reopen(e hook.Event) (ended *agenttool.Transition) {
	if e == hook.ResultPersistence {
		return nil
	}
	c.mu.Lock()
	last := len(c.inv.StatusTransitions) - 1
	t := c.inv.StatusTransitions[last]
	c.inv.StatusTransitions = c.inv.StatusTransitions[:last]
	c.mu.Unlock()
	c.to(agenttool.StatusPostHooksRunning, "")
	return &t
}

func (c *call) reclose(ended *agenttool.Transition) {
	if ended != nil {
		c.to(ended.Status, ended.Reason)
	}
}

// remap puts a hook's output in the place of the call's: its content, its structured content and the references to what
// the call said. What was stored of that stays in the session, and nothing refers to it.
func (c *call) remap(e hook.Event, o hook.Outcome) {
	r := &c.result
	if err := c.fits(o.Output); err != nil {
		c.warn(fmt.Sprintf("the %s hook %s changed the output to one that cannot be used: %v", e, o.OutputBy.Name, err))
		return
	}
	was := encode(map[string]any{"content": r.Content, "structured_content": r.StructuredContent})
	sum := sha256.Sum256(was)
	r.Content, r.StructuredContent = o.Output.Content, o.Output.Structured
	if len(r.Content) == 0 {
		r.Content = []agenttool.Content{agenttool.Text(string(r.StructuredContent))}
	}
	if r.Error != nil {
		failure := *r.Error
		failure.Message, failure.Hint = allText(r.Content), ""
		r.Error, r.UIFacingSummary, r.StructuredContent = &failure, failure.Message, nil
	}
	r.ResourceRefs = withoutPayloads(r.ResourceRefs)
	c.out.Persisted = nil
	c.renote()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks.remaps = append(c.hooks.remaps, remap{o.OutputBy.Ref, e, len(was), "sha256:" + hex.EncodeToString(sum[:])})
}

// fits reports whether structured content is of the form that the tool promises.
func (c *call) fits(o *hook.Output) error {
	if c.tool == nil || o.Structured == nil || len(c.tool.Interface.OutputSchema) == 0 {
		return nil
	}
	schema, err := validate.Compile(c.tool.Interface.OutputSchema)
	if err != nil {
		return err
	}
	return schema.Check(o.Structured)
}

func withoutPayloads(refs []agenttool.Ref) []agenttool.Ref {
	var rest []agenttool.Ref
	for _, r := range refs {
		if !strings.HasPrefix(r.URI, "toolhost://") {
			rest = append(rest, r)
		}
	}
	return rest
}

func (c *call) warn(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks.warnings = append(c.hooks.warnings, text)
}

// renote adds the host's own notes to a result that a hook has put together, unless it has kept them.
func (c *call) renote() {
	text := allText(c.result.Content)
	for _, note := range c.notes() {
		if !strings.Contains(text, note) {
			c.result.Content = append(c.result.Content, agenttool.Text(note))
		}
	}
}

// annotate puts what hooks had to say into the result: context, failures after the call and the wish to stop for the
// model, messages for the person.
func (c *call) annotate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, r := c.hooks, &c.result
	for _, text := range w.context {
		r.Content = append(r.Content, agenttool.Text(text))
	}
	w.context = nil
	for _, text := range w.warnings[countOf(r.Extra["warnings"]):] {
		r.Content = append(r.Content, agenttool.Text("["+text+"]"))
	}
	if w.stop != nil && c.err == nil && r.Extra["stop"] == nil {
		r.Content = append(r.Content, agenttool.Text(fmt.Sprintf("[the hook %s asks to stop here: %s]", w.stop.Name, w.stop.Text)))
	}
	if len(w.messages) > 0 {
		r.Extra = withExtra(r.Extra, "hook_messages", messageRecords(w.messages))
	}
	if len(w.warnings) > 0 {
		r.Extra = withExtra(r.Extra, "warnings", w.warnings)
	}
	if w.stop != nil {
		r.Extra = withExtra(r.Extra, "stop", map[string]any{"reason": w.stop.Text, "hook_ref": w.stop.Ref})
	}
	if len(w.remaps) > 0 {
		r.Extra = withExtra(r.Extra, "output_mutations", w.remaps)
	}
}

// countOf is how many items an encoded list has.
func countOf(list json.RawMessage) int {
	var items []json.RawMessage
	_ = json.Unmarshal(list, &items) // no list: none
	return len(items)
}

func withExtra(x agenttool.Extra, name string, v any) agenttool.Extra {
	if x == nil {
		x = agenttool.Extra{}
	}
	x[name] = encode(v)
	return x
}

func messageRecords(said []hook.Said) []map[string]any {
	records := make([]map[string]any, len(said))
	for i, s := range said {
		records[i] = map[string]any{"text": s.Text, "hook_ref": s.Ref, "hook": s.Name}
	}
	return records
}

const (
	maxShownResult = 256 << 10 // bytes of a result's content that hooks get
	shownPreview   = 16_000    // characters of a text that is more
)

// shownResult is the result as hooks get it: large text is a preview and a reference, other large blocks are left out.
func (c *call) shownResult(e hook.Event) json.RawMessage {
	r := c.result
	size := len(r.StructuredContent)
	for _, b := range r.Content {
		size += len(b.Text) + len(b.Data) + len(b.Diff)
	}
	if size <= maxShownResult {
		return encode(r)
	}
	room := maxShownResult
	if text := allText(r.Content); len(text) > maxShownResult/2 {
		r.Content = append(c.previewOf(text, e), withoutText(r.Content)...)
		room /= 2
	}
	var blocks []agenttool.Content
	for _, b := range r.Content {
		if size := len(b.Text) + len(b.Data) + len(b.Diff); size <= room {
			blocks = append(blocks, b)
			room -= size
		}
	}
	r.Content = blocks
	if len(r.StructuredContent) > room {
		r.StructuredContent = nil
	}
	return encode(r)
}

// previewOf keeps a text as a payload, unless the tool has, and returns how hooks see it.
func (c *call) previewOf(text string, e hook.Event) []agenttool.Content {
	blocks := []agenttool.Content{agenttool.Text(persist.Preview(text, shownPreview))}
	ref := c.out.Persisted
	if ref == nil {
		stored, err := c.store("result_for_"+string(e), "text/plain; charset=utf-8", []byte(text))
		if err != nil {
			return blocks
		}
		ref = &stored
	}
	return append(blocks, agenttool.Content{Type: "persisted_output_ref", URI: ref.URI, MediaType: ref.MediaType})
}
