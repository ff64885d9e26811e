package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// orderPairs is how many pairs of conflicting calls a test sends by each door: TOOLHOST_ORDER_PAIRS, at most 2,000 (4,096 requests may be unanswered), or few.
func orderPairs(t *testing.T) int {
	pairs := count(100, 300)
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_ORDER_PAIRS")); err == nil {
		pairs = n
	}
	return pairs
}

// TestOrderOfConflictingCalls sends pairs of calls about one file in a row, and waits for no answer: the second of each pair
// must see what the first one did, by every door of the stream.
func TestOrderOfConflictingCalls(t *testing.T) {
	t.Parallel()
	pairs := orderPairs(t)
	call := func(id, tool, input string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/invoke","params":{"id":%q,"tool":%q,"input":%s}}`, id, id, tool, input)
	}
	member := func(id, tool, input string) string {
		return fmt.Sprintf(`{"id":%q,"tool":%q,"input":%s}`, id, tool, input)
	}
	mcp := func(id, tool, input string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, input)
	}
	both := func(one func(id, tool, input string) string, second string) func(int) (line, id string) {
		return func(i int) (string, string) {
			id := fmt.Sprint("second-", i)
			input := fmt.Sprintf(`{"path":"f%d"}`, i)
			if second == "shell" {
				input = fmt.Sprintf(`{"command":"cat f%d"}`, i)
			}
			return one(fmt.Sprint("first-", i), "write", fmt.Sprintf(`{"path":"f%d","content":"pair %d"}`, i, i)) + "\n" + one(id, second, input), id
		}
	}
	for _, door := range []struct {
		name  string
		begin []string
		pairs int
		pair  func(i int) (line, id string) // and the id of the answer that shows the second call's result
	}{
		{"native", nil, pairs, both(call, "read")},
		{"native shell", nil, pairs / 5, both(call, "shell")},
		{"native cd", nil, pairs / 5, func(i int) (string, string) {
			id := fmt.Sprint("second-", i)
			return call(fmt.Sprint("first-", i), "shell", fmt.Sprintf(`{"command":"cd WORKSPACE/d%d"}`, i%7)) + "\n" +
				call(id, "shell", fmt.Sprintf(`{"command":"echo pair %d; pwd"}`, i)), id
		}},
		{"batch", nil, pairs, func(i int) (string, string) {
			id := fmt.Sprint("batch-", i)
			first := member(fmt.Sprint("a", i), "write", fmt.Sprintf(`{"path":"f%d","content":"pair %d"}`, i, i))
			second := member(fmt.Sprint("b", i), "read", fmt.Sprintf(`{"path":"f%d"}`, i))
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/batch","params":{"id":%q,"calls":[%s,%s]}}`, id, id, first, second), id
		}},
		{"mcp", []string{
			`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"order","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		}, pairs, both(mcp, "read")},
	} {
		t.Run(door.name, func(t *testing.T) {
			c := openLines(t, "--mode", "accept_edits")
			for i := range 7 {
				if err := os.Mkdir(filepath.Join(c.ws, fmt.Sprint("d", i)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range door.begin {
				c.send("%s", line)
			}
			var lines strings.Builder
			want := map[string]string{}
			for i := range door.pairs {
				line, id := door.pair(i)
				lines.WriteString(strings.ReplaceAll(line, "WORKSPACE", c.ws) + "\n")
				want[id] = fmt.Sprintf("pair %d", i)
				if door.name == "native cd" {
					want[id] += fmt.Sprintf(`\n%s/d%d\n`, c.ws, i%7)
				}
			}
			c.send("%s", strings.TrimSuffix(lines.String(), "\n"))
			wrong := 0
			for id, text := range want {
				spelled, _ := json.Marshal(id)
				m := c.find("the answer to "+id, func(m spokenLine) bool { return string(m.ID) == string(spelled) })
				if !strings.Contains(string(m.Result), text) || strings.Contains(string(m.Result), `"not_found"`) {
					wrong++
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d second calls did not see what the first one of their pair did", wrong, door.pairs)
			}
		})
	}
}
