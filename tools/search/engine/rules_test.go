package engine

import (
	"context"
	"os"
	"testing"

	"toolhost/permissions/protect"
)

// A secret is no ignore file, whatever names it: which names it leaves out would tell its lines.
func TestSecretIsNoIgnoreFile(t *testing.T) {
	for _, link := range []string{"sub/.gitignore", "sub/.git/info/exclude"} {
		p := plant(t, map[string]string{".env": "hunter2\n", "sub/.git/info/": "", "sub/hunter2": "needle\n", "sub/other": "needle\n"})
		secrets, err := protect.Scan(context.Background(), protect.Options{Roots: []string{p.dir}, ReadDeny: protect.DefaultReadDeny()})
		if err != nil {
			t.Fatal(err)
		}
		p.ws.Guard(func() (*protect.Map, error) { return secrets, nil })
		if err := os.Link(p.at(".env"), p.at(link)); err != nil {
			t.Skip("no link can be made:", err)
		}
		e := newEngine(t, Options{})
		r := p.root(t)
		if r.Secrets, err = p.ws.Secrets(); err != nil {
			t.Fatal(err)
		}
		found := 0
		if _, err := e.List(context.Background(), r, nil, func(FoundFile) bool { found++; return true }); err != nil {
			t.Fatal(err)
		}
		if found != 2 {
			t.Errorf("%s: %d names of 2", link, found)
		}
	}
}
