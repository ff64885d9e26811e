package host

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/adapt"
	"toolhost/agenttool/json"
	"toolhost/agenttool/near"
	"toolhost/agenttool/validate"
	"toolhost/host/hook"
)

// registry is the set of tools. Only loading a deferred tool changes it.
type registry struct {
	entries  []*entry
	names    map[string]*entry // by name, alias and tool id, as spelled
	warnings []string          // about tools that are kept as they came
}

// entry is one registered tool.
type entry struct {
	agenttool.Description
	tool    agenttool.Tool
	compile func() (*validate.Schema, error) // of the input, on first use: it takes 0.4 ms
	adapter func() *adapt.Adapter            // of the input, likewise

	mu     sync.Mutex
	loaded bool // the schema of a deferred tool was requested
}

func newRegistry(tools []agenttool.Tool) (*registry, error) {
	r := &registry{names: map[string]*entry{}}
	for _, t := range tools {
		e := &entry{Description: t.Describe(), tool: t}
		e.compile = sync.OnceValues(func() (*validate.Schema, error) { return validate.Compile(e.Interface.ModelInputSchema) })
		e.adapter = sync.OnceValue(func() *adapt.Adapter { return adapt.New(e.Declaration.Name, e.Interface.ModelInputSchema) })
		d := e.Declaration
		if field := internalField(e.Description); field != "" {
			return nil, fmt.Errorf("tool %s: the schema for models has the field %q, which is internal", d.Name, field)
		}
		if !slices.Contains(agenttool.ToolKinds, d.ToolKind) {
			r.warnings = append(r.warnings, fmt.Sprintf("tool %s is of the kind %q, which is none of Agent Tool v%s", d.Name, d.ToolKind, agenttool.SchemaVersion))
		}
		for _, name := range append([]string{d.Name, string(d.ToolID)}, d.Aliases...) {
			if other := r.names[name]; other != nil {
				return nil, fmt.Errorf("tool name %q belongs to %s and to %s", name, other.Declaration.ToolID, d.ToolID)
			}
			r.names[name] = e
		}
		r.entries = append(r.entries, e)
	}
	return r, nil
}

// internalField returns a field that is internal and stands in a schema for models, or "" (AT-088). A field is internal if its schema says
// "visibility": "internal", or if the contract lists it.
func internalField(d agenttool.Description) string {
	schemas := []json.RawMessage{d.Interface.ModelInputSchema}
	var listed []string
	if c := d.Declaration.InputContract; c != nil {
		schemas, listed = append(schemas, c.ModelInputSchema), c.InternalOnlyFields
	}
	for _, schema := range schemas {
		if len(listed) == 0 && !bytes.Contains(schema, []byte(`"internal"`)) {
			continue // decoding takes time at every start
		}
		var v any
		if json.Unmarshal(schema, &v) != nil {
			continue // the schema is refused when it is compiled
		}
		if field := internalProperty(v, listed); field != "" {
			return field
		}
	}
	return ""
}

func internalProperty(schema any, listed []string) string {
	var below []any
	switch s := schema.(type) {
	case []any:
		below = s
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, v := range properties {
			if p, _ := v.(map[string]any); slices.Contains(listed, name) || p["visibility"] == "internal" {
				return name
			}
		}
		below = slices.Collect(maps.Values(s))
	}
	for _, v := range below {
		if field := internalProperty(v, listed); field != "" {
			return field
		}
	}
	return ""
}

// resolve finds the tool that a call names, if it can be called (AT-111, AT-113).
func (r *registry) resolve(name string) (*entry, error) {
	e := r.names[name]
	if e == nil {
		return nil, agenttool.Failure(agenttool.UnknownTool, "unknown_tool",
			fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(r.callable(), ", ")))
	}
	return e, e.blocked()
}

// unknown refuses a name that no tool has.
func (r *registry) unknown(name string) error {
	if meant := near.Word(name, r.callable()); meant != "" {
		return refuse("there is no tool %q; did you mean %q?", name, meant)
	}
	return refuse("there is no tool %q; the tools are %s", name, strings.Join(r.callable(), ", "))
}

// compileHooks compiles the hooks for the tools; matches says whether something can tell which inputs a hook is about.
func (r *registry) compileHooks(hooks []hook.Hook, matches bool) (*hook.Set, error) {
	names := map[string]string{}
	for name, e := range r.names {
		names[strings.ToLower(name)] = e.Declaration.Name
	}
	for _, k := range hooks {
		if k.Matcher.Input != "" && !matches {
			return nil, fmt.Errorf("hook %s: nothing can tell which calls %q is about: Options.HookMatch is missing", k.Name(), k.Matcher.Input)
		}
	}
	return hook.Compile(hooks, names)
}

// blocked says why the tool cannot be called now, or nil.
func (e *entry) blocked() error {
	d := e.Declaration
	switch d.Lifecycle {
	case agenttool.Available, agenttool.Deprecated:
		return nil
	case agenttool.Deferred:
		if e.isLoaded() {
			return nil
		}
		return agenttool.Failure(agenttool.SchemaNotLoaded, "schema_not_loaded",
			fmt.Sprintf("the schema of %s is not loaded: call agenttool/load with names [%q], then call it", d.Name, d.Name))
	case agenttool.RequiresSetup:
		return agenttool.Failure(agenttool.SetupRequired, "setup_required", d.Name+" must be set up first")
	}
	return agenttool.Failure(agenttool.PolicyBlocked, "blocked_tool", fmt.Sprintf("%s cannot be called: it is %s", d.Name, d.Lifecycle))
}

