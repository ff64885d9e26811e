package rap

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/testdata/support/conform"
)

// TestItems drives every item of the checklist for a tool server, each once.
func TestItems(t *testing.T) {
	conform.Held(t, "RAP-01", "RAP-02", "RAP-03", "RAP-04", "RAP-05", "RAP-06", "RAP-07", "RAP-08", "RAP-09", "RAP-10", "RAP-11", "RAP-12", "RAP-13", "RAP-14",
		"RAP-15", "RAP-16", "RAP-17", "RAP-19", "RAP-20", "RAP-21", "RAP-22", "RAP-23", "RAP-24", "RAP-26", "RAP-27")
	items := []struct {
		id, name string
		run      func(t *testing.T) // nil: out of scope
		out      string             // why
	}{
		{"RAP-01", "discovery", testDiscovery, ""},
		{"RAP-02", "invocation endpoint", testEndpoint, ""},
		{"RAP-03", "lifecycle endpoints", testLifecycle, ""},
		{"RAP-04", "toolset fields", testToolset, ""},
		{"RAP-05", "tool fields", testTools, ""},
		{"RAP-06", "annotations", testAnnotations, ""},
		{"RAP-07", "no display script", testNoScript, ""},
		{"RAP-08", "invocation fields", testFields, ""},
		{"RAP-09", "immediate 200", testAtOnce, ""},
		{"RAP-10", "validation failures are results", testFaults, ""},
		{"RAP-11", "every call is answered", testEveryCall, ""},
		{"RAP-12", "refusals", testRefusals, ""},
		{"RAP-13", "tool_result", testResult, ""},
		{"RAP-14", "display_as", testDisplay, ""},
		{"RAP-15", "errors and structured output", testErrors, ""},
		{"RAP-16", "subscription", testSubscription, ""},
		{"RAP-17", "user_choice", testChoice, ""},
		{"RAP-18", "oauth", nil, "no tool of a toolhost signs in anywhere: none has requiresAuth"},
		{"RAP-19", "view_update", testView, ""},
		{"RAP-20", "callbacks are tried again", testRetry, ""},
		{"RAP-21", "cancel_tool_call", testCancel, ""},
		{"RAP-22", "close_thread", testClose, ""},
		{"RAP-23", "untrusted ids", testUntrusted, ""},
		{"RAP-24", "arguments, replays, https", testReplay, ""},
		{"RAP-25", "migrate", nil, "a session is bound to its workspace and its processes: needsMigration is never set"},
		{"RAP-26", "concurrency", testConcurrency, ""},
		{"RAP-27", "thread_ancestors", testAncestors, ""},
	}
	for i, item := range items {
		if want := fmt.Sprintf("RAP-%02d", i+1); item.id != want || (item.run == nil) == (item.out == "") {
			t.Errorf("%s stands where %s belongs, or has neither test nor reason", item.id, want)
		}
		t.Run(item.id+" "+item.name, func(t *testing.T) {
			if item.run == nil {
				t.Skip("out of scope: " + item.out)
			}
			item.run(t)
		})
	}
	if len(items) != 27 {
		t.Errorf("%d items", len(items))
	}
}

func testFields(t *testing.T) {
	f := newFixture(t, set{})
	for id, change := range map[string]fields{
		"null":    {"call_id": json.RawMessage("null"), "thread_ancestors": json.RawMessage("null"), "user_id": json.RawMessage("null")},
		"all":     {"call_id": "second", "thread_ancestors": []string{"root"}, "user_id": "user\u202e42"},
		"unknown": {"toolset_version": 3, "x": fields{"y": 1}},
	} {
		f.invoke(id, "look", change)
		got := f.result(id)
		if got.text("group_id") != "g" || got.text("text") != "ran look" {
			t.Errorf("%s: %v", id, got.fields)
		}
		if _, there := got.fields["call_id"]; there != (id == "all") || there && got.text("call_id") != "second" {
			t.Errorf("%s: call_id %v", id, got.fields["call_id"])
		}
	}
	if log := f.journal(); !strings.Contains(log, `"native_call_id":"all"`) || !strings.Contains(log, `"root"`) || !strings.Contains(log, "rap:user⟨U+202E⟩42") {
		t.Error("ids and user are not in the record")
	}
	for _, name := range []string{"id", "group_id", "callback_url"} {
		for _, bad := range []any{nil, "", 7, strings.Repeat("x", 5000)} {
			if status, text := f.send("/invoke", f.invocation("bad", "look", fields{name: bad})); status != 400 || !strings.Contains(text, name) {
				t.Errorf("%s = %.10v: %d %s", name, bad, status, text)
			}
		}
	}
}

