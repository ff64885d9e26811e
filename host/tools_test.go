package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// described is a tool with other records.
type described struct {
	agenttool.Tool
	change func(*agenttool.Description)
}

func (d described) Describe() agenttool.Description {
	records := d.Tool.Describe()
	d.change(&records)
	return records
}

// unready is a tool that lacks a program.
type unready struct{ fake }

func (u *unready) Unready() error { return errors.New("no such program") }

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := agenttool.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ofKind(name string, kind agenttool.ToolKind) agenttool.Tool {
	return described{&fake{name: name, reads: true}, func(d *agenttool.Description) { d.Declaration.ToolKind = kind }}
}

// TestToolKinds registers and calls a tool of each kind. The kind is in the declaration, and in the log. A kind that the standard does not
// list is kept, with a warning.
func TestToolKinds(t *testing.T) {
	conform.Held(t, "AT-040", "AT-041", "AT-042", "AT-043", "AT-044", "AT-045", "AT-046", "AT-047", "AT-048", "AT-049", "AT-050", "AT-051", "AT-052", "AT-053", "AT-054", "AT-055", "AT-056")
	tools := []agenttool.Tool{ofKind("other", "teleport")}
	for _, kind := range agenttool.ToolKinds {
		tools = append(tools, ofKind(string(kind), kind))
	}
	f := newFixture(t, tools)
	view := f.Surface()
	if len(agenttool.ToolKinds) != 17 || len(view.Surface.LoadedTools) != 18 {
		t.Errorf("%d kinds, %d tools can be called", len(agenttool.ToolKinds), len(view.Surface.LoadedTools))
	}
	if len(view.Warnings) != 1 || !strings.Contains(view.Warnings[0], `"teleport"`) {
		t.Errorf("warnings %q", view.Warnings)
	}
	logged := map[string]agenttool.ToolKind{}
	for _, d := range view.Declarations {
		if got := f.call(host.Request{ID: "c", Tool: d.Name, Input: input("a")}); got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("%s: %+v", d.Name, got.Result)
		}
		if problems := recordtest.Record(recordtest.KindDeclaration, encoded(t, d)); (len(problems) > 0) != (d.Name == "other") {
			t.Errorf("%s: %v", d.Name, problems)
		}
	}
	for _, e := range f.entries() {
		var data struct {
			Declaration agenttool.Declaration `json:"declaration"`
		}
		if e.EventType == agenttool.EventDeclared && json.Unmarshal(e.Data, &data) == nil {
			logged[data.Declaration.Name] = data.Declaration.ToolKind
		}
	}
	for _, kind := range agenttool.ToolKinds {
		if logged[string(kind)] != kind {
			t.Errorf("the log has the kind %q of the tool %s", logged[string(kind)], kind)
		}
	}
	if len(logged) != 18 || logged["other"] != "teleport" {
		t.Errorf("the log has %v", logged)
	}
}

// TestLifecycles calls tools that are drafts, retired and deprecated: the first two are blocked, and the third runs with a warning for the
// model.
func TestLifecycles(t *testing.T) {
	conform.Held(t, "AT-060", "AT-065", "AT-066")
	f := newFixture(t, []agenttool.Tool{
		&fake{name: "new", lifecycle: agenttool.Draft}, &fake{name: "gone", lifecycle: agenttool.Retired},
		&fake{name: "old", reads: true, lifecycle: agenttool.Deprecated},
	})
	blocked := reasons(f.Surface().Surface)
	for _, name := range []string{"new", "gone"} {
		got := f.call(host.Request{ID: "c", Tool: name, Input: input("a")})
		if got.Invocation.Status != agenttool.StatusBlocked || got.Result.Error == nil || got.Result.Error.Class != agenttool.PolicyBlocked || got.Result.Error.Code != "blocked_tool" {
			t.Errorf("%s: %s, %+v", name, got.Invocation.Status, got.Result.Error)
		}
		if reason := blocked[agenttool.ToolID("test."+name)]; reason != "feature_disabled" {
			t.Errorf("%s is blocked because of %q", name, reason)
		}
		checkRecords(t, got)
	}
	got := f.call(host.Request{ID: "c", Tool: "old", Input: input("a")})
	if last := got.Result.Content[len(got.Result.Content)-1].Text; got.Result.IsError || last != "[old is deprecated: use another tool]" {
		t.Errorf("the model reads %v", got.Result.Content)
	}
}

