package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/permissions/protect"
)

// denying returns secrets of the patterns.
func (p planted) denying(t testing.TB, patterns ...string) *protect.Map {
	t.Helper()
	m, err := protect.Scan(context.Background(), protect.Options{Roots: []string{p.dir}, ReadDeny: patterns})
	must(t, err)
	return m
}

func (p planted) guardBy(m *protect.Map) { p.ws.Guard(func() (*protect.Map, error) { return m, nil }) }

func (p planted) names(t testing.TB, e *Engine) string {
	t.Helper()
	var out []string
	sum, err := e.List(context.Background(), p.root(t), nil, func(f FoundFile) bool { out = append(out, f.Path()); return true })
	must(t, err)
	return fmt.Sprint(out, sum)
}

// What an ignore file says counts no more from when it must not be read, and again when it may be.
func TestRulesBecomeSecret(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		p.write(t, ".gitignore", "b.txt\n")
		p.write(t, ".git/info/", "")
		p.warm(t, e)
		p.warm(t, e)
		for round, patterns := range [][]string{{"**/none"}, {"**/.gitignore"}, {"**/none"}, {"**/.gitignore"}} {
			p.guardBy(p.denying(t, patterns...))
			cold := newEngine(t, Options{Index: Off})
			if got, want := p.names(t, e), p.names(t, cold); got != want {
				t.Errorf("round %d: got %s, want %s", round, got, want)
			}
			p.same(t, e, storing(t, "bravo"))
		}
	})
}

// What must not be read is not read for the index either.
func TestSecretIsNotIndexed(t *testing.T) {
	both(t, func(t *testing.T, p planted, e *Engine) {
		p.write(t, "secret.pem", "password\n")
		p.write(t, "other.txt", "text\n") // is to be indexed
		p.guardBy(p.denying(t, "**/secret.pem"))
		p.link(t, "secret.pem", "d/harmless") // is a secret by its identity
		p.warm(t, e)
		v, err := e.open(context.Background(), p.root(t))
		must(t, err)
		defer v.leave()
		for _, f := range v.Files {
			if strings.Contains(f.Name, "secret") || f.Name == "harmless" {
				if k := f.Known.Load(); k != nil && !k.Opaque {
					t.Errorf("%s was read: %+v", f.Name, *k)
				}
			}
		}
	})
}

// Secrets alternate between searches, with grants and without, while what was learned is used.
func TestSecretsAlternate(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f%d.txt", i%9, i)] = fmt.Sprintf("common needle%dx\n", i%20)
	}
	p := plant(t, files)
	p.link(t, "d3/f3.txt", "zz.txt")
	e := newEngine(t, keen(Watched))
	p.warm(t, e)
	maps := []*protect.Map{p.denying(t, "**/none"), p.denying(t, "**/f3.txt"), p.denying(t, "**/f1*"), p.denying(t, "**/d3"), p.denying(t, "**/none")}
	maps = append(maps, maps[1].Granted(nil, []string{p.at("d3/f3.txt")}), maps[3].Granted(nil, []string{filepath.Dir(p.at("d3/f3.txt"))}),
		maps[1].Granted(nil, []string{p.at("zz.txt")}))
	hits := 0
	for i := range 60 {
		m := maps[(i*i/2+i)%len(maps)]
		if i%7 == 6 {
			m = nil
		}
		if m == nil {
			p.ws.Guard(nil)
		} else {
			p.guardBy(m)
		}
		for range 1 + i%3 {
			p.same(t, e, storing(t, fmt.Sprintf("needle%dx", i%20)))
			cold := newEngine(t, Options{Index: Off})
			if got, want := p.names(t, e), p.names(t, cold); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			cold.Close()
		}
		if p.visited(t, e, "needle3x") >= 0 {
			hits++
		}
		if i%5 == 0 {
			settle(t, e)
		}
		if t.Failed() {
			t.Fatal("round", i)
		}
	}
	t.Log(hits, "of 60 used the cache")
	if hits == 0 {
		t.Error("nothing was learned")
	}
}
