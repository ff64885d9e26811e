package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"sync"
	"time"

	"toolhost/agenttool"
)

// fixture is a tool that one or more scenarios of the suite call. It touches nothing.
type fixture struct {
	name, does string
	input      string // its schema; empty: no arguments
	asks       bool   // a rule says that it asks
	twice      bool   // it asks because nobody knows what it reaches, and then for what it was kept from
	run        func(ctx context.Context, in map[string]any, r agenttool.Reporter) (agenttool.Output, error)
}

// changeList changes the list of tools for a moment. It is set before a tool runs.
var changeList func()

// fixtures are the tools that the suite names, with the arguments that it sends.
func fixtures() []agenttool.Tool {
	all := append(plain(), asking()...)
	tools := make([]agenttool.Tool, len(all))
	for i := range all {
		tools[i] = &all[i]
	}
	return tools
}

func plain() []fixture {
	picture, sound := png1x1(), silence()
	embedded := agenttool.Content{Type: "embedded_resource", URI: "test://embedded-resource", MediaType: "text/plain", Text: "This is embedded."}
	return []fixture{
		{name: "test_simple_text", does: "answers with a text", run: says(agenttool.Text("This is a simple text response for testing."))},
		{name: "test_image_content", does: "answers with a picture", run: says(picture)},
		{name: "test_audio_content", does: "answers with a sound", run: says(sound)},
		{name: "test_embedded_resource", does: "answers with a resource", run: says(embedded)},
		{name: "test_multiple_content_types", does: "answers with several kinds of content", run: says(agenttool.Text("Several kinds:"), picture, embedded)},
		{name: "test_error_handling", does: "fails", run: fails("this tool fails on purpose")},
		{name: "test_tool_with_progress", does: "reports three steps", run: steps(300 * time.Millisecond)},
		{name: "test_streaming_elicitation", does: "reports three steps", run: steps(50 * time.Millisecond)},
		{name: "test_reconnection", does: "takes its time", run: works(100 * time.Millisecond)},
		{name: "test_logging_tool", does: "would log, if there were logging", run: says(agenttool.Text("Nothing was logged."))},
		{name: "test_missing_capability", does: "needs a client that samples", run: says(agenttool.Text("The client samples."))},
		{name: "test_trigger_tool_change", does: "takes a tool off the list, and puts it back", run: func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
			changeList()
			return agenttool.Output{Content: []agenttool.Content{agenttool.Text("The list has changed twice.")}}, nil
		}},
		{name: "json_schema_2020_12_tool", does: "has a schema with much in it", input: schema2020, run: says(agenttool.Text("done"))},
		{name: "test_x_mcp_header", does: "has an argument that is also a header", input: schemaHeader, run: says(agenttool.Text("done"))},
	}
}

// asking are the tools whose approval is asked for. What the suite has them ask instead is in [forms].
func asking() []fixture {
	approved := says(agenttool.Text("Approved."))
	return []fixture{
		{name: "test_elicitation", does: "asks", asks: true, input: schemaMessage, run: approved},
		{name: "test_elicitation_sep1034_defaults", does: "asks", asks: true, run: approved},
		{name: "test_elicitation_sep1330_enums", does: "asks", asks: true, run: approved},
		{name: "test_input_required_result_elicitation", does: "asks", asks: true, run: approved},
		{name: "test_input_required_result_request_state", does: "asks", asks: true, run: says(agenttool.Text("state-ok: approved."))},
		{name: "test_input_required_result_tampered_state", does: "asks", asks: true, run: approved},
		{name: "test_input_required_result_multi_round", does: "asks, and asks again", twice: true, run: approved},
		{name: "test_input_required_result_capabilities", does: "asks", asks: true, run: approved},
	}
}

func says(blocks ...agenttool.Content) func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
	return func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: blocks}, nil
	}
}

func fails(why string) func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
	return func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{}, agenttool.Failure(agenttool.ExecutionFailed, "on_purpose", why)
	}
}

