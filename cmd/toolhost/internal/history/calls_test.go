package history

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
)

// TestParseTime reads what people write.
func TestParseTime(t *testing.T) {
	now := time.Date(2026, 3, 2, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"now": "2026-03-02 15:04:05", "today": "2026-03-02 00:00:00", "yesterday": "2026-03-01 00:00:00", "2h": "2026-03-02 13:04:05", "90m": "2026-03-02 13:34:05",
		"2d": "2026-02-28 15:04:05", "09:30": "2026-03-02 09:30:00", "2026-02-27": "2026-02-27 00:00:00", "2026-02-27 08:15": "2026-02-27 08:15:00",
		"2026-02-27 08:15:30": "2026-02-27 08:15:30", "2026-02-27T08:15:30Z": "2026-02-27 08:15:30", "2026-02-27T08:15": "2026-02-27 08:15:00",
	} {
		if got, err := ParseTime(text, now); err != nil || got.Format(time.DateTime) != want {
			t.Errorf("%s: %v %v, want %s", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "-2h", "-1d", "d", "tomorrow", "25:00", "2026-13-01"} {
		if got, err := ParseTime(bad, now); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// record returns a record of a call.
func record(seq int64, kind agenttool.EventType, call, data string) persist.Entry {
	return persist.Entry{Seq: seq, Event: fmt.Appendf(nil, `{"schema_version":"0.2.0","event_id":"evt_%d","event_type":"%s","source":"toolhost",`+
		`"time":"2026-03-02T15:04:%02d.000Z","subject":"%s","invocation_id":"inv_%[5]s","tool_id":"toolhost.shell","data":%[6]s}`, seq, kind, seq, call, call, data)}
}

// TestCallOfRecords gathers the records of a call whose result has a shape that no tool of ours gives. A search finds the text and the diffs of
// its content, and not data, addresses or ids.
func TestCallOfRecords(t *testing.T) {
	conform.Held(t, "AT-278")
	r := Reader{Keep: true}
	var done *Call
	for _, entry := range []persist.Entry{
		record(1, agenttool.EventSelected, "c1", `{}`),
		record(2, agenttool.EventPermissionRequested, "c1", `{"decision":{"decision_id":"perm_1","behavior":"ask","reason":{"detail":"it writes"}}}`),
		record(3, agenttool.EventPermissionDecided, "c1", `{"decision":{"behavior":"allow","request_ref":"perm_1","answered_by":{"user":"jo","terminal":"pts/3"}}}`),
		record(4, agenttool.EventResultCreated, "c1", `{"invocation":{"model_input":{"command":"make"},"ended_at":"2026-03-02T15:05:00Z"},
			"result":{"status":"succeeded","content":[{"type":"text","text":"all is built"},
			{"type":"diff","diff":"-old\n+fresh\n"},{"type":"image","data":"aGVsbG8=","uri":"toolhost://kept"}],"result_id":"res_77","structured_content":{"path":3,"exit_code":0,"changed_files":[{"path":"/ws/a","change":"created"}],
			"hosts":[{"host":"example.com","port":443,"bytes_sent":10}]}}}`),
	} {
		items, err := r.Add(entry)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			done = item.Call
		}
	}
	if done == nil || done.Asked == nil || len(done.Decided) != 1 || done.Decided[0].By() != "jo at pts/3" || len(done.Records) != 4 {
		t.Fatalf("%+v", done)
	}
	if len(done.Changes()) != 1 || len(done.Outcome.Hosts) != 1 || done.Outcome.Path != "" || *done.Outcome.ExitCode != 0 {
		t.Errorf("%+v", done.Outcome)
	}
	for pattern, want := range map[string]bool{"^make$": true, "is built": true, "(?m)^.fresh$": true, "example": true, "/ws/a": true, "nothing": false,
		"aGVs": false, "toolhost://": false, "res_77": false} {
		if got := (Filter{Pattern: regexp.MustCompile(pattern)}).Match(done); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
	for i, f := range []Filter{{Asked: true}, {Changed: true}, {Network: true}, {Tools: []string{"shell"}}, {Since: done.Start}, {Until: done.Start.Add(1)}} {
		if !f.Match(done) {
			t.Errorf("filter %d", i)
		}
	}
	for i, f := range []Filter{{Denied: true}, {Tools: []string{"read"}}, {Since: done.Start.Add(1)}, {Until: done.Start}} {
		if f.Match(done) {
			t.Errorf("filter %d", i)
		}
	}
}

// TestPlain prints values of any shape in a line.
func TestPlain(t *testing.T) {
	for value, want := range map[string]string{``: "", `"jo"`: "jo", `null`: "", `{"user":"jo","n":3,"deep":{"a":[1,"b"]}}`: "deep a 1 b, n 3, user jo", `[1,2]`: "1 2", `{`: "{"} {
		if got := Plain(json.RawMessage(value)); got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
