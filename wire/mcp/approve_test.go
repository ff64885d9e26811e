package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/testdata/support/conform"
)

// asking has the host ask before it writes.
func asking(o *host.Options) { o.Policy.Mode = permissions.Default }

// eras are the revisions of the two ways of asking: by a request of the server's, and by a result.
var eras = []struct{ name, revision string }{{"by request", "2025-11-25"}, {"by result", ""}}

// has reports whether a file is in the workspace.
func (f *fixture) has(name string) bool {
	_, err := os.Stat(filepath.Join(f.dir, name))
	return err == nil
}

// waitPrompts waits until the host has n open prompts and returns them.
func (f *fixture) waitPrompts(n int) []prompt.Prompt {
	f.t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if list := f.o.Host.Status().Pending; len(list) == n {
			return f.o.Host.Prompts()
		}
	}
	f.t.Fatalf("there are never %d prompts", n)
	return nil
}

// hostCode is the host's error code of a result.
func hostCode(res *sdk.CallToolResult) string {
	code, _ := res.Meta[metaErrorCode].(string)
	return code
}

// TestApproval shows what each answer of a person does, in both eras.
func TestApproval(t *testing.T) {
	conform.Held(t, "MCP-07", "MCP-08")
	accept := func(content map[string]any) func() (*sdk.ElicitResult, error) {
		return func() (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: "accept", Content: content}, nil }
	}
	act := func(action string) func() (*sdk.ElicitResult, error) {
		return func() (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: action}, nil }
	}
	for _, era := range eras {
		for _, tt := range []struct {
			name   string
			answer func() (*sdk.ElicitResult, error)
			writes bool
			asks   int // for two calls
			says   string
		}{
			{"allow once", accept(map[string]any{"answer": "allow_once"}), true, 2, ""},
			{"accept without content", act("accept"), true, 2, ""},
			{"allow for the session", accept(map[string]any{"answer": "allow_session"}), true, 1, ""},
			{"decline", act("decline"), false, 2, "the client declined"},
			{"cancel", act("cancel"), false, 2, "dismissed"},
		} {
			t.Run(era.name+"/"+tt.name, func(t *testing.T) {
				f := newFixture(t, asking)
				asked := 0
				c := f.client("anyone", era.revision, &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked++
					if req.Params.RequestedSchema == nil || !strings.Contains(req.Params.Message, "a.txt") {
						t.Errorf("asked %+v", req.Params)
					}
					return tt.answer()
				}})
				for range 2 {
					res := f.call(c, "write", map[string]any{"path": "a.txt", "content": "x\n"})
					if res.IsError == tt.writes || tt.says != "" && !strings.Contains(strings.Join(texts(res), "\n"), tt.says) {
						t.Errorf("error %v: %v", res.IsError, texts(res))
					}
				}
				if f.has("a.txt") != tt.writes || asked != tt.asks {
					t.Errorf("written %v, asked %d times; want %v, %d", f.has("a.txt"), asked, tt.writes, tt.asks)
				}
			})
		}
	}
}

// TestMalformedAnswer: what is not as the form has it allows nothing, and the call ends.
func TestMalformedAnswer(t *testing.T) {
	contents := map[string]map[string]any{
		"no choice":          {"feedback": "yes"},
		"unknown choice":     {"answer": "allow_always"},
		"choice of no text":  {"answer": 7},
		"choice of a list":   {"answer": []any{"allow_once"}},
		"feedback is a list": {"answer": "allow_once", "feedback": []any{}},
	}
	for name, content := range contents {
		t.Run("by request/"+name, func(t *testing.T) {
			f := newFixture(t, asking)
			c := f.client("anyone", "2025-11-25", &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return &sdk.ElicitResult{Action: "accept", Content: content}, nil
			}})
			if res := f.call(c, "write", map[string]any{"path": "a.txt", "content": "x"}); !res.IsError || f.has("a.txt") {
				t.Errorf("%v", texts(res))
			}
		})
		t.Run("by result/"+name, func(t *testing.T) {
			f := newFixture(t, asking)
			c := f.raw()
			params := writing("a.txt")
			asked := c.must("tools/call", params)
			answer := map[string]any{"approval": map[string]any{"action": "accept", "content": content}}
			res := c.must("tools/call", with(params, "requestState", asked.RequestState, "inputResponses", answer))
			if !res.IsError || f.has("a.txt") {
				t.Errorf("%s", res.raw)
			}
		})
	}
	t.Run("by result/no form at all", func(t *testing.T) {
		f := newFixture(t, asking)
		c := f.raw()
		params := writing("a.txt")
		asked := c.must("tools/call", params)
		answer := map[string]any{"approval": map[string]any{"roots": []any{}}}
		res := c.must("tools/call", with(params, "requestState", asked.RequestState, "inputResponses", answer))
		if !res.IsError || f.has("a.txt") {
			t.Errorf("%s", res.raw)
		}
	})
	t.Run("by request/an error", func(t *testing.T) {
		f := newFixture(t, asking)
		c := f.client("anyone", "2025-06-18", &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return nil, errors.New("no screen")
		}})
		if res := f.call(c, "write", map[string]any{"path": "a.txt", "content": "x"}); !res.IsError || f.has("a.txt") {
			t.Errorf("%v", texts(res))
		}
	})
}

