package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/testdata/support/wiretest"
)

// TestWireOfTheDocs sends each request that docs/wire.md shows to one host and looks for each message that the page shows
// beside it. In a message of the page, … stands for anything: a value, the rest of a string, object or array.
func TestWireOfTheDocs(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(readDoc(t, "wire.md"), -1)
	dir := filepath.Join(t.TempDir(), "work")
	for name, text := range map[string]string{"notes.txt": "one\ntwo TODO\n", "long.txt": strings.Repeat("a line of a long file\n", 9000)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := startShown(t, dir)
	requests, replies := 0, 0
	for _, block := range blocks {
		for _, message := range shownMessages(block[1]) {
			if request, ok := strings.CutPrefix(message, "> "); ok {
				c.send(request)
				requests++
				continue
			}
			c.expect(strings.TrimPrefix(message, "< "))
			replies++
		}
	}
	if requests < 20 || replies < 25 {
		t.Errorf("the page shows %d requests and %d messages of the host", requests, replies)
	}
}

// TestShownMeansWhatItSays shows that a message of the page can fail to match.
func TestShownMeansWhatItSays(t *testing.T) {
	for _, c := range []struct {
		shown, got string
		want       bool
	}{
		{`{"a":1,…}`, `{"a":1,"b":2}`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":…,"c":{…}}`, `{"a":[1],"c":{}}`, true},
		{`{"a":"x…z"}`, `{"a":"xyz"}`, true},
		{`{"a":"x…z"}`, `{"a":"xy"}`, false},
		{`[1,…]`, `[1,2,3]`, true},
		{`[2,…]`, `[1,2,3]`, false},
		{`{"a":null}`, `{"a":0}`, false},
	} {
		if err := matches(unfold(c.shown), json.RawMessage(c.got)); (err == nil) != c.want {
			t.Errorf("%s, %s: %v", c.shown, c.got, err)
		}
	}
}

// shownMessages splits a block into messages. A line without > or < goes on with the one before it.
func shownMessages(block string) []string {
	var messages []string
	for line := range strings.Lines(block) {
		if strings.HasPrefix(line, "> ") || strings.HasPrefix(line, "< ") {
			messages = append(messages, "")
		}
		messages[len(messages)-1] += line
	}
	return messages
}

// shownClient speaks to a host as the page does.
type shownClient struct {
	t        *testing.T
	host     *wiretest.Process
	messages chan json.RawMessage
	passed   []json.RawMessage // messages that no line of the page has matched yet
	ids      map[string]string // the last full id by its prefix, such as perm_
}

func startShown(t *testing.T, dir string) *shownClient {
	t.Helper()
	cmd := exec.Command("toolhost", "serve", "--workspace", dir)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), wiretest.Home(t.TempDir())...)
	messages := make(chan json.RawMessage, 1000)
	host, err := wiretest.Start(cmd, wiretest.Options{Heard: func(m wiretest.Message) { messages <- slices.Clone(m.Line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := host.End(time.Minute); err != nil {
			t.Error(err)
		}
	})
	return &shownClient{t: t, host: host, messages: messages, ids: map[string]string{}}
}

var (
	shownID = regexp.MustCompile(`([a-z]+_)…`)                                                                                         // in a request of the page
	namedID = regexp.MustCompile(`"(?:decision":\{"schema_version":"0.2.0","decision_id|persisted_ref":\{"id)":"([a-z]+_)([0-9A-Z]+)`) // in a message of the host
)

// send sends a request of the page, with the full ids of what the page shortens.
func (c *shownClient) send(request string) {
	request = shownID.ReplaceAllStringFunc(request, func(short string) string { return c.ids[strings.TrimSuffix(short, "…")] })
	var one strings.Builder
	for line := range strings.Lines(request) {
		one.WriteString(strings.TrimSpace(line))
	}
	if _, err := c.host.Write([]byte(one.String() + "\n")); err != nil {
		c.t.Fatal(err)
	}
}

// expect waits for a message like the one shown.
func (c *shownClient) expect(shown string) {
	c.t.Helper()
	pattern := unfold(shown)
	for i, m := range c.passed {
		if matches(pattern, m) == nil {
			c.passed = append(c.passed[:i:i], c.passed[i+1:]...)
			return
		}
	}
	timeout := time.After(time.Minute)
	for {
		select {
		case m := <-c.messages:
			for _, id := range namedID.FindAllStringSubmatch(string(m), -1) {
				c.ids[id[1]] = id[1] + id[2]
			}
			err := matches(pattern, m)
			if err == nil {
				return
			}
			if id := regexp.MustCompile(`^\{"jsonrpc":"2.0","id":\d+,`).FindString(shown); id != "" && strings.HasPrefix(string(m), id) {
				c.t.Fatalf("the page shows\n%s\nand the host says (%v)\n%s", shown, err, m)
			}
			c.passed = append(c.passed, m)
		case <-timeout:
			c.t.Fatalf("the host does not send\n%s\nbut\n%s", shown, c.passed)
		}
	}
}

// unfold makes JSON of a message that is shown with …: a key, a value or an element of that name.
func unfold(shown string) any {
	var b strings.Builder
	quoted := false
	for i, r := range shown {
		switch {
		case r == '"' && (i == 0 || shown[i-1] != '\\'):
			quoted = !quoted
			b.WriteRune(r)
		case r == '…' && !quoted && strings.HasPrefix(shown[i+len("…"):], "}"):
			if before := shown[:i]; strings.HasSuffix(before, ":") {
				b.WriteString(`"…"`)
			} else {
				b.WriteString(`"…":0`)
			}
		case r == '…' && !quoted:
			b.WriteString(`"…"`)
		case r == '\n' && quoted:
		default:
			b.WriteRune(r)
		}
	}
	var v any
	if err := json.Unmarshal([]byte(b.String()), &v); err != nil {
		return fmt.Errorf("%w: %s", err, b.String())
	}
	return v
}

// matches reports where a message differs from what is shown.
func matches(shown any, got json.RawMessage) error {
	var v any
	if err := json.Unmarshal(got, &v); err != nil {
		return err
	}
	return differs("", shown, v)
}

func differs(at string, shown, got any) error {
	switch s := shown.(type) {
	case error:
		return s
	case string:
		if g, ok := got.(string); s == "…" || ok && globbed(s, g) {
			return nil
		}
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return differsObject(at, s, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return differsArray(at, s, g)
		}
	default:
		if shown == got {
			return nil
		}
	}
	return fmt.Errorf("%s is %v", at, got)
}

func differsObject(at string, shown, got map[string]any) error {
	_, open := shown["…"]
	for name, value := range got {
		s, ok := shown[name]
		if !ok && open {
			continue
		}
		if !ok {
			return fmt.Errorf("%s.%s is not shown", at, name)
		}
		if err := differs(at+"."+name, s, value); err != nil {
			return err
		}
	}
	for name := range shown {
		if _, ok := got[name]; !ok && name != "…" {
			return fmt.Errorf("%s.%s is missing", at, name)
		}
	}
	return nil
}

func differsArray(at string, shown, got []any) error {
	for i, s := range shown {
		if s == "…" && i == len(shown)-1 {
			return nil
		}
		if i >= len(got) {
			return fmt.Errorf("%s has %d elements", at, len(got))
		}
		if err := differs(fmt.Sprintf("%s[%d]", at, i), s, got[i]); err != nil {
			return err
		}
	}
	if len(got) != len(shown) {
		return fmt.Errorf("%s has %d elements", at, len(got))
	}
	return nil
}

// globbed reports whether a string is the one shown, in which … stands for any text.
func globbed(shown, got string) bool {
	pieces := strings.Split(shown, "…")
	for i := range pieces {
		pieces[i] = regexp.QuoteMeta(pieces[i])
	}
	return regexp.MustCompile("(?s)^" + strings.Join(pieces, ".*") + "$").MatchString(got)
}