// TestBlockedReasons compares the reason on the surface with the error of a call.
func TestBlockedReasons(t *testing.T) {
	conform.Held(t, "AT-067", "AT-069", "AT-070", "AT-072", "AT-073", "AT-074")
	f := newFixture(t, []agenttool.Tool{
		&fake{name: "look", reads: true}, &writer{fake{name: "put"}}, &unready{fake{name: "unready", reads: true}},
		&fake{name: "unset", lifecycle: agenttool.RequiresSetup}, &fake{name: "off", lifecycle: agenttool.Disabled},
		&fake{name: "later", lifecycle: agenttool.Deferred}, &fake{name: "hard", reads: true},
	})
	if err := f.SetMode(permissions.Plan, host.ByClient); err != nil {
		t.Fatal(err)
	}
	if err := f.Claim(host.ModelClaim{Name: "small", Unsupported: []string{"hard"}}); err != nil {
		t.Fatal(err)
	}
	session := f.Surface().Surface
	narrow, err := f.Narrow(host.Narrowing{Scope: "role", Role: "writer", Tools: []string{"put"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool    string
		surface agenttool.Surface
		reason  string
		class   agenttool.ErrorClass
	}{
		{"put", session, "policy_blocked", agenttool.PermissionDenied},
		{"unset", session, "setup_required", agenttool.SetupRequired},
		{"off", session, "feature_disabled", agenttool.PolicyBlocked},
		{"hard", session, "model_unsupported", agenttool.CapabilityGap},
		{"look", narrow.Surface, "role_not_allowed", agenttool.PolicyBlocked},
		{"later", session, "deferred_until_discovered", agenttool.SchemaNotLoaded},
	} {
		var entry agenttool.BlockedTool
		for _, b := range slices.Concat(c.surface.BlockedTools, c.surface.ExcludedTools, waiting(c.surface)) {
			if b.ToolID == agenttool.ToolID("test."+c.tool) {
				entry = b
			}
		}
		if entry.Reason != c.reason || entry.Detail == "" {
			t.Errorf("%s: the surface says %+v; want %s", c.tool, entry, c.reason)
		}
		got := f.call(host.Request{ID: "c", Tool: c.tool, Input: input("a"), Surface: c.surface.SurfaceID})
		if got.Result.Error == nil || got.Result.Error.Class != c.class {
			t.Errorf("%s: the call ends with %+v; want %s", c.tool, got.Result.Error, c.class)
		}
		checkRecords(t, got)
	}
	if b := reasons(session)["test.unready"]; b != "setup_required" {
		t.Errorf("a tool that lacks a program is blocked because of %q", b)
	}
}

// waiting are the deferred tools of a surface, as blocked ones.
func waiting(s agenttool.Surface) (blocked []agenttool.BlockedTool) {
	for _, d := range s.DeferredTools {
		d := d.(agenttool.DeferredTool)
		blocked = append(blocked, agenttool.BlockedTool{ToolID: d.ToolID, Reason: d.Reason, Detail: d.SelectionRef})
	}
	return blocked
}

// TestDeferredToolRecord: a deferred tool is on the surface without its schema, and its selection_ref finds it.
func TestDeferredToolRecord(t *testing.T) {
	conform.Held(t, "AT-013", "AT-030")
	f := newFixture(t, []agenttool.Tool{described{&fake{name: "later", reads: true, lifecycle: agenttool.Deferred}, func(d *agenttool.Description) {
		d.Declaration.SearchHint = "count the moons of planets"
	}}, &fake{name: "look", reads: true}})
	s := f.Surface().Surface
	if len(s.DeferredTools) != 1 {
		t.Fatalf("the surface defers %v", s.DeferredTools)
	}
	record := s.DeferredTools[0].(agenttool.DeferredTool)
	if problems := recordtest.Record(recordtest.KindDeferredTool, encoded(t, record)); len(problems) > 0 {
		t.Error(problems)
	}
	want := agenttool.DeferredTool{
		SchemaVersion: "0.2.0", ToolID: "test.later", Name: "later", Namespace: "test", SearchHint: "count the moons of planets", Source: "toolhost",
		SchemaVisibility: "deferred", LoadingState: "discoverable", Reason: "deferred_until_discovered", SelectionRef: "select:later",
	}
	if got := encoded(t, record); string(got) != string(encoded(t, want)) {
		t.Errorf("the record is %s", got)
	}
	for _, query := range []string{record.SelectionRef, "moons"} {
		if found := f.Search(query, 0); len(found.Matches) != 1 || found.Matches[0].ToolID != record.ToolID || found.Matches[0].LoadingState != "discoverable" {
			t.Errorf("%s finds %+v", query, found.Matches)
		}
	}
	if logged := f.logged(agenttool.EventSurfaceCreated); len(logged) != 0 {
		t.Fatalf("surfaces before a call: %s", logged)
	}
	f.call(host.Request{ID: "c", Tool: "look", Input: input("a")})
	if logged := f.logged(agenttool.EventSurfaceCreated); len(logged) != 1 || !strings.Contains(logged[0], string(encoded(t, record))) {
		t.Errorf("the surface in the log: %s", logged)
	}
}

// logged are the data of the events of a type in the log. Each event has to be valid.
func (f *fixture) logged(kind agenttool.EventType) (data []string) {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10_000)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, entry := range entries {
		var e agenttool.Event
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			f.t.Fatal(err)
		}
		if problems := recordtest.Event(entry.Event); len(problems) > 0 {
			f.t.Errorf("event %d: %v", entry.Seq, problems)
		}
		if e.EventType == kind {
			data = append(data, string(e.Data))
		}
	}
	return data
}

