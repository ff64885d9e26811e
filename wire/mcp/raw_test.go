package mcp

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/testdata/support/conform"
)

// rawClient is a client of the stateless revision that sends and gets bare messages, so that a test can say anything.
type rawClient struct {
	t    *testing.T
	conn sdk.Connection
	meta map[string]any // of its requests

	mu      sync.Mutex
	next    int64
	waiting map[any]chan *jsonrpc.Response
}

// raw connects a bare client, which knows forms.
func (f *fixture) raw() *rawClient {
	f.t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	server, err := f.sdk.Connect(f.t.Context(), ours, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	conn, err := theirs.Connect(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	c := &rawClient{t: f.t, conn: conn, waiting: map[any]chan *jsonrpc.Response{}, meta: map[string]any{
		sdk.MetaKeyProtocolVersion:    firstStateless,
		sdk.MetaKeyClientInfo:         map[string]any{"name": "raw", "version": "1"},
		sdk.MetaKeyClientCapabilities: map[string]any{"elicitation": map[string]any{}},
	}}
	var reading sync.WaitGroup
	reading.Go(c.read)
	f.t.Cleanup(func() {
		_ = conn.Close()
		_ = server.Wait()
		reading.Wait()
	})
	return c
}

// read hands answers to those who wait, until the connection ends.
func (c *rawClient) read() {
	for {
		m, err := c.conn.Read(c.t.Context())
		if err != nil {
			return
		}
		if answer, ok := m.(*jsonrpc.Response); ok {
			c.mu.Lock()
			c.waiting[answer.ID.Raw()] <- answer
			c.mu.Unlock()
		}
	}
}

// start sends a request.
func (c *rawClient) start(method string, params map[string]any) <-chan *jsonrpc.Response {
	c.t.Helper()
	sent := map[string]any{"_meta": c.meta}
	for name, value := range params {
		sent[name] = value
	}
	raw, err := json.Marshal(sent)
	if err != nil {
		c.t.Fatal(err)
	}
	answer := make(chan *jsonrpc.Response, 1)
	c.mu.Lock()
	c.next++
	id, err := jsonrpc.MakeID(float64(c.next))
	c.waiting[id.Raw()] = answer
	c.mu.Unlock()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.conn.Write(c.t.Context(), &jsonrpc.Request{ID: id, Method: method, Params: raw}); err != nil {
		c.t.Fatal(err)
	}
	return answer
}

// reply is what tests look at in results.
type reply struct {
	ResultType    string `json:"resultType"`
	RequestState  string `json:"requestState"`
	InputRequests map[string]struct {
		Method string `json:"method"`
		Params struct {
			Mode            string         `json:"mode"`
			Message         string         `json:"message"`
			RequestedSchema map[string]any `json:"requestedSchema"`
		} `json:"params"`
	} `json:"inputRequests"`
	IsError bool `json:"isError"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Meta map[string]any `json:"_meta"`

	raw json.RawMessage // all of it
}

// text is the text of a result.
func (r *reply) text() string {
	var all []string
	for _, b := range r.Content {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// call sends a request and waits for its answer.
func (c *rawClient) call(method string, params map[string]any) (*reply, error) {
	c.t.Helper()
	return c.take(<-c.start(method, params))
}

func (c *rawClient) take(answer *jsonrpc.Response) (*reply, error) {
	c.t.Helper()
	if answer.Error != nil {
		return nil, answer.Error
	}
	r := &reply{raw: answer.Result}
	if err := json.Unmarshal(answer.Result, r); err != nil {
		c.t.Fatalf("%v: %s", err, answer.Result)
	}
	return r, nil
}

// must is call for what is not to be refused.
func (c *rawClient) must(method string, params map[string]any) *reply {
	c.t.Helper()
	r, err := c.call(method, params)
	if err != nil {
		c.t.Fatalf("%s %v: %v", method, params, err)
	}
	return r
}

// says is the answer to a form.
func says(action, choice string) map[string]any {
	answer := map[string]any{"action": action}
	if choice != "" {
		answer["content"] = map[string]any{"answer": choice}
	}
	return answer
}

// with returns the parameters with others beside them.
func with(params map[string]any, more ...any) map[string]any {
	all := map[string]any{}
	for name, value := range params {
		all[name] = value
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i].(string)] = more[i+1]
	}
	return all
}

// TestResultsSayTheirType: each result of a modern client says what it is, and which server it is of: a whole result, or a question.
func TestResultsSayTheirType(t *testing.T) {
	conform.Held(t, "MCP-05")
	f := newFixture(t, asking)
	c := f.raw()
	for want, r := range map[string]*reply{"complete": c.must("tools/list", nil), "input_required": c.must("tools/call", writing("a.txt"))} {
		server, _ := r.Meta["io.modelcontextprotocol/serverInfo"].(map[string]any)
		if r.ResultType != want || server["name"] != "toolhost" {
			t.Errorf("%s, want %s", r.raw, want)
		}
	}
	for _, method := range []string{"server/discover", "resources/list", "resources/templates/list"} {
		if r := c.must(method, nil); r.ResultType != "complete" {
			t.Errorf("%s: %s", method, r.raw)
		}
	}
}
