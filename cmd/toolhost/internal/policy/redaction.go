package policy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/near"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/dirs"
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

// TakeOut makes a redactor that finds the matches of a pattern and the values on stdin, one a line. With "" and nil it finds everything that
// toolhost recognizes.
func TakeOut(pattern string, stdin io.Reader) (*redact.Redactor, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	o := redact.Options{KeyFile: dirs.RedactionKey(state)}
	if pattern != "" {
		p, err := redact.Compile("pattern", pattern)
		if err != nil {
			return nil, fmt.Errorf("--pattern: %w", err)
		}
		o.Patterns = []redact.Pattern{p}
	}
	if pattern != "" || stdin != nil {
		o.Off = redact.Kinds()
	}
	r, err := redact.New(o)
	if err == nil && stdin != nil {
		err = addValues(r, stdin)
	}
	return r, err
}

// maxValue bounds one value on stdin.
const maxValue = 64 << 10

func addValues(r *redact.Redactor, stdin io.Reader) error {
	lines, n := bufio.NewScanner(stdin), 0
	lines.Buffer(nil, maxValue)
	for lines.Scan() {
		value := strings.TrimSuffix(lines.Text(), "\r")
		if value == "" {
			continue
		}
		if n++; !r.Add("value", value) {
			return fmt.Errorf("the value in line %d of stdin is too short: give at least 3 bytes", n)
		}
	}
	if lines.Err() == nil && n == 0 {
		return errors.New("there is no value on stdin: give one a line")
	}
	return lines.Err()
}