func (e *entry) isLoaded() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded || e.Declaration.Lifecycle != agenttool.Deferred
}

func (r *registry) callable() []string {
	var names []string
	for _, e := range r.entries {
		if e.blocked() == nil {
			names = append(names, e.Declaration.Name)
		}
	}
	return names
}

// sessionPolicy is the policy of calls that are in no batch with its own.
func sessionPolicy(maxParallel int) agenttool.SchedulerPolicy {
	return agenttool.SchedulerPolicy{
		SchemaVersion: agenttool.SchemaVersion, SchedulerPolicyID: schedulerPolicyID, Scope: "session",
		MaxParallel: maxParallel, OrderingPolicy: "preserve_terminal_order",
		YieldPolicy: "progress_immediate_results_ordered", InterruptBehavior: "cancel",
		SiblingFailurePolicy: "cancel_dependent", ContextModifierPolicy: "allow_serial_only",
	}
}

const schedulerPolicyID = "toolhost.scheduler.session"

// search looks for tools: "select:a,b" by exact name, else by words over name, namespace, description and hint
// (AT-217 … AT-224). A match that the surface blocks is unavailable.
func (r *registry) search(query string, limit int, on agenttool.Surface) agenttool.SearchResult {
	if limit <= 0 {
		limit = 10
	}
	res := agenttool.SearchResult{SchemaVersion: agenttool.SchemaVersion, Query: query, QueryType: "keyword", Matches: []agenttool.SearchMatch{}}
	names, exact := strings.CutPrefix(query, "select:")
	if exact {
		res.QueryType = "select"
	}
	for _, name := range strings.Split(names, ",") {
		if e := r.names[strings.TrimSpace(name)]; exact && e != nil {
			res.Matches = append(res.Matches, e.match(1, "exact name"))
		} else if exact {
			res.MissingNames = append(res.MissingNames, strings.TrimSpace(name))
		}
	}
	for _, e := range r.entries {
		if !e.isLoaded() {
			res.TotalDeferredTools++
		}
		if score, reason := e.score(query); !exact && score > 0 {
			res.Matches = append(res.Matches, e.match(score, reason))
		}
	}
	slices.SortStableFunc(res.Matches, func(a, b agenttool.SearchMatch) int { return cmp.Compare(b.Score, a.Score) })
	res.Matches = res.Matches[:min(limit, len(res.Matches))]
	for i := range res.Matches {
		m := &res.Matches[i]
		if b, blocked := find(on.BlockedTools, m.ToolID); blocked {
			m.LoadingState, m.Reason = "unavailable", m.Reason+"; it cannot be called: "+b.Detail
		}
	}
	res.NextAction = nextAction(res.Matches)
	return res
}

// nextAction is the advice to the caller of a search that has these matches.
func nextAction(matches []agenttool.SearchMatch) string {
	is := func(state string) bool {
		return slices.ContainsFunc(matches, func(m agenttool.SearchMatch) bool { return m.LoadingState == state })
	}
	switch {
	case len(matches) == 0:
		return "refine_query"
	case is("discoverable"):
		return "load_schema_then_call"
	case is("loaded"):
		return "call"
	}
	return "choose_another"
}

func (e *entry) match(score float64, reason string) agenttool.SearchMatch {
	d, state := e.Declaration, "loaded"
	if !e.isLoaded() {
		state = "discoverable"
	}
	return agenttool.SearchMatch{ToolID: d.ToolID, Name: d.Name, Namespace: d.Namespace, Description: d.Description, LoadingState: state, Score: score, Reason: reason}
}

// score says how well the tool fits the words of a query, from 0 to 1.
func (e *entry) score(query string) (float64, string) {
	words := strings.Fields(strings.ToLower(query))
	d := e.Declaration
	fields := []struct {
		name, text string
		weight     float64
	}{
		{"name", d.Name + " " + strings.Join(d.Aliases, " "), 1}, {"namespace", d.Namespace, 0.6},
		{"search hint", d.SearchHint, 0.6}, {"description", d.Title + " " + d.Description, 0.4},
	}
	var sum float64
	var hits []string
	for _, w := range words {
		for _, f := range fields {
			if strings.Contains(strings.ToLower(f.text), w) {
				sum += f.weight
				hits = append(hits, fmt.Sprintf("%q in %s", w, f.name))
				break
			}
		}
	}
	if len(words) == 0 {
		return 0, ""
	}
	return sum / float64(len(words)), strings.Join(hits, ", ")
}

// Names maps every name and alias, in lower case, to the tool's name, as rules need it.
func Names(tools []agenttool.Tool) map[string]string {
	names := map[string]string{}
	for _, t := range tools {
		d := t.Describe().Declaration
		for _, n := range append([]string{d.Name}, d.Aliases...) {
			names[strings.ToLower(n)] = d.Name
		}
	}
	return names
}

// toolOf is the tool of an entry of a surface.
func toolOf(t any) agenttool.ToolID {
	switch t := t.(type) {
	case string:
		return agenttool.ToolID(t)
	case agenttool.DeferredTool:
		return t.ToolID
	}
	return ""
}

func find(tools []agenttool.BlockedTool, id agenttool.ToolID) (agenttool.BlockedTool, bool) {
	i := slices.IndexFunc(tools, func(b agenttool.BlockedTool) bool { return b.ToolID == id })
	if i < 0 {
		return agenttool.BlockedTool{}, false
	}
	return tools[i], true
}
