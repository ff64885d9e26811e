package history

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Filter selects calls. The zero value selects all.
type Filter struct {
	Since, Until time.Time // of the beginning; zero: no limit
	Tools        []string  // names or ids; empty: all
	Asked        bool      // only calls that asked for approval
	Denied       bool      // only calls that were not allowed
	Changed      bool      // only calls that changed files, or whose input writes some
	Network      bool      // only calls that reached another host, or whose input names one
	Pattern      *regexp.Regexp
}

// All reports whether the filter selects every call.
func (f Filter) All() bool {
	return f.Since.IsZero() && f.Until.IsZero() && len(f.Tools) == 0 && !f.Asked && !f.Denied && !f.Changed && !f.Network && f.Pattern == nil
}

// Match reports whether the filter selects c. A pattern looks at output only in calls that hold their records.
func (f Filter) Match(c *Call) bool {
	return !c.Start.Before(f.Since) && (f.Until.IsZero() || c.Start.Before(f.Until)) &&
		(len(f.Tools) == 0 || slices.Contains(f.Tools, c.ToolName()) || slices.Contains(f.Tools, string(c.Tool))) &&
		(!f.Asked || len(c.Asked) > 0) && (!f.Denied || c.Denied()) && (!f.Changed || len(c.Changes())+len(c.MayChange) > 0) && (!f.Network || len(c.Outcome.Hosts)+len(c.MayReach) > 0) &&
		(f.Pattern == nil || c.matches(f.Pattern))
}

// ToolName returns the name of the tool without the namespace of toolhost.
func (c *Call) ToolName() string { return strings.TrimPrefix(string(c.Tool), "toolhost.") }

// Denied reports whether a rule, the mode or a person refused the call.
func (c *Call) Denied() bool {
	return c.Status == agenttool.ResultDenied || c.Status == agenttool.ResultRejected ||
		slices.ContainsFunc(c.Decided, func(d Decision) bool { return d.Behavior == agenttool.Deny })
}

// Changes returns the files that the call changed, as far as its records name them.
func (c *Call) Changes() []FileChange {
	o := c.Outcome
	if len(o.Changed) > 0 || o.BytesBefore == nil || o.Unchanged || o.Path == "" || c.Status != agenttool.ResultSucceeded {
		return o.Changed
	}
	change := "written"
	if o.Created {
		change = "created"
	}
	return []FileChange{{Path: o.Path, Change: change}}
}

// matches reports whether a text of the call matches the pattern.
func (c *Call) matches(pattern *regexp.Regexp) bool {
	texts := []string{c.Subject, string(c.Invocation), string(c.Tool), c.Summary, c.Failure}
	var input any
	if json.Unmarshal(c.Input, &input) == nil {
		texts = appendTexts(texts, input)
	}
	for _, d := range c.Decided {
		texts = append(append(texts, d.Reason.Detail), d.RuleRefs...)
	}
	for _, change := range c.Outcome.Changed {
		texts = append(texts, change.Path)
	}
	for _, h := range c.Outcome.Hosts {
		texts = append(texts, h.Host)
	}
	for _, block := range c.Content() {
		texts = append(texts, block.Text, block.Diff)
	}
	return slices.ContainsFunc(texts, pattern.MatchString)
}

// Content returns the blocks of the result, if the call holds its records.
func (c *Call) Content() []agenttool.Content {
	if c.Status == "" || len(c.Records) == 0 {
		return nil
	}
	var event struct {
		Data struct {
			Result struct {
				Content []agenttool.Content `json:"content"`
			} `json:"result"`
		} `json:"data"`
	}
	_ = json.Unmarshal(c.Records[len(c.Records)-1].Event, &event) // without it there is no content
	return event.Data.Result.Content
}

// appendTexts appends the strings at any depth of a JSON value.
func appendTexts(texts []string, value any) []string {
	switch v := value.(type) {
	case string:
		return append(texts, v)
	case []any:
		for _, e := range v {
			texts = appendTexts(texts, e)
		}
	case map[string]any:
		for _, e := range v {
			texts = appendTexts(texts, e)
		}
	}
	return texts
}

// ParseTime reads a time as a person gives it: today, yesterday, 90m, 2h or 3d (ago), 15:04 (today), a date, a date and a
// time, or RFC 3339. Without a zone it is local.
func ParseTime(text string, now time.Time) (time.Time, error) {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch text {
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	case "now":
		return now, nil
	}
	if days, err := strconv.Atoi(strings.TrimSuffix(text, "d")); err == nil && strings.HasSuffix(text, "d") && days >= 0 {
		return now.AddDate(0, 0, -days), nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	if t, err := time.ParseInLocation("15:04", text, now.Location()); err == nil {
		return midnight.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write yesterday, 2h, 3d, 15:04, 2006-01-02 or '2006-01-02 15:04'", text)
}