func testAtOnce(t *testing.T) {
	f := newFixture(t, set{})
	begun := time.Now()
	f.invoke("h", "hang")
	if took := time.Since(begun); took > ample {
		t.Errorf("it took %s", took)
	}
	if n := f.runtime.count("tool_result", "h"); n != 0 {
		t.Error("a call that hangs has a result")
	}
}

func testFaults(t *testing.T) {
	f := newFixture(t, set{})
	for i, c := range []struct {
		name, says string
		change     fields
	}{
		{"no operation", "operation", fields{"operation": nil}},
		{"unknown operation", "no such operation", fields{"operation": "rm"}},
		{"no arguments", "arguments", fields{"arguments": nil}},
		{"arguments of another type", "arguments", fields{"arguments": []int{1}}},
		{"a member that is missing", "path", fields{"arguments": fields{}}},
		{"a member too many", "more", fields{"arguments": fields{"path": "a", "more": 1}}},
		{"a member twice", "twice", fields{"arguments": json.RawMessage(`{"path":"a","path":"b"}`)}},
		{"a user that is none", "user_id", fields{"user_id": 7}},
		{"ancestors that are none", "thread_ancestors", fields{"thread_ancestors": "root"}},
		{"too many ancestors", "thread_ancestors", fields{"thread_ancestors": make([]string, 65)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := fmt.Sprint("c", i)
			f.invoke(id, "look", c.change)
			if text := f.result(id).text("text"); !strings.HasPrefix(text, "Error: ") || !strings.Contains(text, c.says) {
				t.Errorf("text %q", text)
			}
		})
	}
	f.idle()
}

func testEveryCall(t *testing.T) {
	f := newFixture(t, set{tools: []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "panics", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) { panic("inside secret.go:7") }},
		&fake{name: "breaks", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
			return agenttool.Output{}, agenttool.Failure(agenttool.ExecutionFailed, "broken", "it broke; mend it")
		}},
	}})
	var ids []string
	for i := range 60 {
		id := fmt.Sprint("c", i)
		f.invoke(id, []string{"look", "panics", "breaks", "none"}[i%4], fields{"group_id": fmt.Sprint("g", i%7)})
		ids = append(ids, id)
	}
	for _, id := range ids {
		f.result(id)
	}
	f.idle()
	for _, id := range ids {
		if n := f.runtime.count("tool_result", id); n != 1 {
			t.Errorf("%s has %d results", id, n)
		}
	}
}

func testRefusals(t *testing.T) {
	f := newFixture(t, set{})
	for _, c := range []struct {
		name   string
		body   string
		status int
	}{
		{"no JSON", "{", 400}, {"no object", "[]", 400}, {"two objects", "{}{}", 400}, {"no UTF-8", "{\"id\":\"\xff\"}", 400}, {"a member twice", `{"id":"a","id":"b"}`, 400},
		{"a member twice, behind one below", `{"x":{"y":1,"y":2},"group_id":"g","id":"i","callback_url":"http://127.0.0.1:1/","operation":"a","operation":"b","arguments":{}}`, 400},
		{"empty", "", 400}, {"too long", `{"x":"` + strings.Repeat("y", maxBody) + `"}`, 413},
	} {
		if status, _ := f.send("/invoke", []byte(c.body)); status != c.status {
			t.Errorf("%s: %d", c.name, status)
		}
	}
	res, err := http.Post(f.web.URL+"/rap/invoke", "application/json", io.MultiReader(strings.NewReader(`{"x":"`), io.LimitReader(endless{}, maxBody))) // no length is told
	if err == nil && res.StatusCode != 413 {
		t.Errorf("too long without a length: %d", res.StatusCode)
	}
	for i := range maxPerGroup {
		f.invoke(fmt.Sprint("h", i), "hang")
	}
	f.invoke("more", "hang")
	if text := f.result("more").text("text"); !strings.Contains(text, "did not run the call: 64 calls have not ended, 64 of them of this group") {
		t.Errorf("more calls than may run: %q", text)
	}
	if status, _ := f.send("/invoke", f.invocation("more", "look", fields{"group_id": "other"})); status != 200 {
		t.Errorf("another group: %d", status)
	}
}

