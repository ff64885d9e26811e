package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const maxListed = 20 // names or choices in a message

// allowedFields lists the fields of the objects that n describes: "allowed fields: path (required), limit, offset".
func allowedFields(n *node) string {
	fields := fieldsOf(n)
	if len(fields) == 0 {
		return ""
	}
	var required, optional []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch shown := plainOrQuoted(name); {
		case fields[name]:
			required = append(required, shown+" (required)")
		default:
			optional = append(optional, shown)
		}
	}
	return "allowed fields: " + list(append(required, optional...))
}

// fieldsOf returns the fields that n and the schemas it applies to the same value name, and whether they are required.
// What only one form requires is not required.
func fieldsOf(n *node) map[string]bool {
	c := collector{fields: map[string]bool{}, seen: map[visit]bool{}}
	if n != nil {
		c.collect(visit{n, true})
	}
	return c.fields
}

// collector gathers fields. There can be very many ways to a schema, so it notes which it has seen.
type collector struct {
	fields map[string]bool // to: required
	seen   map[visit]bool
}

// visit is a schema that applies to a value, always or perhaps.
type visit struct {
	node   *node
	always bool
}

func (c *collector) collect(v visit) {
	if c.seen[v] {
		return
	}
	c.seen[v] = true
	required := map[string]bool{}
	if v.always {
		for _, name := range v.node.schema.Required {
			required[name] = true
		}
	}
	for name, inner := range v.node.properties {
		if b := inner.schema.Bool; b == nil || *b {
			c.fields[name] = c.fields[name] || required[name]
		}
	}
	schema := v.node.schema
	for _, n := range v.node.same {
		if n.schema != schema.Not {
			always := n.schema == schema.Ref || slices.Contains(schema.AllOf, n.schema)
			c.collect(visit{n, v.always && always})
		}
	}
}

func plainOrQuoted(name string) string {
	if isPlain(name) {
		return name
	}
	return quote(name)
}

func list(names []string) string { return listSome(names, len(names)) }

// listSome lists names, of which there are as many as all; those that are not shown may be left out.
func listSome(names []string, all int) string {
	if more := all - maxListed; more > 0 {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// choices lists the values that an enum or const allows.
func choices(values []any) string {
	shown := make([]string, min(len(values), maxListed))
	for i := range shown {
		switch v := values[i].(type) {
		case string:
			shown[i] = quote(v)
		case map[string]any, []any:
			shown[i] = "a fixed " + typeName(v)
		case json.Number:
			shown[i] = v.String()
		default:
			shown[i] = fmt.Sprint(v)
			if v == nil {
				shown[i] = "null"
			}
		}
	}
	if len(shown) == 1 {
		return shown[0]
	}
	return "one of " + listSome(shown, len(values))
}

func suggestChoice(k *kind.Enum) string {
	got, ok := k.Got.(string)
	if !ok {
		return ""
	}
	var allowed []string
	for _, v := range k.Want {
		if s, ok := v.(string); ok {
			allowed = append(allowed, s)
		}
	}
	if s := nearest(got, allowed); s != "" {
		return fmt.Sprintf(" — did you mean %s?", quote(s))
	}
	return ""
}

// nearestField returns the field of n for which name seems to stand at the object at path; fields that the object
// already has are out.
func (r reader) nearestField(name string, path []string, n *node) string {
	fields := fieldsOf(n)
	obj, _ := lookup(r.input, path).(map[string]any)
	for given := range obj {
		delete(fields, given)
	}
	for _, meant := range synonyms[name] {
		if fields[meant] {
			return meant
		}
	}
	return nearest(name, slices.Sorted(maps.Keys(fields)))
}

// synonyms are the names by which agents know fields from other tools, and what they may stand for here.
var synonyms = map[string][]string{
	"file": {"path"}, "filename": {"path"}, "directory": {"path", "cwd"}, "dir": {"path", "cwd"}, "workdir": {"cwd"},
	"working_directory": {"cwd"}, "cmd": {"command"}, "script": {"command"}, "timeout": {"timeout_ms"},
	"text": {"content"}, "contents": {"content"}, "data": {"content"}, "old": {"old_string"}, "new": {"new_string"},
	"old_str": {"old_string"}, "new_str": {"new_string"}, "regex": {"pattern"}, "query": {"pattern"}, "search": {"pattern"},
	"include": {"glob"}, "head_limit": {"limit"}, "max_results": {"limit"}, "start_line": {"offset"}, "line": {"offset"},
	"-i": {"ignore_case"}, "case_insensitive": {"ignore_case"}, "-A": {"after"}, "-B": {"before"}, "-C": {"context"},
}

// nearest returns the one of allowed that name most likely stands for, or "".
//
// Models write the names that they know from other tools: oldString for old_string, file_path for path.
func nearest(name string, allowed []string) string {
	if name == "" || len(name) > maxQuoted || len(allowed) > 1_000 {
		return ""
	}
	best, bestDistance := "", len(name)
	for _, candidate := range allowed {
		if len(candidate) > maxQuoted {
			continue
		}
		if fold(candidate) == fold(name) {
			return candidate
		}
		far := max(1, min(len(name), len(candidate))/3)
		if d := distance(name, candidate); d <= far && d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best != "" {
		return best
	}
	for _, candidate := range allowed {
		if slices.Contains(words(name), candidate) || slices.Contains(words(candidate), name) {
			return candidate
		}
	}
	return ""
}

// fold takes case and separators out of a name.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if isSeparator(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

func isSeparator(r rune) bool { return r == '_' || r == '-' || r == '.' }

func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), isSeparator)
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that lead from a to b, in bytes.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[(i)%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
