package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolhost/agenttool/cut"
	"toolhost/testdata/support/redacttest"
)

// TestSeenIsWhatWasShown: a client replaces a file with write only if it was shown all of it, by whichever tool. Text that the settings
// mask was not shown.
func TestSeenIsWhatWasShown(t *testing.T) {
	t.Parallel()
	home := frontHome(t)
	d := newDoor(t, home, "--mode", "accept_edits", "--allow", "shell")
	secret := redacttest.Secrets(4)[0].Value
	for name, content := range map[string]string{
		"catted": "one\ntwo\n", "grepped": "three\nfour\n", "paged": "five\n" + strings.Repeat("x", 5000) + "\n", "masked": "key " + secret + "\nend\n",
		"headed": "one\ntwo\n",
	} {
		if err := os.WriteFile(filepath.Join(d.ws, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	settings := filepath.Join(home, userSettings)
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"redaction":{"strategy":"redact"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.start()
	c := listenTo(d)
	calls := 0
	call := func(tool, input, want string) {
		t.Helper()
		calls++
		id := strconv.Itoa(calls)
		c.send(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/invoke","params":{"id":%q,"tool":%q,"input":%s}}`, id, id, tool, input)
		if m := c.nativeAnswer(strconv.Quote(id)); !strings.Contains(m.text, want) {
			t.Errorf("%s %s: %s, want %s", tool, input, cut.Characters(m.text, 1500), want)
		}
	}
	write := func(name, want string) {
		t.Helper()
		call("write", fmt.Sprintf(`{"path":%q,"content":"new\n"}`, name), want)
	}
	write("catted", "not_read")
	call("shell", `{"command":"cat catted"}`, "two")
	write("catted", "wrote catted")
	call("grep", `{"pattern":"three|four"}`, "four")
	write("grepped", "wrote grepped")
	call("shell", `{"command":"head -n 1 headed"}`, "one")
	write("headed", "line 2 not shown in full")
	call("read", `{"path":"paged"}`, "reads on in it")
	write("paged", "line 2 not shown in full")
	call("read", `{"path":"paged","offset":2,"column":2001}`, "its end")
	write("paged", "wrote paged")
	call("read", `{"path":"masked"}`, "end")
	write("masked", "change the file with edit")
	call("shell", `{"command":"cat masked"}`, "end")
	write("masked", "change the file with edit")
	call("edit", `{"path":"masked","old_string":"end","new_string":"END"}`, "1 replacement")
	if text, _ := os.ReadFile(filepath.Join(d.ws, "masked")); string(text) != "key "+secret+"\nEND\n" {
		t.Errorf("masked has %q", text)
	}
}