// endless is y for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'y'
	}
	return len(p), nil
}

func testResult(t *testing.T) {
	f := newFixture(t, set{tools: []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "see", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
			return agenttool.Output{Content: []agenttool.Content{{Type: "image", Data: "aGk=", MediaType: "image/png"}}, Summary: "a.png"}, nil
		}},
	}})
	f.invoke("c1", "look", fields{"call_id": "second"})
	got := f.result("c1")
	want := map[string]any{"type": "tool_result", "group_id": "g", "id": "c1", "call_id": "second", "text": "ran look"}
	if fmt.Sprint(got.fields) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got.fields, want)
	}
	if got.header.Get("Content-Type") != "application/json" || got.path != "/cb?secret=s3cret" {
		t.Errorf("sent to %s as %v", got.path, got.header)
	}
	f.invoke("c2", "see")
	content, _ := json.Marshal(f.result("c2").fields["content"])
	if want := `[{"text":"1 images are attached.","type":"text"},{"data":"aGk=","mediaType":"image/png","type":"image"}]`; string(content) != want {
		t.Errorf("content %s", content)
	}
}

// changes is a tool like edit.
func changes() agenttool.Tool {
	return &fake{name: "edit", run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
		return agenttool.Output{
			Content: []agenttool.Content{agenttool.Text("edited a"), {Type: "diff", Diff: "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n"}},
			Summary: "edited a: +1\x1b[2J",
		}, nil
	}}
}

func testDisplay(t *testing.T) {
	f := newFixture(t, set{allow: []string{"Edit"}, tools: []agenttool.Tool{changes(), &fake{name: "look", reads: true}}})
	f.invoke("c1", "edit")
	got := f.result("c1")
	display, _ := json.Marshal(got.fields["display_as"])
	if want := `[{"content":{"patch":"--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n","path":"a"},"type":"diff"},{"content":"edited a: +1⟨ESC⟩[2J","type":"text"}]`; string(display) != want {
		t.Errorf("display_as %s", display)
	}
	if got.text("text") != "edited a" {
		t.Errorf("the model reads %q", got.text("text"))
	}
	f.invoke("c2", "look")
	if _, there := f.result("c2").fields["display_as"]; there {
		t.Error("a short text has another one to display")
	}
}

func testErrors(t *testing.T) {
	f := newFixture(t, set{tools: []agenttool.Tool{
		&fake{name: "breaks", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
			return agenttool.Output{}, agenttool.Failure(agenttool.ExecutionFailed, "broken", "it broke; mend it")
		}},
		&fake{name: "fails", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
			return said("exit 1: output"), agenttool.Failure(agenttool.ExecutionFailed, "exit", "exit status 1")
		}},
		&fake{name: "panics", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) { panic("boom") }},
	}})
	for tool, want := range map[string]string{"breaks": "Error: it broke; mend it", "fails": "Error: exit 1: output"} {
		f.invoke(tool, tool)
		if text := f.result(tool).text("text"); text != want {
			t.Errorf("%s: %q, want %q", tool, text, want)
		}
	}
	f.invoke("p", "panics")
	if text := f.result("p").text("text"); !strings.HasPrefix(text, "Error: ") || strings.Contains(text, ".go:") || strings.Contains(text, "goroutine") {
		t.Errorf("a panic: %q", text)
	}
}