// works takes that long.
func works(d time.Duration) func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
	return func(ctx context.Context, _ map[string]any, _ agenttool.Reporter) (agenttool.Output, error) {
		if err := wait(ctx, d); err != nil {
			return agenttool.Output{}, err
		}
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("It took " + d.String() + ".")}}, nil
	}
}

// steps reports 0, 50 and 100 per cent with that time in between.
func steps(d time.Duration) func(context.Context, map[string]any, agenttool.Reporter) (agenttool.Output, error) {
	return func(ctx context.Context, _ map[string]any, r agenttool.Reporter) (agenttool.Output, error) {
		for _, percent := range []float64{0, 50, 100} {
			r.Progress(agenttool.Progress{Message: "working", Percent: &percent})
			if err := wait(ctx, d); err != nil {
				return agenttool.Output{}, err
			}
		}
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("Three steps are done.")}}, nil
	}
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Describe implements [agenttool.Tool].
func (f *fixture) Describe() agenttool.Description {
	id := agenttool.ToolID("fixture." + f.name)
	input := f.input
	if input == "" {
		input = `{"type":"object"}`
	}
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion: agenttool.SchemaVersion, ToolID: id, Namespace: "fixture", Name: f.name, Title: f.name,
			Description: "A fixture: it " + f.does + ".", Lifecycle: agenttool.Available, ToolKind: agenttool.KindCustom,
		},
		Interface: agenttool.Interface{
			CallRules:     agenttool.CallRules{InterruptBehavior: "cancel"},
			SchemaVersion: agenttool.SchemaVersion, InterfaceID: "fixture", ToolID: id, Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(input)},
		},
	}
}

// Bind implements [agenttool.Tool].
func (f *fixture) Bind(_ agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &call{fixture: f, facts: agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, Destructive: agenttool.No, OpenWorld: agenttool.No,
			ConcurrencySafe: agenttool.Yes, PathsComplete: agenttool.Yes},
	}}
	if f.twice {
		c.facts.OpenWorld = agenttool.Yes
	}
	return c, agenttool.DecodeInput(input, &c.in)
}

// call is one call of a fixture.
type call struct {
	*fixture
	in    map[string]any
	facts agenttool.Facts

	mu      sync.Mutex
	granted bool
}

func (c *call) Input() any              { return c.in }
func (c *call) Facts() *agenttool.Facts { return &c.facts }

// Confine implements [agenttool.Confined]: one that asks twice was kept from something before.
func (c *call) Confine(grants []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.granted = len(grants) > 0
	return nil
}

// Unseal implements [agenttool.Confined]: fixtures change no protected names.
func (c *call) Unseal(agenttool.Protected) {}

func (c *call) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	c.mu.Lock()
	kept := c.twice && !c.granted
	c.mu.Unlock()
	if kept {
		return agenttool.Output{Wanted: []string{"host:fixture.test"}}, agenttool.Failure(agenttool.SandboxViolation, "kept", "it was kept from fixture.test")
	}
	return c.run(ctx, c.in, r)
}

// png1x1 is a picture of one pixel.
func png1x1() agenttool.Content {
	pixel := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	pixel.Set(0, 0, color.NRGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, pixel); err != nil {
		panic(err) // a buffer takes all
	}
	return agenttool.Content{Type: "image", MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())}
}

// silence is a sound of no length: a WAV header.
func silence() agenttool.Content {
	var b bytes.Buffer
	b.WriteString("RIFF")
	b.Write(binary.LittleEndian.AppendUint32(nil, 36))
	b.WriteString("WAVEfmt ")
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(8000), uint32(8000), uint16(1), uint16(8)} {
		_ = binary.Write(&b, binary.LittleEndian, v) // a buffer takes all
	}
	b.WriteString("data")
	b.Write(binary.LittleEndian.AppendUint32(nil, 0))
	return agenttool.Content{Type: "audio", MediaType: "audio/wav", Data: base64.StdEncoding.EncodeToString(b.Bytes())}
}
