package agenttool

import (
	"testing"

	"toolhost/agenttool/json"
)

// TestPeek reads the envelope of events in every notation as the decoder does.
func TestPeek(t *testing.T) {
	encoded, err := Event{SchemaVersion: SchemaVersion, EventID: "evt_1", EventType: EventStarted, Source: "toolhost", Subject: "c 1", Time: "2026-01-02T03:04:05.006Z",
		InvocationID: "inv_1", ToolID: "toolhost.read", Data: json.RawMessage(`{"subject":"other","event_type":"x"}`)}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{
		string(encoded),
		`{"event_type":"a","time":"t"}`,
		`{ "event_type" : "a", "subject":"é\n\"", "data":{} }`,
		`{"data":{"event_type":"b"},"event_type":"a","subject":"s"}`,
		`{"event_type":"a","trace_refs":[{"subject":"x"}],"subject":"s"}`,
		`{"event_type":"a","subject":"s","source":null}`,
	} {
		var want Envelope
		if err := json.Unmarshal([]byte(event), &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := Peek([]byte(event)); !ok || got != want {
			t.Errorf("%s: %+v %v, want %+v", event, got, ok, want)
		}
	}
	for _, bad := range []string{``, `{`, `{}`, `[]`, `{"event_type":"a"`, `{"event_type":"a",`, `{"event_type"`, `null`, `{"event_type":""}`} {
		if e, ok := Peek([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, e)
		}
	}
}
