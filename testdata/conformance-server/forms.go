package main

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The suite knows nothing of approvals: it wants to be asked for names and colours. What toolhost asks, whether somebody
// approves of a call, is asked in those words here, and an accepted form is an approval. All the rest is toolhost's:
// when it asks, what state goes with the question, which answer counts for which call.

// form is what the suite wants to be asked in place of an approval.
type form struct {
	key     string         // of the request in a result that asks
	message string         // empty: the one among the call's arguments
	members map[string]any // the properties of the schema
}

var (
	text    = map[string]any{"type": "string"}
	name    = form{"user_name", "What is your name?", map[string]any{"name": text}}
	confirm = form{"confirm", "Please confirm.", map[string]any{"ok": map[string]any{"type": "boolean"}}}
)

// forms are what each tool asks, by round.
var forms = map[string][]form{
	"test_elicitation":                          {{"person", "", map[string]any{"username": text, "email": text}}},
	"test_elicitation_sep1034_defaults":         {{"defaults", "Keep these?", defaults}},
	"test_elicitation_sep1330_enums":            {{"enums", "Which of these?", enums}},
	"test_input_required_result_elicitation":    {name},
	"test_input_required_result_request_state":  {confirm},
	"test_input_required_result_tampered_state": {confirm},
	"test_input_required_result_multi_round":    {{"step1", "What is your name?", map[string]any{"name": text}}, {"step2", "Which colour?", map[string]any{"color": text}}},
	"test_input_required_result_capabilities":   {name},
}

// defaults have a default of each primitive type (SEP-1034).
var defaults = map[string]any{
	"name":     map[string]any{"type": "string", "default": "John Doe"},
	"age":      map[string]any{"type": "integer", "default": 30},
	"score":    map[string]any{"type": "number", "default": 95.5},
	"status":   map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
	"verified": map[string]any{"type": "boolean", "default": true},
}

// enums are the five ways to offer a choice (SEP-1330).
var enums = map[string]any{
	"untitledSingle": map[string]any{"type": "string", "enum": []string{"option1", "option2", "option3"}},
	"titledSingle":   map[string]any{"type": "string", "oneOf": titled("First", "Second", "Third")},
	"legacyEnum":     map[string]any{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"One", "Two", "Three"}},
	"untitledMulti":  map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": []string{"option1", "option2", "option3"}}},
	"titledMulti":    map[string]any{"type": "array", "items": map[string]any{"anyOf": titled("First", "Second", "Third")}},
}

func titled(titles ...string) (choices []map[string]string) {
	for i, title := range titles {
		choices = append(choices, map[string]string{"const": "value" + string(rune('1'+i)), "title": title})
	}
	return choices
}

// The names that toolhost gives to its question and to the fields of its form.
const (
	ourKey       = "approval"
	ourAnswer    = "answer"
	ourAllowance = "allow_once"
)

// calling is the key in a context of the exchange of the call that is made.
type calling struct{}

// exchange is a call with what was typed into its form. The result repeats it.
type exchange struct {
	call  *sdk.CallToolRequest
	typed []byte
}

// approval is what an answer to the suite's form means to toolhost.
func (x *exchange) approval(response *sdk.ElicitResult) *sdk.ElicitResult {
	if response.Action != "accept" {
		return response
	}
	x.typed, _ = json.Marshal(response.Content) // it was JSON
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{ourAnswer: ourAllowance}}
}

// repeat adds what was typed to a result.
func (x *exchange) repeat(res sdk.Result) sdk.Result {
	if result, ok := res.(*sdk.CallToolResult); ok && x.typed != nil {
		result.Content = append(result.Content, &sdk.TextContent{Text: string(x.typed)})
	}
	return res
}

// addForms puts the suite's words in the place of toolhost's.
func addForms(s *sdk.Server) {
	s.AddReceivingMiddleware(receive)
	s.AddSendingMiddleware(send)
}

// receive translates what comes in, and results that ask.
func receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.(*sdk.CallToolRequest)
		if !ok {
			return next(ctx, method, req)
		}
		if err := missing(call); err != nil {
			return nil, err
		}
		fields, asks := forms[call.Params.Name]
		if !asks {
			return next(ctx, method, req)
		}
		x, round := &exchange{call: call}, 0
		for i, f := range fields {
			if response, ok := call.Params.InputResponses[f.key].(*sdk.ElicitResult); ok {
				call.Params.InputResponses[ourKey] = x.approval(response)
				round = min(i+1, len(fields)-1)
			}
		}
		res, err := next(context.WithValue(ctx, calling{}, x), method, req)
		if err != nil {
			return nil, err
		}
		return asked(x.repeat(res), fields[round])
	}
}

// send translates a request that asks, and its answer.
func send(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		x, ok := ctx.Value(calling{}).(*exchange)
		params, asks := req.GetParams().(*sdk.ElicitParams)
		if !ok || !asks {
			return next(ctx, method, req)
		}
		f := forms[x.call.Params.Name][0]
		theirs := *params
		theirs.Message, theirs.RequestedSchema = f.message, f.schema()
		if f.message == "" {
			theirs.Message = argument(x.call, "message")
		}
		res, err := next(ctx, method, &sdk.ServerRequest[*sdk.ElicitParams]{Session: x.call.Session, Params: &theirs})
		if response, ok := res.(*sdk.ElicitResult); ok && err == nil {
			return x.approval(response), nil
		}
		return res, err
	}
}

func (f form) schema() map[string]any {
	return map[string]any{"type": "object", "properties": f.members}
}

func argument(call *sdk.CallToolRequest, name string) string {
	var arguments map[string]any
	_ = json.Unmarshal(call.Params.Arguments, &arguments) // without it there is no message
	value, _ := arguments[name].(string)
	return value
}

// question is a result that asks.
type question struct {
	sdk.ResultBase
	ResultType    string         `json:"resultType"`
	InputRequests map[string]any `json:"inputRequests"`
	RequestState  string         `json:"requestState"`
}

// asked returns the result with the suite's question in it, if it asks.
func asked(res sdk.Result, f form) (sdk.Result, error) {
	b, err := json.Marshal(res)
	if err != nil {
		return nil, err
	}
	var q question
	if err := json.Unmarshal(b, &q); err != nil || len(q.InputRequests) == 0 || q.RequestState == "" {
		return res, err
	}
	q.InputRequests = map[string]any{f.key: map[string]any{
		"method": "elicitation/create",
		"params": map[string]any{"mode": "form", "message": f.message, "requestedSchema": f.schema()},
	}}
	return &q, nil
}

// missing is the error of a call that needs what its client does not offer. Toolhost's own tools need nothing.
func missing(call *sdk.CallToolRequest) error {
	if call.Params.Name != "test_missing_capability" {
		return nil
	}
	//lint:ignore SA1019 the suite demands this very capability
	if caps := call.ClientCapabilities(); caps != nil && caps.Sampling != nil {
		return nil
	}
	return &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client does not sample",
		Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}
