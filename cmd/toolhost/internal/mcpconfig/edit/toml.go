package edit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// tomlDocument is a file of TOML. Changes are whole lines and whole values.
type tomlDocument struct {
	text string
	all  []statement
}

func openTOML(content []byte) (document, error) {
	d := &tomlDocument{}
	return d, d.read(string(content))
}

func (d *tomlDocument) read(text string) (err error) {
	all, err := scanTOML(text)
	if err == nil {
		d.text, d.all = text, all
	}
	return err
}

func (d *tomlDocument) bytes() []byte { return []byte(d.text) }

// put replaces the bytes between two offsets.
func (d *tomlDocument) put(from, to int, text string) error {
	return d.read(d.text[:from] + text + d.text[to:])
}

func (d *tomlDocument) pair(path []string) (statement, bool) {
	i := slices.IndexFunc(d.all, func(s statement) bool { return !s.header && slices.Equal(s.path, path) })
	if i < 0 {
		return statement{}, false
	}
	return d.all[i], true
}

// value returns a value, or for a table its pairs.
func (d *tomlDocument) value(path []string) (any, bool) {
	if s, ok := d.pair(path); ok {
		return decodeTOML(d.text[s.from:s.to]), true
	}
	table, found := map[string]any{}, false
	for _, s := range d.all {
		if !below(s.path, path) {
			continue
		}
		found = true
		if rest := s.path[len(path):]; len(rest) > 0 && !s.header {
			at := table
			for _, key := range rest[:len(rest)-1] {
				inner, ok := at[key].(map[string]any)
				if !ok {
					inner = map[string]any{}
					at[key] = inner
				}
				at = inner
			}
			at[rest[len(rest)-1]] = decodeTOML(d.text[s.from:s.to])
		}
	}
	return table, found
}

func below(path, head []string) bool {
	return len(path) >= len(head) && slices.Equal(path[:len(head)], head)
}

// decodeTOML reads strings, booleans, whole numbers and lists of strings. Other values are their text.
func decodeTOML(text string) any {
	var list []any
	switch n, err := strconv.Atoi(text); {
	case err == nil:
		return n
	case text == "true" || text == "false":
		return text == "true"
	case strings.HasPrefix(text, "'") && !strings.HasPrefix(text, "'''"):
		return unquoteTOML(text)
	case strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, `"""`):
		return unquoteTOML(text)
	case json.Unmarshal([]byte(text), &list) == nil:
		return list
	}
	return literal(text)
}

func (d *tomlDocument) raw(path []string) string {
	if s, ok := d.pair(path); ok {
		return d.text[s.from:s.to]
	}
	var lines strings.Builder
	for _, s := range d.all {
		if below(s.path, path) {
			lines.WriteString(d.text[s.start:s.end])
		}
	}
	return lines.String()
}

func (d *tomlDocument) set(path []string, v any) error {
	if o, ok := v.(Object); ok {
		return d.setTable(path, o)
	}
	if text, ok := v.(literal); ok {
		if s, ok := d.pair(path); ok {
			return d.put(s.from, s.to, string(text))
		}
		return d.swap(path, string(text))
	}
	text := encodeTOML(v)
	if s, ok := d.pair(path); ok {
		return d.put(s.from, s.to, text)
	}
	table, name := path[:len(path)-1], keyTOML(path[len(path)-1:])
	if err := d.blocked(table); err != nil {
		return err
	}
	if end, ok := d.endOfTable(table); ok {
		return d.put(end, end, d.newline(end)+name+" = "+text+"\n")
	}
	for _, s := range slices.Backward(d.all) {
		if !s.header && below(s.path, table) && len(s.table) < len(table) { // the table is written with dots, and can have no header
			return d.put(s.end, s.end, d.newline(s.end)+keyTOML(path[len(s.table):])+" = "+text+"\n")
		}
	}
	return d.append("[" + keyTOML(table) + "]\n" + name + " = " + text + "\n")
}

