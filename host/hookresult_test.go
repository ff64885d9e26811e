package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/testdata/support/conform"
)

// TestHookChangesOutput: what a hook answers in the place of a call is what is kept, once, and it is recorded.
func TestHookChangesOutput(t *testing.T) {
	conform.Held(t, "AT-185")
	secret := func(err error) func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return func(_ context.Context, _ fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
			p, perr := r.Payload("full_output", "text/plain")
			if perr != nil {
				return agenttool.Output{}, perr
			}
			ref, _ := p.Close()
			return agenttool.Output{
				Content: []agenttool.Content{agenttool.Text("hunter2")}, Structured: map[string]any{"password": "hunter2"},
				Persisted: &ref, Resources: []agenttool.Ref{ref, {ID: "x", URI: "file:///ws/x"}},
			}, err
		}
	}
	tools := []agenttool.Tool{&fake{name: "tell", reads: true, run: secret(nil)}, &fake{name: "fail", reads: true, run: secret(errors.New("hunter2"))}}
	long := strings.Repeat("y", 5000)
	for _, c := range []struct {
		name    string
		event   hook.Event
		tool    string
		answer  string
		text    string
		warning string
	}{
		{"to a text", hook.PostToolUse, "tell", `{"updated_output":"***"}`, "***", ""},
		{"to a text when it is kept", hook.ResultPersistence, "tell", `{"updated_output":"***"}`, "***", ""},
		{"to a text when a failure is kept", hook.ResultPersistence, "fail", `{"updated_output":"***"}`, "***", ""},
		{"to blocks", hook.PostToolUse, "tell", `{"updated_output":{"content":[{"type":"text","text":"***"}],"structured_content":{"ok":true}}}`, "***", ""},
		{"to structured content", hook.PostToolUse, "tell", `{"updated_output":{"structured_content":{"ok":true}}}`, `{"ok":true}`, ""},
		{"to a long text", hook.PostToolUse, "tell", `{"updated_output":"` + long + `"}`, long, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := hookOf(t, c.event, says(c.answer))
			f := newFixture(t, tools, watched(h))
			got := f.call(host.Request{ID: "c1", Tool: c.tool, Input: input("a")})
			checkRecords(t, got)
			line, _ := got.MarshalJSON()
			if strings.Contains(string(line), "hunter2") || got.Persistence.PersistedRef != nil || len(got.Result.ResourceRefs) != 1 {
				t.Errorf("what the call said is left: %s", line)
			}
			if got.Result.Content[0].Text != c.text || got.Result.IsError != (c.tool == "fail") || runsOf(h) != 1 {
				t.Errorf("result %+v, the hook ran %d times", got.Result, runsOf(h))
			}
			if e := got.Result.Error; e != nil && (e.Class != agenttool.ExecutionFailed || e.Message != c.text) {
				t.Errorf("error %+v", e)
			}
			_, records := f.hookEvents(got.Invocation.InvocationID)
			if n := len(records); n != 1 || len(records[0].UpdatedOutput) == 0 || len(records[0].UpdatedOutput) > 4096 {
				t.Errorf("hook records %+v", records)
			}
			var remaps []struct {
				HookRef agenttool.HookID `json:"hook_ref"`
				Bytes   int              `json:"original_size_bytes"`
				Digest  string           `json:"original_digest"`
			}
			if err := json.Unmarshal(got.Result.Extra["output_mutations"], &remaps); err != nil || len(remaps) != 1 ||
				remaps[0].HookRef != records[0].HookID || remaps[0].Bytes == 0 || !strings.HasPrefix(remaps[0].Digest, "sha256:") {
				t.Errorf("output_mutations %s, %v", got.Result.Extra["output_mutations"], err)
			}
		})
	}
}

// TestHookOutputOfTheWrongForm is not taken: structured content is of the form that the tool promises.
func TestHookOutputOfTheWrongForm(t *testing.T) {
	h := hookOf(t, hook.PostToolUse, says(`{"updated_output":{"structured_content":{"lines":"many"}}}`))
	f := newFixture(t, []agenttool.Tool{&promising{fake{name: "count", reads: true}}}, watched(h))
	got := f.call(host.Request{ID: "c1", Tool: "count", Input: input("a")})
	if text := got.Result.Content[0].Text; text != "ran a" || got.Result.Extra["output_mutations"] != nil {
		t.Errorf("result %+v", got.Result)
	}
	if w := string(got.Result.Extra["warnings"]); !strings.Contains(w, "cannot be used") || !strings.Contains(w, "lines") {
		t.Errorf("warnings %s", w)
	}
}