// writing are the parameters of a call that asks.
func writing(path string) map[string]any {
	return map[string]any{"name": "write", "arguments": map[string]any{"path": path, "content": "x"}}
}

// TestNobodyToAsk: a client that cannot show forms has its call ended at once.
func TestNobodyToAsk(t *testing.T) {
	urlOnly := &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return nil, errors.New("asked") },
		Capabilities:       &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
	}
	for _, era := range eras {
		for name, o := range map[string]*sdk.ClientOptions{"no forms": nil, "only links": urlOnly} {
			t.Run(era.name+"/"+name, func(t *testing.T) {
				f := newFixture(t, asking)
				c := f.client("anyone", era.revision, o)
				res := f.call(c, "write", map[string]any{"path": "a.txt", "content": "x"})
				if hostCode(res) != "approval_unavailable" || f.has("a.txt") {
					t.Errorf("%v", texts(res))
				}
			})
		}
	}
}

// TestAnsweredElsewhere: while the client is asked, somebody else answers. The form is taken back, or the next request has
// the result.
func TestAnsweredElsewhere(t *testing.T) {
	t.Run("by request", func(t *testing.T) {
		f := newFixture(t, asking)
		taken := make(chan struct{})
		c := f.client("anyone", "2025-11-25", &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			f.decide(f.waitPrompts(1)[0], agenttool.Allow)
			<-ctx.Done()
			close(taken)
			return nil, ctx.Err()
		}})
		if res := f.call(c, "write", map[string]any{"path": "a.txt", "content": "x"}); res.IsError || !f.has("a.txt") {
			t.Errorf("%v", texts(res))
		}
		<-taken
	})
	for _, behavior := range []agenttool.Behavior{agenttool.Allow, agenttool.Deny} {
		t.Run("by result/"+string(behavior), func(t *testing.T) {
			f := newFixture(t, asking)
			c := f.raw()
			params := writing("a.txt")
			asked := c.must("tools/call", params)
			f.decide(f.waitPrompts(1)[0], behavior)
			other := map[string]any{"approval": says("accept", "allow_once")}
			if behavior == agenttool.Allow {
				other["approval"] = says("decline", "")
			}
			res := c.must("tools/call", with(params, "requestState", asked.RequestState, "inputResponses", other))
			if allowed := behavior == agenttool.Allow; res.IsError == allowed || f.has("a.txt") != allowed {
				t.Errorf("%s", res.raw)
			}
		})
	}
}

// decide answers a prompt as somebody else.
func (f *fixture) decide(p prompt.Prompt, b agenttool.Behavior) {
	f.t.Helper()
	if _, err := f.o.Host.Decide(prompt.Answer{DecisionID: p.Decision.DecisionID, Behavior: b, Channel: prompt.Channel{Name: "test"}}); err != nil {
		f.t.Error(err)
	}
}

// TestTwoClientsAskedTheSame: each answers for its own call. That one declines leaves the other's question open.
func TestTwoClientsAskedTheSame(t *testing.T) {
	f := newFixture(t, func(o *host.Options) {
		o.Tools = append(o.Tools, &fake{name: "look"})
		askFirst(o, "look")
	})
	declined := make(chan struct{})
	one := f.client("one", "2025-11-25", &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		f.waitPrompts(2)
		return &sdk.ElicitResult{Action: "decline"}, nil
	}})
	two := f.client("two", "2025-11-25", &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		select {
		case <-declined:
			f.waitPrompts(1)
			return accepted(choiceOnce), nil
		case <-ctx.Done(): // the question was taken back
			return nil, ctx.Err()
		}
	}})
	var other sync.WaitGroup
	other.Go(func() {
		if res, err := two.CallTool(t.Context(), &sdk.CallToolParams{Name: "look"}); err != nil || res.IsError {
			t.Errorf("the other: %+v, %v", res, err)
		}
	})
	if res := f.call(one, "look", nil); !res.IsError {
		t.Errorf("declined: %v", texts(res))
	}
	close(declined)
	other.Wait()
}

