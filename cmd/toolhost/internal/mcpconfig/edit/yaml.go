package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// yamlDocument is a file of YAML whose mappings are written as blocks. Values in other forms can be there and are not changed.
type yamlDocument struct {
	text string
	all  []node
}

// node is a key of a block mapping.
type node struct {
	path       []string
	indent     int
	start, end int // whole lines, with the nested ones
	from, to   int // the value on the line of the key, without blanks and comments
}

func openYAML(content []byte) (document, error) {
	d := &yamlDocument{}
	return d, d.read(string(content))
}

func (d *yamlDocument) bytes() []byte { return []byte(d.text) }

// read finds the keys. Lists, long texts and mappings on one line belong to the key above them.
func (d *yamlDocument) read(text string) error {
	var all []node
	var open []int // the keys that the line is nested in
	at, number, opaque := 0, 0, -1
	for line := range strings.Lines(text) {
		start := at
		at, number = at+len(line), number+1
		body := strings.TrimLeft(line, " ")
		indent := len(line) - len(body)
		if body = strings.TrimSpace(body); body == "" || strings.HasPrefix(body, "#") || number == 1 && body == "---" {
			continue
		}
		if opaque >= 0 && (indent > opaque || indent == opaque && strings.HasPrefix(body, "- ")) {
			all = extend(all, open, at)
			continue
		}
		for opaque = -1; len(open) > 0 && all[open[len(open)-1]].indent >= indent; {
			open = open[:len(open)-1]
		}
		one, err := keyLine(line, indent)
		if err != nil {
			return &LineError{number, "not a YAML mapping: " + err.Error()}
		}
		if len(open) > 0 {
			parent := all[open[len(open)-1]]
			one.path = append(slices.Clone(parent.path), one.path...)
		} else if indent > 0 && len(all) > 0 && all[0].indent != indent {
			return &LineError{number, "not a YAML mapping: the indentation is not that of the lines before"}
		}
		if value := line[one.from:one.to]; value != "" || strings.HasPrefix(next(text[at:]), "- ") {
			opaque = indent
		}
		one.start, one.from, one.to = start, one.from+start, one.to+start
		all = append(all, one)
		open = append(open, len(all)-1)
		all = extend(all, open, at)
	}
	d.text, d.all = text, all
	return nil
}

// extend lets open keys reach to an offset.
func extend(all []node, open []int, at int) []node {
	for _, i := range open {
		all[i].end = at
	}
	return all
}

// next is the first line that is not blank and no comment.
func next(text string) string {
	for line := range strings.Lines(text) {
		if body := strings.TrimSpace(line); body != "" && !strings.HasPrefix(body, "#") {
			return body
		}
	}
	return ""
}

// keyLine reads "key: value".
func keyLine(line string, indent int) (n node, err error) {
	body := strings.TrimRight(line[indent:], "\r\n")
	if strings.HasPrefix(body, "\t") {
		return n, fmt.Errorf("a tab indents it")
	}
	end := strings.Index(body+" ", ": ")
	if strings.HasPrefix(body, `"`) {
		if quoted, err := strconv.QuotedPrefix(body); err == nil {
			end = len(quoted)
		}
	}
	if end <= 0 || !strings.HasPrefix(body[end:]+" ", ": ") {
		return n, fmt.Errorf("%q has no key", body[:min(len(body), 20)])
	}
	rest := body[end+1:]
	if i := strings.Index(rest, " #"); i >= 0 && !strings.ContainsAny(rest[:i], `"'`) {
		rest = rest[:i]
	}
	n.path, n.indent = []string{strings.Trim(body[:end], `"'`)}, indent
	n.to = indent + end + 1 + len(strings.TrimRight(rest, " \t"))
	n.from = min(n.to, indent+end+1+len(rest)-len(strings.TrimLeft(rest, " \t")))
	return n, nil
}

func (d *yamlDocument) find(path []string) (node, bool) {
	i := slices.IndexFunc(d.all, func(n node) bool { return slices.Equal(n.path, path) })
	if i < 0 {
		return node{}, false
	}
	return d.all[i], true
}

