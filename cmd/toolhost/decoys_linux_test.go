package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDecoys: names that a command makes take the cover from nothing that had it, and a call asks before it runs where the cover is
// not complete.
func TestDecoys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	d := p.desk(t, filepath.Join(p.dir, "decoys"), "-- look --\ncat svc/api/.env 2>&1; mkdir -p nested/deep/.git/hooks; echo x > nested/deep/.git/hooks/post-checkout; true\n-- decoys --\nfor i in $(seq 500); do : > .env.$i; done; mkdir many; cd many; for i in $(seq 500); do : > $i; done\n-- svc/api/.env --\nKEY=CANARY\n-- nested/deep/.git/HEAD --\nref: refs/heads/main\n-- nested/deep/.git/config --\n[core]\n",
		"--mode", "sandboxed")
	d.request("agenttool/hello", map[string]any{"client": map[string]string{"name": "t", "version": "1"}, "events": "results"}, &struct{}{})
	const look = `bash ./look`
	if a := d.call(look); a.Result.Status != "succeeded" || strings.Contains(a.text(), "CANARY") {
		t.Fatalf("at first: %s %s", a.Result.Status, a.text())
	}
	if a := d.call(`bash ./decoys`); a.Result.Status != "succeeded" {
		t.Fatalf("the decoys: %s %s", a.Result.Status, a.text())
	}
	a := d.call(look)
	if a.Result.Status == "succeeded" || !strings.Contains(a.text()+a.Result.Error.Message, "cannot cover all that it should") {
		t.Errorf("with decoys, nobody there to ask: %s %s %s", a.Result.Status, a.text(), a.Result.Error.Message)
	}
	d.close()

	d.serve(p, "--mode", "sandboxed") // somebody allows it
	d.level()
	if a := d.call(look); a.Result.Status != "succeeded" || strings.Contains(a.text(), "CANARY") {
		t.Errorf("in a new session, allowed: %s %s", a.Result.Status, a.text())
	}
	if _, err := os.Stat(filepath.Join(d.ws, "nested/deep/.git/hooks/post-checkout")); err == nil {
		t.Error("a hook was made")
	}
}