// promising is a fake that promises structured content.
type promising struct{ fake }

func (p *promising) Describe() agenttool.Description {
	d := p.fake.Describe()
	d.Interface.OutputSchema = json.RawMessage(`{"type":"object","properties":{"lines":{"type":"integer"}},"required":["lines"]}`)
	return d
}

// TestWhatHooksSay: context reaches the model with the result, messages and progress the person, stop whoever goes on.
func TestWhatHooksSay(t *testing.T) {
	conform.Held(t, "AT-116")
	before := hookOf(t, hook.PreToolUse, says(`{"message":"before","progress":{"message":"checking","percent":50},"additional_context":["mind the gap\u202e"]}`))
	after := hookOf(t, hook.PostToolUse, says(`{"message":"after","additional_context":[{"text":"formatted"}],"stop":{"reason":"done for today"}}`))
	kept := hookOf(t, hook.ResultPersistence, says(`{"additional_context":["kept"]}`))
	f := newFixture(t, hookedTools(), watched(before, after, kept))
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	checkRecords(t, got)
	var texts []string
	for _, b := range got.Result.Content {
		texts = append(texts, b.Text)
	}
	want := []string{"ran a", `mind the gap\u{202e}`, "formatted", "[the hook /bin/sh hook.sh (/set.json:3) asks to stop here: done for today]", "kept"}
	if !slices.Equal(texts, want) {
		t.Errorf("content\n%q, want\n%q", texts, want)
	}
	if m := string(got.Result.Extra["hook_messages"]); strings.Count(m, `"text"`) != 2 || !strings.Contains(m, "before") || !strings.Contains(m, "after") {
		t.Errorf("messages %s", m)
	}
	if s := string(got.Result.Extra["stop"]); !strings.Contains(s, "done for today") || !strings.Contains(s, got.Invocation.HookRefs[1]) {
		t.Errorf("stop %s", s)
	}
	if e := f.events(got.Invocation.InvocationID); !slices.Contains(e, "tool.invocation.progress") {
		t.Errorf("events %v", e)
	}
	_, records := f.hookEvents(got.Invocation.InvocationID)
	if len(records) != 3 || len(records[0].Outputs) != 2 || len(records[1].AdditionalContext) != 1 || records[1].Stop["reason"] != "done for today" {
		t.Errorf("records %+v", records)
	}
}

// TestStopBeforeIsReported: who stopped a call is in its result for programs as well.
func TestStopBeforeIsReported(t *testing.T) {
	f := newFixture(t, hookedTools(), watched(hookOf(t, hook.PreToolUse, says(`{"stop":{"reason":"enough"},"additional_context":["why"]}`))))
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	if s := string(got.Result.Extra["stop"]); !strings.Contains(s, "enough") || len(got.Result.Content) != 2 || got.Result.Content[1].Text != "why" {
		t.Errorf("stop %s, content %+v", s, got.Result.Content)
	}
}

// TestHooksGetLargeResultsByReference: what a hook is told of a large result is bounded, and leads to the whole.
func TestHooksGetLargeResultsByReference(t *testing.T) {
	long := strings.Repeat("a line of output\n", 40_000)
	h := hookOf(t, hook.PostToolUse, says(""))
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{
			Content:    []agenttool.Content{agenttool.Text(long), {Type: "image", Data: strings.Repeat("A", 300<<10)}, {Type: "diff", Diff: "--- a"}},
			Structured: map[string]any{"text": long},
		}, nil
	}}}, watched(h))
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	checkRecords(t, got)
	info, err := os.Stat(filepath.Join(h.Dir, "told"))
	if err != nil || info.Size() > 64<<10 {
		t.Fatalf("told %v, %v", info, err)
	}
	result := toldTo(t, h)["result"].(map[string]any)
	blocks := result["content"].([]any)
	var types []string
	for _, b := range blocks {
		types = append(types, b.(map[string]any)["type"].(string))
	}
	if strings.Join(types, " ") != "text persisted_output_ref diff" || result["structured_content"] != nil {
		t.Fatalf("blocks %v", types)
	}
	page, err := f.ReadResult(blocks[1].(map[string]any)["uri"].(string), 0, 100)
	if err != nil || !strings.HasPrefix(long, page.Text) || page.Text == "" {
		t.Errorf("page %+v, %v", page, err)
	}
	if got.Persistence.Strategy != agenttool.PreviewAndPersist || got.Persistence.OriginalSizeBytes < int64(len(long)) {
		t.Errorf("the result itself: %+v", got.Persistence)
	}
}
