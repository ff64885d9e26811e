package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/near"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/persist/redact"
	"toolhost/settings"
)

// redactionOf returns the rules of settings about secrets.
func redactionOf(read *settings.Settings) (redact.Rules, error) {
	u := redact.Rules{Results: read.RedactionStrategy.V == "redact"}
	for _, kind := range read.RedactionOff {
		u.Off = append(u.Off, kind.V)
	}
	for _, p := range read.RedactionPatterns {
		compiled, err := redact.Compile(p.Kind, p.Regexp)
		if err != nil {
			return u, fmt.Errorf("%s: %w", p.Origin.Where(), err)
		}
		u.Patterns = append(u.Patterns, compiled)
	}
	return u, nil
}

// disabledBy returns the tools that settings disable, by name, and where.
func disabledBy(read *settings.Settings) map[string]agenttool.Origin {
	disabled := map[string]agenttool.Origin{}
	for _, tool := range read.Disabled {
		disabled[builtin.Names()[strings.ToLower(tool.V)]] = tool.Origin
	}
	return disabled
}

// checkTool returns an error for a name that no tool has.
func checkTool(name string) error {
	names := builtin.Names()
	if _, is := names[strings.ToLower(name)]; is {
		return nil
	}
	if near := near.Word(name, slices.Sorted(maps.Keys(names))); near != "" {
		return fmt.Errorf("there is no tool %q: did you mean %q?", name, near)
	}
	return fmt.Errorf("there is no tool %q; see toolhost tools", name)
}