// TestNamespaces: each namespace is a record with its tools, and a name belongs to one tool in all of them.
func TestNamespaces(t *testing.T) {
	conform.Held(t, "AT-004")
	in := func(namespace, name string) agenttool.Tool {
		return described{&fake{name: name, reads: true}, func(d *agenttool.Description) {
			d.Declaration.Namespace, d.Declaration.ToolID = namespace, agenttool.ToolID(namespace+"."+name)
		}}
	}
	f := newFixture(t, []agenttool.Tool{in("local.files", "read"), in("local.search", "grep"), in("local.files", "write")})
	got := string(encoded(t, f.Surface().Namespaces))
	if want := `[{"schema_version":"0.2.0","namespace":"local.files","source":"toolhost","tool_refs":["local.files.read","local.files.write"]},` +
		`{"schema_version":"0.2.0","namespace":"local.search","source":"toolhost","tool_refs":["local.search.grep"]}]`; got != want {
		t.Errorf("namespaces\n%s, want\n%s", got, want)
	}
	for _, other := range []agenttool.Tool{in("mcp.other", "read"), in("mcp.other", "READ"), in("local", "files.read")} {
		_, err := host.New(host.Options{
			Tools: []agenttool.Tool{in("local.files", "read"), other}, Store: persist.New(persist.Options{Dir: t.TempDir()}),
			Locate: func(*agenttool.Path) error { return nil },
		})
		if err == nil || !strings.Contains(err.Error(), "belongs to local.files.read and to") {
			t.Errorf("%s beside local.files.read: %v", other.Describe().Declaration.ToolID, err)
		}
	}
}