func testView(t *testing.T) {
	f := newFixture(t, set{allow: []string{"Edit"}, tools: []agenttool.Tool{changes(), &fake{name: "look", reads: true}}})
	f.invoke("c0", "look")
	f.result("c0")
	f.invoke("c1", "edit")
	view := f.runtime.await("view", func(c callback) bool { return c.text("type") == "view_update" })
	content, _ := view.fields["content"].(map[string]any)
	if view.text("group_id") != "g" || view.text("view_type") != "diff" || len(content) != 1 || !strings.HasPrefix(content["patch"].(string), "--- a\n") {
		t.Errorf("view %v", view.fields)
	}
	var kinds []string
	for _, c := range f.runtime.taken() {
		kinds = append(kinds, c.text("type"))
	}
	if want := []string{"tool_result", "tool_result", "view_update"}; !slices.Equal(kinds, want) {
		t.Errorf("messages %v", kinds)
	}
}

func testCancel(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("h", "hang")
	f.until("it runs", func() bool { return f.running("test.hang") })
	for _, body := range []any{
		fields{"thread_id": "other", "tool_call_id": "h"}, fields{"thread_id": "g", "tool_call_id": "none"}, fields{"tool_call_id": 7}, []byte("no JSON"),
	} {
		if status, text := f.send("/cancel_tool_call", body); status != 200 || text != "" {
			t.Errorf("%v: %d %q", body, status, text)
		}
	}
	if n := f.runtime.count("tool_result", "h"); n != 0 {
		t.Fatal("it was canceled by others")
	}
	for range 3 {
		f.send("/cancel_tool_call", fields{"thread_id": "g", "tool_call_id": "h"})
	}
	if text := f.result("h").text("text"); !strings.HasPrefix(text, "Error: ") || !strings.Contains(text, "canceled") {
		t.Errorf("text %q", text)
	}
	f.idle()
	if status, _ := f.send("/cancel_tool_call", fields{"thread_id": "g", "tool_call_id": "h"}); status != 200 {
		t.Errorf("after its end: %d", status)
	}
}

func testClose(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("h1", "hang")
	f.invoke("h2", "hang")
	f.invoke("p", "write")
	f.invoke("h3", "hang", fields{"group_id": "other"})
	f.runtime.of("user_choice", "p")
	for range 2 {
		if status, text := f.send("/close_thread", fields{"thread_id": "g"}); status != 200 || text != "" {
			t.Errorf("%d %q", status, text)
		}
	}
	for _, id := range []string{"h1", "h2", "p"} {
		if text := f.result(id).text("text"); !strings.HasPrefix(text, "Error: ") {
			t.Errorf("%s: %q", id, text)
		}
	}
	if n := f.runtime.count("tool_result", "h3"); n != 0 || len(f.host.Prompts()) != 0 {
		t.Error("another thread was closed, or a prompt is open")
	}
	f.send("/close_thread", fields{"thread_id": "other"})
	f.idle()
}

func testUntrusted(t *testing.T) {
	dir := t.TempDir() + "/kept"
	f := newFixture(t, set{options: Options{Dir: dir}})
	for _, id := range []string{"../../etc/passwd", "a\x00b", "a\nb", "..", "/", "<script>", strings.Repeat("x", maxID)} {
		f.invoke(id, "look", fields{"group_id": id})
		if got := f.result(id); got.text("group_id") != id {
			t.Errorf("%q came back as %q", id, got.text("group_id"))
		}
		f.send("/cancel_tool_call", fields{"thread_id": id, "tool_call_id": id})
	}
	f.idle()
	// the two ids of a call never run into each other
	if keyOf("a", "bc") == keyOf("ab", "c") || keyOf("a\x00", "b") == keyOf("a", "\x00b") {
		t.Error("two calls have one key")
	}
	var b bucket
	b.rate, b.most = 10, 2
	now := time.Now()
	if got := []bool{b.take(now), b.take(now), b.take(now), b.take(now.Add(100 * time.Millisecond)), b.take(now.Add(100 * time.Millisecond))}; !slices.Equal(got, []bool{true, true, false, true, false}) {
		t.Errorf("the rate limit let through %v", got)
	}
}