func (d *yamlDocument) value(path []string) (any, bool) {
	n, ok := d.find(path)
	if !ok {
		return nil, false
	}
	if text := d.text[n.from:n.to]; text != "" {
		return decodeYAML(text), true
	}
	inner, found := map[string]any{}, false
	for _, child := range d.all {
		if len(child.path) == len(path)+1 && below(child.path, path) {
			inner[child.path[len(path)]], _ = d.value(child.path)
			found = true
		}
	}
	if !found && strings.TrimSpace(strings.Join(strings.Split(d.text[n.start:n.end], "\n")[1:], "\n")) != "" {
		return literal(d.text[n.start:n.end]), true
	}
	return inner, true
}

func decodeYAML(text string) (v any) {
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return strings.Trim(text, "'")
}

func (d *yamlDocument) raw(path []string) string {
	n, _ := d.find(path)
	if text := d.text[n.from:n.to]; text != "" {
		return text
	}
	return d.text[n.start:n.end]
}

func (d *yamlDocument) set(path []string, v any) error {
	n, ok := d.find(path)
	o, isObject := v.(Object)
	text, isLiteral := v.(literal)
	switch {
	case ok && isObject:
		return d.put(n.start, n.end, block(path[len(path)-1], o, n.indent))
	case ok && isLiteral && strings.HasSuffix(string(text), "\n"):
		return d.put(n.start, n.end, string(text))
	case ok && isLiteral:
		return d.put(n.from, n.to, string(text))
	case ok:
		return d.put(n.from, n.to, scalar(v))
	case len(path) == 1:
		return d.put(len(d.text), len(d.text), d.newline(len(d.text))+block(path[0], v, 0))
	}
	parent, ok := d.find(path[:len(path)-1])
	if !ok {
		return d.set(path[:len(path)-1], Object{{path[len(path)-1], v}})
	}
	if text := d.text[parent.from:parent.to]; text != "" && text != "{}" && text != "null" && text != "~" {
		return &LineError{1 + strings.Count(d.text[:parent.start], "\n"), strings.Join(parent.path, ".") + " is not written as a block: write its keys on lines of their own"}
	} else if text != "" {
		return d.put(parent.start, parent.end, block(parent.path[len(parent.path)-1], Object{{path[len(path)-1], v}}, parent.indent))
	}
	indent := parent.indent + 2
	for _, n := range d.all {
		if below(n.path, parent.path) && len(n.path) == len(path) {
			indent = n.indent
		}
	}
	return d.put(parent.end, parent.end, d.newline(parent.end)+block(path[len(path)-1], v, indent))
}

func (d *yamlDocument) put(from, to int, text string) error {
	if from > 0 && d.text[from-1] == ':' && text != "" {
		text = " " + text
	}
	return d.read(d.text[:from] + text + d.text[to:])
}

func (d *yamlDocument) newline(at int) string {
	if at > 0 && d.text[at-1] != '\n' {
		return "\n"
	}
	return ""
}

func (d *yamlDocument) drop(path []string) error {
	n, _ := d.find(path)
	return d.put(n.start, n.end, "")
}

func (d *yamlDocument) add([]string, any) error    { return errNoLists }
func (d *yamlDocument) remove([]string, any) error { return errNoLists }

// block writes a key with its value, on lines of their own.
func block(key string, v any, indent int) string {
	o, ok := v.(Object)
	if !ok || len(o) == 0 {
		return strings.Repeat(" ", indent) + key + ": " + scalar(v) + "\n"
	}
	text := strings.Repeat(" ", indent) + key + ":\n"
	for _, f := range o {
		text += block(f.Key, f.Value, indent+2)
	}
	return text
}

// scalar writes a value on one line: JSON is YAML.
func scalar(v any) string {
	if s, ok := v.(string); ok && isPlain(s) {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a bug: the value comes from a table
	}
	return string(text)
}

// isPlain reports whether a text needs no quotes: it begins with a letter or a slash, and is no word of YAML.
func isPlain(s string) bool {
	if s == "" || slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return false
	}
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '/'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')) {
			return false
		}
	}
	return true
}
