package mcp

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// initializing begins a session of an older client, and returns its id.
func initializing(t *testing.T, url string) string {
	t.Helper()
	res, body := post(t, url, []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
	if res.StatusCode != 200 {
		t.Fatalf("status %d: %.300s", res.StatusCode, body)
	}
	id := res.Header.Get(headerSession)
	post(t, url, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), headerSession, id)
	return id
}

// TestHTTPMessages: bodies are checked before the SDK reads them, for clients of both eras (F5).
func TestHTTPMessages(t *testing.T) {
	f := newFixture(t)
	f.o.CheckMessage = func(body []byte) error {
		if strings.Contains(string(body), "twice") {
			return errors.New("key " + strings.Repeat("x", 1<<20) + " comes twice")
		}
		return nil
	}
	url := f.serveHTTP().URL
	session := initializing(t, url)
	for _, tt := range []struct {
		name, body string
		code       int64
		id         string
	}{
		{"what the check refuses", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"twice":1}}`, jsonrpc.CodeInvalidRequest, "null"},
		{"no messages", `[]`, jsonrpc.CodeInvalidRequest, "null"},
		{"no object", `null`, jsonrpc.CodeInvalidRequest, "null"},
		{"two texts", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}{}`, jsonrpc.CodeParseError, "null"},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"x\":\"\xff\"}}", jsonrpc.CodeParseError, "null"},
		{"a list of parameters", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[1]}`, jsonrpc.CodeInvalidParams, "7"},
		{"_meta is a number", `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":5}}`, jsonrpc.CodeInvalidParams, `"a"`},
		{"_meta is null", `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":null}}`, jsonrpc.CodeInvalidParams, `"a"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, headers := range [][]string{{headerSession, session}, {headerVersion, firstStateless, "Mcp-Method", "tools/list"}} {
				res, body := post(t, url, []byte(tt.body), headers...)
				id, e := refusal(t, body)
				if res.StatusCode != 400 || e.Code != tt.code || id != tt.id || len(body) > maxErrorText+200 {
					t.Errorf("status %d, id %s, %d bytes: %.300s", res.StatusCode, id, len(body), body)
				}
			}
		})
	}
	if res, body := post(t, url, []byte("\n"+`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`+"\r\n"), headerSession, session); res.StatusCode != 200 || !strings.Contains(body, "inputSchema") {
		t.Errorf("a good one: %d, %.300s", res.StatusCode, body)
	}
}

// refusal reads the error of an answer, which may be an event.
func refusal(t *testing.T, body string) (id string, e jsonrpc.Error) {
	t.Helper()
	after := body
	if i := strings.LastIndex(body, "data: "); i >= 0 { // of the last event
		after = body[i+len("data: "):]
	}
	var message struct {
		ID    json.RawMessage
		Error *jsonrpc.Error
	}
	if err := json.Unmarshal([]byte(after), &message); err != nil || message.Error == nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	return string(message.ID), *message.Error
}

// TestHTTPBatches: revision 2025-03-26 has batches. Each request of a batch gets an answer with its id, also if the batch is refused.
func TestHTTPBatches(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "a needle\n")
	f.o.CheckMessage = func(body []byte) error {
		if strings.Contains(string(body), "twice") {
			return errors.New("a key comes twice")
		}
		return nil
	}
	url := f.serveHTTP().URL
	_, body := post(t, url, []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
	if !strings.Contains(body, `"protocolVersion":"2025-03-26"`) {
		t.Fatalf("it agreed to another revision: %.300s", body)
	}
	session := initializing(t, url)
	call := func(id, path string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"read","arguments":{"path":"` + path + `"}}}`
	}
	for _, tt := range []struct {
		name, body string
		headers    []string
		results    string // ids of the requests that succeed, sorted
		errors     string // ids of those that get an error
	}{
		{"two calls and a notification", "[" + call("7", "a.txt") + "," + call(`"b"`, "a.txt") + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}]`, nil, `"b" 7`, ""},
		{"its revision named", "[" + call("7", "a.txt") + "]", []string{headerVersion, "2025-03-26"}, "7", ""},
		{"a list and a call", `[{"jsonrpc":"2.0","id":8,"method":"tools/list"},` + call("9", "a.txt") + "]", nil, "8 9", ""},
		{"one that is refused", "[" + call("7", "a.txt") + `,{"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"twice":1}}]`, nil, "", "7 8"},
		{"one that is no object", "[" + call("7", "a.txt") + ",5]", nil, "", "7"},
		{"a method of nobody", "[" + call("7", "a.txt") + `,{"jsonrpc":"2.0","id":8,"method":"nothing/at_all"}]`, nil, "", "7 8"},
		{"initialize", `[{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}},` + call("8", "a.txt") + "]", nil, "", "7 8"},
		{"a later revision", "[" + call("7", "a.txt") + "," + call("8", "a.txt") + "]", []string{headerVersion, "2025-06-18"}, "", "7 8"},
		{"the stateless revision", "[" + call("7", "a.txt") + "," + call("8", "a.txt") + "]", []string{headerVersion, firstStateless, "Mcp-Method", "tools/call"}, "", "7 8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, body := post(t, url, []byte(tt.body), append([]string{headerSession, session}, tt.headers...)...)
			results, refused := batchIDs(t, body)
			if results != tt.results || refused != tt.errors {
				t.Errorf("results of %s, errors of %s; want %s and %s: %.600s", results, refused, tt.results, tt.errors, body)
			}
		})
	}
}

