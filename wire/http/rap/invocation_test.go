package rap

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzInvocation: what is decoded can be answered, is bounded, and says of itself what the body says.
func FuzzInvocation(f *testing.F) {
	for _, seed := range []string{
		`{"operation":"look","arguments":{"path":"a"},"id":"c","call_id":null,"callback_url":"http://127.0.0.1:1/","group_id":"g","thread_ancestors":["r"],"user_id":"u"}`,
		`{"operation":"look","arguments":{"a":{"b":[1,{"c":2,"c":3}]}},"id":"c","callback_url":"http://x","group_id":"g"}`,
		`{"id":"c","id":"d"}`, `[]`, `{`, `null`, `{"id":"\ud800","group_id":"g","callback_url":"http://[::1","arguments":{}}`, "\xff", `{"ID":"c"}`,
		`{"operation":"x","arguments":"{}","id":"c","callback_url":"http://x","group_id":"g","call_id":7}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		in, fault, err := decode(body)
		if err != nil {
			if fault != nil || in.ID != "" || in.Arguments != nil {
				t.Errorf("a failure returns %+v, %v", in, fault)
			}
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) || in.ID == "" || in.Group == "" || in.Callback == "" || len(in.ID) > maxID || len(in.Group) > maxID || len(in.Callback) > maxURL {
			t.Errorf("%+v came out of %q", in.address, body)
		}
		if fault != nil {
			return
		}
		var args map[string]json.RawMessage
		if in.Operation == "" || len(in.Ancestors) > maxAncestors || json.Unmarshal(in.Arguments, &args) != nil || args == nil {
			t.Errorf("%+v came out of %q", in, body)
		}
		again, _ := json.Marshal(map[string]any{
			"operation": in.Operation, "arguments": in.Arguments, "id": in.ID, "group_id": in.Group, "callback_url": in.Callback, "call_id": in.CallID, "user_id": in.User, "thread_ancestors": in.Ancestors,
		})
		twice, fault, err := decode(again)
		var a, b bytes.Buffer
		if err != nil || fault != nil || twice.key() != in.key() || twice.Operation != in.Operation || json.Compact(&a, in.Arguments) != nil || json.Compact(&b, twice.Arguments) != nil {
			t.Errorf("%q: %v %v", again, fault, err)
		}
	})
}

// TestRing forgets the oldest first, and is bounded.
func TestRing(t *testing.T) {
	var r ring
	for i := range maxSeen + 10 {
		r.add(keyOf("g", strings.Repeat("x", i%7)+string(rune(i))), [32]byte{})
	}
	if len(r.order) != maxSeen || len(r.digests) > maxSeen {
		t.Errorf("%d, %d", len(r.order), len(r.digests))
	}
}

// TestMissing: what an invocation does not have is named all at once; what the callback can say is left to it.
func TestMissing(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "missing: group_id, id, callback_url, operation, arguments;", `{"group_id":"g","operation":"x","arguments":{}}`: "missing: id, callback_url;",
		`{"group_id":"g","id":"c","callback_url":"http://127.0.0.1/"}`: "",
	} {
		if _, _, err := decode([]byte(body)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
