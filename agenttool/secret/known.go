package secret

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// PlainWord reports whether a value is one short word of lower-case letters, or a small number: replacing all of its
// occurrences would make records unreadable.
func PlainWord(value string) bool {
	return len(value) < 10 && (strings.Trim(value, "abcdefghijklmnopqrstuvwxyz") == "" || strings.Trim(value, "0123456789.:-") == "") ||
		strings.HasPrefix(value, "/") && strings.Count(value, "/") > 1 && !strings.ContainsAny(value, "+=")
}

// headSize is how many bytes of a known value are looked for. They are a secret by themselves if the rest was cut off.
const headSize = 16

// knownValue returns the form of one value and its encodings.
func knownValue(kind, value string) *form {
	once := escaped(value)
	twice := escaped(once)
	spellings := []string{
		value, once, twice, escaped(twice), url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(value, "'", `'\''`),
		base64.StdEncoding.EncodeToString([]byte(value)),
	}
	slices.Sort(spellings)
	spellings = slices.Compact(spellings)
	var heads []string
	for _, s := range spellings {
		heads = append(heads, s[:min(len(s), headSize)])
	}
	return &form{kind: kind, literals: slices.Compact(heads), find: func(b []byte, at, _ int) (start, end int) {
		for _, s := range spellings {
			n := common(b[at:], s)
			whole := n == len(s) && (n >= 12 || alone(b, at) && (at+n == len(b) || !letters[b[at+n]])) // else part of a longer word
			if whole || n >= headSize && isCut(b[at+n:]) {
				end = max(end, at+n)
			}
		}
		return at, end
	}}
}

// common returns how many bytes two texts have in common at their beginning.
func common(b []byte, s string) (n int) {
	for n < len(b) && n < len(s) && b[n] == s[n] {
		n++
	}
	return n
}

// escaped returns text as it stands in a JSON string.
func escaped(text string) string {
	quoted := string(agenttool.AppendString(nil, text))
	return quoted[1 : len(quoted)-1]
}