// batchIDs returns the ids of the results and of the errors in the answer to a batch: an array, an object, or events with those.
func batchIDs(t *testing.T, body string) (results, refused string) {
	t.Helper()
	texts := []string{body}
	if strings.Contains(body, "data: ") {
		texts = nil
		for line := range strings.Lines(body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
				texts = append(texts, data)
			}
		}
	}
	var of [2][]string
	for _, text := range texts {
		if !strings.HasPrefix(strings.TrimSpace(text), "[") {
			text = "[" + text + "]"
		}
		var messages []struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  *jsonrpc.Error
		}
		if err := json.Unmarshal([]byte(text), &messages); err != nil {
			t.Fatalf("%v: %.300s", err, text)
		}
		for _, m := range messages {
			if m.Error != nil {
				of[1] = append(of[1], string(m.ID))
			} else {
				of[0] = append(of[0], string(m.ID))
			}
		}
	}
	slices.Sort(of[0])
	slices.Sort(of[1])
	return strings.Join(of[0], " "), strings.Join(of[1], " ")
}

// TestHTTPErrors: errors over HTTP are short and have a code, whatever the SDK makes of them (F4).
func TestHTTPErrors(t *testing.T) {
	f := newFixture(t)
	url := f.serveHTTP().URL
	session := initializing(t, url)
	long := strings.Repeat("x", 3<<20)
	for _, tt := range []struct {
		name, body, session string
		code                int64
	}{
		{"a name that is no text", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5,"arguments":{"a":"` + long + `"}}}`, session, jsonrpc.CodeInvalidParams},
		{"a call before the session", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{}}}`, "", jsonrpc.CodeInvalidRequest},
		{"a session that cannot be read", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":["` + long + `"]}}`, "", jsonrpc.CodeInvalidParams},
		{"a second initialize", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, session, jsonrpc.CodeInvalidRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, body := post(t, url, []byte(tt.body), headerSession, tt.session)
			if id, e := refusal(t, body); id != "7" || e.Code != tt.code || e.Message == "" || len(body) > maxErrorText+200 {
				t.Errorf("%d bytes: %.500s", len(body), body)
			}
		})
	}
	res, body := post(t, url, []byte(`{"jsonrpc":"2.0","id":7,"method":"`+long+`"}`), headerSession, session)
	if res.StatusCode == 200 || len(body) > maxErrorText+200 {
		t.Errorf("a long method: %d, %d bytes", res.StatusCode, len(body))
	}
}

// TestMend: what is no error is written as it is.
func TestMend(t *testing.T) {
	for _, text := range []string{
		"event: message\ndata: " + `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"error":{"code":0,"message":"m"}}}}` + "\n\n",
		"event: message\ndata: " + `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m","data":{"a":1}}}` + "\n\n",
		`{"jsonrpc":"2.0","method":"m","params":{"error":{"code":0}}}`, `"error":`, `{"error":`, "",
	} {
		w := httptest.NewRecorder()
		a := &answer{ResponseWriter: w, uncoded: -1}
		if n, err := a.Write([]byte(text)); n != len(text) || err != nil || w.Body.String() != text {
			t.Errorf("%d, %v: %q became %q", n, err, text, w.Body.String())
		}
	}
	w := httptest.NewRecorder()
	a := &answer{ResponseWriter: w, uncoded: -1}
	_, _ = a.Write([]byte("event: message\ndata: " + `{"jsonrpc":"2.0","id":"é","error":{"code":0,"message":"m","data":[1]}}` + "\n\n"))
	if got, want := w.Body.String(), "event: message\ndata: "+`{"jsonrpc":"2.0","id":"é","error":{"code":-1,"message":"m","data":[1]}}`+"\n\n"; got != want {
		t.Errorf("%q", got)
	}
}
