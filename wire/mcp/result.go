package mcp

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
)

// result returns the response for an ended call, as its client takes it.
func (l *catalog) result(req *sdk.CallToolRequest, f *flight, who client) (sdk.Result, error) {
	c := f.completion
	if e := c.Result.Error; e != nil && e.Class == agenttool.UnknownTool {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: l.unknownTool(req.Params.Name)}
	}
	res := &sdk.CallToolResult{IsError: c.Result.IsError}
	if who.meta {
		res.Meta = resultMeta(c)
	}
	text, rest := blocks(c.Result.Content)
	shown := text
	if members, ok := l.outputs[c.Invocation.ToolID]; ok && who.structured && !res.IsError && !slices.ContainsFunc(rest, isMedia) {
		res.StructuredContent = structured(c.Result.StructuredContent, members, text, who.hides)
		if who.hides && text != "" {
			shown = summary(c, text)
		}
	}
	rest = append(rest, links(req, c)...)
	if shown != "" {
		res.Content = append(res.Content, &sdk.TextContent{Text: shown})
	}
	res.Content = append(res.Content, rest...)
	return res, nil
}

// isMedia reports whether a block is lost on clients that show their model the structured content alone.
func isMedia(b sdk.Content) bool {
	switch b.(type) {
	case *sdk.ImageContent, *sdk.AudioContent:
		return true
	}
	return false
}

func (l *catalog) unknownTool(name string) string {
	if name == "" {
		return "\"name\" is missing: name the tool to call, one of " + strings.Join(l.listed(), ", ")
	}
	return fmt.Sprintf("there is no tool %s; there are %s", clean(name, maxName), strings.Join(l.listed(), ", "))
}

// structured returns the members of the tool's structured content that are declared, and the text if the client shows it from here.
func structured(native json.RawMessage, members []member, text string, only bool) map[string]any {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(native, &all) // missing members are left out
	told := map[string]any{}
	for _, m := range members {
		if value, ok := all[m.name]; ok {
			told[m.name] = value
		}
	}
	if only {
		told["text"] = text
	}
	return told
}

// summary stands in content for a text that the client shows from the structured content.
func summary(c host.Completion, text string) string {
	if len(text) <= maxTwice {
		return text
	}
	if c.Result.UIFacingSummary != "" {
		return clean(c.Result.UIFacingSummary, maxTwice)
	}
	return fmt.Sprintf("%d bytes of text, in structuredContent", len(text))
}

// blocks returns the text of a result, which is one, and its other blocks.
func blocks(content []agenttool.Content) (text string, rest []sdk.Content) {
	var texts []string
	for _, b := range content {
		if block := other(b); block != nil {
			rest = append(rest, block)
		} else if t := b.Text + b.Diff; t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n"), rest
}

// other returns a block that is no text, nil if it is one.
func other(b agenttool.Content) sdk.Content {
	switch b.Type {
	case "image", "audio":
		data, err := base64.StdEncoding.DecodeString(b.Data)
		if err != nil {
			return nil
		}
		if b.Type == "audio" {
			return &sdk.AudioContent{Data: data, MIMEType: b.MediaType}
		}
		return &sdk.ImageContent{Data: data, MIMEType: b.MediaType}
	case "embedded_resource":
		held := &sdk.ResourceContents{URI: b.URI, MIMEType: b.MediaType, Text: b.Text}
		if b.Data != "" {
			held.Blob, _ = base64.StdEncoding.DecodeString(b.Data)
		}
		return &sdk.EmbeddedResource{Resource: held}
	case "resource_link":
		return &sdk.ResourceLink{URI: b.URI, Name: b.Name, MIMEType: b.MediaType}
	}
	return nil
}

// links returns a link to each payload that the host kept for a client that knows such (MCP-18).
func links(req *sdk.CallToolRequest, c host.Completion) []sdk.Content {
	if req.ProtocolVersion() < "2025-06-18" {
		return nil
	}
	var found []sdk.Content
	for _, r := range payloadsOf(c) {
		found = append(found, link(r))
	}
	return found
}

func link(r agenttool.Ref) *sdk.ResourceLink {
	l := &sdk.ResourceLink{URI: r.URI, Name: nameOf(r), MIMEType: r.MediaType}
	if r.SizeBytes > 0 {
		l.Size = &r.SizeBytes
	}
	return l
}

// nameOf is the name of a payload: its relation to the call.
func nameOf(r agenttool.Ref) string {
	if r.Relation == "" {
		return "output"
	}
	return r.Relation
}

// Keys of a result's _meta (MCP-20).
const (
	metaPrefix      = "dev.toolhost/"
	metaInvocation  = metaPrefix + "invocation_id"
	metaTool        = metaPrefix + "tool_id"
	metaStatus      = metaPrefix + "status"
	metaDecisions   = metaPrefix + "decision_refs"
	metaJob         = metaPrefix + "job"
	metaPersistence = metaPrefix + "persistence_ref"
	metaErrorClass  = metaPrefix + "error_class"
	metaErrorCode   = metaPrefix + "error_code"
)

// resultMeta says where the records of the call are.
func resultMeta(c host.Completion) sdk.Meta {
	m := sdk.Meta{
		metaInvocation: c.Invocation.InvocationID, metaTool: c.Invocation.ToolID, metaStatus: c.Result.Status,
	}
	if refs := c.Invocation.PermissionDecisionRefs; len(refs) > 0 {
		m[metaDecisions] = refs
	}
	if c.Job != "" {
		m[metaJob] = c.Job
	}
	if kept := c.Persistence.PersistedRef; kept != nil {
		m[metaPersistence] = kept.URI
	}
	if e := c.Result.Error; e != nil {
		m[metaErrorClass], m[metaErrorCode] = e.Class, e.Code
	}
	return m
}
