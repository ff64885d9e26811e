package host_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// surfaceTools are one that reads, one that only writes, one that starts jobs, and one that is turned off.
func surfaceTools() []agenttool.Tool {
	return []agenttool.Tool{&fake{name: "look", reads: true}, &writer{fake{name: "put"}}, &fake{name: "off", lifecycle: agenttool.Disabled}}
}

// writer is a fake that says of itself that it only writes.
type writer struct{ fake }

func (w *writer) Describe() agenttool.Description {
	d := w.fake.Describe()
	d.Interface.IsReadOnly = false
	d.Permission.AccessKinds = []string{"file_write"}
	return d
}

// reasons are the tools of a surface that cannot be called.
func reasons(s agenttool.Surface) map[agenttool.ToolID]string {
	found := map[agenttool.ToolID]string{}
	for _, b := range slices.Concat(s.BlockedTools, s.ExcludedTools) {
		found[b.ToolID] = b.Reason
	}
	return found
}

// denying is a rule of the command line that denies.
func denying(t *testing.T, text string) permissions.Rule {
	t.Helper()
	r, err := permissions.Parser{Names: host.Names(surfaceTools())}.Parse(text, agenttool.Deny, agenttool.Origin{Source: agenttool.SourceCLI})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSurfaceFollowsMode: the surface has the tools that can be called, the same one has the same id, and a change of the mode or the rules
// is an event with the surface (AT-003, AT-067, AT-073, AT-352).
func TestSurfaceFollowsMode(t *testing.T) {
	conform.Held(t, "AT-003", "AT-352", "AT-487")
	f := newFixture(t, surfaceTools())
	watched := 0
	f.WatchSurface(func() { watched++ })
	first := f.Surface().Surface
	if got := reasons(first); len(got) != 1 || got["test.off"] != "feature_disabled" {
		t.Errorf("blocked at first: %v", got)
	}
	if err := f.SetMode(permissions.Plan, host.ByClient); err != nil {
		t.Fatal(err)
	}
	plan := f.Surface()
	if got := reasons(plan.Surface); got["test.put"] != "policy_blocked" || len(plan.Listed().Declarations) != 1 || len(plan.Declarations) != 3 {
		t.Errorf("blocked in mode plan: %v", got)
	}
	if err := f.SetMode(permissions.Default, host.ByClient); err != nil {
		t.Fatal(err)
	}
	if again := f.Surface().Surface; again.SurfaceID != first.SurfaceID || plan.Surface.SurfaceID == first.SurfaceID || watched != 2 {
		t.Errorf("surfaces %s, %s, %s; watched %d times", first.SurfaceID, plan.Surface.SurfaceID, again.SurfaceID, watched)
	}
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	if got.Invocation.SurfaceID != first.SurfaceID {
		t.Errorf("the invocation names the surface %q", got.Invocation.SurfaceID)
	}
	f.Amend(host.Amendment{Policy: permissions.Policy{Workspace: "/ws"}.With(denying(t, "put"))})
	amended := f.Surface().Surface
	if got := reasons(amended); got["test.put"] != "policy_blocked" || !strings.Contains(amended.BlockedTools[0].Detail, "put") {
		t.Errorf("blocked after a rule that denies: %+v", amended.BlockedTools)
	}
	for _, s := range []agenttool.Surface{first, plan.Surface, amended} {
		if problems := recordtest.Record(recordtest.KindSurface, encoded(t, s)); len(problems) > 0 {
			t.Errorf("surface %s: %v", s.SurfaceID, problems)
		}
	}
	if got := f.call(host.Request{ID: "c2", Tool: "look", Input: input("a")}); got.Invocation.SurfaceID != amended.SurfaceID { // it writes the log, too
		t.Errorf("the invocation names the surface %q", got.Invocation.SurfaceID)
	}
	if updated := f.logged(agenttool.EventSurfaceUpdated); len(updated) != 3 {
		t.Errorf("%d events of an update", len(updated))
	}
}

// TestNarrowSurface: a call is held to the surface that it names; unknown words are refused (AT-072, AT-075 … AT-083).
func TestNarrowSurface(t *testing.T) {
	conform.Held(t, "AT-075", "AT-076", "AT-078", "AT-079", "AT-080", "AT-081", "AT-082", "AT-083", "AT-424")
	if len(host.SurfaceScopes) != 9 {
		t.Errorf("%d scopes", len(host.SurfaceScopes))
	}
	f := newFixture(t, surfaceTools(), allowing("put"))
	for _, scope := range host.SurfaceScopes {
		if problems := recordtest.Record(recordtest.KindSurface, encoded(t, agenttool.Surface{SchemaVersion: "0.2.0", SurfaceID: "s", Scope: scope})); len(problems) > 0 {
			t.Errorf("scope %s: %v", scope, problems)
		}
		narrow, err := f.Narrow(host.Narrowing{Scope: scope, Tools: []string{"look"}, Role: "reader"})
		if err != nil || narrow.Surface.Scope != scope || reasons(narrow.Surface)["test.put"] != "role_not_allowed" || len(narrow.Listed().Declarations) != 1 {
			t.Errorf("scope %s: %+v, %v", scope, narrow.Surface, err)
		}
		for tool, want := range map[string]string{"look": "", "put": "not_on_surface"} {
			got, code := f.call(host.Request{ID: "c", Tool: tool, Input: input("a"), Surface: narrow.Surface.SurfaceID}), ""
			if got.Result.Error != nil {
				code = got.Result.Error.Code
			}
			if code != want || got.Invocation.SurfaceID != narrow.Surface.SurfaceID {
				t.Errorf("scope %s, %s: %q on surface %s", scope, tool, code, got.Invocation.SurfaceID)
			}
		}
	}
	for _, n := range []host.Narrowing{{Scope: "everything"}, {Tools: []string{"lokk"}}} {
		if _, err := f.Narrow(n); !host.IsRefused(err) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if err := f.Invoke(host.Request{ID: "c", Tool: "look", Input: input("a"), Surface: "surface_none"}, nil); !host.IsRefused(err) {
		t.Errorf("an unknown surface: %v", err)
	}
	if got := f.call(host.Request{ID: "c", Tool: "put", Input: input("a")}); got.Result.Error != nil {
		t.Errorf("on the session's surface: %+v", got.Result.Error)
	}
}

// TestDisabledTools: a tool that settings disable is on no surface, with the place, and no call of it runs. The surface changes with the
// settings.
func TestDisabledTools(t *testing.T) {
	f := newFixture(t, surfaceTools(), allowing("put"))
	watched := 0
	f.WatchSurface(func() { watched++ })
	if got := f.call(host.Request{ID: "c1", Tool: "put", Input: input("a")}); got.Result.Error != nil {
		t.Fatalf("before: %+v", got.Result.Error)
	}
	at := agenttool.Origin{Source: agenttool.SourceUser, File: "/settings.json", Line: 3}
	f.Amend(host.Amendment{Policy: permissions.Policy{Disabled: map[string]agenttool.Origin{"put": at}}})
	s := f.Surface()
	b := s.Surface.BlockedTools[slices.IndexFunc(s.Surface.BlockedTools, func(b agenttool.BlockedTool) bool { return b.ToolID == "test.put" })]
	if b.Reason != "feature_disabled" || !strings.Contains(b.Detail, "(/settings.json:3)") || len(s.Listed().Declarations) != 1 || watched != 1 {
		t.Errorf("blocked %+v, %d are listed, watched %d times", b, len(s.Listed().Declarations), watched)
	}
	got := f.call(host.Request{ID: "c2", Tool: "put", Input: input("a")})
	if e := got.Result.Error; e == nil || e.Class != agenttool.PolicyBlocked || e.Code != "disabled_tool" || !strings.Contains(e.Message, "(/settings.json:3)") {
		t.Errorf("a call: %+v", e)
	}
	f.Amend(host.Amendment{})
	if len(f.Surface().Listed().Declarations) != 2 || watched != 2 {
		t.Errorf("given back: %d are listed, watched %d times", len(f.Surface().Listed().Declarations), watched)
	}
}

// TestModelClaim: a tool that the client's model cannot use is blocked (AT-070).
func TestModelClaim(t *testing.T) {
	conform.Held(t, "AT-318")
	f := newFixture(t, surfaceTools())
	if err := f.Claim(host.ModelClaim{Name: "small", Unsupported: []string{"look"}}); err != nil {
		t.Fatal(err)
	}
	s := f.Surface().Surface
	said, _ := json.Marshal(s.ModelCapabilities)
	if reasons(s)["test.look"] != "model_unsupported" || string(said) != `{"name":"small","unsupported_tools":["look"]}` {
		t.Errorf("blocked %v, model %s", reasons(s), said)
	}
	if got := f.call(host.Request{ID: "c", Tool: "look", Input: input("a")}); got.Result.Error == nil || got.Result.Error.Class != agenttool.CapabilityGap ||
		got.Result.Error.Code != "model_unsupported" || got.Result.Error.Recoverability != agenttool.NotRecoverable {
		t.Errorf("result %+v", got.Result)
	}
	if err := f.Claim(host.ModelClaim{Unsupported: []string{"nothing"}}); !host.IsRefused(err) {
		t.Errorf("an unknown tool: %v", err)
	}
}

// TestEachUpdateFollowsACreation: a surface that is replaced before the first call is in the log before the one that replaces it. Each surface
// is there once in full, whichever event has it.
func TestEachUpdateFollowsACreation(t *testing.T) {
	change := map[string]func(*fixture){
		"load": func(f *fixture) { f.Load([]string{"later"}) },
		"mode": func(f *fixture) {
			if err := f.SetMode(permissions.Plan, host.ByClient); err != nil {
				t.Error(err)
			}
		},
		"load after a call": func(f *fixture) {
			f.call(host.Request{ID: "c0", Tool: "look", Input: input("a")})
			f.Load([]string{"later"})
		},
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}, &writer{fake{name: "put"}}, &fake{name: "later", reads: true, lifecycle: agenttool.Deferred}})
			first := f.Surface().Surface.SurfaceID
			change(f)
			f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
			var got []string
			for _, e := range f.entries() {
				if e.EventType != agenttool.EventSurfaceCreated && e.EventType != agenttool.EventSurfaceUpdated {
					continue
				}
				var data struct {
					Previous agenttool.SurfaceID `json:"previous_surface_id"`
					Surface  agenttool.Surface
				}
				if err := json.Unmarshal(e.Data, &data); err != nil {
					t.Fatal(err)
				}
				got = append(got, string(e.EventType), string(data.Previous), string(data.Surface.SurfaceID))
			}
			now := f.Surface().Surface.SurfaceID
			if want := []string{"tool.surface.created", "", string(first), "tool.surface.updated", string(first), string(now)}; !slices.Equal(got, want) || first == now {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
