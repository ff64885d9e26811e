package screen

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"toolhost/cmd/toolhost/internal/approve"
	"toolhost/cmd/toolhost/internal/approve/plain"
)

// card is a prompt of a real session, as testdata/cards/prompts.jsonl has it; capture.py beside it writes that file.
type card struct {
	Name   string          `json:"name"`
	Prompt json.RawMessage `json:"prompt"`
}

func cards(t *testing.T) (all []card) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "cards", "prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c card
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func (c card) event(t *testing.T) approve.Asked {
	t.Helper()
	p, err := approve.ParsePrompt(c.Prompt)
	if err != nil {
		t.Fatal(err)
	}
	return approve.Asked{Session: "ses_1", Prompt: p}
}

// TestCards compares the first screen of each card with testdata, at two sizes, with colour and without, and its form line by line;
// -update rewrites them.
func TestCards(t *testing.T) {
	all := cards(t)
	if len(all) != 24 {
		t.Fatalf("%d cards", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			var b strings.Builder
			for _, size := range [][2]int{{80, 24}, {40, 15}} {
				in(t, size[0], size[1], func(r *run) {
					r.session("ses_1", "")
					r.tell(c.event(t))
					r.wait(400 * time.Millisecond)
					painted := r.content()
					fmt.Fprintf(&b, "== %d x %d ==\n%s", size[0], size[1], trimmed(ansi.Strip(painted)))
					fmt.Fprintf(&b, "== %d x %d, in colour ==\n%s", size[0], size[1], strings.ReplaceAll(trimmed(painted), "\x1b", `\e`))
				})
			}
			b.WriteString("== line by line ==\n" + spoken(t, c))
			golden(t, filepath.Join("cards", c.Name), b.String())
		})
	}
}

// spoken is a card line by line.
func spoken(t *testing.T, c card) string {
	var out strings.Builder
	talk := plain.New(plain.Options{Out: &out, Now: func() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }})
	var s approve.Session
	if err := json.Unmarshal([]byte(`{"session_id":"ses_1","workspace":"/home/me/app","mode":"default","approvals":{"may_answer":true,"scopes":["once","session","project","user"]}}`), &s); err != nil {
		t.Fatal(err)
	}
	talk.Event(approve.Opened{Session: s})
	talk.Event(c.event(t))
	return out.String()
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the screen is not that of %s:\n%s", path, got)
	}
}