// setTable writes a table of its own in the place of one of that name, or at the end.
func (d *tomlDocument) setTable(path []string, o Object) error {
	if err := d.blocked(path); err != nil {
		return err
	}
	if _, ok := d.value(path); !ok {
		return d.append(tableTOML(path, o))
	}
	return d.swap(path, tableTOML(path, o))
}

// swap puts other text in the place of a table with all its parts.
func (d *tomlDocument) swap(path []string, text string) error {
	first := slices.IndexFunc(d.all, func(s statement) bool { return below(s.path, path) })
	if first < 0 {
		return d.append(text)
	}
	at := d.all[first].start
	if err := d.cut(path); err != nil {
		return err
	}
	return d.put(at, at, text)
}

// blocked reports a value where a table is needed: a list of tables, or a table on one line.
func (d *tomlDocument) blocked(table []string) error {
	for _, s := range d.all {
		if below(table, s.path) && (s.array || !s.header) {
			return &LineError{1 + strings.Count(d.text[:s.start], "\n"), strings.Join(s.path, ".") + " is not written as a table of its own: write it as [" + keyTOML(s.path) + "]"}
		}
	}
	return nil
}

// endOfTable is the end of the last line of a table that has a header.
func (d *tomlDocument) endOfTable(table []string) (end int, found bool) {
	for _, s := range d.all {
		if s.header && slices.Equal(s.path, table) || found && !s.header && slices.Equal(s.table, table) {
			end, found = s.end, true
		}
	}
	return end, found
}

func (d *tomlDocument) append(text string) error {
	end := len(d.text)
	between := d.newline(end)
	if strings.TrimSpace(d.text) != "" {
		between += "\n"
	}
	return d.put(end, end, between+text)
}

// newline is a line break if the line before an offset has none.
func (d *tomlDocument) newline(at int) string {
	if at > 0 && d.text[at-1] != '\n' {
		return "\n"
	}
	return ""
}

func (d *tomlDocument) drop(path []string) error {
	s, isPair := d.pair(path)
	first := slices.IndexFunc(d.all, func(s statement) bool { return below(s.path, path) })
	if isPair {
		return d.put(s.start, s.end, "")
	}
	at := d.all[first].start
	if err := d.cut(path); err != nil {
		return err
	}
	if at >= 2 && d.text[at-2:at] == "\n\n" { // the blank line before the table
		return d.put(at-1, at, "")
	}
	return nil
}

// cut removes all statements of a table.
func (d *tomlDocument) cut(path []string) error {
	text := d.text
	for _, s := range slices.Backward(d.all) {
		if below(s.path, path) {
			text = text[:s.start] + text[s.end:]
		}
	}
	return d.read(text)
}

func (d *tomlDocument) add([]string, any) error    { return errNoLists }
func (d *tomlDocument) remove([]string, any) error { return errNoLists }

// tableTOML writes a table with its header.
func tableTOML(path []string, o Object) string {
	var b strings.Builder
	b.WriteString("[" + keyTOML(path) + "]\n")
	for _, f := range o {
		b.WriteString(keyTOML([]string{f.Key}) + " = " + encodeTOML(f.Value) + "\n")
	}
	return b.String()
}

// keyTOML writes a key with dots.
func keyTOML(path []string) string {
	words := slices.Clone(path)
	for i, word := range words {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return r > 127 || !isBare(byte(r)) }) {
			words[i] = quoteTOML(word)
		}
	}
	return strings.Join(words, ".")
}

func encodeTOML(v any) string {
	switch v := v.(type) {
	case string:
		return quoteTOML(v)
	case []string:
		quoted := make([]string, len(v))
		for i, word := range v {
			quoted[i] = quoteTOML(word)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// quoteTOML writes a basic string: JSON's escapes are TOML's, but for the one character that JSON may leave as it is.
func quoteTOML(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can be encoded
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}
