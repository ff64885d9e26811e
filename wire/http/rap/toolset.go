package rap

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
)

// toolset is the result of discovery (RAP-01, RAP-04). needsMigration is never set: a session does not move.
type toolset struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Endpoint    string         `json:"endpoint"`
	Tools       []declaredTool `json:"tools"`
}

// declaredTool is one tool of a toolset (RAP-05).
type declaredTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Annotations annotations     `json:"annotations"`
}

// annotations hold for every call of a tool (RAP-06). A fact that depends on the input gets its worst value: not
// read-only, destructive.
type annotations struct {
	ReadOnly    bool `json:"readOnly"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	LongRunning bool `json:"longRunning"`
}

const about = "Files, search and shell commands in one workspace. Every call is checked against its permissions; where those say so, a person is asked."

// toolName matches the names that RAP allows: no dots.
var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`) }) // 1 ms

// declare returns the tools that can be called now, in the order of the host's.
func declare(v host.View) (tools []declaredTool) {
	for i, d := range v.Declarations {
		if in := v.Interfaces[i]; callable(d, in) {
			tools = append(tools, declaredTool{
				Name: d.Name, Description: d.Description, InputSchema: in.ModelInputSchema,
				Annotations: annotations{
					ReadOnly: in.IsReadOnly == true, Destructive: in.IsReadOnly != true && in.IsDestructive != false,
					Idempotent: v.ExecutionProfiles[i].SupportsRetries, LongRunning: v.ExecutionProfiles[i].SupportsBackground,
				},
			})
		}
	}
	return tools
}

// callable reports whether a tool is one that RAP can name and the host would run.
func callable(d agenttool.Declaration, in agenttool.Interface) bool {
	switch d.Lifecycle {
	case agenttool.Available, agenttool.Deprecated, agenttool.Deferred:
	default:
		return false
	}
	var schema struct {
		Type string `json:"type"`
	}
	return toolName().MatchString(d.Name) && d.Description != "" &&
		json.Unmarshal(in.ModelInputSchema, &schema) == nil && schema.Type == "object"
}

// unknown says that an operation is none of the toolset, exactly as it is spelled there (RAP-24, RAP-28). It is empty for
// those that are: a tool that could be called once stays known, and the host says what is wrong with it later.
func (s *Server) unknown(operation string) string {
	s.mu.Lock()
	known := s.known[operation]
	s.mu.Unlock()
	if known {
		return ""
	}
	var names []string
	for _, t := range declare(s.o.Host.Surface().Listed()) {
		names = append(names, t.Name)
	}
	if !slices.Contains(names, operation) {
		return "there is no such operation in the toolset; it has " + strings.Join(names, ", ")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.known[name] = true
	}
	return ""
}
