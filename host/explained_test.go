package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
)

// types are the classes of all events of the log, in order.
func (f *fixture) types() (types []string) {
	f.t.Helper()
	for _, e := range f.entries() {
		types = append(types, string(e.EventType))
	}
	return types
}

// TestEvidenceIsWrittenOnce: the first call has the surface and the tool's records written before its own, the next one does not.
func TestEvidenceIsWrittenOnce(t *testing.T) {
	conform.Held(t, "AT-350", "AT-351")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	for _, id := range []string{"1", "2"} {
		got := f.call(host.Request{ID: id, Tool: "look", Input: input("a")})
		f.events(got.Invocation.InvocationID) // checks the records in all events
	}
	types := f.types()
	declared, created, planned := slices.Index(types, "tool.declared"), slices.Index(types, "tool.surface.created"), slices.Index(types, "tool.invocation.planned")
	if created < 0 || declared < 0 || created > planned || declared > planned {
		t.Errorf("events %v", types)
	}
	for _, e := range f.entries() {
		var data map[string]json.RawMessage
		if e.EventType == agenttool.EventDeclared && (json.Unmarshal(e.Data, &data) != nil || data["declaration"] == nil || data["interface"] == nil ||
			data["execution_profile"] == nil || data["permission_profile"] == nil || e.ToolID != "test.look") {
			t.Errorf("declared: %s", e.Data)
		}
	}
	if n := len(slices.DeleteFunc(types, func(s string) bool { return s != "tool.declared" && s != "tool.surface.created" })); n != 2 {
		t.Errorf("%d of them, want one each", n)
	}
}

// TestDeferredEvents: a tool whose schema is held back is discovered once, loaded once, and is on the surface from then on.
func TestDeferredEvents(t *testing.T) {
	conform.Held(t, "AT-353", "AT-354", "X18")
	f := newFixture(t, []agenttool.Tool{&fake{name: "later", reads: true, lifecycle: agenttool.Deferred}, &fake{name: "look", reads: true}})
	s := f.Surface().Surface
	if d, ok := s.DeferredTools[0].(agenttool.DeferredTool); !ok || d.LoadingState != "discoverable" || d.ToolID != "test.later" || slices.Contains(s.LoadedTools, any("test.later")) {
		t.Errorf("deferred %+v, loaded %v", s.DeferredTools, s.LoadedTools)
	}
	f.Search("look", 0)
	for range 2 {
		f.Search("select:later", 0)
		f.Load([]string{"later"})
	}
	if s := f.Surface().Surface; len(s.DeferredTools) > 0 || !slices.Contains(s.LoadedTools, any("test.later")) {
		t.Errorf("afterwards: deferred %v, loaded %v", s.DeferredTools, s.LoadedTools)
	}
	f.call(host.Request{ID: "1", Tool: "later", Input: input("a")})
	types := f.types()
	want := []string{"tool.deferred.discovered", "tool.deferred.loaded", "tool.surface.updated"}
	if got := slices.DeleteFunc(types, func(s string) bool { return !slices.Contains(want, s) }); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// withSecret is a fake whose field say is sensitive.
type withSecret struct{ fake }

func (s *withSecret) Describe() agenttool.Description {
	d := s.fake.Describe()
	d.Declaration.InputContract.SensitiveFields = []string{"say"}
	return d
}

// TestSensitiveFields: the value of a sensitive field is in no event and no stored record, in whichever field and text it turns up
// again; the tool and the caller get it.
func TestSensitiveFields(t *testing.T) {
	conform.Held(t, "AT-382", "AT-394")
	const value = "an-ordinary-word-that-is-none"
	echo := func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("it is " + in.Say)}, Summary: in.Say}, nil
	}
	f := newFixture(t, []agenttool.Tool{&withSecret{fake{name: "look", reads: true, run: echo}}})
	var told strings.Builder
	f.Subscribe(&host.Subscription{Level: host.EventsAll, Tell: func(n host.Notice) { told.Write(n.Event) }})
	got := f.call(host.Request{ID: "1", Tool: "look", Input: []byte(`{"path":"a","say":"` + value + `"}`), Trace: []byte(`{"baggage":"` + value + `"}`)})
	if got.Result.Content[0].Text != "it is "+value {
		t.Errorf("the caller gets %q", got.Result.Content[0].Text)
	}
	entries, _, err := f.store.Since(0, 1000)
	if err != nil || len(entries) < 5 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	for _, e := range entries {
		if strings.Contains(string(e.Event), value) {
			t.Errorf("the log has %s", e.Event)
		}
	}
	if strings.Contains(told.String(), value) || !strings.Contains(told.String(), "tool.result.redacted") {
		t.Errorf("subscribers hear %s", told.String())
	}
}