func testReplay(t *testing.T) {
	ran := make(chan struct{}, 10)
	f := newFixture(t, set{tools: []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, json.RawMessage) (agenttool.Output, error) {
		ran <- struct{}{}
		return said("ran"), nil
	}}}})
	in := f.invocation("c1", "look")
	for range 3 {
		if status, _ := f.send("/invoke", in); status != 200 {
			t.Errorf("sent again: %d", status)
		}
	}
	f.result("c1")
	f.idle()
	f.send("/invoke", in)
	f.invoke("c2", "look")
	f.result("c2")
	if len(ran) != 2 || f.runtime.count("tool_result", "c1") != 1 {
		t.Errorf("ran %d times, %d results", len(ran), f.runtime.count("tool_result", "c1"))
	}
	other := newRuntime(t)
	if status, _ := f.send("/invoke", f.invocation("c1", "look", fields{"callback_url": other.web.URL})); status != 409 {
		t.Errorf("the id of another call: %d", status)
	}
	if len(other.taken()) != 0 {
		t.Error("a result went to another callback")
	}
}

func testConcurrency(t *testing.T) {
	f := newFixture(t, set{tools: []agenttool.Tool{&fake{name: "look", reads: true, run: func(_ context.Context, input json.RawMessage) (agenttool.Output, error) {
		return said(string(input)), nil
	}}}})
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			f.invoke(fmt.Sprint("c", i), "look", fields{
				"group_id": fmt.Sprint("g", i%5), "arguments": fields{"path": fmt.Sprint("p", i)}, "callback_url": fmt.Sprint(f.runtime.web.URL, "/", i),
			})
		})
	}
	group.Wait()
	for i := range 100 {
		got := f.result(fmt.Sprint("c", i))
		if got.path != fmt.Sprint("/", i) || got.text("group_id") != fmt.Sprint("g", i%5) || got.text("text") != fmt.Sprintf(`{"path":"p%d"}`, i) {
			t.Errorf("%d: %s %v", i, got.path, got.fields)
		}
	}
	f.idle()
}

func testAncestors(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("p1", "write")
	q := f.runtime.of("user_choice", "p1")
	f.answer(q, 1) // for the session
	f.result("p1")
	f.invoke("p2", "write", fields{"group_id": "child", "thread_ancestors": []string{"g"}})
	if text := f.result("p2").text("text"); text != "ran write" || f.runtime.count("user_choice", "p2") != 0 {
		t.Errorf("the child is asked again, or %q", text)
	}
	asked := func(id string, change fields) callback {
		t.Helper()
		f.invoke(id, "write", change)
		return f.runtime.of("user_choice", id)
	}
	f.answer(asked("p3", fields{"group_id": "other", "thread_ancestors": []string{"third"}}), 2) // another thread: no
	f.answer(asked("p4", fields{"group_id": "other"}), 1)                                        // for its own session
	f.result("p4")
	f.answer(asked("p5", fields{"group_id": "third"}), 2) // of which the other one descends
	f.invoke("p6", "write", fields{"group_id": "grandchild", "thread_ancestors": []string{"g", "child"}})
	if text := f.result("p6").text("text"); text != "ran write" || f.runtime.count("user_choice", "p6") != 0 {
		t.Errorf("the grandchild is asked again, or %q", text)
	}
	done := make(chan host.Completion, 1)
	if err := f.host.Invoke(host.Request{ID: "native", Tool: "write", Input: []byte(`{"path":"a"}`)}, func(c host.Completion) { done <- c }); err != nil {
		t.Fatal(err)
	}
	if end := <-done; end.Invocation.Status == agenttool.StatusSucceeded {
		t.Error("the grant of a thread counts for a caller without one")
	}
}