// TestInternalFields: a tool that shows models a field that is internal is refused.
func TestInternalFields(t *testing.T) {
	conform.Held(t, "AT-088")
	for _, c := range []struct {
		name, model, runtime string
		internal             []string
		refused              bool
	}{
		{"marked in the schema", `{"type":"object","properties":{"path":{"type":"string"},"ref":{"type":"string","visibility":"internal"}}}`, "", nil, true},
		{"listed", fakeSchema, "", []string{"say"}, true},
		{"inside", `{"type":"object","properties":{"list":{"type":"array","items":{"properties":{"ref":{"visibility":"internal"}}}}}}`, "", nil, true},
		{"of one form", `{"type":"object","oneOf":[{"properties":{"ref":{"visibility":"internal"}}}]}`, "", nil, true},
		{"of the runtime", fakeSchema, `{"type":"object","properties":{"ref":{"visibility":"internal"}}}`, []string{"ref"}, false},
		{"a word", `{"type":"object","properties":{"path":{"enum":["internal"]}}}`, "", nil, false},
	} {
		tool := described{&fake{name: "look", reads: true}, func(d *agenttool.Description) {
			d.Interface.ModelInputSchema = json.RawMessage(c.model)
			d.Declaration.InputContract = &agenttool.InputContract{
				ModelInputSchema: json.RawMessage(c.model), RuntimeInputSchema: json.RawMessage(c.runtime), InternalOnlyFields: c.internal,
			}
		}}
		_, err := host.New(host.Options{
			Tools: []agenttool.Tool{tool}, Store: persist.New(persist.Options{Dir: t.TempDir()}), Locate: func(*agenttool.Path) error { return nil },
		})
		if (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "internal") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestErrorRefs: an error names the record that explains it and the system's own error, and says when to try again.
func TestErrorRefs(t *testing.T) {
	conform.Held(t, "AT-017")
	broken := fmt.Errorf("write: %w", syscall.ENOSPC)
	f := newFixture(t, []agenttool.Tool{
		&fake{name: "put"},
		&fake{name: "full", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			return agenttool.Output{}, broken
		}},
		&fake{name: "often", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			return agenttool.Output{}, agenttool.Failure(agenttool.RateLimited, "busy", "too many calls")
		}},
	})
	f.Amend(host.Amendment{Policy: permissions.Policy{Workspace: "/ws"}.With(denying(t, "put"))})
	denied := f.call(host.Request{ID: "c", Tool: "put", Input: input("a")})
	if e := denied.Result.Error; e == nil || e.Class != agenttool.PermissionDenied || len(e.PolicyRefs) != 1 || !slices.Equal(e.EvidenceRefs, denied.Invocation.PermissionDecisionRefs) || e.RetryAfterMS != nil {
		t.Errorf("denied: %+v", e)
	}
	full := f.call(host.Request{ID: "c", Tool: "full", Input: input("a")})
	if e := full.Result.Error; e == nil || e.NativeErrorRef != fmt.Sprintf("errno:%d", int(syscall.ENOSPC)) || e.Code != agenttool.ResourceExhausted || e.Recoverability != agenttool.RetrySafe {
		t.Errorf("the disk is full: %+v", e)
	}
	often := f.call(host.Request{ID: "c", Tool: "often", Input: input("a")})
	if e := often.Result.Error; e == nil || e.RetryAfterMS == nil || *e.RetryAfterMS <= 0 || e.Message != "too many calls" || e.Code != "busy" {
		t.Errorf("rate limited: %+v", e)
	}
	for _, got := range []host.Completion{denied, full, often} {
		checkRecords(t, got)
	}
}

