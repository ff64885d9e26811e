package rap

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// discovered is what a runtime reads.
type discovered struct {
	Name     string           `json:"name"`
	Endpoint string           `json:"endpoint"`
	Needs    *bool            `json:"needsMigration"`
	Tools    []map[string]any `json:"tools"`
}

func (f *fixture) discover() (d discovered, raw string) {
	f.t.Helper()
	res, err := http.Get(f.web.URL + "/rap/.well-known/rap-toolset")
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/json" || json.Unmarshal(b, &d) != nil {
		f.t.Fatalf("discovery: %d %s", res.StatusCode, b)
	}
	return d, string(b)
}

func (d discovered) names() (names []string) {
	for _, t := range d.Tools {
		names = append(names, t["name"].(string))
	}
	return names
}

func testDiscovery(t *testing.T) {
	f := newFixture(t, set{tools: []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "later", reads: true, kind: agenttool.Deferred}, &fake{name: "off", kind: agenttool.Disabled},
	}})
	if d, _ := f.discover(); !slices.Equal(d.names(), []string{"look"}) {
		t.Errorf("tools %v", d.names())
	}
	f.host.Load([]string{"later"})
	if d, _ := f.discover(); !slices.Equal(d.names(), []string{"look", "later"}) {
		t.Errorf("the current tools are not discovered: %v", d.names())
	}
}

func testEndpoint(t *testing.T) {
	f := newFixture(t, set{})
	d, _ := f.discover()
	if status, _ := f.send(d.Endpoint, f.invocation("c1", "look")); status != 200 {
		t.Fatalf("status %d at %s", status, d.Endpoint)
	}
	f.result("c1")
	for _, kind := range []string{"text/plain", "", "application/json; charset=latin1"} {
		res, err := http.Post(d.Endpoint, kind, strings.NewReader("{}"))
		if err != nil || res.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("type %q: %v %v", kind, res.StatusCode, err)
		}
	}
	if res, err := http.Get(d.Endpoint); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %v %v", res, err)
	}
}

func testLifecycle(t *testing.T) {
	f := newFixture(t, set{})
	for _, path := range []string{"/cancel_tool_call", "/close_thread"} {
		if status, text := f.send(path, fields{"thread_id": "none", "tool_call_id": "none"}); status != 200 || text != "" {
			t.Errorf("%s: %d %q", path, status, text)
		}
	}
	if status, _ := f.send("/migrate", fields{}); status != http.StatusNotFound {
		t.Errorf("migrate: %d", status)
	}
	if d, raw := f.discover(); d.Needs != nil {
		t.Errorf("needsMigration is there: %s", raw)
	}
	status := func(id string) string {
		_, text := f.send("/tool_call_status", fields{"thread_id": "g", "tool_call_id": id})
		return strings.TrimSpace(text)
	}
	f.invoke("h", "hang")
	if a, b := status("h"), status("none"); a != `{"alive":true}` || b != `{"alive":false}` {
		t.Errorf("status %s, of none %s", a, b)
	}
}

func testToolset(t *testing.T) {
	f := newFixture(t, set{})
	d, _ := f.discover()
	u, err := url.Parse(d.Endpoint)
	if err != nil || !u.IsAbs() || u.Path != "/rap/invoke" || len(d.Name) == 0 || len(d.Name) > 128 || len(d.Tools) == 0 {
		t.Errorf("toolset %+v", d)
	}
	empty := newFixture(t, set{tools: []agenttool.Tool{&fake{name: "off", kind: agenttool.Disabled}}})
	res, err := http.Get(empty.web.URL + "/rap/.well-known/rap-toolset")
	if err != nil || res.StatusCode == 200 {
		t.Errorf("a toolset without tools is served: %v %v", res, err)
	}
}

func testTools(t *testing.T) {
	f := newFixture(t, set{tools: []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "a.dot", reads: true}, &fake{name: "now-2", reads: true, input: `{"type":"object","additionalProperties":false}`},
	}})
	d, _ := f.discover()
	if !slices.Equal(d.names(), []string{"look", "now-2"}) {
		t.Fatalf("tools %v", d.names())
	}
	for _, tool := range d.Tools {
		schema, ok := tool["inputSchema"].(map[string]any)
		if !ok || schema["type"] != "object" || tool["description"] == "" {
			t.Errorf("tool %v", tool)
		}
	}
	f.invoke("c1", "look_alias")
	if text := f.result("c1").text("text"); !strings.HasPrefix(text, "Error: ") || !strings.Contains(text, "look, now-2") {
		t.Errorf("an alias is no operation: %q", text)
	}
	f.invoke("c2", "Look")
	if text := f.result("c2").text("text"); !strings.HasPrefix(text, "Error: ") {
		t.Errorf("names are case-sensitive: %q", text)
	}
}

func testAnnotations(t *testing.T) {
	f := newFixture(t, set{})
	d, _ := f.discover()
	for i, want := range []map[string]any{
		{"readOnly": true, "destructive": false, "idempotent": false, "longRunning": false},
		{"readOnly": false, "destructive": true, "idempotent": false, "longRunning": false},
	} {
		if got := d.Tools[i]["annotations"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v: annotations %v, want %v", d.Tools[i]["name"], got, want)
		}
	}
}

func testNoScript(t *testing.T) {
	f := newFixture(t, set{})
	if _, raw := f.discover(); strings.Contains(raw, "displayScript") {
		t.Errorf("a script in %s", raw)
	}
}