// TestRefusedBeforeIO: a wrong value is refused before a path is located, and a denied call before anything is looked at.
func TestRefusedBeforeIO(t *testing.T) {
	conform.Held(t, "AT-393")
	for _, c := range []struct {
		name, path string
		mode       permissions.Mode
		tool       string
		does       string
	}{
		{"a wrong value", "bad", "", "look", ""},
		{"a wrong schema", `a","x":"`, "", "look", ""},
		{"denied", "a", permissions.Plan, "put", "locate "},
		{"allowed", "a", "", "look", "locate preflight run "},
	} {
		does := ""
		preflight := func(context.Context) error { does += "preflight "; return nil }
		run := func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			does += "run "
			return agenttool.Output{}, nil
		}
		f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: run, preflight: preflight}, &fake{name: "put", run: run, preflight: preflight}},
			func(o *host.Options) {
				locate := o.Locate
				o.Locate = func(p *agenttool.Path) error { does += "locate "; return locate(p) }
				o.Policy.Mode = c.mode
			})
		got := f.call(host.Request{ID: "1", Tool: c.tool, Input: input(c.path)})
		if does != c.does || got.Result.IsError != (c.name != "allowed") {
			t.Errorf("%s: it does %q, want %q; result %s", c.name, does, c.does, got.Result.Status)
		}
	}
}

// TestEveryDecisionIsExplained: allowed, denied, left to a person, and waived by the mode.
func TestEveryDecisionIsExplained(t *testing.T) {
	conform.Held(t, "AT-405")
	deny := func(o *host.Options) {
		r, err := permissions.Parser{Names: host.Names(o.Tools)}.Parse("put", agenttool.Deny, agenttool.Origin{Source: agenttool.SourceProject, File: "/ws/rules", Line: 3})
		if err != nil {
			panic(err)
		}
		o.Policy = o.Policy.With(r)
	}
	for _, c := range []struct {
		name     string
		change   func(*host.Options)
		behavior agenttool.Behavior
		typ      string
		where    string
	}{
		{"allowed", allowing("put"), agenttool.Allow, "rule", ""},
		{"denied", deny, agenttool.Deny, "rule", "/ws/rules:3"},
		{"left to a person", func(*host.Options) {}, agenttool.Ask, "mode", ""},
		{"waived", func(o *host.Options) { o.Policy.Mode = permissions.Bypass }, agenttool.Allow, "mode", ""},
	} {
		f := newFixture(t, []agenttool.Tool{&fake{name: "put"}}, c.change)
		requests, _ := f.prompts()
		done := f.start(host.Request{ID: "1", Tool: "put", Input: input("a")})
		if c.behavior == agenttool.Ask {
			if _, err := f.Decide(prompt.Answer{DecisionID: (<-requests).DecisionID, Behavior: agenttool.Deny}); err != nil {
				t.Fatal(err)
			}
		}
		got := <-done
		first := f.decisions(got.Invocation.InvocationID)[0]
		if first.Behavior != c.behavior || first.Reason == nil || first.Reason.Type != c.typ || len(first.Reason.Detail) < 10 || first.Reason.Where != c.where {
			t.Errorf("%s: %s, %+v", c.name, first.Behavior, first.Reason)
		}
		if c.typ == "rule" && (len(first.RuleRefs) == 0 || !slices.Contains(first.RuleRefs, first.Reason.RuleRef) || first.Source == "") {
			t.Errorf("%s: rules %v, source %q", c.name, first.RuleRefs, first.Source)
		}
	}
}

// TestDroppedWithReason: output that cannot be kept is not silently lost: record and model say why.
func TestDroppedWithReason(t *testing.T) {
	conform.Held(t, "AT-294")
	long := strings.Repeat("a line of output\n", 10_000)
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(long)}}, nil
	}}}, func(o *host.Options) {
		o.Store = persist.New(persist.Options{Dir: t.TempDir(), SessionLimit: 10})
		o.Session = o.Store.ID()
	})
	got := f.call(host.Request{ID: "1", Tool: "look", Input: input("a")})
	checkRecords(t, got)
	if k := got.Persistence; k.Strategy != agenttool.DropWithReason || !strings.Contains(k.Reason, "session") || k.PersistedRef != nil || k.OriginalSizeBytes != int64(len(long)) {
		t.Errorf("persistence %+v", k)
	}
	if text := got.Result.Content[1].Text; got.Result.Status != agenttool.ResultSucceeded || !strings.Contains(text, "could not be stored") {
		t.Errorf("the model reads %q", text)
	}
}
