package mcp

import (
	"context"
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"toolhost/agenttool"
	"toolhost/host"
)

// TestUnseal: nothing but a state as it was given is taken.
func TestUnseal(t *testing.T) {
	k := newSigningKey()
	st := state{Version: stateVersion, Flight: "mcp-1", Digest: []byte("digest"), Decision: "perm_1", Expires: 5}
	sealed := k.seal(st)
	if got, err := k.unseal(sealed); err != nil || got.Flight != st.Flight || got.Decision != st.Decision || got.Expires != 5 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range sealed {
		other := byte('A')
		if sealed[i] == other {
			other = 'B'
		}
		if _, err := k.unseal(sealed[:i] + string(other) + sealed[i+1:]); err == nil {
			t.Fatalf("a state with another character at %d is taken", i)
		}
		if _, err := k.unseal(sealed[:i]); err == nil {
			t.Fatalf("the first %d characters are taken", i)
		}
	}
	old := st
	old.Version = 0
	for name, bad := range map[string]string{
		"of another process": newSigningKey().seal(st), "of another version": k.seal(old), "long": strings.Repeat("A", maxState+1),
		"not signed": base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"f":"mcp-1"}`)), "no base64": "<>",
	} {
		if _, err := k.unseal(bad); err == nil {
			t.Errorf("a state %s is taken", name)
		}
	}
}

// TestDigest: the same call in another spelling is the same, another call is not.
func TestDigest(t *testing.T) {
	same := digest("write", []byte(`{"a":1.0,"b":[true,"é"]}`))
	if digest("write", []byte(" {\"b\" : [true, \"\\u00e9\"],\n\"a\":1.0}")) != same {
		t.Error("the order of members counts")
	}
	for _, other := range []string{`{"a":1.0,"b":[true,"e"]}`, `{"a":1.0}`, `{"a":1.0,"b":["é",true]}`, `{"a":1.0,"b":[true,"é"]}{}`, `{`, ``} {
		if digest("write", []byte(other)) == same {
			t.Errorf("%s counts as the same", other)
		}
	}
	if digest("edit", []byte(`{"a":1.0,"b":[true,"é"]}`)) == same {
		t.Error("the tool does not count")
	}
}

// TestStateOfAnotherCall: an answer counts for nothing but the call and the question that its state was given with.
func TestStateOfAnotherCall(t *testing.T) {
	f := newFixture(t, asking)
	c := f.raw()
	a, b := writing("a.txt"), writing("b.txt")
	first, second := c.must("tools/call", a), c.must("tools/call", b)
	if first.ResultType != "input_required" || first.InputRequests["approval"].Method != "elicitation/create" || len(first.Content) != 0 {
		t.Fatalf("%s", first.raw)
	}
	allow := map[string]any{"approval": says("accept", "allow_once")}
	sealed := first.RequestState
	for name, params := range map[string]map[string]any{
		"other arguments": with(b, "requestState", sealed), "another tool": with(a, "name", "edit", "requestState", sealed),
		"changed": with(a, "requestState", "A"+sealed[1:]), "cut": with(a, "requestState", sealed[:len(sealed)-4]),
		"of another process": with(a, "requestState", newSigningKey().seal(state{Version: 1, Flight: "mcp-1"})),
		"old revision":       with(a, "requestState", sealed, "_meta", with(c.meta, "io.modelcontextprotocol/protocolVersion", "2025-11-25")),
	} {
		r, err := c.call("tools/call", with(params, "inputResponses", allow))
		if err == nil {
			t.Errorf("%s: %s", name, r.raw)
		} else if code := err.(*jsonrpc.Error).Code; name != "old revision" && code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: code %d", name, code)
		}
	}
	if fresh := c.must("tools/call", with(a, "inputResponses", allow)); fresh.ResultType != "input_required" {
		t.Errorf("an answer without a state: %s", fresh.raw)
	}
	if f.has("a.txt") || f.has("b.txt") {
		t.Fatal("it was written")
	}
	if res := c.must("tools/call", with(b, "requestState", second.RequestState, "inputResponses", allow)); res.IsError || !f.has("b.txt") || f.has("a.txt") {
		t.Errorf("%s", res.raw)
	}
}

// TestStateAgain: a state that is used again has the same result, and nothing is asked or done twice; also when the
// arguments come in another order.
func TestStateAgain(t *testing.T) {
	f := newFixture(t, asking)
	c := f.raw()
	params := writing("a.txt")
	asked := c.must("tools/call", params)
	if again := c.must("tools/call", with(params, "requestState", asked.RequestState)); again.ResultType != "input_required" {
		t.Errorf("brought back without an answer: %s", again.raw)
	}
	if other := c.must("tools/call", with(params, "requestState", asked.RequestState, "inputResponses", map[string]any{"else": says("accept", "allow_once")})); other.ResultType != "input_required" {
		t.Errorf("brought back with another answer: %s", other.raw)
	}
	allow := map[string]any{"approval": says("accept", "allow_once")}
	first := c.must("tools/call", with(params, "requestState", asked.RequestState, "inputResponses", allow))
	again := c.must("tools/call", with(params, "requestState", asked.RequestState, "inputResponses", map[string]any{"approval": says("decline", "")}))
	if first.IsError || again.IsError || first.text() != again.text() || first.Meta[metaInvocation] != again.Meta[metaInvocation] {
		t.Errorf("%s\n%s", first.raw, again.raw)
	}
	if list := f.invocations(); len(list) != 1 {
		t.Errorf("%d calls", len(list))
	}
}

// keptFrom is a tool that its sandbox keeps from something, so that a person is asked a second time.
func keptFrom(runs *atomic.Int32) *fake {
	return &fake{name: "held", run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		runs.Add(1)
		return agenttool.Output{Wanted: []string{"host:example.com"}}, agenttool.Failure(agenttool.SandboxViolation, "kept", "it was kept from example.com")
	}}
}

// TestAcceptOfAnEarlierPrompt: an accept that is sent again does not answer the next question of the same call.
func TestAcceptOfAnEarlierPrompt(t *testing.T) {
	var runs atomic.Int32
	f := newFixture(t, asking, func(o *host.Options) {
		o.Tools = append(o.Tools, keptFrom(&runs))
		askFirst(o, "held")
	})
	c := f.raw()
	params := map[string]any{"name": "held", "arguments": map[string]any{}}
	allow := map[string]any{"approval": says("accept", "allow_once")}
	first := c.must("tools/call", params)
	second := c.must("tools/call", with(params, "requestState", first.RequestState, "inputResponses", allow))
	if second.ResultType != "input_required" || !strings.Contains(second.InputRequests["approval"].Params.Message, "example.com") {
		t.Fatalf("%s", second.raw)
	}
	third := c.must("tools/call", with(params, "requestState", first.RequestState, "inputResponses", allow))
	if third.ResultType != "input_required" || runs.Load() != 1 {
		t.Fatalf("ran %d times: %s", runs.Load(), third.raw)
	}
	before, _ := f.key.unseal(second.RequestState)
	if now, err := f.key.unseal(third.RequestState); err != nil || now.Decision != before.Decision {
		t.Fatalf("the question %s was answered, and now there is %s", before.Decision, now.Decision)
	}
	last := c.must("tools/call", with(params, "requestState", third.RequestState, "inputResponses", map[string]any{"approval": says("decline", "")}))
	if !last.IsError || runs.Load() != 1 {
		t.Errorf("ran %d times: %s", runs.Load(), last.raw)
	}
}

// TestStateExpires: an answer that comes too late allows nothing, and says so; the result is kept for a while.
func TestStateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, asking, func(o *host.Options) { o.Approvals.Timeout = time.Minute })
		c := f.raw()
		params := writing("a.txt")
		asked := c.must("tools/call", params)
		time.Sleep(2 * time.Minute)
		late := with(params, "requestState", asked.RequestState, "inputResponses", map[string]any{"approval": says("accept", "allow_once")})
		if res := c.must("tools/call", late); !res.IsError || res.Meta[metaErrorCode] != "approval_expired" || f.has("a.txt") {
			t.Errorf("%s", res.raw)
		}
		time.Sleep(keptFor)
		if res, err := c.call("tools/call", late); errorCode(err) != jsonrpc.CodeInvalidParams {
			t.Errorf("%+v, %v", res, err)
		}
		if n := len(f.flights.all) + len(f.flights.kept) + f.flights.bytes; n != 0 {
			t.Errorf("%d are kept", n)
		}
	})
}

// TestExpiredStateAnswersNothing: also while the question is open, as when the clocks differ.
func TestExpiredStateAnswersNothing(t *testing.T) {
	f := newFixture(t, asking)
	c := f.raw()
	params := writing("a.txt")
	asked := c.must("tools/call", params)
	st, err := f.key.unseal(asked.RequestState)
	if err != nil {
		t.Fatal(err)
	}
	st.Expires = time.Now().Add(-time.Second).UnixMilli()
	res := c.must("tools/call", with(params, "requestState", f.key.seal(st), "inputResponses", map[string]any{"approval": says("accept", "allow_once")}))
	if res.ResultType != "input_required" || f.has("a.txt") {
		t.Errorf("%s", res.raw)
	}
}

// TestKeptIsBounded: calls that have ended are forgotten, the oldest first, by number and by bytes.
func TestKeptIsBounded(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	for name, tt := range map[string]struct{ calls, bytes, left int }{
		"number": {maxKept + 10, 10, maxKept}, "bytes": {20, maxKeptAt / 4, 4}, "one too large": {3, maxKeptAt + 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			fs := flights{all: map[string]*flight{}}
			text := strings.Repeat("x", tt.bytes)
			for i := range tt.calls {
				one := &flight{invocation: invocation{id: string(rune('a' + i))}, landing: landing{ended: ended}, resultHandles: resultHandles{handed: true}}
				one.completion.Result.Content = []agenttool.Content{agenttool.Text(text)}
				fs.all[one.id] = one
				fs.remove(one)
			}
			if len(fs.kept) != tt.left || len(fs.all) != tt.left || fs.bytes != tt.left*tt.bytes {
				t.Errorf("%d kept, %d known, %d bytes", len(fs.kept), len(fs.all), fs.bytes)
			}
			if fs.get(string(rune('a'+tt.calls-1))) == nil {
				t.Error("the newest is gone")
			}
		})
	}
}
