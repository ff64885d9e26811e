package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/persist/redact"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/redacttest"
)

// secretive is a tool whose output has a secret in its text, its diff, its structured content and its summary, and fails if asked to.
func secretive(secret string, more int) *fake {
	return &fake{name: "look", reads: true, run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		out := agenttool.Output{
			Content: []agenttool.Content{agenttool.Text(strings.Repeat("line\n", more) + "key " + secret + "\n"), {Type: "diff", Diff: "+" + secret}},
			Summary: "found " + secret, Structured: map[string]string{"found": secret},
		}
		if in.Path == "fail" {
			return out, agenttool.Failure(agenttool.ExecutionFailed, "bad", "cannot use "+secret)
		}
		return out, nil
	}}
}

// TestRedactStrategy: with strategy redact the model reads no secret, in a result, an error, or a stored output, and the records say so.
// Without it the model reads all.
func TestRedactStrategy(t *testing.T) {
	conform.Held(t, "AT-293", "AT-376")
	secret := redacttest.Secrets(4)[0].Value
	for _, results := range []bool{false, true} {
		for path, more := range map[string]int{"a": 0, "fail": 0, "large": 50_000} {
			f := newFixture(t, []agenttool.Tool{secretive(secret, more)})
			if err := f.store.Redactor().SetRules(redact.Rules{Results: results}); err != nil {
				t.Fatal(err)
			}
			got := f.call(host.Request{ID: "c1", Tool: "look", Input: input(path)})
			text, err := json.Marshal(got)
			if err != nil || strings.Contains(string(text), secret) == results {
				t.Errorf("results %v, %s: the model reads %s, %v", results, path, text[:min(len(text), 2000)], err)
			}
			state, strategy := "none", map[string]agenttool.Strategy{"large": agenttool.PreviewAndPersist}[path]
			if strategy == "" {
				strategy = map[bool]agenttool.Strategy{false: agenttool.Inline, true: agenttool.Redact}[results]
			}
			if results {
				state = "redacted"
			}
			if got.Result.RedactionState != state || got.Persistence.Strategy != strategy {
				t.Errorf("results %v, %s: state %s, strategy %s", results, path, got.Result.RedactionState, got.Persistence.Strategy)
			}
			if ref := got.Persistence.PersistedRef; ref != nil {
				page, err := f.ReadResult(ref.URI, ref.SizeBytes-200, 0)
				if err != nil || strings.Contains(page.Text, secret) == results {
					t.Errorf("results %v: a page has %q, %v", results, page.Text, err)
				}
			}
			noted := 0
			for _, e := range f.entries() {
				if e.EventType == agenttool.EventResultRedacted {
					noted++
				}
			}
			if noted != 1 {
				t.Errorf("results %v, %s: %d events of a redaction", results, path, noted)
			}
		}
	}
}

// TestWithheldResult: a result that cannot be searched is withheld under strategy redact, and says so as an error; the call stays done.
func TestWithheldResult(t *testing.T) {
	conform.Held(t, "AT-255", "AT-328")
	secret := redacttest.Secrets(5)[0].Value
	deep := json.RawMessage(strings.Repeat("[", 300) + `"` + secret + `"` + strings.Repeat("]", 300))
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(secret)}, Structured: deep, Summary: secret}, nil
	}}})
	if err := f.store.Redactor().SetRules(redact.Rules{Results: true}); err != nil {
		t.Fatal(err)
	}
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	checkRecords(t, got)
	checkError(t, got, agenttool.ResultRedacted, "result_withheld")
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), secret) || got.Result.Status != "redacted" || got.Result.RedactionState != "withheld" ||
		got.Invocation.Status != agenttool.StatusSucceeded || got.Result.Error.Recoverability != agenttool.NotRecoverable {
		t.Errorf("%s, %v", text, err)
	}
}

// TestToolLearnsWhatWasShown: a tool is told the content that the caller gets, after hooks, storage and redaction, and before the next
// call on the same path begins.
func TestToolLearnsWhatWasShown(t *testing.T) {
	secret := redacttest.Secrets(4)[0].Value
	for _, c := range []struct {
		name, text string
		event      hook.Event // that replaces the text; "": none
		canceled   bool
	}{
		{name: "as it is", text: "a text"},
		{name: "redacted", text: "key " + secret},
		{name: "cut", text: strings.Repeat("line\n", 50_000)},
		{name: "replaced by a hook after the call", text: "a text", event: hook.PostToolUse},
		{name: "replaced by a hook before it is kept", text: "a text", event: hook.ResultPersistence},
		{name: "canceled", text: "a text", canceled: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var shown []agenttool.Content
			times := 0
			var f *fixture
			look := &fake{name: "look", reads: true, run: func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
				out := agenttool.Output{Content: []agenttool.Content{agenttool.Text(c.text)}}
				out.Shown = func(content []agenttool.Content) { shown, times = content, times+1 }
				if c.canceled {
					f.Cancel("c1", "")
					return out, context.Cause(ctx)
				}
				return out, nil
			}}
			var options []func(*host.Options)
			if c.event != "" {
				options = append(options, watched(hookOf(t, c.event, says(`{"updated_output":"***"}`))))
			}
			f = newFixture(t, []agenttool.Tool{look}, options...)
			if err := f.store.Redactor().SetRules(redact.Rules{Results: true}); err != nil {
				t.Fatal(err)
			}
			got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
			if c.canceled != (got.Result.Status == agenttool.ResultCanceled) {
				t.Fatalf("status %s", got.Result.Status)
			}
			if c.canceled {
				if times != 0 {
					t.Error("the tool learns that a canceled call was shown")
				}
				return
			}
			if times != 1 || shown[0].Text != got.Result.Content[0].Text {
				t.Errorf("told %d times, %.200v; the caller got %.200v", times, shown, got.Result.Content)
			}
			if same := got.Result.Content[0].Text == c.text; same != (c.name == "as it is") {
				t.Errorf("the text was not changed, or was: %.200v", got.Result.Content)
			}
		})
	}
}

// TestWhatWasShownIsKnownToTheNextCall: calls that are sent without waiting know what the ones before them have shown, with and without hooks.
func TestWhatWasShownIsKnownToTheNextCall(t *testing.T) {
	for _, c := range []struct {
		name   string
		event  hook.Event // of a hook; "": none
		rounds int32
	}{{"no hooks", "", 50}, {"a hook of the result", hook.ResultPersistence, 10}, {"a hook after the call", hook.PostToolUse, 10}} {
		t.Run(c.name, func(t *testing.T) {
			var shown, known atomic.Int32
			look := &fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
				text := agenttool.Text(strings.Repeat("line\n", 50_000))
				return agenttool.Output{Content: []agenttool.Content{text}, Shown: func([]agenttool.Content) { shown.Add(1) }}, nil
			}}
			change := &fake{name: "change", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
				known.Store(shown.Load())
				return agenttool.Output{}, nil
			}}
			options := []func(*host.Options){allowing("change")}
			if c.event != "" {
				options = append(options, watched(hookOf(t, c.event, says(`{}`))))
			}
			f := newFixture(t, []agenttool.Tool{look, change}, options...)
			for i := range c.rounds {
				first := f.start(host.Request{ID: fmt.Sprint("a", i), Tool: "look", Input: input("a")})
				second := f.start(host.Request{ID: fmt.Sprint("b", i), Tool: "change", Input: input("a")})
				<-first
				<-second
				if known.Load() != i+1 {
					t.Fatalf("the second call knew of %d, want %d", known.Load(), i+1)
				}
			}
		})
	}
}
