package agenttool_test

import (
	"slices"
	"strings"
	"testing"

	"toolhost/testdata/support/recordtest"
)

var messages = []struct {
	name, line string
	pointers   []string
}{
	{"a reply", `{"jsonrpc":"2.0","id":1,"result":{"invocation":INV,"result":RES,"persistence":PER}}`, nil},
	{"a batch",
		`{"jsonrpc":"2.0","id":1,"result":{"results":[{"invocation":INV,"result":RES},{"invocation":INV,"result":RES,"persistence":PER}]}}`, nil},
	{"an event", `{"jsonrpc":"2.0","method":"agenttool/event","params":{"seq":1,"event":EVT}}`, nil},
	{"a surface", `{"jsonrpc":"2.0","id":1,"result":{"surface":SUR,"declarations":[DCL],"interfaces":[IFC],
			"execution_profiles":[XPR],"permission_profiles":[PPR],"scheduler_policy":SPO}}`, nil},
	{"a decision", `{"jsonrpc":"2.0","id":1,"result":{"decision":DEC}}`, nil},
	{"a log line", `{"seq":1,"prev":"00","event":EVT}`, nil},
	{"a bare event", `EVT`, nil},
	{"a replay", `{"jsonrpc":"2.0","id":1,"result":{"events":[{"seq":1,"event":EVT},EVT]}}`, nil},
	{"no records", `{"jsonrpc":"2.0","id":1,"result":{"acknowledged":true,"status":"canceled"}}`, nil},
	{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`, nil},
	{"another protocol",
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":5}}`, nil},
	{"a tool's own fields",
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"result":{}}],"structuredContent":{"result":null,"event":{}}}}`, nil},
	{"a model's own fields",
		`{"jsonrpc":"2.0","id":1,"method":"agenttool/invoke","params":{"id":"1","input":{"result":null,"invocation":{}}}}`, nil},

	{"a broken record", `{"jsonrpc":"2.0","id":1,"result":{"invocation":BAD,"result":RES}}`,
		[]string{"/result/invocation/status"}},
	{"a broken record in a batch",
		`{"jsonrpc":"2.0","id":1,"result":{"results":[{"invocation":INV,"result":RES},{"invocation":BAD,"result":RES}]}}`,
		[]string{"/result/results/1/invocation/status"}},
	{"a broken record at depth", `{"jsonrpc":"2.0","id":1,"result":{"a":[{"b":{"invocation":BAD}}]}}`,
		[]string{"/result/a/0/b/invocation/status"}},
	{"two broken records", `{"jsonrpc":"2.0","id":1,"result":{"invocation":BAD,"result":{}}}`,
		[]string{"/result/invocation/status",
			"/result/result/created_at", "/result/result/invocation_id", "/result/result/result_id",
			"/result/result/schema_version", "/result/result/status"}},
	{"no result", `{"jsonrpc":"2.0","id":1,"result":{"invocation":INV}}`, []string{"/result/result"}},
	{"no invocation", `{"jsonrpc":"2.0","id":1,"result":{"result":RES}}`, []string{"/result/invocation"}},
	{"persistence only", `{"jsonrpc":"2.0","id":1,"result":{"persistence":PER}}`, []string{"/result/invocation",
		"/result/result"}},
	{"null for a result", `{"jsonrpc":"2.0","id":1,"result":{"invocation":INV,"result":null}}`,
		[]string{"/result/result"}},
	{"null among records", `{"jsonrpc":"2.0","id":1,"result":{"declarations":[DCL,null]}}`,
		[]string{"/result/declarations/1"}},
	{"null in a batch", `{"jsonrpc":"2.0","id":1,"result":{"results":[null]}}`, []string{"/result/results/0"}},
	{"records of two calls", `{"jsonrpc":"2.0","id":1,"result":{"invocation":INV,"result":OTHER}}`,
		[]string{"/result/result/invocation_id"}},
	{"an event without its event", `{"jsonrpc":"2.0","method":"agenttool/event","params":{"seq":1}}`,
		[]string{"/params/event"}},
	{"an event without its number", `{"jsonrpc":"2.0","method":"agenttool/event","params":{"event":EVT}}`,
		[]string{"/params/seq"}},
	{"an event without anything", `{"jsonrpc":"2.0","method":"agenttool/event"}`, []string{"/params/event",
		"/params/seq"}},
	{"a record inside an event",
		`{"seq":1,"event":{"schema_version":"0.2.0","event_id":"e","event_type":"tool.declared","source":"s","time":"2026-01-02T03:04:05.678Z","data":{"invocation":BAD}}}`,
		[]string{"/event/data/invocation/status"}},
	{"a deferred tool in a surface",
		`{"surface":{"schema_version":"0.2.0","surface_id":"s","scope":"session","deferred_tools":["a",DFT,{"name":"x"}]}}`,
		[]string{"/surface/deferred_tools/2/loading_state", "/surface/deferred_tools/2/schema_version",
			"/surface/deferred_tools/2/tool_id"}},
	{"a field twice", `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`, []string{"/id"}},
	{"not JSON", `{"jsonrpc"`, []string{""}},
	{"nothing", ``, []string{""}},
}

func TestMessage(t *testing.T) {
	valid := records()
	r := strings.NewReplacer(
		"INV", string(encode(t, valid[recordtest.KindInvocation])), "RES", string(encode(t, valid[recordtest.KindResult])),
		"PER", string(encode(t, valid[recordtest.KindPersistence])), "EVT", string(encode(t, valid[recordtest.KindEvent])),
		"DEC", string(encode(t, valid[recordtest.KindDecision])), "SUR", string(encode(t, valid[recordtest.KindSurface])),
		"DCL", string(encode(t, valid[recordtest.KindDeclaration])), "IFC", string(encode(t,
			valid[recordtest.KindInterface])),
		"XPR", string(encode(t, valid[recordtest.KindExecutionProfile])), "PPR", string(encode(t,
			valid[recordtest.KindPermissionProfile])),
		"SPO", string(encode(t, valid[recordtest.KindSchedulerPolicy])), "DFT", string(encode(t,
			valid[recordtest.KindDeferredTool])),
		"BAD", string(change(t, valid[recordtest.KindInvocation], "status", `"x"`)),
		"OTHER", string(change(t, valid[recordtest.KindResult], "invocation_id", `"inv_2"`)),
	)
	for _, tt := range messages {
		t.Run(tt.name, func(t *testing.T) {
			if found := pointers(recordtest.Message([]byte(r.Replace(tt.line)))); !slices.Equal(found, tt.pointers) {
				t.Errorf("got  %q\nwant %q", found, tt.pointers)
			}
		})
	}
}
