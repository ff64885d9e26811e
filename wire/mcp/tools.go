package mcp

import (
	"context"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
)

// sdkOptions has no logging capability (MCP-06). It lets clients cache lists for a short time only, and only for
// themselves.
func sdkOptions(instructions string) *sdk.ServerOptions {
	return &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: true}, Resources: &sdk.ResourceCapabilities{},
		},
		SetCacheable: cacheable,
		// They declare the capability, and are not reached: see silent.
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	}
}

// listedMS is the time in milliseconds that a client may cache the server's description and tools.
const listedMS = 60_000

// cacheable says how long a result may be kept (MCP-10). A page of a payload that is still written may grow, and so does
// the list of payloads.
func cacheable(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	c.TTLMs, c.CacheScope = listedMS, "private"
	switch req.(type) {
	case *sdk.ReadResourceRequest, *sdk.ListResourcesRequest:
		c.TTLMs = 0
	}
}

// catalog holds the tools that can be called, and lists those of the session's surface. It is the same for every client.
type catalog struct {
	server   *sdk.Server
	declared map[string]*sdk.Tool          // by name; it does not change
	outputs  map[agenttool.ToolID][]member // the declared members of their structured content; it does not change

	mu    sync.Mutex
	names []string // of those that are listed, sorted
}

// newCatalog declares the tools of a surface that can be called, by name (MCP-10).
func newCatalog(server *sdk.Server, view host.View) *catalog {
	l := &catalog{server: server, declared: map[string]*sdk.Tool{}, outputs: map[agenttool.ToolID][]member{}}
	declared := make([]declaration, len(view.Declarations))
	var reading sync.WaitGroup // of their schemas: a client that starts its server waits for all of them
	for i, d := range view.Declarations {
		if callable(d.Lifecycle) && view.Interfaces[i].ModelInputSchema != nil {
			reading.Go(func() { declared[i] = declare(agenttool.Description{Declaration: d, Interface: view.Interfaces[i]}) })
		}
	}
	reading.Wait()
	for i, d := range view.Declarations {
		if declared[i].tool == nil {
			continue
		}
		if declared[i].structured {
			l.outputs[d.ToolID] = declared[i].members
		}
		l.declared[d.Name] = declared[i].tool
	}
	l.list(view)
	return l
}

// list lists the tools of a surface, and no others. The SDK tells clients of a change.
func (l *catalog) list(view host.View) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.names
	l.names = nil
	for _, d := range view.Listed().Declarations {
		if l.declared[d.Name] != nil {
			l.names = append(l.names, d.Name)
		}
	}
	slices.Sort(l.names)
	for _, name := range l.names {
		if !slices.Contains(before, name) {
			l.server.AddTool(l.declared[name], ended)
		}
	}
	if gone := slices.DeleteFunc(slices.Clone(before), func(name string) bool { return slices.Contains(l.names, name) }); len(gone) > 0 {
		l.server.RemoveTools(gone...)
	}
}

// listed are the names of the tools that are listed.
func (l *catalog) listed() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names
}

func callable(l agenttool.Lifecycle) bool {
	return l == agenttool.Available || l == agenttool.Deprecated
}

// Declare returns the MCP declaration of a tool, always with all four hints (MCP-12). A hint that is not known for every
// input has the unsafe value.
//
// Its schemas are made from the tool's own and are looser: see [inputSchema] and [outputSchema].
func Declare(d agenttool.Description) *sdk.Tool {
	return declare(d).tool
}

// declaration is a tool as clients get it, with the members of its structured content.
type declaration struct {
	tool       *sdk.Tool
	members    []member
	structured bool // there is structured content
}

func declare(d agenttool.Description) declaration {
	tool := &sdk.Tool{
		Name: d.Declaration.Name, Title: d.Declaration.Title, Description: d.Declaration.Description,
		InputSchema: inputSchema(d.Interface.ModelInputSchema),
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint:    d.Interface.IsReadOnly == true,
			DestructiveHint: new(d.Interface.IsDestructive != false),
			IdempotentHint:  d.Interface.IsReadOnly == true,
			OpenWorldHint:   new(d.Interface.IsOpenWorld != false),
		},
	}
	told, there := members(d.Interface.OutputSchema)
	if there && !showsImages(d) {
		tool.OutputSchema = outputSchema(told)
	}
	return declaration{tool, told, there}
}

// showsImages reports whether results of the tool may be images, which come without structured content.
func showsImages(d agenttool.Description) bool {
	o := d.Declaration.OutputContract
	return o != nil && slices.Contains(o.ContentTypes, "image")
}

// listed returns the list of tools for a client: output schemas for those that read structured content, since they are a promise of it.
func (c client) listed(res sdk.Result) sdk.Result {
	list, ok := res.(*sdk.ListToolsResult)
	if !ok || c.structured && !c.defers {
		return res
	}
	own := *list
	own.Tools = make([]*sdk.Tool, len(list.Tools))
	for i, tool := range list.Tools {
		t := *tool
		if !c.structured {
			t.OutputSchema = nil
		}
		if c.defers {
			t.Meta = sdk.Meta{alwaysLoad: true}
		}
		own.Tools[i] = &t
	}
	return &own
}

// alwaysLoad is the key in _meta of a tool by which Claude Code offers it to its model from the beginning.
const alwaysLoad = "anthropic/alwaysLoad"

// outcome is the key of a call's result in its context: see [Server.middleware].
type outcome struct{}

// ended is the handler of every tool: the call has ended when the SDK comes to it.
func ended(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	res, _ := ctx.Value(outcome{}).(*sdk.CallToolResult)
	return res, nil
}
