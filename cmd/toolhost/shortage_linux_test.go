package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
)

// TestShortageHasOneClassAndCode: with few descriptors left each tool does its work or fails with one class and one code, whatever it
// was at when there were none left; and it works again once there are some.
func TestShortageHasOneClassAndCode(t *testing.T) {
	d := newDoor(t, frontHome(t), "--mode", "accept_edits", "--allow", "Shell")
	d.start()
	c := listenTo(d)
	calls := 0
	call := func(tool, input string) (status, class, code, text string) {
		t.Helper()
		calls++
		id := strconv.Itoa(calls)
		c.send(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/invoke","params":{"id":%q,"tool":%q,"input":%s}}`, id, id, tool, input)
		m := c.nativeAnswer(strconv.Quote(id))
		var answer struct {
			Result struct {
				Result struct {
					Status string `json:"status"`
					Error  *struct {
						Class string `json:"error_class"`
						Code  string `json:"error_code"`
					} `json:"error"`
				} `json:"result"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(m.text), &answer); err != nil {
			t.Fatal(err)
		}
		if e := answer.Result.Result.Error; e != nil {
			class, code = e.Class, e.Code
		}
		return answer.Result.Result.Status, class, code, m.text
	}
	each := func(i int) map[string]string {
		return map[string]string{
			"read": `{"path":"small"}`, "grep": `{"pattern":"needle"}`, "glob": `{"pattern":"**"}`, "shell": `{"command":"true"}`,
			"write": fmt.Sprintf(`{"path":"new%d","content":"x"}`, i), "edit": `{"path":"small","old_string":"needle","new_string":"needle."}`,
		}
	}
	var limit unix.Rlimit
	if err := unix.Prlimit(d.cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	bound := func(most uint64) {
		t.Helper()
		if err := unix.Prlimit(d.cmd.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: limit.Max}, nil); err != nil {
			t.Skip("the limit of another process cannot be set here:", err)
		}
	}
	works := func(i int) {
		t.Helper()
		for tool, input := range each(i) {
			if status, _, _, text := call(tool, input); status != "succeeded" {
				t.Fatalf("%s: %s", tool, cut.Characters(text, 600))
			}
		}
	}
	works(1000)
	open := func(fd int) bool {
		_, err := os.Lstat(fmt.Sprintf("/proc/%d/fd/%d", d.cmd.Process.Pid, fd))
		return err == nil
	}
	short := map[string]int{}
	for free, next := 0, 0; free < 14; free++ {
		for ; open(next); next++ { // a new descriptor has the lowest number that is not used, and that is below the limit
		}
		bound(uint64(next))
		next++
		for tool, input := range each(free) {
			status, class, code, text := call(tool, input)
			if class == "dependency_unavailable" && code == "resource_exhausted" {
				short[tool]++
			} else if status != "succeeded" {
				t.Errorf("%d free: %s: %s %s/%s: %s", free, tool, status, class, code, cut.Characters(text[max(0, len(text)-900):], 900))
			}
		}
	}
	for tool := range each(0) {
		if short[tool] == 0 {
			t.Errorf("%s was never short: this tests nothing", tool)
		}
	}
	bound(limit.Cur)
	works(2000)
}