// TestClientGoesWhileAsked: the call of a client that goes away, or takes its request back, ends unanswered.
func TestClientGoesWhileAsked(t *testing.T) {
	f := newFixture(t, asking)
	ctx, cancel := context.WithCancel(t.Context())
	c := f.client("anyone", "2025-11-25", &sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "write", Arguments: map[string]any{"path": "a.txt", "content": "x"}}); err == nil {
		t.Error("the call has a result")
	}
	f.waitPrompts(0)
	f.waitEnded(1)
	if list := f.invocations(); len(list) != 1 || list[0].Status != agenttool.StatusCanceled || f.has("a.txt") {
		t.Errorf("%+v", list)
	}
}

// askFirst has the host ask before it runs what the rule names.
func askFirst(o *host.Options, rule string) {
	r, err := permissions.Parser{Names: host.Names(o.Tools)}.Parse(rule, agenttool.Ask, agenttool.Origin{Source: agenttool.SourceCLI})
	if err != nil {
		panic(err)
	}
	o.Policy = o.Policy.With(r)
}

// accepted is a form that was sent with that choice.
func accepted(choice string) *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{fieldAnswer: choice}}
}

// TestSessionIsTooMuch: where an answer cannot count for the session, the form does not offer it, and it allows nothing.
func TestSessionIsTooMuch(t *testing.T) {
	f := newFixture(t, asking, func(o *host.Options) { o.Approvals.Widest = prompt.ScopeOnce })
	asked := 0
	c := f.client("anyone", "", &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked++
		if schema, _ := json.Marshal(req.Params.RequestedSchema); strings.Contains(string(schema), choiceSession) {
			t.Errorf("the form is %s", schema)
		}
		return accepted(choiceSession), nil
	}})
	for range 2 {
		if res := f.call(c, "write", map[string]any{"path": "a.txt", "content": "x"}); !res.IsError || f.has("a.txt") {
			t.Errorf("%v", texts(res))
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// TestFormsNoMore: a request that brings back a state, of a client that shows no forms any more, is not asked again.
func TestFormsNoMore(t *testing.T) {
	f := newFixture(t, asking)
	c := f.raw()
	params := writing("a.txt")
	asked := c.must("tools/call", params)
	c.meta = with(c.meta, sdk.MetaKeyClientCapabilities, map[string]any{})
	if res := c.must("tools/call", with(params, "requestState", asked.RequestState)); !res.IsError || f.has("a.txt") {
		t.Errorf("%s", res.raw)
	}
}

// TestDeclineLeavesOthers: a client that declines or cancels ends only its own channel while another user can answer.
func TestDeclineLeavesOthers(t *testing.T) {
	for _, era := range eras {
		for _, action := range []string{"decline", "cancel"} {
			for _, others := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/others %v", era.name, action, others), func(t *testing.T) {
					t.Parallel()
					f := newFixture(t, asking, func(o *host.Options) { o.Approvals.Here = func() bool { return others } })
					declined := make(chan struct{}, 1)
					c := f.client("anyone", era.revision, &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
						declined <- struct{}{}
						return &sdk.ElicitResult{Action: action}, nil
					}})
					result := make(chan *sdk.CallToolResult, 1)
					go func() {
						res, _ := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "write", Arguments: map[string]any{"path": "a.txt", "content": "x\n"}})
						result <- res
					}()
					<-declined
					if others {
						list := f.waitPrompts(1)
						select {
						case res := <-result:
							t.Fatalf("it ended with the client's answer: %v", texts(res))
						case <-time.After(50 * time.Millisecond):
						}
						if _, err := f.o.Host.Decide(prompt.Answer{DecisionID: list[0].Decision.DecisionID, Behavior: agenttool.Allow}); err != nil {
							t.Fatal(err)
						}
					}
					if res := <-result; res == nil || res.IsError == others || f.has("a.txt") != others {
						t.Errorf("%+v", res)
					}
				})
			}
		}
	}
}
