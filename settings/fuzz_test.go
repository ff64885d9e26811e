package settings

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
	"toolhost/agenttool/jsonc"
)

// plainJSON returns a document without comments and format, nothing if it is none.
func plainJSON(t testing.TB, content []byte) string {
	t.Helper()
	content, err := hujson.Minimize(append(bytes.TrimPrefix(slices.Clone(content), []byte(jsonc.ByteOrderMark)), '\n'))
	if err != nil {
		return ""
	}
	return string(content)
}

// FuzzDecode looks for documents that the decoder takes and the schema does not, and for rules that are lost.
func FuzzDecode(f *testing.F) {
	for _, c := range goodDocuments {
		f.Add([]byte(c.text))
	}
	for _, c := range badDocuments {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	compiled := compileSchema(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		s, problems := decode(Options{Home: "/h", Workspace: "/w"}, "user_settings", "f", content)
		if (s == nil) != (len(problems) > 0) {
			t.Fatalf("%v, %v", s, problems)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Line > bytes.Count(content, []byte("\n"))+1 {
				t.Fatalf("a problem without a place: %+v", p)
			}
		}
		if s == nil || len(s.Problems) > 0 { // the schema knows no keys of newer versions
			return
		}
		var document any
		if err := json.Unmarshal([]byte(plainJSON(t, content)), &document); err != nil {
			t.Fatalf("taken, and no JSON: %v", err)
		}
		if err := compiled.Validate(document); err != nil {
			t.Fatalf("taken against the schema: %v", err)
		}
	})
}

// FuzzEdit adds a rule and removes it: everything else means what it meant, comments stay, and twice is once.
func FuzzEdit(f *testing.F) {
	for _, c := range edits {
		f.Add([]byte(c.before), "NEW")
		f.Add([]byte(c.after), "\U000e0041\"\\/*x*/")
	}
	f.Fuzz(func(t *testing.T, content []byte, rule string) {
		before := editor{content: content}
		if len(bytes.TrimSpace(content)) == 0 || before.parse() != nil || len(rule) > 100 || (bytes.ContainsRune([]byte(rule), 0)) {
			return
		}
		rule = string(bytes.TrimSpace(bytes.ToValidUTF8([]byte(rule), nil)))
		e := editor{content: content}
		if rule == "" || e.add(agenttool.Allow, rule, time.Time{}) != nil {
			if rule != "" {
				t.Fatalf("a rule cannot be added to\n%s", content)
			}
			return
		}
		after := editor{content: e.content}
		if err := after.parse(); err != nil {
			t.Fatalf("broken by adding: %v\n%s\n%s", err, content, e.content)
		}
		known := slices.Contains(texts(before.values, agenttool.Allow), rule)
		if got := texts(after.values, agenttool.Allow); !slices.Contains(got, rule) || known != (len(got) == len(texts(before.values, agenttool.Allow))) {
			t.Fatalf("not added, or twice: %v\n%s", got, e.content)
		}
		same(t, "deny", texts(after.values, agenttool.Deny), texts(before.values, agenttool.Deny)...)
		if count(content) != count(e.content) {
			t.Fatalf("a comment was lost or made:\n%s\n%s", content, e.content)
		}
		checkOthers(t, before.values, after.values)
		if removed, err := after.remove(agenttool.Allow, rule); !removed || err != nil {
			t.Fatalf("not removed: %v\n%s", err, e.content)
		}
		last := editor{content: after.content}
		if err := last.parse(); err != nil || slices.Contains(texts(last.values, agenttool.Allow), rule) {
			t.Fatalf("broken by removing: %v\n%s\n%s", err, e.content, after.content)
		}
		checkOthers(t, before.values, last.values)
	})
}

// count counts what comments are made of, outside strings.
func count(content []byte) (n int) {
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '"':
			i += jsonc.StringEnd(content[i:])
		case '/':
			length := jsonc.CommentEnd(content[i:])
			n += len(bytes.TrimRight(content[i:i+length], "\r"))
			i += max(length-1, 0)
		}
	}
	return n
}

// checkOthers compares all that is no rule, wherever it stands.
func checkOthers(t *testing.T, a, b *Settings) {
	t.Helper()
	var values [2][]any
	for i, s := range []*Settings{a, b} {
		for _, it := range loosening(&Settings{
			Mode: s.Mode, AddDirs: s.AddDirs, Require: s.Require, Waits: s.Waits, InBandScopes: s.InBandScopes,
			Env: s.Env, CallbackHosts: s.CallbackHosts, Durability: s.Durability, SearchIndex: s.SearchIndex, Jobs: s.Jobs,
			Calls: s.Calls, Retention: s.Retention, Redaction: s.Redaction, Hooks: s.Hooks,
		}, &Settings{Mode: Value[string]{Set: true, V: "plan"}, Require: Value[string]{Set: true, V: "full"}}, "/no-such-name-of-toolhost") {
			values[i] = append(values[i], it.Key, it.value)
		}
	}
	if !reflect.DeepEqual(values[0], values[1]) {
		t.Fatalf("other settings changed:\n%v\n%v", values[0], values[1])
	}
}