// TestInvocationOutlivesItsResult: the first event of a call has its invocation, whatever fails then, and the log has it when the payload of the
// result has expired.
func TestInvocationOutlivesItsResult(t *testing.T) {
	conform.Held(t, "AT-011")
	dir := t.TempDir()
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(strings.Repeat("many words\n", 10_000))}}, nil
	}}}, func(o *host.Options) {
		o.Store = persist.New(persist.Options{Dir: dir})
		o.Session = o.Store.ID()
	})
	for _, r := range []host.Request{
		{Tool: "nothing", Input: input("a")}, {Tool: "look", Input: []byte(`"a"`)}, {Tool: "look", Input: []byte(`{}`)}, {Tool: "look", Input: input("a")},
	} {
		r.ID = "c"
		f.call(r)
	}
	if err := f.Host.Close(); err != nil {
		t.Fatal(err)
	}
	removed, err := persist.Prune(dir, persist.Retention{MaxAge: -1, MaxBytes: 1}, time.Now().Add(time.Hour))
	if err != nil || len(removed.Removed) != 1 {
		t.Fatalf("removed %+v, %v: want the payload", removed, err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "*", "log.jsonl"))
	log, err := os.Open(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	seen := map[agenttool.InvocationID]bool{}
	ended := 0
	for entry, err := range persist.Read(log) {
		var e agenttool.Event
		var data struct {
			Invocation *agenttool.Invocation `json:"invocation"`
		}
		if err != nil || json.Unmarshal(entry.Event, &e) != nil || json.Unmarshal(e.Data, &data) != nil {
			t.Fatalf("%v: %s", err, entry.Event)
		}
		if e.InvocationID != "" && !seen[e.InvocationID] {
			seen[e.InvocationID] = true
			if inv := data.Invocation; e.EventType != agenttool.EventPlanned || inv == nil || inv.InvocationID != e.InvocationID || len(inv.ModelInput) == 0 {
				t.Errorf("the first event is %s with %+v", e.EventType, inv)
			}
		}
		if e.EventType == agenttool.EventResultCreated && data.Invocation != nil && data.Invocation.EndedAt != "" {
			ended++
		}
	}
	if len(seen) != 4 || ended != 4 {
		t.Errorf("%d calls, %d with their end", len(seen), ended)
	}
}

// TestOlderRecords: a log of an earlier version 0.1 is read like one of ours, and fields that nobody knows are kept.
func TestOlderRecords(t *testing.T) {
	conform.Held(t, "AT-036")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	f.call(host.Request{ID: "c", Tool: "look", Input: input("a")})
	entries, _, err := f.store.Since(0, 10_000)
	if err != nil || len(entries) < 8 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	kinds := map[string]int{}
	for _, entry := range entries {
		if problems := recordtest.Event(entry.Event); len(problems) > 0 || !bytes.Contains(entry.Event, []byte(`"schema_version":"0.2.0"`)) {
			t.Errorf("event %d: %v", entry.Seq, problems)
		}
		old := bytes.ReplaceAll(entry.Event, []byte(`"schema_version":"0.2.0"`), []byte(`"schema_version":"0.1.4","then":"x"`))
		var e agenttool.Event
		var data struct {
			Invocation  *agenttool.Invocation  `json:"invocation"`
			Result      *agenttool.Result      `json:"result"`
			Decision    *agenttool.Decision    `json:"decision"`
			Persistence *agenttool.Persistence `json:"persistence"`
			Declaration *agenttool.Declaration `json:"declaration"`
			Surface     *agenttool.Surface     `json:"surface"`
		}
		if err := json.Unmarshal(old, &e); err != nil {
			t.Fatal(err)
		}
		if e.Data != nil {
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
		}
		check := func(kind, version string, extra agenttool.Extra) {
			kinds[kind]++
			if version != "0.1.4" || string(extra["then"]) != `"x"` {
				t.Errorf("%s in event %d: version %s, %s", kind, entry.Seq, version, extra)
			}
		}
		check("event", e.SchemaVersion, e.Extra)
		if r := data.Invocation; r != nil {
			check("invocation", r.SchemaVersion, r.Extra)
		}
		if r := data.Result; r != nil {
			check("result", r.SchemaVersion, r.Extra)
		}
		if r := data.Decision; r != nil {
			check("decision", r.SchemaVersion, r.Extra)
		}
		if r := data.Persistence; r != nil {
			check("persistence", r.SchemaVersion, r.Extra)
		}
		if r := data.Declaration; r != nil {
			check("declaration", r.SchemaVersion, r.Extra)
		}
		if r := data.Surface; r != nil {
			check("surface", r.SchemaVersion, r.Extra)
		}
	}
	if len(kinds) != 7 {
		t.Errorf("records read: %v", kinds)
	}
}
